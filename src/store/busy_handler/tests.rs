//! Tests the wait for a rival connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;

use super::*;

fn rivals(longest: Duration) -> (tempfile::TempDir, Connection, Connection) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.db");
    let [one, mut two] = [(); 2].map(|()| Connection::open(&path).unwrap());
    set_busy_timeout(&mut two, longest).unwrap();
    (folder, one, two)
}

#[test]
fn a_lock_held_for_too_long_is_an_error() {
    let (_folder, one, two) = rivals(Duration::from_millis(2));
    one.execute_batch("BEGIN IMMEDIATE").unwrap();
    for _ in 0..2 {
        let error = two.execute_batch("BEGIN IMMEDIATE").doing("begin a write").unwrap_err();
        assert!(error.is_busy() && error.to_string().ends_with("try again later"), "{error}");
    }
}

/// Returns the tries of each of some calls that queued for that long before, while another
/// connection has the lock.
fn tries_after(queued: Duration) -> [usize; 3] {
    let n_tries = Arc::new(AtomicUsize::new(0));
    let (_folder, one, mut two) = rivals(LONG);
    let counted = Arc::clone(&n_tries);
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        true
    };
    wait_while(&mut two, Duration::from_millis(200), move || queued, count).unwrap();
    one.execute_batch("BEGIN IMMEDIATE").unwrap();
    [(); 3].map(|()| {
        two.execute_batch("BEGIN IMMEDIATE").unwrap_err();
        n_tries.swap(0, Ordering::Relaxed)
    })
}

/// Callers that queue for one connection so give up soon after each other.
#[test]
fn what_a_caller_queued_for_counts_where_the_wait_before_it_was_in_vain() {
    let is_whole = |n_tries: &usize| (40..=401).contains(n_tries);
    let tries = tries_after(Duration::ZERO);
    assert!(tries.iter().all(is_whole), "{tries:?}");
    for queued in [Duration::from_millis(190), LONG] {
        let [first, later @ ..] = tries_after(queued);
        assert!(is_whole(&first), "{queued:?}: {first}");
        let is_little = |n_tries: &usize| (4..40).contains(n_tries);
        assert!(later.iter().all(is_little), "{queued:?}: {later:?}");
    }
}

#[test]
fn a_lock_released_in_time_is_waited_for() {
    let (_folder, one, two) = rivals(LONG);
    one.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|scope| {
        let waits = scope.spawn(move || two.execute_batch("BEGIN IMMEDIATE; ROLLBACK"));
        one.execute_batch("COMMIT").unwrap();
        assert_eq!(waits.join().unwrap(), Ok(()));
    });
}
