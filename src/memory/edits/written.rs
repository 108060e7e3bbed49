//! The report of a write: its nodes, and a node that says nearly the same.

use serde_json::{Value, json};

use crate::memory::{Error, Memory};
use crate::model::identity::NodeId;
use crate::model::tree::NodeType;
use crate::query::WordsOfText;
use crate::query::render::{to_one_line, written};
use crate::store::reader::{NodeHead, Reader};
use crate::store::{NodeData, NodeKey};

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

impl Memory {
    /// Returns the text and the facts of a write's reply. `candidates` are what may be near
    /// duplicates of its texts.
    pub(super) fn report_written(
        &self,
        candidates: &[(WordsOfText, Vec<NodeKey>)],
        written: &[WrittenNode],
    ) -> Result<(String, Value), Error> {
        let similar = self.similar(candidates, written)?;
        let first = &written[0];
        let tokens: u64 = written.iter().map(|it| u64::from(it.token_count)).sum();
        let mut text = format!("wrote node {} ({tokens} tokens)", first.id);
        let mut nodes = Vec::new();
        for it in written.iter().take(NAMED_MAX) {
            if 1 < written.len() {
                text += &written::render_written_line(it.depth, it.node_type, &it.label, it.id);
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
                "\nnearly the same was there: {} \"{label}\"; to keep one, forget the other",
                similar.id
            );
            structured["similar"] = json!({"id": similar.id, "label": label});
        }
        Ok((text, structured))
    }

    /// Returns a node that says nearly what a write said, other than the written ones.
    fn similar(
        &self,
        candidates: &[(WordsOfText, Vec<NodeKey>)],
        written: &[WrittenNode],
    ) -> Result<Option<NodeHead>, Error> {
        let except: Vec<String> = written.iter().map(|it| it.id.to_string()).collect();
        for (words, keys) in candidates.iter().filter(|it| !it.1.is_empty()) {
            let near = |reader: &Reader| words.nearest(reader, keys, &except);
            if let Some(similar) = self.read(near)? {
                return Ok(Some(similar));
            }
        }
        Ok(None)
    }
}
