//! Finds the snapshots that a rollback would fail to restore: the history leads to another state,
//! or a text is missing.
//!
//! The history is followed back once, from the present to the oldest snapshot. Nodes whose siblings
//! all came with one snapshot, and stayed as they were, count as one term; only the other families
//! are held.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, Row, params};

use super::{DatabaseStateAtSnapshot, ParentRef, PlacedNodeState, read_placed};
use crate::model::database_state_fingerprint::sum_of_children;
use crate::model::identity::{ContentHash, NodeId};
use crate::store::hashes_before_repairs::REPAIR_MESSAGE;
use crate::store::node_columns::SqlTemplate;
use crate::store::{PreparedStatements, StoreError};

/// Snapshots that no rollback restores, as a check of the history found them.
#[derive(Debug, Default)]
pub(crate) struct UnrestorableSnapshots {
    pub(crate) n_snapshots: usize,
    /// Snapshots to whose state the history does not lead, or that lack a text for good.
    pub(crate) lost: BTreeSet<i64>,
    /// Snapshots that lack a text of a file which a repair found altered; the next compile reads
    /// the file again.
    pub(crate) waiting: BTreeSet<i64>,
}

/// The snapshots to whose states the present rows do not lead, and the nodes that may be why.
#[derive(Debug, Default)]
pub(crate) struct SnapshotsSinceAltered {
    pub(crate) lost: BTreeSet<i64>,
    /// Keys of the nodes whose last change came with the oldest of these snapshots: an altered node
    /// stays what it is now until its last change is undone.
    pub(crate) suspects: BTreeSet<i64>,
}

/// The present state, as far as undoing snapshots changes it.
struct RewoundMemoryState {
    /// Families that changed.
    changed: DatabaseStateAtSnapshot,
    /// The sum of the terms of all other nodes.
    unchanged: u64,
    /// The part of it that came with a snapshot.
    added: HashMap<i64, u64>,
}

/// The present children of one parent, and how they changed since the oldest snapshot.
#[derive(Default)]
struct PresentChildrenOfParent {
    parent: ParentRef,
    /// Each with its position and its key.
    children: Vec<(i64, i64, NodeState)>,
    /// The changes of each; equal where all came at once.
    changes: BTreeSet<NodeChangeSinceOldest>,
}

type NodeState = crate::model::database_state_fingerprint::NodeState<'static>;

/// How a node changed since the oldest snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NodeChangeSinceOldest {
    /// It did not.
    Nothing,
    /// It was added by a snapshot.
    Added(i64),
    Other,
}

/// The rows of texts that are nowhere now, with the snapshots at which a node had them. A node had
/// the text that a change replaced since the change before that gave it.
macro_rules! snapshots_without_text {
    () => {
        "
          FROM diff AS lost
         CROSS JOIN snapshot
            ON snapshot.id < lost.snapshot
           AND snapshot.id >= ifnull((SELECT max(earlier.snapshot)
                                        FROM diff AS earlier
                                       WHERE earlier.node_id = lost.node_id
                                         AND earlier.snapshot < lost.snapshot
                                         AND earlier.old_hash IS NOT lost.old_hash), 0)
         WHERE snapshot.cursor_hash <> ''
           AND lost.old_hash IS NOT NULL
           AND lost.old_hash IS NOT lost.new_hash
           AND lost.old_hash NOT IN (SELECT hash FROM blob)
           AND NOT EXISTS (SELECT 1
                             FROM node
                            WHERE node.id = lost.node_id AND node.content_hash = lost.old_hash)"
    };
}

/// Asks for the snapshots at which a node had a text that a repair replaced.
const WITHOUT_TEXTS_OF_NODE: &str = concat!(
    "SELECT DISTINCT snapshot.id",
    snapshots_without_text!(),
    "
       AND lost.node_id = ?1
       AND EXISTS (SELECT 1 FROM snapshot WHERE id = lost.snapshot AND message = ?2)"
);

/// Follows the history back, and returns the snapshots that a rollback cannot restore. What is
/// wrong with the present state says nothing of the history, and finds none.
pub(crate) fn find(conn: &Connection) -> Result<UnrestorableSnapshots, StoreError> {
    let mut found = UnrestorableSnapshots::default();
    let mut is_head = None;
    found.n_snapshots = follow_back(conn, |id, leads_there| {
        if leads_there == Some(false) {
            found.lost.insert(id);
        }
        *is_head.get_or_insert(leads_there == Some(true))
    })?;
    if is_head != Some(true) {
        found.lost.clear();
        return Ok(found);
    }
    for (id, is_waiting) in without_a_text(conn)? {
        if !found.lost.contains(&id) {
            if is_waiting { &mut found.waiting } else { &mut found.lost }.insert(id);
        }
    }
    Ok(found)
}

