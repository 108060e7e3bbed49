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
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// The shortest pause between two looks.
const PAUSE_US_MIN: u64 = 500;

/// The longest one; most writes take about as long.
const PAUSE_US_MAX: u64 = 4_500;

/// Has the connection wait for others up to `longest`, in pauses.
pub(crate) fn wait_up_to(conn: &mut Connection, longest: Duration) -> Result<(), StoreError> {
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

#[expect(clippy::disallowed_methods, reason = "SQLite gives no channel to wait on")]
fn sleep(pause: Duration) {
    std::thread::sleep(pause);
}

#[cfg(test)]
mod tests;
