//! Capture: keeps a note of a session, made of the transcript that the client names.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{HookCall, WAIT};
use crate::cli::args::HookEvent;
use crate::cli::variable;
use crate::ingest::conversation::Conversation;
use crate::ingest::scan;
use crate::memory::session_note::SessionNoteRequest;
use crate::model::clock::UnixMillis;

/// Bytes that are read of a transcript: its beginning and its end.
const HEAD_BYTES_MAX: u64 = 256 * 1024;
const TAIL_BYTES_MAX: u64 = 3 * 1024 * 1024;

/// Events that clients send before each request, and the least time between two updates of a note
/// by them.
const FREQUENT_EVENTS: &[&str] = &["PreCompress"];
const FREQUENT_MS: i64 = 10 * 60 * 1000;

/// Copilot CLI writes its transcript every 100 ms, and has not written the answer when a session
/// ends with it.
const COPILOT: &str = "copilot-cli";
const LATE_PAUSE: Duration = Duration::from_millis(20);
const LATE_PAUSES: u32 = 25;

impl HookCall {
    /// Writes or updates the note of the session.
    pub(super) fn capture(&self, now: UnixMillis) -> Result<(), String> {
        let session = self.input.session();
        if session.is_empty() {
            return Err("the session has no id and no transcript".to_owned());
        }
        let mut state = self.states.session(session);
        let is_recent = state.noted_at.is_some_and(|it| now.since(UnixMillis(it)) < FREQUENT_MS);
        if is_recent && FREQUENT_EVENTS.contains(&self.input.event_name()) {
            return Ok(());
        }
        let mut conversation = match (self.input.messages(), self.transcript()) {
            (Some(messages), _) => Conversation::of(messages),
            (None, Some(path)) => {
                let read = || Ok(Conversation::read(&read_ends(&path)?));
                let n_pauses = if self.is_late() { LATE_PAUSES } else { 0 };
                answered(read, n_pauses, pause)?
            }
            (None, None) => return Err("the session has no transcript".to_owned()),
        };
        if let Some(answer) = self.input.last_answer() {
            // Qwen Code calls the hook before the transcript has it.
            conversation.answer(answer);
        }
        let note = SessionNoteRequest {
            client: &self.client,
            session,
            folder: self.input.folder().unwrap_or_default(),
            conversation: &conversation,
            note_id: state.note.as_deref(),
            options: &self.options,
            wait: WAIT,
            now,
        };
        let Some(note) = note.keep(&self.db).map_err(|it| it.to_string())? else { return Ok(()) };
        state.note = Some(note.id);
        state.noted_at = Some(now.0);
        self.states.save_session(session, &state);
        if let Some(snapshot) = note.snapshot {
            self.states.save_last_snapshot(snapshot);
        }
        Ok(())
    }

    /// Returns whether the client writes the last answer a moment after it calls the hook.
    fn is_late(&self) -> bool {
        self.client == COPILOT && self.event == HookEvent::SessionEnd
    }

    /// Returns the path of the transcript: as named, else where Copilot CLI keeps it.
    fn transcript(&self) -> Option<PathBuf> {
        if let Some(named) = self.input.transcript() {
            return Some(PathBuf::from(named));
        }
        let session = self.input.session();
        let is_plain = session.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        if self.client != COPILOT || !is_plain || session.is_empty() {
            return None;
        }
        let home = || variable("HOME").map(|it| PathBuf::from(it).join(".copilot"));
        let home = variable("COPILOT_HOME").map(PathBuf::from).or_else(home)?;
        Some(home.join("session-state").join(session).join("events.jsonl"))
    }
}

/// Reads a conversation; again after each pause while its last request has no answer.
fn answered(
    mut read: impl FnMut() -> Result<Conversation, String>,
    n_pauses: u32,
    mut pause: impl FnMut(),
) -> Result<Conversation, String> {
    let mut conversation = read();
    for _ in 0..n_pauses {
        if conversation.as_ref().is_ok_and(Conversation::is_answered) {
            break;
        }
        pause();
        conversation = read();
    }
    conversation
}

fn pause() {
    #[expect(clippy::disallowed_methods, reason = "nothing tells when the client has written")]
    std::thread::sleep(LATE_PAUSE);
}

/// Reads the beginning and the end of a regular file, without the lines in between.
fn read_ends(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("cannot read the transcript: {error}");
    let mut file = scan::open_regular(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    let mut bytes = Vec::new();
    let tail = meta.len().saturating_sub(TAIL_BYTES_MAX);
    if HEAD_BYTES_MAX < tail {
        file.by_ref().take(HEAD_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
        // The parts of two lines are no line.
        bytes.truncate(bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1));
        file.seek(SeekFrom::Start(tail)).map_err(failed)?;
    }
    file.take(HEAD_BYTES_MAX + TAIL_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    // Checking is much faster than replacing, which few transcripts need.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|it| String::from_utf8_lossy(it.as_bytes()).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: &str = r#"{"type": "user.message", "data": {"content": "Mend the valve."}}"#;
    const SAID: &str = r#"{"type": "assistant.message", "data": {"content": "It is mended."}}"#;

    /// Returns the number of pauses until the transcript `texts[n]` after `n` pauses is taken.
    fn n_pauses(texts: &[Option<String>]) -> usize {
        let n_paused = std::cell::Cell::new(0);
        let read = || match &texts[n_paused.get().min(texts.len() - 1)] {
            Some(text) => Ok(Conversation::read(text)),
            None => Err("no transcript".to_owned()),
        };
        let taken = answered(read, 5, || n_paused.set(n_paused.get() + 1));
        assert_eq!(taken.is_ok(), texts.last().is_some_and(Option::is_some));
        n_paused.get()
    }

    #[test]
    fn the_answer_to_the_last_request_is_waited_for() {
        let asked = || Some(ASKED.to_owned());
        let both = || Some(format!("{ASKED}\n{SAID}"));
        let again = || Some(format!("{ASKED}\n{SAID}\n{}", ASKED.replace("valve", "pump")));
        assert_eq!(n_pauses(&[both()]), 0);
        assert_eq!(n_pauses(&[None, asked(), both()]), 2);
        // The first request is answered, the last is not.
        assert_eq!(n_pauses(&[again()]), 5);
        assert_eq!(n_pauses(&[None]), 5);
        // A conversation without a request waits for one, too.
        assert_eq!(n_pauses(&[Some(String::new()), both()]), 1);
    }
}
