//! Purges episodes and concepts from the tree, in one snapshot.
//!
//! The history keeps them until `gc` forgets it.

use serde_json::{Value, json};

use super::arguments::KnowledgeResult;
use super::conflict_update_after_write::settle_statements;
use super::fact_of_fact_episode::fact_forgotten_with;
use super::node_writes::find_node;
use super::recall::unknown;
use super::resource_json::deleted_document;
use crate::memory::Memory;
use crate::memory::edits::forget_all;
use crate::memory::typed::MemoryError;
use crate::model::tree::NodeType;

impl Memory {
    /// Removes a node of a type, deleted or not, with its facts.
    pub(crate) fn purge(&self, id: &str, node_type: NodeType) -> KnowledgeResult<Value> {
        self.purge_each(&[(id.to_owned(), node_type)])?;
        Ok(json!({"success": true}))
    }

    /// Removes every deleted episode and concept.
    pub(crate) fn purge_all(&self) -> KnowledgeResult<Value> {
        let listed: Value = self.read(|reader| deleted_document(reader, None, usize::MAX))?;
        let listed = listed["deleted"].as_array().into_iter().flatten();
        let named = listed.filter_map(|it| {
            let id = it["id"].as_str()?.to_owned();
            Some((id, NodeType::parse(it["type"].as_str()?)?))
        });
        let all: Vec<(String, NodeType)> = named.collect();
        let n_of = |wanted: NodeType| all.iter().filter(|it| it.1 == wanted).count();
        if !all.is_empty() {
            self.purge_each(&all)?;
        }
        Ok(json!({
            "success": true,
            "episodes_purged": n_of(NodeType::Episode),
            "concepts_purged": n_of(NodeType::Concept),
        }))
    }

    fn purge_each(&self, all: &[(String, NodeType)]) -> KnowledgeResult<()> {
        let message = match all {
            [(id, node_type)] => format!("purge:{node_type} {id}"),
            _ => format!("purge: {} nodes", all.len()),
        };
        let now = self.clock.now();
        let purged = self.writer.write::<_, MemoryError>(&message, "", now, |batch| {
            for (id, node_type) in all {
                let node = find_node(batch, id)?.filter(|it| it.is_a(*node_type));
                let node = node.ok_or_else(|| unknown(node_type.as_str(), id))?;
                let fact = fact_forgotten_with(batch, &node.record)?;
                for it in std::iter::once(node.record).chain(fact) {
                    forget_all(batch, it)?;
                }
            }
            settle_statements(batch, &[], now)
        });
        purged.map(drop)
    }
}
