//! Statistics of the whole memory: its contents, temperatures and files.

use rusqlite::{OptionalExtension, Row};

use super::{Reader, unsigned};
use crate::model::clock::Millis;
use crate::model::heat::HeatThresholds;
use crate::store::{ErrorStep, StoreError, heat_rows};

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
    pub(crate) temperatures: Temperatures,
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
    pub(crate) created_at: Millis,
}

/// The distribution of temperatures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Temperatures {
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
    /// Returns the statistics of the memory.
    pub(crate) fn stats(&self, lines: HeatThresholds) -> Result<Stats, StoreError> {
        const BY_TYPE: &str = "
            SELECT node_type, count(*), sum(token_count)
              FROM node
             GROUP BY node_type
             ORDER BY node_type";
        const SNAPSHOTS: &str = "SELECT count(*) FROM snapshot";
        const PARSED: &str =
            "SELECT count(*) FROM reference WHERE target IS NOT NULL AND origin = 'parsed'";
        const MANUAL: &str =
            "SELECT count(*) FROM reference WHERE target IS NOT NULL AND origin = 'manual'";
        const PENDING: &str = "SELECT count(*) FROM reference WHERE target IS NULL";
        // The index's own list of documents: counting the index itself would count `node`.
        const INDEX_ROWS: &str = "SELECT count(*) FROM node_fts_docsize";
        let read = |row: &Row<'_>| Ok((row.get(0)?, unsigned(row, 1)?, unsigned(row, 2)?));
        let types: Vec<(String, u64, u64)> = self.all(BY_TYPE, [], read).doing("count nodes")?;
        Ok(Stats {
            path: self.conn.path().unwrap_or_default().to_owned(),
            size_bytes: self.size_bytes()?,
            tokens: types.iter().map(|(_, _, tokens)| tokens).sum(),
            by_type: types.into_iter().map(|(name, n, _)| (name, n)).collect(),
            n_snapshots: self.number(SNAPSHOTS)?,
            head: self.head_snapshot()?,
            temperatures: self.temperatures(lines)?,
            n_parsed: self.number(PARSED)?,
            n_manual: self.number(MANUAL)?,
            n_pending: self.number(PENDING)?,
            n_index_rows: self.number(INDEX_ROWS)?,
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
                cursor_hash: row.get(1)?,
                message: row.get(2)?,
                created_at: Millis(row.get(3)?),
            })
        };
        self.conn.query_row(HEAD, [], read).optional().doing("read HEAD")
    }

    /// Returns the distribution of temperatures.
    pub(crate) fn temperatures(&self, lines: HeatThresholds) -> Result<Temperatures, StoreError> {
        const HEATS: &str = "SELECT temperature, at, pinned FROM heat";
        const NODES: &str = "SELECT count(*) FROM node";
        let attended = self.attended()?;
        let mut n_pinned = 0;
        let read = |row: &Row<'_>| {
            let heat = heat_rows::read_heat(row, 0)?;
            n_pinned += u64::from(heat.pinned);
            Ok(heat.now(attended))
        };
        let mut all: Vec<f64> = self.all(HEATS, [], read).doing("read the temperatures")?;
        let n_untouched = self.number(NODES)?.saturating_sub(all.len() as u64);
        let untouched = heat_rows::untouched().now(attended);
        all.extend(std::iter::repeat_n(untouched, n_untouched as usize));
        if all.is_empty() {
            return Ok(Temperatures { lines, ..Temperatures::default() });
        }
        let middle = all.len() / 2;
        let (_, &mut median, _) = all.select_nth_unstable_by(middle, f64::total_cmp);
        Ok(Temperatures {
            lines,
            average: all.iter().sum::<f64>() / all.len() as f64,
            median,
            n_hot: all.iter().filter(|&&it| lines.hot <= it).count() as u64,
            n_cold: all.iter().filter(|&&it| it < lines.cold).count() as u64,
            n_pinned,
        })
    }

    fn number(&self, sql: &'static str) -> Result<u64, StoreError> {
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
