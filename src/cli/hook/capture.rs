//! Capture: keeps a note of a session, made of the transcript that the client names.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::{HookJob, WAIT};
use crate::cli::variable;
use crate::ingest::conversation::Conversation;
use crate::memory::session_note::SessionCapture;
use crate::model::clock::Millis;

/// Bytes that are read of a transcript: its beginning and its end.
const HEAD_BYTES_MAX: u64 = 256 * 1024;
const TAIL_BYTES_MAX: u64 = 3 * 1024 * 1024;

/// Events that clients send after each turn or before each request, and the least time between two
/// updates of a note by them.
const FREQUENT_EVENTS: &[&str] = &["Stop", "PreCompress"];
const FREQUENT_MS: i64 = 10 * 60 * 1000;

impl HookJob {
    /// Writes or updates the note of the session.
    pub(super) fn capture(&self, now: Millis) -> Result<(), String> {
        let session = self.input.session();
        if session.is_empty() {
            return Err("the session has no id and no transcript".to_owned());
        }
        let mut state = self.states.session(session);
        let is_recent = state.noted_at.is_some_and(|it| now.since(Millis(it)) < FREQUENT_MS);
        if is_recent && FREQUENT_EVENTS.contains(&self.input.event_name()) {
            return Ok(());
        }
        let conversation = match (self.input.messages(), self.transcript()) {
            (Some(messages), _) => Conversation::of(messages),
            (None, Some(path)) => Conversation::read(&read_ends(&path)?),
            (None, None) => return Err("the session has no transcript".to_owned()),
        };
        let note = SessionCapture {
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

    /// Returns the path of the transcript: as named, else where Copilot CLI keeps it.
    fn transcript(&self) -> Option<PathBuf> {
        if let Some(named) = self.input.transcript() {
            return Some(PathBuf::from(named));
        }
        let session = self.input.session();
        let is_plain = session.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-');
        if self.client != "copilot-cli" || !is_plain || session.is_empty() {
            return None;
        }
        let home = || variable("HOME").map(|it| PathBuf::from(it).join(".copilot"));
        let home = variable("COPILOT_HOME").map(PathBuf::from).or_else(home)?;
        Some(home.join("session-state").join(session).join("events.jsonl"))
    }
}

/// Reads the beginning and the end of a regular file, without the lines in between.
fn read_ends(path: &Path) -> Result<String, String> {
    let failed = |error: io::Error| format!("cannot read the transcript: {error}");
    let irregular = || "the transcript is no regular file".to_owned();
    // Opening a pipe would wait for somebody who writes.
    if !path.metadata().map_err(failed)?.is_file() {
        return Err(irregular());
    }
    let mut file = File::open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(irregular());
    }
    let mut bytes = Vec::new();
    let tail = meta.len().saturating_sub(TAIL_BYTES_MAX);
    if HEAD_BYTES_MAX < tail {
        file.by_ref().take(HEAD_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
        // The parts of two lines are no line.
        bytes.truncate(bytes.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1));
        file.seek(SeekFrom::Start(tail)).map_err(failed)?;
    }
    file.take(HEAD_BYTES_MAX + TAIL_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
