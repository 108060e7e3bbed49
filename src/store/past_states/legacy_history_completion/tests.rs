//! Tests that an incomplete history is completed, and that guesses are no states.

use rusqlite::Connection;

use super::{HistoryCompletionCounts, complete};
use crate::memory::Memory;
use crate::memory::rollback::LaterSnapshotPolicy;

/// Returns a memory of four snapshots, of which the last two changed and removed nodes.
fn memory() -> (tempfile::TempDir, Memory) {
    let dir = tempfile::tempdir().unwrap();
    let memory = Memory::create(&dir.path().join("m.db")).unwrap();
    let notes = dir.path().join("notes");
    std::fs::create_dir(&notes).unwrap();
    for text in [
        "# A\n\nOne.\n\nTwo.\n\nThree.\n",
        "# A\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n",
        "# A\n\nOne.\n\nTwo, said again.\n\nFour.\n",
        "# A\n\nTwo, said again.\n",
    ] {
        std::fs::write(notes.join("a.md"), text).unwrap();
        memory.compile(&notes, "test").unwrap();
    }
    (dir, memory)
}

fn edit(dir: &tempfile::TempDir, sql: &str) -> HistoryCompletionCounts {
    let conn = Connection::open(dir.path().join("m.db")).unwrap();
    conn.execute_batch(sql).unwrap();
    complete(&conn).unwrap()
}

fn roll_back(memory: &Memory, snapshot: i64) -> Result<Vec<String>, String> {
    memory.rollback_to(snapshot, LaterSnapshotPolicy::Keep).map_err(|it| it.to_string())?;
    let tree = memory.tree(None, None).unwrap().text;
    Ok(tree.lines().map(|it| it.trim().split(" (").next().unwrap().to_owned()).collect())
}

#[test]
fn nodes_without_a_place_stand_last_and_every_state_can_be_restored() {
    let (dir, memory) = memory();
    let completed = edit(&dir, "UPDATE diff SET old_position = NULL");
    assert_eq!((completed.n_guesses, completed.n_lost, completed.n_fingerprints), (0, 0, 3));
    assert_eq!(
        roll_back(&memory, 1).unwrap(),
        ["[heading] A", "[text] One.", "[text] Two.", "[text] Three."]
    );
    assert_eq!(
        roll_back(&memory, 3).unwrap(),
        ["[heading] A", "[text] Two, said again.", "[text] One.", "[text] Four."]
    );
}

#[test]
fn a_state_with_a_guess_is_refused_in_plain_words() {
    let (dir, memory) = memory();
    let forget = "
        UPDATE diff
           SET old_type = NULL, old_format = NULL, old_label = NULL, old_position = NULL
         WHERE snapshot = 3";
    let completed = edit(&dir, forget);
    assert!(0 < completed.n_guesses, "{completed:?}");
    assert_eq!((completed.n_lost, completed.n_fingerprints), (2, 1));
    let refused = roll_back(&memory, 2).unwrap_err();
    assert!(refused.starts_with("snapshot 2 cannot be restored: "), "{refused}");
    assert_eq!(roll_back(&memory, 3).unwrap().len(), 4);
    memory.diff(1, 4, None).unwrap();
    memory.delta(0, None).unwrap();
}

#[test]
fn a_whole_history_stays_as_it_is() {
    let (dir, _memory) = memory();
    let completed = edit(&dir, "");
    assert_eq!((completed.n_places, completed.n_guesses, completed.n_lost), (0, 0, 0));
}
