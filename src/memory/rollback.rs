//! Rollback: restores the state of an earlier snapshot as one new snapshot.
//!
//! Only nodes that changed since are compared. Differences are written, moved, restored or
//! forgotten as agent edits, so that files stay as they are and a later compile knows the author.
//! Afterwards the fingerprint must equal the earlier one; otherwise nothing is changed.

mod ancestor_counts;

use std::collections::BTreeMap;

use ancestor_counts::ancestor_counts;
use serde_json::{Value, json};

use super::Memory;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::model::tree::{ContentFormat, NodeType};
use crate::query::{self, Answer, Error};
use crate::store::file_identity_check::CopiesBesideMemory;
use crate::store::{
    Batch, NodePlace, NodeRecord, NodeRowId, NodeVersionWithoutText, RootId, StoreError,
    UnplacedNodeData, Writer,
};
use crate::text::tokens;

/// The fate of the snapshots after the target of a rollback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaterSnapshotPolicy {
    /// They stay, and can be restored.
    Keep,
    /// They are deleted with every text that only they had.
    Drop,
}

/// The result of a rollback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RollbackReport {
    pub(crate) target: i64,
    /// The new snapshot; `None` when the state already was that of the target.
    pub(crate) snapshot: Option<i64>,
    /// Nodes that changed.
    pub(crate) n_nodes: usize,
    /// Snapshots dropped; `None` when none were to be.
    pub(crate) n_dropped: Option<usize>,
    /// Whether the target was HEAD, so that there was nothing to do.
    pub(crate) was_head: bool,
    /// Whether dropped text may still be in the file.
    pub(crate) is_unscrubbed: bool,
    /// Copies beside the memory, which may have dropped text, too.
    pub(crate) copies: CopiesBesideMemory,
}

impl RollbackReport {
    /// Returns the report as text.
    pub(crate) fn text(&self) -> String {
        let target = self.target;
        if self.was_head {
            return format!("already at snapshot {target}; nothing to do");
        }
        let mut text = match self.snapshot {
            Some(snapshot) => format!(
                "rolled back to snapshot {target} (new snapshot {snapshot}, {} nodes affected)",
                self.n_nodes
            ),
            None => {
                format!("no rollback applied; computed state matches HEAD for snapshot {target}")
            }
        };
        if let Some(n) = self.n_dropped {
            text.push_str(&format!("; pruned {n} intermediate snapshot(s)"));
        }
        if self.is_unscrubbed {
            text.push_str(
                "\nwarning: dropped text may still be in the file, which could not be written \
                 anew; run `remindb gc`, which tries again and says what is in the way",
            );
        }
        for warning in self.copies.warnings() {
            text.push_str(&format!("\nwarning: {warning}"));
        }
        text
    }

    /// Returns the report as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let mut report = json!({
            "target": self.target,
            "snapshot": self.snapshot,
            "nodes": self.n_nodes,
            "dropped": self.n_dropped,
            "was_head": self.was_head,
            "unscrubbed": self.is_unscrubbed,
        });
        for (name, paths) in self.copies.to_json() {
            if paths != json!([]) {
                report[name] = paths;
            }
        }
        report
    }
}

impl Memory {
    /// Restores the state of a snapshot, as a new snapshot.
    pub(crate) fn rollback_to(
        &self,
        snapshot: i64,
        after: LaterSnapshotPolicy,
    ) -> Result<Answer, Error> {
        let rolled = rollback(&self.writer, snapshot, after, self.clock.now())?;
        Ok(Answer::plain(rolled.text(), self.output, || rolled.to_json()))
    }

    /// Restores the state before the newest snapshot, as a new snapshot.
    pub(crate) fn undo(&self) -> Result<Answer, Error> {
        let rolled = undo(&self.writer, self.clock.now())?;
        Ok(Answer::plain(rolled.text(), self.output, || rolled.to_json()))
    }
}

/// Restores the state of snapshot `target`.
pub(crate) fn rollback(
    writer: &Writer,
    target: i64,
    after: LaterSnapshotPolicy,
    now: UnixMillis,
) -> Result<RollbackReport, Error> {
    let work = |batch: &mut Batch<'_>| apply(batch, target, after);
    let (mut rolled, commit) = match after {
        LaterSnapshotPolicy::Keep => writer.write("", "", now, work)?,
        LaterSnapshotPolicy::Drop => writer.write_securely("", now, work)?,
    };
    rolled.snapshot = commit.snapshot;
    if rolled.n_dropped.is_some() {
        // The rollback is committed: a failure from here on does not undo it.
        let scrubbed = writer.scrub();
        if let Err(error) = &scrubbed {
            log::warn!("dropped text may still be in the file: {error}");
        }
        rolled.is_unscrubbed = !scrubbed.unwrap_or(false);
        rolled.copies = writer.file_identity().copies_beside();
    }
    Ok(rolled)
}

