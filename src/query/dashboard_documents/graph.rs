//! The graph: references between nodes, and pending references.

use serde::Serialize;

use super::{Error, JsonDestination, JsonList};
use crate::store::reader::Reader;

#[derive(Serialize)]
struct GraphNode<'a> {
    id: &'a str,
    label: &'a str,
    #[serde(rename = "type")]
    node_type: &'a str,
    temperature: f64,
}

#[derive(Serialize)]
struct GraphEdge<'a> {
    source: &'a str,
    target: &'a str,
    weight: f64,
    origin: &'a str,
}

#[derive(Serialize)]
struct UnresolvedGraphEdge<'a> {
    source: &'a str,
    target_label: &'a str,
    target_source: &'a str,
    target_id_hint: &'a str,
    weight: f64,
    origin: &'a str,
}

/// Writes the references and the nodes at their ends.
pub(crate) fn write_graph(reader: &Reader, out: JsonDestination<'_>) -> Result<(), Error> {
    let attended = reader.attended()?;
    out.write_str("{\"nodes\":[")?;
    let mut nodes = JsonList::new(&mut *out);
    reader.each_linked(|node| {
        nodes.push(&GraphNode {
            id: &node.id,
            label: &node.label,
            node_type: &node.node_type,
            temperature: node.heat.now(attended),
        })
    })?;
    out.write_str("],\"edges\":[")?;
    let mut edges = JsonList::new(&mut *out);
    reader.each_link(false, |link| {
        edges.push(&GraphEdge {
            source: &link.source,
            target: link.target.as_deref().unwrap_or_default(),
            weight: link.weight,
            origin: &link.origin,
        })
    })?;
    out.write_str("],\"pending\":[")?;
    let mut pending = JsonList::new(&mut *out);
    reader.each_link(true, |link| {
        pending.push(&UnresolvedGraphEdge {
            source: &link.source,
            target_label: &link.label,
            target_source: link.path.as_deref().unwrap_or_default(),
            target_id_hint: link.id_hint.as_deref().unwrap_or_default(),
            weight: link.weight,
            origin: &link.origin,
        })
    })?;
    Ok(out.write_str("]}")?)
}
