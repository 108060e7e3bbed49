//! Tests the advice on errors that SQLite makes of numbers beyond all bounds.

use rusqlite::Connection;

use super::*;

#[test]
fn numbers_beyond_all_bounds_are_strange_values() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch(
        "CREATE TABLE counter (n INTEGER NOT NULL) STRICT;
         INSERT INTO counter VALUES (9223372036854775807), (1)",
    )
    .unwrap();
    let grown = conn.execute("UPDATE counter SET n = n + 1", []).unwrap_err();
    let sum = conn.query_row("SELECT sum(n) FROM counter", [], |row| row.get::<_, i64>(0));
    for error in [grown, sum.unwrap_err()] {
        assert!(is_strange_value(&error), "{error}");
        assert!(advice(&error).unwrap().1.contains("remindb doctor --fix"), "{error}");
    }
}

#[test]
fn an_expression_that_is_none_is_no_broken_index() {
    let conn = Connection::open_in_memory().unwrap();
    conn.execute_batch("CREATE VIRTUAL TABLE words USING fts5 (text)").unwrap();
    let find = || conn.query_row("SELECT 1 FROM words WHERE words MATCH 'a AND'", [], |_| Ok(()));
    assert!(!is_broken_index(&find().unwrap_err()));
}
