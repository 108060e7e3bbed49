//! Forgetting nodes for good, with what of knowledge stands and falls with them.

use super::unsettled;
use crate::memory::knowledge::{fact_forgotten_with, release_members, release_statements};
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::query::Error;
use crate::store::{Batch, NodeRecord, StoreError};

/// Forgets a node and all its descendants, the lowest first, each as [`forget_alone`] does.
pub(super) fn forget_with_knowledge(
    batch: &mut Batch<'_>,
    node: NodeRecord,
    now: UnixMillis,
) -> Result<(), Error> {
    for it in lowest_first(batch, node)? {
        // What was forgotten before it may have changed it, or have taken it along.
        if let Some(it) = batch.at(it.key)? {
            forget_alone(batch, it, now)?;
        }
    }
    Ok(())
}

/// Forgets a node with the fact that it alone states, and releases the statements of a conflict and
/// the members of a topic.
pub(super) fn forget_alone(
    batch: &mut Batch<'_>,
    node: NodeRecord,
    now: UnixMillis,
) -> Result<(), Error> {
    let node = match node.node_type {
        NodeType::Conflict => release_statements(batch, node, now).map_err(unsettled)?,
        _ => node,
    };
    let fact = fact_forgotten_with(batch, &node).map_err(unsettled)?;
    forget_one(batch, &node)?;
    if let Some(fact) = fact {
        forget_all(batch, fact)?;
    }
    if node.node_type == NodeType::Topic {
        release_members(batch, node.id, now).map_err(unsettled)?;
    }
    Ok(())
}

/// Forgets a node and all its descendants, the lowest first.
pub(in crate::memory) fn forget_all(
    batch: &mut Batch<'_>,
    node: NodeRecord,
) -> Result<(), StoreError> {
    lowest_first(batch, node)?.iter().try_for_each(|it| forget_one(batch, it))
}

/// Returns a node and all its descendants, the lowest first.
fn lowest_first(batch: &Batch<'_>, node: NodeRecord) -> Result<Vec<NodeRecord>, StoreError> {
    let mut all = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        open.extend(batch.children_of(node.key)?);
        all.push(node);
    }
    all.reverse();
    Ok(all)
}

fn forget_one(batch: &mut Batch<'_>, node: &NodeRecord) -> Result<(), StoreError> {
    batch.keep_note_forgotten(node)?;
    batch.forget(node)
}
