//! Sums that pages for people show: temperatures, areas and numbers of changes, kept between
//! questions.
//!
//! They are exact while nodes are few; of many, those that change with each read are up to
//! [`AGE_MS_MAX`] old.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Row;

use super::{ChangeCounts, ChangeDetectionCounters, Reader, unsigned};
use crate::model::clock::UnixMillis;
use crate::model::heat::StoredHeat;
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError, heat_rows};

/// Nodes whose sums are counted for each question.
const EXACT_MAX: u64 = 20_000;

/// Greatest age of the sums of more nodes, in milliseconds.
const AGE_MS_MAX: i64 = 60_000;

/// Snapshots whose numbers of changes are kept.
const COUNTS_MAX: usize = 20_000;

/// Nodes listed as the warmest, and as the coldest.
pub(crate) const EXTREMES: usize = 20;

/// Ranges of temperature that are counted.
pub(crate) const BINS: usize = 20;

/// The sums that the readers of a memory share.
#[derive(Clone, Default)]
pub(super) struct BrowseCache(Arc<Mutex<BrowseSums>>);

#[derive(Default)]
struct BrowseSums {
    heat: Option<CachedSums<HeatDistribution>>,
    files: Option<CachedSums<Vec<FileSums>>>,
    /// Of a snapshot and its fingerprint.
    change_counts: HashMap<(i64, String), ChangeCounts>,
}

/// Sums with the state that they are of.
struct CachedSums<T> {
    counters: ChangeDetectionCounters,
    at: UnixMillis,
    n_nodes: u64,
    sums: Arc<T>,
}

impl<T> CachedSums<T> {
    /// Returns the sums, if they still hold.
    fn known(&self, counters: &ChangeDetectionCounters, now: UnixMillis) -> Option<Arc<T>> {
        let is_recent = self.at <= now && now.since(self.at) < AGE_MS_MAX;
        let holds = self.counters == *counters || EXACT_MAX < self.n_nodes && is_recent;
        holds.then(|| Arc::clone(&self.sums))
    }
}

/// The temperatures of all nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HeatDistribution {
    pub(crate) n_nodes: u64,
    /// Nodes by temperature, from 0 to 1 in equal ranges; the last includes 1.
    pub(crate) bins: [u64; BINS],
    /// Nodes that a tool returned.
    pub(crate) n_read: u64,
    pub(crate) n_pinned: u64,
    /// Nodes below the threshold of cold ones.
    pub(crate) n_cold: u64,
    pub(crate) warmest: Vec<NodeRowId>,
    pub(crate) coldest: Vec<NodeRowId>,
}

/// Sums over the nodes of a file, or over those without one.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileSums {
    /// Path relative to the root; empty for nodes without a file.
    pub(crate) path: String,
    pub(crate) n_nodes: u64,
    pub(crate) tokens: u64,
    /// Sum of the temperatures.
    pub(crate) warmth: f64,
    /// Nodes that a tool returned.
    pub(crate) n_read: u64,
}

