//! The operation `update`: new values of a node of any kind, by the names that the kind has.

use serde_json::{Map, Value, json};

use super::{OperationOutcome, SUMMARY_CHARS_MAX, details};
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeset_base_and_names::ChangesetContext;
use crate::memory::knowledge::changeset_operations::processed_and_pinned::ID_CHARS_MAX;
use crate::memory::knowledge::entity_resolution::{
    known_mentions, mentioned, named_as, topic_field, topic_named, with_names,
};
use crate::memory::knowledge::fact_of_fact_episode::{reword_stated_fact, stated_fact};
use crate::memory::knowledge::node_writes::{
    StoredKnowledgeNode, add_edge, edge, set_bounds, set_fields, set_node,
};
use crate::memory::typed::{UpdateRequest, rewrite};
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::name_key;
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::topic_name_matching_and_slugs::{is_reduced_key, topic_slug};
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::TypedNodeSchema;
use crate::model::typed_node_field_schemas::knowledge::{EPISODE_CHARS_MAX, TITLE_CHARS_MAX};
use crate::store::Batch;

/// Arguments of every update.
const OF_ALL: &[&str] = &["op", "id", "as"];

/// Bounds of the time in which a fact holds.
const FROM: &str = "valid_from";
const TO: &str = "valid_to";

pub(in crate::memory::knowledge::changeset_operations) fn update(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let id = given.required("id", given.text("id", ID_CHARS_MAX)?)?;
    let node = changeset.node_to_change(batch, given, "id", id)?;
    let allowed: &[&str] = match node.record.node_type {
        NodeType::Episode => {
            &["title", "content", "confidence", "kind", "topic", "entities", "metadata", FROM, TO]
        }
        NodeType::Concept => &[
            "title",
            "summary",
            "content",
            "confidence",
            "kind",
            "topic",
            "tags",
            "conditions",
            "exceptions",
        ],
        NodeType::Fact => &["content", FROM, TO],
        NodeType::Topic | NodeType::Entity => &["title", "content", "summary"],
        NodeType::Core | NodeType::Learning | NodeType::Task => {
            return update_memory(changeset, batch, given, &node);
        }
        other => {
            return Err(given.refuse("id", format!("names a {other}; MemoryWrite changes notes")));
        }
    };
    let given_keys = || given.members().keys().map(String::as_str);
    if let Some(key) = given_keys().find(|it| !OF_ALL.contains(it) && !allowed.contains(it)) {
        let (of, known) = (node.record.node_type, allowed.join(", "));
        return Err(given.refuse(key, format!("cannot change in a {of}; known are {known}")));
    }
    if given_keys().all(|it| OF_ALL.contains(&it)) {
        return Err(given.refuse("id", "is given, and nothing to change"));
    }
    change(changeset, batch, given, node)
}

fn change(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
    mut node: StoredKnowledgeNode,
) -> KnowledgeResult<OperationOutcome> {
    let now = changeset.now;
    set_validity(changeset, batch, given, &mut node)?;
    let chars_max =
        if node.is_a(NodeType::Concept) { SUMMARY_CHARS_MAX } else { EPISODE_CHARS_MAX };
    let text = given.text("content", chars_max)?.or(given.text("summary", chars_max)?);
    let mut content = text.unwrap_or(&node.record.content).to_owned();
    if node.is_a(NodeType::Entity) && given.value("title").is_some() {
        // Its former name is a further one, which an export tells.
        content = with_names(&content, std::iter::once(node.title()));
    }
    let settings = changeset.memory.knowledge_settings();
    let mut fields = new_values(given, &node, &settings.kinds())?;
    let topic = match given.value("topic").and_then(Value::as_str) {
        None => None,
        Some("") => Some(None),
        Some(_) => match given.text("topic", 100)? {
            Some(name) => Some(Some(topic_named(batch, name, None, now)?)),
            None => None,
        },
    };
    if let Some(topic) = &topic {
        fields.insert("topic".to_owned(), topic_field(topic.as_ref()));
    }
    let is_reworded = content != node.record.content;
    let entities = given.texts("entities", 50, 200)?;
    if node.is_a(NodeType::Episode) && (is_reworded || entities.is_some()) {
        let mentions = mentions_of(batch, &node, (&content, entities.as_deref()), now)?;
        fields.insert("links".to_owned(), with_mentions(&node, &mentions));
    }
    let is_kept_as_fact = is_reworded && reword_stated_fact(batch, &node, &content, now)?;
    let set = |it: &mut Map<String, Value>| {
        it.extend(fields);
        if is_reworded && !is_kept_as_fact {
            // What it says now was not consolidated yet.
            it.shift_remove("processed_in");
        }
    };
    set_node(batch, &mut node, &content, set, now)?;
    if given.value("title").is_some()
        && let Some(other) = named_as(batch, &node)?.first()
    {
        let way = match node.record.node_type {
            NodeType::Entity => "`merge` makes them one",
            _ => "move what it has there with `update`",
        };
        let why = format!("is the name of `{}` already; {way}", other.id());
        return Err(given.refuse("title", why).about(&other.id().to_string()));
    }
    if let Some(topic) = topic {
        place_in_topic(batch, &node, topic.as_ref())?;
    }
    Ok(OperationOutcome::of(node.id()))
}

/// Moves a concept below its topic, or to those without one.
pub(in crate::memory::knowledge::changeset_operations) fn place_in_topic(
    batch: &mut Batch<'_>,
    node: &StoredKnowledgeNode,
    topic: Option<&StoredKnowledgeNode>,
) -> KnowledgeResult<()> {
    if !node.is_a(NodeType::Concept) {
        return Ok(());
    }
    let parent = match topic {
        Some(topic) => Some(topic.record.key),
        None => batch.bucket(TypedNodeSchema::of(NodeType::Concept).map_or(&[], |it| it.bucket))?,
    };
    if node.record.place.parent != parent {
        let place = batch.last_place(None, parent)?;
        batch.move_to(&node.record, place)?;
    }
    Ok(())
}

