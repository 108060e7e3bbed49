//! Heat: reads warm nodes, attended time cools them, and cold nodes are offered for notification.

use super::{Error, Memory};
use crate::model::heat::{HeatParameters, PendingAttendedTime, SEARCH_HIT_SHARE};
use crate::query::AccessKind;
use crate::store::{ColdNodesOffer, HeatIncrement, NodeRowId};

impl Memory {
    /// Counts attended time, such as that of a session: nodes that were not read cool by it.
    /// Processes that count the same time count it once.
    ///
    /// # Errors
    ///
    /// The database failed.
    pub fn attend(&self, elapsed_ms: i64) -> Result<(), Error> {
        let real_ms = elapsed_ms.max(0);
        let cooling_ms = self.rates().cooling_ms(real_ms);
        self.settle(PendingAttendedTime { real_ms, cooling_ms })
    }

    /// Returns the rates of warming and cooling.
    pub(crate) fn rates(&self) -> HeatParameters {
        self.rates.get()
    }

    /// Sets the rates of warming and cooling.
    pub(crate) fn set_rates(&self, rates: HeatParameters) {
        self.rates.set(rates);
    }

    /// Cools nodes by the elapsed time; returns whether it was written. Another process that
    /// writes may prevent that.
    pub(crate) fn tick(&self, elapsed: PendingAttendedTime) -> Result<bool, Error> {
        Ok(self.heat_writer.tick(elapsed, self.clock.now())?)
    }

    /// Runs the last tick: waits a little for other writers, and writes everything pending.
    pub(crate) fn settle(&self, elapsed: PendingAttendedTime) -> Result<(), Error> {
        Ok(self.heat_writer.settle(elapsed, self.clock.now())?)
    }

    /// Returns whether it is time to look for cold nodes; costs nothing.
    pub(crate) fn may_have_cold_nodes(&self) -> bool {
        self.heat_writer.may_have_cold_nodes()
    }

    /// Returns cold nodes without a notification; `None` when there are none, or it is too early.
    pub(crate) fn cold_nodes(&self) -> Result<Option<ColdNodesOffer>, Error> {
        Ok(self.heat_writer.offer_cold_nodes(&self.rates(), self.clock.now())?)
    }

    /// Warms the nodes that an answer showed; nothing else does.
    pub(super) fn warm(&self, shown: &[(NodeRowId, AccessKind)]) {
        let (rates, at) = (self.rates(), self.clock.now());
        let by = |rank: u32, attention| match attention {
            AccessKind::Listed => rates.access_boost * SEARCH_HIT_SHARE / f64::from(rank),
            AccessKind::Read => rates.access_boost,
        };
        let warmth: Vec<HeatIncrement> = (1..)
            .zip(shown)
            .map(|(rank, &(node, attention))| HeatIncrement { node, by: by(rank, attention), at })
            .collect();
        if let Err(error) = self.heat_writer.warm(&warmth) {
            // The answer is valid all the same.
            log::warn!("nodes were not warmed: {error}");
        }
    }
}

#[cfg(test)]
mod tests;
