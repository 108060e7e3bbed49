//! Tests rows of the history whose snapshot, node or text is gone.

use std::fs;

use serde_json::json;

use super::{memory, tamper};
use crate::support::{Client, Folder};

/// Returns a memory of five snapshots, the last three of which are of one text and its successors;
/// and the id of its node.
fn memory_of_a_text() -> (Folder, String) {
    let folder = memory();
    folder.ok(["write", "Deploy at 3 by hand.", "--db", "m.db"]);
    let node = "SELECT id FROM node WHERE content LIKE 'Deploy at%'";
    let id: String = folder.database("m.db").query_row(node, [], |row| row.get(0)).unwrap();
    for text in ["Deploy at 4 by hand.", "Deploy at 5 by hand."] {
        folder.ok(["write", "--anchor", &id, text, "--db", "m.db"]);
    }
    (folder, id)
}

/// Asks everything that reads the history, and returns the answers.
fn read_history(folder: &Folder, id: &str) -> String {
    let mut client = Client::legacy(folder, &["--db", "m.db"]);
    let mut answers = String::new();
    for (tool, arguments) in [
        ("MemoryHistory", json!({"anchor": id})),
        ("MemoryDelta", json!({"since_snapshot": 0, "detail": true})),
        ("MemoryDelta", json!({"since_snapshot": 3})),
        ("MemoryDiff", json!({"from_snapshot_id": 0, "to_snapshot_id": 5})),
        ("MemoryDiff", json!({"from_snapshot_id": 3, "to_snapshot_id": 4})),
        ("MemorySearch", json!({"query": "deploy"})),
        ("MemoryStats", json!({})),
        ("MemoryTree", json!({})),
    ] {
        let reply = client.call(tool, arguments);
        assert!(!reply.text.to_lowercase().contains("internal"), "{tool}: {}", reply.text);
        answers += &format!("{tool}: {}\n", reply.text);
    }
    for uri in ["remindb://snapshots", "remindb://timeline", "remindb://tree"] {
        let reply = client.ask("resources/read", json!({"uri": uri}));
        assert!(reply["error"].is_null(), "{uri}: {reply}");
    }
    client.end();
    answers
}

/// Returns the snapshots that a rollback of a copy restores, after those that are refused in plain
/// words.
fn restorable(folder: &Folder) -> Vec<i64> {
    let mut restorable = Vec::new();
    for snapshot in 1..=5 {
        fs::copy(folder.path("m.db"), folder.path("rolled.db")).unwrap();
        let ran = folder.run(["rollback", &snapshot.to_string(), "--db", "rolled.db"]);
        match ran.code {
            Some(0) => restorable.push(snapshot),
            _ => {
                let words = ["cannot be restored", "no snapshot", "run `remindb doctor"];
                let is_plain = words.iter().any(|it| ran.stderr.contains(it));
                assert!(is_plain, "{snapshot}: {}", ran.stderr);
            }
        }
    }
    restorable
}

#[test]
fn a_lost_row_of_a_snapshot_costs_no_other_snapshot() {
    for snapshot in ["2", "4", "5"] {
        let (folder, id) = memory_of_a_text();
        tamper(&folder, &format!("DELETE FROM snapshot WHERE id = {snapshot}"));
        read_history(&folder, &id);
        restorable(&folder);
        let found = folder.run(["doctor", "--db", "m.db"]);
        let named = format!("reference a missing snapshot: {snapshot}\n");
        assert!(found.stdout.contains(&named), "{}", found.stdout);
        let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
        let told = format!("their changes are kept: {snapshot}");
        assert!(fixed.contains(&told), "{fixed}");
        folder.assert_healthy("m.db");
        let expected: Vec<i64> =
            (1..=5).filter(|it| *it == 5 || it.to_string() != snapshot).collect();
        assert_eq!(restorable(&folder), expected, "{snapshot}");
        let history = read_history(&folder, &id);
        assert!(history.contains("old: Deploy at 3 by hand."), "{history}");
    }
}

