//! When the memory clock is to be written, and by how much it moved since.
//!
//! Fed with the readings of a clock that only runs while the machine does. A reading that is far
//! from the one before it, as after a suspension that was counted after all, counts for little more
//! than one interval.

use super::Rates;

/// How much longer than an interval the time between two looks may be.
const LATE_MS_MAX: i64 = 10_000;

/// Attended time that has not been written yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AttendedTime {
    /// How long it was.
    pub(crate) real_ms: i64,
    /// What the memory clock moves by, if nobody else has moved it meanwhile.
    pub(crate) cooling_ms: f64,
}

impl AttendedTime {
    /// What the memory clock moves by when it was last moved `since_ms` ago: servers that are up at
    /// the same time share the time between them, and none counts what another has counted.
    pub(crate) fn share_ms(self, since_ms: i64) -> i64 {
        let share = since_ms.clamp(0, self.real_ms) as f64 / self.real_ms.max(1) as f64;
        (self.cooling_ms * share) as i64
    }
}

/// The schedule of a server's ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TickPace {
    /// The latest reading, in milliseconds.
    seen_ms: i64,
    unwritten: AttendedTime,
}

impl TickPace {
    /// Begins to count at this reading.
    pub(crate) fn new(reading_ms: i64) -> TickPace {
        TickPace { seen_ms: reading_ms, unwritten: AttendedTime::default() }
    }

    /// Counts the time up to this reading, as the settings have it now.
    pub(crate) fn note(&mut self, reading_ms: i64, rates: &Rates) {
        let most = rates.tick_ms.max(0).saturating_add(LATE_MS_MAX);
        let passed = reading_ms.saturating_sub(self.seen_ms).clamp(0, most);
        self.seen_ms = reading_ms.max(self.seen_ms);
        self.unwritten.real_ms = self.unwritten.real_ms.saturating_add(passed);
        self.unwritten.cooling_ms += rates.cooling_ms(passed);
    }

    /// What is to be written, when it is time.
    pub(crate) fn due(&self, rates: &Rates) -> Option<AttendedTime> {
        (rates.tick_ms <= self.unwritten.real_ms).then_some(self.unwritten)
    }

    /// What is to be written at the end, whenever that is.
    pub(crate) fn rest(&self) -> Option<AttendedTime> {
        (0 < self.unwritten.real_ms).then_some(self.unwritten)
    }

    /// Notes that all of it was written.
    pub(crate) fn settle(&mut self) {
        self.unwritten = AttendedTime::default();
    }

    /// How long until it is time.
    pub(crate) fn wait_ms(&self, rates: &Rates) -> i64 {
        rates.tick_ms.saturating_sub(self.unwritten.real_ms).max(0)
    }
}
