//! Conversations: reads the transcript of a client as requests, answers, files and commands.
//!
//! Clients keep transcripts as JSON Lines or as one JSON value, each with records of its own; the
//! [`transcript_records`] recognise them. Input is untrusted: any text is a conversation, most of
//! them an empty one, and each list and text is bounded. This module does no IO.

mod digest;
mod spoken_texts;
#[cfg(test)]
mod tests;
mod transcript_records;

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::Value;

pub(crate) use digest::{DigestFormatter, TranscriptRedactor};
pub(crate) use spoken_texts::{RequestOrAnswer, each_spoken};
use transcript_records::TranscriptEvent;

/// Bytes of one text that are kept; the rest of a longer one is dropped.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Turns, files and commands that are kept; of more turns, the first and the last.
const TURNS_MAX: usize = 64;
const FILES_MAX: usize = 64;
const COMMANDS_MAX: usize = 256;

/// Bytes of a record; longer ones hold large outputs of tools.
const RECORD_BYTES_MAX: usize = 1024 * 1024;

/// A conversation of a person with an agent.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    turns: Vec<RequestAnswerPair>,
    /// Turns that were dropped after the first.
    n_dropped: usize,
    /// Paths of changed files, in the order of their first change.
    files: Vec<String>,
    commands: Vec<CommandRun>,
}

/// A request and the last answer to it.
#[derive(Debug, Default)]
struct RequestAnswerPair {
    request: TruncatedText,
    answer: TruncatedText,
}

/// A text as authored, or its beginning.
#[derive(Debug, Default, PartialEq, Eq)]
struct TruncatedText {
    text: String,
    is_cut: bool,
}

#[derive(Debug)]
struct CommandRun {
    line: TruncatedText,
    result: RunResult,
}

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunResult {
    Unknown,
    Done,
    Failed { exit_code: Option<i64> },
}

impl RunResult {
    /// Returns the outcome by an exit code, else by whether the client calls it a failure.
    fn new(exit_code: Option<i64>, is_failure: Option<bool>) -> RunResult {
        match (exit_code, is_failure) {
            (Some(0), _) => RunResult::Done,
            (Some(_), _) => RunResult::Failed { exit_code },
            (None, Some(true)) => RunResult::Failed { exit_code },
            (None, Some(false)) => RunResult::Done,
            (None, None) => RunResult::Unknown,
        }
    }
}

/// A call whose result is pending.
enum PendingCall {
    /// Index of the command.
    Command(usize),
    Edit(Vec<String>),
}

impl TruncatedText {
    fn new(text: &str) -> TruncatedText {
        let kept = &text[..text.floor_char_boundary(TEXT_BYTES_MAX)];
        TruncatedText { text: kept.to_owned(), is_cut: kept.len() < text.len() }
    }
}

/// Returns a prompt without the texts that clients and hooks add to it.
pub(crate) fn typed_part(prompt: &str) -> Cow<'_, str> {
    transcript_records::without_additions(prompt)
}

impl Conversation {
    /// Reads a transcript: JSON Lines, or one JSON value. Lines that are no JSON are passed over,
    /// such as the first and the last of a part.
    pub(crate) fn read(transcript: &str) -> Conversation {
        let mut reader = ConversationBuilder::default();
        let mut has_records = false;
        for line in transcript.lines().filter(|it| it.len() <= RECORD_BYTES_MAX) {
            let record = line.trim_start().starts_with('{').then(|| serde_json::from_str(line));
            if let Some(Ok(record)) = record {
                has_records = true;
                reader.add(&record);
            }
        }
        if !has_records && let Ok(value) = serde_json::from_str(transcript) {
            reader.add(&value);
        }
        reader.conversation
    }

    /// Reads a transcript that is a JSON value already.
    pub(crate) fn of(transcript: &Value) -> Conversation {
        let mut reader = ConversationBuilder::default();
        reader.add(transcript);
        reader.conversation
    }

