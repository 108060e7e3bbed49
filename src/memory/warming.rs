//! What attention does to a memory: reads warm nodes, attended time cools them, and what went cold
//! is offered to whoever can tell a client.

use super::{Error, Memory};
use crate::model::heat::{AttendedTime, GLANCE_SHARE, Rates};
use crate::query::ViewKind;
use crate::store::{ColdOffer, HeatShare, NodeKey};

impl Memory {
    /// Counts time during which the memory was attended, such as that of a session: nodes that were
    /// not read cool by it. Callers of other processes that count the same time count it once.
    ///
    /// # Errors
    ///
    /// The database failed.
    pub fn attend(&self, elapsed_ms: i64) -> Result<(), Error> {
        let real_ms = elapsed_ms.max(0);
        let cooling_ms = self.rates().cooling_ms(real_ms);
        self.settle(AttendedTime { real_ms, cooling_ms })
    }

    /// How nodes warm and cool.
    pub(crate) fn rates(&self) -> Rates {
        self.rates.get()
    }

    /// Changes how nodes warm and cool from now on.
    pub(crate) fn set_rates(&self, rates: Rates) {
        self.rates.set(rates);
    }

    /// Lets nodes cool by the time that passed; whether it was written, which another process that
    /// writes may keep it from.
    pub(crate) fn tick(&self, elapsed: AttendedTime) -> Result<bool, Error> {
        Ok(self.heat_writer.tick(elapsed, self.clock.now())?)
    }

    /// The last tick: waits a little for others, and writes down what was not yet.
    pub(crate) fn settle(&self, elapsed: AttendedTime) -> Result<(), Error> {
        Ok(self.heat_writer.settle(elapsed, self.clock.now())?)
    }

    /// Whether it is time to look for cold nodes; costs nothing.
    pub(crate) fn may_have_cold_nodes(&self) -> bool {
        self.heat_writer.may_have_cold_nodes()
    }

    /// Cold nodes that no client was told of; `None` when there are none, or it is not yet time.
    pub(crate) fn cold_nodes(&self) -> Result<Option<ColdOffer>, Error> {
        Ok(self.heat_writer.offer_cold_nodes(&self.rates(), self.clock.now())?)
    }

    /// Warms what an answer showed: the one place that does.
    pub(super) fn warm(&self, shown: &[(NodeKey, ViewKind)]) {
        let (rates, at) = (self.rates(), self.clock.now());
        let by = |attention| match attention {
            ViewKind::Listed => rates.access_boost * GLANCE_SHARE,
            ViewKind::Read => rates.access_boost,
        };
        let warmth: Vec<HeatShare> = shown
            .iter()
            .map(|&(node, attention)| HeatShare { node, by: by(attention), at })
            .collect();
        if let Err(error) = self.heat_writer.warm(&warmth) {
            // The answer is right all the same.
            log::warn!("nodes were not warmed: {error}");
        }
    }
}

#[cfg(test)]
mod tests;
