//! Heat: how much a node is used, as a function of what is stored and of the attended time.
//!
//! NodeRecord are a temperature and the reading of the memory clock it was taken at. That clock
//! counts milliseconds during which a server was up, so nothing cools over a weekend off, and a
//! tick rewrites one row rather than one per node. It runs faster or slower as the settings have
//! nodes cool faster or slower, [`Rates::cooling_ms`], so that a new rate acts from now on and
//! moves no temperature at once: a temperature always falls by [`DECAY_PER_HOUR`] of the clock's
//! hours.
//!
//! A node that cools is therefore on the one curve `exp((full_at - reading) / FADE_MS)`, shifted by
//! [`Heat::full_at`], and is below a line when `full_at` is less than [`cold_before`]: an index on
//! that one number finds what crossed any line. Warming never makes it less, so that what is noted
//! of it may be a bound.
//!
//! Every function is total: whatever is stored or asked, a temperature lies within [0, 1] and a
//! score is finite.

mod live_rates;
mod pace;
#[cfg(test)]
mod tests;

pub(crate) use live_rates::{LiveRates, WatchedRates};
pub(crate) use pace::{AttendedTime, TickPace};

/// Temperature of a node that is born.
pub(crate) const BIRTH: f64 = 0.5;

/// What being found by a search adds, as a share of what reading adds.
pub(crate) const GLANCE_SHARE: f64 = 0.2;

/// Share of its temperature that a node loses in an hour of the memory clock, continuously
/// compounded.
pub(crate) const DECAY_PER_HOUR: f64 = 0.05;

/// From here on a node is hot.
pub(crate) const HOT_MIN: f64 = 0.5;

/// Below this a node is cold.
pub(crate) const COLD_MAX: f64 = 0.1;

/// What the coldest node keeps of its relevance.
const SCORE_FLOOR: f64 = 0.3;

/// How long the memory clock takes to bring a temperature to its 2.718th part.
const FADE_MS: f64 = 3_600_000.0 / DECAY_PER_HOUR;

/// What one tick moves the memory clock by at most: after that, nothing is left of any
/// temperature, and no rate can bring the clock to its end.
const COOLING_MS_MAX: f64 = 1000.0 * FADE_MS;

/// How nodes warm and cool, as the settings say it now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    /// Whether nodes cool at all; reads warm them in any case.
    pub(crate) is_enabled: bool,
    /// Share of its temperature that a node loses in an hour, continuously compounded.
    pub(crate) decay_per_hour: f64,
    /// What reading a node with a tool adds.
    pub(crate) access_boost: f64,
    /// What a summarized node is warmed to.
    pub(crate) summarize_rebound: f64,
    /// Below this a node is cold.
    pub(crate) cold: f64,
    /// From here on a node is hot.
    pub(crate) hot: f64,
    /// Below this a cold node is announced.
    pub(crate) notify: f64,
    /// How often the memory clock is written.
    pub(crate) tick_ms: i64,
    /// How long an announced node is not announced again.
    pub(crate) notify_ttl_ms: i64,
    /// Nodes of one announcement.
    pub(crate) notify_max: u32,
}

/// What is called cold and hot; a node may be neither.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeatThresholds {
    /// Below this a node is cold.
    pub(crate) cold: f64,
    /// From here on a node is hot.
    pub(crate) hot: f64,
}

impl Default for HeatThresholds {
    fn default() -> HeatThresholds {
        HeatThresholds { cold: COLD_MAX, hot: HOT_MIN }
    }
}

impl Default for Rates {
    fn default() -> Rates {
        Rates {
            is_enabled: true,
            decay_per_hour: DECAY_PER_HOUR,
            access_boost: 0.15,
            summarize_rebound: BIRTH,
            cold: COLD_MAX,
            hot: HOT_MIN,
            notify: COLD_MAX,
            tick_ms: 5 * 60 * 1000,
            notify_ttl_ms: 60 * 60 * 1000,
            notify_max: 50,
        }
    }
}

