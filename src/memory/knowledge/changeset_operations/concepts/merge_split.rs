//! The operations `merge` and `split`: sources, facts and edges go where they belong, and what is
//! gone leaves a redirect.
//!
//! `assign` of a split gives each episode and each fact to a part. What else is connected with the
//! whole goes to the part that `assign` gives it to, else to every part.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value, json};

use super::{
    OperationOutcome, SOURCES_MAX, SUMMARY_CHARS_MAX, concept_of, confidence_of, same_title,
};
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeset_base_and_names::ChangesetContext;
use crate::memory::knowledge::changeset_operations::edges::NOTE_CHARS_MAX;
use crate::memory::knowledge::changeset_operations::processed_and_pinned::ID_CHARS_MAX;
use crate::memory::knowledge::conflict_writes::is_open;
use crate::memory::knowledge::edge_redirection::redirect_edges;
use crate::memory::knowledge::entity_resolution::with_names;
use crate::memory::knowledge::fact_subject::{FactSubject, add_key, subject_of_cluster};
use crate::memory::knowledge::node_writes::{
    NewKnowledgeNode, NewNodePlace, StoredKnowledgeNode, add_edge, add_node, edge, find_node,
    set_fields, set_node,
};
use crate::model::entity_extraction::name_key;
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{FACT_CLUSTER, TITLE_CHARS_MAX};
use crate::store::Batch;
use crate::text::tokens;

/// Concepts that one becomes, at most.
const PARTS_MAX: usize = 20;

