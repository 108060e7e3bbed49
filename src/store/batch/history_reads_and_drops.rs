//! Reads the history in a write, and drops snapshots for good.

use rusqlite::params;

use super::Batch;
use crate::model::identity::ContentHash;
use crate::store::history_reader::HistoryReader;
use crate::store::source_files::{self, files_without_nodes};
use crate::store::{ErrorContext, FileId, PreparedStatements, StoreError};

/// A node that changed since a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeChangedSince {
    pub(crate) node_id: String,
    /// Whether only its order key changed.
    pub(crate) is_rank_only: bool,
}

impl Batch<'_> {
    /// Returns the reader of the history.
    pub(crate) fn versions(&self) -> HistoryReader<'_> {
        HistoryReader::of(self.tx)
    }

    /// Returns the nodes that changed since a snapshot, by id.
    pub(crate) fn touched_since(&self, snapshot: i64) -> Result<Vec<NodeChangedSince>, StoreError> {
        const TOUCHED: &str = "
            SELECT node_id, min(op = 'rank')
              FROM diff
             WHERE ?1 < snapshot
             GROUP BY node_id
             ORDER BY node_id";
        self.tx.rows(
            TOUCHED,
            [snapshot],
            |row| Ok(NodeChangedSince { node_id: row.get(0)?, is_rank_only: row.get(1)? }),
            "list what changed",
        )
    }

    /// Returns the fingerprint of the present state.
    pub(crate) fn fingerprint(&mut self) -> Result<ContentHash, StoreError> {
        const KEPT: &str = "SELECT fingerprint FROM memory";
        self.update_fingerprint()?;
        let kept: i64 =
            self.tx.query_row(KEPT, [], |row| row.get(0)).doing("read the fingerprint")?;
        Ok(ContentHash(kept.cast_unsigned().wrapping_add(self.fingerprint_delta)))
    }

    /// Drops every snapshot after `target`, with its changes and texts, and returns their number.
    ///
    /// The present state must be that of `target`. This write's own snapshot stays, follows
    /// `target` and has no changes. The bytes are gone once the file is scrubbed.
    pub(crate) fn drop_after(&mut self, target: i64) -> Result<usize, StoreError> {
        // The base text below an overlay is needed to notice the file's next change, unless a
        // dropped compile brought it.
        const DROP_TEXTS: &str = "
            DELETE FROM blob
             WHERE hash IN (SELECT old_hash FROM diff WHERE ?1 < snapshot)
               AND NOT EXISTS (
                   SELECT 1 FROM diff WHERE diff.old_hash = blob.hash AND diff.snapshot <= ?1)
               AND hash NOT IN (
                   SELECT source_hash FROM node
                    WHERE source_hash IS NOT NULL AND source_hash <> content_hash
                   EXCEPT
                   SELECT new_hash
                     FROM snapshot
                     JOIN diff ON diff.snapshot = snapshot.id
                    WHERE ?1 < snapshot.id AND compile_root <> '')";
        const DROP_CHANGES: &str = "DELETE FROM diff WHERE ?1 < snapshot";
        const MOVE_HEAD: &str = "
            UPDATE cursor SET snapshot = ?1, updated_at = ?2 WHERE name = 'HEAD'";
        const MOVE_OWN: &str = "UPDATE snapshot SET parent = ?1 WHERE id = ?2";
        const DROP: &str = "DELETE FROM snapshot WHERE ?1 < id AND id IS NOT ?2";
        let doing = "drop snapshots";
        let own = self.snapshot;
        for file in self.files_only_after(target)? {
            self.forget_file(file)?;
        }
        self.tx.execute(DROP_TEXTS, [target]).doing(doing)?;
        self.tx.execute(DROP_CHANGES, [target]).doing(doing)?;
        self.tx.execute(MOVE_HEAD, params![target, self.now.0]).doing(doing)?;
        self.tx.execute(MOVE_OWN, params![target, own]).doing(doing)?;
        self.drop_receipts_after(target)?;
        let n_dropped = self.tx.execute(DROP, params![target, own]).doing(doing)?;
        source_files::forget_lost_roots(self.tx)?;
        Ok(n_dropped)
    }

    /// Returns the files whose nodes are gone and were never in a state up to `target`.
    ///
    /// A file that is still on the disk is new to the next compile, and keeps its row where that
    /// says what was forgotten of it before. A node that moved there and back with one above it has
    /// no change of its own.
    fn files_only_after(&self, target: i64) -> Result<Vec<FileId>, StoreError> {
        const FILES: &str = concat!(
            files_without_nodes!(),
            "
               AND NOT EXISTS (
                   SELECT 1
                     FROM diff
                    WHERE snapshot <= ?1 AND old_root = file.root AND old_path = file.path)
               AND NOT EXISTS (
                   SELECT 1
                     FROM tombstone
                    WHERE tombstone.file = file.id
                      AND NOT file.gone
                      AND node_id NOT IN (SELECT node_id FROM diff WHERE ?1 < snapshot)
                      AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = tombstone.node_id))"
        );
        self.tx.rows(FILES, [target], |row| row.get(0).map(FileId), "find dropped files")
    }

    fn forget_file(&mut self, file: FileId) -> Result<(), StoreError> {
        self.dirty_refs.file_removed(self.tx, file)?;
        source_files::forget(self.tx, file)
    }
}
