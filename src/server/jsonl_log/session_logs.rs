//! A log for each session: which tools were called, and what went wrong, but never with which text.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::folder::{LogFolder, OpenFolder};
use super::sink::JsonlSink;
use crate::model::clock::Millis;
use crate::model::identity::is_base62;
use crate::server::log_buffer;
use crate::server::sessions::each_line;
use crate::settings::config::LogFileSettings;

const FOLDER: &str = "logs";
const ENDING: &str = ".log";

/// Characters of an id in the name of its file.
const SLUG_CHARS_MAX: usize = 64;

/// Logs that are kept.
const LOGS_MAX: usize = 1_000;

/// The logs of all sessions, as they are written down.
#[derive(Clone, Debug)]
pub(crate) struct SessionLogs {
    /// The source folder; `None`: there are none, for ever.
    home: Option<PathBuf>,
    /// Bytes after which a log is set aside; `None`: nothing is written.
    bytes_max: Option<u64>,
}

/// One record: a line of the file, and of what clients read, key by key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SessionLogRecord {
    /// As RFC 3339 has it.
    pub(crate) time: String,
    /// `DEBUG`, `INFO`, `WARN` or `ERROR`.
    pub(crate) level: String,
    pub(crate) msg: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) fields: Map<String, Value>,
}

/// A log as the index has it, key by key as clients know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LogFile {
    pub(crate) session_id: String,
    pub(crate) size_bytes: u64,
    /// Whether an older part was set aside.
    pub(crate) rotated: bool,
    /// Seconds since the Unix epoch.
    pub(crate) modified_at: u64,
}

/// The records of one session, oldest first, key by key as clients know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SessionLog {
    pub(crate) session_id: String,
    pub(crate) entries: Vec<SessionLogRecord>,
}

impl SessionLogs {
    /// The logs of those who use the folder `home`, with something to add only if `settings` say
    /// so.
    pub(crate) fn new(home: Option<&Path>, settings: &LogFileSettings) -> SessionLogs {
        let bytes_max = settings.enabled.then_some(settings.max_file_size);
        SessionLogs { home: home.map(Path::to_owned), bytes_max }
    }

    /// Adds a record to the log of a session, if it is wanted.
    pub(crate) fn append(&self, id: &str, record: &SessionLogRecord) -> io::Result<()> {
        let (Some(home), Some(bytes_max)) = (&self.home, self.bytes_max) else { return Ok(()) };
        let line = serde_json::to_string(record)?;
        JsonlSink::new(home, &format!("{FOLDER}/{}{ENDING}", slug(id))).append(&line, bytes_max)
    }

    /// Which logs there are, by the names of their files.
    pub(crate) fn index(&self) -> io::Result<Vec<LogFile>> {
        let Some(folder) = self.enter()? else { return Ok(Vec::new()) };
        let ids = folder.stems(ENDING)?;
        Ok(ids.into_iter().filter_map(|id| describe(&folder, id)).collect())
    }

    /// What one session did; `None` when there is no log of it.
    pub(crate) fn read(&self, id: &str) -> io::Result<Option<SessionLog>> {
        let Some(folder) = self.enter()? else { return Ok(None) };
        // What is opened has the name that was found, and not the one that was asked for.
        let Some(id) = folder.stems(ENDING)?.into_iter().find(|it| it == id) else {
            return Ok(None);
        };
        let Some(path) = folder.find(&format!("{id}{ENDING}"))? else { return Ok(None) };
        let mut entries = Vec::new();
        each_line(BufReader::new(File::open(path)?), |line| {
            entries.extend(serde_json::from_slice::<SessionLogRecord>(line));
        })?;
        Ok(Some(SessionLog { session_id: id, entries }))
    }

    /// Removes the logs of the sessions that ended first, where there are many.
    pub(crate) fn prune(&self) -> io::Result<()> {
        let Some(folder) = self.enter()?.filter(|_| self.bytes_max.is_some()) else {
            return Ok(());
        };
        let mut logs: Vec<LogFile> = self.index()?;
        // What has another name is somebody else's.
        logs.retain(|it| is_base62(&it.session_id));
        logs.sort_by_key(|it| it.modified_at);
        for LogFile { session_id, .. } in &logs[..logs.len().saturating_sub(LOGS_MAX)] {
            folder.remove(&format!("{session_id}{ENDING}.1"))?;
            folder.remove(&format!("{session_id}{ENDING}"))?;
        }
        Ok(())
    }

    fn enter(&self) -> io::Result<Option<OpenFolder>> {
        self.home.as_ref().map_or(Ok(None), |home| LogFolder::new(home, FOLDER).enter())
    }
}

impl SessionLogRecord {
    /// A record of a line of the log.
    pub(crate) fn new(line: &str, level: &str, now: Millis) -> SessionLogRecord {
        let (msg, fields) = log_buffer::split_log_line(line);
        SessionLogRecord { time: now.rfc3339(), level: level.to_owned(), msg, fields }
    }
}

/// An id as the name of a file: nothing in it leads anywhere.
fn slug(id: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    let plain = id.chars().take(SLUG_CHARS_MAX).map(|it| if is_plain(it) { it } else { '-' });
    let slug: String = plain.collect();
    if slug.is_empty() { "session".to_owned() } else { slug }
}

fn describe(folder: &OpenFolder, id: String) -> Option<LogFile> {
    let name = format!("{id}{ENDING}");
    let metadata = folder.find(&name).ok()??.metadata().ok()?;
    let rotated = folder.find(&format!("{name}.1")).is_ok_and(|it| it.is_some());
    let modified_at = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let modified_at = modified_at.as_secs();
    Some(LogFile { session_id: id, size_bytes: metadata.len(), rotated, modified_at })
}

#[cfg(test)]
mod tests;
