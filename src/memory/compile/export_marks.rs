//! Blocks of an exported folder: the marks of their nodes are checked, redacted and followed.
//!
//! Marks count for new nodes only: an id that no node has, had or will have again, a pin, links. A
//! node that belongs to no file is found by its id: a person's edit counts where the memory has
//! the text of the export still, and what was forgotten meanwhile stays so.

use super::file_being_compiled::ParsedFile;
use crate::ingest::markdown_export_format::ExportedNodeAttributes;
use crate::ingest::parse::Warning;
use crate::ingest::redact::Redactor;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::links::reference::Reference;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::{DocumentTree, Node, NodeType};
use crate::model::typed_node_field_schemas::TypedNodeSchema;
use crate::store::{
    Batch, FIELDS, NodePlace, NodeRecord, NodeRowId, OptionalColumnValue, StoreError,
    UnplacedNodeData,
};
use crate::text;

/// The owner of the nodes of an exported file: the file, or agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportedFileOwner {
    /// To the file.
    OfFile,
    /// To agents: to no file.
    OfAgents,
}

/// Redacts marks, and takes those away that are not valid where they are.
pub(super) fn check_marks(
    tree: &mut DocumentTree,
    marks: &mut [ExportedNodeAttributes],
    belong: ExportedFileOwner,
    (redactor, source): (&Redactor, &str),
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for (node, marks) in tree.nodes.iter_mut().zip(marks) {
        redact_marks(marks, redactor);
        if let Err(why) = check_fields(node, marks, belong) {
            node.node_type = NodeType::Text;
            *marks = ExportedNodeAttributes {
                position: marks.position,
                ..ExportedNodeAttributes::default()
            };
            let line = text::line_number_at(source, node.span.start);
            let what = format!("{why}; the block is read as a text");
            warnings.push(Warning { line, what });
        }
    }
    warnings
}

fn redact_marks(marks: &mut ExportedNodeAttributes, redactor: &Redactor) {
    let mut scrub = |text: &str| redactor.scrub(text).text.into_owned();
    if let Some(fields) = marks.fields.take() {
        marks.fields = CanonicalFields::new(fields.map_strings(&mut scrub).into_object()).ok();
    }
    for Reference { label, source, id_hint, heading, alias, .. } in &mut marks.links {
        for text in [source, id_hint, heading, alias].into_iter().flatten().chain([label]) {
            *text = scrub(text);
        }
    }
}

/// Checks that a node has the fields of its type, where its type may be at all.
fn check_fields(
    node: &Node,
    marks: &ExportedNodeAttributes,
    belong: ExportedFileOwner,
) -> Result<(), String> {
    let node_type = node.node_type;
    match (TypedNodeSchema::of(node_type), &marks.fields) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(format!("a node of type {node_type} has no fields")),
        (Some(_), _) if belong == ExportedFileOwner::OfFile => {
            Err(format!("a node of type {node_type} belongs to no file"))
        }
        (Some(_), None) => Err(format!("a node of type {node_type} without its fields")),
        (Some(kind), Some(fields)) => {
            kind.check(fields).map_err(|error| error.to_string())?;
            crate::model::typed_node_field_schemas::check_marked_text(
                &node.content,
                kind.content_chars_max,
            )
            .map_err(|why| format!("its text {why} into a {node_type}"))
        }
    }
}

/// Pins and links a new node as its marks say.
pub(super) fn follow_marks(
    batch: &mut Batch<'_>,
    key: NodeRowId,
    marks: &ExportedNodeAttributes,
) -> Result<(), StoreError> {
    if marks.is_pinned {
        batch.pin(key, None)?;
    }
    for link in &marks.links {
        batch.relate(key, link)?;
    }
    Ok(())
}

