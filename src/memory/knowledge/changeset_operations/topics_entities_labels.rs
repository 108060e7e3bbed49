//! Operations on topics, entities and labels.

use serde_json::{Map, Value};

use super::OperationOutcome;
use super::processed_and_pinned::ID_CHARS_MAX;
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeset_base_and_names::ChangesetContext;
use crate::memory::knowledge::entity_resolution::{
    add_alias, entity_named, known_entity, topic_named,
};
use crate::memory::knowledge::node_writes::{set_fields, set_node};
use crate::model::entity_extraction::NamedEntity;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::ENTITY_KINDS;
use crate::store::Batch;

pub(super) fn topic(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let name = given.required("name", given.text("name", 100)?)?;
    let description = given.text("description", 2_000)?;
    let mut topic = topic_named(batch, name, description, changeset.now)?;
    if let Some(description) = description {
        set_node(batch, &mut topic, description, |_| (), changeset.now)?;
    }
    Ok(OperationOutcome::of(topic.id()))
}

fn named(given: &ArgumentObject<'_>) -> KnowledgeResult<NamedEntity> {
    let name = given.required("name", given.text("name", 200)?)?;
    let kind = given.choice("type", ENTITY_KINDS)?;
    let named = NamedEntity::parse(name).ok_or_else(|| given.refuse("name", "is no name"))?;
    Ok(NamedEntity { kind: kind.unwrap_or(named.kind), ..named })
}

pub(super) fn entity(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let entity = entity_named(batch, &named(given)?, changeset.now)?;
    Ok(OperationOutcome::of(entity.id()))
}

pub(super) fn alias(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let id = given.required("id", given.text("id", ID_CHARS_MAX)?)?;
    let mut entity = changeset.node_to_change(batch, given, "id", id)?;
    if !entity.is_a(NodeType::Entity) {
        let why = format!("names a {}, not an entity", entity.record.node_type);
        return Err(given.refuse("id", why));
    }
    let alias = named(given)?;
    match known_entity(batch, &alias)? {
        Some(known) if known.id() != entity.id() => {
            let why = format!("is the name of `{}` already; `merge` makes them one", known.id());
            return Err(given.refuse("name", why).about(&known.id().to_string()));
        }
        Some(_) => return Ok(OperationOutcome::of(entity.id())),
        None => (),
    }
    add_alias(batch, &mut entity, &alias.name, changeset.now)?;
    Ok(OperationOutcome::of(entity.id()))
}

/// Changes the values of one label of a node.
fn with_label(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
    change: impl FnOnce(&mut Vec<Value>, &str),
) -> KnowledgeResult<OperationOutcome> {
    let id = given.required("id", given.text("id", ID_CHARS_MAX)?)?;
    let text = |key: &str, n_max| given.required(key, given.string(key, n_max)?);
    let (key, value) = (&*text("key", 50)?, &*text("value", 200)?);
    let mut node = changeset.node_to_change(batch, given, "id", id)?;
    if node.fields.is_empty() {
        return Err(given.refuse("id", "names a note, which has no labels"));
    }
    let set = |fields: &mut Map<String, Value>| {
        let mut labels = match fields.get("labels") {
            Some(Value::Object(it)) => it.clone(),
            _ => Map::new(),
        };
        let mut values = match labels.get(key) {
            Some(Value::Array(it)) => it.clone(),
            _ => Vec::new(),
        };
        change(&mut values, value);
        match values.is_empty() {
            true => drop(labels.shift_remove(key)),
            false => drop(labels.insert(key.to_owned(), values.into())),
        }
        match labels.is_empty() {
            true => drop(fields.shift_remove("labels")),
            false => drop(fields.insert("labels".to_owned(), sorted(labels).into())),
        }
    };
    set_fields(batch, &mut node, set, changeset.now)?;
    Ok(OperationOutcome::of(node.id()))
}

/// Returns members in the order of their keys, as fields keep them.
fn sorted(members: Map<String, Value>) -> Map<String, Value> {
    let mut members: Vec<(String, Value)> = members.into_iter().collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    members.into_iter().collect()
}

pub(super) fn label(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    with_label(changeset, batch, given, |values, value| {
        if !values.iter().any(|it| it == value) {
            values.push(value.into());
        }
    })
}

pub(super) fn unlabel(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    with_label(changeset, batch, given, |values, value| values.retain(|it| it != value))
}
