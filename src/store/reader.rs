//! The reading connection: one method per query, and none that writes.
//!
//! SQLite opens the file read-only and refuses writes before they run; the connection is private
//! and no method takes SQL. [`Reader::at_one_state`] runs several queries on one state of the
//! memory. Each query is bounded by its arguments: none reads the whole database to answer a
//! question about a part of it.

mod active_work_leases;
mod briefing_candidates;
mod browse;
mod change_detection_counters;
mod custom_views;
#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, allow(dead_code, reason = "tests use the rest of it"))]
pub(crate) mod database_builder_testing;
mod deadline;
mod edges;
mod empty_or_filled_memory;
mod exclusion_reasons_and_replacements;
mod files_by_path;
mod filter;
mod fts_hits;
mod heat_file_and_change_sum_cache;
mod history;
mod knowledge;
mod omitted_subtree_size;
mod running_totals;
mod stats;
mod stats_cache;
mod streamed_listings;
mod texts_with_breadcrumbs;
mod typed_nodes;
mod unarchived_typed_nodes;
mod vectors;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, Params, Row, params};

pub(crate) use browse::{
    BrowsedChange, BrowsedLink, BrowsedNode, BrowsedSnapshot, ChangeCounts, LinkGroup,
    SiblingCursor,
};
pub(crate) use custom_views::CustomViewRow;
pub(crate) use edges::EdgeDirection;
pub(crate) use exclusion_reasons_and_replacements::LEFT_OUT_REASONS;
pub(super) use files_by_path::NODE_OF_FILE;
use filter::changed_at;
pub(super) use filter::unless_archived;
pub(crate) use filter::{ArchivedVisibility, NodeFilter};
pub(crate) use fts_hits::{
    MatchAgeOrder, MatchedNode, NodeTextStart, SiblingsForRanking, TypedRankingFields,
};
pub(crate) use history::SnapshotRange;
pub(super) use knowledge::disputes_what_is_over;
pub(crate) use knowledge::{KnowledgeChange, KnowledgeRow, TypedEdge};
pub(crate) use omitted_subtree_size::{SiblingRangeAfterPage, SubtreeSize};
pub(crate) use stats::{FileSummary, Stats};
pub(crate) use streamed_listings::TreeRow;
pub(crate) use texts_with_breadcrumbs::TextWithBreadcrumb;
pub(crate) use typed_nodes::{
    AccessStats, FieldFilter, FilterValue, TypedNode, read_access, unreadable,
};
pub(crate) use unarchived_typed_nodes::{ArchiveCandidate, archivable};
pub(crate) use vectors::TextWithoutVector;
pub(crate) use {
    briefing_candidates::UsedNodeWithHeat, empty_or_filled_memory::PopulationState,
    stats_cache::SumCache,
};
pub(crate) use {
    change_detection_counters::ChangeDetectionCounters, heat_file_and_change_sum_cache::FileSums,
};

pub(crate) use deadline::IsCancelledFn;
use deadline::QueryDeadline;

use super::file_identity_check::OpenedFiles;
use super::heat_rows::{self, heat_columns};
use super::record::{FileId, NodeRowId, read_id, read_tokens, read_type};
use super::{ErrorContext, PreparedStatements, StoreError, busy_handler, connection};
use crate::model::clock::UnixMillis;
use crate::model::heat::StoredHeat;

/// Largest count or sum that is shown: clients without integers still read it exactly.
const COUNT_MAX: i64 = 1 << 53;

/// A read-only connection to a memory.
pub(crate) struct Reader {
    conn: Connection,
    deadline: QueryDeadline,
    /// Sums that an earlier question counted.
    sums: SumCache,
    /// The beginning of every id that it returns, and that it takes off an id.
    mark: &'static str,
}

/// A node without its text: the fields of one output line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeSummary {
    pub(crate) key: NodeRowId,
    /// The anchor.
    pub(crate) id: String,
    pub(crate) parent: Option<NodeRowId>,
    /// Order key among the siblings.
    pub(crate) position: i64,
    pub(crate) file: Option<FileId>,
    /// Path of the file, relative to its root.
    pub(crate) path: Option<String>,
    pub(crate) node_type: String,
    pub(crate) lang: Option<String>,
    pub(crate) label: String,
    /// Exact cl100k tokens of the content.
    pub(crate) tokens: u32,
    pub(crate) heat: StoredHeat,
    /// When its text last changed, where that was requested ([`Reader::date_nodes`]).
    pub(crate) changed_at: Option<UnixMillis>,
    /// The reason why searches leave it out, or have it behind what replaced it, where that was
    /// requested ([`Reader::mark_left_out`]).
    pub(crate) left_out_as: Option<&'static str>,
}