/// Follows the history back from rows that are not HEAD's state, until they are as they were.
pub(crate) fn find_since_altered(conn: &Connection) -> Result<SnapshotsSinceAltered, StoreError> {
    const UNCHANGED: &str = "
        SELECT key
          FROM node
         WHERE ifnull((SELECT max(snapshot) FROM diff WHERE node_id = node.id), 0)
               BETWEEN ?1 AND ?2";
    let mut found = SnapshotsSinceAltered::default();
    let mut sound = None;
    follow_back(conn, |id, leads_there| {
        match leads_there {
            Some(true) => sound = sound.or(Some(id)),
            Some(false) => {
                found.lost.insert(id);
                sound = None;
            }
            None => (),
        }
        true
    })?;
    if let Some(&first) = found.lost.first() {
        let of = [sound.map_or(0, |it| it + 1), first];
        found.suspects = conn.rows(UNCHANGED, of, |row| row.get(0), "look for altered nodes")?;
    }
    Ok(found)
}

/// Follows the history back from the present rows, and visits each snapshot, the newest first, as
/// long as `visit` wants more; returns the number of snapshots. `visit` gets whether the rows lead
/// to its state, which is unknown of those without a fingerprint.
fn follow_back(
    conn: &Connection,
    mut visit: impl FnMut(i64, Option<bool>) -> bool,
) -> Result<usize, StoreError> {
    const SNAPSHOTS: &str = "SELECT id, cursor_hash FROM snapshot ORDER BY id DESC";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let snapshots: Vec<(i64, String)> = conn.rows(SNAPSHOTS, [], read, "list the snapshots")?;
    let Some(&(oldest, _)) = snapshots.last() else { return Ok(0) };
    let mut state = RewoundMemoryState::present(conn, oldest)?;
    for (id, hash) in &snapshots {
        let leads_there = *hash == state.fingerprint().to_string();
        if !visit(*id, (!hash.is_empty()).then_some(leads_there)) {
            break;
        }
        if *id != oldest {
            state.undo(conn, *id)?;
        }
    }
    Ok(snapshots.len())
}

/// Returns whether the present state, without the changes of `newest`, is that of the snapshot
/// before.
pub(crate) fn leads_to_the_one_before(conn: &Connection, newest: i64) -> Result<bool, StoreError> {
    const BEFORE: &str = "
        SELECT id, cursor_hash FROM snapshot WHERE id < ?1 ORDER BY id DESC LIMIT 1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let before: Option<(i64, String)> =
        conn.find(BEFORE, [newest], read, "read the snapshot before")?;
    let Some((id, hash)) = before else { return Ok(false) };
    let mut state = RewoundMemoryState::present(conn, id)?;
    state.undo(conn, newest)?;
    Ok(state.fingerprint().to_string() == hash)
}

/// Gives up the snapshots at which a node had a text that a repair replaced, if it is nowhere now.
pub(crate) fn give_up_without_texts(conn: &Connection, node: NodeId) -> Result<(), StoreError> {
    let of = params![node.to_string(), REPAIR_MESSAGE];
    let without: Vec<i64> =
        conn.rows(WITHOUT_TEXTS_OF_NODE, of, |row| row.get(0), "look for former texts")?;
    give_up(conn, &without.into_iter().collect())
}

/// Takes the fingerprints of snapshots away, so that a rollback to them is refused.
pub(crate) fn give_up(conn: &Connection, snapshots: &BTreeSet<i64>) -> Result<(), StoreError> {
    const GIVE_UP: &str = "UPDATE snapshot SET cursor_hash = '' WHERE id = ?1";
    for id in snapshots {
        conn.run(GIVE_UP, [id], "give a snapshot up")?;
    }
    Ok(())
}

