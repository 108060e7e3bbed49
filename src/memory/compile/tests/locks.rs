//! Tests that a compile keeps SQLite's locks on the memory, whatever its folder leads to.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use super::*;
use crate::store::locks_on;

/// Returns the locks that processes hold on the database and the index of its log.
fn locks(notes: &Notes) -> BTreeSet<String> {
    let files = [".remindb/memory.db", ".remindb/memory.db-shm"];
    files.iter().flat_map(|it| locks_on(&notes.path(it))).collect()
}

#[test]
fn names_of_the_memory_among_the_notes_cost_it_no_lock() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("notes/.remindb")).unwrap();
    let db = dir.path().join("notes/.remindb/memory.db");
    let notes = Notes { dir, writer: Writer::open(&db, IfMissing::Create).unwrap() };
    notes.write("a.md", "Here.\n");
    let (root, clock) = (notes.path(""), Clock::manual(UnixMillis(0)));
    let compile = || compile(&notes.writer, &request(&root, &clock), LATER);
    assert_eq!(compile().unwrap().added, 1);
    for (name, target) in [("d", "memory.db"), ("l", "memory.db-wal"), ("i", "memory.db-shm")] {
        symlink(format!(".remindb/{target}"), notes.path(&format!("{name}.md"))).unwrap();
    }
    fs::hard_link(notes.path(".remindb/memory.db-shm"), notes.path("hard.md")).unwrap();
    let before = locks(&notes);
    assert!(1 < before.len(), "{before:?}");
    let report = compile().unwrap();
    assert_eq!(locks(&notes), before);
    let warnings: Vec<String> = report.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "d.md: a link into `.remindb`, which has no notes; not followed",
            "i.md: a link into `.remindb`, which has no notes; not followed",
            "l.md: a link into `.remindb`, which has no notes; not followed",
            "hard.md: cannot read it: it is a file of an open memory",
        ]
    );
    for name in ["ignore", "config.json", "temperatures.json"] {
        symlink("memory.db-shm", notes.path(".remindb").join(name)).unwrap();
        // Whether the compile goes on without the file is another matter.
        let _ = compile();
        assert_eq!(locks(&notes), before, "{name}");
        fs::remove_file(notes.path(".remindb").join(name)).unwrap();
    }
}
