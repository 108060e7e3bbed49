//! Stated facts: what an episode of kind fact says, kept as a fact of its own.
//!
//! A statement is corrected, deleted and replaced by the id of either.

use serde_json::{Map, Value};

use super::node_writes::{StoredKnowledgeNode, find_node, set_fields, set_node};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::store::{Batch, NodeRecord};

/// Returns the fact that an episode states.
pub(super) fn stated_fact(
    batch: &Batch<'_>,
    episode: &StoredKnowledgeNode,
) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
    if !episode.is_a(NodeType::Episode) || episode.text("kind") != Some("fact") {
        return Ok(None);
    }
    for id in episode.linked("supports") {
        if let Some(node) = find_node(batch, id)?.filter(|it| it.is_a(NodeType::Fact)) {
            return Ok(Some(node));
        }
    }
    Ok(None)
}

/// Returns the fact that an episode states and no other one that is there supports.
pub(super) fn fact_stated_alone(
    batch: &Batch<'_>,
    episode: &StoredKnowledgeNode,
) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
    let Some(fact) = stated_fact(batch, episode)? else { return Ok(None) };
    let mut others = StoredKnowledgeNode::all(batch.with_edge_to(&[fact.id()], "supports")?)?;
    others.retain(|it| it.id() != episode.id() && !it.is_hidden());
    Ok(others.is_empty().then_some(fact))
}

/// Returns the fact that is forgotten with a node: the one that an episode states alone.
pub(crate) fn fact_forgotten_with(
    batch: &Batch<'_>,
    node: &NodeRecord,
) -> Result<Option<NodeRecord>, MemoryError> {
    if node.node_type != NodeType::Episode {
        return Ok(None);
    }
    let fact = fact_stated_alone(batch, &StoredKnowledgeNode::of(node.clone())?)?;
    Ok(fact.map(|it| it.record))
}

/// Hides the episodes whose facts this write forgot, as a fact is forgotten with its episode.
pub(super) fn hide_episodes_of_forgotten(
    batch: &mut Batch<'_>,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let episodes = batch.with_edge_to_forgotten(NodeType::Fact, "supports")?;
    for mut episode in StoredKnowledgeNode::all(episodes)? {
        let is_statement = episode.is_a(NodeType::Episode) && episode.text("kind") == Some("fact");
        if is_statement && !episode.is_hidden() && stated_fact(batch, &episode)?.is_none() {
            let hide =
                |it: &mut Map<String, Value>| drop(it.insert("deleted".to_owned(), true.into()));
            set_fields(batch, &mut episode, hide, now)?;
        }
    }
    Ok(())
}

/// Gives the fact that an episode states a text; returns whether there is one.
pub(super) fn reword_stated_fact(
    batch: &mut Batch<'_>,
    episode: &StoredKnowledgeNode,
    text: &str,
    now: UnixMillis,
) -> Result<bool, MemoryError> {
    let Some(mut fact) = stated_fact(batch, episode)? else { return Ok(false) };
    if fact.has("deleted") {
        return Ok(false);
    }
    set_node(batch, &mut fact, text, |_| (), now)?;
    Ok(true)
}
