//! Sums over the whole memory that are kept between questions: the number of snapshots, and the
//! temperatures.
//!
//! Temperatures cool by themselves and are warmed by each read. They are exact while there are few;
//! of many, the figures are up to [`TEMPERATURES_MS`] old.

use std::sync::{Arc, Mutex, PoisonError};

use super::heat_file_and_change_sum_cache::BrowseCache;
use super::stats::TemperatureStats;
use super::{ChangeDetectionCounters, Reader};
use crate::model::clock::UnixMillis;
use crate::model::heat::HeatThresholds;
use crate::store::StoreError;

/// Nodes whose temperatures are read for each question.
const TEMPERATURES_MAX: u64 = 20_000;

/// Greatest age of the temperatures of more nodes.
const TEMPERATURES_MS: i64 = 60_000;

/// The sums that the readers of a memory share.
#[derive(Clone, Default)]
pub(crate) struct SumCache {
    known: Arc<Mutex<CachedTotals>>,
    /// Of pages for people.
    pub(super) browsed: BrowseCache,
}

#[derive(Clone, Default)]
struct CachedTotals {
    /// The number of snapshots, by the newest, the oldest, and what grows with a restore.
    snapshots: Option<((i64, i64, i64), u64)>,
    temperatures: Option<(ChangeDetectionCounters, UnixMillis, TemperatureStats)>,
}

impl SumCache {
    fn known(&self) -> CachedTotals {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, note: impl FnOnce(&mut CachedTotals)) {
        note(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Reader {
    pub(super) fn n_snapshots(
        &self,
        counters: &ChangeDetectionCounters,
    ) -> Result<u64, StoreError> {
        const SNAPSHOTS: &str = "SELECT count(*) FROM snapshot";
        let key = (counters.head, counters.oldest, counters.views);
        if let Some((known, n)) = self.sums.known().snapshots
            && known == key
        {
            return Ok(n);
        }
        let n = self.number(SNAPSHOTS)?;
        self.sums.note(|it| it.snapshots = Some((key, n)));
        Ok(n)
    }

    /// Returns the distribution of temperatures, which may be somewhat old.
    pub(super) fn recent_temperatures(
        &self,
        counters: &ChangeDetectionCounters,
        n_nodes: u64,
        lines: HeatThresholds,
        now: UnixMillis,
    ) -> Result<TemperatureStats, StoreError> {
        if let Some((known, at, temperatures)) = self.sums.known().temperatures
            && temperatures.lines == lines
        {
            let is_recent = at <= now && now.since(at) < TEMPERATURES_MS;
            if known == *counters || (TEMPERATURES_MAX < n_nodes && is_recent) {
                return Ok(temperatures);
            }
        }
        let temperatures = self.temperatures_of(lines, n_nodes)?;
        self.sums.note(|it| it.temperatures = Some((*counters, now, temperatures)));
        Ok(temperatures)
    }
}
