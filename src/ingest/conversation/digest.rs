//! The digest of a conversation: a short text of what was asked, answered, changed and run.
//!
//! Secrets are replaced before anything is cut, since a part of a secret may not be recognised. A
//! secret recognised in one text is replaced in all others, too. What is left is one line a text,
//! without control characters and without the notation of links.

use std::collections::HashMap;

use super::{Conversation, RunResult, TruncatedText};
use crate::ingest::redact::Redactor;
use crate::text;
use crate::text::tokens;

/// Tokens of a digest.
const TOKENS_MAX: u32 = 400;

/// Characters of a request, an answer and a command.
const REQUEST_CHARS_MAX: usize = 240;
const ANSWER_CHARS_MAX: usize = 320;
const COMMAND_CHARS_MAX: usize = 100;

/// Turns, files and commands of a digest: the first turn, and the last of each.
const TURNS_SHOWN: usize = 5;
const FILES_SHOWN: usize = 10;
const COMMANDS_SHOWN: usize = 8;

/// Bytes at the end of a text that was cut, in which a secret may be cut, too.
const MARGIN_BYTES: usize = 16 * 1024;

/// Bytes of a secret that is replaced wherever it occurs, and the number of such secrets.
const SECRET_BYTES_MIN: usize = 6;
const SECRETS_MAX: usize = 256;

/// The heading of a digest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DigestFormatter<'a> {
    /// The first line.
    pub(crate) head: &'a str,
    /// The folder that paths are shown relative to.
    pub(crate) folder: &'a str,
}

/// Replaces secrets in several texts.
pub(crate) struct TranscriptRedactor<'a> {
    redactors: Vec<&'a Redactor>,
    /// Secrets found so far, with their markers.
    known: HashMap<String, String>,
}

impl<'a> TranscriptRedactor<'a> {
    pub(crate) fn new(redactors: Vec<&'a Redactor>) -> TranscriptRedactor<'a> {
        TranscriptRedactor { redactors, known: HashMap::new() }
    }

    /// Remembers the secrets of a text, and returns their number.
    pub(crate) fn learn(&mut self, text: &str) -> usize {
        let mut n_secrets = 0;
        for redactor in &self.redactors {
            for hit in redactor.scrub(text).hits {
                n_secrets += 1;
                let secret = &text[hit.range.clone()];
                if SECRET_BYTES_MIN <= secret.len() && self.known.len() < SECRETS_MAX {
                    self.known.insert(secret.to_owned(), format!("«redacted:{}»", hit.kind));
                }
            }
        }
        n_secrets
    }

    /// Returns a text without secrets, known ones among them.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let mut known: Vec<_> = self.known.iter().collect();
        // A secret may contain another one.
        known.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then(a.cmp(b)));
        for (secret, marker) in known {
            text = text.replace(secret.as_str(), marker);
        }
        for redactor in &self.redactors {
            text = redactor.scrub(&text).text.into_owned();
        }
        text
    }

    /// Returns a text without secrets, on one line of at most `chars_max` characters.
    fn line(&self, kept: &TruncatedText, chars_max: usize) -> String {
        let mut scrubbed = self.scrub(&kept.text);
        if kept.is_cut {
            let end = scrubbed.len().saturating_sub(MARGIN_BYTES);
            scrubbed.truncate(scrubbed.floor_char_boundary(end));
        }
        let line = text::fold_and_truncate(&plain(&scrubbed), chars_max);
        if line.is_empty() && kept.is_cut { "…".to_owned() } else { line }
    }
}

