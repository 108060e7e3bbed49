//! Reconstructs past states of a memory, backwards from the present.
//!
//! The state before a snapshot is the state after it with the snapshot's changes undone, last one
//! first. It starts from the present rows and needs only `diff` of the history. Once every snapshot
//! younger than N is undone, [`DatabaseStateAtSnapshot::fingerprint`] is the `cursor_hash` of N.

pub(crate) mod legacy_history_completion;
pub(crate) mod unrestorable_snapshots;

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use rusqlite::{Connection, Row, params};

use super::node_columns::SqlTemplate;
use super::record::read_state;
use super::{PreparedStatements, StoreError};
use crate::model::database_state_fingerprint::{NodeState, term_of_node};
use crate::model::identity::ContentHash;

/// A family's parent: the parent's id, `ROOT:PATH` for the roots of a file, or `None`.
type ParentRef = Option<String>;

/// A node's place among its siblings: its position, and its present key where positions are equal,
/// as those of nodes that lost their parents may be. The id only makes the order total.
type SiblingPosition = (i64, i64, String);

/// The children of one parent, in order.
type SiblingStates = BTreeMap<SiblingPosition, NodeState<'static>>;

/// A node with its family and its position.
type PlacedNodeState = (ParentRef, i64, NodeState<'static>);

/// The state of the memory at some snapshot, without texts.
pub(super) struct DatabaseStateAtSnapshot {
    families: BTreeMap<ParentRef, SiblingStates>,
    /// Family and position of each node, by id.
    places: HashMap<String, (ParentRef, i64)>,
    /// The present keys, by id. A node that is not there gets a new one.
    keys: HashMap<String, i64>,
    fingerprint: u64,
}

/// The version before a change.
struct UndoStep {
    id: String,
    /// The node and its place before the change; `None` when the change added it.
    old: Option<PlacedNodeState>,
}

impl DatabaseStateAtSnapshot {
    /// Returns the present state.
    pub(super) fn present(conn: &Connection) -> Result<DatabaseStateAtSnapshot, StoreError> {
        static STATES: SqlTemplate = SqlTemplate::new(
            "
            SELECT node.id, node.position,
                   iif(node.parent IS NULL, file.root || ':' || file.path, parent.id), {state},
                   node.key AS present_key
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN file ON file.id = node.file
             ORDER BY node.parent, node.position",
        );
        let mut past = DatabaseStateAtSnapshot::nothing();
        let doing = "read the state";
        let read = |row: &Row<'_>| Ok((read_placed(row)?, row.get("present_key")?));
        conn.each(STATES.text(), [], read, doing, |(placed, key)| {
            past.place_present(placed, key);
            Ok::<_, StoreError>(())
        })?;
        Ok(past)
    }

    /// Returns the state without nodes.
    fn nothing() -> DatabaseStateAtSnapshot {
        DatabaseStateAtSnapshot {
            families: BTreeMap::new(),
            places: HashMap::new(),
            keys: HashMap::new(),
            fingerprint: 0,
        }
    }

    /// Returns the fingerprint of this state.
    pub(super) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns whether the parent of every node is there.
    fn is_tree(&self) -> bool {
        let is_there = |family: &ParentRef| match family {
            // No id has a colon, and every path of a file follows one.
            Some(parent) if !parent.contains(':') => self.places.contains_key(parent),
            _ => true,
        };
        self.families.keys().all(is_there)
    }

    /// Undoes `snapshot`, which must be the youngest not undone yet. Each change costs the same,
    /// however many siblings its node has.
    pub(super) fn undo(&mut self, conn: &Connection, snapshot: i64) -> Result<(), StoreError> {
        static CHANGES: SqlTemplate = SqlTemplate::new(
            "
            SELECT node_id, old_position,
                   iif(old_parent IS NULL, old_root || ':' || old_path, old_parent), {old_state}, op
              FROM diff
             WHERE snapshot = ?1
             ORDER BY seq DESC",
        );
        let undo = |UndoStep { id, old }: UndoStep| {
            self.take(&id);
            if let Some((family, position, state)) = old {
                self.place(family, position, state);
            }
            Ok::<_, StoreError>(())
        };
        conn.each(CHANGES.text(), [snapshot], UndoStep::read, "read the history", undo)
    }

    /// Places a node where it is at present.
    fn place_present(&mut self, (family, position, state): PlacedNodeState, key: i64) {
        self.keys.insert(state.id.clone().into_owned(), key);
        self.place(family, position, state);
    }

    fn place(&mut self, family: ParentRef, position: i64, state: NodeState<'static>) {
        let id = state.id.clone().into_owned();
        let place = self.sibling_position(position, &id);
        let children = self.families.entry(family.clone()).or_default();
        let sum = terms_of(children, family.as_deref(), &place, &state);
        self.fingerprint = self.fingerprint.wrapping_add(sum);
        children.insert(place, state);
        self.places.insert(id, (family, position));
    }

    fn sibling_position(&self, position: i64, id: &str) -> SiblingPosition {
        (position, self.keys.get(id).copied().unwrap_or(i64::MAX), id.to_owned())
    }

    fn take(&mut self, id: &str) {
        let Some((family, position)) = self.places.remove(id) else { return };
        let place = self.sibling_position(position, id);
        let Some(children) = self.families.get_mut(&family) else { return };
        let Some(state) = children.remove(&place) else { return };
        let sum = terms_of(children, family.as_deref(), &place, &state);
        self.fingerprint = self.fingerprint.wrapping_sub(sum);
        if children.is_empty() {
            self.families.remove(&family);
        }
    }
}

impl UndoStep {
    fn read(row: &Row<'_>) -> rusqlite::Result<UndoStep> {
        let op: String = row.get("op")?;
        let old = match op.as_str() {
            "add" => None,
            _ => Some(read_placed(row)?),
        };
        Ok(UndoStep { id: row.get(0)?, old })
    }
}

/// Returns the id of the sibling before a place, and the sibling after it.
fn neighbours<'a>(
    children: &'a SiblingStates,
    place: &SiblingPosition,
) -> (Option<&'a str>, Option<&'a NodeState<'static>>) {
    let before = children.range(..place).next_back();
    let after = children.range((Bound::Excluded(place), Bound::Unbounded)).next();
    (before.map(|it| it.1.id.as_ref()), after.map(|it| it.1))
}

