//! How a connection waits for another that writes: a bounded time, and nobody longer than others.
//!
//! SQLite's own wait looks less and less often, so that among many writers whoever has waited
//! longest waits longer still. Here everybody looks as often as everybody else, at times that do
//! not coincide.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use rusqlite::Connection;

use super::{ErrorStep, StoreError};

/// How long whoever was promised an answer waits for others.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The shortest pause between two looks.
const PAUSE_US_MIN: u64 = 500;

/// The longest one; most writes take about as long.
const PAUSE_US_MAX: u64 = 4_500;

/// How long each of several attempts waits.
pub(super) const ATTEMPT: Duration = Duration::from_millis(250);

/// The pause after one that failed, perhaps at once.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);

/// Has the connection wait for others up to `longest`, in pauses.
pub(crate) fn set_busy_timeout(conn: &mut Connection, longest: Duration) -> Result<(), StoreError> {
    wait_while(conn, longest, || true).doing("set the waiting time")
}

/// As [`set_busy_timeout`], and no longer than there is something to wait for.
pub(super) fn wait_while(
    conn: &mut Connection,
    longest: Duration,
    is_worth: impl Fn() -> bool + Send + 'static,
) -> rusqlite::Result<()> {
    let mut waited = Duration::ZERO;
    let mut dice = RandomState::new().build_hasher();
    let retry = move |n_retries: i32| {
        if n_retries == 0 {
            waited = Duration::ZERO;
        }
        if longest <= waited || !is_worth() {
            return false;
        }
        dice.write_i32(n_retries);
        let pause_us = PAUSE_US_MIN + dice.finish() % (PAUSE_US_MAX - PAUSE_US_MIN);
        let pause = Duration::from_micros(pause_us).min(longest - waited);
        waited += pause;
        sleep(pause);
        true
    };
    conn.busy_handler(Some(retry))
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
mod tests;
