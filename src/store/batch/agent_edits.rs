//! The agent's voice in a write: nodes said, moved, forgotten and revived by whoever is no file.
//!
//! What an agent says replaces a node's text and leaves `source_hash`, so that the file's next
//! compile knows whose words these are. A node that a file says and an agent takes out of it leaves
//! a tombstone, by which the file's block is passed over; a node that comes back to its file takes
//! its tombstone away and belongs to the file again.

use rusqlite::ToSql;

use super::{Batch, Conflict, FamilyOf, Op};
use crate::model::identity::{ContentHash, NodeId};
use crate::model::order_keys;
use crate::store::columns::Sql;
use crate::store::{FileId, NodeData, NodeKey, NodePlace, NodeRecord, Prepared, StoreError};

/// The path that nodes are born under which no file says.
const BIRTH_PATH: &str = "mcp:write";

impl Batch<'_> {
    /// The node of that id.
    pub(crate) fn find(&self, id: NodeId) -> Result<Option<NodeRecord>, StoreError> {
        static FIND: Sql = Sql::new("SELECT {record} FROM node WHERE id = ?1");
        Ok(self.records(&FIND, [id.to_string()], "find a node")?.pop())
    }

    /// The node of that key.
    pub(crate) fn at(&self, key: NodeKey) -> Result<Option<NodeRecord>, StoreError> {
        static AT: Sql = Sql::new("SELECT {record} FROM node WHERE key = ?1");
        Ok(self.records(&AT, [key.0], "find a node")?.pop())
    }

    /// The children of a node, in order.
    pub(crate) fn children_of(&self, of: NodeKey) -> Result<Vec<NodeRecord>, StoreError> {
        self.children(FamilyOf::Node(of))
    }

    /// Whoever stands under the same parent as `place`, in order.
    pub(crate) fn family_of(&self, place: NodePlace) -> Result<Vec<NodeRecord>, StoreError> {
        self.children(place.into())
    }

    /// The place behind the last child of a parent, at the end of a file, or of what no file owns.
    pub(crate) fn last_place(
        &self,
        file: Option<FileId>,
        parent: Option<NodeKey>,
    ) -> Result<NodePlace, StoreError> {
        let last = self.last_position(NodePlace { file, parent, position: 0 }.into())?;
        let position = last.map_or(order_keys::STEP, |it| it.saturating_add(order_keys::STEP));
        Ok(NodePlace { file, parent, position })
    }

    /// Adds a node that no file says. Its id is its birth id, with the first ordinal that is free.
    pub(crate) fn insert_agent_node(
        &mut self,
        data: &NodeData<'_>,
        place: NodePlace,
    ) -> Result<(NodeKey, NodeId), StoreError> {
        let mut ids = agent_node_ids(data);
        let id = loop {
            let id = ids.next().ok_or_else(too_many)?;
            if !self.is_id_taken(id)? {
                break id;
            }
        };
        let family = FamilyOf::from(place);
        // Behind the last sibling, no other term changes: a long family need not be summed up.
        let last = self.last_position(family)?;
        let is_alone = !self.touched.contains(&family) && last.is_none_or(|it| it < place.position);
        if !is_alone {
            self.touch(family)?;
        }
        let breadcrumb = self.breadcrumb_at(place)?;
        let key = self.insert(id, data, ContentHash::of(data.content), &breadcrumb, place)?;
        if is_alone {
            self.drift = self.drift.wrapping_add(self.term_of(key)?);
        }
        Ok((key, id))
    }

    /// The nodes that say exactly this, were born by an agent and never said anything else, in the
    /// order of their birth.
    pub(crate) fn agent_nodes_with_text(
        &self,
        data: &NodeData<'_>,
        n_max: usize,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        let mut found = Vec::new();
        for id in agent_node_ids(data).take(n_max) {
            match self.find(id)? {
                Some(stored) if stored.source_hash.is_none() && stored.content == data.content => {
                    found.push(stored);
                }
                // One that was forgotten since leaves a gap.
                Some(_) | None => (),
            }
        }
        Ok(found)
    }

    /// Makes a node say something else: its label, text, format and optional values, but not its
    /// type. What its file says of it is remembered.
    pub(crate) fn set_agent_text(
        &mut self,
        old: &NodeRecord,
        said: &NodeData<'_>,
    ) -> Result<(), StoreError> {
        static SET: Sql = Sql::new("UPDATE node SET format = ?2, {set_attributes} WHERE key = ?1");
        let hash = ContentHash::of(said.content);
        let is_same = hash == old.content_hash
            && said.label == old.label
            && said.format == old.format
            && said.attributes == old.attributes;
        if is_same {
            return Ok(());
        }
        // Its siblings name it by its id, so that no other term changes.
        let is_alone = !self.touched.contains(&old.place.into());
        if is_alone {
            self.drift = self.drift.wrapping_sub(self.term_of(old.key)?);
        }
        self.record(Op::Mod, old, Some(hash), Conflict::No)?;
        self.counts.modified += 1;
        self.set_text(old, said, hash)?;
        let format = said.format.as_str();
        let own: [&dyn ToSql; 2] = [&old.key.0, &format];
        let row: Vec<&dyn ToSql> = own.into_iter().chain(said.attributes.params()).collect();
        self.tx.run(SET.text(), &row[..], "change what a node is")?;
        if is_alone {
            self.drift = self.drift.wrapping_add(self.term_of(old.key)?);
        }
        if said.label != old.label { self.refresh_derived_below(old.key) } else { Ok(()) }
    }

    /// Puts a node elsewhere, with all that is below it. A move is a change even among the same
    /// siblings; see [`Batch::renumber`].
    ///
    /// Of several moves in one write, no cycle may be left at the end.
    pub(crate) fn move_to(&mut self, old: &NodeRecord, place: NodePlace) -> Result<(), StoreError> {
        if old.place == place {
            return Ok(());
        }
        self.touch(old.place.into())?;
        self.touch(place.into())?;
        self.record(Op::Mod, old, Some(old.content_hash), Conflict::No)?;
        self.counts.modified += 1;
        self.set_place(old, place)
    }

    /// Gives a node another position that leaves the order of its siblings, once all of them have
    /// theirs, as it was.
    pub(crate) fn renumber(&mut self, old: &NodeRecord, position: i64) -> Result<(), StoreError> {
        if old.place.position == position {
            return Ok(());
        }
        self.touch(old.place.into())?;
        self.record(Op::Rank, old, Some(old.content_hash), Conflict::No)?;
        self.set_place(old, NodePlace { position, ..old.place })
    }

    /// Takes a node out of the memory; of one that a file says, a tombstone remembers that, and of
    /// one that a rollback brought back from a file that is gone, since that may come back, too.
    /// Its children must have gone elsewhere or been forgotten before.
    pub(crate) fn forget(&mut self, old: &NodeRecord) -> Result<(), StoreError> {
        if old.source_hash.is_none()
            && let Some(file) = old.place.file
            && self.is_gone(file)?
            && let Some(said) = self.last_base_text(old.id)?
        {
            self.restore_base(&mut old.clone(), said)?;
        }
        self.add_tombstone(old.key)?;
        self.take_out(old, Conflict::No)?;
        match old.place.file {
            Some(file) => self.drop_file_if_gone(file),
            None => Ok(()),
        }
    }

    /// Adds a node that was here before, under its id. Where a tombstone in that file remembers it,
    /// the file says it again.
    pub(crate) fn restore_node(
        &mut self,
        id: NodeId,
        data: &NodeData<'_>,
        place: NodePlace,
    ) -> Result<NodeKey, StoreError> {
        self.touch(place.into())?;
        let breadcrumb = self.breadcrumb_at(place)?;
        let key = self.insert(id, data, ContentHash::of(data.content), &breadcrumb, place)?;
        self.remove_tombstone(key)?;
        Ok(key)
    }

    fn last_position(&self, family: FamilyOf) -> Result<Option<i64>, StoreError> {
        const OF_NODE: &str = "
            SELECT position FROM node WHERE parent = ?1 ORDER BY position DESC LIMIT 1";
        const OF_FILE: &str = "
            SELECT position
              FROM node
             WHERE parent IS NULL AND file IS ?1
             ORDER BY position DESC
             LIMIT 1";
        let (sql, argument) = family.ask(OF_NODE, OF_FILE);
        self.tx.find(sql, [argument], |row| row.get(0), "look for the last sibling")
    }
}

/// The ids that a node can get which no file says, best first.
fn agent_node_ids(data: &NodeData<'_>) -> impl Iterator<Item = NodeId> {
    (0..=u32::MAX).map(|ordinal| NodeId::birth(data.node_type, BIRTH_PATH, data.content, ordinal))
}

fn too_many() -> StoreError {
    StoreError::Corrupt { what: "four thousand million equal nodes".to_owned() }
}