/// Gives a fact the bounds of its time that are given; an empty text takes one away. The fact of an
/// episode is the one that it states.
fn set_validity(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
    node: &mut StoredKnowledgeNode,
) -> KnowledgeResult<()> {
    let Some(key) = [FROM, TO].into_iter().find(|it| given.value(it).is_some()) else {
        return Ok(());
    };
    let mut fact = node.clone();
    if !node.is_a(NodeType::Fact) {
        let stated = stated_fact(batch, node)?;
        let stated = stated.ok_or_else(|| given.refuse(key, "is of facts; it states none"))?;
        fact = changeset.node_to_change(batch, given, "id", &stated.id().to_string())?;
    }
    let mut held = fact.validity();
    for (key, bound) in [(FROM, &mut held.from), (TO, &mut held.to)] {
        match given.value(key).map(|it| it.as_str()) {
            None => (),
            Some(Some("")) => *bound = None,
            Some(_) => *bound = given.time(key, UnixMillis::parse_rfc3339)?,
        }
    }
    if held.is_empty() {
        return Err(given.refuse(TO, format!("must be after `{FROM}`")));
    }
    set_fields(batch, &mut fact, |it| set_bounds(it, held), changeset.now)?;
    if node.is_a(NodeType::Fact) {
        *node = fact;
    }
    Ok(())
}

/// Returns the new values of fields that need no look-up.
fn new_values(
    given: &ArgumentObject<'_>,
    node: &StoredKnowledgeNode,
    kinds: &[&str],
) -> KnowledgeResult<Map<String, Value>> {
    let mut fields = details(given)?;
    if let Some(title) = given.string("title", TITLE_CHARS_MAX)? {
        let mut names = vec![Value::from(name_key(&title))];
        let known = node_fields::list(&node.fields, "names").iter();
        // The former names of a topic or an entity go on being found.
        let is_other = |it: &str| node.is_a(NodeType::Topic) && is_reduced_key(node.title(), it);
        let is_kept = |it: &&Value| {
            !node.is_a(NodeType::Concept) && **it != names[0] && !it.as_str().is_some_and(is_other)
        };
        let former: Vec<Value> = known.filter(is_kept).cloned().collect();
        names.extend(former);
        let slug = Value::from(name_key(&topic_slug(&title)));
        if node.is_a(NodeType::Topic) && !names.contains(&slug) {
            names.push(slug);
        }
        if !node.is_a(NodeType::Episode) {
            fields.insert("names".to_owned(), names.into());
        }
        fields.insert("title".to_owned(), title.into());
    }
    if let Some(metadata) = given.object("metadata")? {
        let kept = node.fields.get("metadata").and_then(Value::as_object);
        let mut all = kept.cloned().unwrap_or_default();
        all.extend(metadata.clone());
        all.retain(|key, it| !it.is_null() || !metadata.contains_key(key));
        fields.insert("metadata".to_owned(), all.into());
    }
    if let Some(confidence) = given.share("confidence")? {
        fields.insert("confidence".to_owned(), confidence.into());
    }
    if let Some(kind) = given.string("kind", 50)? {
        if node.is_a(NodeType::Episode) && !kinds.contains(&kind.as_str()) {
            return Err(given.refuse("kind", format!("must be one of {}", kinds.join(", "))));
        }
        fields.insert("kind".to_owned(), kind.into());
    }
    Ok(fields)
}

/// Returns what an episode mentions with another text and, where some are given, other entities.
fn mentions_of(
    batch: &mut Batch<'_>,
    node: &StoredKnowledgeNode,
    (content, entities): (&str, Option<&[String]>),
    now: UnixMillis,
) -> KnowledgeResult<Vec<NodeId>> {
    let mut mentions = mentioned(batch, content, entities.unwrap_or_default(), now)?;
    if entities.is_none() {
        // Those that its text did not bring are there because somebody gave them.
        let of_text = known_mentions(batch, &node.record.content)?;
        let known = node.linked("mentions").into_iter().filter_map(NodeId::parse);
        mentions.extend(known.filter(|it| !of_text.contains(it)));
    }
    Ok(mentions)
}

/// Returns the edges of an episode with other mentions.
fn with_mentions(node: &StoredKnowledgeNode, mentions: &[NodeId]) -> Value {
    let known = node_fields::list(&node.fields, "links").iter();
    let mut linked = Map::new();
    known.filter(|it| it["type"] != "mentions").for_each(|it| add_edge(&mut linked, it.clone()));
    mentions.iter().for_each(|it| add_edge(&mut linked, edge("mentions", *it, 1.0, None)));
    linked.shift_remove("links").unwrap_or(Value::Null)
}

/// Changes a memory as `update_memory` does.
fn update_memory(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
    node: &StoredKnowledgeNode,
) -> KnowledgeResult<OperationOutcome> {
    let mut arguments = Map::new();
    for (name, value) in given.members().iter().filter(|(it, _)| !OF_ALL.contains(&it.as_str())) {
        arguments.insert(name.clone(), value.clone());
    }
    arguments.insert("id".to_owned(), json!(node.text("uuid")));
    let UpdateRequest { content, changes, .. } = UpdateRequest::parse(&arguments)?;
    rewrite(batch, &node.record, content.as_deref(), &changes, changeset.now)?;
    Ok(OperationOutcome::of(node.id()))
}
