//! Entities and topics in a write: found by name, made where they are new.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::node_writes::{
    NewKnowledgeNode, NewNodePlace, StoredKnowledgeNode, add_node, find_node, set_node,
};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::{NamedEntity, marked_entities, name_key, possible_names};
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::topic_name_matching_and_slugs::{TopicNameOrSlug, topic_slug};
use crate::model::tree::NodeType;
use crate::store::Batch;
use crate::text::tokens;

/// Nodes that were merged into each other one after another, at most.
pub(super) const MERGED_MAX: usize = 16;

/// Known entities that one text mentions, at most.
const KNOWN_MAX: usize = 32;

/// The entity of a name, as far as a memory has it.
pub(super) enum EntityLookupOutcome {
    Present(StoredKnowledgeNode),
    /// The one that was deleted last, where none has the name now.
    Deleted(StoredKnowledgeNode),
    Unknown,
}

/// Returns the entity of a name, present or deleted. A folder before the path of a file leads to
/// the file only if no entity has that name.
pub(super) fn entity_of_name(
    batch: &Batch<'_>,
    named: &NamedEntity,
) -> Result<EntityLookupOutcome, MemoryError> {
    let file = match named.kind {
        "file" => batch.node_of_file(&named.name)?,
        _ => None,
    };
    if let Some((file, true)) = file {
        return Ok(EntityLookupOutcome::Present(StoredKnowledgeNode::of(file)?));
    }
    let found = batch.with_facet(NodeType::Entity, "name", &name_key(&named.name))?;
    let mut deleted = None;
    for entity in StoredKnowledgeNode::all(found)? {
        if entity.has("deleted") {
            deleted = Some(entity.clone());
        }
        if let Some(entity) = present_one(batch, entity)? {
            return Ok(EntityLookupOutcome::Present(entity));
        }
    }
    if let Some((file, _)) = file {
        return Ok(EntityLookupOutcome::Present(StoredKnowledgeNode::of(file)?));
    }
    Ok(deleted.map_or(EntityLookupOutcome::Unknown, EntityLookupOutcome::Deleted))
}

/// Returns the entity of that id or name, if there is one.
pub(super) fn known_entity(
    batch: &Batch<'_>,
    named: &NamedEntity,
) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
    Ok(match entity_of_name(batch, named)? {
        EntityLookupOutcome::Present(entity) => Some(entity),
        EntityLookupOutcome::Deleted(_) | EntityLookupOutcome::Unknown => None,
    })
}

/// Returns whether only deleted topics have a name.
pub(super) fn is_deleted_topic(batch: &Batch<'_>, name: &str) -> Result<bool, MemoryError> {
    let topics = topics_named(batch, name)?;
    Ok(!topics.is_empty() && topics.iter().all(StoredKnowledgeNode::is_hidden))
}

/// Returns the node that another one is now, after merges; none where it is deleted.
pub(super) fn present_one(
    batch: &Batch<'_>,
    mut node: StoredKnowledgeNode,
) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
    for _ in 0..MERGED_MAX {
        match node.text("merged_into") {
            None => return Ok(Some(node).filter(|it| !it.is_hidden())),
            Some(id) => match find_node(batch, id)? {
                Some(next) => node = next,
                None => return Ok(None),
            },
        }
    }
    Ok(None)
}

/// Returns the other topics or entities that have a name of a topic or an entity.
pub(super) fn named_as(
    batch: &Batch<'_>,
    node: &StoredKnowledgeNode,
) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let found = match node.record.node_type {
        NodeType::Topic => topics_named(batch, node.title())?,
        NodeType::Entity => {
            let names = node_fields::list(&node.fields, "names").iter();
            let names: Vec<&str> = names.filter_map(Value::as_str).collect();
            StoredKnowledgeNode::all(batch.with_any_facet(NodeType::Entity, "name", &names)?)?
        }
        _ => Vec::new(),
    };
    let mut others: Vec<StoredKnowledgeNode> = Vec::new();
    for other in found {
        if let Some(other) = present_one(batch, other)?
            && other.id() != node.id()
            && others.iter().all(|it| it.id() != other.id())
        {
            others.push(other);
        }
    }
    Ok(others)
}

/// Returns the entity of that name, which is made if it is new.
pub(super) fn entity_named(
    batch: &mut Batch<'_>,
    named: &NamedEntity,
    now: UnixMillis,
) -> Result<StoredKnowledgeNode, MemoryError> {
    match known_entity(batch, named)? {
        Some(known) => Ok(known),
        None => add_entity(batch, named, now),
    }
}

