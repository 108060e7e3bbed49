//! Tests the list of tables, and refused imports.

use std::collections::BTreeSet;
use std::path::PathBuf;

use expect_test::expect;
use rusqlite::Connection;

use super::transferred_tables::{DERIVED_TABLES, TRANSFERRED_TABLES};
use super::*;
use crate::ingest::redact::Redactor;
use crate::store::{IfMissing, Writer, schema};

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("m.db");
    (dir, path)
}

#[test]
fn every_table_of_the_schema_moves_or_follows_from_those_that_do() {
    const TABLES: &str = "
        SELECT name
          FROM pragma_table_list
         WHERE schema = 'main'
           AND type <> 'shadow'
           AND name NOT LIKE 'sqlite_%'";
    let (_dir, path) = folder();
    drop(Writer::open(&path, IfMissing::Create).unwrap());
    let conn = Connection::open(&path).unwrap();
    let mut query = conn.prepare(TABLES).unwrap();
    let found: BTreeSet<String> =
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let known: BTreeSet<String> =
        TRANSFERRED_TABLES.iter().chain(DERIVED_TABLES).map(|&it| it.to_owned()).collect();
    assert_eq!(found, known, "`moving/tables.rs` needs a line for each table");
}

/// Imports made-up lines; all of them are refused, and no memory is made.
#[track_caller]
fn check(lines: &[&str], expected: expect_test::Expect) {
    let (dir, path) = folder();
    let mut text = lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    let outcome = match import_text(&text, &path) {
        Ok(imported) => format!("{imported:?}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "something was made");
    expected.assert_eq(&outcome);
}

fn import_text(text: &str, db: &Path) -> Result<ImportReport, TransferError> {
    let mut input = text.as_bytes();
    let lines = ImportInput { name: "x", input: &mut input, n_bytes: 0 };
    import(lines, db, &Redactor::builtin(), &mut |_, _| ())
}

fn header() -> String {
    format!(r#"{{"remindb":"export","format":1,"schema":{}}}"#, schema::newest())
}

const MEMORY: &str = r#"{"memory":{"one":1,"fingerprint":0,"attended":0}}"#;
const END_1: &str = r#"{"end":{"rows":1}}"#;
const END_2: &str = r#"{"end":{"rows":2}}"#;

#[test]
fn a_file_that_is_no_export_is_refused() {
    check(&[], expect!["cannot import `x`: line 1: the file is empty; nothing was imported"]);
    check(
        &["hello"],
        expect![
            "cannot import `x`: line 1: the line is no JSON: expected value at column 1; nothing was imported"
        ],
    );
    check(
        &["[]"],
        expect!["cannot import `x`: line 1: the line is no JSON object; nothing was imported"],
    );
    check(
        &["{}"],
        expect![
            "cannot import `x`: line 1: this is not what `remindb export` writes; nothing was imported"
        ],
    );
    check(
        &[&"[".repeat(100_000)],
        expect![
            "cannot import `x`: line 1: the line is no JSON: recursion limit exceeded at column 128; nothing was imported"
        ],
    );
}

#[test]
fn a_newer_format_is_refused() {
    let lines = r#"{"remindb":"export","format":2,"schema":1}"#;
    let outcome = import_text(lines, Path::new("none.db")).unwrap_err().to_string();
    assert!(outcome.contains("part of the file is missing"), "{outcome}");
    let outcome = import_text(&format!("{lines}\n"), Path::new("none.db")).unwrap_err().to_string();
    assert!(outcome.contains("format 2 and schema 1 are not known to this build"), "{outcome}");
    let lines = r#"{"remindb":"export","format":1,"schema":999}"#;
    let outcome = import_text(&format!("{lines}\n"), Path::new("none.db")).unwrap_err().to_string();
    assert!(outcome.contains("update the program"), "{outcome}");
}

#[test]
fn a_truncated_export_is_refused() {
    let header = header();
    check(
        &[&header],
        expect![
            "cannot import `x`: line 2: the file ends before its end; part of it is missing; nothing was imported"
        ],
    );
    check(
        &[&header, MEMORY, END_2],
        expect![
            "cannot import `x`: line 3: 2 rows were exported, and 1 are there; nothing was imported"
        ],
    );
    check(
        &[&header, MEMORY, END_1, MEMORY],
        expect!["cannot import `x`: line 4: there is more after the end; nothing was imported"],
    );
}

#[test]
fn rows_that_no_table_has_are_refused() {
    let header = header();
    let bad = |row: &str, expected| check(&[&header, row, END_1], expected);
    bad(
        r#"{"sqlite_schema":{}}"#,
        expect![
            "cannot import `x`: line 2: no table `sqlite_schema` is exported; nothing was imported"
        ],
    );
    bad(
        r#"{"root":{"id":1,"path":"/a","x; DROP TABLE root":1}}"#,
        expect![
            "cannot import `x`: line 2: `root` has no column `x; DROP TABLE root`; nothing was imported"
        ],
    );
    bad(
        r#"{"root":{"id":1},"file":{}}"#,
        expect!["cannot import `x`: line 2: a line names one table; nothing was imported"],
    );
    bad(
        r#"{"root":[1,"/a"]}"#,
        expect!["cannot import `x`: line 2: what `root` has is no row; nothing was imported"],
    );
    bad(
        r#"{"root":{"id":1,"path":{"a":1}}}"#,
        expect![
            "cannot import `x`: line 2: `path` of `root` has no simple value; nothing was imported"
        ],
    );
    bad(
        r#"{"root":{"id":"one","path":"/a"}}"#,
        expect!["cannot import `x`: line 2: datatype mismatch; nothing was imported"],
    );
    bad(
        r#"{"root":{"id":1}}"#,
        expect![
            "cannot import `x`: line 2: NOT NULL constraint failed: root.path; nothing was imported"
        ],
    );
}

#[test]
fn rows_that_contradict_each_other_are_refused() {
    let header = header();
    let root = r#"{"root":{"id":1,"path":"/a"}}"#;
    check(
        &[&header, root, root],
        expect![
            "cannot import `x`: line 3: UNIQUE constraint failed: root.id; nothing was imported"
        ],
    );
    check(
        &[&header, MEMORY, r#"{"span":{"node":7,"start_byte":0,"end_byte":1}}"#, END_2],
        expect![
            "`x` makes no sound memory: foreign_keys: 1 rows refer to nothing, the first in `span`; it was altered, or the memory was before it was exported: run `remindb doctor --fix` there, and export again; nothing was imported"
        ],
    );
    check(
        &[&header, r#"{"memory":{"one":1,"fingerprint":5,"attended":0}}"#, END_1],
        expect![
            "`x` makes no sound memory: fingerprint: the state is 0000000000000000, kept was 0000000000000005, HEAD says 0000000000000000; it was altered, or the memory was before it was exported: run `remindb doctor --fix` there, and export again; nothing was imported"
        ],
    );
}
