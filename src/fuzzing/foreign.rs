//! Files of other programs with any content: each is some notes, all of which have a key of their
//! own and say something, and what cannot be read is named.

use std::collections::HashSet;
use std::io::Cursor;

use crate::ingest::foreign::{FOREIGN_SOURCES, ForeignFileOrigin, NoteCollector};

/// Names of files of which each program reads one or another.
const NAMES: [&str; 8] = [
    "projects/a/session.jsonl",
    "rollout-1.jsonl",
    "session-1.json",
    "conversations.json",
    "memory.jsonl",
    "note.md",
    "memory/note.md",
    "facts.jsonl",
];

/// Panics when `data` as a file of another program violates an invariant. Its first byte chooses
/// the program and the name.
pub fn foreign(data: &[u8]) {
    let (first, data) = data.split_first().unwrap_or((&0, &[]));
    let source = &FOREIGN_SOURCES[usize::from(first / 8) % FOREIGN_SOURCES.len()];
    let path = NAMES[usize::from(first % 8)];
    let Some(reader) = (source.reader)(path) else { return };
    let file = ForeignFileOrigin { path, shown: "shown", project: None, source };
    let mut notes = NoteCollector::default();
    // Twice, as two files that say the same.
    for _ in 0..2 {
        reader(&file, &mut Cursor::new(data), &mut notes);
    }
    notes.finish();
    let mut keys = HashSet::new();
    for note in &notes.notes {
        assert!(keys.insert(&note.key), "two notes have the key {:?}", note.key);
        let has_text = note.texts.iter().any(|it| !it.trim().is_empty());
        assert!(has_text || note.title.is_some(), "{note:?}");
        assert!(note.texts.iter().all(|it| !it.trim().is_empty()), "{note:?}");
    }
    for line in &notes.refused {
        assert!(line.strip_prefix("shown:").is_some_and(|it| 1 < it.len()), "{line}");
    }
}
