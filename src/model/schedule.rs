//! When something that is done again and again is next due: a value that is told the time.
//!
//! A schedule is due at once when it is new, and from then on one interval after each time was done
//! with, so that work that takes long never follows on its own heels. The clock may step: forward,
//! and one time is due, not the many that were missed; backward, and the next is due one interval
//! from then.
//!
//! A [`Debounce`] decides when others are told of what changes: at once after quiet, and at a
//! steady pace while changes go on.

use crate::model::clock::Millis;

#[cfg(test)]
mod tests;

/// A shorter interval counts as this, whatever somebody configured.
const INTERVAL_MS_MIN: i64 = 10;

/// How long one who waits sleeps at most, since the interval may be changed meanwhile.
const SLEEP_MS_MAX: i64 = 30_000;

/// What is next due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// `None` while it is paused.
    interval_ms: Option<i64>,
    /// When the last time was done with; `None` before the first.
    last: Option<Millis>,
    /// An earlier time than the interval says, once.
    sooner_ms: Option<i64>,
    /// How long the last time took: rest at least as long.
    took_ms: i64,
}

impl Schedule {
    /// A schedule that is due at once.
    pub(crate) fn every(interval_ms: i64) -> Schedule {
        let interval_ms = Some(interval_ms.max(INTERVAL_MS_MIN));
        Schedule { interval_ms, last: None, sooner_ms: None, took_ms: 0 }
    }

    /// Changes the interval, counted from the last time; `None` pauses.
    pub(crate) fn set(&mut self, interval_ms: Option<i64>) {
        self.interval_ms = interval_ms.map(|it| it.max(INTERVAL_MS_MIN));
    }

    /// Whether it is time.
    pub(crate) fn is_due(&mut self, now: Millis) -> bool {
        self.left_ms(now) == Some(0)
    }

    /// How long to sleep before asking again.
    pub(crate) fn sleep_ms(&mut self, now: Millis) -> i64 {
        self.left_ms(now).unwrap_or(SLEEP_MS_MAX).min(SLEEP_MS_MAX)
    }

    /// Notes that it was done.
    pub(crate) fn done(&mut self, began: Millis, ended: Millis) {
        self.took_ms = ended.since(began);
        self.last = Some(ended);
        self.sooner_ms = None;
    }

    /// Makes the next time due this long after the last, if the interval is longer.
    pub(crate) fn sooner(&mut self, after_ms: i64) {
        self.sooner_ms = Some(after_ms.max(INTERVAL_MS_MIN));
    }

    /// Milliseconds until it is due; `None` while it is paused.
    fn left_ms(&mut self, now: Millis) -> Option<i64> {
        let interval_ms = self.interval_ms?;
        let Some(last) = self.last else { return Some(0) };
        // The clock stepped back: count from here.
        let last = last.min(now);
        self.last = Some(last);
        let interval_ms = self.sooner_ms.map_or(interval_ms, |it| it.min(interval_ms));
        Some(interval_ms.max(self.took_ms).saturating_sub(now.since(last)).max(0))
    }
}

/// When one is told of changes: at once of the first after quiet, then once a window while they go
/// on, and once after the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Debounce {
    /// When somebody was told last; `None` before the first time.
    last_fired: Option<Millis>,
    /// Something changed since.
    is_pending: bool,
}

impl Debounce {
    /// Something changed.
    pub(crate) fn note(&mut self) {
        self.is_pending = true;
    }

    /// Whether to tell now, which then counts as done.
    pub(crate) fn fire(&mut self, now: Millis, window_ms: i64) -> bool {
        let is_time = self.left_ms(now, window_ms) == Some(0);
        if is_time {
            *self = Debounce { last_fired: Some(now), is_pending: false };
        }
        is_time
    }

    /// Milliseconds until there is something to tell; `None` when nothing changed.
    pub(crate) fn left_ms(&mut self, now: Millis, window_ms: i64) -> Option<i64> {
        // The clock stepped back: count from here.
        self.last_fired = self.last_fired.map(|it| it.min(now));
        let quiet_ms = self.last_fired.map_or(i64::MAX, |it| now.since(it));
        self.is_pending.then(|| window_ms.saturating_sub(quiet_ms).max(0))
    }
}
