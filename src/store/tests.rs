//! Tests opening databases, schemas and writes.

use std::path::PathBuf;

use rusqlite::Connection;

use super::database_version_testing::FORGET_TOTALS;
use super::*;
use crate::model::clock::UnixMillis;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("memory.db");
    (dir, path)
}

#[track_caller]
fn refusal(path: &Path, if_missing: IfMissing, what: &str) {
    let error = Writer::open(path, if_missing).err().expect("it is refused").to_string();
    let folder = path.parent().unwrap().display().to_string();
    assert_eq!(error.replace(&folder, "DIR"), what);
}

#[test]
fn a_mistyped_path_creates_nothing() {
    let (_dir, path) = folder();
    let what = "no database at `DIR/memory.db`; make one with \
                `remindb compile FOLDER --db DIR/memory.db`";
    refusal(&path, IfMissing::Refuse, what);
    assert!(!path.exists());
    let nowhere = path.parent().unwrap().join("no/memory.db");
    assert!(matches!(Writer::open(&nowhere, IfMissing::Create), Err(StoreError::NoFolder { .. })));
}

/// The doctor makes a missing table anew in the schema that the memory has, and then opens it.
#[test]
fn an_older_memory_without_one_of_its_tables_is_restored_before_it_is_migrated() {
    const OLDER: &str = "
        DROP TABLE restored;
        DROP TABLE receipt;
        CREATE TABLE receipt (
            name     TEXT PRIMARY KEY,        -- hash of the key
            request  TEXT NOT NULL,           -- hash of the request
            snapshot INTEGER REFERENCES snapshot (id) ON DELETE CASCADE,
            answer   TEXT NOT NULL            -- JSON of ids and numbers
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX receipt_by_snapshot ON receipt (snapshot);
        DROP TABLE vector;
        DROP INDEX typed_edge_by_target;
        CREATE INDEX typed_edge_by_target ON typed_edge (target, type);
        PRAGMA user_version = 19";
    let (_dir, path) = folder();
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    let older = format!("{FORGET_TOTALS} {OLDER}");
    Connection::open(&path).unwrap().execute_batch(&older).unwrap();
    let refused = Writer::open(&path, IfMissing::Refuse).err().expect("it is refused").to_string();
    assert!(refused.contains("(missing table `vector`)"), "{refused}");
    crate::maintenance::doctor::restore_schema(&path).unwrap();
    drop(Writer::open(&path, IfMissing::Refuse).unwrap());
    let conn = Connection::open(&path).unwrap();
    let version: i64 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, schema::newest());
}

#[test]
fn a_newer_schema_is_refused_and_left_as_it_is() {
    let (_dir, path) = folder();
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    let conn = Connection::open(&path).unwrap();
    conn.pragma_update(None, "user_version", 99).unwrap();
    drop(conn);
    let before = std::fs::read(&path).unwrap();
    let what = format!(
        "`DIR/memory.db` has schema 99, newer than {}, the newest this build knows; \
         update the program",
        schema::newest()
    );
    refusal(&path, IfMissing::Create, &what);
    assert!(std::fs::read(&path).unwrap() == before, "the refused file was changed");
}

#[test]
fn files_of_others_are_refused_and_left_as_they_are() {
    let (_dir, path) = folder();
    std::fs::write(&path, "these are my tax returns, please do not overwrite them").unwrap();
    let what = "`DIR/memory.db` is no SQLite database, not a remindb memory; \
                name another file with --db";
    refusal(&path, IfMissing::Create, what);
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE mine (x)").unwrap();
    let before = std::fs::read(&path).unwrap();
    let what = "`DIR/memory.db` is a database of another program, not a remindb memory; \
                name another file with --db";
    refusal(&path, IfMissing::Create, what);
    assert!(std::fs::read(&path).unwrap() == before, "the refused file was changed");
}

#[test]
fn the_linked_sqlite_is_new_enough() {
    schema::check_sqlite().unwrap();
}

#[test]
fn shipped_migrations_never_change() {
    let hashes: Vec<String> = schema::MIGRATIONS
        .iter()
        .map(|it| crate::model::identity::ContentHash::of(it).to_string())
        .collect();
    expect_test::expect![[r#"
        [
            "e0719c3f8bd72d04",
            "330b725cea48a9ea",
            "3ff7f0e28c4c8bf3",
            "144aedbf65eb3f08",
            "a671678fd2e31da2",
            "e50fde7bcc0e46c8",
            "aad382f60bd70d45",
            "242aedeacbf1a388",
            "f235b8bd60c281f3",
            "1cb4a9a83679e07c",
            "f24515a6e7b61426",
            "20aa6e7ea261c714",
            "f617ea04475daa0b",
            "d9bae4b446aa11f3",
            "418bb8e02d0388c6",
            "24d8e7554342e663",
            "40ae1c0c5b342ae9",
            "32484d34f2294d2a",
            "a778f975625c55e8",
            "38fb525961e3e01f",
            "f5b9410002520901",
            "0427762a5ab69a0c",
            "679de208c41f81e1",
        ]
    "#]]
    .assert_debug_eq(&hashes);
}

#[test]
fn processes_that_start_at_once_agree_on_the_schema() {
    let (_dir, path) = folder();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| Writer::open(&path, IfMissing::Create).unwrap());
        }
    });
    let report = crate::maintenance::doctor::examine(&path).unwrap();
    assert_eq!(report.status(), crate::maintenance::doctor::CheckStatus::Pass, "{report:#?}");
}

