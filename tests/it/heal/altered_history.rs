//! Tests histories that were altered by no program of ours.

use std::fs;

use super::{memory, tamper};
use crate::support::Folder;

/// Alterations of the history of [`memory_with_history`].
const ALTERED: [&str; 8] = [
    "UPDATE diff SET node_id = substr(node_id, 1, 8) || 'zzz' WHERE snapshot = 4",
    "UPDATE diff SET old_hash = '0123456789abcdef' WHERE snapshot = 4",
    "UPDATE diff SET old_parent = '0123456789a' WHERE snapshot = 4",
    "UPDATE diff SET old_label = 'Forged' WHERE snapshot = 4",
    "UPDATE diff SET node_id = substr(node_id, 1, 8) || 'zzz' WHERE snapshot = 5",
    "UPDATE diff SET snapshot = 4, seq = seq + 1000 WHERE snapshot = 5",
    "UPDATE snapshot SET cursor_hash = '0123456789abcdef' WHERE id = 3",
    "DELETE FROM blob WHERE content = 'Deploy at 3 by hand.'",
];

/// Returns a memory of five snapshots: two compiles, a text, another one in its place, a third.
fn memory_with_history() -> Folder {
    let folder = memory();
    folder.ok(["write", "Deploy at 3 by hand.", "--db", "m.db"]);
    let node = "SELECT id FROM node WHERE content LIKE 'Deploy at%'";
    let id: String = folder.database("m.db").query_row(node, [], |row| row.get(0)).unwrap();
    folder.ok(["write", "--anchor", &id, "Deploy at 4 by hand.", "--db", "m.db"]);
    folder.ok(["write", "Tell the channel.", "--db", "m.db"]);
    fs::rename(folder.path("m.db"), folder.path("sound.db")).unwrap();
    folder
}

/// Rolls a copy back to each snapshot; returns the errors.
fn refusals(folder: &Folder, db: &str) -> Vec<String> {
    let mut refusals = Vec::new();
    for snapshot in ["1", "2", "3", "4"] {
        fs::copy(folder.path(db), folder.path("rolled.db")).unwrap();
        let ran = folder.run(["rollback", snapshot, "--db", "rolled.db"]);
        if ran.code != Some(0) {
            refusals.push(ran.stderr);
        }
    }
    refusals
}