/// Restores the state before the newest snapshot: the newest once nobody else can write.
fn undo(writer: &Writer, now: UnixMillis) -> Result<RollbackReport, Error> {
    let (mut rolled, commit) = writer.write("", "", now, |batch| {
        let newest = batch.versions().snapshots()?.last;
        let before = batch.versions().snapshots_beside(newest)?.0.ok_or_else(|| {
            let why = "there is no snapshot before the newest one, so nothing can be undone";
            Error::NotFound(why.to_owned())
        })?;
        apply(batch, before, LaterSnapshotPolicy::Keep)
    })?;
    rolled.snapshot = commit.snapshot;
    Ok(rolled)
}

fn apply(
    batch: &mut Batch<'_>,
    target: i64,
    after: LaterSnapshotPolicy,
) -> Result<RollbackReport, Error> {
    batch.set_message(format!("rollback to {target}"));
    let Some(snapshot) = batch.versions().snapshot(target)? else {
        let (all, beside) =
            (batch.versions().snapshots()?, batch.versions().snapshots_beside(target)?);
        let why = query::unknown_snapshot("snapshot_id", target, all, beside);
        return Err(Error::NotFound(why));
    };
    let mut rolled = RollbackReport {
        target,
        snapshot: None,
        n_nodes: 0,
        n_dropped: None,
        was_head: batch.versions().snapshots()?.last == target,
        is_unscrubbed: false,
        copies: CopiesBesideMemory::default(),
    };
    if rolled.was_head {
        return Ok(rolled);
    }
    if snapshot.cursor_hash.is_empty() {
        return Err(Error::Unavailable(format!(
            "snapshot {target} cannot be restored: it is of remindb 0.3, which did not note what \
             its nodes were, or its history was damaged; MemoryDiff shows what it says of their \
             texts"
        )));
    }
    let is_same = batch.fingerprint()?.to_string() == snapshot.cursor_hash;
    // Dropping snapshots drops their order keys, too, so those have to be restored even in an
    // equal state.
    if !is_same || after == LaterSnapshotPolicy::Drop {
        rolled.n_nodes = restore(batch, target)?;
    }
    let state = batch.fingerprint()?;
    if state.to_string() != snapshot.cursor_hash {
        return Err(Error::Store(StoreError::Corrupt {
            what: format!(
                "rolling back to snapshot {target} gives the state {state}, not {}",
                snapshot.cursor_hash
            ),
        }));
    }
    match after {
        LaterSnapshotPolicy::Keep => batch.note_rollback(target)?,
        LaterSnapshotPolicy::Drop => rolled.n_dropped = Some(batch.drop_after(target)?),
    }
    Ok(rolled)
}

/// A node that differs from its former state.
struct NodeToRestore {
    id: NodeId,
    name: String,
    old: NodeVersionWithoutText,
    is_rank_only: bool,
    /// Number of changed nodes above it.
    depth: usize,
}

/// Restores every node that changed since `target`; returns the number of differences.
fn restore(batch: &mut Batch<'_>, target: i64) -> Result<usize, Error> {
    let (mut changes, mut surplus) = (Vec::new(), Vec::new());
    for touched in batch.touched_since(target)? {
        let name = touched.node_id;
        let id = NodeId::parse(&name).ok_or_else(|| strange(&name))?;
        match batch.versions().version_at(&name, target)? {
            Some(old) => {
                let is_rank_only = touched.is_rank_only;
                changes.push(NodeToRestore { id, name, old, is_rank_only, depth: 0 });
            }
            None => surplus.push(id),
        }
    }
    let above: BTreeMap<&str, Option<&str>> =
        changes.iter().map(|it| (it.name.as_str(), it.old.parent.as_deref())).collect();
    let counts = ancestor_counts(&above);
    let depths: Vec<usize> = changes.iter().map(|it| counts[it.name.as_str()]).collect();
    changes.iter_mut().zip(depths).for_each(|(change, depth)| change.depth = depth);
    // Parents first: a node's parent is restored before the node itself.
    changes.sort_by_key(|it| it.depth);
    let mut n_nodes = 0;
    for change in &changes {
        n_nodes += usize::from(set_right(batch, change)?);
    }
    Ok(n_nodes + forget(batch, &surplus, target)?)
}

