//! The report of a write: its nodes, and a node that says nearly the same.

use serde_json::{Value, json};

use crate::memory::{Error, Memory};
use crate::model::identity::NodeId;
use crate::model::tree::NodeType;
use crate::query::render::{to_one_line, to_quote, write_confirmation};
use crate::query::{self, NearDuplicate, TextIndex};
use crate::store::reader::{NodeSummary, Reader};
use crate::store::{Batch, NodeData, NodeKey, StoreError};

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
    pub(super) fn of(id: NodeId, data: &NodeData<'_>, depth: usize) -> WrittenNode {
        let &NodeData { node_type, label, token_count, .. } = data;
        WrittenNode { id, node_type, label: label.to_owned(), token_count, depth }
    }
}

impl TextIndex for Batch<'_> {
    type Error = StoreError;

    fn nodes_with(&self, expression: &str, n_max: usize) -> Result<Vec<NodeKey>, StoreError> {
        self.matching_nodes(expression, n_max)
    }

    fn content_of(&self, node: NodeKey) -> Result<Option<String>, StoreError> {
        self.node_content(node)
    }
}

impl Memory {
    /// Returns the text and the facts of a write's reply; `near` are the near duplicates of each
    /// of its texts.
    pub(super) fn report_written(
        &self,
        near: &[Vec<NearDuplicate>],
        written: &[WrittenNode],
    ) -> Result<(String, Value), Error> {
        let similar = self.similar(near, written)?;
        let first = &written[0];
        let tokens: u64 = written.iter().map(|it| u64::from(it.token_count)).sum();
        let mut text = format!("wrote node {} ({tokens} tokens)", first.id);
        let mut nodes = Vec::new();
        for it in written.iter().take(NAMED_MAX) {
            if 1 < written.len() {
                text += &write_confirmation::render_written_line(
                    it.depth,
                    it.node_type,
                    &it.label,
                    it.id,
                );
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
        Ok((text, structured))
    }

    /// Returns a node that says nearly what a write said, other than the written ones.
    fn similar(
        &self,
        near: &[Vec<NearDuplicate>],
        written: &[WrittenNode],
    ) -> Result<Option<NodeSummary>, Error> {
        let except: Vec<String> = written.iter().map(|it| it.id.to_string()).collect();
        for near in near.iter().filter(|it| !it.is_empty()) {
            let nearest = |reader: &Reader| query::nearest_duplicate(reader, near, &except);
            if let Some(similar) = self.read(nearest)? {
                return Ok(Some(similar));
            }
        }
        Ok(None)
    }
}