/// Makes an entity of a name that no other one has.
pub(super) fn add_entity(
    batch: &mut Batch<'_>,
    named: &NamedEntity,
    now: UnixMillis,
) -> Result<StoredKnowledgeNode, MemoryError> {
    let mut fields = Map::new();
    fields.insert("kind".to_owned(), named.kind.into());
    fields.insert("title".to_owned(), named.name.as_str().into());
    fields.insert("names".to_owned(), json!([name_key(&named.name)]));
    let content = named.name.as_str();
    let new = NewKnowledgeNode {
        node_type: NodeType::Entity,
        content,
        token_count: tokens::count(content),
        fields,
    };
    add_node(batch, new, NewNodePlace::Bucket(&[named.kind]), now)
}

/// Gives an entity a further name, which no other one may have.
pub(super) fn add_alias(
    batch: &mut Batch<'_>,
    entity: &mut StoredKnowledgeNode,
    name: &str,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    let content = format!("{}\n{name}", entity.record.content);
    let add = |it: &mut Map<String, Value>| {
        if let Value::Array(names) = it.entry("names").or_insert_with(|| json!([])) {
            names.push(name_key(name).into());
        }
    };
    set_node(batch, entity, &content, add, now).map(drop)
}

/// Returns the text of an entity with further names, one a line; names that it has are left out.
pub(super) fn with_names<'a>(content: &str, names: impl Iterator<Item = &'a str>) -> String {
    let mut lines: Vec<&str> = content.lines().collect();
    for name in names.filter(|it| !it.trim().is_empty()) {
        if lines.iter().all(|it| name_key(it) != name_key(name)) {
            lines.push(name);
        }
    }
    lines.join("\n")
}

/// Returns the entity that a caller names by `kind:name`, a name or an id.
pub(super) fn entity_given(
    batch: &mut Batch<'_>,
    text: &str,
    now: UnixMillis,
) -> Result<StoredKnowledgeNode, MemoryError> {
    if NodeId::parse(text).is_some()
        && let Some(node) = find_node(batch, text)?
    {
        return match () {
            () if !node.is_a(NodeType::Entity) && !node.fields.is_empty() => {
                Err(MemoryError::invalid(of_other_type("entities", &node)))
            }
            () if node.is_hidden() => Err(MemoryError::invalid(gone("entities", &node))),
            () => Ok(node),
        };
    }
    match NamedEntity::parse(text) {
        Some(named) => entity_named(batch, &named, now),
        None => Err(MemoryError::invalid("`entities` has an item without a name")),
    }
}

/// Returns the ids of the entities that a caller names.
pub(super) fn entities_given(
    batch: &mut Batch<'_>,
    given: &[String],
    now: UnixMillis,
) -> Result<Vec<NodeId>, MemoryError> {
    given.iter().map(|it| Ok(entity_given(batch, it, now)?.id())).collect()
}

/// Returns the ids of what a text mentions: the given ones first, then those with marks, then those
/// whose names are known.
pub(super) fn mentioned(
    batch: &mut Batch<'_>,
    text: &str,
    given: &[String],
    now: UnixMillis,
) -> Result<Vec<NodeId>, MemoryError> {
    let given = entities_given(batch, given, now)?;
    let mut ids: Vec<NodeId> = Vec::new();
    let mut add = |id: NodeId| {
        if !ids.contains(&id) {
            ids.push(id);
        }
    };
    given.into_iter().for_each(&mut add);
    let mut found = BTreeSet::new();
    for named in marked_entities(text) {
        add(entity_named(batch, &named, now)?.id());
        found.insert(name_key(&named.name));
    }
    named_without_mark(batch, text, &found)?.into_iter().for_each(add);
    Ok(ids)
}

/// Returns the ids of what a text mentions and is there; it makes no entity.
pub(super) fn known_mentions(
    batch: &mut Batch<'_>,
    text: &str,
) -> Result<Vec<NodeId>, MemoryError> {
    let (mut ids, mut found) = (Vec::new(), BTreeSet::new());
    for named in marked_entities(text) {
        ids.extend(known_entity(batch, &named)?.map(|it| it.id()));
        found.insert(name_key(&named.name));
    }
    ids.extend(named_without_mark(batch, text, &found)?);
    Ok(ids)
}

