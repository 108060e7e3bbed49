//! What an edit of somebody's settings is, whatever they are written in.

use serde_json::Value;

use super::json::{self, ServersPath};
use super::toml;

/// The server as a client's settings name it.
#[derive(Clone, Debug)]
pub(super) struct ServerEntry {
    pub(super) name: &'static str,
    pub(super) fields: Vec<(&'static str, Value)>,
}

/// What a settings file is written in.
#[derive(Clone, Copy, Debug)]
pub(super) enum SettingsFormat {
    Json(ServersPath),
    Toml,
}

/// Settings with the server in them.
#[derive(Debug)]
pub(super) struct EditedSettings {
    pub(super) text: String,
    /// The entry of that name that was there before, as written.
    pub(super) entry: Option<String>,
    /// Whether the object that holds servers was made for it.
    pub(super) is_container_new: bool,
}

/// Why settings are not edited.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum EditError {
    /// They are not what the client reads.
    Broken { at: usize, what: String },
    /// They are fine, but somebody has to look.
    Other(String),
    /// The edit would change more than it should.
    Unsure,
}

impl SettingsFormat {
    /// `text` with the server in it; the same text when it is there as it should be.
    pub(super) fn put(self, text: &str, entry: &ServerEntry) -> Result<EditedSettings, EditError> {
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
    ) -> Result<String, EditError> {
        match self {
            SettingsFormat::Json(place) => json::take(text, place, name, before, is_container_new),
            SettingsFormat::Toml => toml::take(text, name, before),
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
    pub(super) fn snippet(self, entry: &ServerEntry) -> String {
        self.put("", entry).map(|it| it.text).unwrap_or_default()
    }
}

/// How the lines of a text end.
pub(super) fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}
