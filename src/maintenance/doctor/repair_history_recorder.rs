//! The snapshot of a repair that knows what nodes were: a rollback beyond it works as before.

use rusqlite::{Connection, params};

use super::compute_state_fingerprint;
use crate::model::clock::UnixMillis;
use crate::model::identity::ContentHash;
use crate::store::hashes_before_repairs::REPAIR_MESSAGE;
use crate::store::node_columns::SqlTemplate;
use crate::store::{PreparedStatements, StoreError};

/// The step of statements here.
const DOING: &str = "record a repair";

/// Records what a repair changes, in its transaction, as a snapshot that follows HEAD.
pub(super) struct RepairHistoryRecorder {
    id: i64,
    n_changes: i64,
}

impl RepairHistoryRecorder {
    /// Begins a snapshot where the rows have the state that HEAD says. Elsewhere their changes
    /// would not lead back to it.
    pub(super) fn begin(
        conn: &Connection,
        now: UnixMillis,
    ) -> Result<Option<RepairHistoryRecorder>, StoreError> {
        const FOLLOW: &str = "
            INSERT INTO snapshot (parent, cursor_hash, message, compile_root, created_at)
            VALUES (?1, '', ?2, '', ?3)";
        let Some((head, hash)) = head_snapshot(conn)? else { return Ok(None) };
        if hash != ContentHash(compute_state_fingerprint(conn)?).to_string() {
            return Ok(None);
        }
        conn.run(FOLLOW, params![head, REPAIR_MESSAGE, now.0], DOING)?;
        Ok(Some(RepairHistoryRecorder { id: conn.last_insert_rowid(), n_changes: 0 }))
    }

    /// Records what a node was before its text gets another hash.
    pub(super) fn record_text(
        &mut self,
        conn: &Connection,
        node: i64,
        hash: &str,
    ) -> Result<(), StoreError> {
        static RECORD: SqlTemplate = SqlTemplate::new(
            "
            INSERT INTO diff (snapshot, seq, op, node_id, new_hash, conflict, {version})
            SELECT ?1, ?2, 'mod', node.id, ?3, 0, {present}
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN file ON file.id = node.file
             WHERE node.key = ?4",
        );
        self.n_changes += 1;
        conn.run(RECORD.text(), params![self.id, self.n_changes, hash, node], DOING).map(drop)
    }

    /// Makes the snapshot HEAD, with the fingerprint of the rows.
    pub(super) fn end(self, conn: &Connection, now: UnixMillis) -> Result<(), StoreError> {
        const SET_HASH: &str = "UPDATE snapshot SET cursor_hash = ?2 WHERE id = ?1";
        const SET_KEPT: &str = "UPDATE memory SET fingerprint = ?1";
        const MOVE_HEAD: &str = "
            UPDATE cursor SET snapshot = ?1, updated_at = ?2 WHERE name = 'HEAD'";
        const COUNT: &str = "
            INSERT OR REPLACE INTO change_count (snapshot, added, modified, removed)
            VALUES (?1, 0, ?2, 0)";
        let computed = compute_state_fingerprint(conn)?;
        let hash = ContentHash(computed).to_string();
        conn.run(SET_HASH, params![self.id, hash], DOING)?;
        conn.run(SET_KEPT, [computed.cast_signed()], DOING)?;
        conn.run(MOVE_HEAD, params![self.id, now.0], DOING)?;
        conn.run(COUNT, params![self.id, self.n_changes], DOING).map(drop)
    }
}

/// Returns the snapshot of HEAD, and the fingerprint that it has.
pub(super) fn head_snapshot(conn: &Connection) -> Result<Option<(i64, String)>, StoreError> {
    const HEAD: &str = "
        SELECT snapshot.id, snapshot.cursor_hash
          FROM cursor
          JOIN snapshot ON snapshot.id = cursor.snapshot
         WHERE cursor.name = 'HEAD'";
    conn.find(HEAD, [], |row| Ok((row.get(0)?, row.get(1)?)), "read HEAD")
}
