//! What holds for notes holds for the fields of typed memories: in searches, history, rollbacks,
//! redaction and every copy of the file.

use std::fs;

use serde_json::{Value, json};

use super::super::support::{Client, Folder};
use super::{Door, OFFER, keys};

/// A ticket's number: a secret to those who say so in their settings.
const SECRET: &str = "TKT-48213377";

/// Runs calls on a server of this memory.
fn with<T>(folder: &Folder, db: &str, calls: impl FnOnce(&mut Door<'_>) -> T) -> T {
    let mut client = Client::modern(folder, &[&["--db", db], &OFFER[2..]].concat());
    let told = calls(&mut Door(&mut |tool, args| client.call(tool, args).result));
    client.end();
    told
}

/// A task with a value in every field, whose fields alone were changed twice; returns its UUID.
fn lived() -> (Folder, String) {
    let folder = Folder::new();
    let uuid = with(&folder, "m.db", |door| {
        let uuid = door.store(json!({
            "type": "task", "content": "Move the harbour lamp", "tags": ["lamp", "winter"],
            "category": "errand", "importance": "low",
            "task_metadata": {
                "status": "blocked", "blockers": ["ice", SECRET], "outcome": "none so far",
            },
        }));
        door.ok(
            "update_memory",
            json!({"id": uuid, "tags": ["lamp", "spring"], "importance": "high"}),
        );
        let done = json!({
            "id": uuid, "category": SECRET, "tags": ["lamp", "spring", SECRET],
            "task_metadata": {"status": "completed", "outcome": format!("see {SECRET}")},
        });
        door.ok("update_memory", done);
        uuid
    });
    (folder, uuid)
}

/// Every memory of a database, without what counts its accesses.
fn state(folder: &Folder, db: &str) -> Vec<Value> {
    let state = with(folder, db, |door| door.state());
    let [task] = &state[..] else { panic!("{state:?}") };
    assert_eq!(keys(&task["task_metadata"]), ["status", "completed_at", "blockers", "outcome"]);
    state
}

#[test]
fn a_search_follows_the_fields() {
    let (folder, uuid) = lived();
    with(&folder, "m.db", |door| {
        let mut n_found = |tag: &str| {
            let ask = json!({"query": "lamp", "tags": [tag]});
            door.text("MemorySearch", ask).0.matches("[task]").count()
        };
        assert_eq!(["lamp", "spring", "winter"].map(&mut n_found), [1, 1, 0]);
        door.text("MemoryRollback", json!({"snapshot_id": 1}));
        let mut n_found = |tag: &str| {
            let ask = json!({"query": "lamp", "tags": [tag]});
            door.text("MemorySearch", ask).0.matches("[task]").count()
        };
        assert_eq!(["lamp", "spring", "winter"].map(&mut n_found), [1, 0, 1]);
        door.ok("delete_memory", json!({"id": uuid, "permanent": true}));
        let (gone, _) = door.text("MemorySearch", json!({"query": "lamp", "tags": ["lamp"]}));
        assert!(gone.starts_with("no results"), "{gone}");
    });
}

#[test]
fn history_and_diffs_tell_what_of_the_fields_changed() {
    let (folder, uuid) = lived();
    with(&folder, "m.db", |door| {
        let second = ["importance: low → high", "tags: lamp, winter → lamp, spring"];
        let third =
            ["category: errand → ", "status: blocked → completed", "completed_at: none → 2"];
        let (history, _) = door.text("MemoryHistory", json!({"anchor": uuid}));
        for told in second.iter().chain(&third) {
            assert!(history.contains(told), "{told}: {history}");
        }
        let (delta, _) = door.text("MemoryDelta", json!({"since_snapshot": 2}));
        assert!(third.iter().all(|it| delta.contains(it)), "{delta}");
        let span = json!({"from_snapshot_id": 1, "to_snapshot_id": 2});
        let (diff, _) = door.text("MemoryDiff", span);
        assert!(second.iter().all(|it| diff.contains(it)), "{diff}");
        assert!(!diff.contains("status"), "{diff}");
    });
}

#[test]
fn a_rollback_restores_fields_alone() {
    let (folder, _) = lived();
    let last = state(&folder, "m.db");
    with(&folder, "m.db", |door| {
        door.text("MemoryRollback", json!({"snapshot_id": 1}));
        let [first] = &door.state()[..] else { panic!("one memory") };
        assert_eq!(first["tags"], json!(["lamp", "winter"]));
        assert_eq!((&first["importance"], &first["category"]), (&json!("low"), &json!("errand")));
        assert_eq!(
            first["task_metadata"],
            json!({"status": "blocked", "blockers": ["ice", SECRET], "outcome": "none so far"})
        );
        door.text("MemoryRollback", json!({"snapshot_id": 3}));
    });
    assert_eq!(state(&folder, "m.db"), last);
    folder.assert_healthy("m.db");
}

#[test]
fn redaction_takes_a_secret_out_of_every_field_of_now_and_then() {
    let (folder, _) = lived();
    let is_there = |folder: &Folder| {
        let mut files = folder.names().into_iter().filter(|it| it.starts_with("m.db"));
        let holds = |name: String| {
            let bytes = fs::read(folder.path(name)).unwrap();
            bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes())
        };
        files.any(holds)
    };
    assert!(is_there(&folder));
    let custom = json!([{"kind": "ticket", "pattern": "TKT-[0-9]+"}]);
    let settings = json!({"redaction": {"custom": custom}});
    folder.write("notes/.remindb/config.json", settings.to_string());
    folder.ok(["redact", "--source", "notes", "--db", "m.db"]);
    assert!(!is_there(&folder), "{:?}", folder.names());
    let [task] = &state(&folder, "m.db")[..] else { panic!("one memory") };
    let marker = "«redacted:ticket»";
    assert_eq!(task["category"], marker);
    assert_eq!(task["tags"], json!(["lamp", "spring", marker]));
    assert_eq!(task["task_metadata"]["blockers"], json!(["ice", marker]));
    assert_eq!(task["task_metadata"]["outcome"], format!("see {marker}"));
    folder.assert_healthy("m.db");
    with(&folder, "m.db", |door| door.text("MemoryRollback", json!({"snapshot_id": 1})));
    let tags = with(&folder, "m.db", |door| door.state()[0]["tags"].clone());
    assert_eq!(tags, json!(["lamp", "winter"]));
    folder.assert_healthy("m.db");
}

