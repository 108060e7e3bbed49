//! Updates the full-text index, and merges its segments in small steps.
//!
//! A trigger indexes each new node at once, which suits few nodes. Each of many would be held with
//! its own savepoint, so a large write drops the trigger within its own transaction, indexes its
//! new nodes in large groups, and restores the trigger at the end.
//!
//! Each write adds a segment to the lowest level of the index, and a search reads all segments.
//! SQLite by itself merges all segments of a full level in the commit that fills it, whatever their
//! size. Here a write that finds a full level merges a bounded number of pages, and large segments
//! are lifted to the level of their size, where small ones do not meet them.

mod segments;

use super::Batch;
use crate::store::connection::LargeCache;
use crate::store::{ErrorStep, NodeKey, Prepared, StoreError, one};

/// New nodes that are indexed together. More make fewer segments; fewer are indexed while their
/// pages are cached.
const WAITING_MAX: i64 = 16_000;

/// The time at which new nodes are indexed.
#[derive(Debug)]
pub(super) enum Indexing<'a> {
    /// At their insertion, by the trigger.
    AtOnce,
    /// In groups: nodes after the key `indexed` wait. `trigger` is the SQL that restores it.
    Later { indexed: i64, trigger: String, _cache: LargeCache<'a> },
}

impl Batch<'_> {
    /// Defers indexing, for a write with many new nodes.
    pub(crate) fn defer_indexing(&mut self) -> Result<(), StoreError> {
        const SQL: &str = "SELECT sql FROM sqlite_schema WHERE name = 'node_fts_insert'";
        const DROP: &str = "DROP TRIGGER node_fts_insert";
        let doing = "set the index aside";
        if matches!(self.indexing, Indexing::AtOnce) {
            let indexed = self.newest()?;
            let trigger = self.tx.query_row(SQL, [], |row| row.get(0)).doing(doing)?;
            self.tx.execute_batch(DROP).doing(doing)?;
            let _cache = LargeCache::of(self.tx)?;
            segments::configure(self.tx)?;
            self.indexing = Indexing::Later { indexed, trigger, _cache };
        }
        Ok(())
    }

    /// Lifts large segments of the index at the end of the write, the last of many.
    pub(crate) fn lift_segments(&mut self) {
        self.lifts_segments = true;
    }

    /// Merges many pages of the index if a level is full, and returns whether one was.
    pub(in crate::store) fn merge_many(&self) -> Result<bool, StoreError> {
        segments::merge_segments(self.tx, segments::MERGED_OF_MANY_PAGES)
    }

    /// Indexes the waiting nodes if they are many.
    pub(super) fn index_meanwhile(&mut self) -> Result<(), StoreError> {
        match &self.indexing {
            Indexing::Later { indexed, .. } if WAITING_MAX <= self.newest()? - indexed => {
                self.index_waiting()
            }
            _ => Ok(()),
        }
    }

    /// Indexes the waiting nodes, restores the trigger for all later ones, and merges what is due.
    pub(super) fn index_at_once(&mut self) -> Result<(), StoreError> {
        self.index_waiting()?;
        if let Indexing::Later { trigger, .. } = &self.indexing {
            self.tx.execute_batch(trigger).doing("resume indexing")?;
            self.indexing = Indexing::AtOnce;
        } else if self.snapshot.is_some() {
            segments::merge_segments(self.tx, segments::MERGED_PAGES)?;
        }
        if self.lifts_segments { segments::lift(self.tx) } else { Ok(()) }
    }

    /// Notes an added node.
    pub(super) fn index_later(&mut self, key: NodeKey) -> Result<(), StoreError> {
        match &self.indexing {
            // A reused key is below those of the waiting nodes, so it is indexed now.
            Indexing::Later { indexed, .. } if key.0 <= *indexed => self.index(key.0 - 1, key.0),
            _ => Ok(()),
        }
    }

    /// Indexes the waiting nodes if one of them is about to change.
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
        self.tx.run(INDEX, [since, newest], "index nodes").map(drop)
    }
}

#[cfg(test)]
mod tests;
