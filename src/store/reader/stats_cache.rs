//! Sums over the whole memory, kept between questions.
//!
//! Counting reads every node. What was counted at one snapshot holds at a later one plus what the
//! history says changed in between, so a later question reads the changes alone. A snapshot whose
//! fingerprint is another one now, one that is gone, and repairs, have everything counted anew.
//!
//! Temperatures cool by themselves and are warmed by each read. They are exact while there are few;
//! of many, the figures are up to [`TEMPERATURES_MS`] old.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension, Row};

use super::heat_file_and_change_sum_cache::BrowseCache;
use super::stats::TemperatureStats;
use super::{ChangeDetectionCounters, Reader, unsigned};
use crate::model::clock::UnixMillis;
use crate::model::heat::HeatThresholds;
use crate::store::record::read_type;
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Changes since a snapshot that are read; beyond, everything is counted anew.
const CHANGES_MAX: i64 = 20_000;

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
    nodes: Option<NodeSums>,
    references: Option<(ReferenceCacheKey, ReferenceSums)>,
    /// The number of snapshots, by the newest and the oldest.
    snapshots: Option<((i64, i64), u64)>,
    temperatures: Option<(ChangeDetectionCounters, UnixMillis, TemperatureStats)>,
}

/// Sums over the nodes at a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NodeSums {
    head: i64,
    /// Fingerprint of the snapshot; `None` before the first one.
    cursor_hash: Option<String>,
    /// Counter of what changes sums without a snapshot.
    views: i64,
    /// Nodes and tokens of each type, by name.
    pub(crate) by_type: BTreeMap<String, (u64, u64)>,
    /// Rows in the full-text index.
    pub(crate) n_index_rows: u64,
}

impl NodeSums {
    pub(crate) fn n_nodes(&self) -> u64 {
        self.by_type.values().map(|(n, _)| n).sum()
    }

    fn add(&mut self, side: Option<(String, u64)>) {
        if let Some((node_type, tokens)) = side {
            let sums = self.by_type.entry(node_type).or_default();
            *sums = (sums.0 + 1, sums.1.saturating_add(tokens));
            self.n_index_rows += 1;
        }
    }

    /// Subtracts a node; returns whether it can have been there.
    fn subtract(&mut self, side: Option<(String, u64)>) -> bool {
        let Some((node_type, tokens)) = side else { return true };
        let Some(sums) = self.by_type.get_mut(&node_type) else { return false };
        let (Some(n), Some(rest), Some(n_index_rows)) =
            (sums.0.checked_sub(1), sums.1.checked_sub(tokens), self.n_index_rows.checked_sub(1))
        else {
            return false;
        };
        *sums = (n, rest);
        self.n_index_rows = n_index_rows;
        if n == 0 {
            self.by_type.remove(&node_type);
        }
        true
    }
}

/// The counters that change with references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ReferenceCacheKey {
    head: i64,
    edges: i64,
    files: i64,
    views: i64,
}

/// Numbers of references.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReferenceSums {
    /// Resolved references of texts.
    pub(crate) n_parsed: u64,
    /// Resolved manual references.
    pub(crate) n_manual: u64,
    pub(crate) n_pending: u64,
}

