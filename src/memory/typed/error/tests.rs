//! Errors that SQLite gives for real, and the codes that clients get for them.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::*;

fn code(refused: rusqlite::Result<impl Sized>) -> &'static str {
    let source = refused.err().expect("it is refused");
    ErrorCode::from(&StoreError::Sqlite { doing: "try", source }).as_str()
}

/// A file with a table of one column, whose values are unique.
fn database(dir: &Path) -> Connection {
    let conn = Connection::open(dir.join("some.db")).unwrap();
    conn.busy_timeout(std::time::Duration::ZERO).unwrap();
    conn.execute_batch("CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES (1);").unwrap();
    conn
}

#[test]
fn refusals_of_the_system_have_codes() {
    let dir = tempfile::tempdir().unwrap();
    let conn = database(dir.path());
    let path = dir.path().join("some.db");
    let reader = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    assert_eq!(code(reader.execute("INSERT INTO t VALUES (2)", [])), "PERMISSION_ERROR");
    assert_eq!(code(Connection::open(dir.path())), "PERMISSION_ERROR");
    let other = Connection::open(&path).unwrap();
    other.busy_timeout(std::time::Duration::ZERO).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert_eq!(code(conn.execute("INSERT INTO t VALUES (2)", [])), "STORAGE_ERROR");
    drop(other);
    conn.pragma_update(None, "max_page_count", 4).unwrap();
    let large = "INSERT INTO t VALUES (randomblob(1000000))";
    assert_eq!(code(conn.execute(large, [])), "STORAGE_ERROR");
}

#[test]
fn damage_has_a_code() {
    let dir = tempfile::tempdir().unwrap();
    drop(database(dir.path()));
    let path = dir.path().join("some.db");
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&path, bytes).unwrap();
    let conn = Connection::open(&path).unwrap();
    let n = conn.query_row("SELECT x FROM t", [], |row| row.get::<_, i64>(0));
    assert_eq!(code(n), "CORRUPTED_DATA");
    fs::write(&path, "This is no database. ".repeat(300)).unwrap();
    let conn = Connection::open(&path).unwrap();
    assert_eq!(code(conn.execute("DELETE FROM t", [])), "CORRUPTED_DATA");
    let what = "two contradict each other".to_owned();
    assert_eq!(ErrorCode::from(&StoreError::Corrupt { what }).as_str(), "CORRUPTED_DATA");
}

#[test]
fn mistakes_of_this_program_are_internal() {
    let dir = tempfile::tempdir().unwrap();
    let conn = database(dir.path());
    assert_eq!(code(conn.execute("INSERT INTO t VALUES (1)", [])), "INTERNAL_ERROR");
    assert_eq!(code(conn.execute("DELETE FROM nowhere", [])), "INTERNAL_ERROR");
    let missing = StoreError::Missing { path: dir.path().join("none.db") };
    assert_eq!(ErrorCode::from(&missing).as_str(), "STORAGE_ERROR");
}
