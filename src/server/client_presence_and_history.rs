//! Client sessions, present and past, as values: time is an argument, and there is no IO.
//!
//! The [`LiveSessionRegistry`] takes the requests of clients and lists the present sessions.
//! Changes leave it as [`ClientSessionRecord`]s, the lines of the ledger; a
//! [`ClientSessionHistory`] summarizes all lines of one client. The statements of a client about
//! itself are unverified.

pub(crate) mod session_event_recorder;

mod client_session_history;
mod live_session_registry;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::model::identity::{ContentHash, base62};

#[cfg(any(test, fuzzing))]
pub(crate) use client_session_history::LEDGER_LINE_BYTES_MAX;
pub(crate) use client_session_history::{
    ClientSessionHistory, ClientSessionRecord, ClientTotalsAcrossSessions, each_line,
};
pub(crate) use live_session_registry::{
    ChangedSessionsToPersist, EndedSessionQueueing, LiveSession, LiveSessionRegistry,
    ObservedRequest, TransportAndListenAddress,
};

/// Maximum characters of a client's name in the name of its file.
const SLUG_CHARS_MAX: usize = 40;

/// A client's own identification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientIdentity {
    /// Its name for programs.
    #[serde(default)]
    pub(crate) name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// The version of its build.
    #[serde(default)]
    pub(crate) version: String,
    /// The version of the protocol that it speaks.
    #[serde(default)]
    pub(crate) protocol: String,
}

impl ClientIdentity {
    /// Returns 11 base62 characters that identify the client on this transport. They never change.
    pub(crate) fn hash(&self, transport: &str) -> String {
        let title = self.title.as_deref().unwrap_or_default();
        let parts = ["client", &self.name, title, &self.version, &self.protocol, transport];
        base62(ContentHash::of(&parts.join("\0")).0)
    }

    /// Returns the name of its ledger without the extension: a readable part, then the hash.
    pub(crate) fn stem(&self, transport: &str) -> String {
        let mut slug = String::new();
        for letter in self.name.chars().flat_map(char::to_lowercase) {
            match letter {
                'a'..='z' | '0'..='9' => slug.push(letter),
                _ if slug.is_empty() || slug.ends_with('-') => (),
                _ => slug.push('-'),
            }
        }
        slug.truncate(SLUG_CHARS_MAX);
        let slug = match slug.trim_end_matches('-') {
            "" => "client",
            slug => slug,
        };
        format!("{slug}-{}", self.hash(transport))
    }
}
