//! Documents of knowledge for whoever watches: lists and single nodes as JSON, which warm nothing.

mod bootstrap_knowledge_digest;
mod concept_and_entity_details;
mod event_feed;
mod rest_records;
mod topics_graph_stats;

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::arguments::KnowledgeResult;
use super::deleted_flag_in_json::marked_if_deleted;
use super::recall::{find_topic, unknown};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::normal_name;
use crate::model::topic_name_matching_and_slugs::topic_slug;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::{CONFLICT_STATES, EPISODE_KINDS};
use crate::store::NodeRowId;
use crate::store::reader::{FieldFilter, KnowledgeRow, Reader, TypedEdge};
pub(crate) use bootstrap_knowledge_digest::{
    BOOTSTRAP_DEFAULT, BOOTSTRAP_RANGE, bootstrap_document,
};
pub(crate) use concept_and_entity_details::{concept_document, entity_document};

pub(crate) use event_feed::events_document;
pub(crate) use rest_records::{
    RecordPageRequest, concept_record, concept_records, concepts_of_entity, deleted_records,
    deletion_of, entity_record, entity_records, episode_record, episode_records,
    episodes_of_entity, graph_record, query_record,
};
pub(crate) use topics_graph_stats::{
    entity_graph_record, stats_record, topic_record, topic_records,
};

/// Rows of a list where nobody says how many.
pub(crate) const LIST_DEFAULT: usize = 50;

/// Rows of a list, at most.
pub(crate) const LIST_MAX: usize = 1_000;

/// Edges that one document follows, at most.
const EDGES_MAX: usize = 100_000;

/// Returns the time of the newest snapshot, as of which the bootstrap and the documents of one node
/// tell what holds, so that they depend on no clock.
fn last_written(reader: &Reader) -> KnowledgeResult<UnixMillis> {
    let versions = reader.versions();
    let newest = versions.snapshot(versions.snapshots()?.last)?;
    Ok(newest.map_or(UnixMillis(0), |it| it.created_at))
}

/// Returns the nodes of a type that are not gone, eldest first.
fn all_of(reader: &Reader, node_type: NodeType) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let keys = reader.nodes_with(&[FieldFilter::text("type", node_type.as_str())])?;
    let mut rows = reader.knowledge(&keys)?;
    rows.retain(|it| !it.is_gone());
    Ok(rows)
}

/// Returns the deleted nodes of a type, eldest first.
fn deleted_of(reader: &Reader, node_type: NodeType) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let hidden =
        [FieldFilter::text("type", node_type.as_str()), FieldFilter::integer("archived", 1)];
    let mut rows = reader.knowledge(&reader.nodes_with(&hidden)?)?;
    rows.retain(|it| it.has("deleted"));
    Ok(rows)
}

/// Returns every topic with the numbers of its episodes and concepts.
pub(crate) fn topics_document(reader: &Reader) -> KnowledgeResult<Value> {
    let mut topics = Vec::new();
    for topic in all_of(reader, NodeType::Topic)? {
        let n_of = |node_type: NodeType| -> KnowledgeResult<usize> {
            let of_topic = [FieldFilter::text("topic", &topic.id)];
            Ok(reader.typed_with(&of_topic, &[node_type], false)?.len())
        };
        topics.push(json!({
            "id": topic.id,
            "slug": topic_slug(topic.title()),
            "name": topic.title(),
            "description": topic.content,
            "episodes": n_of(NodeType::Episode)?,
            "concepts": n_of(NodeType::Concept)?,
        }));
    }
    Ok(json!({"topics": topics}))
}

/// Returns how many conflicts are open at a time, without those that have run out.
pub(crate) fn n_open_conflicts(reader: &Reader, at: UnixMillis) -> KnowledgeResult<usize> {
    let open = FieldFilter::text("conflict", CONFLICT_STATES[0]);
    let n_open = reader.nodes_with(&[open])?.len();
    Ok(n_open.saturating_sub(reader.lapsed_conflicts(at)?.len()))
}