impl SumCache {
    fn known(&self) -> CachedTotals {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, note: impl FnOnce(&mut CachedTotals)) {
        note(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// A change since the known snapshot: the side before it, and the present one.
type NodeTokensBeforeAfter = (Option<(String, u64)>, Option<(String, u64)>);

impl Reader {
    /// Returns the sums over the nodes of the state that `counters` is of.
    pub(super) fn node_sums(
        &self,
        counters: &ChangeDetectionCounters,
    ) -> Result<NodeSums, StoreError> {
        let sums = match self.sums.known().nodes {
            Some(known) => match self.updated(known, counters)? {
                Some(sums) => sums,
                None => self.counted(counters)?,
            },
            None => self.counted(counters)?,
        };
        self.sums.note(|it| it.nodes = Some(sums.clone()));
        Ok(sums)
    }

    /// Returns known sums with the changes since; `None` where these are not known or too many.
    fn updated(
        &self,
        mut sums: NodeSums,
        counters: &ChangeDetectionCounters,
    ) -> Result<Option<NodeSums>, StoreError> {
        const CHANGED: &str = "
            SELECT change.op = 'add', change.old_type, change.old_tokens,
                   node.node_type, node.token_count
              FROM diff AS change
              LEFT JOIN node ON node.id = change.node_id
             WHERE change.snapshot > ?1
               AND NOT EXISTS (
                   SELECT 1
                     FROM diff AS earlier
                    WHERE earlier.node_id = change.node_id
                      AND earlier.snapshot > ?1
                      AND (earlier.snapshot, earlier.seq) < (change.snapshot, change.seq))
             LIMIT ?2";
        let is_same_past = sums.head <= counters.head
            && sums.views == counters.views
            && sums.cursor_hash.is_some()
            && self.cursor_hash(sums.head)? == sums.cursor_hash;
        if !is_same_past {
            return Ok(None);
        }
        if sums.head == counters.head {
            return Ok(Some(sums));
        }
        let read = |row: &Row<'_>| -> rusqlite::Result<NodeTokensBeforeAfter> {
            let before = if row.get(0)? { None } else { Some((row.get(1)?, unsigned(row, 2)?)) };
            let now = match row.get_ref(3)? {
                ValueRef::Null => None,
                _ => Some((read_type(row, 3)?, unsigned(row, 4)?)),
            };
            Ok((before, now))
        };
        let doing = "read the changes since a count";
        let changes = self.all(CHANGED, [sums.head, CHANGES_MAX], read);
        // A repaired history may lack what an old side was.
        let Ok(changes) = changes.doing(doing) else { return Ok(None) };
        if CHANGES_MAX <= changes.len() as i64 {
            return Ok(None);
        }
        for (before, now) in changes {
            sums.add(now);
            if !sums.subtract(before) {
                return Ok(None);
            }
        }
        sums.head = counters.head;
        sums.cursor_hash = self.cursor_hash(counters.head)?;
        Ok(Some(sums))
    }

    fn counted(&self, counters: &ChangeDetectionCounters) -> Result<NodeSums, StoreError> {
        const BY_TYPE: &str = "
            SELECT node_type, count(*), sum(token_count)
              FROM node
             GROUP BY node_type";
        // The index's own list of documents: counting the index itself would count `node`.
        const INDEX_ROWS: &str = "SELECT count(*) FROM node_fts_docsize";
        let read = |row: &Row<'_>| Ok((read_type(row, 0)?, (unsigned(row, 1)?, unsigned(row, 2)?)));
        Ok(NodeSums {
            head: counters.head,
            cursor_hash: self.cursor_hash(counters.head)?,
            views: counters.views,
            by_type: self.all(BY_TYPE, [], read).doing("count nodes")?.into_iter().collect(),
            n_index_rows: self.number(INDEX_ROWS)?,
        })
    }

    fn cursor_hash(&self, snapshot: i64) -> Result<Option<String>, StoreError> {
        const HASH: &str = "SELECT cursor_hash FROM snapshot WHERE id = ?1";
        let read = |row: &Row<'_>| row.get(0);
        self.conn
            .prepared(HASH, "read a snapshot")?
            .query_row([snapshot], read)
            .optional()
            .doing("read a snapshot")
    }

    pub(super) fn reference_sums(
        &self,
        counters: &ChangeDetectionCounters,
    ) -> Result<ReferenceSums, StoreError> {
        const COUNTS: &str = "
            SELECT count(*) FILTER (WHERE target IS NOT NULL AND origin = 'parsed'),
                   count(*) FILTER (WHERE target IS NOT NULL AND origin = 'manual'),
                   count(*) FILTER (WHERE target IS NULL)
              FROM reference";
        let &ChangeDetectionCounters { head, edges, files, views, .. } = counters;
        let key = ReferenceCacheKey { head, edges, files, views };
        if let Some((known, sums)) = self.sums.known().references
            && known == key
        {
            return Ok(sums);
        }
        let read = |row: &Row<'_>| {
            Ok(ReferenceSums {
                n_parsed: unsigned(row, 0)?,
                n_manual: unsigned(row, 1)?,
                n_pending: unsigned(row, 2)?,
            })
        };
        let sums = self.conn.row(COUNTS, [], read, "count references")?;
        self.sums.note(|it| it.references = Some((key, sums)));
        Ok(sums)
    }

    pub(super) fn n_snapshots(
        &self,
        counters: &ChangeDetectionCounters,
    ) -> Result<u64, StoreError> {
        const SNAPSHOTS: &str = "SELECT count(*) FROM snapshot";
        let key = (counters.head, counters.oldest);
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

#[cfg(test)]
mod tests;
