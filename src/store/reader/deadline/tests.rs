//! Tests that a query ends at its deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::{Connection, ErrorCode};

use super::{IsCancelledFn, QUERY_MS_MAX, QueryDeadline};
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

#[test]
fn a_query_ends_when_nobody_waits_for_its_answer() {
    let mut conn = Connection::open_in_memory().unwrap();
    let deadline = QueryDeadline::default();
    deadline.attach(&mut conn).unwrap();
    let n_looks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n_looks);
    let is_cancelled: IsCancelledFn =
        Arc::new(move || 3 <= counted.fetch_add(1, Ordering::Relaxed));
    deadline.begin();
    deadline.end_when(&is_cancelled);
    let ended = conn.query_row(ENDLESS, [], |row| row.get::<_, i64>(0));
    assert_eq!(ended.unwrap_err().sqlite_error_code(), Some(ErrorCode::OperationInterrupted));
    assert_eq!(n_looks.load(Ordering::Relaxed), 4);
    // The next question has others who wait.
    deadline.begin();
    let first = format!("SELECT n FROM ({} LIMIT 100000)", ENDLESS.replace("count(*)", "n"));
    assert_eq!(
        conn.query_row(&format!("SELECT max(n) FROM ({first})"), [], |row| row.get(0)),
        Ok(100_000)
    );
}
