//! Spoken texts: everything that a person and an agent said to each other, whole and in order.

use serde_json::Value;

use super::transcript_records::{self, TranscriptEvent};

/// The request of a person, or the answer of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestOrAnswer {
    Request(String),
    Answer(String),
}

/// Appends what a record, or a list of records, says; a text that clients record twice is one.
pub(crate) fn each_spoken(record: &Value, said: &mut Vec<RequestOrAnswer>) {
    transcript_records::each_event(record, &mut |event| {
        let text = match event {
            TranscriptEvent::Request(text) => RequestOrAnswer::Request(text.trim().to_owned()),
            TranscriptEvent::Answer(text) => RequestOrAnswer::Answer(text.trim().to_owned()),
            _ => return,
        };
        let (RequestOrAnswer::Request(words) | RequestOrAnswer::Answer(words)) = &text;
        if !words.is_empty() && said.last() != Some(&text) {
            said.push(text);
        }
    });
}