/// A query of node heads; `n` is the node, `f` its file, `h` its heat.
macro_rules! heads {
    ($with:literal, $from:expr) => {
        concat!(
            $with,
            "
            SELECT n.key, n.id, n.parent, n.position, n.file, f.path, n.node_type, n.lang, n.label,
                   n.token_count, ",
            heat_columns!(),
            $from
        )
    };
}

impl Reader {
    /// Opens the memory at `path`; never creates one.
    pub(crate) fn open(path: &Path) -> Result<Reader, StoreError> {
        Reader::open_marked(path, "")
    }

    /// Opens the memory at `path` with a mark on every id.
    pub(crate) fn open_marked(path: &Path, mark: &'static str) -> Result<Reader, StoreError> {
        Reader::open_within(path, busy_handler::LONG, mark)
    }

    /// Opens the memory at `path`, and waits for other connections no longer than `wait`.
    fn open_within(path: &Path, wait: Duration, mark: &'static str) -> Result<Reader, StoreError> {
        let mut conn = connection::open_reader_within(path, wait)?;
        let deadline = QueryDeadline::default();
        deadline.attach(&mut conn)?;
        Ok(Reader { conn, deadline, sums: SumCache::default(), mark })
    }

    /// Opens the memory at `path` for one process's only question, whose deadline begins now. It
    /// waits for other connections no longer than `wait`.
    pub(crate) fn open_hastily(path: &Path, wait: Duration) -> Result<Reader, StoreError> {
        let reader = Reader::open_within(path, wait, "")?;
        reader.deadline.begin();
        Ok(reader)
    }

    /// Returns this reader with the sums of other readers of the same memory.
    #[must_use]
    pub(crate) fn with_sums(self, sums: &SumCache) -> Reader {
        Reader { sums: sums.clone(), ..self }
    }

    fn browse_sums(&self) -> &heat_file_and_change_sum_cache::BrowseCache {
        &self.sums.browsed
    }

    /// Refuses a memory whose schema changed since it was checked.
    pub(super) fn check_schema(&self, opened_files: &OpenedFiles) -> Result<(), StoreError> {
        opened_files.check_schema(&self.conn)
    }

    /// Answers a question; a statement that still runs at the deadline ends with an error.
    pub(crate) fn within_the_deadline<T>(&self, question: impl FnOnce(&Reader) -> T) -> T {
        self.deadline.begin();
        let answer = question(self);
        self.deadline.end();
        answer
    }

    /// Ends the question within the deadline soon after nobody waits for its answer any more, with
    /// an error.
    pub(crate) fn end_when(&self, is_cancelled: &IsCancelledFn) {
        self.deadline.end_when(is_cancelled);
    }

    /// Runs several queries on one state of the memory, whatever others write meanwhile. A nested
    /// call joins the outer one.
    pub(crate) fn at_one_state<T, E: From<StoreError>>(
        &self,
        ask: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        if !self.conn.is_autocommit() {
            return ask(self);
        }
        let state = self.conn.unchecked_transaction().doing("begin to read")?;
        let answer = ask(self);
        // There is nothing to commit: the end of the transaction releases the state.
        drop(state);
        answer
    }

    /// Returns the memory clock, in ms of attended time.
    pub(crate) fn attended(&self) -> Result<i64, StoreError> {
        heat_rows::memory_clock(&self.conn)
    }

    /// Returns the node of an id.
    pub(crate) fn head(&self, id: &str) -> Result<Option<NodeSummary>, StoreError> {
        const HEAD: &str = heads!(
            "",
            "
              FROM node AS n
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.id = ?1"
        );
        let id = id.strip_prefix(self.mark).unwrap_or(id);
        self.conn.find(HEAD, [id], |row| self.read_head(row), "find a node")
    }

    /// Returns the nodes of keys, in no particular order; skips keys without a node.
    pub(crate) fn heads(&self, keys: &[NodeRowId]) -> Result<Vec<NodeSummary>, StoreError> {
        const HEADS: &str = heads!(
            "",
            "
              FROM json_each(?1) AS wanted
              JOIN node AS n ON n.key = wanted.value
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key"
        );
        self.all(HEADS, [list(keys)], |row| self.read_head(row)).doing("read nodes")
    }

