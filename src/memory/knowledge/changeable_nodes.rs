//! Nodes that may be changed: neither deleted nor merged into another one.

use super::arguments::KnowledgeResult;
use super::entity_resolution::present_one;
use super::node_writes::StoredKnowledgeNode;
use crate::store::{Batch, NodeRecord};

/// Returns why a node may not be changed, to follow the name of the argument that names it.
pub(super) fn why_not_changed(
    batch: &Batch<'_>,
    node: &StoredKnowledgeNode,
) -> KnowledgeResult<Option<String>> {
    let id = node.id();
    if node.has("deleted") {
        return Ok(Some(format!("names `{id}`, which is deleted; `restore` brings it back")));
    }
    if !node.has("merged_into") {
        return Ok(None);
    }
    Ok(Some(match present_one(batch, node.clone())? {
        Some(now) => format!("names `{id}`, which was merged into `{}`; name that", now.id()),
        None => format!("names `{id}`, which was merged into a node that is gone"),
    }))
}

/// Returns why the text of a node of any type may not be changed.
pub(crate) fn why_not_written(
    batch: &Batch<'_>,
    node: &NodeRecord,
) -> KnowledgeResult<Option<String>> {
    match node.attributes.fields() {
        Some(_) => why_not_changed(batch, &StoredKnowledgeNode::of(node.clone())?),
        None => Ok(None),
    }
}
