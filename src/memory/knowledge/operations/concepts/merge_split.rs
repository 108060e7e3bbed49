//! The operations `merge` and `split`: sources, facts and edges go where they belong, and what is
//! gone leaves a redirect.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::{
    OperationOutcome, SOURCES_MAX, SUMMARY_CHARS_MAX, concept_of, confidence_of, same_title,
};
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeset_context::ChangesetContext;
use crate::memory::knowledge::node_writes::{
    KnowledgeNode, NewKnowledgeNode, NewNodeParent, add_edge, add_node, edge, set_fields, set_node,
};
use crate::memory::knowledge::operations::edges::NOTE_CHARS_MAX;
use crate::memory::knowledge::operations::lifecycle::ID_CHARS_MAX;
use crate::model::entity_extraction::name_key;
use crate::model::identity::NodeId;
use crate::model::kind_specs::knowledge::TITLE_CHARS_MAX;
use crate::model::tree::NodeType;
use crate::store::Batch;
use crate::text::tokens;

/// Concepts that one becomes, at most.
const PARTS_MAX: usize = 20;

pub(in crate::memory::knowledge::operations) fn merge(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let into = given.required("into", given.text("into", ID_CHARS_MAX)?)?;
    let note = given.text("note", NOTE_CHARS_MAX)?;
    let into = changeset.node_to_change(batch, given, "into", into)?;
    if !matches!(into.record.node_type, NodeType::Concept | NodeType::Entity) || into.is_hidden() {
        let why = format!(
            "names a {} or one that is gone; concepts and entities can be merged",
            into.record.node_type
        );
        return Err(given.refuse("into", why));
    }
    for id in given.texts("from", SOURCES_MAX, ID_CHARS_MAX)?.unwrap_or_default() {
        let from = changeset.node_to_change(batch, given, "from", &id)?;
        let why = match () {
            () if from.id() == into.id() => "names the node of `into`".to_owned(),
            () if from.record.node_type != into.record.node_type => {
                format!("names a {}, not a {}", from.record.node_type, into.record.node_type)
            }
            () if from.is_hidden() => format!("names `{id}`, which is deleted or replaced"),
            () => {
                merge_one(changeset, batch, from, (into.id(), note))?;
                continue;
            }
        };
        return Err(given.refuse("from", why).about(&id));
    }
    Ok(OperationOutcome::of(into.id()))
}

/// Moves everything of a node to another one, and leaves a redirect.
fn merge_one(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    mut from: KnowledgeNode,
    (into, note): (NodeId, Option<&str>),
) -> KnowledgeResult<()> {
    let now = changeset.now;
    let gone = || crate::memory::typed::MemoryError::invalid("`into` is gone");
    // The edges of the target are among those that change.
    redirect(changeset, batch, from.id(), into)?;
    let mut target = KnowledgeNode::of(batch.find(into)?.ok_or_else(gone)?)?;
    for child in batch.children_of(from.record.key)? {
        let place = batch.last_place(None, Some(target.record.key))?;
        batch.move_to(&child, place)?;
    }
    let own = from.fields.get("links").and_then(Value::as_array).cloned().unwrap_or_default();
    let names = from.fields.get("names").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut content = target.record.content.clone();
    if from.is_a(NodeType::Entity) {
        content = format!("{content}\n{}", from.record.content);
    }
    let take = |fields: &mut Map<String, Value>| {
        let (to_from, to_into) = (json!(from.id().to_string()), json!(into.to_string()));
        for link in own.into_iter().filter(|it| it["to"] != to_into && it["to"] != to_from) {
            add_edge(fields, link);
        }
        add_edge(fields, edge("derived_from", from.id(), 1.0, note));
        if let Value::Array(known) = fields.entry("names").or_insert_with(|| json!([])) {
            known.extend(names.into_iter().filter(|it| !known.contains(it)).collect::<Vec<_>>());
        }
    };
    set_node(batch, &mut target, &content, take, now)?;
    let hide = |fields: &mut Map<String, Value>| {
        fields.insert("merged_into".to_owned(), into.to_string().into());
        fields.shift_remove("links");
    };
    set_fields(batch, &mut from, hide, now)?;
    let n_sources = batch.with_edge_to(into, &["supports"])?.len();
    if target.is_a(NodeType::Concept) && 0 < n_sources {
        let confidence = confidence_of(n_sources);
        let raise = |fields: &mut Map<String, Value>| {
            let known = fields.get("confidence").and_then(Value::as_f64).unwrap_or(0.0);
            fields.insert("confidence".to_owned(), known.max(confidence).into());
        };
        set_fields(batch, &mut target, raise, now)?;
    }
    Ok(())
}

/// Points the edges that lead to a node at another one.
fn redirect(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    from: NodeId,
    to: NodeId,
) -> KnowledgeResult<()> {
    for mut source in KnowledgeNode::all(batch.with_any_edge_to(from)?)? {
        if source.id() == to {
            // It would lead to itself.
            let drop_own = |fields: &mut Map<String, Value>| {
                if let Some(Value::Array(links)) = fields.get_mut("links") {
                    links.retain(|it| it["to"] != from.to_string());
                }
            };
            set_fields(batch, &mut source, drop_own, changeset.now)?;
            continue;
        }
        let turn = |fields: &mut Map<String, Value>| {
            let links = fields.get("links").and_then(Value::as_array).cloned().unwrap_or_default();
            fields.shift_remove("links");
            for mut link in links {
                if link["to"] == from.to_string() {
                    link["to"] = to.to_string().into();
                }
                add_edge(fields, link);
            }
        };
        set_fields(batch, &mut source, turn, changeset.now)?;
    }
    Ok(())
}