    /// Returns whether the last request has an answer.
    pub(crate) fn is_answered(&self) -> bool {
        self.turns.last().is_some_and(|it| !it.answer.text.is_empty())
    }

    /// Sets the answer to the last request.
    pub(crate) fn answer(&mut self, text: &str) {
        let answer = TruncatedText::new(text.trim());
        if let Some(turn) = self.turns.last_mut()
            && !answer.text.is_empty()
        {
            turn.answer = answer;
        }
    }
}

#[derive(Default)]
struct ConversationBuilder {
    conversation: Conversation,
    pending: HashMap<String, PendingCall>,
}

impl ConversationBuilder {
    fn add(&mut self, record: &Value) {
        transcript_records::each_event(record, &mut |event| self.take(event));
    }

    fn take(&mut self, event: TranscriptEvent<'_>) {
        match event {
            TranscriptEvent::Request(text) => self.request(&text),
            TranscriptEvent::Answer(text) => self.conversation.answer(&text),
            TranscriptEvent::Call { id, name, args } => self.call(id, name, args),
            TranscriptEvent::Result { id, exit_code, is_failure } => {
                let result = RunResult::new(exit_code, is_failure);
                match self.pending.remove(id) {
                    Some(PendingCall::Command(at)) => {
                        self.conversation.commands[at].result = result
                    }
                    Some(PendingCall::Edit(_)) if matches!(result, RunResult::Failed { .. }) => (),
                    Some(PendingCall::Edit(paths)) => self.change(&paths),
                    None => (),
                }
            }
            TranscriptEvent::Command { line, exit_code, is_failure } => {
                self.command(&line, RunResult::new(exit_code, is_failure));
            }
            TranscriptEvent::Changed(paths) => self.change(&paths),
        }
    }

    fn request(&mut self, text: &str) {
        let Conversation { turns, n_dropped, .. } = &mut self.conversation;
        let request = TruncatedText::new(text.trim());
        // Some clients record a message twice, as sent and as shown.
        let is_repeated = turns.last().is_some_and(|it| it.request == request)
            && turns.last().is_some_and(|it| it.answer.text.is_empty());
        if request.text.is_empty() || is_repeated {
            return;
        }
        turns.push(RequestAnswerPair { request, answer: TruncatedText::default() });
        if TURNS_MAX < turns.len() {
            turns.remove(1);
            *n_dropped += 1;
        }
    }

    fn call(&mut self, id: &str, name: &str, args: &Value) {
        let text = args.as_str();
        let parsed = text.and_then(|it| serde_json::from_str::<Value>(it).ok());
        let args = parsed.as_ref().unwrap_or(args);
        // Some clients repeat a call with its result.
        if self.pending.contains_key(id) {
            return;
        }
        let pending = if let Some(line) = transcript_records::command_of(name, args) {
            self.command(&line, RunResult::Unknown).map(PendingCall::Command)
        } else {
            let paths = transcript_records::edited_by(name, args);
            (!paths.is_empty()).then_some(PendingCall::Edit(paths))
        };
        if let Some(pending) = pending {
            self.pending.insert(id.to_owned(), pending);
        }
    }

    /// Adds a command; returns its index, unless there are too many.
    fn command(&mut self, line: &str, result: RunResult) -> Option<usize> {
        let commands = &mut self.conversation.commands;
        if COMMANDS_MAX <= commands.len() || line.trim().is_empty() {
            return None;
        }
        commands.push(CommandRun { line: TruncatedText::new(line.trim()), result });
        Some(commands.len() - 1)
    }

    fn change(&mut self, paths: &[String]) {
        let files = &mut self.conversation.files;
        for path in paths {
            let path = &path[..path.floor_char_boundary(TEXT_BYTES_MAX)];
            if files.len() < FILES_MAX && !path.is_empty() && files.iter().all(|it| it != path) {
                files.push(path.to_owned());
            }
        }
    }
}
