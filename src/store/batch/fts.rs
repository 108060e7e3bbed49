//! The full-text index of many new nodes, written for many of them at once.
//!
//! A trigger indexes every new node at once, which is what few nodes need. Of many, each would
//! become a segment of the index of its own, to be merged with the others again and again, and each
//! search looks into all segments. So a large write sets the trigger aside, within its own
//! transaction, indexes what came whenever enough did, and puts the trigger back at the end.
//!
//! Of the first nodes of all, the indexes wait, too, whose entries come in no order: made at the
//! end, they are sorted before they are written. What is sorted is held in memory, so that they are
//! made earlier when very many nodes come.

use rusqlite::{Row, params};

use super::Batch;
use crate::store::connection::LargeCache;
use crate::store::{ErrorStep, NodeKey, Prepared, StoreError, one};

/// Bytes that the index gathers before it writes a segment: of many new nodes, and else.
const GATHERED_OF_MANY_BYTES: i64 = 8 * 1024 * 1024;
const GATHERED_BYTES: i64 = 1024 * 1024;

/// New nodes that are indexed together: more make fewer segments, and fewer are indexed while their
/// pages are at hand.
const WAITING_MAX: i64 = 16_000;

/// Segments of one level that are merged as they come: of the first nodes of all, and else.
const SEGMENTS_OF_FIRST: i64 = 16;
const SEGMENTS: i64 = 4;

/// Indexes of new nodes whose entries come in no order.
const UNORDERED: [&str; 2] = ["node_by_name", "diff_by_node"];

/// First nodes after which the indexes wait no longer.
const UNSORTED_MAX: usize = 100_000;

/// When new nodes are indexed.
#[derive(Debug)]
pub(super) enum Indexing<'a> {
    /// As they come, by the trigger.
    AtOnce,
    /// Those after `indexed` at the end; then the trigger is made again. What makes the indexes
    /// that wait, too, is in `indexes`.
    Later { indexed: i64, trigger: String, indexes: Vec<String>, _cache: LargeCache<'a> },
}

impl Batch<'_> {
    /// Says that many nodes are to come.
    pub(crate) fn defer_indexing(&mut self) -> Result<(), StoreError> {
        const NEWEST: &str = "
            SELECT ifnull((SELECT max(key) FROM node), 0), EXISTS (SELECT 1 FROM diff)";
        let doing = "set the index aside";
        if matches!(self.indexing, Indexing::AtOnce) {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let (indexed, has_history): (i64, bool) =
                self.tx.query_row(NEWEST, [], read).doing(doing)?;
            let is_first = indexed == 0 && !has_history;
            let trigger = self.set_aside("TRIGGER", "node_fts_insert")?;
            let waiting: &[&str] = if is_first { &UNORDERED } else { &[] };
            let indexes = waiting.iter().map(|it| self.set_aside("INDEX", it));
            let indexes = indexes.collect::<Result<_, _>>()?;
            // Later ones may be indexed a few at a time, between others that change.
            let segments = if indexed == 0 { SEGMENTS_OF_FIRST } else { SEGMENTS };
            self.configure(GATHERED_OF_MANY_BYTES, segments)?;
            let _cache = LargeCache::of(self.tx)?;
            self.indexing = Indexing::Later { indexed, trigger, indexes, _cache };
        }
        Ok(())
    }

    /// Drops a part of the schema, and returns what makes it again.
    fn set_aside(&self, what: &str, name: &str) -> Result<String, StoreError> {
        const SQL: &str = "SELECT sql FROM sqlite_schema WHERE name = ?1";
        let doing = "set the index aside";
        let sql = self.tx.query_row(SQL, [name], |row| row.get(0)).doing(doing)?;
        self.tx.execute_batch(&format!("DROP {what} {name}")).doing(doing)?;
        Ok(sql)
    }

    /// Makes the indexes that wait, which whoever looks for nodes needs.
    pub(super) fn rebuild_indexes(&mut self) -> Result<(), StoreError> {
        if let Indexing::Later { indexes, .. } = &mut self.indexing {
            for sql in std::mem::take(indexes) {
                self.tx.execute_batch(&sql).doing("take up an index again")?;
            }
        }
        Ok(())
    }

    /// Indexes what came of many, if that is enough; makes the indexes that wait if so many nodes
    /// came that what is sorted would take much memory.
    pub(super) fn index_meanwhile(&mut self) -> Result<(), StoreError> {
        if let Indexing::Later { indexed, .. } = &self.indexing
            && WAITING_MAX <= self.newest()? - indexed
        {
            self.index_waiting()?;
        }
        if UNSORTED_MAX <= self.counts.added { self.rebuild_indexes() } else { Ok(()) }
    }

    /// Indexes what waits, and from here on whatever comes as it comes.
    pub(super) fn index_at_once(&mut self) -> Result<(), StoreError> {
        self.rebuild_indexes()?;
        self.index_waiting()?;
        if let Indexing::Later { trigger, .. } = &self.indexing {
            self.tx.execute_batch(trigger).doing("take up the index again")?;
            self.configure(GATHERED_BYTES, SEGMENTS)?;
            self.indexing = Indexing::AtOnce;
        }
        Ok(())
    }

    fn configure(&self, gathered_bytes: i64, segments: i64) -> Result<(), StoreError> {
        const SET: &str = "INSERT INTO node_fts (node_fts, rank) VALUES (?1, ?2)";
        for (setting, value) in [("hashsize", gathered_bytes), ("automerge", segments)] {
            self.tx.execute(SET, params![setting, value]).doing("set up the index")?;
        }
        Ok(())
    }

    /// A node was added.
    pub(super) fn index_later(&mut self, key: NodeKey) -> Result<(), StoreError> {
        match &self.indexing {
            // A key that was free again is not told by where new keys begin.
            Indexing::Later { indexed, .. } if key.0 <= *indexed => self.index(key.0 - 1, key.0),
            _ => Ok(()),
        }
    }

    /// A node is about to change in the index, so it must be there.
    pub(super) fn index_before(&mut self, key: NodeKey) -> Result<(), StoreError> {
        match &self.indexing {
            Indexing::Later { indexed, .. } if *indexed < key.0 => self.index_waiting(),
            _ => Ok(()),
        }
    }

    fn index_waiting(&mut self) -> Result<(), StoreError> {
        let newest = self.newest()?;
        let Indexing::Later { indexed, .. } = &mut self.indexing else { return Ok(()) };
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
        self.tx.run(INDEX, params![since, newest], "index nodes").map(drop)
    }
}

#[cfg(test)]
mod tests;
