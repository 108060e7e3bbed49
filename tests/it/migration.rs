//! Tests a memory of an earlier schema: it opens, migrates, and its whole past stays provable.
//!
//! `tests/data/schema_9.sqlite` is a memory of the last build without fields, its pages made small. It
//! has compiled notes, an agent's writes, a summary, tombstones, a moved file and a rollback.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;

use super::support::{Client, Folder};

/// Snapshots with their fingerprints, oldest first.
type Past = Vec<(i64, String)>;

fn old() -> Folder {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/schema_9.sqlite");
    let folder = Folder::new().file("m.db", fs::read(golden).unwrap()).file("notes/a.md", "");
    // The root is a folder that is there; its place is no part of a state.
    let root = folder.path("notes").to_string_lossy().into_owned();
    folder.database("m.db").execute("UPDATE root SET path = ?1", [root]).unwrap();
    folder
}

fn version(conn: &Connection) -> i64 {
    conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

fn past(folder: &Folder, db: &str) -> Past {
    let conn = folder.database(db);
    let mut query = conn.prepare("SELECT id, cursor_hash FROM snapshot ORDER BY id").unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Every node as rows of text, without the columns that the old schema lacks.
fn nodes(folder: &Folder) -> Vec<String> {
    let conn = folder.database("m.db");
    let columns = "id, parent, position, node_type, level, lang, key_path, format, token_count,
                   content_hash, source_hash, label, trail, content";
    let sql = format!("SELECT concat_ws('|', {columns}) FROM node ORDER BY id");
    let mut query = conn.prepare(&sql).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// Opens and ends a server, which migrates the file.
fn migrate(folder: &Folder) {
    let mut client = Client::legacy(folder, &["--db", "m.db"]);
    client.text("MemoryStats", json!({}));
    client.end();
}

#[test]
fn a_memory_of_an_earlier_schema_migrates_and_keeps_every_fingerprint() {
    let folder = old();
    assert_eq!(version(&folder.database("m.db")), 9);
    let (past_before, nodes_before) = (past(&folder, "m.db"), nodes(&folder));
    assert_eq!((past_before.len(), nodes_before.len()), (10, 15));
    migrate(&folder);
    assert!(9 < version(&folder.database("m.db")));
    assert_eq!((past(&folder, "m.db"), nodes(&folder)), (past_before, nodes_before));
    folder.assert_healthy("m.db");
}

#[test]
fn each_state_of_an_earlier_schema_is_reproduced_beside_typed_memories() {
    let folder = old();
    let past_before = past(&folder, "m.db");
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--tools", "all,memory"]);
    let store = json!({"type": "task", "content": "Migrate", "tags": ["db"]});
    assert!(!client.call("store_memory", store).is_error);
    for (id, _) in &past_before {
        client.text("MemoryRollback", json!({"snapshot_id": id}));
    }
    let with_task = past_before.last().unwrap().0 + 1;
    client.text("MemoryRollback", json!({"snapshot_id": with_task}));
    let found = client.text("MemorySearch", json!({"query": "migrate", "type": "task"}));
    assert!(found.contains("[task] Migrate (id="), "{found}");
    client.end();
    let past_after = past(&folder, "m.db");
    assert_eq!(past_after[..past_before.len()], past_before);
    // The first with typed memories, then each state of before, then the first again.
    let hashes = |of: &[(i64, String)]| of.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
    let again = hashes(&past_after[past_before.len()..]);
    assert_eq!(again[1..again.len() - 1], hashes(&past_before));
    assert_eq!(again.first(), again.last());
    folder.assert_healthy("m.db");
}

#[test]
fn nothing_but_the_schema_is_amiss_before_the_migration() {
    let folder = old();
    let before = fs::read(folder.path("m.db")).unwrap();
    let looked = folder.run(["doctor", "--db", "m.db"]);
    let amiss: Vec<&str> = looked.stdout.lines().filter(|it| it.starts_with('✗')).collect();
    let schema = "✗ schema_version       missing: ";
    assert!(amiss.len() == 2 && amiss[1].starts_with(schema), "{}", looked.stdout);
    for command in [&["search", "harbour"][..], &["inspect"], &["export", "all.jsonl"]] {
        let ran = folder.run([command, &["--db", "m.db"]].concat());
        assert_eq!(ran.code, Some(2));
        let said = "`m.db` has schema 9, and this build reads ";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
        let advice = "; `remindb doctor --fix` brings it up to date, and so does any command that \
                      opens it to write; a running server does not";
        assert!(ran.stderr.contains(advice), "{}", ran.stderr);
    }
    assert!(fs::read(folder.path("m.db")).unwrap() == before, "looking changed the file");
    folder.ok(["doctor", "--fix", "--db", "m.db"]);
    folder.assert_healthy("m.db");
    assert!(folder.ok(["search", "harbour", "--db", "m.db"]).contains("harbour"));
}

#[test]
fn a_memory_of_an_earlier_schema_is_copied_as_any_other() {
    let folder = old();
    let past_before = past(&folder, "m.db");
    folder.ok(["backup", "copy.db", "--db", "m.db"]);
    assert_eq!(version(&folder.database("copy.db")), 9);
    // A backup of the build before becomes the memory of this one.
    folder.ok(["restore", "copy.db", "--db", "restored.db"]);
    folder.assert_healthy("restored.db");
    folder.ok(["restore", "copy.db", "--db", "m.db"]);
    assert_eq!(past(&folder, "m.db"), past_before);
    folder.assert_healthy("m.db");
    folder.ok(["export", "all.jsonl", "--db", "m.db"]);
    folder.ok(["import", "all.jsonl", "--db", "imported.db"]);
    folder.assert_healthy("imported.db");
    assert_eq!(past(&folder, "imported.db"), past_before);
}

/// What later migrations add is not missing; what those of its own version made is.
#[test]
fn an_object_that_an_earlier_schema_lacks_is_named_and_made_again() {
    for (kind, name) in [("TRIGGER", "node_fts_insert"), ("INDEX", "node_by_parent")] {
        let folder = old();
        folder.database("m.db").execute_batch(&format!("DROP {kind} {name}")).unwrap();
        let ran = folder.run(["compile", "notes", "--db", "m.db"]);
        let named = format!("(missing {} `{name}`)", kind.to_lowercase());
        assert!(ran.code == Some(2) && ran.stderr.contains(&named), "{}", ran.transcript());
        assert_eq!(version(&folder.database("m.db")), 9);
        folder.ok(["doctor", "--fix", "--db", "m.db"]);
        folder.assert_healthy("m.db");
    }
}
