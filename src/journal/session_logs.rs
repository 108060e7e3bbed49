//! A log for each session: which tools were called, and what went wrong, but never with which text.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::folder::{Entered, Folder};
use crate::sessions::each_line;

const FOLDER: &str = "logs";
const ENDING: &str = ".log";

/// Characters of an id in the name of its file.
const SLUG_CHARS_MAX: usize = 64;

/// The logs of all sessions, as they are written down.
#[derive(Clone, Debug)]
pub(crate) struct SessionLogs {
    folder: Option<Folder>,
}

/// One record: a line of the file, and of what clients read, key by key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
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
    pub(crate) entries: Vec<Record>,
}

impl SessionLogs {
    /// The logs of those who use the folder `source`.
    pub(crate) fn new(source: &Path) -> SessionLogs {
        SessionLogs { folder: Some(Folder::new(source, FOLDER)) }
    }

    /// No logs, for ever.
    pub(crate) fn nowhere() -> SessionLogs {
        SessionLogs { folder: None }
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
            entries.extend(serde_json::from_slice::<Record>(line));
        })?;
        Ok(Some(SessionLog { session_id: id, entries }))
    }

    fn enter(&self) -> io::Result<Option<Entered>> {
        self.folder.as_ref().map_or(Ok(None), Folder::enter)
    }
}

fn describe(folder: &Entered, id: String) -> Option<LogFile> {
    let name = format!("{id}{ENDING}");
    let metadata = folder.find(&name).ok()??.metadata().ok()?;
    let rotated = folder.find(&format!("{name}.1")).is_ok_and(|it| it.is_some());
    let modified_at = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let modified_at = modified_at.as_secs();
    Some(LogFile { session_id: id, size_bytes: metadata.len(), rotated, modified_at })
}
