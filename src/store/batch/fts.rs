//! Updates the full-text index, and merges its segments in small steps.
//!
//! A trigger indexes each new node at once, which suits few nodes. Each of many would be held with
//! its own savepoint, so a large write drops the trigger within its own transaction, indexes its
//! new nodes in large groups, and restores the trigger at the end. The trigger that makes facets is
//! dropped, too, since SQLite prepares to undo each row that has any; a node with fields gets its
//! facets at once. So is the one that counts nodes: they are counted in the meantime. Over a node
//! whose facets are computed here, the trigger passes, and such nodes are indexed together before a
//! small write ends.
//!
//! The first write of a memory also drops the indexes whose entries come in no order: built at the
//! end, they are sorted before they are written. Sorting takes memory, so they are built earlier
//! when very many nodes come.
//!
//! Each write adds a segment to the lowest level of the index, and a search reads all segments.
//! SQLite by itself merges all segments of a full level in the commit that fills it, whatever their
//! size. Here a write that finds a full level merges a bounded number of pages, and large segments
//! are lifted to the level of their size, where small ones do not meet them.

mod segment_merges;

#[cfg(feature = "shared")]
pub(in crate::store) use segment_merges::merge_few;
pub(in crate::store) use segment_merges::{merge_many, merge_on};

use std::collections::BTreeMap;

use rusqlite::{Row, params};

use super::Batch;
use crate::model::tree::NodeType;
use crate::store::connection::LargePageCache;
use crate::store::{
    ErrorContext, NearDuplicateCandidate, NodeRowId, PreparedStatements, StoreError, one,
};

/// New nodes that are indexed together. More make fewer segments; fewer are indexed while their
/// pages are cached.
const WAITING_MAX: i64 = 16_000;

/// Nodes over which the trigger passed that are indexed together, at most.
const PASSED_OVER_MAX: usize = 1_000;

/// Indexes whose entries for new nodes come in no order.
const UNORDERED: [&str; 2] = ["node_by_name", "diff_by_node"];

/// Nodes of a first write after which the dropped indexes are rebuilt.
const UNSORTED_MAX: usize = 100_000;

/// The time at which new nodes are indexed.
#[derive(Debug)]
pub(super) enum IndexingTime<'a> {
    /// At their insertion, by the trigger; those that it passed over, by key, at the end.
    AtOnce { passed_over: Vec<i64> },
    /// In groups: nodes after the key `indexed` wait. `triggers` and `indexes` are the SQL that
    /// restores what was dropped; `totals` has the numbers of added nodes and of their tokens.
    Later {
        indexed: i64,
        triggers: [String; 3],
        indexes: Vec<String>,
        totals: BTreeMap<NodeType, (u64, u64)>,
        _cache: LargePageCache<'a>,
    },
}

impl Default for IndexingTime<'_> {
    fn default() -> Self {
        IndexingTime::AtOnce { passed_over: Vec::new() }
    }
}