#[test]
fn gc_keeps_the_fields_that_a_kept_snapshot_needs() {
    let (folder, _) = lived();
    let last = state(&folder, "m.db");
    folder.ok(["gc", "--keep", "2", "--db", "m.db"]);
    assert_eq!(state(&folder, "m.db"), last);
    with(&folder, "m.db", |door| {
        door.text("MemoryRollback", json!({"snapshot_id": 2}));
        let task = &door.state()[0];
        assert_eq!(
            (&task["tags"], &task["importance"]),
            (&json!(["lamp", "spring"]), &json!("high"))
        );
        assert_eq!(task["created_at"], last[0]["created_at"]);
    });
    folder.ok(["gc", "--keep", "1", "--db", "m.db"]);
    // Nothing of a state that was forgotten is left, in no column.
    let winter = folder.database("m.db").query_row(
        "SELECT count(*) FROM diff WHERE old_fields LIKE '%winter%'",
        [],
        |row| row.get::<_, i64>(0),
    );
    assert_eq!(winter, Ok(0));
    folder.assert_healthy("m.db");
}

/// Makes `copy.db` of a memory, which has the same memories, past and fields then.
#[track_caller]
fn copied(make: fn(&Folder)) {
    let (folder, _) = lived();
    let last = state(&folder, "m.db");
    make(&folder);
    assert_eq!(state(&folder, "copy.db"), last);
    folder.assert_healthy("copy.db");
    for db in ["m.db", "copy.db"] {
        with(&folder, db, |door| door.text("MemoryRollback", json!({"snapshot_id": 1})));
    }
    let first = |db: &str| with(&folder, db, |door| door.state());
    assert_eq!(first("copy.db"), first("m.db"));
    assert_eq!(first("copy.db")[0]["tags"], json!(["lamp", "winter"]));
    folder.assert_healthy("copy.db");
}

#[test]
fn a_backup_has_the_fields() {
    copied(|folder| drop(folder.ok(["backup", "copy.db", "--db", "m.db"])));
}

#[test]
fn a_restored_memory_has_the_fields() {
    copied(|folder| {
        folder.ok(["backup", "saved.db", "--db", "m.db"]);
        with(folder, "copy.db", |door| door.store(json!({"type": "core", "content": "Other"})));
        folder.ok(["restore", "saved.db", "--db", "copy.db"]);
    });
}

#[test]
fn an_import_has_the_fields_of_the_export() {
    copied(|folder| {
        folder.ok(["export", "all.jsonl", "--db", "m.db"]);
        folder.ok(["import", "all.jsonl", "--db", "copy.db"]);
        folder.ok(["export", "again.jsonl", "--db", "copy.db"]);
        let text = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
        assert_eq!(text("again.jsonl"), text("all.jsonl"));
        assert!(text("all.jsonl").contains("winter"), "of a state of before");
    });
}

#[test]
fn salvage_reads_the_fields() {
    copied(|folder| {
        // The index of fields is lost; it follows from them.
        let lost = "DROP TRIGGER facet_node_removed; DELETE FROM facet";
        folder.database("m.db").execute_batch(lost).unwrap();
        folder.ok(["salvage", "m.db", "--out", "copy.db"]);
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
    });
}
