//! Operations on edges: between concepts, from episodes to concepts, between entities.

use serde_json::Value;

use super::OperationOutcome;
use super::processed_and_pinned::ID_CHARS_MAX;
use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::knowledge::changeset_base_and_names::ChangesetContext;
use crate::memory::knowledge::node_writes::{
    StoredKnowledgeNode, add_edge, edge, note_unlinked, remove_edge, set_fields,
};
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{EVIDENCE, LINKS_MAX};
use crate::store::Batch;

/// Types of edges between concepts.
pub(super) const RELATIONS: &[&str] = &[
    "implies",
    "contradicts",
    "specializes",
    "generalizes",
    "causes",
    "correlates",
    "part_of",
    "context_of",
    "related_to",
    "derived_from",
];

/// The strength of an edge that says none.
const STRENGTH: f64 = 0.5;

/// Characters of a context or a note, at most.
pub(super) const NOTE_CHARS_MAX: usize = 1_000;

/// Returns the nodes of two arguments, the first one to be changed.
fn ends(
    changeset: &ChangesetContext<'_>,
    batch: &Batch<'_>,
    given: &ArgumentObject<'_>,
    (from, to): (&str, &str),
) -> KnowledgeResult<(StoredKnowledgeNode, StoredKnowledgeNode)> {
    let text = |key: &str| given.required(key, given.text(key, ID_CHARS_MAX)?);
    let source = changeset.node_to_change(batch, given, from, text(from)?)?;
    let target = changeset.node(batch, given, to, text(to)?)?;
    if source.id() == target.id() {
        return Err(given.refuse(to, "names the same node as the other end"));
    }
    for (key, node) in [(from, &source), (to, &target)] {
        if node.is_hidden() {
            let why = format!("names `{}`, which is deleted or replaced", node.id());
            return Err(given.refuse(key, why));
        }
    }
    Ok((source, target))
}

/// Refuses an edge that begins at a note, whose text is a file's.
fn check_source(
    given: &ArgumentObject<'_>,
    key: &str,
    node: &StoredKnowledgeNode,
) -> KnowledgeResult<()> {
    if node.fields.is_empty() {
        let why = format!("names `{}`, a note; MemoryRelate relates notes", node.id());
        return Err(given.refuse(key, why));
    }
    let n_links = node_fields::list(&node.fields, "links").len();
    if LINKS_MAX <= n_links {
        let why =
            format!("names `{}`, which has {n_links} edges, the most there may be", node.id());
        return Err(given.refuse(key, why));
    }
    Ok(())
}

fn add(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    (mut source, link): (StoredKnowledgeNode, Value),
) -> KnowledgeResult<OperationOutcome> {
    set_fields(batch, &mut source, |it| add_edge(it, link), changeset.now)?;
    Ok(OperationOutcome::of(source.id()))
}

pub(super) fn link(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let (source, target) = ends(changeset, batch, given, ("from", "to"))?;
    check_source(given, "from", &source)?;
    let link_type = given.required("type", given.choice("type", RELATIONS)?)?;
    let strength = given.share("strength")?.unwrap_or(STRENGTH);
    let context = given.text("context", NOTE_CHARS_MAX)?;
    add(changeset, batch, (source, edge(link_type, target.id(), strength, context)))
}

pub(super) fn unlink(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let text = |key: &str| given.required(key, given.text(key, ID_CHARS_MAX)?);
    let mut source = changeset.node_to_change(batch, given, "from", text("from")?)?;
    let target = changeset.node(batch, given, "to", text("to")?)?;
    let link_type = text("type")?;
    let mut is_removed = false;
    let remove = |it: &mut serde_json::Map<String, Value>| {
        is_removed = remove_edge(it, link_type, target.id());
        if is_removed {
            note_unlinked(it, link_type, target.id());
        }
    };
    set_fields(batch, &mut source, remove, changeset.now)?;
    if !is_removed {
        let why = format!("names no edge from `{}` to `{}`", source.id(), target.id());
        return Err(given.refuse("type", why));
    }
    Ok(OperationOutcome::of(source.id()))
}

pub(super) fn evidence(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let (episode, concept) = ends(changeset, batch, given, ("episode", "concept"))?;
    for (key, node, wanted) in
        [("episode", &episode, NodeType::Episode), ("concept", &concept, NodeType::Concept)]
    {
        if !node.is_a(wanted) {
            let why = format!("names a {}, not a {wanted}", node.record.node_type);
            return Err(given.refuse(key, why));
        }
    }
    check_source(given, "episode", &episode)?;
    let link_type = given.required("type", given.choice("type", EVIDENCE)?)?;
    let strength = given.share("strength")?.unwrap_or(STRENGTH);
    let note = given.text("note", NOTE_CHARS_MAX)?;
    add(changeset, batch, (episode, edge(link_type, concept.id(), strength, note)))
}

pub(super) fn relate(
    changeset: &ChangesetContext<'_>,
    batch: &mut Batch<'_>,
    given: &ArgumentObject<'_>,
) -> KnowledgeResult<OperationOutcome> {
    let (source, target) = ends(changeset, batch, given, ("from", "to"))?;
    if !source.is_a(NodeType::Entity) {
        let why = format!("names a {}; `link` relates concepts", source.record.node_type);
        return Err(given.refuse("from", why));
    }
    check_source(given, "from", &source)?;
    let link_type = given.required("type", given.text("type", 100)?)?;
    let strength = given.share("strength")?.unwrap_or(STRENGTH);
    let context = given.text("context", NOTE_CHARS_MAX)?;
    add(changeset, batch, (source, edge(link_type, target.id(), strength, context)))
}
