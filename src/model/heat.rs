//! Heat: how much a node is used, as a function of its stored state and the attended time.
//!
//! A node stores a temperature and the reading of the memory clock at which it held. That clock
//! counts the milliseconds during which a server was up, so nothing cools over a weekend off, and a
//! tick writes one row rather than one per node. The rate of cooling in the settings scales the
//! clock ([`HeatParameters::cooling_ms`]): a new rate acts from now on and moves no temperature at
//! once, since a temperature always falls by [`DECAY_PER_HOUR`] per hour of the clock.
//!
//! A node that cools is therefore on the one curve `exp((full_at - reading) / TIME_CONSTANT_MS)`,
//! shifted by [`StoredHeat::full_at`], and is below a threshold when `full_at` is less than
//! [`cold_before`]: an index on that one number finds the nodes that crossed any threshold. Warming
//! never lowers `full_at`, so a stored value may be a lower bound.
//!
//! Every function is total: for any input, a temperature lies within [0, 1] and a score is finite.

mod live_rates_handle;
mod memory_clock_schedule;
#[cfg(test)]
mod tests;

pub(crate) use live_rates_handle::{LiveRates, LiveRatesReader};
pub(crate) use memory_clock_schedule::{MemoryClockSchedule, PendingAttendedTime};

/// Temperature of a new node.
pub(crate) const BIRTH_TEMPERATURE: f64 = 0.5;

/// Share of the boost of a read that the best hit of a search gets; the n-th gets an n-th of it.
pub(crate) const SEARCH_HIT_SHARE: f64 = 0.1;

/// Share of its temperature that a node loses in an hour of the memory clock, continuously
/// compounded.
pub(crate) const DECAY_PER_HOUR: f64 = 0.05;

/// Temperature from which on a node is hot.
pub(crate) const HOT_MIN: f64 = 0.5;

/// Temperature below which a node is cold.
pub(crate) const COLD_MAX: f64 = 0.1;

/// Share of its relevance that the coldest node keeps.
const SCORE_FLOOR: f64 = 0.3;

/// Milliseconds of the memory clock in which a temperature falls to 1/e.
const TIME_CONSTANT_MS: f64 = 3_600_000.0 / DECAY_PER_HOUR;

/// Least [`StoredHeat::full_at`], that of the temperature 0: the least number that a memory holds.
const FULL_AT_MIN: f64 = -((1_i64 << 53) as f64);

/// Milliseconds that one tick moves the memory clock by, at most. After that, no temperature is
/// left, and no rate can overflow the clock.
const COOLING_MS_MAX: f64 = 1000.0 * TIME_CONSTANT_MS;

/// How nodes warm and cool, as currently configured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeatParameters {
    /// Whether nodes cool at all; reads warm them in any case.
    pub(crate) is_enabled: bool,
    /// Share of its temperature that a node loses in an hour, continuously compounded.
    pub(crate) decay_per_hour: f64,
    /// Temperature that a read with a tool adds.
    pub(crate) access_boost: f64,
    /// Temperature that a summarized node is warmed to.
    pub(crate) summarize_rebound: f64,
    /// Temperature below which a node is cold.
    pub(crate) cold: f64,
    /// Temperature from which on a node is hot.
    pub(crate) hot: f64,
    /// Temperature below which a cold node is announced.
    pub(crate) notify: f64,
    /// Milliseconds between writes of the memory clock.
    pub(crate) tick_ms: i64,
    /// Milliseconds during which an announced node is not announced again.
    pub(crate) notify_ttl_ms: i64,
    /// Maximum nodes of one announcement.
    pub(crate) notify_max: u32,
}

/// The thresholds of cold and hot; a node may be neither.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeatThresholds {
    /// Temperature below which a node is cold.
    pub(crate) cold: f64,
    /// Temperature from which on a node is hot.
    pub(crate) hot: f64,
}

impl Default for HeatThresholds {
    fn default() -> HeatThresholds {
        HeatThresholds { cold: COLD_MAX, hot: HOT_MIN }
    }
}

impl Default for HeatParameters {
    fn default() -> HeatParameters {
        HeatParameters {
            is_enabled: true,
            decay_per_hour: DECAY_PER_HOUR,
            access_boost: 0.15,
            summarize_rebound: BIRTH_TEMPERATURE,
            cold: COLD_MAX,
            hot: HOT_MIN,
            notify: COLD_MAX,
            tick_ms: 5 * 60 * 1000,
            notify_ttl_ms: 60 * 60 * 1000,
            notify_max: 50,
        }
    }
}

