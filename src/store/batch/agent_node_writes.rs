//! Agent edits in a write: insert, overwrite, move, forget and restore nodes.
//!
//! An agent's text replaces a node's and leaves `source_hash`, so that the next compile of the file
//! recognizes it as an overlay. A node that belongs to a file and that an agent takes out of it
//! leaves a tombstone, by which the compile skips the file's block. A node that returns to its file
//! removes its tombstone and belongs to the file again.

use rusqlite::{Row, ToSql};

use super::entity_name_lookup_cache::KnownEntityNames;
use super::facets::NodeFacetAndEdgeRows;
use super::{AgentEditOverwritten, Batch, DiffOp, SiblingGroup};
use crate::model::database_state_fingerprint::term_of_node;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::order_keys;
use crate::model::typed_node_field_schemas::is_uuid;
use crate::store::node_columns::SqlTemplate;
use crate::store::{
    ErrorContext, FileId, NodePlace, NodeRecord, NodeRowId, OptionalColumnValues,
    PreparedStatements, StoreError, UnplacedNodeData,
};

impl Batch<'_> {
    /// Returns the node of an id.
    pub(crate) fn find(&self, id: NodeId) -> Result<Option<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new("SELECT {record} FROM node WHERE id = ?1");
        Ok(self.records(&FIND, [id.to_string()], "find a node")?.pop())
    }

    /// Returns the node of that id or UUID.
    pub(crate) fn find_any(&self, id: &str) -> Result<Option<NodeRecord>, StoreError> {
        if let Some(id) = NodeId::parse(id) {
            return self.find(id);
        }
        let uuid = id.to_ascii_lowercase();
        if is_uuid(&uuid) { self.find_typed(&uuid) } else { Ok(None) }
    }

    /// Returns the node of a key.
    pub(crate) fn at(&self, key: NodeRowId) -> Result<Option<NodeRecord>, StoreError> {
        static AT: SqlTemplate = SqlTemplate::new("SELECT {record} FROM node WHERE key = ?1");
        Ok(self.records(&AT, [key.0], "find a node")?.pop())
    }

    /// Returns the children of a node, in order.
    pub(crate) fn children_of(&self, of: NodeRowId) -> Result<Vec<NodeRecord>, StoreError> {
        self.children(SiblingGroup::Node(of))
    }

    /// Returns the nodes below nothing, neither a node nor a file, in order.
    #[cfg(test)]
    pub(crate) fn children_of_nobody(&self) -> Result<Vec<NodeRecord>, StoreError> {
        self.children(SiblingGroup::Nobody)
    }

    /// Returns the nodes that share the parent of `place`, in order.
    pub(crate) fn family_of(&self, place: NodePlace) -> Result<Vec<NodeRecord>, StoreError> {
        self.children(place.into())
    }

    /// Returns the place after the last child of a parent.
    ///
    /// Without a parent it is the end of a file, or of the nodes without one.
    pub(crate) fn last_place(
        &self,
        file: Option<FileId>,
        parent: Option<NodeRowId>,
    ) -> Result<NodePlace, StoreError> {
        let last = self.last_sibling(NodePlace { file, parent, position: 0 }.into())?;
        let position = last.map_or(order_keys::STEP, |it| it.0.saturating_add(order_keys::STEP));
        Ok(NodePlace { file, parent, position })
    }

    /// Inserts an agent's node. Its id is its birth id with the first free ordinal.
    pub(crate) fn insert_agent_node(
        &mut self,
        data: &UnplacedNodeData<'_>,
        place: NodePlace,
    ) -> Result<(NodeRowId, NodeId), StoreError> {
        let id = self.free_agent_id(data)?;
        let group = SiblingGroup::from(place);
        // After the last sibling, no other term changes, so a long group need not be summed up.
        let last = self.last_sibling(group)?;
        let is_last = last.as_ref().is_none_or(|it| it.0 < place.position);
        let is_alone = is_last && !self.touched.contains(&group);
        if !is_alone {
            self.touch(group)?;
        }
        let breadcrumb = self.breadcrumb_at(place)?;
        let hash = ContentHash::of(data.content);
        let key = self.insert(id, data, hash, &breadcrumb, place)?;
        if is_alone {
            let (parent, before) = (self.parent_name(group)?, last.map(|it| it.1));
            let (id, hash) = (id.to_string(), hash.to_string());
            let state = data.state(&id, &hash);
            let term = term_of_node(parent.as_deref(), before.as_deref(), &state);
            self.fingerprint_delta = self.fingerprint_delta.wrapping_add(term);
        }
        Ok((key, id))
    }

    /// Returns the birth id with the first free ordinal.
    fn free_agent_id(&mut self, data: &UnplacedNodeData<'_>) -> Result<NodeId, StoreError> {
        let first = agent_node_id(data, 0);
        for ordinal in self.taken.get(&first).copied().unwrap_or(0)..=u32::MAX {
            let id = agent_node_id(data, ordinal);
            if !self.is_id_taken(id)? {
                if 0 < ordinal {
                    self.note_taken(first, ordinal);
                }
                return Ok(id);
            }
        }
        Err(StoreError::Corrupt { what: "four thousand million equal nodes".to_owned() })
    }

    /// Returns agent-made nodes with exactly this text that never changed, in birth order.
    pub(crate) fn agent_nodes_with_text(
        &self,
        data: &UnplacedNodeData<'_>,
        n_max: usize,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        const EXISTS: &str = "SELECT 1 FROM node WHERE id = ?1";
        let doing = "find a node";
        let mut found = Vec::new();
        let mut exists = self.tx.prepared(EXISTS, doing)?;
        // A forgotten one leaves a gap.
        for ordinal in (0..=u32::MAX).take(n_max) {
            let id = agent_node_id(data, ordinal);
            if exists.exists([id.to_string()]).doing(doing)? {
                let is_it =
                    |it: &NodeRecord| it.source_hash.is_none() && it.content == data.content;
                found.extend(self.find(id)?.filter(is_it));
            }
        }
        Ok(found)
    }

    /// Replaces a node's label, text, format and optional values, but not its type. The base text
    /// stays known by its hash.
    pub(crate) fn set_agent_text(
        &mut self,
        old: &NodeRecord,
        new: &UnplacedNodeData<'_>,
    ) -> Result<(), StoreError> {
        static SET: SqlTemplate =
            SqlTemplate::new("UPDATE node SET format = ?2, {set_attributes} WHERE key = ?1");
        let hash = ContentHash::of(new.content);
        let is_same = hash == old.content_hash
            && new.label == old.label
            && new.format == old.format
            && new.attributes == old.attributes;
        if is_same {
            return Ok(());
        }
        // Its siblings' terms name it by its id, so that no other term changes.
        let is_alone = !self.touched.contains(&old.place.into());
        if is_alone {
            self.fingerprint_delta = self.fingerprint_delta.wrapping_sub(self.term_of(old.key)?);
        }
        self.record(DiffOp::Mod, old, Some(hash), AgentEditOverwritten::No)?;
        self.counts.modified += 1;
        let set = |batch: &mut Self| {
            if hash != old.content_hash || new.label != old.label {
                batch.set_text(old, new, hash)?;
            }
            let format = new.format.as_str();
            let own: [&dyn ToSql; 2] = [&old.key.0, &format];
            let row: Vec<&dyn ToSql> = own.into_iter().chain(new.attributes.params()).collect();
            batch.tx.run(SET.text(), &row[..], "change a node's type and attributes").map(drop)
        };
        self.set_with_facets(old, (&new.attributes, hash), set)?;
        if is_alone {
            self.fingerprint_delta = self.fingerprint_delta.wrapping_add(self.term_of(old.key)?);
        }
        if new.label != old.label { self.refresh_derived_below(old.key) } else { Ok(()) }
    }

    /// Runs statements that give a node other fields or another text, and makes its facets.
    fn set_with_facets(
        &mut self,
        old: &NodeRecord,
        (attributes, hash): (&OptionalColumnValues, ContentHash),
        set: impl FnOnce(&mut Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let rows = |hash: ContentHash, of: &OptionalColumnValues| {
            NodeFacetAndEdgeRows::of(old.node_type, &hash.to_string(), of.fields())
        };
        let is_typed = old.attributes.fields().or(attributes.fields()).is_some();
        let had = if is_typed { rows(old.content_hash, &old.attributes) } else { None };
        let (Some(had), Some(has)) = (had, rows(hash, attributes)) else {
            if is_typed {
                self.known_names = KnownEntityNames::default();
            }
            return set(self);
        };
        self.without_facet_triggers(old.key, set)?;
        self.write_facets(old.key, &had, &has)
    }

    /// Moves a node with all that is below it. A move is a change even among the same siblings; see
    /// [`Batch::renumber`].
    ///
    /// After several moves in one write, no cycle may be left at the end.
    pub(crate) fn move_to(&mut self, old: &NodeRecord, place: NodePlace) -> Result<(), StoreError> {
        if old.place == place {
            return Ok(());
        }
        self.touch(old.place.into())?;
        self.touch(place.into())?;
        self.record(DiffOp::Mod, old, Some(old.content_hash), AgentEditOverwritten::No)?;
        self.counts.modified += 1;
        self.set_place(old, place)
    }

    /// Gives a node another order key without a change of order.
    ///
    /// The order of the siblings must be as before once all of them have their keys.
    pub(crate) fn renumber(&mut self, old: &NodeRecord, position: i64) -> Result<(), StoreError> {
        if old.place.position == position {
            return Ok(());
        }
        self.touch(old.place.into())?;
        self.record(DiffOp::Rank, old, Some(old.content_hash), AgentEditOverwritten::No)?;
        self.set_place(old, NodePlace { position, ..old.place })
    }

    /// Removes a node that an agent forgets, and leaves a tombstone if it belongs to a file.
    ///
    /// A node that a rollback restored from a file now gone gets a tombstone as well, since the
    /// file may return. Its children must have been moved or forgotten before.
    pub(crate) fn forget(&mut self, old: &NodeRecord) -> Result<(), StoreError> {
        if old.source_hash.is_none()
            && let Some(file) = old.place.file
            && self.is_gone(file)?
            && let Some(base) = self.last_base_text(old.id)?
        {
            self.restore_base(&mut old.clone(), base)?;
        }
        self.add_tombstone(old.key)?;
        self.take_out(old, AgentEditOverwritten::No)?;
        match old.place.file {
            Some(file) => self.drop_file_if_gone(file),
            None => Ok(()),
        }
    }

    /// Restores a node of an earlier state, under its id. If its file has a tombstone of it, the
    /// node belongs to the file again.
    pub(crate) fn restore_node(
        &mut self,
        id: NodeId,
        data: &UnplacedNodeData<'_>,
        place: NodePlace,
    ) -> Result<NodeRowId, StoreError> {
        self.touch(place.into())?;
        let breadcrumb = self.breadcrumb_at(place)?;
        let key = self.insert(id, data, ContentHash::of(data.content), &breadcrumb, place)?;
        self.remove_tombstone(key)?;
        Ok(key)
    }

    /// Returns the order key and the id of the last one of some siblings.
    fn last_sibling(&self, group: SiblingGroup) -> Result<Option<(i64, String)>, StoreError> {
        const OF_NODE: &str = "
            SELECT position, id
              FROM node
             WHERE parent = ?1
             ORDER BY position DESC, key DESC
             LIMIT 1";
        const OF_FILE: &str = "
            SELECT position, id
              FROM node
             WHERE parent IS NULL AND file IS ?1
             ORDER BY position DESC, key DESC
             LIMIT 1";
        let (sql, argument) = group.ask(OF_NODE, OF_FILE);
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.tx.find(sql, [argument], read, "find the last sibling")
    }
}

/// Returns the birth id of an agent's node.
fn agent_node_id(data: &UnplacedNodeData<'_>, ordinal: u32) -> NodeId {
    NodeId::birth(data.node_type, NodeId::AGENT_PATH, data.content, ordinal)
}
