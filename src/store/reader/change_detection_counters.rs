//! Change counters: a few numbers by which a watcher notices changes of the memory.
//!
//! At least one of them differs after any process changes something that the memory shows.

use super::Reader;
use crate::model::identity::ContentHash;
use crate::store::{PreparedStatements, StoreError};

/// The numbers by which a change is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChangeDetectionCounters {
    /// The snapshot at HEAD; 0 before the first.
    pub(crate) head: i64,
    /// When the snapshot at HEAD was made, in ms since the Unix epoch; 0 before the first.
    pub(crate) head_at: i64,
    /// The oldest snapshot kept; 0 before the first.
    pub(crate) oldest: i64,
    /// Fingerprint of the nodes.
    pub(crate) fingerprint: ContentHash,
    /// The memory clock.
    pub(crate) attended: i64,
    /// Grows with changes of manual edges.
    pub(crate) edges: i64,
    /// Grows with changes of the list of files.
    pub(crate) files: i64,
    /// Grows when a node is warmed, pinned or unpinned.
    pub(crate) heats: i64,
    /// Grows with changes of custom views, with repairs and with restores.
    pub(crate) views: i64,
}

impl ChangeDetectionCounters {
    /// Returns whether both are of one state of the nodes, reached in the same way. A restore may
    /// lead to another state with the same number.
    pub(crate) fn is_same_head(&self, other: &ChangeDetectionCounters) -> bool {
        let head = |it: &ChangeDetectionCounters| (it.head, it.head_at, it.fingerprint);
        head(self) == head(other)
    }
}

impl Reader {
    /// Returns the numbers.
    pub(crate) fn change_counters(&self) -> Result<ChangeDetectionCounters, StoreError> {
        const COUNTERS: &str = "
            SELECT ifnull(head.id, 0), ifnull(head.created_at, 0),
                   ifnull((SELECT min(id) FROM snapshot), 0),
                   memory.fingerprint, memory.attended, pulse.edges, pulse.files, pulse.heats,
                   pulse.views
              FROM memory, pulse
              LEFT JOIN cursor ON cursor.name = 'HEAD'
              LEFT JOIN snapshot AS head ON head.id = cursor.snapshot";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(ChangeDetectionCounters {
                head: row.get(0)?,
                head_at: row.get(1)?,
                oldest: row.get(2)?,
                fingerprint: ContentHash(row.get::<_, i64>(3)?.cast_unsigned()),
                attended: row.get(4)?,
                edges: row.get(5)?,
                files: row.get(6)?,
                heats: row.get(7)?,
                views: row.get(8)?,
            })
        };
        self.conn.row(COUNTERS, [], read, "read the change counters")
    }

    /// Returns whether the present state came from an earlier one by changes that the history
    /// names. It did not where snapshots were dropped or another memory was restored.
    pub(crate) fn has_gone_on_from(
        &self,
        before: &ChangeDetectionCounters,
    ) -> Result<bool, StoreError> {
        const GONE_ON: &str = "
            SELECT 1
              FROM snapshot
              JOIN cursor ON cursor.name = 'HEAD' AND snapshot.id <= cursor.snapshot
             WHERE snapshot.id = ?1 AND created_at = ?2 AND cursor_hash = ?3";
        if before.head == 0 {
            return Ok(true);
        }
        let (head, at, hash) = (before.head, before.head_at, before.fingerprint.to_string());
        self.conn.has(GONE_ON, rusqlite::params![head, at, hash], "look for a snapshot")
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