#[test]
fn a_write_that_changes_nothing_makes_no_snapshot() {
    let (_dir, path) = folder();
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let body = |batch: &mut Batch<'_>| batch.root("/notes");
    let (_, commit) = writer.write("m", "", UnixMillis(0), body).unwrap();
    assert_eq!(commit.snapshot, None);
}

#[test]
fn an_error_or_a_panic_leaves_no_trace() {
    let (_dir, path) = folder();
    let writer = Writer::open(&path, IfMissing::Create).unwrap();
    let failing = |batch: &mut Batch<'_>| -> Result<(), StoreError> {
        batch.root("/notes")?;
        Err(StoreError::Corrupt { what: "as planned".to_owned() })
    };
    assert!(writer.write("m", "", UnixMillis(0), failing).is_err());
    let panicking = std::panic::AssertUnwindSafe(|| {
        writer.write("m", "", UnixMillis(0), |batch| -> Result<(), StoreError> {
            batch.root("/notes")?;
            panic!("as planned")
        })
    });
    assert!(std::panic::catch_unwind(panicking).is_err());
    assert_eq!(writer.roots().unwrap(), []);
}

#[test]
fn doctor_names_what_is_wrong() {
    let (_dir, path) = folder();
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    let conn = Connection::open(&path).unwrap();
    conn.execute_batch(
        "PRAGMA foreign_keys = OFF;
         INSERT INTO root (id, path) VALUES (1, '/no/such/folder');
         INSERT INTO file (root, path, size, mtime) VALUES (1, 'a.md', 0, 0);
         INSERT INTO node (key, id, file, parent, position, node_type, format, token_count,
                           content_hash, label, trail, content)
         VALUES (1, 'aaaaaaaaaaa', NULL, 99, 0, 'text', 'plain', 1, 'wrong', 'l', 't', 'c');
         INSERT INTO node_fts (node_fts) VALUES ('delete-all');
         UPDATE memory SET heated = 1;
         INSERT INTO cursor (name, snapshot, updated_at) VALUES ('HEAD', 555, 0);
         INSERT INTO diff (snapshot, seq, op, node_id) VALUES (7, 1, 'add', 'aaaaaaaaaaa');",
    )
    .unwrap();
    drop(conn);
    let before = std::fs::read(&path).unwrap();
    let report = crate::maintenance::doctor::examine(&path).unwrap();
    let lines: Vec<String> = report
        .checks
        .iter()
        .map(|it| format!("{} {}: {}", it.status.as_str(), it.name, it.detail))
        .collect();
    let schema = schema::newest();
    let lines =
        lines.join("\n").replace(&format!("{schema}/{schema} migrations"), "N/N migrations");
    expect_test::expect![[r#"
        fail fts5_sync: FTS5 integrity check failed: database disk image is malformed
        fail orphan_parent_id: 1 nodes reference a missing parent_id
        pass parent_cycles: every node stands below a root
        fail head_cursor: HEAD points at missing snapshot 555
        fail dangling_diffs: 1 diff rows reference a missing snapshot: 7
        pass schema_version: N/N migrations applied
        pass schema_objects: every table, index, trigger and view is ours
        warn stale_compile_root: 1/1 compile roots no longer exist: [/no/such/folder]
        pass integrity_check: every page and index is sound
        fail foreign_keys: 3 rows refer to nothing, the first in `node`
        pass text_encoding: every text is UTF-8
        pass single_rows: the memory's clock and counters are there
        pass row_keys: there is room for the keys of new rows
        pass number_ranges: times, sizes and counters are within their bounds
        pass file_paths: 1 files are below their roots
        fail node_rows: 1 of 1 nodes are damaged: node `aaaaaaaaaaa` has an id, type, format or hash of no known form
        pass node_files: 1 nodes are of the file of the node above
        pass history_rows: 1 changes can be read
        fail heat_rows: 1 nodes have no temperature, 0 have one outside of 0 to 1
        fail fingerprint: the state is db4fd10fc2c0afd8, kept was 0000000000000000, HEAD says 0000000000000000
        fail content_hashes: 1 of 1 texts differ from their hash: `aaaaaaaaaaa` "l"
        pass fields: 0 nodes have sound fields
        pass facets: 0 facets follow the fields
        pass typed_edges: 0 typed edges follow the fields
        pass custom_views: 0 custom views are sound
        fail references: 2 faults, the first: node `aaaaaaaaaaa` is not found by its label
        pass running_totals: nodes and references are as many as the totals say
    "#]].assert_eq(&(lines + "\n"));
    assert!(std::fs::read(&path).unwrap() == before, "looking changed the file");
}
