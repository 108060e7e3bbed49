//! How a connection waits for another that writes: a bounded time, and nobody longer than others.
//!
//! SQLite's own wait looks less and less often, so that among many writers whoever has waited
//! longest waits longer still. Here everybody looks as often as everybody else, at times that do
//! not coincide.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use rusqlite::Connection;

use super::{Doing, StoreError};

/// How long whoever was promised an answer waits for others.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// The shortest pause between two looks.
const PAUSE_US_MIN: u64 = 500;

/// The longest one; most writes take about as long.
const PAUSE_US_MAX: u64 = 4_500;

/// How long each of several attempts waits.
pub(super) const ATTEMPT: Duration = Duration::from_millis(250);

/// The pause after one that failed, perhaps at once.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);

/// Has the connection wait for others up to `longest`, in pauses.
pub(super) fn wait_up_to(conn: &mut Connection, longest: Duration) -> Result<(), StoreError> {
    wait_while(conn, longest, || true).doing("set the waiting time")
}

/// As [`wait_up_to`], and no longer than there is something to wait for.
pub(super) fn wait_while(
    conn: &mut Connection,
    longest: Duration,
    is_worth: impl Fn() -> bool + Send + 'static,
) -> rusqlite::Result<()> {
    let mut waited = Duration::ZERO;
    let mut dice = RandomState::new().build_hasher();
    let look_again = move |n_looks: i32| {
        if n_looks == 0 {
            waited = Duration::ZERO;
        }
        if longest <= waited || !is_worth() {
            return false;
        }
        dice.write_i32(n_looks);
        let pause_us = PAUSE_US_MIN + dice.finish() % (PAUSE_US_MAX - PAUSE_US_MIN);
        let pause = Duration::from_micros(pause_us).min(longest - waited);
        waited += pause;
        sleep(pause);
        true
    };
    conn.busy_handler(Some(look_again))
}

/// Tries again, up to `longest`, what SQLite gives up at once when somebody is in the way;
/// whether it was done. An attempt waits for up to [`ATTEMPT`] by itself.
pub(super) fn try_up_to(
    longest: Duration,
    mut attempt: impl FnMut() -> Result<bool, StoreError>,
) -> Result<bool, StoreError> {
    let n_attempts = longest.as_millis().div_ceil(ATTEMPT.as_millis());
    for nth in 0..n_attempts {
        if 0 < nth {
            sleep(BETWEEN_ATTEMPTS);
        }
        if attempt()? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[expect(clippy::disallowed_methods, reason = "SQLite gives no channel to wait on")]
fn sleep(pause: Duration) {
    std::thread::sleep(pause);
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    fn rivals(longest: Duration) -> (tempfile::TempDir, Connection, Connection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.db");
        let [one, mut two] = [(); 2].map(|()| Connection::open(&path).unwrap());
        wait_up_to(&mut two, longest).unwrap();
        (folder, one, two)
    }

    #[test]
    fn a_rival_that_goes_on_is_an_error_in_the_end() {
        let (_folder, one, two) = rivals(Duration::from_millis(2));
        one.execute_batch("BEGIN IMMEDIATE").unwrap();
        for _ in 0..2 {
            let error = two.execute_batch("BEGIN IMMEDIATE").doing("begin a write").unwrap_err();
            assert!(error.is_busy() && error.to_string().ends_with("try again later"), "{error}");
        }
    }

    #[test]
    fn a_rival_that_ends_is_waited_for() {
        let (_folder, one, two) = rivals(LONG);
        one.execute_batch("BEGIN IMMEDIATE").unwrap();
        std::thread::scope(|scope| {
            let waits = scope.spawn(move || two.execute_batch("BEGIN IMMEDIATE; ROLLBACK"));
            one.execute_batch("COMMIT").unwrap();
            assert_eq!(waits.join().unwrap(), Ok(()));
        });
    }
}
