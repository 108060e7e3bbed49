use std::path::{Path, PathBuf};

use crate::maintenance::doctor::{self, CheckStatus};
use crate::maintenance::repair_after_backup::repair;
use crate::model::clock::UnixMillis;
use crate::model::tree::{ContentFormat, NodeType};
use crate::store::database_version_testing::forget_fields;
use crate::store::{
    Batch, FIELDS, IfMissing, OptionalColumnValue, OptionalColumnValues, StoreError,
    UnplacedNodeData, Writer, past_states,
};
use crate::text::tokens;

const NOW: UnixMillis = UnixMillis(4_000_000_000_000);
const UUID: &str = "0f0e8400-e29b-41d4-a716-446655440000";

fn data(content: &str) -> UnplacedNodeData<'_> {
    let fields = format!(r#"{{"importance":"high","tags":["a","b"],"uuid":"{UUID}"}}"#);
    UnplacedNodeData {
        node_type: NodeType::Task,
        format: ContentFormat::Plain,
        label: content,
        content,
        token_count: tokens::count(content),
        attributes: OptionalColumnValues::default()
            .with(FIELDS, Some(OptionalColumnValue::Text(fields))),
    }
}

fn write(db: &Path, body: impl FnOnce(&mut Batch<'_>) -> Result<(), StoreError>) {
    let writer = Writer::open(db, IfMissing::Create).unwrap();
    writer.write("agent", "", NOW, body).unwrap();
}

fn memory() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("memory.db");
    write(&db, |batch| batch.insert_typed_node(&data("One."), &["@memories", "tasks"]).map(drop));
    (dir, db)
}

/// The checks that do not pass, and what a repair leaves of them.
#[track_caller]
fn check(sql: &str, found: &[&str], left: &[&str]) {
    let (dir, db) = memory();
    rusqlite::Connection::open(&db).unwrap().execute_batch(sql).unwrap();
    let bad = |db: &Path| -> Vec<String> {
        let checks = doctor::examine(db).unwrap().checks.into_iter();
        let bad = checks.filter(|it| it.status != CheckStatus::Pass);
        bad.map(|it| format!("{}: {}", it.name, it.detail)).collect()
    };
    assert_eq!(bad(&db), found);
    repair(&db, NOW, &mut |_| ()).unwrap();
    assert_eq!(bad(&db), left);
    drop(dir);
}

#[test]
fn facets_that_are_wrong_are_made_anew() {
    check(
        "DELETE FROM facet WHERE key = 'tag'; UPDATE facet SET value = 'low' WHERE key = 'importance';",
        &["facets: 3 facets are missing, 1 are of no field"],
        &[],
    );
}

#[test]
fn facets_stay_where_nothing_of_them_changes() {
    check("UPDATE node SET trail = trail, fields = fields, position = position", &[], &[]);
}

#[test]
fn fields_in_another_order_are_rewritten_and_odd_ones_named() {
    const ID: &str = "(SELECT key FROM node WHERE fields IS NOT NULL)";
    let is_fingerprint = |it: &String| it.starts_with("fingerprint");
    for (fields, status, left) in [
        (r#"{ "uuid":"u", "tags":[] }"#, CheckStatus::Fail, CheckStatus::Warn),
        (r#"{"importance": "high"}"#, CheckStatus::Fail, CheckStatus::Pass),
        ("nonsense", CheckStatus::Fail, CheckStatus::Pass),
        (r#"{"importance":"huge"}"#, CheckStatus::Warn, CheckStatus::Warn),
    ] {
        let (_dir, db) = memory();
        let conn = rusqlite::Connection::open(&db).unwrap();
        let sql = format!("UPDATE node SET fields = ?1 WHERE key = {ID}");
        conn.execute(&sql, [fields]).unwrap();
        drop(conn);
        let of_fields = |db: &Path| {
            let checks = doctor::examine(db).unwrap().checks;
            let bad = checks.iter().filter(|it| it.status == CheckStatus::Fail);
            let others: Vec<String> = bad.map(|it| it.name.to_owned()).collect();
            let status = checks.iter().find(|it| it.name == "fields").unwrap().status;
            (
                status,
                others.into_iter().filter(|it| it != "fields" && !is_fingerprint(it)).collect(),
            )
        };
        let none: Vec<String> = Vec::new();
        assert_eq!(of_fields(&db), (status, none.clone()), "{fields}");
        repair(&db, NOW, &mut |_| ()).unwrap();
        assert_eq!(of_fields(&db), (left, none), "{fields}");
    }
}

#[test]
fn an_unknown_type_becomes_what_it_was_or_text_and_a_typed_one_stays() {
    const ALTER: &str = "UPDATE node SET node_type = 'odd' WHERE parent IS NULL;";
    // Without the fingerprint nothing proves what it was.
    for (more, expected) in
        [("", "heading,heading,task"), ("UPDATE memory SET fingerprint = 7", "text,heading,task")]
    {
        let (_dir, db) = memory();
        let conn = rusqlite::Connection::open(&db).unwrap();
        conn.execute_batch(&[ALTER, more].concat()).unwrap();
        repair(&db, NOW, &mut |_| ()).unwrap();
        let types: String = conn
            .query_row("SELECT group_concat(node_type) FROM node ORDER BY key", [], |row| {
                row.get(0)
            })
            .unwrap();
        assert_eq!(types, expected);
        drop(conn);
        assert_eq!(doctor::examine(&db).unwrap().status(), CheckStatus::Pass);
    }
}

#[test]
fn a_memory_of_before_there_were_fields_keeps_its_fingerprints() {
    let dir = tempfile::tempdir().unwrap();
    let db = dir.path().join("memory.db");
    let plain = |content| UnplacedNodeData {
        node_type: NodeType::Text,
        attributes: OptionalColumnValues::default(),
        ..data(content)
    };
    for content in ["One.", "Two."] {
        write(&db, |batch| {
            let place = batch.last_place(None, None)?;
            batch.insert_agent_node(&plain(content), place).map(drop)
        });
    }
    let hashes =
        |db: &Path| past_states::fingerprints(&rusqlite::Connection::open(db).unwrap()).unwrap();
    let before = hashes(&db);
    forget_fields(&db);
    write(&db, |_| Ok(()));
    assert_eq!(hashes(&db), before);
    assert_eq!(doctor::examine(&db).unwrap().status(), CheckStatus::Pass);
    write(&db, |batch| batch.insert_typed_node(&data("Three."), &["@memories"]).map(drop));
    assert_eq!(hashes(&db)[1..], before);
}

#[test]
fn a_broken_view_is_found_and_removed() {
    let (_dir, db) = memory();
    let conn = rusqlite::Connection::open(&db).unwrap();
    const VIEWS: &str = "
        PRAGMA ignore_check_constraints = ON;
        INSERT INTO custom_view (name, query)
        VALUES ('fine', '{}'), ('Upper', '{}'), ('list', '[]'), ('text', 'type=task')";
    conn.execute_batch(VIEWS).unwrap();
    drop(conn);
    let state = |report: &doctor::DoctorReport| {
        let check = report.checks.iter().find(|it| it.name == "custom_views").unwrap();
        check.detail.clone()
    };
    let found = doctor::examine(&db).unwrap();
    assert_eq!(state(&found), "3 of 4 custom views are broken: `Upper`");
    let repaired = repair(&db, NOW, &mut |_| ()).unwrap();
    assert_eq!(state(&repaired), "1 custom views are sound");
    assert_eq!(repaired.status(), CheckStatus::Pass, "{repaired:#?}");
}
