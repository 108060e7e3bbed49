//! Brings the true text of a file back where a repair accepted an altered one.

use rusqlite::params;

use super::Batch;
use crate::model::identity::{ContentHash, NodeId};
use crate::store::past_states::unrestorable_snapshots;
use crate::store::{
    FileRow, NodeRecord, NodeRowId, PreparedStatements, StoreError, hashes_before_repairs,
};

impl Batch<'_> {
    /// Gives nodes of a file the hashes that their texts had before a repair. `row` is the file's
    /// row before it is read again.
    pub(crate) fn note_hashes_before_repairs(
        &self,
        row: &FileRow,
        nodes: &mut [NodeRecord],
    ) -> Result<(), StoreError> {
        let before = hashes_before_repairs::of_file(self.tx, row)?;
        for node in nodes {
            node.hash_before_repair = before.get(&node.key).copied();
        }
        Ok(())
    }

    /// Puts a file's text below an overlay that an agent wrote over an accepted one.
    pub(crate) fn replace_base(
        &self,
        node: &mut NodeRecord,
        hash: ContentHash,
        content: &str,
    ) -> Result<(), StoreError> {
        const KEEP: &str =
            "INSERT INTO blob (hash, content) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";
        self.tx.run(KEEP, params![hash.to_string(), content], "keep a base text")?;
        self.restore_base(node, hash)
    }

    /// Gives a node that leaves its file the base that the file still has, where a repair accepted
    /// another text, and gives up the snapshots that need it.
    pub(super) fn restore_accepted_base(&self, key: NodeRowId) -> Result<(), StoreError> {
        let Some(hash) = hashes_before_repairs::of_node(self.tx, key)? else { return Ok(()) };
        let Some(mut node) = self.at(key)? else { return Ok(()) };
        self.restore_base(&mut node, hash)?;
        self.give_up_without_texts(node.id)
    }

    /// Gives up the snapshots that need a text which a node had before a repair, and which its file
    /// did not bring back.
    pub(crate) fn give_up_without_texts(&self, node: NodeId) -> Result<(), StoreError> {
        unrestorable_snapshots::give_up_without_texts(self.tx, node)
    }
}