    /// Adds to nodes when their texts last changed.
    pub(crate) fn date_nodes<'a>(
        &self,
        nodes: impl IntoIterator<Item = &'a mut NodeSummary>,
    ) -> Result<(), StoreError> {
        const TIMES: &str = concat!(
            "SELECT wanted.value, ",
            changed_at!("wanted.value"),
            " FROM json_each(?1) AS wanted"
        );
        let mut nodes: Vec<&mut NodeSummary> = nodes.into_iter().collect();
        let keys: Vec<NodeRowId> = nodes.iter().map(|it| it.key).collect();
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get(1)?));
        let rows = self.all(TIMES, [list(&keys)], read).doing("read times of changes")?;
        let times: HashMap<NodeRowId, Option<i64>> = rows.into_iter().collect();
        for node in &mut nodes {
            node.changed_at = times.get(&node.key).copied().flatten().map(UnixMillis);
        }
        Ok(())
    }

    /// Returns the texts of nodes.
    pub(crate) fn contents(
        &self,
        keys: &[NodeRowId],
    ) -> Result<HashMap<NodeRowId, String>, StoreError> {
        const CONTENTS: &str = "
            SELECT n.key, n.content
              FROM json_each(?1) AS wanted
              JOIN node AS n ON n.key = wanted.value";
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get(1)?));
        let rows: Vec<(NodeRowId, String)> =
            self.all(CONTENTS, [list(keys)], read).doing("read texts")?;
        Ok(rows.into_iter().collect())
    }

    /// Returns the first nodes without a parent: by file path, then those without a file.
    pub(crate) fn roots(
        &self,
        archived: ArchivedVisibility,
        n_max: usize,
    ) -> Result<Vec<NodeSummary>, StoreError> {
        const OF_FILES: &str = heads!(
            "",
            "
              FROM file AS f
              CROSS JOIN node AS n ON n.file = f.id AND n.parent IS NULL
              LEFT JOIN heat AS h ON h.node = n.key
             ORDER BY f.root, f.path, n.position
             LIMIT ?1"
        );
        const OF_NOBODY: &str = heads!(
            "",
            concat!(
                "
              FROM node AS n
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.parent IS NULL AND n.file IS NULL",
                unless_archived!("?2"),
                "
             ORDER BY n.position
             LIMIT ?1"
            )
        );
        let mut roots = self
            .all(OF_FILES, [limit(n_max)], |row| self.read_head(row))
            .doing("list the roots")?;
        let n_left = n_max.saturating_sub(roots.len());
        if 0 < n_left {
            let others = params![limit(n_left), archived == ArchivedVisibility::Shown];
            let others = self.all(OF_NOBODY, others, |row| self.read_head(row));
            roots.extend(others.doing("list the roots")?);
        }
        Ok(roots)
    }

    /// Returns the first children of a node, in document order.
    pub(crate) fn children(
        &self,
        of: NodeRowId,
        archived: ArchivedVisibility,
        n_max: usize,
    ) -> Result<Vec<NodeSummary>, StoreError> {
        const CHILDREN: &str = heads!(
            "",
            concat!(
                "
              FROM node AS n
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.parent = ?1",
                unless_archived!("?3"),
                "
             ORDER BY n.position
             LIMIT ?2"
            )
        );
        let params = params![of.0, limit(n_max), archived == ArchivedVisibility::Shown];
        self.all(CHILDREN, params, |row| self.read_head(row)).doing("list children")
    }

    /// Returns the nearest `n` ancestors of a node, its parent first.
    pub(crate) fn ancestors(
        &self,
        of: NodeRowId,
        n: usize,
    ) -> Result<Vec<NodeSummary>, StoreError> {
        const ANCESTORS: &str = heads!(
            "
            WITH RECURSIVE above (key, distance) AS (
                SELECT parent, 1 FROM node WHERE key = ?1 AND parent IS NOT NULL
                UNION ALL
                SELECT node.parent, above.distance + 1
                  FROM above
                  JOIN node ON node.key = above.key
                 WHERE node.parent IS NOT NULL
                 LIMIT ?2
            )",
            "
              FROM above
             CROSS JOIN node AS n ON n.key = above.key
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key
             ORDER BY above.distance"
        );
        self.all(ANCESTORS, params![of.0, limit(n)], |row| self.read_head(row))
            .doing("list ancestors")
    }

    /// Returns the first nodes below a node, level by level, at most `depth` levels deep.
    ///
    /// A cross join keeps the order of the tables: SQLite would rather scan all nodes.
    pub(crate) fn descendants(
        &self,
        of: NodeRowId,
        depth: u32,
        n_max: usize,
    ) -> Result<Vec<NodeSummary>, StoreError> {
        const DESCENDANTS: &str = heads!(
            "
            WITH RECURSIVE below (key, depth, position) AS (
                SELECT key, 1, position FROM node WHERE parent = ?1
                UNION ALL
                SELECT node.key, below.depth + 1, node.position
                  FROM below
                  JOIN node ON node.parent = below.key
                 WHERE below.depth < ?2
                 ORDER BY 2, 3
                 LIMIT ?3
            )",
            "
              FROM below
             CROSS JOIN node AS n ON n.key = below.key
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key"
        );
        self.all(DESCENDANTS, params![of.0, depth, limit(n_max)], |row| self.read_head(row))
            .doing("list descendants")
    }

    /// Returns the siblings nearest to a node, in document order: at most `n_max` on each side. A
    /// root has none.
    pub(crate) fn siblings(
        &self,
        of: &NodeSummary,
        n_max: usize,
    ) -> Result<Vec<NodeSummary>, StoreError> {
        const BEFORE: &str = heads!(
            "",
            "
              FROM node AS n
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.parent = ?1 AND n.position < ?2
             ORDER BY n.position DESC
             LIMIT ?3"
        );
        const AFTER: &str = heads!(
            "",
            "
              FROM node AS n
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.parent = ?1 AND n.position > ?2
             ORDER BY n.position
             LIMIT ?3"
        );
        let Some(parent) = of.parent else { return Ok(Vec::new()) };
        let place = params![parent.0, of.position, limit(n_max)];
        let mut siblings =
            self.all(BEFORE, place, |row| self.read_head(row)).doing("list siblings")?;
        siblings.reverse();
        siblings.extend(self.all(AFTER, place, |row| self.read_head(row)).doing("list siblings")?);
        Ok(siblings)
    }

    /// Returns the ids around `id`, in their order; one with the same prefix is among them.
    pub(crate) fn ids_around(&self, id: &str) -> Result<Vec<String>, StoreError> {
        const AROUND: &str = "
            SELECT id FROM (SELECT id FROM node WHERE id >= ?1 ORDER BY id LIMIT 2)
            UNION ALL
            SELECT id FROM (SELECT id FROM node WHERE id < ?1 ORDER BY id DESC LIMIT 2)";
        let id = id.strip_prefix(self.mark).unwrap_or(id);
        self.all(AROUND, [id], |row| row.get(0)).doing("find similar ids")
    }

    fn read_head(&self, row: &Row<'_>) -> rusqlite::Result<NodeSummary> {
        let id = read_id(row, 1)?;
        Ok(NodeSummary {
            key: NodeRowId(row.get(0)?),
            id: if self.mark.is_empty() { id } else { format!("{}{id}", self.mark) },
            parent: row.get::<_, Option<i64>>(2)?.map(NodeRowId),
            position: row.get(3)?,
            file: row.get::<_, Option<i64>>(4)?.map(FileId),
            path: row.get(5)?,
            node_type: read_type(row, 6)?,
            lang: row.get(7)?,
            label: row.get(8)?,
            tokens: read_tokens(row, 9)?,
            heat: heat_rows::read_heat(row, 10)?,
            changed_at: None,
            left_out_as: None,
        })
    }

    fn all<T, P: Params>(
        &self,
        sql: &'static str,
        params: P,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut query = self.conn.prepare_cached(sql)?;
        let rows = query.query_map(params, read)?.collect();
        #[cfg(test)]
        database_builder_testing::note_work(&mut query);
        rows
    }
}

/// Returns keys as a JSON array for SQLite to join with.
fn list(keys: &[NodeRowId]) -> Value {
    let keys: Vec<String> = keys.iter().map(|it| it.0.to_string()).collect();
    Value::Text(format!("[{}]", keys.join(",")))
}

/// Reads a count or a sum; a damaged one is brought within its bounds.
fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    Ok(number.clamp(0, COUNT_MAX) as u64)
}

pub(super) fn limit(n_max: usize) -> i64 {
    i64::try_from(n_max).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
