//! Decides when the memory clock is written, and by how much it has moved since.
//!
//! It takes the readings of a clock that runs only while the machine does. After a jump, such as a
//! suspend that was counted after all, little more than one tick counts.

use super::HeatParameters;

/// Milliseconds beyond one interval that may pass between two readings and still count.
const LATE_MS_MAX: i64 = 10_000;

/// Attended time that has not been written yet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PendingAttendedTime {
    /// Attended time in milliseconds.
    pub(crate) real_ms: i64,
    /// Milliseconds to move the memory clock by, unless another server has moved it meanwhile.
    pub(crate) cooling_ms: f64,
}

impl PendingAttendedTime {
    /// Returns the share of this time that is not yet counted, when the clock moved `since_ms` ago.
    /// Servers that are up at the same time share the time, and none counts it twice.
    pub(crate) fn uncounted_ms(self, since_ms: i64) -> i64 {
        let share = since_ms.clamp(0, self.real_ms) as f64 / self.real_ms.max(1) as f64;
        (self.cooling_ms * share) as i64
    }
}

/// The schedule of a server's ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryClockSchedule {
    /// The latest reading, in milliseconds.
    seen_ms: i64,
    unwritten: PendingAttendedTime,
}

impl MemoryClockSchedule {
    /// Begins to count at this reading.
    pub(crate) fn new(reading_ms: i64) -> MemoryClockSchedule {
        MemoryClockSchedule { seen_ms: reading_ms, unwritten: PendingAttendedTime::default() }
    }

    /// Adds the time up to this reading, at the present rates.
    pub(crate) fn note(&mut self, reading_ms: i64, rates: &HeatParameters) {
        let most = rates.tick_ms.max(0).saturating_add(LATE_MS_MAX);
        let passed = reading_ms.saturating_sub(self.seen_ms).clamp(0, most);
        self.seen_ms = reading_ms.max(self.seen_ms);
        self.unwritten.real_ms = self.unwritten.real_ms.saturating_add(passed);
        self.unwritten.cooling_ms += rates.cooling_ms(passed);
    }

    /// Returns the time to write, once an interval is full.
    pub(crate) fn due(&self, rates: &HeatParameters) -> Option<PendingAttendedTime> {
        (rates.tick_ms <= self.unwritten.real_ms).then_some(self.unwritten)
    }

    /// Returns the time to write at shutdown.
    pub(crate) fn rest(&self) -> Option<PendingAttendedTime> {
        (0 < self.unwritten.real_ms).then_some(self.unwritten)
    }

    /// Resets the time after it was written.
    pub(crate) fn settle(&mut self) {
        self.unwritten = PendingAttendedTime::default();
    }

    /// Returns the milliseconds until the next write.
    pub(crate) fn wait_ms(&self, rates: &HeatParameters) -> i64 {
        rates.tick_ms.saturating_sub(self.unwritten.real_ms).max(0)
    }
}