#[test]
fn the_lost_rows_of_the_newest_snapshots_cost_no_change() {
    let n_changes = |folder: &Folder| -> i64 {
        let conn = folder.database("m.db");
        conn.query_row("SELECT count(*) FROM diff", [], |row| row.get(0)).unwrap()
    };
    let (folder, id) = memory_of_a_text();
    let before = n_changes(&folder);
    tamper(&folder, "DELETE FROM snapshot WHERE id >= 4");
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains("their changes are kept: 4, 5"), "{fixed}");
    assert!(!fixed.contains("dropped"), "{fixed}");
    assert_eq!(n_changes(&folder), before);
    folder.assert_healthy("m.db");
    assert_eq!(restorable(&folder), [1, 2, 3, 5]);
    let parents = "SELECT group_concat(ifnull(parent, '-')) FROM snapshot ORDER BY id";
    let parents: String = folder.database("m.db").query_row(parents, [], |row| row.get(0)).unwrap();
    assert_eq!(parents, "-,1,2,3,4");
    let history = read_history(&folder, &id);
    assert!(history.contains("old: Deploy at 3 by hand."), "{history}");
}

#[test]
fn changes_behind_head_are_of_no_snapshot() {
    let (folder, _) = memory_of_a_text();
    let forged =
        "INSERT INTO diff (snapshot, seq, op, node_id) VALUES (7, 1, 'add', 'aaaaaaaaaaa')";
    tamper(&folder, &format!("{forged}; DELETE FROM snapshot WHERE id = 5"));
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains("their changes are kept: 5; "), "{fixed}");
    assert!(fixed.contains("snapshots that never were are dropped: 7"), "{fixed}");
    folder.assert_healthy("m.db");
    assert_eq!(restorable(&folder), [1, 2, 3, 4, 5]);
}

#[test]
fn a_lost_text_of_the_history_is_shown_as_lost() {
    let (folder, id) = memory_of_a_text();
    tamper(&folder, "DELETE FROM blob WHERE content = 'Deploy at 4 by hand.'");
    let history = read_history(&folder, &id);
    assert_eq!(history.matches("(the text is missing;").count(), 3, "{history}");
    assert_eq!(restorable(&folder), [1, 2, 3, 5]);
    let found = folder.run(["doctor", "--db", "m.db"]);
    let named = "1 of 5 snapshots cannot be restored, since their history was altered: 4";
    assert!(found.stdout.contains(named), "{}", found.stdout);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains("no rollback to these snapshots any more: 4"), "{fixed}");
    folder.assert_healthy("m.db");
    assert_eq!(restorable(&folder), [1, 2, 3, 5]);
}

#[test]
fn a_node_that_no_change_removed_is_named_by_its_last_label() {
    let (folder, id) = memory_of_a_text();
    tamper(&folder, &format!("DELETE FROM node WHERE id = '{id}'"));
    read_history(&folder, &id);
    let named = format!("1 nodes are gone that no change removed: `{id}` \"Deploy at 4 by hand.\"");
    let found = folder.run(["doctor", "--db", "m.db"]);
    assert!(found.stdout.contains(&named), "{}", found.stdout);
    let fixed = folder.ok(["doctor", "--fix", "--db", "m.db"]);
    assert!(fixed.contains(&named), "{fixed}");
    assert!(fixed.contains("no rollback to these snapshots any more: "), "{fixed}");
    folder.assert_healthy("m.db");
    let history = read_history(&folder, &id);
    assert!(history.contains("old: Deploy at 3 by hand."), "{history}");
    // What was before it was written can be restored.
    assert_eq!(restorable(&folder)[..2], [1, 2]);
}

#[test]
fn a_rollback_names_the_doctor_where_rows_refer_to_nothing() {
    let (folder, id) = memory_of_a_text();
    tamper(&folder, "DELETE FROM file");
    read_history(&folder, &id);
    assert_eq!(restorable(&folder), [2, 3, 4, 5], "they have no other files");
    let ran = folder.run(["rollback", "1", "--db", "m.db"]);
    let advice = "a row refers to one that is gone: run `remindb doctor --fix`";
    assert!(ran.stderr.contains(advice), "{}", ran.stderr);
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.assert_healthy("m.db");
}