/// Takes in what agents wrote without a file. Nothing is removed because a block is gone.
pub(super) fn take_in(
    batch: &mut Batch<'_>,
    parsed: &ParsedFile,
    warnings: &mut Vec<String>,
) -> Result<(), StoreError> {
    let mut keys: Vec<Option<NodeRowId>> = Vec::with_capacity(parsed.tree.nodes.len());
    for ((node, &hash), marks) in parsed.tree.nodes.iter().zip(&parsed.hashes).zip(&parsed.marks) {
        let parent = match node.parent {
            Some(idx) => keys[idx],
            None => above(batch, marks)?,
        };
        let known = match marks.id {
            Some(id) => batch.find(id)?.filter(|it| it.place.file.is_none()),
            None => None,
        };
        let key = match known {
            Some(known) => {
                update(batch, &known, node, (hash, marks), warnings)?;
                Some(known.key)
            }
            None => add(batch, parent, node, marks)?.or(parent),
        };
        keys.push(key);
    }
    Ok(())
}

/// Returns the parent that a marker names.
fn above(
    batch: &Batch<'_>,
    marks: &ExportedNodeAttributes,
) -> Result<Option<NodeRowId>, StoreError> {
    let Some(id) = marks.parent else { return Ok(None) };
    let found = batch.find(id)?.filter(|it| it.place.file.is_none());
    Ok(found.map(|it| it.key))
}

/// Gives a known node the text of its block, if a person changed that and nobody else did.
fn update(
    batch: &mut Batch<'_>,
    known: &NodeRecord,
    node: &Node,
    (hash, marks): (ContentHash, &ExportedNodeAttributes),
    warnings: &mut Vec<String>,
) -> Result<(), StoreError> {
    let is_edited = marks.exported_hash != Some(hash);
    if known.content_hash == hash || !is_edited || known.node_type != node.node_type {
        return Ok(());
    }
    if marks.exported_hash != Some(known.content_hash) {
        let id = known.id;
        warnings.push(format!(
            "`{id}` was changed here and in the memory, which keeps its own; write the other one \
             with MemoryWrite"
        ));
        return Ok(());
    }
    let new =
        UnplacedNodeData { attributes: known.attributes.clone(), ..UnplacedNodeData::of(node) };
    batch.set_agent_text(known, &new)
}

/// Adds a node that the memory does not have, and returns it; `None` if it was forgotten.
fn add(
    batch: &mut Batch<'_>,
    parent: Option<NodeRowId>,
    node: &Node,
    marks: &ExportedNodeAttributes,
) -> Result<Option<NodeRowId>, StoreError> {
    let mut data = UnplacedNodeData::of(node);
    if let Some(fields) = &marks.fields {
        data.attributes =
            data.attributes.with(FIELDS, Some(OptionalColumnValue::Text(fields.to_string())));
        if let Some(uuid) = fields.get("uuid").and_then(serde_json::Value::as_str)
            && let Some(same) = batch.find_typed(uuid)?
        {
            return Ok(Some(same.key));
        }
    }
    let last = batch.last_place(None, parent)?;
    let place = NodePlace { position: marks.position.unwrap_or(last.position), ..last };
    let key = match marks.id {
        Some(id) if batch.is_id_new(id)? => batch.restore_node(id, &data, place)?,
        // It was there once, and somebody forgot it.
        Some(id) if batch.find(id)?.is_none() => return Ok(None),
        _ => match same_below(batch, parent, &data)? {
            Some(same) => return Ok(Some(same)),
            None => batch.insert_agent_node(&data, last)?.0,
        },
    };
    follow_marks(batch, key, marks)?;
    Ok(Some(key))
}

/// Returns the node with this text below a parent: a block without a marker is read again whenever
/// its file changes.
fn same_below(
    batch: &Batch<'_>,
    parent: Option<NodeRowId>,
    data: &UnplacedNodeData<'_>,
) -> Result<Option<NodeRowId>, StoreError> {
    const SAME_MAX: usize = 16;
    let same = batch.agent_nodes_with_text(data, SAME_MAX)?;
    Ok(same.into_iter().find(|it| it.place.parent == parent).map(|it| it.key))
}

/// Returns the id that a new node of a file should get, if its marker has one that is free.
pub(super) fn wanted_id(marks: &[ExportedNodeAttributes], idx: usize) -> Option<NodeId> {
    marks.get(idx).and_then(|it| it.id)
}
