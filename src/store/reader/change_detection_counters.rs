//! Change counters: a few numbers by which a watcher notices changes of the memory.
//!
//! At least one of them differs after any process changes something that the memory shows.

use super::Reader;
use crate::store::{PreparedStatements, StoreError};

/// The numbers by which a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeDetectionCounters {
    /// The snapshot at HEAD; 0 before the first.
    pub(crate) head: i64,
    /// The oldest snapshot kept; 0 before the first.
    pub(crate) oldest: i64,
    /// The memory clock.
    pub(crate) attended: i64,
    /// Grows with changes of manual edges.
    pub(crate) edges: i64,
    /// Grows with changes of the list of files.
    pub(crate) files: i64,
    /// Grows when a node is warmed, pinned or unpinned.
    pub(crate) heats: i64,
    /// Grows with changes of custom views, and with repairs.
    pub(crate) views: i64,
}

impl Reader {
    /// Returns the numbers.
    pub(crate) fn change_counters(&self) -> Result<ChangeDetectionCounters, StoreError> {
        const COUNTERS: &str = "
            SELECT ifnull((SELECT snapshot FROM cursor WHERE name = 'HEAD'), 0),
                   ifnull((SELECT min(id) FROM snapshot), 0),
                   memory.attended, pulse.edges, pulse.files, pulse.heats,
                   pulse.views
              FROM memory, pulse";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(ChangeDetectionCounters {
                head: row.get(0)?,
                oldest: row.get(1)?,
                attended: row.get(2)?,
                edges: row.get(3)?,
                files: row.get(4)?,
                heats: row.get(5)?,
                views: row.get(6)?,
            })
        };
        self.conn.row(COUNTERS, [], read, "read the change counters")
    }

    /// Returns whether a snapshot after `snapshot` changed a node of a file.
    pub(crate) fn has_file_changes_since(&self, snapshot: i64) -> Result<bool, StoreError> {
        const CHANGES: &str = "
            SELECT 1
              FROM diff
              LEFT JOIN node ON node.id = diff.node_id
             WHERE snapshot > ?1
               AND (old_path IS NOT NULL OR node.file IS NOT NULL)";
        self.conn.has(CHANGES, [snapshot], "find changes of files")
    }

    /// Returns whether there is a node that cools.
    pub(crate) fn has_cooling_nodes(&self) -> Result<bool, StoreError> {
        const COOLING: &str = "
            SELECT 1
              FROM node
              LEFT JOIN heat ON heat.node = node.key
             WHERE NOT ifnull(heat.pinned, 0)";
        self.conn.has(COOLING, [], "find nodes that cool")
    }
}
