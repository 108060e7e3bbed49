//! Tests numbers by which rows know each other that were altered by no program of ours.

use super::{memory, tamper};

#[test]
fn a_repair_and_a_compile_leave_one_copy_of_each_text() {
    for altered in [
        "UPDATE file SET id = 921 WHERE path = '8.md'",
        "UPDATE root SET id = 3",
        "UPDATE file SET root = 3 WHERE path = '8.md'",
        "DELETE FROM file WHERE path = '8.md'",
        "DELETE FROM root",
        "UPDATE node SET file = -3 WHERE content LIKE 'Note 8 says 3%'",
        "UPDATE node SET parent = (SELECT key FROM node WHERE content = 'Deploy by hand.')
          WHERE content LIKE 'Note 8 says 3%'",
    ] {
        let folder = memory();
        folder.ok(["write", "Deploy by hand.", "--db", "m.db"]);
        let before = folder.facts("m.db");
        tamper(&folder, altered);
        folder.ok(["salvage", "m.db", "--out", "new.db"]);
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
        for db in ["m.db", "new.db"] {
            folder.ok(["compile", "notes", "--db", db]);
            folder.assert_healthy(db);
            let after = folder.facts(db);
            for fact in ["/nodes", "/head/cursor_hash"] {
                let facts = (after.pointer(fact), before.pointer(fact));
                assert!(facts.0.is_some());
                assert_eq!(facts.0, facts.1, "{altered}: {db}: {fact}");
            }
        }
    }
}

/// The names of lost files are in no other row: the next compile finds the nodes by their texts.
#[test]
fn nodes_whose_files_were_lost_are_named_and_found_again() {
    let folder = memory();
    folder.write("notes/deep/below.txt", "What nobody else says.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let before = folder.facts("m.db");
    tamper(&folder, "DELETE FROM file WHERE path IN ('8.md', '11.md', 'deep/below.txt')");
    let found = folder.run(["doctor", "--db", "m.db"]);
    let named = "nodes lost the row of their file: `";
    assert!(
        found.stdout.contains(named) && found.stdout.contains("\"Note 8\""),
        "{}",
        found.stdout
    );
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    // The third path is a guess that no file has.
    for guess in ["8.md", "11.md", "below.md"] {
        let told = format!("its path is guessed to be `{guess}`, until the next compile finds");
        assert!(fixed.contains(&told), "{fixed}");
    }
    assert!(!fixed.contains("reads it again"), "{fixed}");
    folder.assert_healthy("m.db");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    let after = folder.facts("m.db");
    assert_eq!(after["nodes"], before["nodes"]);
    assert_eq!(after["head"]["cursor_hash"], before["head"]["cursor_hash"]);
}