impl BrowseCache {
    fn with<T>(&self, ask: impl FnOnce(&mut BrowseSums) -> T) -> T {
        ask(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Reader {
    /// Returns the distribution of temperatures; `cold` is the threshold below which nodes are.
    pub(crate) fn heat_sums(
        &self,
        cold: f64,
        now: UnixMillis,
    ) -> Result<Arc<HeatDistribution>, StoreError> {
        let counters = self.change_counters()?;
        let known = |it: &mut BrowseSums| it.heat.as_ref()?.known(&counters, now);
        if let Some(sums) = self.browse_sums().with(known) {
            return Ok(sums);
        }
        let sums = Arc::new(self.count_heat(cold)?);
        let (n_nodes, kept) = (sums.n_nodes, Arc::clone(&sums));
        let dated = CachedSums { counters, at: now, n_nodes, sums: kept };
        self.browse_sums().with(|it| it.heat = Some(dated));
        Ok(sums)
    }

    fn count_heat(&self, cold: f64) -> Result<HeatDistribution, StoreError> {
        const HEATS: &str = "SELECT temperature, at, pinned, access_count, node FROM heat";
        const UNTOUCHED: &str = "
            SELECT key FROM node WHERE key NOT IN (SELECT node FROM heat) LIMIT ?1";
        let attended = self.attended()?;
        let read = |row: &Row<'_>| {
            let heat: StoredHeat = heat_rows::read_heat(row, 0)?;
            let facts = (heat.pinned, 0 < unsigned(row, 3)?);
            Ok((heat.now(attended), NodeRowId(row.get(4)?), facts))
        };
        let rows: Vec<(f64, NodeRowId, (bool, bool))> =
            self.all(HEATS, [], read).doing("read the temperatures")?;
        let mut sums = HeatDistribution {
            n_nodes: self.running_totals()?.n_nodes(),
            ..HeatDistribution::default()
        };
        for &(temperature, _, (is_pinned, is_read)) in &rows {
            sums.bins[bin(temperature)] += 1;
            sums.n_pinned += u64::from(is_pinned);
            sums.n_read += u64::from(is_read);
            sums.n_cold += u64::from(temperature < cold);
        }
        let untouched = heat_rows::untouched().now(attended);
        let n_untouched = sums.n_nodes.saturating_sub(rows.len() as u64);
        sums.bins[bin(untouched)] += n_untouched;
        sums.n_cold += if untouched < cold { n_untouched } else { 0 };
        let mut ranked: Vec<(f64, NodeRowId)> = rows.iter().map(|it| (it.0, it.1)).collect();
        let some: Vec<NodeRowId> = self
            .all(UNTOUCHED, [EXTREMES as i64], |row| Ok(NodeRowId(row.get(0)?)))
            .doing("list nodes")?;
        ranked.extend(some.into_iter().map(|key| (untouched, key)));
        sums.coldest = least(&mut ranked, |it| it);
        sums.warmest = least(&mut ranked, |it| -it);
        Ok(sums)
    }

    /// Returns the sums over the nodes of each file, and of those without one.
    pub(crate) fn file_sums(&self, now: UnixMillis) -> Result<Arc<Vec<FileSums>>, StoreError> {
        let counters = self.change_counters()?;
        let known = |it: &mut BrowseSums| it.files.as_ref()?.known(&counters, now);
        if let Some(sums) = self.browse_sums().with(known) {
            return Ok(sums);
        }
        let sums = Arc::new(self.count_files()?);
        let n_nodes = sums.iter().map(|it| it.n_nodes).sum();
        let dated = CachedSums { counters, at: now, n_nodes, sums: Arc::clone(&sums) };
        self.browse_sums().with(|it| it.files = Some(dated));
        Ok(sums)
    }

    fn count_files(&self) -> Result<Vec<FileSums>, StoreError> {
        const FILES: &str = "
            SELECT ifnull(of.file, 0), ifnull(file.path, ''), of.n, of.tokens
              FROM (SELECT file, count(*) AS n, sum(token_count) AS tokens
                      FROM node
                     GROUP BY file) AS of
              LEFT JOIN file ON file.id = of.file";
        const HEATS: &str = "
            SELECT ifnull(node.file, 0), heat.temperature, heat.at, heat.pinned, heat.access_count
              FROM heat
              JOIN node ON node.key = heat.node";
        let attended = self.attended()?;
        let read = |row: &Row<'_>| {
            let (n_nodes, tokens) = (unsigned(row, 2)?, unsigned(row, 3)?);
            let path = row.get(1)?;
            Ok((row.get(0)?, FileSums { path, n_nodes, tokens, ..FileSums::default() }))
        };
        let mut files: BTreeMap<i64, FileSums> =
            self.all(FILES, [], read).doing("count nodes")?.into_iter().collect();
        let untouched = heat_rows::untouched().now(attended);
        for file in files.values_mut() {
            file.warmth = untouched * file.n_nodes as f64;
        }
        let read = |row: &Row<'_>| {
            let warmth = heat_rows::read_heat(row, 1)?.now(attended);
            Ok((row.get::<_, i64>(0)?, warmth, 0 < unsigned(row, 4)?))
        };
        self.stream(HEATS, [], "read the temperatures", read, |(file, warmth, is_read)| {
            if let Some(sums) = files.get_mut(&file) {
                sums.warmth += warmth - untouched;
                sums.n_read += u64::from(is_read);
            }
            Ok::<(), StoreError>(())
        })?;
        Ok(files.into_values().collect())
    }

    /// Returns the numbers of changes of a snapshot: those that are stored with it, else those that
    /// are counted once.
    pub(super) fn change_counts(&self, snapshot: i64) -> Result<ChangeCounts, StoreError> {
        const KEPT: &str = "
            SELECT added, modified, removed FROM change_count WHERE snapshot = ?1";
        const COUNTS: &str = "
            SELECT count(*) FILTER (WHERE op = 'add'), count(*) FILTER (WHERE op = 'mod'),
                   count(*) FILTER (WHERE op = 'rem')
              FROM diff
             WHERE snapshot = ?1";
        const HASH: &str = "SELECT cursor_hash FROM snapshot WHERE id = ?1";
        let read = |row: &Row<'_>| {
            Ok(ChangeCounts {
                added: unsigned(row, 0)?,
                modified: unsigned(row, 1)?,
                removed: unsigned(row, 2)?,
            })
        };
        if let Some(kept) = self.conn.find(KEPT, [snapshot], read, "read numbers of changes")? {
            return Ok(kept);
        }
        let hash = self.conn.find(HASH, [snapshot], |row| row.get(0), "read a snapshot")?;
        let of: (i64, String) = (snapshot, hash.unwrap_or_default());
        if let Some(known) = self.browse_sums().with(|it| it.change_counts.get(&of).copied()) {
            return Ok(known);
        }
        let counts = self.conn.row(COUNTS, [snapshot], read, "count changes")?;
        self.browse_sums().with(|it| {
            if COUNTS_MAX <= it.change_counts.len() {
                it.change_counts.clear();
            }
            it.change_counts.insert(of, counts);
        });
        Ok(counts)
    }
}

/// Returns the number of the range that a temperature is in.
fn bin(temperature: f64) -> usize {
    ((temperature.clamp(0.0, 1.0) * BINS as f64) as usize).min(BINS - 1)
}

/// Returns the nodes with the least values, the least first.
fn least(ranked: &mut [(f64, NodeRowId)], value: fn(f64) -> f64) -> Vec<NodeRowId> {
    let order = |a: &(f64, NodeRowId), b: &(f64, NodeRowId)| {
        value(a.0).total_cmp(&value(b.0)).then(a.1.cmp(&b.1))
    };
    let n = EXTREMES.min(ranked.len());
    if EXTREMES < ranked.len() {
        ranked.select_nth_unstable_by(EXTREMES, order);
    }
    let least = &mut ranked[..n];
    least.sort_unstable_by(order);
    least.iter().map(|it| it.1).collect()
}
