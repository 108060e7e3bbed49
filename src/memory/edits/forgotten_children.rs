//! The children of a forgotten node: they take its place, or the node is not forgotten.

use crate::memory::Error;
use crate::model::identity::NodeId;
use crate::model::order_keys::{self, KeptMovedOrRenumbered};
use crate::store::{Batch, NodePlace, NodeRecord, StoreError};

/// Moves the children of a node to its place, in their order.
pub(super) fn take_place(
    batch: &mut Batch<'_>,
    node: &NodeRecord,
    children: &[NodeRecord],
) -> Result<(), StoreError> {
    if children.is_empty() {
        return Ok(());
    }
    let family = batch.family_of(node.place)?;
    let at = family.iter().position(|it| it.key == node.key).unwrap_or(family.len());
    let siblings = |part: &[NodeRecord]| -> Vec<Option<i64>> {
        part.iter().map(|it| Some(it.place.position)).collect()
    };
    let (before, after) = (&family[..at], &family[(at + 1).min(family.len())..]);
    let mut wanted = siblings(before);
    wanted.extend(children.iter().map(|_| None));
    wanted.extend(siblings(after));
    let order = before.iter().chain(children).chain(after);
    for (it, rank) in order.zip(order_keys::assign_order_keys(&wanted)) {
        match rank.change {
            KeptMovedOrRenumbered::Kept => (),
            KeptMovedOrRenumbered::Renumbered => batch.renumber(it, rank.position)?,
            KeptMovedOrRenumbered::Moved => {
                batch.move_to(it, NodePlace { position: rank.position, ..node.place })?;
            }
        }
    }
    Ok(())
}

/// Returns the error of a node with children.
pub(super) fn refuse(id: NodeId, children: &[NodeRecord]) -> Error {
    let n = children.len();
    let noun = if n == 1 { "child" } else { "children" };
    Error::BadArgument(format!(
        "node `{id}` has {n} {noun}; mode `cascade` forgets what is below it, too, and `reparent` \
         keeps that"
    ))
}

/// Returns the error of a topic with episodes.
pub(super) fn refuse_topic(id: NodeId, n_episodes: usize) -> Error {
    let noun = if n_episodes == 1 { "episode" } else { "episodes" };
    Error::BadArgument(format!(
        "node `{id}` is the topic of {n_episodes} {noun}; mode `cascade` and `reparent` leave \
         them without one"
    ))
}
