//! Members of a topic: the episodes and concepts that are of it, counted, and released when the
//! topic is forgotten for good.

use super::node_writes::{StoredKnowledgeNode, set_fields};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::model::tree::NodeType;
use crate::store::Batch;

/// Types of nodes that are of a topic.
const MEMBERS: [NodeType; 3] = [NodeType::Episode, NodeType::Concept, NodeType::Chunk];

/// Returns whether a node is still of its topic: neither deleted nor merged into another one.
pub(super) fn is_member(node: &StoredKnowledgeNode) -> bool {
    !node.has("deleted") && !node.has("merged_into")
}

/// Returns how many episodes are of a topic, without those that are deleted.
pub(crate) fn n_episodes_of(batch: &Batch<'_>, topic: NodeId) -> Result<usize, MemoryError> {
    let episodes = batch.with_facet(NodeType::Episode, "topic", &topic.to_string())?;
    let episodes = StoredKnowledgeNode::all(episodes)?;
    Ok(episodes.iter().filter(|it| is_member(it)).count())
}

/// Takes everything out of a topic.
pub(crate) fn release_members(
    batch: &mut Batch<'_>,
    topic: NodeId,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    for node_type in MEMBERS {
        loop {
            let found = batch.with_facet(node_type, "topic", &topic.to_string())?;
            if found.is_empty() {
                break;
            }
            for mut member in StoredKnowledgeNode::all(found)? {
                set_fields(batch, &mut member, |it| drop(it.shift_remove("topic")), now)?;
            }
        }
    }
    Ok(())
}
