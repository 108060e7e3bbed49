//! Adds, updates and removes nodes in a write, and records each change in the snapshot.

use std::ops::Range;

use rusqlite::{Params, Row, ToSql, params};

use super::{AgentEditOverwritten, Batch, DiffOp, SiblingGroup};
use crate::model::identity::{ContentHash, NodeId};
use crate::model::order_keys::KeptMovedOrRenumbered;
use crate::model::tree::ContentFormat;
use crate::store::links::{self, LinkParseInput};
use crate::store::node_columns::SqlTemplate;
use crate::store::{
    FileId, NodePlace, NodeRecord, NodeRowId, OptionalColumnValues, PreparedStatements, StoreError,
    UnplacedNodeData,
};

/// A node to be written.
pub(crate) struct NewNode<'a> {
    pub(crate) data: UnplacedNodeData<'a>,
    /// Byte range in its file.
    pub(crate) span: Range<usize>,
    /// Hash of the content.
    pub(crate) hash: ContentHash,
    pub(crate) breadcrumb: &'a str,
    pub(crate) place: NodePlace,
    /// Path of its file, a part of the birth id.
    pub(crate) path: &'a str,
    /// The id that it should get, if that is new.
    pub(crate) wanted: Option<NodeId>,
}

impl Batch<'_> {
    /// Returns the nodes of a file in document order.
    pub(crate) fn file_nodes(&self, file: FileId) -> Result<Vec<NodeRecord>, StoreError> {
        let mut nodes = Vec::new();
        let mut open = self.children(SiblingGroup::File(file))?;
        open.reverse();
        while let Some(node) = open.pop() {
            let first = open.len();
            open.extend(self.children(SiblingGroup::Node(node.key))?);
            open[first..].reverse();
            nodes.push(node);
        }
        Ok(nodes)
    }

    /// Returns the last base text of a node that no file contains now.
    ///
    /// `None` if the node never belonged to a file. It did if it has a tombstone, or if a compile
    /// added or removed it.
    pub(crate) fn last_base_text(&self, id: NodeId) -> Result<Option<ContentHash>, StoreError> {
        const FORGOTTEN: &str = "
            SELECT source_hash FROM tombstone WHERE node_id = ?1 ORDER BY file DESC LIMIT 1";
        // A text removed with a conflict was an agent's overlay.
        const COMPILED: &str = "
            SELECT op, iif(op = 'rem', iif(conflict, NULL, old_hash), new_hash)
              FROM diff
              JOIN snapshot ON snapshot.id = diff.snapshot
             WHERE node_id = ?1
               AND (op IN ('add', 'rem') OR op = 'mod' AND old_hash <> new_hash)
               AND compile_root <> ''
             ORDER BY snapshot DESC, seq DESC";
        let id = id.to_string();
        let doing = "search the history";
        let forgotten: Option<String> = self.tx.find(FORGOTTEN, [&id], |row| row.get(0), doing)?;
        if let Some(hash) = forgotten {
            return Ok(ContentHash::parse(&hash));
        }
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let rows: Vec<(String, Option<String>)> = self.tx.rows(COMPILED, [&id], read, doing)?;
        // Compiles move an agent's nodes, but neither add nor remove them.
        let is_files = rows.iter().any(|(op, _)| op != "mod");
        let hash = rows.into_iter().find_map(|(_, hash)| hash).filter(|_| is_files);
        Ok(hash.as_deref().and_then(ContentHash::parse))
    }

    /// Gives a node back to its file, whose text has the hash `base_hash`; an overlay stays.
    pub(crate) fn restore_base(
        &self,
        node: &mut NodeRecord,
        base_hash: ContentHash,
    ) -> Result<(), StoreError> {
        const GIVE: &str = "UPDATE node SET source_hash = ?2 WHERE key = ?1";
        self.tx.run(
            GIVE,
            params![node.key.0, base_hash.to_string()],
            "restore a node's base text",
        )?;
        node.source_hash = Some(base_hash);
        Ok(())
    }

    pub(super) fn children(&self, group: SiblingGroup) -> Result<Vec<NodeRecord>, StoreError> {
        static OF_NODE: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM node
             WHERE parent = ?1
             ORDER BY position, key",
        );
        static OF_FILE: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM node
             WHERE parent IS NULL AND file IS ?1
             ORDER BY position, key",
        );
        let (sql, argument) = group.ask(&OF_NODE, &OF_FILE);
        self.records(sql, [argument], "read siblings")
    }

    /// Reads rows of `{record}`.
    pub(super) fn records(
        &self,
        sql: &'static SqlTemplate,
        params: impl Params,
        doing: &'static str,
    ) -> Result<Vec<NodeRecord>, StoreError> {
        let rows: Vec<_> = self.tx.rows(sql.text(), params, NodeRecord::read, doing)?;
        rows.into_iter().collect()
    }

    /// Updates a stored node to its file's text and place; records a change only if the state
    /// differs.
    pub(crate) fn update(
        &mut self,
        old: &NodeRecord,
        new: &NewNode<'_>,
        rank: KeptMovedOrRenumbered,
    ) -> Result<(), StoreError> {
        // The file's block is unchanged, so an agent's overlay stays.
        let is_source_same = old.source_hash == Some(new.hash);
        let is_text_same = is_source_same || old.content_hash == new.hash;
        let is_kept = is_source_same && old.is_overlaid();
        let format = if is_kept { old.format } else { new.data.format };
        let is_label_same = is_kept || old.label == new.data.label;
        let attributes = new.data.attributes.clone().over(&old.attributes);
        let is_structure_same = old.attributes == attributes
            && old.format == format
            && old.place.parent == new.place.parent
            // A node below another has its parent's file, and moves along with it.
            && (old.place.parent.is_some() || old.place.file == new.place.file)
            && rank != KeptMovedOrRenumbered::Moved;
        let is_state_same = is_text_same && is_label_same && is_structure_same;
        if !is_state_same {
            self.touch(old.place.into())?;
            self.touch(new.place.into())?;
            let is_conflict = !is_text_same && old.is_overlaid();
            let conflict =
                if is_conflict { AgentEditOverwritten::Yes } else { AgentEditOverwritten::No };
            let new_hash = if is_text_same { old.content_hash } else { new.hash };
            self.record(DiffOp::Mod, old, Some(new_hash), conflict)?;
            self.counts.modified += 1;
        } else if rank == KeptMovedOrRenumbered::Renumbered {
            self.record(DiffOp::Rank, old, Some(old.content_hash), AgentEditOverwritten::No)?;
        }
        if !is_text_same || !is_label_same {
            self.set_text(old, &new.data, new.hash)?;
        }
        if old.place != new.place || old.attributes.key_path() != attributes.key_path() {
            self.dirty_refs.node_moved(old.place.file, new.place.file);
        }
        if !is_state_same
            || old.place != new.place
            || old.breadcrumb != new.breadcrumb
            || !is_source_same
        {
            self.set_structure(old.key, new, format, &attributes)?;
        }
        self.note_span(old.key, &new.span)
    }

    /// Removes a node that is no longer in its file. Its children must have been moved or removed
    /// before.
    pub(crate) fn remove(&mut self, old: &NodeRecord) -> Result<(), StoreError> {
        self.take_out(
            old,
            if old.is_overlaid() { AgentEditOverwritten::Yes } else { AgentEditOverwritten::No },
        )
    }

    pub(super) fn take_out(
        &mut self,
        old: &NodeRecord,
        conflict: AgentEditOverwritten,
    ) -> Result<(), StoreError> {
        const REMOVE: &str = "DELETE FROM node WHERE key = ?1";
        self.index_before(old.key)?;
        self.touch(old.place.into())?;
        self.record(DiffOp::Rem, old, None, conflict)?;
        self.dirty_refs
            .node_removed(&link_text(old.key, &old.data(), old.place), &old.id.to_string());
        // The id is free from here on.
        self.taken.clear();
        self.note_former_id(old)?;
        self.tx.run(REMOVE, [old.key.0], "remove a node")?;
        self.counts.removed += 1;
        Ok(())
    }

    pub(super) fn set_text(
        &mut self,
        old: &NodeRecord,
        data: &UnplacedNodeData<'_>,
        hash: ContentHash,
    ) -> Result<(), StoreError> {
        const SET: &str = "
            UPDATE node
               SET label = ?2, content = ?3, grams = ?4, content_hash = ?5, token_count = ?6,
                   name = ?7
             WHERE key = ?1";
        let hash = hash.to_string();
        self.index_before(old.key)?;
        self.tx.run(
            SET,
            params![
                old.key.0,
                data.label,
                data.content,
                data.index_terms(),
                hash,
                data.token_count,
                links::name(data.label),
            ],
            "change a node's text",
        )?;
        self.dirty_refs.text_changed(self.tx, &link_text(old.key, data, old.place), &old.label)
    }

    fn set_structure(
        &mut self,
        key: NodeRowId,
        new: &NewNode<'_>,
        format: ContentFormat,
        attributes: &OptionalColumnValues,
    ) -> Result<(), StoreError> {
        static SET: SqlTemplate = SqlTemplate::new(
            "
            UPDATE node
               SET file = ?2, parent = ?3, position = ?4, format = ?5, source_hash = ?6,
                   {set_attributes}
             WHERE key = ?1",
        );
        const SET_BREADCRUMB: &str = "UPDATE node SET trail = ?2 WHERE key = ?1 AND trail <> ?2";
        let NodePlace { file, parent, position } = new.place;
        let (file, parent) = (file.map(|it| it.0), parent.map(|it| it.0));
        let (format, hash) = (format.as_str(), new.hash.to_string());
        let own: [&dyn ToSql; 6] = [&key.0, &file, &parent, &position, &format, &hash];
        let row: Vec<&dyn ToSql> = own.into_iter().chain(attributes.params()).collect();
        self.tx.run(SET.text(), &row[..], "change a node's place")?;
        self.index_before(key)?;
        // A statement of its own, since changing an indexed column rewrites the node's index
        // entries.
        self.tx
            .run(SET_BREADCRUMB, params![key.0, new.breadcrumb], "change a node's trail")
            .map(drop)
    }

    fn note_span(&self, key: NodeRowId, span: &Range<usize>) -> Result<(), StoreError> {
        const SET: &str = "
            INSERT INTO span (node, start_byte, end_byte)
            VALUES (?1, ?2, ?3)
            ON CONFLICT (node) DO UPDATE SET start_byte = ?2, end_byte = ?3";
        let edge = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
        self.tx
            .run(
                SET,
                params![key.0, edge(span.start), edge(span.end)],
                "store a node's place in its file",
            )
            .map(drop)
    }
}

pub(super) fn link_text<'a>(
    key: NodeRowId,
    data: &'a UnplacedNodeData<'_>,
    place: NodePlace,
) -> LinkParseInput<'a> {
    LinkParseInput {
        key,
        file: place.file,
        is_top: place.parent.is_none(),
        node_type: data.node_type,
        key_path: data.attributes.key_path(),
        label: data.label,
        content: data.content,
    }
}
