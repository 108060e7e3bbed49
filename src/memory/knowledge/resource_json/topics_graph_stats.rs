//! Records of topics, of the entities' graph and of statistics, for plain HTTP.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::rest_records::{entity, links_between};
use super::{EDGES_MAX, all_of, entity_name, stats_document, unknown};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::knowledge::export_knowledge_as_remind_json::record_time;
use crate::memory::knowledge::recall::find_topic;
use crate::model::clock::UnixMillis;
use crate::model::topic_name_matching_and_slugs::topic_slug;
use crate::model::tree::NodeType;
use crate::store::NodeRowId;
use crate::store::reader::{KnowledgeRow, Reader};

/// Returns every topic with what it has.
pub(crate) fn topic_records(reader: &Reader) -> KnowledgeResult<Value> {
    let topics = all_of(reader, NodeType::Topic)?;
    Ok(json!({"topics": records(reader, &topics)?, "total": topics.len()}))
}

/// Returns one topic, by its id, slug or name.
pub(crate) fn topic_record(reader: &Reader, text: &str) -> KnowledgeResult<Value> {
    let topic = find_topic(reader, text)?.filter(|it| !it.is_gone());
    let topic = topic.ok_or_else(|| unknown("topic", text))?;
    Ok(records(reader, &[topic])?.pop().unwrap_or(Value::Null))
}

fn records(reader: &Reader, topics: &[KnowledgeRow]) -> KnowledgeResult<Vec<Value>> {
    let (episodes, concepts) =
        (all_of(reader, NodeType::Episode)?, all_of(reader, NodeType::Concept)?);
    let record = |topic: &KnowledgeRow| {
        let of_topic = |it: &&KnowledgeRow| it.text("topic") == Some(&topic.id);
        let n_concepts = concepts.iter().filter(of_topic).count();
        let of_topic: Vec<&KnowledgeRow> = episodes.iter().filter(of_topic).collect();
        json!({
            "id": topic.id,
            "slug": topic_slug(topic.title()),
            "name": topic.title(),
            "description": topic.content,
            "created_at": record_time(topic.time("created_at")),
            "updated_at": record_time(topic.time("updated_at")),
            "episode_count": of_topic.len(),
            "concept_count": n_concepts,
            "latest_activity": record_time(of_topic.iter().filter_map(|it| it.time("at")).max()),
        })
    };
    Ok(topics.iter().map(record).collect())
}

/// Returns entities and the relations between them.
pub(crate) fn entity_graph_record(reader: &Reader) -> KnowledgeResult<Value> {
    let rows = all_of(reader, NodeType::Entity)?;
    let links = links_between(reader, &rows, entity_name)?;
    let nodes: Vec<Value> = rows.iter().map(entity).collect();
    Ok(json!({"nodes": nodes, "links": links}))
}

/// Returns the numbers of nodes and edges, by their types, and of conflicts that are open at a
/// time.
pub(crate) fn stats_record(reader: &Reader, at: UnixMillis) -> KnowledgeResult<Value> {
    let mut record = stats_document(reader, at)?;
    let mut ends: BTreeMap<NodeRowId, NodeType> = BTreeMap::new();
    for (node_type, name) in [
        (NodeType::Episode, "episode_types"),
        (NodeType::Concept, "concept_types"),
        (NodeType::Entity, "entity_types"),
    ] {
        let rows = all_of(reader, node_type)?;
        let mut by_kind: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &rows {
            *by_kind.entry(row.text("kind").unwrap_or("other")).or_default() += 1;
            ends.insert(row.key, node_type);
        }
        record[name] = json!(by_kind);
    }
    let keys: Vec<NodeRowId> = ends.keys().copied().collect();
    let mut by_type = [BTreeMap::<String, usize>::new(), BTreeMap::new()];
    let mut n_mentions = 0_usize;
    for edge in reader.typed_edges_from(&keys, EDGES_MAX)? {
        match (ends.get(&edge.source), ends.get(&edge.target)) {
            (Some(NodeType::Concept), Some(NodeType::Concept)) => {
                *by_type[0].entry(edge.link_type).or_default() += 1;
            }
            (Some(NodeType::Entity), Some(NodeType::Entity)) => {
                *by_type[1].entry(edge.link_type).or_default() += 1;
            }
            (Some(NodeType::Episode), _) if edge.link_type == "mentions" => n_mentions += 1,
            _ => (),
        }
    }
    record["mentions"] = n_mentions.into();
    record["unconsolidated_episodes"] = record["pending"].clone();
    for (name, by_type) in ["relation", "entity_relation"].iter().zip(by_type) {
        record[format!("{name}s")] = by_type.values().sum::<usize>().into();
        record[format!("{name}_types")] = json!(by_type);
    }
    Ok(record)
}