/// Returns the ids of the entities whose names are known and stand in a text without a mark.
fn named_without_mark(
    batch: &mut Batch<'_>,
    text: &str,
    marked: &BTreeSet<String>,
) -> Result<Vec<NodeId>, MemoryError> {
    let possible = possible_names(text);
    let possible = possible.iter().map(|it| name_key(it)).filter(|it| !marked.contains(it));
    let possible = batch.possibly_known(possible.collect())?;
    let possible: Vec<&str> = possible.iter().map(String::as_str).collect();
    if possible.is_empty() {
        return Ok(Vec::new());
    }
    let known = batch.with_any_facet(NodeType::Entity, "name", &possible)?;
    let mut ids = Vec::new();
    for entity in StoredKnowledgeNode::all(known)?.into_iter().take(KNOWN_MAX) {
        ids.extend(present_one(batch, entity)?.map(|it| it.id()));
    }
    Ok(ids)
}

fn gone(key: &str, node: &StoredKnowledgeNode) -> String {
    format!("`{key}` names `{}`, which is deleted or replaced", node.id())
}

fn of_other_type(key: &str, node: &StoredKnowledgeNode) -> String {
    format!("`{key}` names `{}`, whose type is {}", node.id(), node.record.node_type)
}

/// Returns how answers name an entity: `kind:name`.
pub(super) fn shown_entity(
    batch: &Batch<'_>,
    node: &StoredKnowledgeNode,
) -> Result<String, MemoryError> {
    let kind = match node.record.node_type {
        NodeType::Entity => node.text("kind").unwrap_or("other"),
        _ => "file",
    };
    Ok(format!("{kind}:{}", entity_title(batch, node)?))
}

/// Returns the name of an entity; a compiled file has its path, and a part of it its line, too.
pub(super) fn entity_title(
    batch: &Batch<'_>,
    node: &StoredKnowledgeNode,
) -> Result<String, MemoryError> {
    let by_path = match node.record.place.file {
        Some(_) => batch.name_in_file(node.record.key)?,
        None => None,
    };
    Ok(by_path.unwrap_or_else(|| node.title().to_owned()))
}

/// Returns the topic of that id, name or slug, if there is one.
pub(super) fn known_topic(
    batch: &Batch<'_>,
    text: &str,
) -> Result<Option<StoredKnowledgeNode>, MemoryError> {
    if NodeId::parse(text).is_some()
        && let Some(node) = find_node(batch, text)?
        && node.is_a(NodeType::Topic)
    {
        return Ok(Some(node));
    }
    Ok(topics_named(batch, text)?.into_iter().find(|it| !it.is_hidden()))
}

/// Returns the topics of a name or a slug, hidden or not: those that have the name now first.
fn topics_named(batch: &Batch<'_>, text: &str) -> Result<Vec<StoredKnowledgeNode>, MemoryError> {
    let name = TopicNameOrSlug::of(text);
    let keys: Vec<&str> = name.keys().iter().map(String::as_str).collect();
    let topics = StoredKnowledgeNode::all(batch.with_any_facet(NodeType::Topic, "name", &keys)?)?;
    let matched =
        |it: StoredKnowledgeNode| Some((name.match_with(it.title(), it.fields.get("names"))?, it));
    let mut found: Vec<_> = topics.into_iter().filter_map(matched).collect();
    found.sort_by_key(|it| it.0);
    Ok(found.into_iter().map(|it| it.1).collect())
}

/// Returns the topic of that id, name or slug, which is made if it is new.
pub(super) fn topic_named(
    batch: &mut Batch<'_>,
    text: &str,
    description: Option<&str>,
    now: UnixMillis,
) -> Result<StoredKnowledgeNode, MemoryError> {
    if let Some(known) = known_topic(batch, text)? {
        return match known.is_hidden() {
            true => Err(MemoryError::invalid(gone("topic", &known))),
            false => Ok(known),
        };
    }
    if NodeId::parse(text).is_some()
        && let Some(other) = find_node(batch, text)?
    {
        return Err(MemoryError::invalid(of_other_type("topic", &other)));
    }
    if !text.contains(char::is_alphanumeric) {
        return Err(MemoryError::invalid("`topic` has neither letters nor digits"));
    }
    let name = text.trim();
    let mut fields = Map::new();
    fields.insert("title".to_owned(), name.into());
    fields.insert("names".to_owned(), json!([name_key(name), name_key(&topic_slug(name))]));
    let content = description.unwrap_or(name);
    let token_count = tokens::count(content);
    let new = NewKnowledgeNode { node_type: NodeType::Topic, content, token_count, fields };
    add_node(batch, new, NewNodePlace::Bucket(&[]), now)
}

/// Returns a topic as a field of what belongs to it.
pub(super) fn topic_field(topic: Option<&StoredKnowledgeNode>) -> Value {
    topic.map_or(Value::Null, |it| it.id().to_string().into())
}
