//! A write transaction, which records each mutation as a row of its one snapshot.
//!
//! A [`Batch`] exists only inside [`super::Writer::write`]. It keeps the state fingerprint up to
//! date by groups of siblings: before the first change to the children of a parent it subtracts
//! their terms from the sum, and at the end it adds the terms of the children as they are then.
//! Terms of nodes inserted below a parent without children are added as they are inserted.

mod accepted_altered_texts;
mod agent_node_writes;
mod columns_derived_from_place;
mod custom_views;
mod entity_name_lookup_cache;
mod facets;
mod file_node_by_entity_name;
mod forgotten_note_reimport_block;
mod former_ids;
mod fts;
mod heat_edits;
mod history_reads_and_drops;
mod knowledge_lookup;
mod manual_edges;
mod node_inserts;
mod nodes;
mod request_receipts;
mod source_files;
mod tombstones;
mod typed_nodes;

use std::collections::{BTreeSet, HashMap};

pub(in crate::store) use entity_name_lookup_cache::EntityNamesAtHead;
use entity_name_lookup_cache::KnownEntityNames;
pub(crate) use facets::{NodeFacetSet, node_facet_set};
pub(crate) use file_node_by_entity_name::FileNodeNames;
use former_ids::FormerIds;
use fts::IndexingTime;
#[cfg(feature = "shared")]
pub(in crate::store) use fts::merge_few;
pub(in crate::store) use fts::{merge_many, merge_on};
pub(crate) use manual_edges::{ManualEdgeResolution, UnrelateOutcome};
use node_inserts::PendingChangeRow;
pub(crate) use nodes::NewNode;
pub(crate) use request_receipts::RequestReceipt;
use rusqlite::{Row, Transaction, params};

use super::links::DirtyRefs;
use super::node_columns::SqlTemplate;
use super::record::{self, FileId, NodePlace, NodeRecord, NodeRowId};
use super::{ErrorContext, PreparedStatements, StoreError, heat_rows, one};
use crate::model::clock::UnixMillis;
use crate::model::database_state_fingerprint::{self, NodeState};
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::NodeType;

/// Families whose terms a write holds back before it adds them to the fingerprint.
const TOUCHED_MAX: usize = 100_000;

/// Names and references that a write holds before it resolves them.
///
/// Each flush resolves a popular name again, so the bound is high and seldom reached.
const STALE_MAX: usize = 500_000;

/// Counts of the nodes that a batch changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangedNodeCounts {
    pub(crate) added: usize,
    pub(crate) modified: usize,
    pub(crate) removed: usize,
}

/// An open write transaction.
pub(crate) struct Batch<'a> {
    tx: &'a Transaction<'a>,
    now: UnixMillis,
    message: String,
    compile_root: &'a str,
    /// The name of that root, where the memory is shared.
    #[cfg(feature = "shared")]
    root_name: Option<String>,
    snapshot: Option<i64>,
    next_seq: i64,
    counts: ChangedNodeCounts,
    touched: BTreeSet<SiblingGroup>,
    /// The change of the fingerprint so far.
    fingerprint_delta: u64,
    attended: i64,
    /// The key up to which all nodes have heat rows.
    heated: NodeRowId,
    /// Taken ordinals of texts that occur more than once, as a lower bound, by first birth id.
    taken: HashMap<NodeId, u32>,
    /// Former ids of texts.
    former: HashMap<(NodeType, ContentHash), FormerIds>,
    /// Whether the history has a replaced or removed text.
    has_past: bool,
    /// Whether any file has a tombstone.
    has_tombstones: bool,
    /// References and names to resolve again.
    dirty_refs: DirtyRefs,
    /// Whether the full-text index gets new nodes at once or later.
    indexing: IndexingTime<'a>,
    /// New nodes whose inserts are recorded later.
    unrecorded: Vec<PendingChangeRow>,
    /// Whether large segments of the full-text index are lifted at the end.
    lifts_segments: bool,
    known_names: KnownEntityNames,
    /// Whether a fact was added, changed or removed.
    changes_facts: bool,
    /// Whether a node was changed or removed.
    changes_known_nodes: bool,
}

