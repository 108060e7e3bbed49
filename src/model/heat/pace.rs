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
pub(crate) struct Elapsed {
    /// How long it was.
    pub(crate) real_ms: i64,
    /// What the memory clock moves by, if nobody else has moved it meanwhile.
    pub(crate) cooling_ms: f64,
}

impl Elapsed {
    /// What the memory clock moves by when it was last moved `since_ms` ago: servers that are up at
    /// the same time share the time between them, and none counts what another has counted.
    pub(crate) fn share_ms(self, since_ms: i64) -> i64 {
        let share = since_ms.clamp(0, self.real_ms) as f64 / self.real_ms.max(1) as f64;
        (self.cooling_ms * share) as i64
    }
}

/// The schedule of a server's ticks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The latest reading, in milliseconds.
    seen_ms: i64,
    owed: Elapsed,
}

impl Pace {
    /// Begins to count at this reading.
    pub(crate) fn new(reading_ms: i64) -> Pace {
        Pace { seen_ms: reading_ms, owed: Elapsed::default() }
    }

    /// Counts the time up to this reading, as the settings have it now.
    pub(crate) fn note(&mut self, reading_ms: i64, rates: &Rates) {
        let most = rates.tick_ms.max(0).saturating_add(LATE_MS_MAX);
        let passed = reading_ms.saturating_sub(self.seen_ms).clamp(0, most);
        self.seen_ms = reading_ms.max(self.seen_ms);
        self.owed.real_ms = self.owed.real_ms.saturating_add(passed);
        self.owed.cooling_ms += rates.cooling_ms(passed);
    }

    /// What is to be written, when it is time.
    pub(crate) fn due(&self, rates: &Rates) -> Option<Elapsed> {
        (rates.tick_ms <= self.owed.real_ms).then_some(self.owed)
    }

    /// What is to be written at the end, whenever that is.
    pub(crate) fn rest(&self) -> Option<Elapsed> {
        (0 < self.owed.real_ms).then_some(self.owed)
    }

    /// Notes that all of it was written.
    pub(crate) fn settle(&mut self) {
        self.owed = Elapsed::default();
    }

    /// How long until it is time.
    pub(crate) fn wait_ms(&self, rates: &Rates) -> i64 {
        rates.tick_ms.saturating_sub(self.owed.real_ms).max(0)
    }
}
