//! Reconstructs past states of a memory, backwards from the present.
//!
//! The state before a snapshot is the state after it with the snapshot's changes undone, last one
//! first. It starts from the present rows and needs only `diff` of the history. Once every snapshot
//! younger than N is undone, [`PastState::fingerprint`] is the `cursor_hash` of N.

pub(crate) mod history_completion;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use rusqlite::{Connection, Row};

use super::node_columns::SqlTemplate;
use super::record::read_state;
use super::{PreparedStatements, StoreError};
use crate::model::memory_fingerprint::{self, NodeState};

/// A family's parent: the parent's id, `ROOT:PATH` for the roots of a file, or `None`.
type ParentRef = Option<String>;

/// A node's place among its siblings. Positions differ; the id only makes the order total.
type SiblingPosition = (i64, String);

/// A node with its family and its position.
type PlacedNodeState = (ParentRef, i64, NodeState<'static>);

/// The state of the memory at some snapshot, without texts.
pub(super) struct PastState {
    families: BTreeMap<ParentRef, BTreeMap<SiblingPosition, NodeState<'static>>>,
    /// Family and position of each node, by id.
    places: HashMap<String, (ParentRef, i64)>,
    fingerprint: u64,
}

/// The version before a change.
struct UndoStep {
    id: String,
    /// The node and its place before the change; `None` when the change added it.
    old: Option<PlacedNodeState>,
}

impl PastState {
    /// Returns the present state.
    pub(super) fn present(conn: &Connection) -> Result<PastState, StoreError> {
        static STATES: SqlTemplate = SqlTemplate::new(
            "
            SELECT node.id, node.position,
                   iif(node.parent IS NULL, file.root || ':' || file.path, parent.id), {state}
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN file ON file.id = node.file",
        );
        let mut past =
            PastState { families: BTreeMap::new(), places: HashMap::new(), fingerprint: 0 };
        let doing = "read the state";
        conn.each(STATES.text(), [], read_placed, doing, |(family, position, state)| {
            past.place(family, position, state);
            Ok::<_, StoreError>(())
        })?;
        for (family, children) in &past.families {
            let sum = memory_fingerprint::sum_of_children(family.as_deref(), children.values());
            past.fingerprint = past.fingerprint.wrapping_add(sum);
        }
        Ok(past)
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

    /// Undoes `snapshot`, which must be the youngest not undone yet.
    pub(super) fn undo(&mut self, conn: &Connection, snapshot: i64) -> Result<(), StoreError> {
        static CHANGES: SqlTemplate = SqlTemplate::new(
            "
            SELECT node_id, old_position,
                   iif(old_parent IS NULL, old_root || ':' || old_path, old_parent), {old_state}, op
              FROM diff
             WHERE snapshot = ?1
             ORDER BY seq DESC",
        );
        let mut touched: BTreeSet<ParentRef> = BTreeSet::new();
        let undo = |UndoStep { id, old }: UndoStep| {
            if let Some((family, position)) = self.places.remove(&id) {
                self.touch(&family, &mut touched);
                if let Some(children) = self.families.get_mut(&family) {
                    children.remove(&(position, id));
                }
            }
            if let Some((family, position, state)) = old {
                self.touch(&family, &mut touched);
                self.place(family, position, state);
            }
            Ok::<_, StoreError>(())
        };
        conn.each(CHANGES.text(), [snapshot], UndoStep::read, "read the history", undo)?;
        for family in touched {
            self.fingerprint = self.fingerprint.wrapping_add(self.sum(&family));
            if self.families.get(&family).is_some_and(BTreeMap::is_empty) {
                self.families.remove(&family);
            }
        }
        Ok(())
    }

    fn place(&mut self, family: ParentRef, position: i64, state: NodeState<'static>) {
        let id = state.id.clone().into_owned();
        self.places.insert(id.clone(), (family.clone(), position));
        self.families.entry(family).or_default().insert((position, id), state);
    }

    /// Subtracts a family's terms from the sum before the first change to it.
    fn touch(&mut self, family: &ParentRef, touched: &mut BTreeSet<ParentRef>) {
        if touched.insert(family.clone()) {
            self.fingerprint = self.fingerprint.wrapping_sub(self.sum(family));
        }
    }

    fn sum(&self, family: &ParentRef) -> u64 {
        self.families.get(family).map_or(0, |children| {
            memory_fingerprint::sum_of_children(family.as_deref(), children.values())
        })
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

/// Reads `id, position, family` and the state columns after them.
fn read_placed(row: &Row<'_>) -> rusqlite::Result<PlacedNodeState> {
    Ok((row.get(2)?, row.get(1)?, read_state(row, row.get(0)?, 3)?))
}

/// Returns every snapshot from the youngest to the oldest, with the fingerprint of its state.
pub(crate) fn fingerprints(conn: &Connection) -> Result<Vec<(i64, u64)>, StoreError> {
    const SNAPSHOTS: &str = "SELECT id FROM snapshot ORDER BY id DESC";
    let ids: Vec<i64> = conn.rows(SNAPSHOTS, [], |row| row.get(0), "list the snapshots")?;
    let mut past = PastState::present(conn)?;
    let mut found = Vec::new();
    for id in ids {
        found.push((id, past.fingerprint()));
        past.undo(conn, id)?;
    }
    Ok(found)
}
