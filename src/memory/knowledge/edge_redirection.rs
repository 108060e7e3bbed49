//! Redirection of edges: what led to a node leads to the one that took it in.

use serde_json::{Map, Value};

use super::node_writes::{StoredKnowledgeNode, add_edge, set_fields};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::model::node_fields;
use crate::store::Batch;

/// Points the edges that lead to a node at another one.
pub(super) fn redirect_edges(
    batch: &mut Batch<'_>,
    from: NodeId,
    to: NodeId,
    now: UnixMillis,
) -> Result<(), MemoryError> {
    for mut source in StoredKnowledgeNode::all(batch.with_any_edge_to(from)?)? {
        if source.id() == to {
            // It would lead to itself.
            let drop_own = |fields: &mut Map<String, Value>| {
                if let Some(Value::Array(links)) = fields.get_mut("links") {
                    links.retain(|it| it["to"] != from.to_string());
                }
            };
            set_fields(batch, &mut source, drop_own, now)?;
            continue;
        }
        let turn = |fields: &mut Map<String, Value>| {
            if fields.get("winner").is_some_and(|it| *it == from.to_string()) {
                fields.insert("winner".to_owned(), to.to_string().into());
            }
            let links = node_fields::list(fields, "links").to_vec();
            fields.shift_remove("links");
            for mut link in links {
                if link["to"] == from.to_string() {
                    link["to"] = to.to_string().into();
                }
                add_edge(fields, link);
            }
        };
        set_fields(batch, &mut source, turn, now)?;
    }
    Ok(())
}
