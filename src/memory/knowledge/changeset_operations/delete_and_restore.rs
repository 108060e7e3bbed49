//! The operations `delete` and `restore`: hidden, with their facts, and shown again.

use serde_json::{Map, Value};

use super::OperationOutcome;
use super::concepts::{merge_one, place_in_topic};
use super::processed_and_pinned::id;
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeset_base_and_names::ChangesetContext;
use crate::memory::knowledge::entity_resolution::{known_topic, named_as, topic_field};
use crate::memory::knowledge::fact_of_fact_episode::fact_stated_alone;
use crate::memory::knowledge::fact_subject::other_clusters;
use crate::memory::knowledge::node_writes::{StoredKnowledgeNode, find_node, set_fields};
use crate::memory::knowledge::topic_member_release::{is_member, n_episodes_of};
use crate::model::tree::NodeType;
use crate::store::Batch;

/// Returns the field that hides a node which somebody deletes.
fn hidden_by(
    node: &StoredKnowledgeNode,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<&'static str> {
    match node.record.node_type {
        NodeType::Core | NodeType::Learning | NodeType::Task => Ok("archived"),
        NodeType::Episode
        | NodeType::Concept
        | NodeType::Fact
        | NodeType::Topic
        | NodeType::Entity => Ok("deleted"),
        other => Err(given.refuse("id", format!("names a {other}; MemoryForget removes those"))),
    }
}

pub(super) fn delete(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let mut node = changeset.node_to_change(batch, given, "id", id(given)?)?;
    let field = hidden_by(&node, given)?;
    if node.is_a(NodeType::Topic) {
        let below = StoredKnowledgeNode::all(batch.children_of(node.record.key)?)?;
        let n_concepts = below.iter().filter(|it| is_member(it)).count();
        let n_episodes = n_episodes_of(batch, node.id())?;
        if 0 < n_concepts + n_episodes {
            let why = format!(
                "names a topic with {n_concepts} concepts and {n_episodes} episodes; move them \
                 with `update` first"
            );
            return Err(given.refuse("id", why));
        }
    }
    let hide = |it: &mut Map<String, Value>| {
        it.insert(field.to_owned(), true.into());
    };
    set_fields(batch, &mut node, hide, changeset.now)?;
    for mut fact in facts_of(batch, &node)?.into_iter().filter(|it| !it.has(field)) {
        set_fields(batch, &mut fact, hide, changeset.now)?;
    }
    Ok(OperationOutcome::of(node.id()))
}

pub(super) fn restore(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let mut node = changeset.node_as_at_base(batch, given, "id", id(given)?)?;
    let field = hidden_by(&node, given)?;
    if !node.has(field) {
        return Err(given.refuse("id", format!("names `{}`, which is not {field}", node.id())));
    }
    let others = replacements_of(batch, &node)?;
    if let Some(other) = others.first()
        && (node.is_a(NodeType::Topic) || 1 < others.len())
    {
        let ids: Vec<String> = others.iter().map(|it| format!("`{}`", it.id())).collect();
        let what =
            if node.is_a(NodeType::Topic) { "go on with that" } else { "`merge` them first" };
        let why = format!(
            "names `{}`, whose name is that of {} by now; {what}",
            node.id(),
            ids.join(" and ")
        );
        return Err(given.refuse("id", why).about(&other.id().to_string()));
    }
    let (deleted_at, now) = (node.time("updated_at"), changeset.now);
    let show = |it: &mut Map<String, Value>| drop(it.shift_remove(field));
    set_fields(batch, &mut node, show, now)?;
    restore_topic(changeset, batch, &mut node)?;
    for mut fact in facts_of(batch, &node)? {
        if fact.has(field) && fact.time("updated_at") == deleted_at {
            set_fields(batch, &mut fact, show, now)?;
        }
    }
    if let [other] = &others[..] {
        merge_one(changeset, batch, node, (other.id(), None))?;
        return Ok(OperationOutcome::of(other.id()));
    }
    Ok(OperationOutcome::of(node.id()))
}

/// Shows the deleted topic of a restored node again. Where another topic has its name by now, the
/// node goes there.
fn restore_topic(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    node: &mut StoredKnowledgeNode,
) -> KnowledgeResult<()> {
    let topic = node.text("topic").map(|it| find_node(batch, it)).transpose()?.flatten();
    let Some(mut topic) = topic.filter(|it| it.has("deleted")) else { return Ok(()) };
    let Some(other) = known_topic(batch, topic.title())? else {
        let show = |it: &mut Map<String, Value>| drop(it.shift_remove("deleted"));
        return set_fields(batch, &mut topic, show, changeset.now).map(drop);
    };
    let of_other = |it: &mut Map<String, Value>| {
        it.insert("topic".to_owned(), topic_field(Some(&other)));
    };
    set_fields(batch, node, of_other, changeset.now)?;
    place_in_topic(batch, node, Some(&other))
}

/// Returns what took the place of a deleted node: topics and entities of its names, and the
/// clusters of its subject that were made since.
fn replacements_of(
    batch: &Batch<'_>,
    node: &StoredKnowledgeNode,
) -> KnowledgeResult<Vec<StoredKnowledgeNode>> {
    let Some(hash) = node.text("subject").filter(|_| node.is_a(NodeType::Concept)) else {
        return named_as(batch, node);
    };
    let mut others = other_clusters(batch, node, hash)?;
    // The parts of one that was split stand beside each other.
    others.retain(|it| node.time("updated_at") <= it.time("created_at"));
    Ok(others)
}

/// Returns the facts that are hidden and shown with a node: those of a cluster, and the one that an
/// episode states alone.
fn facts_of(
    batch: &Batch<'_>,
    node: &StoredKnowledgeNode,
) -> KnowledgeResult<Vec<StoredKnowledgeNode>> {
    if !node.is_a(NodeType::Concept) {
        return Ok(fact_stated_alone(batch, node)?.into_iter().collect());
    }
    let mut facts = StoredKnowledgeNode::all(batch.children_of(node.record.key)?)?;
    facts.retain(|it| it.is_a(NodeType::Fact));
    Ok(facts)
}
