//! Statistics of the whole memory: its contents, temperatures and files.

use rusqlite::{OptionalExtension, Row};

use super::{Reader, unsigned};
use crate::model::clock::UnixMillis;
use crate::model::heat::HeatThresholds;
use crate::store::record::read_name;
use crate::store::{ErrorContext, StoreError, heat_rows};

/// Statistics of a memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Stats {
    /// Path of the database file; empty for one in memory.
    pub(crate) path: String,
    /// Bytes of the database.
    pub(crate) size_bytes: u64,
    /// Number of nodes of each type, by name.
    pub(crate) by_type: Vec<(String, u64)>,
    /// Tokens of all contents.
    pub(crate) tokens: u64,
    pub(crate) n_snapshots: u64,
    /// The snapshot at HEAD.
    pub(crate) head: Option<HeadSnapshot>,
    pub(crate) temperatures: TemperatureStats,
    /// Resolved references of texts.
    pub(crate) n_parsed: u64,
    /// Resolved manual references.
    pub(crate) n_manual: u64,
    /// Pending references.
    pub(crate) n_pending: u64,
    /// Rows in the full-text index.
    pub(crate) n_index_rows: u64,
}

impl Stats {
    /// Returns the number of nodes of all types.
    pub(crate) fn n_nodes(&self) -> u64 {
        self.by_type.iter().map(|(_, n)| n).sum()
    }

    /// Returns the name of the database file; empty for one in memory.
    pub(crate) fn database(&self) -> &str {
        self.path.rsplit(['/', '\\']).next().unwrap_or_default()
    }
}

/// A snapshot as the statistics show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeadSnapshot {
    pub(crate) id: i64,
    pub(crate) cursor_hash: String,
    pub(crate) message: String,
    pub(crate) created_at: UnixMillis,
}

/// The distribution of temperatures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TemperatureStats {
    /// The thresholds of cold and hot nodes.
    pub(crate) lines: HeatThresholds,
    pub(crate) average: f64,
    pub(crate) median: f64,
    pub(crate) n_hot: u64,
    pub(crate) n_cold: u64,
    pub(crate) n_pinned: u64,
}

/// A source file and the number of its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSummary {
    /// The compiled folder.
    pub(crate) root: String,
    /// Path relative to the root.
    pub(crate) path: String,
    pub(crate) n_nodes: u64,
    pub(crate) tokens: u64,
    /// The reason why the last compile of it failed.
    pub(crate) error: Option<String>,
}

impl Reader {
    /// Returns the statistics of the memory, all of one state. No node is counted; the temperatures
    /// of a large memory may be a minute old.
    pub(crate) fn stats(
        &self,
        lines: HeatThresholds,
        now: UnixMillis,
    ) -> Result<Stats, StoreError> {
        self.at_one_state(|reader| {
            let counters = reader.change_counters()?;
            let totals = reader.running_totals()?;
            let n_nodes = totals.n_nodes();
            Ok(Stats {
                path: reader.conn.path().unwrap_or_default().to_owned(),
                size_bytes: reader.size_bytes()?,
                tokens: totals.tokens,
                n_snapshots: reader.n_snapshots(&counters)?,
                head: reader.head_snapshot()?,
                temperatures: reader.recent_temperatures(&counters, n_nodes, lines, now)?,
                by_type: totals.by_type,
                n_parsed: totals.n_parsed,
                n_manual: totals.n_manual,
                n_pending: totals.n_pending,
                n_index_rows: reader.n_index_rows()?,
            })
        })
    }

    /// Returns every source file, by root and path.
    pub(crate) fn files(&self) -> Result<Vec<FileSummary>, StoreError> {
        let mut files = Vec::new();
        self.each_file(|file| {
            files.push(file);
            Ok::<(), StoreError>(())
        })?;
        Ok(files)
    }

    /// Streams every source file, by root and path.
    pub(crate) fn each_file<E: From<StoreError>>(
        &self,
        each: impl FnMut(FileSummary) -> Result<(), E>,
    ) -> Result<(), E> {
        const FILES: &str = "
            SELECT root.path, file.path, ifnull(n.n_nodes, 0), ifnull(n.tokens, 0), file.error
              FROM file
              JOIN root ON root.id = file.root
              LEFT JOIN (
                  SELECT file, count(*) AS n_nodes, sum(token_count) AS tokens
                    FROM node
                   GROUP BY file
              ) AS n ON n.file = file.id
             WHERE n.n_nodes IS NOT NULL OR NOT file.gone
             ORDER BY root.path, file.path";
        self.stream(FILES, [], "list the files", read_file, each)
    }