/// Returns the numbers of nodes of each type of knowledge, of episodes by kind, of conflicts that
/// are open at a time, and of what waits.
pub(crate) fn stats_document(reader: &Reader, at: UnixMillis) -> KnowledgeResult<Value> {
    let n_of = |node_type: NodeType, also: Option<FieldFilter>| -> KnowledgeResult<usize> {
        let mut wanted = vec![
            FieldFilter::text("type", node_type.as_str()),
            FieldFilter::integer("archived", 0),
        ];
        wanted.extend(also);
        Ok(reader.nodes_with(&wanted)?.len())
    };
    let mut kinds = Map::new();
    for kind in EPISODE_KINDS {
        let of_kind = FieldFilter::text("kind", kind);
        kinds.insert((*kind).to_owned(), n_of(NodeType::Episode, Some(of_kind))?.into());
    }
    Ok(json!({
        "episodes": n_of(NodeType::Episode, None)?,
        "episode_types": kinds,
        "pending": reader.pending_episodes(None)?,
        "concepts": n_of(NodeType::Concept, None)?,
        "facts": n_of(NodeType::Fact, None)?,
        "topics": n_of(NodeType::Topic, None)?,
        "entities": n_of(NodeType::Entity, None)?,
        "open_conflicts": n_open_conflicts(reader, at)?,
    }))
}

/// Returns deleted episodes and concepts, or those of one type alone, newest first.
pub(crate) fn deleted_document(
    reader: &Reader,
    only: Option<&str>,
    n_max: usize,
) -> KnowledgeResult<Value> {
    let mut rows = Vec::new();
    for node_type in [NodeType::Episode, NodeType::Concept] {
        if only.is_none_or(|it| it == node_type.as_str()) {
            rows.extend(deleted_of(reader, node_type)?);
        }
    }
    rows.sort_by_key(|it| std::cmp::Reverse(it.key));
    let total = rows.len();
    rows.truncate(n_max);
    let line = |it: &KnowledgeRow| {
        let node_type = it.node_type.as_str();
        json!({"id": it.id, "type": node_type, "title": it.title()})
    };
    let deleted: Vec<Value> = rows.iter().map(line).collect();
    Ok(json!({"deleted": deleted, "total": total}))
}

/// Returns the newest concepts, of a topic or all, with their number.
pub(crate) fn concepts_document(
    reader: &Reader,
    topic: Option<&str>,
    n_max: usize,
) -> KnowledgeResult<Value> {
    let mut wanted = vec![
        FieldFilter::text("type", NodeType::Concept.as_str()),
        FieldFilter::integer("archived", 0),
    ];
    if let Some(text) = topic {
        let topic = find_topic(reader, text)?.ok_or_else(|| unknown("topic", text))?;
        wanted.push(FieldFilter::text("topic", &topic.id));
    }
    let (keys, total) = newest(reader, &wanted, n_max)?;
    let concepts: Vec<Value> = reader.knowledge(&keys)?.iter().map(concept_line).collect();
    Ok(json!({"concepts": concepts, "total": total}))
}

fn newest(
    reader: &Reader,
    wanted: &[FieldFilter],
    n_max: usize,
) -> KnowledgeResult<(Vec<NodeRowId>, usize)> {
    let mut keys = reader.nodes_with(wanted)?;
    let total = keys.len();
    keys.reverse();
    keys.truncate(n_max);
    Ok((keys, total))
}

fn concept_line(concept: &KnowledgeRow) -> Value {
    json!({
        "id": concept.id,
        "title": concept.title(),
        "kind": concept.text("kind"),
        "confidence": concept.number("confidence"),
        "topic": concept.text("topic"),
    })
}

