//! Rivals in a write: facts that say something else of one subject and attribute for the same time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::node_writes::StoredKnowledgeNode;
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{name_key, normal_statement};
use crate::model::tree::NodeType;
use crate::store::Batch;

/// Returns whether a fact is neither hidden nor over.
pub(super) fn is_current_fact(fact: &StoredKnowledgeNode, now: UnixMillis) -> bool {
    !fact.is_hidden() && !fact.validity().is_over(now)
}

/// Returns whether two texts are one statement; letter case tells statements apart.
pub(super) fn is_equal_text(a: &str, b: &str) -> bool {
    normal_statement(a) == normal_statement(b)
}

/// Returns the facts of whatever subject that say a text, in whatever white space.
pub(super) fn facts_saying(
    batch: &Batch<'_>,
    text: &str,
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let statement = normal_statement(text);
    let mut facts = batch.typed_with_text(NodeType::Fact, &statement)?;
    let mut others = batch.with_facet(NodeType::Fact, "name", &name_key(&statement))?;
    if statement != text {
        // One that another door wrote has no key, nor has one of earlier builds.
        others.extend(batch.typed_with_text(NodeType::Fact, text)?);
    }
    for other in others {
        if normal_statement(&other.content) == statement
            && facts.iter().all(|it| it.key != other.key)
        {
            facts.push(other);
        }
    }
    StoredKnowledgeNode::all(facts)
}

/// Returns whether two facts of one subject and attribute cannot both hold.
pub(super) fn are_rivals(a: &StoredKnowledgeNode, b: &StoredKnowledgeNode) -> bool {
    a.id() != b.id()
        && a.validity().overlaps(b.validity())
        && !is_equal_text(&a.record.content, &b.record.content)
}

/// Returns the current facts that have one of some keys, eldest first; `n_new` of them may come
/// with this write.
pub(super) fn current_facts_of(
    batch: &Batch<'_>,
    keys: &[String],
    n_new: usize,
    now: UnixMillis,
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    let mut facts = StoredKnowledgeNode::all(batch.living_facts_of(&keys, n_new)?)?;
    retain_standing(batch, &mut facts, now)?;
    Ok(facts)
}

/// Takes those out of some facts that are not current, or whose cluster is gone.
pub(super) fn retain_standing(
    batch: &Batch<'_>,
    facts: &mut Vec<StoredKnowledgeNode>,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let mut is_gone = BTreeMap::new();
    let mut standing = Vec::with_capacity(facts.len());
    for fact in facts.drain(..).filter(|it| is_current_fact(it, now)) {
        let is_gone = match is_gone.entry(fact.record.place.parent) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => *new.insert(is_below_hidden(batch, &fact)?),
        };
        if !is_gone {
            standing.push(fact);
        }
    }
    *facts = standing;
    Ok(())
}

/// Returns whether a fact is current and its cluster is there.
pub(super) fn is_standing_fact(
    batch: &Batch<'_>,
    fact: &StoredKnowledgeNode,
    now: UnixMillis,
) -> Result<bool, MemoryError> {
    Ok(is_current_fact(fact, now) && !is_below_hidden(batch, fact)?)
}

/// Returns whether the cluster of a fact is deleted or replaced: the fact is gone with it.
pub(super) fn is_below_hidden(
    batch: &Batch<'_>,
    fact: &StoredKnowledgeNode,
) -> Result<bool, MemoryError> {
    let parent = fact.record.place.parent.map(|it| batch.at(it)).transpose()?.flatten();
    Ok(parent.map(StoredKnowledgeNode::of).transpose()?.is_some_and(|it| it.is_hidden()))
}
