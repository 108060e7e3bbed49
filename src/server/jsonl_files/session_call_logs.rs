//! Session logs: the tools that each session called and its failures, without any texts.

use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::sink::JsonlSink;
use super::symlink_free_subfolder::{ConfinedFolder, ConfinedFolderPath};
use crate::model::clock::UnixMillis;
use crate::model::identity::is_base62;
use crate::server::client_presence_and_history::each_line;
use crate::server::recent_log_records;
use crate::settings::config::JsonlLogFileSettings;

const FOLDER: &str = "logs";
const ENDING: &str = ".log";

/// Maximum characters of an id in the name of its file.
const SLUG_CHARS_MAX: usize = 64;

/// Maximum logs that are kept.
const LOGS_MAX: usize = 1_000;

/// The logs of all sessions.
#[derive(Clone, Debug)]
pub(crate) struct SessionLogs {
    /// The source folder; `None` if there are no logs.
    home: Option<PathBuf>,
    /// Bytes after which a log is rotated; `None` if none are written.
    bytes_max: Option<u64>,
}

/// One record: a line of the file, and of the answer to clients, key by key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionLogRecord {
    /// The time in RFC 3339.
    pub(crate) time: String,
    /// `DEBUG`, `INFO`, `WARN` or `ERROR`.
    pub(crate) level: String,
    pub(crate) msg: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) fields: Map<String, Value>,
}

/// A log in the index, key by key as clients know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SessionLogFileInfo {
    pub(crate) session_id: String,
    pub(crate) size_bytes: u64,
    /// Whether an older part was rotated away.
    pub(crate) rotated: bool,
    /// Seconds since the Unix epoch.
    pub(crate) modified_at: u64,
}

/// The records of one session, oldest first, key by key as clients know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SessionLogContents {
    pub(crate) session_id: String,
    pub(crate) entries: Vec<SessionLogRecord>,
}

impl SessionLogs {
    /// Returns the logs of the folder `home`. Records are added only if `settings` enable them.
    pub(crate) fn new(home: Option<&Path>, settings: &JsonlLogFileSettings) -> SessionLogs {
        let bytes_max = settings.enabled.then_some(settings.max_file_size);
        SessionLogs { home: home.map(Path::to_owned), bytes_max }
    }

    /// Adds a record to the log of a session, if enabled.
    pub(crate) fn append(&self, id: &str, record: &SessionLogRecord) -> io::Result<()> {
        let (Some(home), Some(bytes_max)) = (&self.home, self.bytes_max) else { return Ok(()) };
        let line = serde_json::to_string(record)?;
        JsonlSink::new(home, &format!("{FOLDER}/{}{ENDING}", slug(id))).append(&line, bytes_max)
    }

    /// Lists the logs, by the names of their files.
    pub(crate) fn index(&self) -> io::Result<Vec<SessionLogFileInfo>> {
        let Some(folder) = self.enter()? else { return Ok(Vec::new()) };
        let ids = folder.stems(ENDING)?;
        Ok(ids.into_iter().filter_map(|id| describe(&folder, id)).collect())
    }

    /// Returns the log of one session; `None` if there is none.
    pub(crate) fn read(&self, id: &str) -> io::Result<Option<SessionLogContents>> {
        let Some(folder) = self.enter()? else { return Ok(None) };
        // The path is made of the name that was found, not of the one requested.
        let Some(id) = folder.stems(ENDING)?.into_iter().find(|it| it == id) else {
            return Ok(None);
        };
        let Some(file) = folder.read(&format!("{id}{ENDING}"))? else { return Ok(None) };
        let mut entries = Vec::new();
        each_line(BufReader::new(file), |line| {
            entries.extend(serde_json::from_slice::<SessionLogRecord>(line));
        })?;
        Ok(Some(SessionLogContents { session_id: id, entries }))
    }

    /// Removes the oldest logs beyond the maximum.
    pub(crate) fn prune(&self) -> io::Result<()> {
        let Some(folder) = self.enter()?.filter(|_| self.bytes_max.is_some()) else {
            return Ok(());
        };
        let mut logs: Vec<SessionLogFileInfo> = self.index()?;
        // Files with other names are somebody else's.
        logs.retain(|it| is_base62(&it.session_id));
        logs.sort_by_key(|it| it.modified_at);
        for SessionLogFileInfo { session_id, .. } in &logs[..logs.len().saturating_sub(LOGS_MAX)] {
            folder.remove(&format!("{session_id}{ENDING}.1"))?;
            folder.remove(&format!("{session_id}{ENDING}"))?;
        }
        Ok(())
    }

    fn enter(&self) -> io::Result<Option<ConfinedFolder>> {
        self.home.as_ref().map_or(Ok(None), |home| ConfinedFolderPath::own(home, FOLDER).enter())
    }
}

impl SessionLogRecord {
    /// Returns a record of a line of the log.
    pub(crate) fn new(line: &str, level: &str, now: UnixMillis) -> SessionLogRecord {
        let (msg, fields) = recent_log_records::split_log_line(line);
        SessionLogRecord { time: now.rfc3339(), level: level.to_owned(), msg, fields }
    }
}

/// Returns an id as the name of a file, without path separators.
fn slug(id: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    let plain = id.chars().take(SLUG_CHARS_MAX).map(|it| if is_plain(it) { it } else { '-' });
    let slug: String = plain.collect();
    if slug.is_empty() { "session".to_owned() } else { slug }
}

fn describe(folder: &ConfinedFolder, id: String) -> Option<SessionLogFileInfo> {
    let name = format!("{id}{ENDING}");
    let metadata = folder.find(&name).ok()??;
    let rotated = folder.find(&format!("{name}.1")).is_ok_and(|it| it.is_some());
    let modified_at = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let modified_at = modified_at.as_secs();
    Some(SessionLogFileInfo { session_id: id, size_bytes: metadata.len(), rotated, modified_at })
}

#[cfg(test)]
mod tests;
