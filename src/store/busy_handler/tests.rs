//! Tests the wait for a rival connection.

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
