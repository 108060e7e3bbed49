//! Edits of somebody's settings, whatever they are written in.

use super::entry::{Entry, Grant, Put, Refusal};
use super::json::{self, ServersPath};
use super::toml;

/// The notation of a settings file.
#[derive(Clone, Copy, Debug)]
pub(super) enum SettingsFormat {
    Json(ServersPath),
    Toml,
}

impl SettingsFormat {
    /// `text` with the server in it; the same text when it is there as it should be.
    pub(super) fn put(self, text: &str, entry: &Entry) -> Result<Put, Refusal> {
        match self {
            SettingsFormat::Json(place) => json::put(text, place, entry),
            SettingsFormat::Toml => toml::put(text, entry),
        }
    }

    /// `text` without the server, or with the one that was there before.
    pub(super) fn take(
        self,
        text: &str,
        name: &str,
        before: Option<&str>,
        is_container_new: bool,
    ) -> Result<String, Refusal> {
        match self {
            SettingsFormat::Json(place) => json::take(text, place, name, before, is_container_new),
            SettingsFormat::Toml => toml::take(text, name, before),
        }
    }

    /// `text` with the permissions in it, and those of them that were not there before.
    pub(super) fn grant(
        self,
        text: &str,
        grants: &[Grant],
    ) -> Result<(String, Vec<Grant>), Refusal> {
        match self {
            SettingsFormat::Json(place) => json::grant(text, place.dialect, grants),
            SettingsFormat::Toml => toml::grant(text, grants),
        }
    }

    /// `text` without the permissions.
    pub(super) fn revoke(self, text: &str, grants: &[Grant]) -> Result<String, Refusal> {
        match self {
            SettingsFormat::Json(place) => json::revoke(text, place.dialect, grants),
            SettingsFormat::Toml => toml::revoke(text, grants),
        }
    }

    /// Whether nothing is left in `text` that anybody wrote.
    pub(super) fn is_blank(self, text: &str) -> bool {
        match self {
            SettingsFormat::Json(place) => json::is_blank(text, place.dialect),
            SettingsFormat::Toml => text.trim().is_empty(),
        }
    }

    /// The server alone, to be pasted by hand.
    pub(super) fn snippet(self, entry: &Entry) -> String {
        self.put("", entry).map(|it| it.text).unwrap_or_default()
    }
}
