//! Inserts in a write: new nodes, each with all of its rows.
//!
//! A few prepared statements write the rows of all. The fingerprint terms of new groups are added
//! as their nodes are inserted, since their ids are known here and would have to be read again
//! otherwise.

use std::collections::BTreeMap;

use rusqlite::{CachedStatement, Transaction, params};

use super::entity_name_lookup_cache::KnownEntityNames;
use super::facets::NodeFacetAndEdgeRows;
use super::nodes::{NewNode, link_text};
use super::{Batch, SiblingGroup};
use crate::model::database_state_fingerprint;
use crate::model::heat::StoredHeat;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::NodeType;
use crate::store::links;
use crate::store::node_insert::{INSERT, NodeInsertRow};
use crate::store::{
    ErrorContext, NodePlace, NodeRowId, PreparedStatements, StoreError, UnplacedNodeData,
};

/// Entries in the caches of former and taken ids.
const KNOWN_IDS_MAX: usize = 16 * 1024;

/// Inserts that are recorded together from which on they are sorted.
const RECORDED_BY_ID_MIN: usize = 1_000;

/// Inserts that wait to be recorded, at most. The end of a slice, for which others wait, records
/// them.
const UNRECORDED_MAX: usize = 32_000;

/// An inserted node whose change row is not written yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PendingChangeRow {
    id: NodeId,
    hash: ContentHash,
    /// The number of the change.
    seq: i64,
}

/// Fingerprint terms of the groups of siblings that get children in one call.
struct StateFingerprintTermsOfInserts {
    /// Key of the first inserted node.
    first: NodeRowId,
    /// Ids of the inserted nodes so far, by key.
    ids: Vec<String>,
    /// Groups of siblings that are all inserted here.
    summed: BTreeMap<SiblingGroup, SiblingFingerprintInProgress>,
}

/// A group of siblings whose fingerprint terms are added as its nodes are inserted.
struct SiblingFingerprintInProgress {
    parent: Option<String>,
    /// The index of the last child.
    last: Option<usize>,
}

impl StateFingerprintTermsOfInserts {
    /// Returns the id of a parent that was inserted in this call.
    fn id_of(&self, parent: NodeRowId) -> Option<&String> {
        let nth = parent.0.checked_sub(self.first.0)?;
        self.ids.get(usize::try_from(nth).ok()?)
    }

    /// Returns the term of the next node if its group is summed here, and notes its id.
    fn term(&mut self, new: &NewNode<'_>, id: String, hash: &str) -> Option<u64> {
        let term = self.summed.get_mut(&new.place.into()).map(|summed| {
            let before = summed.last.replace(self.ids.len()).map(|it| self.ids[it].as_str());
            database_state_fingerprint::term_of_node(
                summed.parent.as_deref(),
                before,
                &new.data.state(&id, hash),
            )
        });
        self.ids.push(id);
        term
    }
}

/// The statements that write a node's rows.
struct InsertStatements<'t> {
    node: CachedStatement<'t>,
    span: CachedStatement<'t>,
}

impl<'t> InsertStatements<'t> {
    fn new(tx: &'t Transaction<'_>) -> Result<InsertStatements<'t>, StoreError> {
        const SPAN: &str = "INSERT INTO span (node, start_byte, end_byte) VALUES (?1, ?2, ?3)";
        let prepare = |sql| tx.prepare_cached(sql).doing("prepare to add nodes");
        Ok(InsertStatements { node: prepare(INSERT.text())?, span: prepare(SPAN)? })
    }
}