impl Rates {
    /// What the memory clock moves by in `elapsed_ms`; nothing while nodes do not cool.
    pub(crate) fn cooling_ms(&self, elapsed_ms: i64) -> f64 {
        let speed = match self.is_enabled {
            true => self.decay_per_hour.max(0.0) / DECAY_PER_HOUR,
            false => 0.0,
        };
        let cooling_ms = elapsed_ms.max(0) as f64 * speed;
        // No time at an endless speed is no time.
        if cooling_ms.is_nan() { 0.0 } else { cooling_ms.min(COOLING_MS_MAX) }
    }

    /// What is called cold and hot.
    pub(crate) fn thresholds(&self) -> HeatThresholds {
        HeatThresholds { cold: self.cold, hot: self.hot }
    }

    /// Below this a node is announced.
    pub(crate) fn line(&self) -> f64 {
        self.cold.min(self.notify)
    }
}

/// A node's heat as it is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Heat {
    /// The temperature at `at`.
    pub temperature: f64,
    /// The reading of the memory clock, in attended milliseconds.
    pub at: i64,
    /// Whether the node is kept from cooling.
    pub pinned: bool,
}

impl Heat {
    /// The heat of a node that is born.
    pub(crate) fn birth(attended: i64) -> Heat {
        Heat { temperature: BIRTH, at: attended, pinned: false }
    }

    /// The temperature at a reading of the memory clock. A reading before `at`, which another
    /// process may have taken, cools nothing.
    pub(crate) fn now(self, attended: i64) -> f64 {
        let temperature = clamped(self.temperature);
        if self.pinned {
            return temperature;
        }
        let age_ms = attended.saturating_sub(self.at).max(0) as f64;
        temperature * (-age_ms / FADE_MS).exp()
    }

    /// The reading of the memory clock at which the node was as hot as can be, had it always
    /// cooled as it does.
    pub(crate) fn full_at(self) -> f64 {
        // Of nothing the logarithm is endlessly far in the past, which no column should hold.
        (self.at as f64 + clamped(self.temperature).ln() * FADE_MS).max(f64::MIN)
    }

    /// The heat after warming by `by`; a `by` that is not positive warms nothing. Never below what
    /// it would have been without, then or at any later time.
    pub(crate) fn warmed(self, by: f64, attended: i64) -> Heat {
        let temperature = clamped(self.now(attended) + by.max(0.0));
        Heat { temperature, at: self.at.max(attended), ..self }
    }

    /// The heat after somebody set the temperature.
    pub(crate) fn with_temperature(self, temperature: f64, attended: i64) -> Heat {
        Heat { temperature: clamped(temperature), at: self.at.max(attended), ..self }
    }

    /// The heat after being pinned or let go: the node stands, or goes on, where it is now.
    pub(crate) fn with_pin(self, pinned: bool, attended: i64) -> Heat {
        Heat { temperature: self.now(attended), at: self.at.max(attended), pinned }
    }
}

/// What [`Heat::full_at`] is less than when a node that is not pinned is colder than `line`.
pub(crate) fn cold_before(line: f64, attended: i64) -> f64 {
    (attended as f64 + clamped(line).ln() * FADE_MS).max(f64::MIN)
}

/// What ranks a result: `relevance × (0.3 + 0.7 × temperature)`. Irrelevant stays irrelevant, and
/// of two equally relevant nodes the warmer one never ranks lower.
pub(crate) fn score(relevance: f64, temperature: f64) -> f64 {
    // `max` takes the number where the other side is none, so that no NaN gets through.
    let relevance = relevance.max(0.0).clamp(0.0, f64::MAX);
    relevance * (SCORE_FLOOR + (1.0 - SCORE_FLOOR) * clamped(temperature))
}

/// A temperature within its bounds; what is no number says nothing, so it counts as newly born.
fn clamped(temperature: f64) -> f64 {
    if temperature.is_nan() { BIRTH } else { temperature.clamp(0.0, 1.0) }
}