/// All children of one parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SiblingGroup {
    Node(NodeRowId),
    File(FileId),
    Nobody,
}

impl SiblingGroup {
    /// Returns the query for a group's kind, and its argument.
    fn ask<Q>(self, of_node: Q, of_file: Q) -> (Q, Option<i64>) {
        match self {
            SiblingGroup::Node(key) => (of_node, Some(key.0)),
            SiblingGroup::File(file) => (of_file, Some(file.0)),
            SiblingGroup::Nobody => (of_file, None),
        }
    }
}

impl From<NodePlace> for SiblingGroup {
    fn from(place: NodePlace) -> SiblingGroup {
        match (place.parent, place.file) {
            (Some(parent), _) => SiblingGroup::Node(parent),
            (None, Some(file)) => SiblingGroup::File(file),
            (None, None) => SiblingGroup::Nobody,
        }
    }
}

impl<'a> Batch<'a> {
    pub(super) fn begin(
        tx: &'a Transaction<'a>,
        message: &str,
        compile_root: &'a str,
        now: UnixMillis,
    ) -> Result<Batch<'a>, StoreError> {
        const HAS_PAST: &str = "SELECT EXISTS (SELECT 1 FROM diff WHERE old_hash IS NOT NULL)";
        const HAS_TOMBSTONES: &str = "SELECT EXISTS (SELECT 1 FROM tombstone)";
        let is_any = |sql| one(tx, sql).doing("begin a write");
        Ok(Batch {
            tx,
            now,
            message: message.to_owned(),
            compile_root,
            #[cfg(feature = "shared")]
            root_name: None,
            snapshot: None,
            next_seq: 0,
            counts: ChangedNodeCounts::default(),
            touched: BTreeSet::new(),
            fingerprint_delta: 0,
            attended: heat_rows::memory_clock(tx)?,
            heated: heat_rows::heat_rows_end(tx)?,
            has_past: is_any(HAS_PAST)?,
            has_tombstones: is_any(HAS_TOMBSTONES)?,
            taken: HashMap::new(),
            former: HashMap::new(),
            dirty_refs: DirtyRefs::begin(tx)?,
            indexing: IndexingTime::default(),
            unrecorded: Vec::new(),
            lifts_segments: false,
            known_names: KnownEntityNames::default(),
            changes_facts: false,
            changes_known_nodes: false,
        })
    }

    /// Sets the snapshot's message.
    pub(crate) fn set_message(&mut self, message: String) {
        self.message = message;
    }

    /// Returns the counts of changed nodes so far.
    pub(crate) fn counts(&self) -> ChangedNodeCounts {
        self.counts
    }

    /// Subtracts a group's terms from the fingerprint, before the first change to it.
    fn touch(&mut self, group: SiblingGroup) -> Result<(), StoreError> {
        if !self.touched.insert(group) {
            return Ok(());
        }
        self.fingerprint_delta = self.fingerprint_delta.wrapping_sub(self.group_sum(group)?);
        Ok(())
    }

    /// Adds the terms of the groups touched so far.
    fn update_fingerprint(&mut self) -> Result<(), StoreError> {
        for group in std::mem::take(&mut self.touched) {
            self.fingerprint_delta = self.fingerprint_delta.wrapping_add(self.group_sum(group)?);
        }
        Ok(())
    }

    /// Sums up and resolves what was touched so far, once that is much.
    ///
    /// A write of any size so holds a bounded part of it. A group touched again later is
    /// subtracted again.
    pub(crate) fn flush_if_large(&mut self) -> Result<(), StoreError> {
        self.index_meanwhile()?;
        if TOUCHED_MAX <= self.touched.len() {
            self.rebuild_indexes()?;
            self.update_fingerprint()?;
        }
        if STALE_MAX <= self.dirty_refs.len() {
            self.rebuild_indexes()?;
            self.dirty_refs.settle(self.tx)?;
        }
        Ok(())
    }

    fn group_sum(&self, group: SiblingGroup) -> Result<u64, StoreError> {
        let parent = self.parent_name(group)?;
        let states = self.states(group)?;
        Ok(database_state_fingerprint::sum_of_children(parent.as_deref(), &states))
    }

    /// Returns one node's present term.
    fn term_of(&self, key: NodeRowId) -> Result<u64, StoreError> {
        static NODE: SqlTemplate = SqlTemplate::new(
            "
            SELECT id, file, parent, position, {state}
              FROM node
             WHERE key = ?1",
        );
        const BEFORE: &str = "
            SELECT id
              FROM node
             WHERE parent = ?1 AND (position, key) < (?2, ?3)
             ORDER BY position DESC, key DESC
             LIMIT 1";
        const BEFORE_ROOT: &str = "
            SELECT id
              FROM node
             WHERE parent IS NULL AND file IS ?1 AND (position, key) < (?2, ?3)
             ORDER BY position DESC, key DESC
             LIMIT 1";
        let read = |row: &Row<'_>| {
            let place = NodePlace {
                file: row.get::<_, Option<i64>>(1)?.map(FileId),
                parent: row.get::<_, Option<i64>>(2)?.map(NodeRowId),
                position: row.get(3)?,
            };
            Ok((record::read_state(row, row.get(0)?, 4)?, place))
        };
        let (state, place) = self.tx.row(NODE.text(), [key.0], read, "read a state")?;
        let (sql, parent) = SiblingGroup::from(place).ask(BEFORE, BEFORE_ROOT);
        let before: Option<String> = self.tx.find(
            sql,
            params![parent, place.position, key.0],
            |row| row.get(0),
            "read the state before",
        )?;
        let parent = self.parent_name(place.into())?;
        Ok(database_state_fingerprint::term_of_node(parent.as_deref(), before.as_deref(), &state))
    }

    fn parent_name(&self, group: SiblingGroup) -> Result<Option<String>, StoreError> {
        const NODE: &str = "SELECT id FROM node WHERE key = ?1";
        const FILE: &str = "SELECT root || ':' || path FROM file WHERE id = ?1";
        let named = |sql, id: i64| self.tx.find(sql, [id], |row| row.get(0), "name a parent");
        match group {
            SiblingGroup::Node(key) => named(NODE, key.0),
            SiblingGroup::File(file) => named(FILE, file.0),
            SiblingGroup::Nobody => Ok(None),
        }
    }

    fn states(&self, group: SiblingGroup) -> Result<Vec<NodeState<'static>>, StoreError> {
        static OF_NODE: SqlTemplate = SqlTemplate::new(
            "
            SELECT id, {state}
              FROM node
             WHERE parent = ?1
             ORDER BY position, key",
        );
        static OF_FILE: SqlTemplate = SqlTemplate::new(
            "
            SELECT id, {state}
              FROM node
             WHERE parent IS NULL
               AND file IS ?1
             ORDER BY position, key",
        );
        let (sql, argument) = group.ask(&OF_NODE, &OF_FILE);
        let read = |row: &Row<'_>| record::read_state(row, row.get(0)?, 1);
        self.tx.rows(sql.text(), [argument], read, "read states")
    }

    fn record(
        &mut self,
        op: DiffOp,
        old: &NodeRecord,
        new_hash: Option<ContentHash>,
        conflict: AgentEditOverwritten,
    ) -> Result<(), StoreError> {
        // The node, its parent and its file still exist: their rows have the old values.
        static RECORD: SqlTemplate = SqlTemplate::new(
            "
            INSERT INTO diff (snapshot, seq, op, node_id, new_hash, conflict, {version})
            SELECT ?1, ?2, ?3, node.id, ?4, ?5, {present}
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN file ON file.id = node.file
             WHERE node.key = ?6",
        );
        const KEEP: &str = "
            INSERT INTO blob (hash, content)
            SELECT content_hash, content FROM node WHERE key = ?1
            ON CONFLICT (hash) DO NOTHING";
        self.has_past = true;
        self.changes_facts |= old.node_type == NodeType::Fact;
        self.changes_known_nodes |= op != DiffOp::Rank;
        self.record_waiting_inserts()?;
        let (snapshot, seq) = self.next_diff()?;
        let hash = new_hash.map(|it| it.to_string());
        let conflict = conflict == AgentEditOverwritten::Yes;
        self.tx.run(
            RECORD.text(),
            params![snapshot, seq, op.as_str(), hash, conflict, old.key.0],
            "record a change",
        )?;
        if new_hash != Some(old.content_hash) {
            self.tx.run(KEEP, [old.key.0], "keep replaced text")?;
        }
        Ok(())
    }

    /// Returns the snapshot, made at the first change, and the number of the next change.
    fn next_diff(&mut self) -> Result<(i64, i64), StoreError> {
        let snapshot = self.own_snapshot()?;
        self.next_seq += 1;
        Ok((snapshot, self.next_seq))
    }

    /// Returns the snapshot of this write, if something was changed.
    pub(crate) fn changed_snapshot(&self) -> Option<i64> {
        self.snapshot
    }

    /// Returns the snapshot of this write, and makes it where nothing was changed yet. Something
    /// must be changed then.
    pub(crate) fn own_snapshot(&mut self) -> Result<i64, StoreError> {
        const BEGIN: &str = "
            INSERT INTO snapshot (parent, cursor_hash, message, compile_root, created_at)
            VALUES ((SELECT snapshot FROM cursor WHERE name = 'HEAD'), '', '', ?1, ?2)";
        match self.snapshot {
            Some(snapshot) => Ok(snapshot),
            None => {
                let made = params![self.compile_root, self.now.0];
                self.tx.run(BEGIN, made, "begin a snapshot")?;
                Ok(*self.snapshot.insert(self.tx.last_insert_rowid()))
            }
        }
    }

    /// Resolves references, updates the fingerprint and moves HEAD; returns `None` if nothing
    /// changed.
    pub(super) fn finish(&mut self) -> Result<Option<i64>, StoreError> {
        const FINGERPRINT: &str = "SELECT fingerprint FROM memory";
        const SET_FINGERPRINT: &str = "UPDATE memory SET fingerprint = ?1";
        const SET_SNAPSHOT_FINGERPRINT: &str =
            "UPDATE snapshot SET cursor_hash = ?2, message = ?3 WHERE id = ?1";
        const MOVE_HEAD: &str = "
            INSERT INTO cursor (name, snapshot, updated_at)
            VALUES ('HEAD', ?1, ?2)
            ON CONFLICT (name) DO UPDATE SET snapshot = ?1, updated_at = ?2";
        const COUNT_CHANGES: &str = "
            INSERT OR REPLACE INTO change_count (snapshot, added, modified, removed)
            SELECT ?1, count(*) FILTER (WHERE op = 'add'), count(*) FILTER (WHERE op = 'mod'),
                   count(*) FILTER (WHERE op = 'rem')
              FROM diff
             WHERE snapshot = ?1";
        self.record_waiting_inserts()?;
        self.rebuild_indexes()?;
        self.dirty_refs.settle_last(self.tx)?;
        self.index_at_once()?;
        let Some(snapshot) = self.snapshot else {
            return Ok(None);
        };
        self.update_fingerprint()?;
        let old: i64 = one(self.tx, FINGERPRINT).doing("read the fingerprint")?;
        let new = old.cast_unsigned().wrapping_add(self.fingerprint_delta);
        let hash = ContentHash(new).to_string();
        self.tx.run(SET_FINGERPRINT, [new.cast_signed()], "set the fingerprint")?;
        self.tx.run(
            SET_SNAPSHOT_FINGERPRINT,
            params![snapshot, hash, self.message],
            "seal the snapshot",
        )?;
        self.tx.run(MOVE_HEAD, params![snapshot, self.now.0], "move HEAD")?;
        self.tx.run(COUNT_CHANGES, [snapshot], "count the changes")?;
        Ok(Some(snapshot))
    }
}

/// The kind of change that a diff row records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DiffOp {
    Mod,
    Rem,
    Rank,
}

impl DiffOp {
    fn as_str(self) -> &'static str {
        match self {
            DiffOp::Mod => "mod",
            DiffOp::Rem => "rem",
            DiffOp::Rank => "rank",
        }
    }
}

/// Whether a file's new text replaced an agent's overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AgentEditOverwritten {
    No,
    Yes,
}
