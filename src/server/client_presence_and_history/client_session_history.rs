//! The ledger of one client: its lines and their summary.
//!
//! Of several lines about one session the last one counts. An unreadable line is ignored: it may be
//! torn by a crash, or be forged.

use std::collections::HashMap;
use std::io::{self, BufRead};

use serde::{Deserialize, Serialize};

use super::ClientIdentity;

/// Maximum bytes of a line; longer ones are ignored.
pub(crate) const LEDGER_LINE_BYTES_MAX: usize = 1024 * 1024;

/// One session at one moment, a line of the ledger. Times are seconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientSessionRecord {
    pub(crate) session_id: String,
    pub(crate) client: ClientIdentity,
    pub(crate) transport: String,
    pub(crate) connected_at: i64,
    pub(crate) last_seen: i64,
    /// `None` while it lasts, and for ever when the server died first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) disconnected_at: Option<i64>,
    #[serde(default)]
    pub(crate) tool_calls: u64,
}

impl ClientSessionRecord {
    /// Returns one line of JSON.
    pub(crate) fn to_line(&self) -> String {
        serde_json::to_string(self).expect("strings and numbers are JSON")
    }

    /// Parses a line; `None` if it is not one.
    pub(crate) fn parse(line: &[u8]) -> Option<ClientSessionRecord> {
        if LEDGER_LINE_BYTES_MAX < line.len() {
            return None;
        }
        serde_json::from_slice(line).ok()
    }

    fn lifetime_s(&self) -> i64 {
        self.disconnected_at.unwrap_or(self.last_seen).saturating_sub(self.connected_at).max(0)
    }
}

/// The totals of one client over all its sessions: the envelope that clients know, key by key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ClientTotalsAcrossSessions {
    pub(crate) hash: String,
    /// Its latest identification.
    pub(crate) client: ClientIdentity,
    pub(crate) transport: String,
    pub(crate) sessions: usize,
    pub(crate) lifetime_seconds: i64,
    /// Time of the last end of a session; 0 when none has ended yet.
    pub(crate) last_disconnect: i64,
    pub(crate) tool_calls: u64,
}

/// The sessions of one client, each by its last line, in the order of these lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientSessionHistory {
    sessions: Vec<Option<ClientSessionRecord>>,
    place_of: HashMap<String, usize>,
    n_lines: usize,
}

impl ClientSessionHistory {
    /// Reads a file.
    pub(crate) fn read(input: impl BufRead) -> io::Result<ClientSessionHistory> {
        let mut ledger = ClientSessionHistory::default();
        each_line(input, |line| ledger.add(line))?;
        Ok(ledger)
    }

    /// Adds the next line of the file.
    pub(crate) fn add(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        self.n_lines += 1;
        let Some(entry) = ClientSessionRecord::parse(line) else { return };
        let place = self.sessions.len();
        if let Some(before) = self.place_of.insert(entry.session_id.clone(), place) {
            self.sessions[before] = None;
        }
        self.sessions.push(Some(entry));
    }

    /// Returns whether compaction would shorten it.
    pub(crate) fn is_long(&self) -> bool {
        self.place_of.len() < self.n_lines
    }

    /// Returns one line per session.
    pub(crate) fn to_text(&self) -> String {
        self.entries().map(|it| it.to_line() + "\n").collect()
    }

    /// Returns the sessions without an end that were seen at `since` or later.
    pub(crate) fn unended(&self, since: i64) -> Vec<ClientSessionRecord> {
        let is_it =
            |it: &&ClientSessionRecord| it.disconnected_at.is_none() && since <= it.last_seen;
        self.entries().filter(is_it).cloned().collect()
    }

    /// Returns the summary of the sessions; `None` without any.
    pub(crate) fn past(&self, hash: &str) -> Option<ClientTotalsAcrossSessions> {
        let newest = self.entries().max_by_key(|it| it.last_seen)?;
        let ends = self.entries().filter_map(|it| it.disconnected_at);
        Some(ClientTotalsAcrossSessions {
            hash: hash.to_owned(),
            client: newest.client.clone(),
            transport: newest.transport.clone(),
            sessions: self.place_of.len(),
            lifetime_seconds: self
                .entries()
                .map(ClientSessionRecord::lifetime_s)
                .fold(0, i64::saturating_add),
            last_disconnect: ends.max().unwrap_or(0),
            tool_calls: self.entries().map(|it| it.tool_calls).fold(0, u64::saturating_add),
        })
    }

    fn entries(&self) -> impl Iterator<Item = &ClientSessionRecord> {
        self.sessions.iter().flatten()
    }
}

/// Calls `each` with every line, without its end. Lines that are too long are skipped, and never
/// held in memory.
pub(crate) fn each_line(mut input: impl BufRead, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let bytes = input.fill_buf()?;
        let end = bytes.iter().position(|it| *it == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        is_too_long |= LEDGER_LINE_BYTES_MAX < line.len() + part.len();
        if !is_too_long {
            line.extend_from_slice(part);
        }
        let (n_bytes, is_over) = (part.len() + usize::from(end.is_some()), bytes.is_empty());
        if (end.is_some() || is_over) && !is_too_long {
            each(&line);
        }
        if is_over {
            return Ok(());
        }
        if end.is_some() {
            line.clear();
            is_too_long = false;
        }
        input.consume(n_bytes);
    }
}
