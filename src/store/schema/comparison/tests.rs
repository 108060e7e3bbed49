//! Tests the comparison of schemas.

use expect_test::expect_file;
use rusqlite::{Connection, Row};

use super::{
    OBJECTS, SEPARATOR, SchemaRemedy, are_newest, are_restorable, differences, listed, remedy,
};
use crate::store::PreparedStatements;
use crate::store::schema::{apply, newest};

fn memory(version: i64) -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    apply(&conn, 0, version).unwrap();
    conn
}

/// Returns the differences after a change of the schema.
fn after(change: &str) -> String {
    let conn = memory(newest());
    conn.execute_batch(change).unwrap();
    listed(&differences(&conn, newest()).unwrap())
}

#[test]
fn the_newest_objects_are_those_of_all_migrations() {
    let object = |row: &Row<'_>| {
        let (kind, name, definition): (String, String, String) =
            (row.get(0)?, row.get(1)?, row.get(2)?);
        assert!(!definition.contains(SEPARATOR), "{name}");
        let object = format!("{kind} {name}\n{definition}");
        Ok(object.trim_end().to_owned() + SEPARATOR)
    };
    let objects: Vec<String> =
        memory(newest()).rows(OBJECTS, [], object, "read the schema").unwrap();
    expect_file!["../../sql/newest_objects.txt"].assert_eq(&objects.concat());
    assert!(are_newest(&memory(newest())).unwrap());
}

#[test]
fn no_schema_version_differs_from_its_own_migrations() {
    for version in 1..=newest() {
        assert_eq!(differences(&memory(version), version).unwrap(), [], "schema {version}");
    }
}

/// Only the migration to version 5 makes nothing.
#[test]
fn a_wrong_number_is_told_from_other_objects() {
    for version in 1..=newest() {
        let conn = memory(version);
        let remedy = remedy(&conn, 0, &differences(&conn, 0).unwrap()).unwrap();
        assert_eq!(remedy, SchemaRemedy::Renumber(if version == 4 { 5 } else { version }));
        conn.execute_batch("CREATE VIEW copy AS SELECT content FROM node").unwrap();
        for (number, expected) in [(version, SchemaRemedy::DropAndMake), (0, SchemaRemedy::Nothing)]
        {
            let differences = differences(&conn, number).unwrap();
            assert_eq!(super::remedy(&conn, number, &differences).unwrap(), expected, "{version}");
        }
    }
}

#[test]
fn statistics_of_the_planner_are_no_difference() {
    assert_eq!(after("INSERT INTO lease VALUES ('a', 'b', 1); ANALYZE"), "");
}

#[test]
fn each_kind_of_difference_is_named() {
    let cases = [
        ("CREATE TABLE copy (text)", "foreign table `copy`"),
        ("CREATE VIEW copy AS SELECT content FROM node", "foreign view `copy`"),
        ("CREATE INDEX slow ON node (content)", "foreign index `slow`"),
        (
            "CREATE TRIGGER spy AFTER INSERT ON node BEGIN DELETE FROM node; END",
            "foreign trigger `spy`",
        ),
        ("ALTER TABLE node ADD COLUMN spy TEXT", "altered table `node`"),
        ("DROP TRIGGER heat_rearm", "missing trigger `heat_rearm`"),
        (
            "DROP TRIGGER heat_rearm;
             CREATE TRIGGER heat_rearm AFTER UPDATE ON heat BEGIN DELETE FROM node; END",
            "altered trigger `heat_rearm`",
        ),
        (
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET tbl_name = 'heat' WHERE name = 'diff_by_node'",
            "altered index `diff_by_node`",
        ),
        (
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = replace(sql, 'sz BLOB', 'sz BLOB CHECK (sz IS NULL)')
              WHERE name = 'node_fts_docsize'",
            "altered table `node_fts_docsize`",
        ),
        (
            "DROP TABLE pulse; CREATE VIEW pulse AS SELECT 1",
            "missing table `pulse`, foreign view `pulse`",
        ),
    ];
    for (change, named) in cases {
        assert_eq!(after(change), named, "{change}");
    }
}

#[test]
fn a_table_is_listed_before_what_is_missing_with_it() {
    let listed = after("PRAGMA foreign_keys = OFF; DROP TABLE node");
    assert!(listed.starts_with("missing table `node`, missing index "), "{listed}");
    assert!(listed.ends_with(" more"), "{listed}");
}

/// A table of other rows is made again empty, and a wrong name of its table is put right.
#[test]
fn what_keeps_rows_of_its_own_is_not_restorable() {
    const MISPLACED: &str = "
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET tbl_name = 'BLOB' WHERE type = 'table' AND name = 'blob'";
    let cases = [
        ("DROP TABLE vector", true),
        ("DROP TABLE node_fts", true),
        ("ALTER TABLE facet ADD COLUMN x INTEGER", true),
        ("DROP TRIGGER heat_rearm", true),
        ("CREATE TABLE copy (text)", true),
        (MISPLACED, true),
        ("DROP TABLE span", false),
        ("DROP TABLE vector; DROP TABLE span", false),
        ("ALTER TABLE span ADD COLUMN x INTEGER", false),
        // The foreign one may be the missing one with its rows.
        ("ALTER TABLE vector RENAME TO rector", false),
    ];
    for (change, is_restorable) in cases {
        let conn = memory(newest());
        conn.execute_batch(change).unwrap();
        let differences = differences(&conn, newest()).unwrap();
        assert!(!differences.is_empty(), "{change}");
        assert_eq!(are_restorable(&differences), is_restorable, "{change}");
    }
}

#[test]
fn whitespace_and_line_breaks_of_a_definition_do_not_count() {
    let conn = memory(newest());
    const TRIGGER: &str = "SELECT sql FROM sqlite_schema WHERE name = 'pulse_heat'";
    let trigger: String = conn.query_row(TRIGGER, [], |row| row.get(0)).unwrap();
    conn.execute_batch("DROP TRIGGER pulse_heat").unwrap();
    conn.execute_batch(&trigger.replace('\n', "\n\t ")).unwrap();
    assert_eq!(differences(&conn, newest()).unwrap(), []);
}
