//! Edits of a user's settings, in any supported format.

use serde_json::Value;

use super::json_settings::{self, ServersPath};
use super::settings_edit_types::{EditRefusal, EditedSettings, Grant, ServerEntry};
use super::{toml_settings, yaml_settings};

/// The format of a settings file.
#[derive(Clone, Copy, Debug)]
pub(super) enum SettingsFormat {
    Json(ServersPath),
    Toml,
    Yaml,
}

impl SettingsFormat {
    /// Adds the server to `text`; an up-to-date one is left unchanged.
    pub(super) fn put(
        self,
        text: &str,
        entry: &ServerEntry,
    ) -> Result<EditedSettings, EditRefusal> {
        match self {
            SettingsFormat::Json(place) => json_settings::put(text, place, entry),
            SettingsFormat::Toml => toml_settings::put(text, entry),
            SettingsFormat::Yaml => yaml_settings::put(text, entry),
        }
    }

    /// Removes the server from `text`, or restores the former entry.
    pub(super) fn take(
        self,
        text: &str,
        name: &str,
        before: Option<&str>,
        is_container_new: bool,
    ) -> Result<String, EditRefusal> {
        match self {
            SettingsFormat::Json(place) => {
                json_settings::take(text, place, name, before, is_container_new)
            }
            SettingsFormat::Toml => toml_settings::take(text, name, before),
            SettingsFormat::Yaml => yaml_settings::take(text, name, before, is_container_new),
        }
    }

    /// Returns the fields of a server, as JSON.
    pub(super) fn fields(self, text: &str, name: &str) -> Option<Vec<(String, Value)>> {
        match self {
            SettingsFormat::Json(place) => json_settings::fields(text, place, name),
            SettingsFormat::Toml => toml_settings::fields(text, name),
            SettingsFormat::Yaml => yaml_settings::fields(text, name),
        }
    }

    /// Adds the permissions to `text`; returns those that are new.
    pub(super) fn grant(
        self,
        text: &str,
        grants: &[Grant],
    ) -> Result<(String, Vec<Grant>), EditRefusal> {
        match self {
            SettingsFormat::Json(place) => json_settings::grant(text, place.dialect, grants),
            SettingsFormat::Toml => toml_settings::grant(text, grants),
            // No client with settings in YAML keeps permissions in them.
            SettingsFormat::Yaml => Ok((text.to_owned(), Vec::new())),
        }
    }

    /// Removes the permissions from `text`.
    pub(super) fn revoke(self, text: &str, grants: &[Grant]) -> Result<String, EditRefusal> {
        match self {
            SettingsFormat::Json(place) => json_settings::revoke(text, place.dialect, grants),
            SettingsFormat::Toml => toml_settings::revoke(text, grants),
            SettingsFormat::Yaml => Ok(text.to_owned()),
        }
    }

    /// Returns whether `text` has no content left.
    pub(super) fn is_blank(self, text: &str) -> bool {
        match self {
            SettingsFormat::Json(place) => json_settings::is_blank(text, place.dialect),
            SettingsFormat::Toml => text.trim().is_empty(),
            SettingsFormat::Yaml => yaml_settings::is_blank(text),
        }
    }

    /// Returns the server alone, to be pasted by hand.
    pub(super) fn snippet(self, entry: &ServerEntry) -> String {
        self.put("", entry).map(|it| it.text).unwrap_or_default()
    }
}
