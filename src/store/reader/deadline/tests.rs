//! Tests that a query ends at its deadline.

use rusqlite::{Connection, ErrorCode};

use super::{QUERY_MS_MAX, QueryDeadline};
use crate::model::clock::{Clock, Stopwatch, UnixMillis};
use crate::store::ErrorContext;

/// Returns a stopwatch that shows `elapsed_ms`.
fn shows(elapsed_ms: i64) -> Option<Stopwatch> {
    let clock = Clock::manual(UnixMillis(0));
    let stopwatch = clock.stopwatch();
    clock.advance(elapsed_ms);
    Some(stopwatch)
}

const ENDLESS: &str = "
    WITH RECURSIVE endless (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM endless)
    SELECT count(*) FROM endless";

#[test]
fn an_endless_query_ends_with_an_error_that_says_so() {
    let mut conn = Connection::open_in_memory().unwrap();
    let deadline = QueryDeadline::default();
    deadline.attach(&mut conn).unwrap();
    deadline.set(shows(QUERY_MS_MAX));
    let ended = conn.query_row(ENDLESS, [], |row| row.get::<_, i64>(0)).doing("count");
    let error = ended.unwrap_err();
    let said = "cannot count: interrupted; it took longer than 30 s: ask for less, such as fewer \
                words; if that takes as long, `remindb doctor` says whether the file is damaged";
    assert_eq!(error.to_string(), said);
    assert!(error.is_outside());
}

#[test]
fn a_query_before_its_deadline_is_answered() {
    let mut conn = Connection::open_in_memory().unwrap();
    let deadline = QueryDeadline::default();
    deadline.attach(&mut conn).unwrap();
    deadline.set(shows(QUERY_MS_MAX - 1));
    let first = format!("SELECT n FROM ({} LIMIT 100000)", ENDLESS.replace("count(*)", "n"));
    let last = format!("SELECT max(n) FROM ({first})");
    assert_eq!(conn.query_row(&last, [], |row| row.get::<_, i64>(0)), Ok(100_000));
    deadline.set(shows(QUERY_MS_MAX));
    let ended = conn.query_row(&last, [], |row| row.get::<_, i64>(0));
    assert_eq!(ended.unwrap_err().sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
    deadline.end();
    assert_eq!(conn.query_row(&last, [], |row| row.get::<_, i64>(0)), Ok(100_000));
}