impl DigestFormatter<'_> {
    /// Returns the digest and its first request; `None` where nothing was asked.
    pub(crate) fn of(
        self,
        conversation: &Conversation,
        scrubber: &mut TranscriptRedactor<'_>,
    ) -> Option<(String, String)> {
        let Conversation { turns, files, commands, .. } = conversation;
        for turn in turns {
            scrubber.learn(&turn.request.text);
            scrubber.learn(&turn.answer.text);
        }
        for text in files.iter().chain(commands.iter().map(|it| &it.line.text)) {
            scrubber.learn(text);
        }
        let first = scrubber.line(&turns.first()?.request, REQUEST_CHARS_MAX);
        let tail = [self.files(files, scrubber), commands_line(conversation, scrubber)];
        let mut shown = None;
        for n_turns in (0..=TURNS_SHOWN).rev() {
            // A shorter tail before fewer turns than two.
            let tail = if 2 <= n_turns { &tail[..] } else { &tail[..1] };
            let text = self.text(conversation, n_turns, tail, scrubber);
            shown = Some(text.clone());
            if tokens::fits(&text, TOKENS_MAX) {
                break;
            }
        }
        Some((shown?, first))
    }

    /// Formats the first turn and the last `n_last` ones.
    fn text(
        self,
        conversation: &Conversation,
        n_last: usize,
        tail: &[Option<String>],
        scrubber: &TranscriptRedactor<'_>,
    ) -> String {
        let Conversation { turns, n_dropped, .. } = conversation;
        let mut lines = vec![self.head.to_owned()];
        let n_between = turns.len().saturating_sub(1 + n_last);
        for (nth, turn) in turns.iter().enumerate() {
            if nth == 1 && 0 < n_between + n_dropped {
                lines.push(format!("… {} more requests", n_between + n_dropped));
            }
            if 0 < nth && nth <= n_between {
                continue;
            }
            lines.push(format!("asked: {}", scrubber.line(&turn.request, REQUEST_CHARS_MAX)));
            if !turn.answer.text.is_empty() {
                lines.push(format!("answered: {}", scrubber.line(&turn.answer, ANSWER_CHARS_MAX)));
            }
        }
        lines.extend(tail.iter().flatten().cloned());
        // Joined texts may form what none of them has alone.
        scrubber.scrub(&lines.join("\n"))
    }

    fn files(self, files: &[String], scrubber: &TranscriptRedactor<'_>) -> Option<String> {
        if files.is_empty() {
            return None;
        }
        let n_left_out = files.len().saturating_sub(FILES_SHOWN);
        let relative = |path: &String| {
            let below = path.strip_prefix(self.folder).and_then(|it| it.strip_prefix('/'));
            let is_below = !self.folder.is_empty();
            let shown = below.filter(|_| is_below).unwrap_or(path);
            scrubber.line(&TruncatedText::new(shown), COMMAND_CHARS_MAX)
        };
        let shown: Vec<String> = files.iter().skip(n_left_out).map(relative).collect();
        Some(format!("changed: {}{}", shown.join(", "), more(n_left_out)))
    }
}

/// Formats the last different commands with their outcomes.
fn commands_line(conversation: &Conversation, scrubber: &TranscriptRedactor<'_>) -> Option<String> {
    let mut shown: Vec<String> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut n_left_out = 0;
    for command in conversation.commands.iter().rev() {
        if seen.contains(&command.line.text.as_str()) {
            continue;
        }
        seen.push(&command.line.text);
        if shown.len() == COMMANDS_SHOWN {
            n_left_out += 1;
            continue;
        }
        let line = scrubber.line(&command.line, COMMAND_CHARS_MAX).replace('`', "'");
        let outcome = match command.result {
            RunResult::Unknown => String::new(),
            RunResult::Done => " ok".to_owned(),
            RunResult::Failed { exit_code: None } => " failed".to_owned(),
            RunResult::Failed { exit_code: Some(code) } => format!(" failed ({code})"),
        };
        shown.push(format!("`{line}`{outcome}"));
    }
    shown.reverse();
    (!shown.is_empty()).then(|| format!("ran: {}{}", shown.join(", "), more(n_left_out)))
}

fn more(n_left_out: usize) -> String {
    if n_left_out == 0 { String::new() } else { format!(", and {n_left_out} more before") }
}

/// Replaces control characters, and breaks the notation of links.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            it if it.is_control() || matches!(it, '\u{2028}' | '\u{2029}') => out.push(' '),
            // Marks that turn the direction of the text around them.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => (),
            '[' if out.ends_with('[') => (),
            '(' if out.ends_with(']') => out.push_str(" ("),
            'k' | 'K' if out.ends_with('<') => out.push_str(&format!(" {letter}")),
            it => out.push(it),
        }
    }
    out
}
