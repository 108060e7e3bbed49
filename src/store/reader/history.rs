//! Queries of the history: snapshots, changes, earlier versions.

use rusqlite::{Row, params};

use super::{Reader, limit};
use crate::store::history_reader::{ChangePosition, HistoryReader, NodeVersionWithoutText};
use crate::store::record::read_id;
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Snapshots after `from`, up to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotRange {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

impl Reader {
    /// Returns the reader of the history.
    pub(crate) fn versions(&self) -> HistoryReader<'_> {
        HistoryReader::of(&self.conn)
    }

    /// Returns the ids of siblings of `side`, now or since a snapshot; maybe others.
    pub(crate) fn siblings_since(
        &self,
        side: &NodeVersionWithoutText,
        since: i64,
    ) -> Result<Vec<String>, StoreError> {
        const OF_NODE: &str = "
            SELECT id FROM node WHERE parent = (SELECT key FROM node WHERE id = ?1)
             UNION
            SELECT node_id FROM diff WHERE ?2 < snapshot AND old_parent = ?1";
        const OF_FILE: &str = "
            SELECT id
              FROM node
             WHERE parent IS NULL
               AND file IS (SELECT id FROM file WHERE root = ?1 AND path = ?2)
             UNION
            SELECT node_id
              FROM diff
             WHERE ?3 < snapshot AND old_parent IS NULL AND old_root IS ?1 AND old_path IS ?2";
        let read = |row: &Row<'_>| read_id(row, 0);
        let found = match &side.parent {
            Some(parent) => self.all(OF_NODE, params![parent, since], read),
            None => self.all(OF_FILE, params![side.root, side.path, since], read),
        };
        found.doing("list siblings of before")
    }

    /// Returns the number of a node's changes before a moment, counting at most `n_max`.
    pub(crate) fn count_changes_of(
        &self,
        node_id: &str,
        before: ChangePosition,
        n_max: usize,
    ) -> Result<usize, StoreError> {
        const COUNT: &str = "
            SELECT count(*) FROM (
                SELECT 1 FROM diff
                 WHERE node_id = ?1 AND (snapshot, seq) < (?2, ?3) AND op <> 'rank'
                 LIMIT ?4
            )";
        let args = params![node_id, before.snapshot, before.seq, limit(n_max)];
        let n: u32 = self.conn.query_row(COUNT, args, |row| row.get(0)).doing("count changes")?;
        Ok(n as usize)
    }

    /// Returns the last change of each node that changed in `range`, after a moment.
    ///
    /// Newest snapshots come first, the changes of one in the order of their recording. A node that
    /// came and went within the range has none.
    pub(crate) fn last_changes(
        &self,
        range: SnapshotRange,
        after: Option<ChangePosition>,
        n_max: usize,
    ) -> Result<Vec<(ChangePosition, String)>, StoreError> {
        const LAST: &str = "
            SELECT d.snapshot, d.seq, d.node_id
              FROM snapshot AS s
             CROSS JOIN diff AS d ON d.snapshot = s.id
             WHERE ?1 < s.id AND s.id <= ?2
               AND iif(s.id = ?2, ?3, -1) < d.seq
               AND d.op <> 'rank'
               AND (d.op <> 'rem' OR 'add' <> (
                   SELECT op FROM diff AS first
                    WHERE first.node_id = d.node_id AND ?1 < first.snapshot
                    ORDER BY first.snapshot, first.seq
                    LIMIT 1
               ))
               AND NOT EXISTS (
                   SELECT 1 FROM diff AS later
                    WHERE later.node_id = d.node_id
                      AND (later.snapshot, later.seq) > (d.snapshot, d.seq)
                      AND later.snapshot <= ?4
                      AND later.op <> 'rank'
               )
             ORDER BY s.id DESC, d.seq
             LIMIT ?5";
        let (newest, seq) = after.map_or((range.to, 0), |it| (it.snapshot, it.seq));
        let args = params![range.from, newest, seq, range.to, limit(n_max)];
        let read = |row: &Row<'_>| {
            Ok((ChangePosition { snapshot: row.get(0)?, seq: row.get(1)? }, read_id(row, 2)?))
        };
        self.all(LAST, args, read).doing("list changes")
    }

    /// Returns whether a file's new text replaced an agent's overlay in one of the node's changes.
    pub(crate) fn has_conflict(
        &self,
        node_id: &str,
        range: SnapshotRange,
    ) -> Result<bool, StoreError> {
        const CONFLICT: &str = "
            SELECT 1 FROM diff
             WHERE node_id = ?1 AND ?2 < snapshot AND snapshot <= ?3 AND conflict = 1";
        self.conn.has(CONFLICT, params![node_id, range.from, range.to], "find conflicts")
    }
}
