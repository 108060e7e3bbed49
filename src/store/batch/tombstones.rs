//! Tombstones in a write: the forgotten blocks of a file, which its compile skips.

use rusqlite::params;

use super::Batch;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::NodeType;
use crate::store::{ErrorContext, FileId, ForgottenNodeTombstone, PreparedStatements, StoreError};

impl Batch<'_> {
    /// Returns the tombstones of a file, in document order.
    pub(crate) fn tombstones(
        &self,
        file: FileId,
    ) -> Result<Vec<ForgottenNodeTombstone>, StoreError> {
        const TOMBSTONES: &str = "
            SELECT node_id, parent, node_type, level, source_hash, start_byte, end_byte
              FROM tombstone
             WHERE file = ?1
             ORDER BY start_byte, node_id";
        let mut query = self.tx.prepare_cached(TOMBSTONES).doing("read tombstones")?;
        let rows = query.query_map([file.0], |row| {
            let (id, parent): (String, Option<String>) = (row.get(0)?, row.get(1)?);
            let (node_type, hash): (String, String) = (row.get(2)?, row.get(4)?);
            let (start, end): (i64, i64) = (row.get(5)?, row.get(6)?);
            let parsed =
                (NodeId::parse(&id), NodeType::parse(&node_type), ContentHash::parse(&hash));
            let (Some(id), Some(node_type), Some(source_hash)) = parsed else { return Ok(None) };
            Ok(Some(ForgottenNodeTombstone {
                id,
                parent: parent.as_deref().and_then(NodeId::parse),
                node_type,
                level: row.get(3)?,
                source_hash,
                span: edge(start)..edge(end),
            }))
        });
        let rows = rows.doing("read tombstones")?;
        // A row that cannot be parsed is skipped.
        rows.filter_map(Result::transpose).collect::<Result<_, _>>().doing("read tombstones")
    }

    /// Records the place of a forgotten block after a compile of its file.
    pub(crate) fn place_tombstone(
        &self,
        file: FileId,
        it: &ForgottenNodeTombstone,
    ) -> Result<(), StoreError> {
        const SET: &str = "
            UPDATE tombstone
               SET parent = ?2, start_byte = ?3, end_byte = ?4
             WHERE node_id = ?1 AND file = ?5";
        let byte = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
        let parent = it.parent.map(|it| it.to_string());
        self.tx
            .prepare_cached(SET)
            .and_then(|mut set| {
                let (start, end) = (byte(it.span.start), byte(it.span.end));
                set.execute(params![it.id.to_string(), parent, start, end, file.0])
            })
            .map(drop)
            .doing("store a tombstone's place")
    }

    /// Moves a tombstone to the file that has its block now, with the block's place there. Returns
    /// whether it did: not into a file that has the node or a tombstone of it.
    pub(crate) fn move_tombstone(
        &mut self,
        from: FileId,
        into: FileId,
        it: &ForgottenNodeTombstone,
    ) -> Result<bool, StoreError> {
        const IS_THERE: &str = "
            SELECT 1 FROM tombstone WHERE node_id = ?1 AND file = ?2
            UNION ALL
            SELECT 1 FROM node WHERE id = ?1 AND file = ?2";
        const MOVE: &str = "UPDATE tombstone SET file = ?3 WHERE node_id = ?1 AND file = ?2";
        let (id, doing) = (it.id.to_string(), "move a tombstone");
        if self.tx.has(IS_THERE, params![id, into.0], doing)? {
            return Ok(false);
        }
        self.tx.run(MOVE, params![id, from.0, into.0], doing)?;
        self.place_tombstone(into, it)?;
        self.drop_file_if_gone(from)?;
        Ok(true)
    }

    /// Returns whether a node is forgotten, and no other file has a tombstone of it.
    pub(crate) fn is_only_forgotten_in(
        &self,
        file: FileId,
        id: NodeId,
    ) -> Result<bool, StoreError> {
        const IS_ELSEWHERE: &str = "
            SELECT 1 FROM tombstone WHERE node_id = ?1 AND file <> ?2
            UNION ALL
            SELECT 1 FROM node WHERE id = ?1";
        let asked = params![id.to_string(), file.0];
        Ok(!self.tx.has(IS_ELSEWHERE, asked, "find a forgotten node")?)
    }

    /// Deletes the tombstone of a block that changed or left its file.
    pub(crate) fn drop_tombstone(&self, file: FileId, id: NodeId) -> Result<(), StoreError> {
        const DROP: &str = "DELETE FROM tombstone WHERE node_id = ?1 AND file = ?2";
        self.tx.run(DROP, params![id.to_string(), file.0], "drop a tombstone").map(drop)
    }
}

fn edge(at: i64) -> usize {
    usize::try_from(at).unwrap_or(0)
}