impl RewoundMemoryState {
    /// Returns the present state, of which snapshots after `oldest` are to be undone.
    fn present(conn: &Connection, oldest: i64) -> Result<RewoundMemoryState, StoreError> {
        static STATES: SqlTemplate = SqlTemplate::new(
            "
            SELECT node.id, node.position,
                   iif(node.parent IS NULL, file.root || ':' || file.path, parent.id), {state},
                   (SELECT CASE WHEN count(*) = 0 THEN 0
                                WHEN count(*) = 1 AND min(op) = 'add' THEN min(snapshot)
                                ELSE -1 END
                      FROM diff
                     WHERE node_id = node.id AND ?1 < snapshot) AS added,
                   node.key AS present_key
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN file ON file.id = node.file
             ORDER BY node.parent, iif(node.parent IS NULL, node.file, NULL), node.position,
                      node.key",
        );
        const FORMER: &str = "
            SELECT DISTINCT iif(old_parent IS NULL, old_root || ':' || old_path, old_parent)
              FROM diff
             WHERE ?1 < snapshot AND op <> 'add'";
        let read =
            |row: &Row<'_>| Ok((read_placed(row)?, row.get("added")?, row.get("present_key")?));
        let former: Vec<ParentRef> =
            conn.rows(FORMER, [oldest], |row| row.get(0), "read the history")?;
        let former: BTreeSet<ParentRef> = former.into_iter().collect();
        let mut state = RewoundMemoryState {
            changed: DatabaseStateAtSnapshot::nothing(),
            unchanged: 0,
            added: HashMap::new(),
        };
        let mut family = PresentChildrenOfParent::default();
        let add = |((parent, position, child), added, key): (PlacedNodeState, i64, i64)| {
            if parent != family.parent {
                state.add(std::mem::take(&mut family), &former);
                family.parent = parent;
            }
            family.children.push((position, key, child));
            family.changes.insert(match added {
                0 => NodeChangeSinceOldest::Nothing,
                -1 => NodeChangeSinceOldest::Other,
                snapshot => NodeChangeSinceOldest::Added(snapshot),
            });
            Ok::<_, StoreError>(())
        };
        conn.each(STATES.text(), [oldest], read, "read the state", add)?;
        state.add(family, &former);
        Ok(state)
    }

    /// Adds the children of a parent. Former ones of its children come back with an undone change.
    fn add(&mut self, family: PresentChildrenOfParent, former: &BTreeSet<ParentRef>) {
        let PresentChildrenOfParent { parent, children, changes } = family;
        let is_one = changes.len() == 1 && !former.contains(&parent);
        match changes.first().filter(|_| is_one) {
            None | Some(NodeChangeSinceOldest::Other) => {
                for (position, key, child) in children {
                    self.changed.place_present((parent.clone(), position, child), key);
                }
            }
            Some(change) => {
                let sum = sum_of_children(parent.as_deref(), children.iter().map(|it| &it.2));
                self.unchanged = self.unchanged.wrapping_add(sum);
                if let NodeChangeSinceOldest::Added(snapshot) = change {
                    let added = self.added.entry(*snapshot).or_default();
                    *added = added.wrapping_add(sum);
                }
            }
        }
    }

    fn fingerprint(&self) -> ContentHash {
        ContentHash(self.changed.fingerprint().wrapping_add(self.unchanged))
    }

    fn undo(&mut self, conn: &Connection, snapshot: i64) -> Result<(), StoreError> {
        let added = self.added.remove(&snapshot).unwrap_or_default();
        self.unchanged = self.unchanged.wrapping_sub(added);
        self.changed.undo(conn, snapshot)
    }
}

/// Returns the snapshots with a fingerprint at which a node had a text that is nowhere now, and
/// whether a repair had its file read again, which brings the text back.
fn without_a_text(conn: &Connection) -> Result<Vec<(i64, bool)>, StoreError> {
    const WITHOUT: &str = concat!(
        "
        SELECT snapshot.id,
               min(EXISTS (SELECT 1
                             FROM node
                             JOIN file ON file.id = node.file
                             JOIN snapshot AS repair ON repair.id = lost.snapshot
                            WHERE node.id = lost.node_id
                              AND node.source_hash IN (
                                      SELECT new_hash
                                        FROM diff
                                        JOIN snapshot ON snapshot.id = diff.snapshot
                                       WHERE node_id = lost.node_id
                                         AND lost.snapshot <= diff.snapshot
                                         AND snapshot.message = ?1)
                              AND repair.message = ?1
                              AND file.content_hash IS NULL
                              AND NOT file.gone))",
        snapshots_without_text!(),
        "
         GROUP BY snapshot.id"
    );
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    conn.rows(WITHOUT, [REPAIR_MESSAGE], read, "look for former texts")
}

#[cfg(test)]
mod tests;
