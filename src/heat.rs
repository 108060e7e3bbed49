//! Heat: how much a node is used, as a function of what is stored and of the attended time.
//!
//! Stored are a temperature and the reading of the memory clock it was taken at. That clock counts
//! attended milliseconds only, so nothing cools over a weekend off, and a tick rewrites one row
//! rather than one per node. Every function is total: whatever is stored or asked, a temperature
//! lies within [0, 1] and a score is finite.

#[cfg(test)]
mod tests;

/// Temperature of a node that is born.
pub(crate) const BIRTH: f64 = 0.5;

/// What reading a node with a tool adds.
pub(crate) const ACCESS_BOOST: f64 = 0.15;

/// What being found by a search adds.
pub(crate) const SEARCH_BOOST: f64 = 0.03;

/// Temperature of a node that was summarized, unless one is given.
pub(crate) const SUMMARIZE_REBOUND: f64 = 0.5;

/// Share of its temperature that a node loses per attended hour, continuously compounded.
pub(crate) const DECAY_PER_HOUR: f64 = 0.05;

/// From here on a node is hot.
pub(crate) const HOT_MIN: f64 = 0.5;

/// Below this a node is cold.
pub(crate) const COLD_MAX: f64 = 0.1;

/// What the coldest node keeps of its relevance.
const SCORE_FLOOR: f64 = 0.3;

const HOUR_MS: f64 = 3_600_000.0;

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
        let hours = attended.saturating_sub(self.at).max(0) as f64 / HOUR_MS;
        temperature * (-DECAY_PER_HOUR * hours).exp()
    }

    /// The heat after warming by `by`; a `by` that is not positive warms nothing. Never below what
    /// it would have been without, then or at any later time.
    pub(crate) fn warmed(self, by: f64, attended: i64) -> Heat {
        let temperature = clamped(self.now(attended) + by.max(0.0));
        Heat { temperature, at: self.at.max(attended), ..self }
    }
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
