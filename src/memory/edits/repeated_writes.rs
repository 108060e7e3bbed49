//! Repeated writes: a call repeated because its reply was lost finds what it wrote.

use super::{Error, WrittenNode};
use crate::model::tree::DocumentTree;
use crate::store::{Batch, NodeRecord, NodeRowId, StoreError, UnplacedNodeData};

/// Nodes with the same text that are compared to recognize a repeated write.
const REPEATED_MAX: usize = 16;

/// Returns the nodes of an equal tree written there before. So a call repeated because its reply
/// was lost does nothing.
pub(super) fn already(
    batch: &Batch<'_>,
    parent: Option<NodeRowId>,
    tree: &DocumentTree,
) -> Result<Option<Vec<WrittenNode>>, Error> {
    let n_roots = tree.nodes.iter().filter(|it| it.parent.is_none()).count();
    for first in batch.agent_nodes_with_text(&UnplacedNodeData::of(&tree.nodes[0]), REPEATED_MAX)? {
        let is_here = match parent {
            Some(key) => first.place.parent == Some(key),
            None => first.place.parent.is_none() && first.place.file.is_none(),
        };
        if !is_here {
            continue;
        }
        let family = match n_roots {
            1 => vec![first],
            _ => {
                let after = first.place.position;
                let family = batch.family_of(first.place)?;
                family.into_iter().filter(|it| after <= it.place.position).collect()
            }
        };
        if let Some(written) = same(batch, family, tree)? {
            return Ok(Some(written));
        }
    }
    Ok(None)
}

/// Returns the stored nodes that equal the tree, if the first of `roots` and their descendants do.
fn same(
    batch: &Batch<'_>,
    roots: Vec<NodeRecord>,
    tree: &DocumentTree,
) -> Result<Option<Vec<WrittenNode>>, StoreError> {
    let mut written: Vec<WrittenNode> = Vec::with_capacity(tree.nodes.len());
    // The remaining children of each node; the roots come first.
    let mut left: Vec<std::vec::IntoIter<NodeRecord>> = vec![roots.into_iter()];
    for (node, depth) in tree.nodes.iter().zip(tree.depths()) {
        let family = node.parent.map_or(0, |at| at + 1);
        let Some(stored) = left[family].next() else { return Ok(None) };
        let is_same = stored.source_hash.is_none()
            && stored.node_type == node.node_type
            && stored.attributes.level() == node.level
            && stored.attributes.lang() == node.lang.as_deref()
            && stored.content == node.content;
        if !is_same {
            return Ok(None);
        }
        left.push(batch.children_of(stored.key)?.into_iter());
        written.push(WrittenNode::of(stored.id, &UnplacedNodeData::of(node), depth));
    }
    Ok(Some(written))
}