/// Restores the former state of a node; returns whether it differed.
fn set_right(batch: &mut Batch<'_>, change: &NodeToRestore) -> Result<bool, Error> {
    let old = &change.old;
    let place = place_of(batch, old)?;
    let Some(now) = batch.find(change.id)? else {
        let text = text_of(batch, change)?;
        batch.restore_node(change.id, &data_of(change, &text)?, place)?;
        if old.attributes.key_path().is_some()
            && let Some(restored) = batch.find(change.id)?
        {
            batch.let_note_return(&restored)?;
        }
        return Ok(true);
    };
    let is_moved = now.place.parent != place.parent
        || place.parent.is_none() && now.place.file != place.file
        || !change.is_rank_only && now.place.position != place.position;
    if is_moved {
        batch.move_to(&now, place)?;
    } else {
        batch.renumber(&now, place.position)?;
    }
    let is_reworded = now.content_hash.to_string() != old.hash
        || now.label != old.label
        || now.format.as_str() != old.format
        || now.attributes != old.attributes;
    if is_reworded {
        let text = match now.content_hash.to_string() == old.hash {
            true => now.content.clone(),
            false => text_of(batch, change)?,
        };
        let now = batch.find(change.id)?.unwrap_or(now);
        batch.set_agent_text(&now, &data_of(change, &text)?)?;
    }
    Ok(is_moved || is_reworded)
}

fn place_of(batch: &mut Batch<'_>, side: &NodeVersionWithoutText) -> Result<NodePlace, StoreError> {
    let position = side.position;
    if let Some(parent) = &side.parent {
        let id = NodeId::parse(parent).ok_or_else(|| strange(parent))?;
        let parent = batch.find(id)?.ok_or_else(|| strange(parent))?;
        return Ok(NodePlace { file: parent.place.file, parent: Some(parent.key), position });
    }
    let file = match (side.root, &side.path) {
        (Some(root), Some(path)) => Some(batch.file_at(RootId(root), path)?),
        _ => None,
    };
    Ok(NodePlace { file, parent: None, position })
}

fn text_of(batch: &Batch<'_>, change: &NodeToRestore) -> Result<String, Error> {
    let text = batch.versions().former_text(&change.name, &change.old.hash)?;
    text.ok_or_else(|| {
        Error::Unavailable(format!(
            "that snapshot cannot be restored: the text that node `{}` had is missing; `remindb \
             doctor` names all such snapshots",
            change.name
        ))
    })
}

fn data_of<'a>(
    change: &'a NodeToRestore,
    content: &'a str,
) -> Result<UnplacedNodeData<'a>, StoreError> {
    let NodeToRestore { name, old, .. } = change;
    let parsed = (NodeType::parse(&old.node_type), ContentFormat::parse(&old.format));
    let (Some(node_type), Some(format)) = parsed else { return Err(strange(name)) };
    Ok(UnplacedNodeData {
        node_type,
        format,
        label: &old.label,
        content,
        // An import of an earlier program took over what others had counted.
        token_count: tokens::count(content),
        attributes: old.attributes.clone(),
    })
}

/// Forgets nodes that did not exist at `target`, children before their parents, from where they are
/// once the others are in their places. Returns how many there were.
fn forget(batch: &mut Batch<'_>, ids: &[NodeId], target: i64) -> Result<usize, Error> {
    let mut nodes: Vec<NodeRecord> = Vec::with_capacity(ids.len());
    for id in ids {
        nodes.extend(batch.find(*id)?);
    }
    let above: BTreeMap<NodeRowId, Option<NodeRowId>> =
        nodes.iter().map(|it| (it.key, it.place.parent)).collect();
    let counts = ancestor_counts(&above);
    nodes.sort_by_key(|it| (std::cmp::Reverse(counts[&it.key]), it.key));
    for node in &nodes {
        // An imported note that was there before was forgotten by then.
        if node.attributes.key_path().is_some() && batch.was_there_by(node.id, target)? {
            batch.keep_note_forgotten(node)?;
        }
        batch.forget(node)?;
    }
    Ok(nodes.len())
}

fn strange(id: &str) -> StoreError {
    StoreError::Corrupt {
        what: format!("the history names a node `{id}` of no known form or place"),
    }
}

#[cfg(test)]
mod tests;