pub(in crate::memory::knowledge::changeset_operations) fn merge(
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
pub(in crate::memory::knowledge::changeset_operations) fn merge_one(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    mut from: StoredKnowledgeNode,
    (into, note): (NodeId, Option<&str>),
) -> KnowledgeResult<()> {
    let now = changeset.now;
    let gone = || crate::memory::typed::MemoryError::invalid("`into` is gone");
    // The edges of the target are among those that change.
    redirect_edges(batch, from.id(), into, now)?;
    let mut target = StoredKnowledgeNode::of(batch.find(into)?.ok_or_else(gone)?)?;
    let subject = subject_of_cluster(batch, &target)?;
    for mut child in StoredKnowledgeNode::all(batch.children_of(from.record.key)?)? {
        let place = batch.last_place(None, Some(target.record.key))?;
        batch.move_to(&child.record, place)?;
        // From now on it is a fact about the subject of its new cluster, too.
        if let Some(subject) = subject.as_ref().filter(|_| child.is_a(NodeType::Fact)) {
            child.record.place = place;
            set_fields(batch, &mut child, |it| add_key(it, subject), now)?;
        }
    }
    let own = node_fields::list(&from.fields, "links").to_vec();
    let names = node_fields::list(&from.fields, "names").to_vec();
    let mut content = target.record.content.clone();
    if from.is_a(NodeType::Entity) {
        let names = std::iter::once(from.title()).chain(from.record.content.lines());
        content = with_names(&content, names);
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
    let n_sources = batch.with_edge_to(&[into], "supports")?.len();
    if target.is_a(NodeType::Concept) && 0 < n_sources {
        let confidence = confidence_of(n_sources);
        let raise = |fields: &mut Map<String, Value>| {
            let known = fields.get("confidence").and_then(Value::as_f64).unwrap_or(0.0);
            fields.insert("confidence".to_owned(), known.max(confidence).into());
        };
        set_fields(batch, &mut target, raise, now)?;
    }
    if target.is_a(NodeType::Entity) { merge_clusters(changeset, batch, &target) } else { Ok(()) }
}

/// Makes the clusters of all names of an entity one.
fn merge_clusters(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    entity: &StoredKnowledgeNode,
) -> KnowledgeResult<()> {
    let mut clusters = FactSubject::of(batch, entity)?.find_clusters(batch)?;
    clusters.retain(|it| it.text("kind") == Some(FACT_CLUSTER));
    let title = name_key(entity.title());
    let own = clusters.iter().position(|it| it.text("subject") == Some(&title)).unwrap_or(0);
    if clusters.len() < 2 {
        return Ok(());
    }
    let into = clusters.remove(own).id();
    clusters.into_iter().try_for_each(|it| merge_one(changeset, batch, it, (into, None)))
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

pub(in crate::memory::knowledge::changeset_operations) fn split(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let id = given.required("id", given.text("id", ID_CHARS_MAX)?)?;
    let note = given.text("note", NOTE_CHARS_MAX)?;
    let mut whole = concept_of(changeset, batch, given, ("id", id))?;
    let parts = parts(given)?;
    let assigned = given.required("assign", given.object("assign")?)?;
    let mut by_source: HashMap<String, usize> = HashMap::new();
    for (source, name) in assigned {
        let name = name.as_str().map(|it| it.trim_start_matches('$')).unwrap_or_default();
        let Some(part) = parts.iter().position(|it| it.name == name) else {
            let why = format!("gives `{source}` to `{name}`, which `into` does not declare");
            return Err(given.refuse("assign", why));
        };
        by_source.insert(changeset.node(batch, given, "assign", source)?.id().to_string(), part);
    }
    let assignment = SplitPartAssignment { by_source, n_parts: parts.len() };
    let mut sources = StoredKnowledgeNode::all(batch.with_any_edge_to(whole.id())?)?;
    // A conflict that has ended goes on telling of the whole.
    sources.retain(|it| !it.is_a(NodeType::Conflict) || is_open(it));
    let facts = StoredKnowledgeNode::all(batch.children_of(whole.record.key)?)?;
    let episodes = sources.iter().filter(|it| it.is_a(NodeType::Episode));
    let missing: Vec<String> = episodes
        .map(StoredKnowledgeNode::id)
        .chain(facts.iter().filter(|it| !it.has("merged_into")).map(StoredKnowledgeNode::id))
        .map(|it| it.to_string())
        .filter(|it| !assignment.by_source.contains_key(it))
        .collect();
    if !missing.is_empty() {
        let why = format!("gives no part to {}", missing.join(", "));
        return Err(given.refuse("assign", why).about(&missing[0]));
    }
    let mut outcome = OperationOutcome::of(whole.id());
    let mut made: Vec<StoredKnowledgeNode> = Vec::with_capacity(parts.len());
    for (nth, part) in parts.iter().enumerate() {
        let is_support = |it: &&StoredKnowledgeNode| {
            it.is_a(NodeType::Episode) && assignment.is_of(it.id(), nth)
        };
        let n_sources = sources.iter().filter(is_support).count();
        outcome.collisions.extend(same_title(batch, &part.title)?);
        let own = links_of(&whole).filter(|it| assignment.is_of_text(&it["to"], nth)).cloned();
        let own: Vec<Value> = own.collect();
        let concept = add_part(changeset, batch, &whole, (part, n_sources, note, own))?;
        outcome.named.push((part.name.clone(), concept.id()));
        made.push(concept);
    }
    turn_edges(changeset, batch, (&whole, &mut sources), (&assignment, &made))?;
    for fact in &facts {
        // One that was taken in goes where the one goes that took it in.
        let id = fact.text("merged_into").map_or_else(|| fact.id().to_string(), str::to_owned);
        let Some(nth) = assignment.parts_of(&id).next() else { continue };
        let place = batch.last_place(None, Some(made[nth].record.key))?;
        batch.move_to(&fact.record, place)?;
    }
    let hide = |it: &mut Map<String, Value>| drop(it.insert("deleted".to_owned(), true.into()));
    set_fields(batch, &mut whole, hide, changeset.now)?;
    Ok(outcome)
}

/// The parts of a split that sources and neighbours go to, by their ids.
struct SplitPartAssignment {
    by_source: HashMap<String, usize>,
    n_parts: usize,
}

impl SplitPartAssignment {
    /// Returns the part that a node is given to, else all of them.
    fn parts_of(&self, id: &str) -> Range<usize> {
        self.by_source.get(id).map_or(0..self.n_parts, |it| *it..*it + 1)
    }

    fn is_of(&self, id: NodeId, part: usize) -> bool {
        self.parts_of(&id.to_string()).contains(&part)
    }

    fn is_of_text(&self, id: &Value, part: usize) -> bool {
        self.parts_of(id.as_str().unwrap_or_default()).contains(&part)
    }
}

fn links_of(node: &StoredKnowledgeNode) -> impl Iterator<Item = &Value> {
    node_fields::list(&node.fields, "links").iter()
}

/// Points edges to the whole at its parts, and so what the whole had replaced or taken in.
fn turn_edges(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    (whole, sources): (&StoredKnowledgeNode, &mut [StoredKnowledgeNode]),
    (assignment, made): (&SplitPartAssignment, &[StoredKnowledgeNode]),
) -> KnowledgeResult<()> {
    let id = whole.id().to_string();
    let parts_of =
        |of: &str| assignment.parts_of(of).map(|nth| made[nth].id().to_string()).collect();
    for source in sources {
        let parts: Vec<String> = parts_of(&source.id().to_string());
        let turn = |fields: &mut Map<String, Value>| {
            let links = node_fields::list(fields, "links").to_vec();
            fields.shift_remove("links");
            for link in links {
                let is_turned = link["to"] == id;
                for part in parts.iter().filter(|_| is_turned) {
                    let mut link = link.clone();
                    link["to"] = part.as_str().into();
                    add_edge(fields, link);
                }
                if !is_turned {
                    add_edge(fields, link);
                }
            }
        };
        set_fields(batch, source, turn, changeset.now)?;
    }
    for former in links_of(whole).filter_map(|it| it["to"].as_str()) {
        let Some(mut node) = find_node(batch, former)? else { continue };
        let parts: Vec<String> = parts_of(former);
        let turn = |fields: &mut Map<String, Value>| {
            for key in ["superseded_by", "merged_into"] {
                if fields.get(key).is_some_and(|it| *it == id) {
                    fields.insert(key.to_owned(), parts[0].as_str().into());
                }
            }
        };
        set_fields(batch, &mut node, turn, changeset.now)?;
    }
    Ok(())
}

/// Fields that a part has of the whole.
const INHERITED: &[&str] =
    &["kind", "topic", "subject", "conditions", "exceptions", "tags", "labels", "metadata"];

fn add_part(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    whole: &StoredKnowledgeNode,
    (part, n_sources, note, links): (&SplitPart, usize, Option<&str>, Vec<Value>),
) -> KnowledgeResult<StoredKnowledgeNode> {
    let mut fields = Map::new();
    for key in INHERITED {
        fields.insert((*key).to_owned(), whole.fields.get(*key).cloned().into());
    }
    fields.insert("title".to_owned(), part.title.as_str().into());
    fields.insert("names".to_owned(), json!([name_key(&part.title)]));
    let confidence = match n_sources {
        0 => whole.fields.get("confidence").cloned().into(),
        n => confidence_of(n).into(),
    };
    fields.insert("confidence".to_owned(), confidence);
    links.into_iter().for_each(|it| add_edge(&mut fields, it));
    add_edge(&mut fields, edge("derived_from", whole.id(), 1.0, note));
    let new = NewKnowledgeNode {
        node_type: NodeType::Concept,
        content: &part.summary,
        token_count: tokens::count(&part.summary),
        fields,
    };
    let below = whole.record.place.parent.map_or(NewNodePlace::Bucket(&[]), NewNodePlace::Node);
    add_node(batch, new, below, changeset.now)
}
