//! Spoken texts: everything that a person and an agent said to each other, whole and in order.

use serde_json::Value;

use super::transcript_records::{self, TranscriptEvent};

/// A text of a person or of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SpokenText {
    Request(String),
    Answer(String),
}

/// Appends what a record, or a list of records, says; a text that clients record twice is one.
pub(crate) fn each_spoken(record: &Value, said: &mut Vec<SpokenText>) {
    transcript_records::each_event(record, &mut |event| {
        let text = match event {
            TranscriptEvent::Request(text) => SpokenText::Request(text.trim().to_owned()),
            TranscriptEvent::Answer(text) => SpokenText::Answer(text.trim().to_owned()),
            _ => return,
        };
        let (SpokenText::Request(words) | SpokenText::Answer(words)) = &text;
        if !words.is_empty() && said.last() != Some(&text) {
            said.push(text);
        }
    });
}