/// Returns the newest episodes that meet the conditions, with their number.
pub(crate) fn episodes_document(
    reader: &Reader,
    (kind, is_pending): (Option<&str>, Option<bool>),
    n_max: usize,
) -> KnowledgeResult<Value> {
    let mut wanted = vec![
        FieldFilter::text("type", NodeType::Episode.as_str()),
        FieldFilter::integer("archived", 0),
    ];
    wanted.extend(kind.map(|it| FieldFilter::text("kind", it)));
    if is_pending == Some(true) {
        wanted.push(FieldFilter::integer("pending", 1));
    }
    let mut keys = reader.nodes_with(&wanted)?;
    if is_pending == Some(false) {
        let pending = reader.nodes_with(&[FieldFilter::integer("pending", 1)])?;
        keys.retain(|it| pending.binary_search(it).is_err());
    }
    let total = keys.len();
    keys.reverse();
    keys.truncate(n_max);
    let mentioned = mentioned(reader, &keys)?;
    let episodes: Vec<Value> = reader
        .knowledge(&keys)?
        .iter()
        .map(|episode| {
            let entities: Vec<&str> =
                mentioned.iter().filter(|it| it.0 == episode.key).map(|it| it.1.as_str()).collect();
            json!({
                "id": episode.id,
                "kind": episode.text("kind"),
                "title": episode.title(),
                "content": episode.content,
                "topic": episode.text("topic"),
                "entities": entities,
                "at": episode.time("at").map(UnixMillis::to_second),
                "pending": !episode.has("processed_in"),
                "source": episode.text("source_type"),
            })
        })
        .collect();
    Ok(json!({"episodes": episodes, "total": total}))
}

/// Returns the names of what nodes mention, each with the node.
fn mentioned(reader: &Reader, keys: &[NodeRowId]) -> KnowledgeResult<Vec<(NodeRowId, String)>> {
    let mut edges = reader.typed_edges_from(keys, EDGES_MAX)?;
    edges.retain(|it| it.link_type == "mentions");
    let targets: Vec<NodeRowId> = edges.iter().map(|it| it.target).collect();
    let rows = reader.knowledge(&targets)?;
    let name = |edge: &TypedEdge| {
        let row = rows.iter().find(|it| it.key == edge.target)?;
        Some((edge.source, entity_name(row)))
    };
    Ok(edges.iter().filter_map(name).collect())
}

/// Returns how documents name an entity: `kind:name`.
fn entity_name(row: &KnowledgeRow) -> String {
    let kind = match row.node_type {
        NodeType::Entity => row.text("kind").unwrap_or("other"),
        _ => "file",
    };
    format!("{kind}:{}", row.title())
}

/// Returns every entity with its names and the number of episodes that mention it.
pub(crate) fn entities_document(reader: &Reader) -> KnowledgeResult<Value> {
    let rows = all_of(reader, NodeType::Entity)?;
    let keys: Vec<NodeRowId> = rows.iter().map(|it| it.key).collect();
    let n_mentions = n_mentions(reader, &keys)?;
    let entities: Vec<Value> = rows
        .iter()
        .map(|it| {
            json!({
                "id": it.id,
                "name": it.title(),
                "type": it.text("kind"),
                "aliases": aliases(it),
                "mentions": n_mentions.get(&it.key).copied().unwrap_or(0),
            })
        })
        .collect();
    Ok(json!({"entities": entities}))
}

/// Returns the number of episodes that mention each of some entities. The fact that an episode
/// states has the same mentions, and is none of its own.
fn n_mentions(
    reader: &Reader,
    entities: &[NodeRowId],
) -> KnowledgeResult<HashMap<NodeRowId, usize>> {
    n_mentions_among(reader, &reader.typed_edges_to(entities, EDGES_MAX)?)
}

