//! Operations on concepts: made of their sources, changed, merged, split, reshaped.

mod any_node_update;
mod merge_split;

use serde_json::{Map, Value, json};

use super::OperationOutcome;
use super::edges::NOTE_CHARS_MAX;
use super::processed_and_pinned::ID_CHARS_MAX;
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeset_base_and_names::ChangesetContext;
use crate::memory::knowledge::entity_resolution::{topic_field, topic_named};
use crate::memory::knowledge::node_writes::{
    NewKnowledgeNode, NewNodePlace, StoredKnowledgeNode, add_edge, add_node, edge, find_node,
    set_fields,
};
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::name_key;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::TITLE_CHARS_MAX;
use crate::store::Batch;
use crate::text::tokens;
pub(super) use any_node_update::{place_in_topic, update};
pub(super) use merge_split::{merge, merge_one, split};

/// Sources of a concept, at most.
const SOURCES_MAX: usize = 500;

/// Characters of a summary, at most.
pub(super) const SUMMARY_CHARS_MAX: usize = 20_000;

/// The most confidence that a number of episodes gives.
const CONFIDENCE_MAX: f64 = 0.95;

pub(super) fn concept(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let now = changeset.now;
    let title = given.required("title", given.string("title", TITLE_CHARS_MAX)?)?;
    let summary = given.required("summary", given.text("summary", SUMMARY_CHARS_MAX)?)?;
    let mut sources = Vec::new();
    for id in given.texts("from", SOURCES_MAX, ID_CHARS_MAX)?.unwrap_or_default() {
        let source = changeset.node_to_change(batch, given, "from", &id)?;
        if !matches!(source.record.node_type, NodeType::Episode | NodeType::Concept) {
            let why = format!("names a {}; concepts come from episodes", source.record.node_type);
            return Err(given.refuse("from", why));
        }
        if source.is_hidden() {
            let why = format!("names `{id}`, which is deleted or replaced");
            return Err(given.refuse("from", why).about(&id));
        }
        sources.push(source);
    }
    let topic = match given.text("topic", 100)? {
        Some(name) => Some(topic_named(batch, name, None, now)?),
        None => common_topic(batch, &sources)?,
    };
    let n_episodes = sources.iter().filter(|it| it.is_a(NodeType::Episode)).count();
    let confidence = given.share("confidence")?.unwrap_or_else(|| confidence_of(n_episodes));
    let mut fields = details(given)?;
    fields.insert("title".to_owned(), title.as_str().into());
    fields.insert("names".to_owned(), json!([name_key(&title)]));
    let kind = given.string("kind", 50)?.unwrap_or_else(|| "pattern".to_owned());
    fields.insert("kind".to_owned(), kind.into());
    fields.insert("confidence".to_owned(), confidence.into());
    fields.insert("topic".to_owned(), topic_field(topic.as_ref()));
    for source in sources.iter().filter(|it| it.is_a(NodeType::Concept)) {
        add_edge(&mut fields, edge("derived_from", source.id(), 1.0, None));
    }
    let collisions = same_title(batch, &title)?;
    let token_count = tokens::count(summary);
    let new =
        NewKnowledgeNode { node_type: NodeType::Concept, content: summary, token_count, fields };
    let below =
        topic.as_ref().map_or(NewNodePlace::Bucket(&[]), |it| NewNodePlace::Node(it.record.key));
    let concept = add_node(batch, new, below, now)?;
    for source in sources.iter_mut().filter(|it| it.is_a(NodeType::Episode)) {
        support(batch, source, &concept, now)?;
    }
    Ok(OperationOutcome { collisions, ..OperationOutcome::of(concept.id()) })
}

/// Has an episode support a concept, and be processed.
fn support(
    batch: &mut Batch<'_>,
    episode: &mut StoredKnowledgeNode,
    concept: &StoredKnowledgeNode,
    now: UnixMillis,
) -> KnowledgeResult<()> {
    let link = edge("supports", concept.id(), 1.0, None);
    let snapshot = batch.own_snapshot()?;
    let change = |it: &mut Map<String, Value>| {
        add_edge(it, link);
        it.entry("processed_in").or_insert(snapshot.into());
    };
    set_fields(batch, episode, change, now).map(drop)
}

/// Returns the confidence that a number of episodes gives by itself.
pub(super) fn confidence_of(n_episodes: usize) -> f64 {
    let doubt = 0.5_f64.powi(i32::try_from(n_episodes.max(1)).unwrap_or(i32::MAX));
    (1.0 - doubt).min(CONFIDENCE_MAX)
}

/// Returns the optional arguments of a concept as fields.
fn details(given: &ArgumentObject<'_>) -> KnowledgeResult<Map<String, Value>> {
    let mut fields = Map::new();
    if let Some(conditions) = given.text("conditions", 2_000)? {
        fields.insert("conditions".to_owned(), conditions.into());
    }
    for (name, n_max, chars_max) in [("exceptions", 50, 500), ("tags", 20, 50)] {
        if let Some(texts) = given.texts(name, n_max, chars_max)? {
            let value = if texts.is_empty() { Value::Null } else { texts.into() };
            fields.insert(name.to_owned(), value);
        }
    }
    Ok(fields)
}

/// Returns the topic that all sources have.
fn common_topic(
    batch: &Batch<'_>,
    sources: &[StoredKnowledgeNode],
) -> KnowledgeResult<Option<StoredKnowledgeNode>> {
    let Some(first) = sources.first().and_then(|it| it.text("topic")) else { return Ok(None) };
    match sources.iter().all(|it| it.text("topic") == Some(first)) {
        true => Ok(find_node(batch, first)?.filter(|it| !it.is_hidden())),
        false => Ok(None),
    }
}

/// Returns the ids of the concepts that have a title already.
fn same_title(batch: &Batch<'_>, title: &str) -> KnowledgeResult<Vec<String>> {
    let found = batch.with_facet(NodeType::Concept, "name", &name_key(title))?;
    let found = StoredKnowledgeNode::all(found)?.into_iter().filter(|it| !it.is_hidden());
    Ok(found.map(|it| it.id().to_string()).collect())
}

/// Returns the concept that an argument names, which is neither deleted nor replaced.
fn concept_of(
    changeset: &ChangesetContext<'_>,
    batch: &Batch<'_>,
    given: &ArgumentObject<'_>,
    (key, id): (&str, &str),
) -> KnowledgeResult<StoredKnowledgeNode> {
    let node = changeset.node_to_change(batch, given, key, id)?;
    if !node.is_a(NodeType::Concept) {
        return Err(given.refuse(key, format!("names a {}, not a concept", node.record.node_type)));
    }
    if node.is_hidden() {
        let why = format!("names `{}`, which is deleted or replaced", node.id());
        return Err(given.refuse(key, why).about(&node.id().to_string()));
    }
    Ok(node)
}

pub(super) fn reshape(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let id = given.required("id", given.text("id", ID_CHARS_MAX)?)?;
    let kind = given.required("kind", given.text("kind", 50)?)?;
    let note = given.text("note", NOTE_CHARS_MAX)?;
    let mut concept = concept_of(changeset, batch, given, ("id", id))?;
    let change = |it: &mut Map<String, Value>| {
        it.insert("kind".to_owned(), kind.into());
        if let Some(note) = note {
            it.insert("note".to_owned(), note.into());
        }
    };
    set_fields(batch, &mut concept, change, changeset.now)?;
    Ok(OperationOutcome::of(concept.id()))
}
