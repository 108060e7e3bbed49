//! Schedules: when a repeated task is next due, as a value that takes the time as an argument.
//!
//! A new schedule is due at once. After that it is due one interval after the last run ended, so
//! that long work never follows on its own heels. The clock may step: after a step forward one run
//! is due, not the many that were missed; after a step backward the next one is due one interval
//! from then.
//!
//! A [`NotificationThrottle`] spaces notifications of changes: at once after quiet, and at a steady
//! pace while changes go on.

use crate::model::clock::UnixMillis;

#[cfg(test)]
mod tests;

/// Minimum interval in milliseconds; a shorter one counts as this.
const INTERVAL_MS_MIN: i64 = 10;

/// Maximum milliseconds of one sleep, since the interval may change meanwhile.
const SLEEP_MS_MAX: i64 = 30_000;

/// The schedule of one repeated task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// `None` while it is paused.
    interval_ms: Option<i64>,
    /// The end of the last run; `None` before the first.
    last: Option<UnixMillis>,
    /// A shorter wait than the interval, once.
    sooner_ms: Option<i64>,
    /// Duration of the last run: rest at least as long.
    took_ms: i64,
}

impl Schedule {
    /// Returns a schedule that is due at once.
    pub(crate) fn every(interval_ms: i64) -> Schedule {
        let interval_ms = Some(interval_ms.max(INTERVAL_MS_MIN));
        Schedule { interval_ms, last: None, sooner_ms: None, took_ms: 0 }
    }

    /// Changes the interval, counted from the last run; `None` pauses.
    pub(crate) fn set(&mut self, interval_ms: Option<i64>) {
        self.interval_ms = interval_ms.map(|it| it.max(INTERVAL_MS_MIN));
    }

    /// Returns whether a run is due.
    pub(crate) fn is_due(&mut self, now: UnixMillis) -> bool {
        self.left_ms(now) == Some(0)
    }

    /// Returns the milliseconds to sleep before asking again.
    pub(crate) fn sleep_ms(&mut self, now: UnixMillis) -> i64 {
        self.left_ms(now).unwrap_or(SLEEP_MS_MAX).min(SLEEP_MS_MAX)
    }

    /// Records a run.
    pub(crate) fn done(&mut self, began: UnixMillis, ended: UnixMillis) {
        self.took_ms = ended.since(began);
        self.last = Some(ended);
        self.sooner_ms = None;
    }

    /// Makes the next run due this long after the last, if the interval is longer.
    pub(crate) fn shorten_next(&mut self, after_ms: i64) {
        self.sooner_ms = Some(after_ms.max(INTERVAL_MS_MIN));
    }

    /// Returns the milliseconds until the next run; `None` while paused.
    fn left_ms(&mut self, now: UnixMillis) -> Option<i64> {
        let interval_ms = self.interval_ms?;
        let Some(last) = self.last else { return Some(0) };
        // The clock stepped back: count from here.
        let last = last.min(now);
        self.last = Some(last);
        let interval_ms = self.sooner_ms.map_or(interval_ms, |it| it.min(interval_ms));
        Some(interval_ms.max(self.took_ms).saturating_sub(now.since(last)).max(0))
    }
}

/// Debounces notifications of changes. The first change after quiet fires at once, further ones
/// once a window, and the last one once more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NotificationThrottle {
    /// The last notification; `None` before the first.
    last_fired: Option<UnixMillis>,
    /// Whether something changed since.
    is_pending: bool,
}

impl NotificationThrottle {
    /// Records a change.
    pub(crate) fn note(&mut self) {
        self.is_pending = true;
    }

    /// Returns whether to notify now, and if so records it.
    pub(crate) fn fire(&mut self, now: UnixMillis, window_ms: i64) -> bool {
        let is_time = self.left_ms(now, window_ms) == Some(0);
        if is_time {
            *self = NotificationThrottle { last_fired: Some(now), is_pending: false };
        }
        is_time
    }

    /// Returns the milliseconds until the next notification; `None` when nothing changed.
    pub(crate) fn left_ms(&mut self, now: UnixMillis, window_ms: i64) -> Option<i64> {
        // The clock stepped back: count from here.
        self.last_fired = self.last_fired.map(|it| it.min(now));
        let quiet_ms = self.last_fired.map_or(i64::MAX, |it| now.since(it));
        self.is_pending.then(|| window_ms.saturating_sub(quiet_ms).max(0))
    }
}