#[test]
fn an_altered_history_is_named_and_no_rollback_tries_it() {
    let folder = memory_with_history();
    assert!(refusals(&folder, "sound.db").is_empty());
    folder.assert_healthy("sound.db");
    for altered in ALTERED {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        tamper(&folder, altered);
        let n_refused = refusals(&folder, "m.db").len();
        assert!(0 < n_refused, "{altered}");
        let found = folder.run(["doctor", "--db", "m.db"]);
        let named = format!("{n_refused} of 5 snapshots cannot be restored, since");
        assert!(found.stdout.contains(&named), "{altered}: {}", found.stdout);
        let salvaged = folder.ok(["salvage", "m.db", "--out", "new.db"]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        for (db, report) in [("m.db", fixed), ("new.db", salvaged)] {
            let named = "no rollback to these snapshots any more: ";
            assert!(report.contains(named), "{altered}: {report}");
            folder.assert_healthy(db);
            let refused = refusals(&folder, db);
            assert_eq!(refused.len(), n_refused, "{altered}: {refused:?}");
            assert!(
                refused.iter().all(|it| it.contains(" cannot be restored: ")),
                "{altered}: {refused:?}"
            );
        }
        fs::remove_file(folder.path("new.db")).unwrap();
    }
}

/// Nothing was there before a node was added, and the numbers of changes follow from the rows.
#[test]
fn what_the_history_tells_twice_is_restored() {
    let folder = memory_with_history();
    for (altered, named) in [
        ("UPDATE diff SET old_hash = '0123456789abcdef' WHERE snapshot = 3", "1 of 428 changes"),
        ("UPDATE change_count SET added = 1000 WHERE snapshot = 4", "1 snapshots count other"),
        ("UPDATE change_count SET snapshot = 77 WHERE snapshot = 4", "snapshots count other"),
        ("UPDATE diff SET op = 'xod' WHERE snapshot = 4", "1 of 428 changes"),
        ("UPDATE diff SET op = 'mod' WHERE snapshot = 3", "1 of 428 changes"),
        ("UPDATE diff SET op = 'rem' WHERE snapshot = 3", "1 of 428 changes"),
        ("UPDATE diff SET old_hash = NULL WHERE snapshot = 4", "1 of 428 changes"),
        (
            "UPDATE diff SET op = 'xod' WHERE snapshot = 4;
             UPDATE change_count SET added = 1000, removed = 3",
            "1 of 428 changes",
        ),
    ] {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        tamper(&folder, altered);
        let found = folder.run(["doctor", "--db", "m.db"]);
        assert!(found.stdout.contains(named), "{altered}: {}", found.stdout);
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
        folder.assert_healthy("m.db");
        assert_eq!(folder.facts("m.db")["head"], folder.facts("sound.db")["head"], "{altered}");
        assert_eq!(refusals(&folder, "m.db"), [] as [String; 0], "{altered}");
    }
}

/// What other columns say of the node stays, and the fingerprint of the snapshot before proves the
/// rest.
#[test]
fn a_lost_column_of_a_change_costs_no_snapshot() {
    let folder = memory_with_history();
    for altered in [
        "old_type = '7ext' WHERE snapshot = 4",
        "old_type = NULL WHERE snapshot = 4",
        "old_type = 'x y' WHERE snapshot = 4",
        "old_format = 'p aiin' WHERE snapshot = 4",
        "old_format = NULL WHERE snapshot = 4",
        "old_tokens = NULL WHERE snapshot = 4",
        "old_type = '7ext', old_format = NULL, old_tokens = -1 WHERE snapshot = 4",
        "old_type = 'h' || substr(old_type, 2) WHERE snapshot = 2 AND op = 'rem'",
        "old_type = NULL WHERE snapshot = 2 AND op = 'rem'",
        "old_format = NULL WHERE snapshot = 2",
    ] {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        tamper(&folder, &format!("UPDATE diff SET {altered}"));
        let found = folder.run(["doctor", "--db", "m.db"]);
        assert!(found.stdout.contains("changes do not say what a node was"), "{}", found.stdout);
        let salvaged = folder.ok(["salvage", "m.db", "--out", "new.db"]);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        for (db, report) in [("m.db", fixed), ("new.db", salvaged)] {
            assert!(!report.contains("no rollback"), "{altered}: {report}");
            folder.assert_healthy(db);
            assert_eq!(refusals(&folder, db), [] as [String; 0], "{altered}");
        }
        fs::remove_file(folder.path("new.db")).unwrap();
    }
}

/// The rows and two of the three marks prove what the third was.
#[test]
fn an_altered_mark_of_the_present_state_is_restored() {
    let folder = memory_with_history();
    let sound = folder.facts("sound.db");
    for altered in [
        "UPDATE snapshot SET cursor_hash = '0123456789abcdef' WHERE id = 5",
        "UPDATE cursor SET snapshot = 3",
        "UPDATE memory SET fingerprint = 5",
    ] {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        tamper(&folder, altered);
        assert_eq!(folder.run(["doctor", "--db", "m.db"]).code, Some(1), "{altered}");
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        assert!(fixed.contains(" again "), "{altered}: {fixed}");
        folder.assert_healthy("m.db");
        for fact in ["head", "snapshots"] {
            assert_eq!(folder.facts("m.db")[fact], sound[fact], "{altered}");
        }
        assert_eq!(refusals(&folder, "m.db"), [] as [String; 0], "{altered}");
    }
}

#[test]
fn rollbacks_reach_beyond_the_repair_of_a_text() {
    let folder = memory_with_history();
    let altered = |from: &str, to: &str| {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        let change = format!("content = replace(content, '{from}', '{to}')");
        tamper(&folder, &format!("UPDATE node SET {change} WHERE content LIKE '{from}%'"));
        folder.ok(["doctor", "--fix", "--db", "m.db"])
    };
    altered("Note 8 says 3", "Note 8 says 4");
    let found = folder.ok(["doctor", "--db", "m.db"]);
    let waiting = "snapshots that wait for the next compile: 1, 2, 3, 4, 5";
    assert!(found.contains(waiting), "{found}");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    assert_eq!(refusals(&folder, "m.db"), [] as [String; 0]);
    // Nothing has an agent's words but the memory.
    let fixed = altered("Deploy at 4", "Deploy at 5");
    assert!(fixed.contains("no rollback to these snapshots any more: 4, 5"), "{fixed}");
    let refused = refusals(&folder, "m.db");
    assert!(refused.len() == 1 && refused[0].contains("snapshot 4 cannot be"), "{refused:?}");
}

/// Names that no program of ours writes are unreadable, and what a repair makes of the rest is no
/// state that ever was, unless the fingerprint of its snapshot proves it.
#[test]
fn no_rollback_leads_to_a_past_that_a_repair_made_up() {
    let folder = memory_with_history();
    let states = states(&folder, "sound.db");
    for altered in [
        "UPDATE diff SET node_id = 'x y' WHERE op = 'mod'",
        "UPDATE diff SET node_id = 'x y' WHERE snapshot = 2",
        "UPDATE diff SET old_parent = 'x y' WHERE old_parent IS NOT NULL",
        "UPDATE diff SET op = 'xx' WHERE snapshot = 4",
        "UPDATE diff SET old_hash = 'x y' WHERE old_hash IS NOT NULL",
        "UPDATE diff SET old_type = 'x y' WHERE old_type IS NOT NULL",
        "UPDATE diff SET node_id = 'x y' WHERE op = 'mod';
         UPDATE node SET content = 'Forged.' WHERE content LIKE 'Deploy at 4%'",
    ] {
        fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
        tamper(&folder, altered);
        folder.ok(["salvage", "m.db", "--out", "new.db"]);
        let fixed = folder.run(["doctor", "--fix", "--db", "m.db"]);
        assert_eq!(fixed.code, Some(0), "{altered}: {}", fixed.transcript());
        for db in ["m.db", "new.db"] {
            folder.assert_healthy(db);
            assert_rollbacks_are_true(&folder, db, &states, altered);
        }
        fs::remove_file(folder.path("new.db")).unwrap();
    }
}

#[test]
fn a_snapshot_that_was_given_up_stays_so_at_the_next_repair() {
    let folder = memory_with_history();
    let states = states(&folder, "sound.db");
    fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
    for altered in
        ["DELETE FROM diff WHERE snapshot = 4", "UPDATE diff SET op = 'xx' WHERE snapshot = 5"]
    {
        tamper(&folder, altered);
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
        folder.assert_healthy("m.db");
        assert_rollbacks_are_true(&folder, "m.db", &states, altered);
    }
}

#[test]
fn changes_that_are_of_no_node_are_counted_when_they_go() {
    let folder = memory_with_history();
    fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
    tamper(&folder, "UPDATE diff SET node_id = 'x y' WHERE snapshot = 4");
    let salvaged = folder.ok(["salvage", "m.db", "--out", "new.db"]);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    for report in [fixed, salvaged] {
        assert!(report.contains("1 changes of no node were dropped"), "{report}");
    }
}

/// An earlier program took over counts of others, which a rollback does not bring back.
#[test]
fn a_rollback_counts_the_tokens_of_former_texts() {
    let folder = memory_with_history();
    fs::copy(folder.path("sound.db"), folder.path("m.db")).unwrap();
    tamper(&folder, "UPDATE diff SET old_tokens = old_tokens + 1 WHERE op = 'mod'");
    folder.assert_healthy("m.db");
    folder.ok(["rollback", "3", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}

/// Returns the fingerprint of each snapshot.
fn states(folder: &Folder, db: &str) -> Vec<(i64, String)> {
    let conn = folder.database(db);
    let mut query = conn.prepare("SELECT id, cursor_hash FROM snapshot ORDER BY id").unwrap();
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    query.query_map([], read).unwrap().map(Result::unwrap).collect()
}

/// Asserts that a rollback is refused, or leads to the state that was there.
#[track_caller]
fn assert_rollbacks_are_true(folder: &Folder, db: &str, states: &[(i64, String)], altered: &str) {
    for (snapshot, state) in states {
        fs::copy(folder.path(db), folder.path("rolled.db")).unwrap();
        let ran = folder.run(["rollback", &snapshot.to_string(), "--db", "rolled.db"]);
        if ran.code == Some(0) {
            let head = &folder.facts("rolled.db")["head"]["cursor_hash"];
            assert_eq!(head, state, "{db} at {snapshot}: {altered}");
        } else {
            assert!(ran.stderr.contains("cannot be restored"), "{altered}: {}", ran.stderr);
        }
    }
}
