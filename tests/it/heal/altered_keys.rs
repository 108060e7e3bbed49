//! Tests numbers by which rows know each other that were altered by no program of ours.

use super::{memory, tamper};

#[test]
fn a_repair_and_a_compile_leave_one_copy_of_each_text() {
    for altered in [
        "UPDATE file SET id = 921 WHERE path = '8.md'",
        "UPDATE root SET id = 3",
        "UPDATE file SET root = 3 WHERE path = '8.md'",
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
            for fact in ["nodes", "cursor_hash"] {
                assert_eq!(after[fact], before[fact], "{altered}: {db}: {fact}");
            }
        }
    }
}