/// Returns the number of episodes that mention each of some entities, by the edges to these.
fn n_mentions_among(
    reader: &Reader,
    edges: &[TypedEdge],
) -> KnowledgeResult<HashMap<NodeRowId, usize>> {
    let edges = edges.iter().filter(|it| it.link_type == "mentions");
    let sources: Vec<NodeRowId> = edges.clone().map(|it| it.source).collect();
    let hidden = reader.archived_among(&sources)?;
    let episodes: HashSet<NodeRowId> = reader
        .types_of(&sources)?
        .into_iter()
        .filter(|(key, of)| *of == NodeType::Episode && hidden.binary_search(key).is_err())
        .map(|it| it.0)
        .collect();
    let mut n_mentions = HashMap::new();
    for edge in edges.filter(|it| episodes.contains(&it.source)) {
        *n_mentions.entry(edge.target).or_insert(0) += 1;
    }
    Ok(n_mentions)
}

/// Returns the further names of an entity, one a line of its text.
fn aliases(entity: &KnowledgeRow) -> Vec<&str> {
    if entity.node_type != NodeType::Entity {
        return Vec::new();
    }
    let own = normal_name(entity.title());
    let mut names: Vec<&str> = entity.content.lines().map(str::trim).collect();
    names.retain(|it| !it.is_empty() && normal_name(it) != own);
    names
}

/// Returns the newest conflicts of a status at a time, with their number. One that has run out by
/// then counts as resolved, as it will be with the next write of knowledge.
pub(crate) fn conflicts_document(
    reader: &Reader,
    (status, at): (&str, UnixMillis),
    n_max: usize,
) -> KnowledgeResult<Value> {
    if status != "all" && !CONFLICT_STATES.contains(&status) {
        let known = CONFLICT_STATES.join(", ");
        return Err(MemoryError::invalid(format!("`status` must be one of {known}, all")));
    }
    let lapsed = reader.lapsed_conflicts(at)?;
    let mut wanted = vec![FieldFilter::text("type", NodeType::Conflict.as_str())];
    wanted.extend((status != "all").then(|| FieldFilter::text("conflict", status)));
    let mut keys = reader.nodes_with(&wanted)?;
    match CONFLICT_STATES.iter().position(|it| *it == status) {
        Some(0) => keys.retain(|it| lapsed.binary_search(it).is_err()),
        Some(1) => keys.extend(&lapsed),
        _ => (),
    }
    keys.sort_unstable_by_key(|it| std::cmp::Reverse(*it));
    let total = keys.len();
    keys.truncate(n_max);
    let record = |it: &KnowledgeRow| {
        let is_lapsed = lapsed.binary_search(&it.key).is_ok();
        conflict_record(reader, it, is_lapsed.then_some(CONFLICT_STATES[1]))
    };
    let conflicts: KnowledgeResult<Vec<Value>> =
        reader.knowledge(&keys)?.iter().map(record).collect();
    Ok(json!({"conflicts": conflicts?, "total": total}))
}

/// Returns the conflict of an id.
pub(crate) fn conflict_document(reader: &Reader, id: &str) -> KnowledgeResult<Value> {
    let found = reader.knowledge_by_id(id)?.filter(|it| it.node_type == NodeType::Conflict);
    conflict_record(reader, &found.ok_or_else(|| unknown("conflict", id))?, None)
}

fn conflict_record(
    reader: &Reader,
    conflict: &KnowledgeRow,
    status: Option<&str>,
) -> KnowledgeResult<Value> {
    let mut edges = reader.typed_edges_from(&[conflict.key], EDGES_MAX)?;
    edges.retain(|it| it.link_type == "disputes");
    let targets: Vec<NodeRowId> = edges.iter().map(|it| it.target).collect();
    let facts = reader.knowledge(&targets)?;
    let line = |it: &KnowledgeRow| {
        let shown = json!({"id": it.id, "text": it.content});
        marked_if_deleted(it, shown)
    };
    let facts: Vec<Value> = facts.iter().map(line).collect();
    Ok(json!({
        "id": conflict.id,
        "status": status.or(conflict.text("conflict")),
        "severity": conflict.text("severity"),
        "about": conflict.content,
        "facts": facts,
        "note": conflict.text("note"),
    }))
}