impl HeatParameters {
    /// Returns how far the memory clock moves in `elapsed_ms`; 0 while nodes do not cool.
    pub(crate) fn cooling_ms(&self, elapsed_ms: i64) -> f64 {
        let speed = match self.is_enabled {
            true => self.decay_per_hour.max(0.0) / DECAY_PER_HOUR,
            false => 0.0,
        };
        let cooling_ms = elapsed_ms.max(0) as f64 * speed;
        // Zero times infinity is taken for no time.
        if cooling_ms.is_nan() { 0.0 } else { cooling_ms.min(COOLING_MS_MAX) }
    }

    /// Returns the thresholds of cold and hot.
    pub(crate) fn thresholds(&self) -> HeatThresholds {
        HeatThresholds { cold: self.cold, hot: self.hot }
    }

    /// Returns the temperature below which a node is announced.
    pub(crate) fn line(&self) -> f64 {
        self.cold.min(self.notify)
    }
}

/// A node's heat as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StoredHeat {
    /// The temperature at `at`.
    pub temperature: f64,
    /// The reading of the memory clock, in attended milliseconds.
    pub at: i64,
    /// Whether the node is kept from cooling.
    pub pinned: bool,
}

impl StoredHeat {
    /// Returns the heat of a new node.
    pub(crate) fn birth(attended: i64) -> StoredHeat {
        StoredHeat { temperature: BIRTH_TEMPERATURE, at: attended, pinned: false }
    }

    /// Returns the temperature at a reading of the memory clock. A reading before `at`, which
    /// another process may have taken, cools nothing.
    pub(crate) fn now(self, attended: i64) -> f64 {
        let temperature = clamped(self.temperature);
        if self.pinned {
            return temperature;
        }
        let age_ms = attended.saturating_sub(self.at).max(0) as f64;
        temperature * (-age_ms / TIME_CONSTANT_MS).exp()
    }

    /// Returns the reading of the memory clock at which the curve of cooling would have been at 1.
    pub(crate) fn full_at(self) -> f64 {
        // The logarithm of 0 is minus infinity, which no column should hold.
        (self.at as f64 + clamped(self.temperature).ln() * TIME_CONSTANT_MS).max(FULL_AT_MIN)
    }

    /// Returns the heat after warming by `by`, of which only a positive value counts. The result is
    /// never colder than without warming, then or at any later time.
    pub(crate) fn warmed(self, by: f64, attended: i64) -> StoredHeat {
        let temperature = clamped(self.now(attended) + by.max(0.0));
        StoredHeat { temperature, at: self.at.max(attended), ..self }
    }

    /// Returns the heat with this temperature.
    pub(crate) fn with_temperature(self, temperature: f64, attended: i64) -> StoredHeat {
        StoredHeat { temperature: clamped(temperature), at: self.at.max(attended), ..self }
    }

    /// Returns the heat after pinning or unpinning, which keeps the present temperature.
    pub(crate) fn with_pin(self, pinned: bool, attended: i64) -> StoredHeat {
        StoredHeat { temperature: self.now(attended), at: self.at.max(attended), pinned }
    }
}

/// Returns the bound that [`StoredHeat::full_at`] is below when a node that is not pinned is colder
/// than `line`.
pub(crate) fn cold_before(line: f64, attended: i64) -> f64 {
    (attended as f64 + clamped(line).ln() * TIME_CONSTANT_MS).max(FULL_AT_MIN)
}

/// Returns the ranking score, `relevance × (0.3 + 0.7 × temperature)`. Irrelevant stays irrelevant,
/// and of two equally relevant nodes the warmer one never ranks lower.
pub(crate) fn score(relevance: f64, temperature: f64) -> f64 {
    // `max` prefers a number to NaN.
    let relevance = relevance.max(0.0).clamp(0.0, f64::MAX);
    relevance * (SCORE_FLOOR + (1.0 - SCORE_FLOOR) * clamped(temperature))
}

/// Clamps a temperature to its bounds; NaN counts as newly born.
fn clamped(temperature: f64) -> f64 {
    if temperature.is_nan() { BIRTH_TEMPERATURE } else { temperature.clamp(0.0, 1.0) }
}
