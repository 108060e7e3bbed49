//! Tests that a compile keeps SQLite's locks on the memory, whatever its folder leads to.

use std::os::unix::fs::{MetadataExt, symlink};

use super::*;

/// Returns the locks that processes hold on the database and the index of its log.
fn locks(notes: &Notes) -> Vec<String> {
    let of = |name: &str| format!(":{} ", fs::metadata(notes.path(name)).unwrap().ino());
    let files = [".remindb/memory.db", ".remindb/memory.db-shm"].map(of);
    let locks = fs::read_to_string("/proc/locks").unwrap();
    // The first word of a line is its number.
    let facts = locks.lines().map(|it| it.split_once(' ').map_or(it, |it| it.1).to_owned());
    let mut locks: Vec<String> =
        facts.filter(|it| files.iter().any(|file| it.contains(file))).collect();
    locks.sort();
    locks
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
