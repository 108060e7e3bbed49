//! A ring buffer of the latest log records, for observers.
//!
//! A line of this program's log is a message and then `key=value`s, at its end or before `: ` and a
//! detail. The keys become attributes, and the message keeps the other words:
//! `tool failed tool=MemoryTree: the file is gone` is `tool failed: the file is gone` with a
//! `tool`.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value};

use crate::model::clock::UnixMillis;

/// Called after each record.
type LogObserver = Box<dyn Fn() + Send + Sync>;

/// The records, shared by the logger and its observers.
#[derive(Clone)]
pub(crate) struct RecentLogRecords {
    capacity: usize,
    state: Arc<Mutex<BufferState>>,
    observers: Arc<Mutex<Vec<Arc<LogObserver>>>>,
}

#[derive(Debug, Default)]
struct BufferState {
    records: VecDeque<LogRecord>,
    dropped: u64,
}

/// One record, key by key as clients know it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LogRecord {
    /// Milliseconds since the Unix epoch.
    pub(crate) time: i64,
    /// `DEBUG`, `INFO`, `WARN` or `ERROR`.
    pub(crate) level: &'static str,
    pub(crate) msg: String,
    pub(crate) attrs: Map<String, Value>,
}

/// The latest records, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct RecentLogReadout {
    pub(crate) records: Vec<LogRecord>,
    /// Number of records that were dropped for newer ones.
    pub(crate) dropped: u64,
}

impl LogRecord {
    /// Returns a record of a line of the log.
    pub(crate) fn new(line: &str, level: &'static str, now: UnixMillis) -> LogRecord {
        let (msg, attrs) = split_log_line(line);
        LogRecord { time: now.0, level, msg, attrs }
    }
}

impl RecentLogRecords {
    /// Returns an empty buffer for `capacity` records, at least one.
    pub(crate) fn new(capacity: u32) -> RecentLogRecords {
        let capacity = usize::try_from(capacity).unwrap_or(usize::MAX).max(1);
        RecentLogRecords { capacity, state: Arc::default(), observers: Arc::default() }
    }

    /// Adds an observer that is called after every record from now on, on the thread that logged.
    /// It must neither log nor wait.
    pub(crate) fn add_observer(&self, observer: impl Fn() + Send + Sync + 'static) {
        self.observers().push(Arc::new(Box::new(observer)));
    }

    /// Adds a record, for which the oldest makes room, and calls the observers.
    pub(crate) fn push(&self, record: LogRecord) {
        let mut state = self.state();
        if self.capacity <= state.records.len() {
            state.records.pop_front();
            state.dropped += 1;
        }
        state.records.push_back(record);
        drop(state);
        // Observers are called without a lock: one that reads the buffer would wait for itself.
        let observers = self.observers().clone();
        observers.iter().for_each(|it| it());
    }

    /// Returns the present records.
    pub(crate) fn read(&self) -> RecentLogReadout {
        let state = self.state();
        RecentLogReadout {
            records: state.records.iter().cloned().collect(),
            dropped: state.dropped,
        }
    }

    fn state(&self) -> MutexGuard<'_, BufferState> {
        // Nothing panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn observers(&self) -> MutexGuard<'_, Vec<Arc<LogObserver>>> {
        self.observers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RecentLogRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("capacity", &self.capacity).finish_non_exhaustive()
    }
}

/// Splits a line into its message and its attributes.
pub(crate) fn split_log_line(line: &str) -> (String, Map<String, Value>) {
    let mut attrs = Map::new();
    // The text after the last run of pairs that was tried.
    let mut rest = line;
    while let Some(start) = first_pair(rest) {
        let before = line.len() - rest.len() + start;
        rest = &line[before..];
        attrs.clear();
        let mut has_detail = false;
        while let Some((key, value, after)) = pair(rest) {
            rest = after;
            has_detail = value.ends_with(':') && !after.is_empty();
            let value = if has_detail { &value[..value.len() - 1] } else { value };
            attrs.insert(key.to_owned(), to_value(value));
            if has_detail {
                break;
            }
        }
        let words = line[..before].trim_end();
        if has_detail {
            return (format!("{words}: {rest}"), attrs);
        }
        if rest.is_empty() {
            return (words.to_owned(), attrs);
        }
    }
    (line.to_owned(), Map::new())
}

/// Returns the start of the first word that is a pair.
fn first_pair(text: &str) -> Option<usize> {
    let mut at = 0;
    for word in text.split(' ') {
        if pair(word).is_some() {
            return Some(at);
        }
        at += word.len() + 1;
    }
    None
}

/// Parses the pair at the start of `text`; returns the rest, too.
fn pair(text: &str) -> Option<(&str, &str, &str)> {
    let (word, after) = text.split_once(' ').unwrap_or((text, ""));
    let (key, value) = word.split_once('=')?;
    let is_key = key.starts_with(|it: char| it.is_ascii_lowercase())
        && key.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'_');
    is_key.then_some((key, value, after))
}

/// Converts a value, to a number if that prints the same.
fn to_value(text: &str) -> Value {
    match text.parse::<i64>() {
        Ok(number) if number.to_string() == text => number.into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests;