/// Returns what a node at a place adds to the fingerprint: its term, and the change of the next
/// sibling's.
fn terms_of(
    children: &SiblingStates,
    parent: Option<&str>,
    place: &SiblingPosition,
    state: &NodeState<'static>,
) -> u64 {
    let (before, after) = neighbours(children, place);
    let own = term_of_node(parent, before, state);
    after.map_or(own, |after| {
        let with = term_of_node(parent, Some(state.id.as_ref()), after);
        own.wrapping_add(with).wrapping_sub(term_of_node(parent, before, after))
    })
}

/// Reads `id, position, family` and the state columns after them.
fn read_placed(row: &Row<'_>) -> rusqlite::Result<PlacedNodeState> {
    Ok((row.get(2)?, row.get(1)?, read_state(row, row.get(0)?, 3)?))
}

/// Returns every snapshot from the youngest to the oldest, with the fingerprint of its state.
pub(crate) fn fingerprints(conn: &Connection) -> Result<Vec<(i64, u64)>, StoreError> {
    const SNAPSHOTS: &str = "SELECT id FROM snapshot ORDER BY id DESC";
    let ids: Vec<i64> = conn.rows(SNAPSHOTS, [], |row| row.get(0), "list the snapshots")?;
    let mut past = DatabaseStateAtSnapshot::present(conn)?;
    let mut found = Vec::new();
    for id in ids {
        found.push((id, past.fingerprint()));
        past.undo(conn, id)?;
    }
    Ok(found)
}

/// Gives snapshots and HEAD the fingerprints of their states after texts changed that the history
/// has, too. One that was wrong `before`, as [`fingerprints`] returned them, stays wrong, for the
/// doctor to find.
pub(crate) fn seal_again(conn: &Connection, before: &[(i64, u64)]) -> Result<(), StoreError> {
    const SET: &str = "UPDATE snapshot SET cursor_hash = ?3 WHERE id = ?1 AND cursor_hash = ?2";
    const SET_KEPT: &str = "UPDATE memory SET fingerprint = ?2 WHERE fingerprint = ?1";
    const DOING: &str = "note a fingerprint";
    let after = fingerprints(conn)?;
    for (&(id, old), &(_, new)) in before.iter().zip(&after) {
        let [old, new] = [old, new].map(|it| ContentHash(it).to_string());
        conn.run(SET, params![id, old, new], DOING)?;
    }
    if let (Some((_, old)), Some((_, new))) = (before.first(), after.first()) {
        conn.run(SET_KEPT, params![old.cast_signed(), new.cast_signed()], DOING)?;
    }
    Ok(())
}
