//! Time as a value: everything below the shell takes `now: Millis`, and only this file reads a
//! clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// A point in time, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub i64);

impl Millis {
    /// Milliseconds from `earlier` to `self`; never negative, since clocks may step back.
    pub fn since(self, earlier: Millis) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }
}

/// Where the shell gets the time from. Two variants are all there will ever be.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// A clock that stands still until somebody sets it, for tests.
    Manual(Arc<AtomicI64>),
}

impl Clock {
    /// A manual clock that shows `start`.
    pub fn manual(start: Millis) -> Clock {
        Clock::Manual(Arc::new(AtomicI64::new(start.0)))
    }

    /// The current time.
    #[expect(clippy::disallowed_methods, reason = "the only reader of the clock")]
    pub fn now(&self) -> Millis {
        match self {
            Clock::System => {
                let since_epoch = std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .unwrap_or_default();
                Millis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
            }
            Clock::Manual(at) => Millis(at.load(Ordering::Relaxed)),
        }
    }

    /// Begins to measure time that no correction of the clock shortens or stretches.
    #[expect(clippy::disallowed_methods, reason = "the only reader of the clock")]
    pub(crate) fn stopwatch(&self) -> Stopwatch {
        match self {
            Clock::System => Stopwatch::System(Instant::now()),
            Clock::Manual(at) => Stopwatch::Manual(Arc::clone(at), self.now()),
        }
    }

    /// Moves a manual clock forward; the machine's clock moves by itself.
    pub fn advance(&self, by_ms: i64) {
        match self {
            Clock::System => (),
            Clock::Manual(at) => {
                at.fetch_add(by_ms, Ordering::Relaxed);
            }
        }
    }
}

/// Time since a moment, as the machine counts it while it runs.
#[derive(Clone, Debug)]
pub(crate) enum Stopwatch {
    /// By the machine's steady clock.
    System(Instant),
    /// By a manual clock, since that time.
    Manual(Arc<AtomicI64>, Millis),
}

impl Stopwatch {
    /// Milliseconds since it began.
    pub(crate) fn elapsed_ms(&self) -> i64 {
        match self {
            Stopwatch::System(start) => {
                i64::try_from(start.elapsed().as_millis()).unwrap_or(i64::MAX)
            }
            Stopwatch::Manual(at, start) => Millis(at.load(Ordering::Relaxed)).since(*start),
        }
    }
}
