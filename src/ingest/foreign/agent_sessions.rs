//! Sessions of coding agents: one note a transcript, of what was asked and answered.
//!
//! The [records](crate::ingest::conversation) of the clients say what is a person's and
//! what an agent's; prompts of the system, calls of tools and their output are left out.

use std::io::BufRead;

use serde_json::Value;

use super::json_records::{each_record, whole_value};
use super::{ForeignFileOrigin, ForeignNote, NoteCollector, spoken, stem};
use crate::ingest::conversation::{RequestOrAnswer, each_spoken};
use crate::model::clock::UnixMillis;
use crate::text::{self, LABEL_CHARS_MAX};

/// Facts about a session beside its words.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionMetadata {
    pub(crate) id: Option<String>,
    pub(crate) project: Option<String>,
    /// Day and minute, as authored in UTC.
    pub(crate) started: Option<String>,
    pub(crate) title: Option<String>,
}

/// Reads a transcript of one record a line.
pub(super) fn read_lines(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) {
    let mut facts = SessionMetadata::default();
    let mut spoken = Vec::new();
    each_record(file, input, notes, &mut |record, _, _| {
        facts.learn(&record);
        each_spoken(&record, &mut spoken);
    });
    add_session(file, facts, spoken, notes);
}

/// Reads a transcript that is one value.
pub(super) fn read_value(
    file: &ForeignFileOrigin<'_>,
    input: &mut dyn BufRead,
    notes: &mut NoteCollector,
) {
    let Some(value) = whole_value(file, input, notes) else { return };
    let mut facts = SessionMetadata::default();
    facts.learn(&value);
    let messages = value.get("messages").and_then(Value::as_array);
    for record in messages.into_iter().flatten() {
        facts.learn(record);
    }
    let mut spoken = Vec::new();
    each_spoken(&value, &mut spoken);
    add_session(file, facts, spoken, notes);
}

/// Adds the note of a session; one in which nothing was asked has none.
pub(crate) fn add_session(
    file: &ForeignFileOrigin<'_>,
    facts: SessionMetadata,
    said: Vec<RequestOrAnswer>,
    notes: &mut NoteCollector,
) {
    let Some(first) = said.iter().find_map(|it| match it {
        RequestOrAnswer::Request(text) => Some(text::label_of_text(text)),
        RequestOrAnswer::Answer(_) => None,
    }) else {
        return;
    };
    let day = facts.started.as_deref().map(|it| it.get(..10).unwrap_or(it));
    let title = facts.title.as_deref().filter(|it| !it.trim().is_empty()).unwrap_or(&first);
    let title = format!("{} {title}", day.unwrap_or_default());
    let head = [
        Some(format!("{} session", file.source.name)),
        facts.started.as_deref().map(|it| format!("of {}", it.replace('T', " "))),
        facts
            .project
            .as_deref()
            .or(file.project)
            .map(|it| format!("in `{}`", it.replace('`', "'"))),
    ];
    let head: Vec<String> = head.into_iter().flatten().collect();
    let mut texts = vec![head.join(" ")];
    for it in said {
        texts.push(match it {
            RequestOrAnswer::Request(text) => spoken("User", &text),
            RequestOrAnswer::Answer(text) => spoken("Assistant", &text),
        });
    }
    let key = facts.id.clone().unwrap_or_else(|| stem(file.path).to_owned());
    let title = text::truncate_chars(title.trim(), LABEL_CHARS_MAX);
    notes.add(ForeignNote { key, title: Some(title), texts, started: facts.started });
}

impl SessionMetadata {
    /// Takes what a record says of the session and is not known yet.
    fn learn(&mut self, record: &Value) {
        const PARTS: [&str; 4] = ["payload", "info", "data", "path"];
        let parts = PARTS.iter().filter_map(|it| record.get(it)).chain([record]);
        for part in parts {
            let text = |keys: &[&str]| {
                let found = keys.iter().find_map(|it| part.get(it)?.as_str());
                found.filter(|it| !it.trim().is_empty()).map(str::to_owned)
            };
            let id = || text(&["sessionId", "session_id", "sessionID"]);
            self.id = self.id.take().or_else(id).or_else(|| {
                // The first record of Codex and of `opencode export`.
                let is_session = part.get("cwd").is_some() || part.get("directory").is_some();
                is_session.then(|| text(&["id"])).flatten()
            });
            self.project = self.project.take().or_else(|| text(&["cwd", "directory"]));
            let time = || text(&["timestamp", "startTime"]).and_then(|it| minute(&it));
            let created = || part.get("time")?.get("created")?.as_i64().map(minute_of);
            self.started = self.started.take().or_else(time).or_else(created);
        }
    }
}

/// Returns the minute of a time in UTC; `None` for what is no time.
pub(super) fn minute(time: &str) -> Option<String> {
    let shape = b"0000-00-00T00:00";
    let head = time.as_bytes().get(..shape.len())?;
    let is_it = head.iter().zip(shape).all(|(at, like)| match like {
        b'0' => at.is_ascii_digit(),
        b'T' => matches!(at, b'T' | b' '),
        like => at == like,
    });
    is_it.then(|| time[..shape.len()].replace(' ', "T"))
}

/// Returns the minute of milliseconds since 1970.
pub(super) fn minute_of(millis: i64) -> String {
    UnixMillis(millis).rfc3339()[..16].to_owned()
}