/// A concept that another one becomes.
struct SplitPart {
    name: String,
    title: String,
    summary: String,
}

fn parts(given: &ArgumentObject<'_>) -> KnowledgeResult<Vec<SplitPart>> {
    const KEYS: &[&str] = &["title", "summary", "as"];
    let Some(Value::Array(items)) = given.value("into") else {
        return Err(given.refuse("into", "must be a list of `{title, summary, as}`"));
    };
    if items.len() < 2 || PARTS_MAX < items.len() {
        let why = format!("has {} items; 2 to {PARTS_MAX} fit", items.len());
        return Err(given.refuse("into", why));
    }
    let part = |(nth, item): (usize, &Value)| {
        let Value::Object(members) = item else {
            return Err(given.refuse("into", "must be a list of `{title, summary, as}`"));
        };
        let path = format!("into[{nth}].");
        let part = ArgumentObject::new(members, &path, KEYS)?;
        let text = |name: &str, n_max| part.required(name, part.string(name, n_max)?);
        Ok(SplitPart {
            name: text("as", 64)?.trim_start_matches('$').to_owned(),
            title: text("title", TITLE_CHARS_MAX)?,
            summary: text("summary", SUMMARY_CHARS_MAX)?,
        })
    };
    items.iter().enumerate().map(part).collect()
}

pub(in crate::memory::knowledge::operations) fn split(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let id = given.required("id", given.text("id", ID_CHARS_MAX)?)?;
    let note = given.text("note", NOTE_CHARS_MAX)?;
    let mut whole = concept_of(changeset, batch, given, ("id", id))?;
    let parts = parts(given)?;
    let assigned = given.required("assign", given.object("assign")?)?;
    let mut by_source: HashMap<String, &str> = HashMap::new();
    for (source, name) in assigned {
        let name = name.as_str().map(|it| it.trim_start_matches('$')).unwrap_or_default();
        let Some(part) = parts.iter().find(|it| it.name == name) else {
            let why = format!("gives `{source}` to `{name}`, which `into` does not declare");
            return Err(given.refuse("assign", why));
        };
        let source = changeset.node(batch, given, "assign", source)?.id().to_string();
        by_source.insert(source, &part.name);
    }
    let mut sources = KnowledgeNode::all(batch.with_any_edge_to(whole.id())?)?;
    sources.retain(|it| it.is_a(NodeType::Episode));
    let facts = batch.children_of(whole.record.key)?;
    let missing: Vec<String> = sources
        .iter()
        .map(|it| it.id())
        .chain(facts.iter().map(|it| it.id))
        .map(|it| it.to_string())
        .filter(|it| !by_source.contains_key(it))
        .collect();
    if !missing.is_empty() {
        let why = format!("gives no part to {}", missing.join(", "));
        return Err(given.refuse("assign", why).about(&missing[0]));
    }
    let mut made: HashMap<&str, KnowledgeNode> = HashMap::new();
    let mut outcome = OperationOutcome::of(whole.id());
    for part in &parts {
        let is_of = |it: &&KnowledgeNode| by_source.get(&it.id().to_string()) == Some(&&*part.name);
        let n_sources = sources.iter().filter(is_of).count();
        outcome.collisions.extend(same_title(batch, &part.title)?);
        let concept = add_part(changeset, batch, &whole, (part, n_sources, note))?;
        outcome.named.push((part.name.clone(), concept.id()));
        made.insert(&part.name, concept);
    }
    let part_of = |id: NodeId| by_source.get(&id.to_string()).and_then(|it| made.get(it));
    for source in &mut sources {
        let Some(part) = part_of(source.id()) else { continue };
        let (from, to) = (whole.id().to_string(), part.id().to_string());
        let turn = |fields: &mut Map<String, Value>| {
            let links = fields.get_mut("links").and_then(Value::as_array_mut);
            for link in links.into_iter().flatten().filter(|it| it["to"] == from) {
                link["to"] = to.as_str().into();
            }
        };
        set_fields(batch, source, turn, changeset.now)?;
    }
    for fact in &facts {
        let Some(part) = part_of(fact.id) else { continue };
        let place = batch.last_place(None, Some(part.record.key))?;
        batch.move_to(fact, place)?;
    }
    let hide = |it: &mut Map<String, Value>| drop(it.insert("deleted".to_owned(), true.into()));
    set_fields(batch, &mut whole, hide, changeset.now)?;
    Ok(outcome)
}

fn add_part(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    whole: &KnowledgeNode,
    (part, n_sources, note): (&SplitPart, usize, Option<&str>),
) -> KnowledgeResult<KnowledgeNode> {
    let mut fields = Map::new();
    for key in ["kind", "topic"] {
        fields.insert(key.to_owned(), whole.text(key).into());
    }
    fields.insert("title".to_owned(), part.title.as_str().into());
    fields.insert("names".to_owned(), json!([name_key(&part.title)]));
    fields.insert("confidence".to_owned(), confidence_of(n_sources).into());
    add_edge(&mut fields, edge("derived_from", whole.id(), 1.0, note));
    let new = NewKnowledgeNode {
        node_type: NodeType::Concept,
        content: &part.summary,
        token_count: tokens::count(&part.summary),
        fields,
    };
    let below = whole.record.place.parent.map_or(NewNodeParent::Bucket(&[]), NewNodeParent::Node);
    add_node(batch, new, below, changeset.now)
}