    fn size_bytes(&self) -> Result<u64, StoreError> {
        const SIZE: &str = "
            SELECT page_count * page_size
              FROM pragma_page_count
              JOIN pragma_page_size";
        match self.conn.path() {
            None | Some("") => Ok(0),
            Some(_) => self.number(SIZE),
        }
    }

    fn head_snapshot(&self) -> Result<Option<HeadSnapshot>, StoreError> {
        const HEAD: &str = "
            SELECT snapshot.id, snapshot.cursor_hash, snapshot.message, snapshot.created_at
              FROM cursor
              JOIN snapshot ON snapshot.id = cursor.snapshot
             WHERE cursor.name = 'HEAD'";
        let read = |row: &Row<'_>| {
            Ok(HeadSnapshot {
                id: row.get(0)?,
                cursor_hash: read_name(row, 1)?,
                message: row.get(2)?,
                created_at: UnixMillis(row.get(3)?),
            })
        };
        self.conn.query_row(HEAD, [], read).optional().doing("read HEAD")
    }

    /// Returns the distribution of temperatures.
    pub(crate) fn temperatures(
        &self,
        lines: HeatThresholds,
    ) -> Result<TemperatureStats, StoreError> {
        self.at_one_state(|reader| {
            reader.temperatures_of(lines, reader.running_totals()?.n_nodes())
        })
    }

    /// Returns the distribution of temperatures of so many nodes. Those without a row have one
    /// temperature in common, and are not listed.
    pub(super) fn temperatures_of(
        &self,
        lines: HeatThresholds,
        n_nodes: u64,
    ) -> Result<TemperatureStats, StoreError> {
        const HEATS: &str = "SELECT temperature, at, pinned FROM heat";
        let attended = self.attended()?;
        let mut n_pinned = 0;
        let read = |row: &Row<'_>| {
            let heat = heat_rows::read_heat(row, 0)?;
            n_pinned += u64::from(heat.pinned);
            Ok(heat.now(attended))
        };
        let mut known: Vec<f64> = self.all(HEATS, [], read).doing("read the temperatures")?;
        let n_untouched = n_nodes.saturating_sub(known.len() as u64);
        let untouched = heat_rows::untouched().now(attended);
        let n_all = known.len() as u64 + n_untouched;
        if n_all == 0 {
            return Ok(TemperatureStats { lines, ..TemperatureStats::default() });
        }
        let sum = known.iter().sum::<f64>() + untouched * n_untouched as f64;
        let among = |is: fn(f64, HeatThresholds) -> bool| {
            let n_known = known.iter().filter(|&&it| is(it, lines)).count() as u64;
            n_known + if is(untouched, lines) { n_untouched } else { 0 }
        };
        let n_hot = among(|it, lines| lines.hot <= it);
        let n_cold = among(|it, lines| it < lines.cold);
        // Where the untouched ones begin among all, in order.
        let first = known.iter().filter(|it| it.total_cmp(&untouched).is_lt()).count() as u64;
        let middle = n_all / 2;
        let nth = match middle {
            it if it < first => Some(it),
            it if it < first + n_untouched => None,
            it => Some(it - n_untouched),
        };
        let median = nth
            .map_or(untouched, |nth| *known.select_nth_unstable_by(nth as usize, f64::total_cmp).1);
        let average = sum / n_all as f64;
        Ok(TemperatureStats { lines, average, median, n_hot, n_cold, n_pinned })
    }

    pub(super) fn number(&self, sql: &'static str) -> Result<u64, StoreError> {
        self.conn.query_row(sql, [], |row| unsigned(row, 0)).doing("count rows")
    }
}

fn read_file(row: &Row<'_>) -> rusqlite::Result<FileSummary> {
    Ok(FileSummary {
        root: row.get(0)?,
        path: row.get(1)?,
        n_nodes: unsigned(row, 2)?,
        tokens: unsigned(row, 3)?,
        error: row.get(4)?,
    })
}
