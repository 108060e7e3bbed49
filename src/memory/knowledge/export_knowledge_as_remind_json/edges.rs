//! Edges of an export: rows of the lists that Remind has for them, and the others beside these.
//!
//! Remind refuses a whole export for one edge to a record of another kind than the list is for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::record_ids::{LinkInNodeFields, RecordIds, links};
use super::record_time;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::EVIDENCE;
use crate::store::reader::KnowledgeRow;

/// Types of edges between concepts that Remind knows.
const RELATIONS: [&str; 10] = [
    "related_to",
    "implies",
    "contradicts",
    "specializes",
    "generalizes",
    "causes",
    "correlates",
    "part_of",
    "context_of",
    "supersedes",
];

/// Lists of edges, which follow from nodes of other lists.
#[derive(Default)]
pub(super) struct RemindEdgeLists {
    pub(super) mentions: Vec<Value>,
    pub(super) evidence: Vec<Value>,
    pub(super) relations: Vec<Value>,
    pub(super) entity_relations: Vec<Value>,
    pub(super) labels: Vec<Value>,
    /// Edges that Remind has no list for.
    pub(super) own_edges: Vec<Value>,
    /// Edges to nodes that no record is of.
    pub(super) n_left_out: usize,
    /// Episodes that support a concept or state a fact, by its id.
    pub(super) sources: BTreeMap<String, Vec<String>>,
    /// Entities of a concept, by its id.
    pub(super) entities: BTreeMap<String, BTreeSet<String>>,
}

impl RemindEdgeLists {
    /// Notes the edges of a node as rows, and returns the entities that it mentions.
    pub(super) fn add_edges(&mut self, row: &KnowledgeRow, names: &RecordIds) -> Vec<String> {
        let id = names.own(row);
        let (mut mentioned, mut supported) = (Vec::new(), Vec::new());
        for link in links(row) {
            let Some((to, to_type)) = names.record_of(link.to) else {
                self.n_left_out += 1;
                continue;
            };
            // What was merged into a node is that node.
            if to == id {
                continue;
            }
            match (row.node_type, to_type, link.link_type) {
                (NodeType::Episode | NodeType::Fact, NodeType::Entity, "mentions") => {
                    if row.node_type == NodeType::Episode {
                        self.mentions.push(json!({"episode_id": id, "entity_id": to}));
                    }
                    mentioned.push(to.to_owned());
                }
                (NodeType::Episode, NodeType::Concept, it) if EVIDENCE.contains(&it) => {
                    if it == "supports" {
                        self.sources.entry(to.to_owned()).or_default().push(id.to_owned());
                    }
                    supported.push(to);
                    self.add_evidence(row, (id, to), &link);
                }
                // A fact has one source.
                (NodeType::Episode, NodeType::Fact, "supports")
                    if !self.sources.contains_key(to) =>
                {
                    self.sources.insert(to.to_owned(), vec![id.to_owned()]);
                }
                (NodeType::Concept, NodeType::Concept, it) if RELATIONS.contains(&it) => {
                    self.relations.push(relation((id, to), &link));
                }
                (NodeType::Entity, NodeType::Entity, _) => {
                    self.entity_relations.push(entity_relation(row, (id, to), &link));
                }
                _ => self.own_edges.push(relation((id, to), &link)),
            }
        }
        for concept in supported {
            let entities = self.entities.entry(concept.to_owned()).or_default();
            entities.extend(mentioned.iter().cloned());
        }
        mentioned
    }

    fn add_evidence(
        &mut self,
        row: &KnowledgeRow,
        (id, to): (&str, &str),
        link: &LinkInNodeFields<'_>,
    ) {
        let n = self.evidence.len();
        self.evidence.push(json!({
            "id": format!("evidence-{n}"),
            "episode_id": id,
            "concept_id": to,
            "link_type": link.link_type,
            "strength": link.strength,
            "note": link.context,
            "created_at": record_time(row.time("updated_at")),
        }));
    }
}

fn relation((from, to): (&str, &str), link: &LinkInNodeFields<'_>) -> Value {
    json!({
        "type": link.link_type,
        "target_id": to,
        "strength": link.strength,
        "context": link.context,
        "source_id": from,
    })
}

fn entity_relation(
    row: &KnowledgeRow,
    (from, to): (&str, &str),
    link: &LinkInNodeFields<'_>,
) -> Value {
    json!({
        "source_id": from,
        "target_id": to,
        "relation_type": link.link_type,
        "strength": link.strength,
        "context": link.context,
        "source_episode_id": null,
        "created_at": record_time(row.time("created_at")),
        "episode_count": 1,
        "source_episode_ids": "[]",
    })
}
