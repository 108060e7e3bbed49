//! The busy handler: waits a bounded time for another connection's write.
//!
//! SQLite's own handler pauses longer with each retry, so that among many writers the one that has
//! waited longest waits longer still. This one draws every pause at random from one range, so that
//! all writers retry equally often and at different times.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::mem;
use std::time::Duration;

use rusqlite::Connection;

use super::{ErrorContext, StoreError};

/// Longest wait for other connections where a caller needs an answer: less than clients wait for a
/// tool.
pub(crate) const LONG: Duration = Duration::from_secs(10);

/// Shortest pause between two tries.
const PAUSE_US_MIN: u64 = 500;

/// Longest pause between two tries; most writes take about as long.
const PAUSE_US_MAX: u64 = 4_500;

/// Wait of each of several attempts.
pub(super) const ATTEMPT: Duration = Duration::from_millis(250);

/// Part of the longest wait that is left to a caller that has waited all of it elsewhere.
const LEFT_PARTS: u32 = 10;

/// The most of that part: many callers give up one after the other.
const LEFT_MAX: Duration = Duration::from_millis(100);

/// Pause after a failed attempt, which may have failed at once.
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(20);

/// Longest pause between attempts of processes that are in each other's way.
const RIVALS_PAUSE_US_MAX: u64 = 80_000;

/// Makes the connection wait for others up to `longest`, in pauses.
pub(crate) fn set_busy_timeout(conn: &mut Connection, longest: Duration) -> Result<(), StoreError> {
    wait_while(conn, longest, || Duration::ZERO, || true).doing("set the waiting time")
}

/// Makes the connection wait up to `longest`, while `is_worth` returns true.
///
/// Where the wait before this one was in vain, what the caller waited for elsewhere meanwhile, as
/// `queued` returns it, is a part of its own: callers that queue behind each other would otherwise
/// give up one after the other.
pub(super) fn wait_while(
    conn: &mut Connection,
    longest: Duration,
    queued: impl Fn() -> Duration + Send + 'static,
    is_worth: impl Fn() -> bool + Send + 'static,
) -> rusqlite::Result<()> {
    let (mut waited, mut was_in_vain) = (Duration::ZERO, false);
    let mut dice = RandomState::new().build_hasher();
    let retry = move |n_retries: i32| {
        if n_retries == 0 {
            waited = match mem::take(&mut was_in_vain) {
                true => queued().min(longest - LEFT_MAX.min(longest / LEFT_PARTS)),
                false => Duration::ZERO,
            };
        }
        was_in_vain = longest <= waited;
        if was_in_vain || !is_worth() {
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

/// Repeats an attempt for up to `longest`, and returns whether one succeeded.
///
/// For steps that SQLite refuses at once when another connection is in the way. Each attempt waits
/// for up to [`ATTEMPT`] by itself.
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

/// Repeats an attempt with pauses of together `longest`, and returns whether one succeeded.
///
/// For attempts in which processes are in each other's way. Each pauses at random, and far longer
/// than an attempt takes, so that now and then all others pause.
pub(super) fn try_at_random(longest: Duration, mut attempt: impl FnMut() -> bool) -> bool {
    let mut dice = RandomState::new().build_hasher();
    let mut waited = Duration::ZERO;
    while !attempt() {
        if longest <= waited {
            return false;
        }
        dice.write_u8(0);
        let pause_us = PAUSE_US_MIN + dice.finish() % (RIVALS_PAUSE_US_MAX - PAUSE_US_MIN);
        let pause = Duration::from_micros(pause_us);
        waited += pause;
        sleep(pause);
    }
    true
}

/// Pauses until every connection that waits for a write has tried again.
pub(super) fn pause() {
    sleep(Duration::from_micros(PAUSE_US_MAX));
}

#[expect(clippy::disallowed_methods, reason = "SQLite gives no channel to wait on")]
fn sleep(pause: Duration) {
    std::thread::sleep(pause);
}

#[cfg(test)]
mod tests;