impl Batch<'_> {
    /// Returns the key of the next node; later ones count up.
    pub(crate) fn next_key(&self) -> Result<NodeRowId, StoreError> {
        const NEXT: &str = "SELECT ifnull(max(key), 0) + 1 FROM node";
        self.tx.row(NEXT, [], |row| row.get(0), "find the next key").map(NodeRowId)
    }

    /// Inserts nodes of a file under the next keys: parents before their children, siblings in
    /// order. A node that was here before gets its former id back.
    pub(crate) fn add(&mut self, nodes: &[NewNode<'_>]) -> Result<(), StoreError> {
        if nodes.is_empty() {
            return Ok(());
        }
        let first = self.next_key()?;
        let mut statements = InsertStatements::new(self.tx)?;
        let mut groups =
            StateFingerprintTermsOfInserts { first, ids: Vec::new(), summed: BTreeMap::new() };
        for (new, key) in nodes.iter().zip(first.0..) {
            let hash = new.hash.to_string();
            self.sum_group(&mut groups, new.place.into())?;
            let id = self.add_under_fresh_id(&mut statements, NodeRowId(key), new, &hash)?;
            let span = &new.span;
            let edge = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
            statements
                .span
                .execute(params![key, edge(span.start), edge(span.end)])
                .doing("store a node's place in its file")?;
            self.record_insert(id, new.hash)?;
            if let Some(term) = groups.term(new, id.to_string(), &hash) {
                self.fingerprint_delta = self.fingerprint_delta.wrapping_add(term);
            }
        }
        self.complete_inserts(first, nodes.len())
    }

    /// Inserts a node under a free id, and returns its key.
    pub(super) fn insert(
        &mut self,
        id: NodeId,
        data: &UnplacedNodeData<'_>,
        hash: ContentHash,
        breadcrumb: &str,
        place: NodePlace,
    ) -> Result<NodeRowId, StoreError> {
        let key = self.next_key()?;
        let mut statements = InsertStatements::new(self.tx)?;
        let row = NodeInsertRow {
            key,
            id: &id.to_string(),
            place,
            data,
            hash: &hash.to_string(),
            source_hash: None,
            breadcrumb,
            name: links::name(data.label),
        };
        if !self.write(&mut statements, &row)? {
            return Err(StoreError::Corrupt { what: format!("there are two nodes `{id}`") });
        }
        self.record_insert(id, hash)?;
        self.complete_inserts(key, 1)?;
        Ok(key)
    }

    /// Writes a node's row and notes it; returns false if its id is taken.
    fn write(
        &mut self,
        statements: &mut InsertStatements<'_>,
        row: &NodeInsertRow<'_>,
    ) -> Result<bool, StoreError> {
        if !self.insert_row(statements, row)? {
            return Ok(false);
        }
        self.changes_facts |= row.data.node_type == NodeType::Fact;
        self.count_added(row.data.node_type, row.data.token_count);
        self.index_later(row.key)?;
        let named = (row.id, row.name);
        self.dirty_refs.node_added(self.tx, &link_text(row.key, row.data, row.place), named)?;
        Ok(true)
    }

    /// Inserts a node's row with its facets; returns false if its id is taken.
    fn insert_row(
        &mut self,
        statements: &mut InsertStatements<'_>,
        row: &NodeInsertRow<'_>,
    ) -> Result<bool, StoreError> {
        let mut insert = || row.insert(&mut statements.node).doing("add a node");
        let Some(fields) = row.data.attributes.fields() else { return insert() };
        let Some(facets) = NodeFacetAndEdgeRows::of(row.data.node_type, row.hash, Some(fields))
        else {
            let is_free = insert()?;
            self.known_names = KnownEntityNames::default();
            if is_free {
                self.make_facets(row.key)?;
            }
            return Ok(is_free);
        };
        let is_free = match self.is_indexing_later() {
            // The trigger is set aside.
            true => insert()?,
            false => self.without_facet_triggers(row.key, |_| insert())?,
        };
        if is_free {
            self.note_passed_over(row.key)?;
            self.write_facets(row.key, &NodeFacetAndEdgeRows::default(), &facets)?;
        }
        Ok(is_free)
    }

    /// Numbers the insert of a node, which is recorded later.
    fn record_insert(&mut self, id: NodeId, hash: ContentHash) -> Result<(), StoreError> {
        let (_, seq) = self.next_diff()?;
        self.unrecorded.push(PendingChangeRow { id, hash, seq });
        if UNRECORDED_MAX <= self.unrecorded.len() { self.record_waiting_inserts() } else { Ok(()) }
    }

    /// Counts the nodes inserted from `first` on, gives them the temperature of new ones, and
    /// records few.
    fn complete_inserts(&mut self, first: NodeRowId, n_nodes: usize) -> Result<(), StoreError> {
        // Another program may have left the row of a node that is not there.
        const GIVE: &str = "
            INSERT OR REPLACE INTO heat (node, temperature, at, full_at) VALUES (?1, ?2, ?3, ?4)";
        if !self.is_indexing_later() {
            self.record_waiting_inserts()?;
        }
        self.counts.added += n_nodes;
        if self.attended == 0 && self.heated < first {
            // Nodes without a row have just that temperature.
            return Ok(());
        }
        let doing = "give nodes their temperature";
        let heat = StoredHeat::birth(self.attended);
        let mut give = self.tx.prepared(GIVE, doing)?;
        for key in (first.0..).take(n_nodes) {
            give.execute(params![key, heat.temperature, heat.at, heat.full_at()]).doing(doing)?;
        }
        Ok(())
    }

    /// Records the inserts that wait. Many are sorted by their ids, as in an index of the history.
    ///
    /// Each is a statement of its own: while one statement inserts many rows, SQLite keeps the
    /// former state of each page of that index, most of which change.
    pub(super) fn record_waiting_inserts(&mut self) -> Result<(), StoreError> {
        const RECORD: &str = "
            INSERT INTO diff (snapshot, seq, op, node_id, new_hash)
            VALUES (?1, ?2, 'add', ?3, ?4)";
        if self.unrecorded.is_empty() {
            return Ok(());
        }
        let doing = "record additions";
        let snapshot = self.own_snapshot()?;
        let mut inserts = std::mem::take(&mut self.unrecorded);
        if self.has_all_indexes() && RECORDED_BY_ID_MIN <= inserts.len() {
            inserts.sort_unstable();
        }
        let mut record = self.tx.prepared(RECORD, doing)?;
        for PendingChangeRow { id, hash, seq } in &inserts {
            let row = params![snapshot, seq, id.to_string(), hash.to_string()];
            record.execute(row).doing(doing)?;
        }
        drop(record);
        inserts.clear();
        self.unrecorded = inserts;
        Ok(())
    }

    /// Inserts a node under its former id, or under its birth id with the first free ordinal.
    ///
    /// The ids tried for a text are cached, so that a text that occurs a thousand times does not
    /// repeat the same lookups a thousand times.
    fn add_under_fresh_id(
        &mut self,
        statements: &mut InsertStatements<'_>,
        key: NodeRowId,
        new: &NewNode<'_>,
        hash: &str,
    ) -> Result<NodeId, StoreError> {
        let NewNode { data, breadcrumb, place, path, .. } = new;
        let (place, source_hash) = (*place, Some(hash));
        let name = links::name(data.label);
        let row = NodeInsertRow { key, id: "", place, data, hash, source_hash, breadcrumb, name };
        if let Some(id) = new.wanted
            && self.is_id_new(id)?
            && self.write(statements, &NodeInsertRow { id: &id.to_string(), ..row })?
        {
            return Ok(id);
        }
        let text = (data.node_type, new.hash);
        if self.has_past && !self.former.contains_key(&text) {
            // A text without former ids is not worth caching.
            if let Some(former) = self.all_former_ids(text)? {
                self.bound_known_ids();
                self.former.insert(text, former);
            }
        }
        while let Some(node_id) = self.former.get_mut(&text).and_then(|it| it.take(path)) {
            let id = node_id.to_string();
            if !self.is_forgotten(&id)?
                && self.write(statements, &NodeInsertRow { id: &id, ..row })?
            {
                return Ok(node_id);
            }
        }
        let birth = |ordinal: u32| NodeId::birth(data.node_type, path, data.content, ordinal);
        let first = birth(0);
        for ordinal in self.taken.get(&first).copied().unwrap_or(0)..=u32::MAX {
            let node_id = birth(ordinal);
            let id = node_id.to_string();
            if !self.is_forgotten(&id)?
                && self.write(statements, &NodeInsertRow { id: &id, ..row })?
            {
                if 0 < ordinal {
                    self.note_taken(first, ordinal);
                }
                return Ok(node_id);
            }
        }
        Err(StoreError::Corrupt { what: "four thousand million equal nodes".to_owned() })
    }

    /// Notes that all ordinals of a text below one are taken.
    pub(super) fn note_taken(&mut self, first: NodeId, ordinal: u32) {
        self.bound_known_ids();
        self.taken.insert(first, ordinal);
    }

    fn bound_known_ids(&mut self) {
        if KNOWN_IDS_MAX <= self.taken.len() + self.former.len() {
            self.taken.clear();
            self.former.clear();
        }
    }

    /// Returns whether an id belongs to a node or to a tombstone.
    pub(super) fn is_id_taken(&self, id: NodeId) -> Result<bool, StoreError> {
        const TAKEN: &str = "SELECT 1 FROM node WHERE id = ?1";
        let id = id.to_string();
        let is_there = self.tx.has(TAKEN, [&id], "find an id")?;
        Ok(is_there || self.is_forgotten(&id)?)
    }

    /// Returns whether no node has or ever had an id, as far as the history goes back.
    pub(crate) fn is_id_new(&self, id: NodeId) -> Result<bool, StoreError> {
        const KNOWN: &str = "SELECT 1 FROM diff WHERE node_id = ?1";
        Ok(!self.is_id_taken(id)? && !self.tx.has(KNOWN, [id.to_string()], "find an id")?)
    }

    /// Returns whether an id belongs to a tombstone, whose node may come back.
    fn is_forgotten(&self, id: &str) -> Result<bool, StoreError> {
        const FORGOTTEN: &str = "SELECT 1 FROM tombstone WHERE node_id = ?1";
        if !self.has_tombstones {
            return Ok(false);
        }
        self.tx.has(FORGOTTEN, [id], "find an id")
    }

    /// Prepares a group for the fingerprint before it gets children.
    ///
    /// If all of its children are inserted here, each adds its term at once. Otherwise the group
    /// is summed up at the end of the write.
    fn sum_group(
        &mut self,
        groups: &mut StateFingerprintTermsOfInserts,
        group: SiblingGroup,
    ) -> Result<(), StoreError> {
        if groups.summed.contains_key(&group) || self.touched.contains(&group) {
            return Ok(());
        }
        let known_parent = match group {
            SiblingGroup::Node(key) => groups.id_of(key).cloned(),
            SiblingGroup::File(_) | SiblingGroup::Nobody => None,
        };
        let parent = match known_parent {
            Some(id) => Some(id),
            None if self.states(group)?.is_empty() => self.parent_name(group)?,
            None => return self.touch(group),
        };
        groups.summed.insert(group, SiblingFingerprintInProgress { parent, last: None });
        Ok(())
    }
}
