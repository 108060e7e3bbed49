//! Time as a value: everything below the shell takes `now: UnixMillis`, and only this file reads a
//! clock.

mod rfc3339;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Instant;

/// Milliseconds of a day.
pub(crate) const DAY_MS: i64 = 86_400_000;

/// A point in time, in milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMillis(pub i64);

impl UnixMillis {
    /// Returns the milliseconds from `earlier` to `self`; never negative, since clocks may step
    /// back.
    pub fn since(self, earlier: UnixMillis) -> i64 {
        self.0.saturating_sub(earlier.0).max(0)
    }

    /// Returns the time to the second as file names have it: `20261122T011749Z`.
    pub(crate) fn stamp(self) -> String {
        let [year, month, day, hour, minute, second] = self.parts();
        format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
    }

    /// Returns the time in RFC 3339, in UTC, with as many decimals as it needs:
    /// `2026-11-22T01:17:49.25Z`.
    pub(crate) fn rfc3339(self) -> String {
        let [year, month, day, hour, minute, second] = self.parts();
        // Digit by digit: a document of a thousand memories has three thousand times.
        let mut text = String::with_capacity("2026-11-22T01:17:49.250Z".len());
        match year {
            0..=9999 => push_digits(&mut text, year, 4),
            _ => text.push_str(&format!("{year:04}")),
        }
        for (mark, number) in [('-', month), ('-', day), ('T', hour), (':', minute), (':', second)]
        {
            text.push(mark);
            push_digits(&mut text, number, 2);
        }
        let fraction = self.0.rem_euclid(1000);
        if fraction != 0 {
            text.push('.');
            push_digits(&mut text, fraction, 3);
            text.truncate(text.trim_end_matches('0').len());
        }
        text.push('Z');
        text
    }

    /// Returns year, month, day, hour, minute and second.
    fn parts(self) -> [i64; 6] {
        let seconds = self.0.div_euclid(1000);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Days are counted in eras of 400 years that begin on the first of March, so that the leap
        // day comes last.
        let day = days + 719_468;
        let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        [year, month, day, second / 3600, second / 60 % 60, second % 60]
    }
}

/// Appends the last `n` digits of a number that is not negative.
fn push_digits(text: &mut String, number: i64, n: u32) {
    for place in (0..n).rev() {
        text.push(char::from(b'0' + (number / 10_i64.pow(place) % 10) as u8));
    }
}

/// The source of the current time. No third variant is planned.
#[derive(Clone, Debug)]
pub enum Clock {
    /// The machine's clock.
    System,
    /// A clock that moves only when it is set, for tests.
    Manual(Arc<ManualTime>),
}

/// The time of a manual clock.
#[derive(Debug)]
pub struct ManualTime {
    /// The time that the clock shows, in ms since the Unix epoch.
    shown: AtomicI64,
    /// Time that has passed, in ms. Setting the clock does not change it.
    passed: AtomicI64,
}

impl Clock {
    /// Returns a manual clock that shows `start`.
    pub fn manual(start: UnixMillis) -> Clock {
        let (shown, passed) = (AtomicI64::new(start.0), AtomicI64::new(0));
        Clock::Manual(Arc::new(ManualTime { shown, passed }))
    }

    /// Returns the current time.
    #[expect(clippy::disallowed_methods, reason = "the only reader of the clock")]
    pub fn now(&self) -> UnixMillis {
        match self {
            Clock::System => {
                let since_epoch = std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .unwrap_or_default();
                UnixMillis(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
            }
            Clock::Manual(time) => UnixMillis(time.shown.load(Ordering::Relaxed)),
        }
    }

    /// Starts a stopwatch, which no correction of the clock affects.
    #[expect(clippy::disallowed_methods, reason = "the only reader of the clock")]
    pub(crate) fn stopwatch(&self) -> Stopwatch {
        match self {
            Clock::System => Stopwatch::System(Instant::now()),
            Clock::Manual(time) => {
                Stopwatch::Manual(Arc::clone(time), time.passed.load(Ordering::Relaxed))
            }
        }
    }

    /// Moves a manual clock forward; the machine's clock moves by itself.
    pub fn advance(&self, by_ms: i64) {
        match self {
            Clock::System => (),
            Clock::Manual(time) => {
                time.shown.fetch_add(by_ms, Ordering::Relaxed);
                time.passed.fetch_add(by_ms, Ordering::Relaxed);
            }
        }
    }

    /// Sets a manual clock forward or back, in no time.
    #[cfg(test)]
    pub(crate) fn step(&self, by_ms: i64) {
        if let Clock::Manual(time) = self {
            time.shown.fetch_add(by_ms, Ordering::Relaxed);
        }
    }
}

/// Measures the time since it was started, while the machine runs.
#[derive(Clone, Debug)]
pub(crate) enum Stopwatch {
    /// The machine's monotonic clock.
    System(Instant),
    /// A manual clock, and the time that had passed at the start, in ms.
    Manual(Arc<ManualTime>, i64),
}

impl Stopwatch {
    /// Returns the milliseconds since the start.
    pub(crate) fn elapsed_ms(&self) -> i64 {
        match self {
            Stopwatch::System(start) => {
                i64::try_from(start.elapsed().as_millis()).unwrap_or(i64::MAX)
            }
            Stopwatch::Manual(time, start) => time.passed.load(Ordering::Relaxed) - start,
        }
    }
}

#[cfg(test)]
mod tests;
