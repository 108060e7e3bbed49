//! The report of a write: its nodes, and a node that says nearly the same.

use serde_json::{Value, json};

use crate::model::identity::NodeId;
use crate::model::tree::NodeType;
use crate::query::render::{to_one_line, to_quote, write_confirmation};
use crate::query::{self, NearDuplicate, TextIndex};
use crate::store::{Batch, NearDuplicateCandidate, NodeRowId, StoreError, UnplacedNodeData};

/// Written nodes that a reply names.
const NAMED_MAX: usize = 32;

/// A node that was written or existed already.
pub(super) struct WrittenNode {
    pub(super) id: NodeId,
    node_type: NodeType,
    label: String,
    token_count: u32,
    depth: usize,
}

impl WrittenNode {
    pub(super) fn of(id: NodeId, data: &UnplacedNodeData<'_>, depth: usize) -> WrittenNode {
        let &UnplacedNodeData { node_type, label, token_count, .. } = data;
        WrittenNode { id, node_type, label: label.to_owned(), token_count, depth }
    }
}

impl TextIndex for Batch<'_> {
    type Error = StoreError;

    fn nodes_with(&self, expression: &str, n_max: usize) -> Result<Vec<NodeRowId>, StoreError> {
        self.matching_nodes(expression, n_max)
    }

    fn compared_node(&self, key: NodeRowId) -> Result<Option<NearDuplicateCandidate>, StoreError> {
        Batch::compared_node(self, key)
    }
}

/// Returns the text and the facts of a write's reply; `near` are the near duplicates of each of its
/// texts.
pub(super) fn report_written(
    near: &[Vec<NearDuplicate>],
    written: &[WrittenNode],
) -> (String, Value) {
    let similar = similar(near, written);
    let first = &written[0];
    let tokens: u64 = written.iter().map(|it| u64::from(it.token_count)).sum();
    let mut text = format!("wrote node {} ({tokens} tokens)", first.id);
    let mut nodes = Vec::new();
    for it in written.iter().take(NAMED_MAX) {
        if 1 < written.len() {
            text +=
                &write_confirmation::render_written_line(it.depth, it.node_type, &it.label, it.id);
        }
        let label = to_one_line(&it.label);
        let node_type = it.node_type.as_str();
        let facts = json!({
            "id": it.id.to_string(), "type": node_type, "label": label, "depth": it.depth,
        });
        nodes.push(facts);
    }
    if let Some(n @ 1..) = written.len().checked_sub(NAMED_MAX) {
        text += &format!("\n… {n} more nodes");
    }
    let mut structured = json!({"node_id": first.id.to_string(), "tokens": tokens});
    structured["n_nodes"] = written.len().into();
    structured["nodes"] = nodes.into();
    if let Some(similar) = similar {
        let label = to_one_line(&similar.label).into_owned();
        text += &format!(
            "\nnearly the same was there: {} {}; to keep one, forget the other",
            similar.id,
            to_quote(&similar.label)
        );
        structured["similar"] = json!({"id": similar.id, "label": label});
    }
    (text, structured)
}

/// Returns a node that says nearly what a write said, other than the written ones.
fn similar<'a>(
    near: &'a [Vec<NearDuplicate>],
    written: &[WrittenNode],
) -> Option<&'a NearDuplicateCandidate> {
    let except: Vec<String> = written.iter().map(|it| it.id.to_string()).collect();
    near.iter().find_map(|it| query::nearest_duplicate(it, &except))
}
