//! Blocks the next import of a forgotten note, which a write knows by a hash.

use super::Batch;
use crate::model::identity::NodeId;
use crate::model::imported_note_keys::{IMPORTED_ROOT, note_hash, note_key};
use crate::store::{NodeRecord, PreparedStatements, StoreError};

impl Batch<'_> {
    /// Returns whether the note of this key was forgotten.
    pub(crate) fn is_note_forgotten(&self, program: &str, key: &str) -> Result<bool, StoreError> {
        const FIND: &str = "SELECT 1 FROM forgotten_note WHERE hash = ?1";
        self.tx.has(FIND, [note_hash(program, key).to_string()], "look for a forgotten note")
    }

    /// Keeps a node that is about to be forgotten from the next import, if it is an imported note.
    pub(crate) fn keep_note_forgotten(&self, node: &NodeRecord) -> Result<(), StoreError> {
        const ADD: &str = "INSERT OR IGNORE INTO forgotten_note (hash) VALUES (?1)";
        self.set_forgotten(node, ADD)
    }

    /// Lets an import know a note again that a rollback restored.
    pub(crate) fn let_note_return(&self, node: &NodeRecord) -> Result<(), StoreError> {
        const REMOVE: &str = "DELETE FROM forgotten_note WHERE hash = ?1";
        self.set_forgotten(node, REMOVE)
    }

    /// Returns whether the history knows a node from the time up to a snapshot.
    pub(crate) fn was_there_by(&self, id: NodeId, snapshot: i64) -> Result<bool, StoreError> {
        const FIND: &str = "SELECT 1 FROM diff WHERE node_id = ?1 AND snapshot <= ?2";
        self.tx.has(FIND, (id.to_string(), snapshot), "search the history")
    }

    fn set_forgotten(&self, node: &NodeRecord, sql: &'static str) -> Result<(), StoreError> {
        const PROGRAM: &str = "
            SELECT program.label
              FROM node AS program
              JOIN node AS root ON root.key = program.parent
             WHERE program.key = ?1
               AND root.label = ?2
               AND root.parent IS NULL
               AND root.file IS NULL";
        let doing = "note a forgotten note";
        let mark = node.attributes.key_path().filter(|_| node.place.file.is_none());
        let (Some(key), Some(parent)) = (mark.and_then(note_key), node.place.parent) else {
            return Ok(());
        };
        let of = (parent.0, IMPORTED_ROOT);
        let program: Option<String> = self.tx.find(PROGRAM, of, |row| row.get(0), doing)?;
        let Some(program) = program else { return Ok(()) };
        self.tx.run(sql, [note_hash(&program, key).to_string()], doing).map(drop)
    }
}