impl Batch<'_> {
    /// Returns the eldest nodes that a full-text expression matches, at most `n_max`. It is for the
    /// beginning of a write, since nodes that wait to be indexed are not found.
    pub(crate) fn matching_nodes(
        &self,
        expression: &str,
        n_max: usize,
    ) -> Result<Vec<NodeRowId>, StoreError> {
        const NODES: &str = "
            SELECT rowid
              FROM node_fts
             WHERE node_fts MATCH ?1
             ORDER BY rowid
             LIMIT ?2";
        let read = |row: &Row<'_>| row.get(0).map(NodeRowId);
        self.tx.rows(
            NODES,
            params![expression, i64::try_from(n_max).unwrap_or(i64::MAX)],
            read,
            "look words up",
        )
    }

    /// Returns a node to compare with a text.
    pub(crate) fn compared_node(
        &self,
        key: NodeRowId,
    ) -> Result<Option<NearDuplicateCandidate>, StoreError> {
        const NODE: &str = "
            SELECT id, label, content, node_type = 'heading',
                   EXISTS (SELECT 1
                             FROM facet
                            WHERE facet.key = 'archived' AND value = 1 AND node = node.key)
              FROM node
             WHERE key = ?1";
        let read = |row: &Row<'_>| {
            Ok(NearDuplicateCandidate {
                id: row.get(0)?,
                label: row.get(1)?,
                content: row.get(2)?,
                is_heading: row.get(3)?,
                is_archived: row.get(4)?,
            })
        };
        self.tx.find(NODE, [key.0], read, "read a text")
    }

    /// Defers indexing, for a write with many new nodes.
    pub(crate) fn defer_indexing(&mut self) -> Result<(), StoreError> {
        const HAS_HISTORY: &str = "SELECT EXISTS (SELECT 1 FROM diff)";
        if matches!(self.indexing, IndexingTime::AtOnce { .. }) {
            self.index_waiting()?;
            self.dirty_refs.expect_many(self.tx)?;
            let indexed = self.newest()?;
            let has_history: bool = one(self.tx, HAS_HISTORY).doing("set the index aside")?;
            let is_first = indexed == 0 && !has_history;
            let triggers = [
                self.set_aside("TRIGGER", "node_fts_insert")?,
                self.set_aside("TRIGGER", "facet_node_added")?,
                self.set_aside("TRIGGER", "total_node_added")?,
            ];
            let waiting: &[&str] = if is_first { &UNORDERED } else { &[] };
            let indexes = waiting.iter().map(|it| self.set_aside("INDEX", it));
            let indexes = indexes.collect::<Result<_, _>>()?;
            let _cache = LargePageCache::of(self.tx)?;
            segment_merges::configure(self.tx)?;
            let totals = BTreeMap::new();
            self.indexing = IndexingTime::Later { indexed, triggers, indexes, totals, _cache };
        }
        Ok(())
    }

    /// Drops a trigger or an index, and returns the SQL that restores it.
    fn set_aside(&self, what: &str, name: &str) -> Result<String, StoreError> {
        const SQL: &str = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        let doing = "set the index aside";
        let sql = self.tx.query_row(SQL, [name], |row| row.get(0)).doing(doing)?;
        self.tx.execute_batch(&format!("DROP {what} {name}")).doing(doing)?;
        Ok(sql)
    }

    /// Rebuilds the dropped indexes, which looking up nodes needs.
    pub(super) fn rebuild_indexes(&mut self) -> Result<(), StoreError> {
        if let IndexingTime::Later { indexes, .. } = &mut self.indexing {
            for sql in std::mem::take(indexes) {
                self.tx.execute_batch(&sql).doing("resume indexing")?;
            }
        }
        Ok(())
    }

    /// Lifts large segments of the index at the end of the write, the last of many.
    pub(crate) fn lift_segments(&mut self) {
        self.lifts_segments = true;
    }

    /// Indexes the waiting nodes if they are many.
    ///
    /// Rebuilds the dropped indexes once sorting them would take much memory.
    pub(super) fn index_meanwhile(&mut self) -> Result<(), StoreError> {
        if let IndexingTime::Later { indexed, .. } = &self.indexing
            && WAITING_MAX <= self.newest()? - indexed
        {
            self.index_waiting()?;
        }
        if UNSORTED_MAX <= self.counts.added { self.rebuild_indexes() } else { Ok(()) }
    }

    /// Indexes the waiting nodes, restores the trigger for all later ones, and merges what is due.
    pub(super) fn index_at_once(&mut self) -> Result<(), StoreError> {
        self.rebuild_indexes()?;
        self.index_waiting()?;
        if let IndexingTime::Later { triggers, totals, .. } = &self.indexing {
            self.add_totals(totals)?;
            self.tx.execute_batch(&triggers.join(";")).doing("resume indexing")?;
            self.indexing = IndexingTime::default();
        } else if self.snapshot.is_some() {
            segment_merges::merge_few(self.tx)?;
        }
        if self.lifts_segments { segment_merges::lift(self.tx) } else { Ok(()) }
    }

    /// Counts an added node, if the trigger that does it is set aside.
    pub(super) fn count_added(&mut self, node_type: NodeType, tokens: u32) {
        if let IndexingTime::Later { totals, .. } = &mut self.indexing {
            let (n_nodes, n_tokens) = totals.entry(node_type).or_default();
            (*n_nodes, *n_tokens) = (*n_nodes + 1, *n_tokens + u64::from(tokens));
        }
    }

    fn add_totals(&self, totals: &BTreeMap<NodeType, (u64, u64)>) -> Result<(), StoreError> {
        const ADD: &str = "
            INSERT INTO running_total (counted, kind, n_rows, tokens)
            VALUES ('node', ?1, ?2, ?3)
            ON CONFLICT (counted, kind) DO UPDATE
               SET n_rows = min(n_rows, 4611686018427387904) + excluded.n_rows,
                   tokens = min(tokens, 4611686018427387904) + excluded.tokens";
        totals.iter().try_for_each(|(node_type, &(n_nodes, n_tokens))| {
            let row = params![node_type.as_str(), n_nodes as i64, n_tokens as i64];
            self.tx.run(ADD, row, "count the nodes").map(drop)
        })
    }

    /// Returns whether new nodes are indexed later, which means that they are many.
    pub(super) fn is_indexing_later(&self) -> bool {
        matches!(self.indexing, IndexingTime::Later { .. })
    }

    /// Returns whether no index is dropped.
    pub(super) fn has_all_indexes(&self) -> bool {
        !matches!(&self.indexing, IndexingTime::Later { indexes, .. } if !indexes.is_empty())
    }

    /// Notes an added node.
    pub(super) fn index_later(&mut self, key: NodeRowId) -> Result<(), StoreError> {
        match &self.indexing {
            // A reused key is below those of the waiting nodes, so it is indexed now.
            IndexingTime::Later { indexed, .. } if key.0 <= *indexed => {
                self.index(key.0 - 1, key.0)
            }
            _ => Ok(()),
        }
    }

    /// Makes the facets of an added node with fields, if the trigger that does it is set aside.
    pub(super) fn make_facets(&self, key: NodeRowId) -> Result<(), StoreError> {
        const MAKE: &str = "INSERT INTO facet_made (node) VALUES (?1)";
        match &self.indexing {
            IndexingTime::Later { .. } => self.tx.run(MAKE, [key.0], "make facets").map(drop),
            IndexingTime::AtOnce { .. } => Ok(()),
        }
    }

    /// Notes a node over which the trigger passed.
    pub(super) fn note_passed_over(&mut self, key: NodeRowId) -> Result<(), StoreError> {
        let IndexingTime::AtOnce { passed_over } = &mut self.indexing else { return Ok(()) };
        passed_over.push(key.0);
        if PASSED_OVER_MAX <= passed_over.len() { self.index_waiting() } else { Ok(()) }
    }

    /// Indexes the waiting nodes if one of them is about to change.
    pub(super) fn index_before(&mut self, key: NodeRowId) -> Result<(), StoreError> {
        let may_wait = match &self.indexing {
            IndexingTime::AtOnce { passed_over } => passed_over.contains(&key.0),
            IndexingTime::Later { indexed, .. } => *indexed < key.0,
        };
        if may_wait { self.index_waiting() } else { Ok(()) }
    }

    fn index_waiting(&mut self) -> Result<(), StoreError> {
        // One statement for all, since the index writes a segment before each that it may undo.
        const INDEX: &str = "
            INSERT INTO node_fts (rowid, label, content, trail, grams)
            SELECT key, label, content, trail, grams
              FROM node
             WHERE key IN (SELECT value FROM json_each(?1))
             ORDER BY key";
        if let IndexingTime::AtOnce { passed_over } = &mut self.indexing {
            let keys = std::mem::take(passed_over);
            if keys.is_empty() {
                return Ok(());
            }
            let keys = serde_json::Value::from(keys).to_string();
            return self.tx.run(INDEX, [keys], "index nodes").map(drop);
        }
        let newest = self.newest()?;
        let IndexingTime::Later { indexed, .. } = &mut self.indexing else { return Ok(()) };
        let since = std::mem::replace(indexed, newest);
        self.index(since, newest)
    }

    fn newest(&self) -> Result<i64, StoreError> {
        const NEWEST: &str = "SELECT ifnull(max(key), 0) FROM node";
        one(self.tx, NEWEST).doing("index nodes")
    }

    fn index(&self, since: i64, newest: i64) -> Result<(), StoreError> {
        const INDEX: &str = "
            INSERT INTO node_fts (rowid, label, content, trail, grams)
            SELECT key, label, content, trail, grams
              FROM node
             WHERE ?1 < key AND key <= ?2
             ORDER BY key";
        self.tx.run(INDEX, [since, newest], "index nodes").map(drop)
    }
}

#[cfg(test)]
mod tests;
