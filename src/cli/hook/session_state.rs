//! State between the calls of hooks: the texts given in a session, and a client's last snapshot.
//!
//! Each session and each client of a memory has a small file in the user's state folder, named by
//! hashes. It holds ids and numbers, no text. Files that are a month old are removed. State that
//! cannot be read or written is given up: a text is then given twice.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::log_file::make_private_folder;
use crate::ingest::scan;
use crate::model::identity::ContentHash;

/// Ids that a session remembers; beyond that the oldest are dropped.
const GIVEN_MAX: usize = 512;

/// Bytes of a file.
const STATE_BYTES_MAX: u64 = 64 * 1024;

/// Age at which a file is removed.
const AGE_MAX: Duration = Duration::from_secs(30 * 86_400);

/// Files that one call looks at.
const PRUNED_MAX: usize = 2_000;

/// State of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SessionState {
    /// Ids of nodes whose texts were given, oldest first.
    pub(super) given: Vec<String>,
    /// The id of the session's note.
    pub(super) note: Option<String>,
    /// When the note was written or updated, in ms since the Unix epoch.
    pub(super) noted_at: Option<i64>,
    /// The snapshot at the end of the session before it.
    pub(super) since: Option<i64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct LastSeenSnapshot {
    snapshot: i64,
}

/// The folder of the states, with the names of one memory and client.
pub(super) struct StateFolder {
    folder: Option<PathBuf>,
    prefix: String,
}

impl SessionState {
    /// Adds ids of nodes whose texts were given.
    pub(super) fn give(&mut self, ids: Vec<String>) {
        self.given.extend(ids);
        self.given.drain(..self.given.len().saturating_sub(GIVEN_MAX));
    }
}

impl StateFolder {
    /// Returns the states of a memory and a client below the state folder.
    pub(super) fn open(state: Option<&Path>, db: &Path, client: &str) -> StateFolder {
        let full = db.canonicalize().unwrap_or_else(|_| db.to_owned());
        let memory = ContentHash::of_bytes(full.as_os_str().as_encoded_bytes());
        let folder = state.map(|it| it.join("hooks"));
        StateFolder { folder, prefix: format!("{memory}-{client}") }
    }

    pub(super) fn session(&self, session: &str) -> SessionState {
        self.read(&self.session_name(session)).unwrap_or_default()
    }

    pub(super) fn save_session(&self, session: &str, state: &SessionState) {
        self.write(&self.session_name(session), state);
    }

    /// Returns the snapshot at the client's last call.
    pub(super) fn last_snapshot(&self) -> Option<i64> {
        self.read::<LastSeenSnapshot>(&self.client_name()).map(|it| it.snapshot)
    }

    pub(super) fn save_last_snapshot(&self, snapshot: i64) {
        self.write(&self.client_name(), &LastSeenSnapshot { snapshot });
    }

    /// Removes old files.
    pub(super) fn prune(&self) {
        let Some(entries) = self.folder.as_ref().and_then(|it| fs::read_dir(it).ok()) else {
            return;
        };
        for entry in entries.flatten().take(PRUNED_MAX) {
            let modified = entry.metadata().and_then(|it| it.modified());
            let is_old = modified.is_ok_and(|it| it.elapsed().is_ok_and(|age| AGE_MAX < age));
            if is_old && entry.path().extension().is_some_and(|it| it == "json") {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn session_name(&self, session: &str) -> String {
        format!("{}-{}.json", self.prefix, ContentHash::of(session))
    }

    fn client_name(&self) -> String {
        format!("{}.json", self.prefix)
    }

    fn read<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Option<T> {
        let file = scan::open_regular(&self.folder.as_ref()?.join(name)).ok()?;
        let mut text = String::new();
        file.take(STATE_BYTES_MAX).read_to_string(&mut text).ok()?;
        serde_json::from_str(&text).ok()
    }

    /// Replaces a file in one step.
    fn write(&self, name: &str, state: &impl Serialize) {
        let Some(folder) = &self.folder else { return };
        let Ok(text) = serde_json::to_string(state) else { return };
        make_private_folder(folder);
        let draft = folder.join(format!("{name}.{}.draft", std::process::id()));
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        options.mode(0o600);
        let written = options.open(&draft).and_then(|mut it| it.write_all(text.as_bytes()));
        if written.and_then(|()| fs::rename(&draft, folder.join(name))).is_err() {
            let _ = fs::remove_file(&draft);
        }
    }
}
