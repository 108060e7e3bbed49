//! Tests for session notes: one a session, updated, forgotten for good.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::memory::{ForgetChildrenMode, Memory};
use crate::settings::root_settings::OperatorOptions;

const DAY_MS: i64 = 86_400_000;
const WAIT: Duration = Duration::from_millis(50);

struct Place {
    folder: tempfile::TempDir,
    memory: Memory,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::create(&folder.path().join("memory.db")).unwrap();
        Place { folder, memory }
    }

    fn keep(
        &self,
        session: &str,
        answer: &str,
        note_id: Option<&str>,
        now: i64,
    ) -> Option<SavedSessionNote> {
        let asked = json!({"type": "user", "message": {"content": "Mend the valve."}});
        let answered = json!({"type": "assistant", "message": {"content": answer}});
        let conversation = Conversation::read(&format!("{asked}\n{answered}"));
        let capture = SessionNoteRequest {
            client: "claude-code",
            session,
            folder: "",
            conversation: &conversation,
            note_id,
            options: &OperatorOptions::default(),
            wait: WAIT,
            now: UnixMillis(now),
        };
        capture.keep(&self.folder.path().join("memory.db")).unwrap()
    }

    fn text(&self, id: &str) -> String {
        self.memory.fetch(id, None).unwrap().text
    }
}

#[test]
fn a_second_capture_updates_the_note() {
    let place = Place::new();
    let first = place.keep("a", "Not yet.", None, 0).unwrap();
    assert_eq!(first.snapshot, Some(1));
    // Without its id the note is found among those of the day, with it on any day.
    let again = place.keep("a", "Done.", None, 1).unwrap();
    assert_eq!((&again.id, again.snapshot), (&first.id, Some(2)));
    let same = place.keep("a", "Done.", Some(&first.id), 3 * DAY_MS).unwrap();
    assert_eq!((&same.id, same.snapshot), (&first.id, None));
    let text = place.text(&first.id);
    assert!(text.contains("answered: Done.") && !text.contains("Not yet."), "{text}");
    assert!(text.contains(" of 1970-01-01\n"), "{text}");
    let other = place.keep("b", "Done.", None, 2).unwrap();
    assert_ne!(other.id, first.id);
}

#[test]
fn a_forgotten_note_stays_forgotten() {
    let place = Place::new();
    let note = place.keep("a", "Done.", None, 0).unwrap();
    place.memory.forget(&note.id, ForgetChildrenMode::Strict).unwrap();
    assert_eq!(place.keep("a", "Done again.", Some(&note.id), 1), None);
}

#[test]
fn a_session_without_a_request_leaves_no_note() {
    let place = Place::new();
    let conversation = Conversation::default();
    let capture = SessionNoteRequest {
        client: "codex",
        session: "a",
        folder: "",
        conversation: &conversation,
        note_id: None,
        options: &OperatorOptions::default(),
        wait: WAIT,
        now: UnixMillis(0),
    };
    assert_eq!(capture.keep(&place.folder.path().join("memory.db")).unwrap(), None);
}

#[test]
fn kinds_of_secrets_that_a_root_names_are_replaced() {
    let place = Place::new();
    let notes = place.folder.path().join("notes");
    std::fs::create_dir_all(notes.join(".remindb")).unwrap();
    std::fs::write(notes.join("a.md"), "# A\n").unwrap();
    let custom = json!({"redaction": {"custom": [{"kind": "mill", "pattern": "MILL-[0-9]+"}]}});
    std::fs::write(notes.join(".remindb/config.json"), custom.to_string()).unwrap();
    place.memory.compile(&notes, "").unwrap();
    let note = place.keep("a", "The key is MILL-4711.", None, 0).unwrap();
    let text = place.text(&note.id);
    assert!(text.contains("answered: The key is «redacted:mill»."), "{text}");
}
