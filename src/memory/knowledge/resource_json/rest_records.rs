//! Records of knowledge for programs over plain HTTP: episodes, concepts and entities.
//!
//! Their members have the names that such programs were written for. They warm nothing.

#![cfg_attr(not(feature = "http"), allow(dead_code, reason = "no server asks for it"))]

use serde_json::{Value, json};

use super::{
    EDGES_MAX, all_of, deleted_of, entity_name, last_written, mentioned, n_mentions,
    n_mentions_among, unknown,
};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::knowledge::export_knowledge_as_remind_json::record_time;
use crate::memory::knowledge::recall::{
    RecallRequest, entity_of, find_topic, keys_of_entity, node_of_type, recall,
};
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::query::render::{to_label, to_text_below};
use crate::store::NodeRowId;
use crate::store::reader::{KnowledgeRow, Reader, TypedEdge};

/// Characters of an episode that a concept shows.
const EXCERPT_CHARS: usize = 150;

/// Facts of one cluster, at most.
const FACTS_MAX: usize = 10_000;

/// The page of a list of records that is asked for, and its filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordPageRequest {
    pub(crate) offset: usize,
    pub(crate) n_max: usize,
    /// A text that rows have, in any case.
    pub(crate) search: Option<String>,
    /// Id or name.
    pub(crate) topic: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) is_consolidated: Option<bool>,
    pub(crate) from: Option<UnixMillis>,
    pub(crate) to: Option<UnixMillis>,
}

/// Returns concepts by title, with their number.
pub(crate) fn concept_records(
    reader: &Reader,
    filter: &RecordPageRequest,
) -> KnowledgeResult<Value> {
    let topic = topic_id(reader, filter)?;
    let mut rows = all_of(reader, NodeType::Concept)?;
    rows.retain(|it| {
        let is_here = topic.as_deref().is_none_or(|id| it.text("topic") == Some(id));
        let is_kind = filter.kind.as_deref().is_none_or(|kind| it.text("kind") == Some(kind));
        is_here && is_kind && filter.finds(it)
    });
    rows.sort_by_cached_key(|it| (it.title().to_lowercase(), it.key));
    let total = rows.len();
    let rows: Vec<KnowledgeRow> = filter.part(rows);
    let concepts: KnowledgeResult<Vec<Value>> = rows.iter().map(|it| concept(reader, it)).collect();
    Ok(json!({"concepts": concepts?, "total": total}))
}

/// Returns one concept with its sources.
pub(crate) fn concept_record(reader: &Reader, id: &str) -> KnowledgeResult<Value> {
    let row = of_type(reader, id, NodeType::Concept)?;
    let mut record = concept(reader, &row)?;
    let sources = sources(reader, row.key)?;
    let shown = |it: &KnowledgeRow| {
        json!({
            "id": it.id,
            "title": it.text("title"),
            "content": crate::text::truncate_chars(&it.content, EXCERPT_CHARS),
            "type": it.text("kind"),
        })
    };
    record["source_episodes_data"] = sources.iter().map(shown).collect();
    for relation in record["relations"].as_array_mut().into_iter().flatten() {
        let target = relation["target_id"].as_str().unwrap_or_default();
        let target = reader.knowledge_by_id(target)?;
        relation["target_summary"] = target.map(|it| it.content).into();
    }
    Ok(record)
}

/// Returns the newest episodes, with their number.
pub(crate) fn episode_records(
    reader: &Reader,
    filter: &RecordPageRequest,
) -> KnowledgeResult<Value> {
    let topic = topic_id(reader, filter)?;
    let mut rows = all_of(reader, NodeType::Episode)?;
    rows.retain(|it| {
        let at = it.time("at");
        topic.as_deref().is_none_or(|id| it.text("topic") == Some(id))
            && filter.kind.as_deref().is_none_or(|kind| it.text("kind") == Some(kind))
            && filter.is_consolidated.is_none_or(|is| it.has("processed_in") == is)
            && filter.from.is_none_or(|from| at.is_some_and(|it| from <= it))
            && filter.to.is_none_or(|to| at.is_some_and(|it| it <= to))
            && filter.finds(it)
    });
    rows.sort_by_key(|it| std::cmp::Reverse((it.time("at"), it.key)));
    let total = rows.len();
    let rows = filter.part(rows);
    Ok(json!({"episodes": episodes(reader, &rows)?, "total": total}))
}

/// Returns the deleted nodes of a type, newest first, as its other records are.
pub(crate) fn deleted_records(
    reader: &Reader,
    node_type: NodeType,
    filter: &RecordPageRequest,
) -> KnowledgeResult<Value> {
    let mut rows = deleted_of(reader, node_type)?;
    rows.retain(|it| filter.finds(it));
    rows.sort_by_key(|it| std::cmp::Reverse(it.key));
    let total = rows.len();
    let rows = filter.part(rows);
    let (name, records) = match node_type {
        NodeType::Episode => ("episodes", episodes(reader, &rows)?),
        _ => {
            ("concepts", rows.iter().map(|it| concept(reader, it)).collect::<KnowledgeResult<_>>()?)
        }
    };
    Ok(json!({name: records, "total": total}))
}

/// Returns whether a node of a type is there, and whether it is deleted.
pub(crate) fn deletion_of(reader: &Reader, id: &str, node_type: NodeType) -> KnowledgeResult<bool> {
    let row = Some(node_of_type(reader, id, node_type)?);
    let row = row.filter(|it| it.has("deleted") || !it.is_gone());
    Ok(row.ok_or_else(|| unknown(node_type.as_str(), id))?.has("deleted"))
}

/// Returns one episode.
pub(crate) fn episode_record(reader: &Reader, id: &str) -> KnowledgeResult<Value> {
    let row = of_type(reader, id, NodeType::Episode)?;
    Ok(episodes(reader, &[row])?.pop().unwrap_or(Value::Null))
}

/// Returns every entity with the number of episodes that mention it.
pub(crate) fn entity_records(
    reader: &Reader,
    filter: &RecordPageRequest,
) -> KnowledgeResult<Value> {
    let mut rows = all_of(reader, NodeType::Entity)?;
    rows.retain(|it| {
        filter.kind.as_deref().is_none_or(|kind| it.text("kind") == Some(kind)) && filter.finds(it)
    });
    let total = rows.len();
    let rows = filter.part(rows);
    let keys: Vec<NodeRowId> = rows.iter().map(|it| it.key).collect();
    let n_mentions = n_mentions(reader, &keys)?;
    let record = |it: &KnowledgeRow| {
        let mut record = entity(it);
        record["mention_count"] = n_mentions.get(&it.key).copied().unwrap_or(0).into();
        record
    };
    let entities: Vec<Value> = rows.iter().map(record).collect();
    Ok(json!({"entities": entities, "total": total}))
}

/// Returns one entity with its relations, by `type:name`, a name or an id.
pub(crate) fn entity_record(reader: &Reader, text: &str) -> KnowledgeResult<Value> {
    let row = entity_of(reader, text)?;
    let mut record = entity(&row);
    let mut relations = Vec::new();
    let own = keys_of_entity(reader, &row)?;
    let out = reader.typed_edges_from(&own, EDGES_MAX)?;
    let back = reader.typed_edges_to(&own, EDGES_MAX)?;
    let n_mentions = n_mentions_among(reader, &back)?;
    record["mention_count"] = n_mentions.values().sum::<usize>().into();
    for (edges, direction) in [(out, "outgoing"), (back, "incoming")] {
        let other = |it: &TypedEdge| if direction == "outgoing" { it.target } else { it.source };
        let keys: Vec<NodeRowId> = edges.iter().map(other).collect();
        let mut rows = reader.knowledge(&keys)?;
        rows.retain(|it| it.node_type == NodeType::Entity && !it.is_gone());
        for edge in &edges {
            if let Some(end) = rows.iter().find(|it| it.key == other(edge)) {
                relations.push(json!({
                    "relation_type": edge.link_type,
                    "strength": edge.strength,
                    "direction": direction,
                    "related_entity": entity_name(end),
                }));
            }
        }
    }
    record["relations"] = relations.into();
    Ok(record)
}

/// Returns the episodes that mention an entity, newest first.
pub(crate) fn episodes_of_entity(
    reader: &Reader,
    text: &str,
    filter: &RecordPageRequest,
) -> KnowledgeResult<Value> {
    let mut rows = mentioning(reader, text)?;
    rows.retain(|it| filter.finds(it));
    rows.sort_by_key(|it| std::cmp::Reverse((it.time("at"), it.key)));
    let total = rows.len();
    Ok(json!({"episodes": episodes(reader, &filter.part(rows))?, "total": total}))
}

/// Returns the concepts that episodes about an entity support.
pub(crate) fn concepts_of_entity(
    reader: &Reader,
    text: &str,
    filter: &RecordPageRequest,
) -> KnowledgeResult<Value> {
    let keys: Vec<NodeRowId> = mentioning(reader, text)?.iter().map(|it| it.key).collect();
    let mut supported: Vec<NodeRowId> = reader
        .typed_edges_from(&keys, EDGES_MAX)?
        .into_iter()
        .filter(|it| it.link_type != "mentions")
        .map(|it| it.target)
        .collect();
    supported.sort_unstable();
    supported.dedup();
    let mut rows = reader.knowledge(&supported)?;
    let clusters: Vec<NodeRowId> = rows
        .iter()
        .filter(|it| it.node_type == NodeType::Fact)
        .filter_map(|it| it.parent)
        .filter(|it| !supported.contains(it))
        .collect();
    rows.extend(reader.knowledge(&clusters)?);
    rows.retain(|it| it.node_type == NodeType::Concept && !it.is_gone() && filter.finds(it));
    rows.sort_by_key(|it| it.key);
    rows.dedup_by_key(|it| it.key);
    let total = rows.len();
    let rows = filter.part(rows);
    let concepts: KnowledgeResult<Vec<Value>> = rows.iter().map(|it| concept(reader, it)).collect();
    Ok(json!({"concepts": concepts?, "total": total}))
}

/// Returns concepts and the edges between them.
pub(crate) fn graph_record(reader: &Reader) -> KnowledgeResult<Value> {
    let rows = all_of(reader, NodeType::Concept)?;
    let links = links_between(reader, &rows, |it| it.id.clone())?;
    let node = |it: &KnowledgeRow| {
        json!({
            "id": it.id,
            "title": it.title(),
            "summary": it.content,
            "confidence": it.number("confidence"),
            "concept_type": it.text("kind"),
            "topic_id": it.text("topic"),
        })
    };
    let nodes: Vec<Value> = rows.iter().map(node).collect();
    Ok(json!({"nodes": nodes, "links": links}))
}

/// Before further lines of a text, so that none of them can be taken for another text.
const INDENT: &str = "    ";

/// Returns what answers a question: concepts with their activation, and a text.
pub(crate) fn query_record(
    reader: &Reader,
    request: &RecallRequest,
    now: UnixMillis,
) -> KnowledgeResult<Value> {
    let (answer, _) = recall(reader, request, now)?;
    let (mut concepts, mut found, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    for item in answer["items"].as_array().into_iter().flatten() {
        let id = item["id"].as_str().unwrap_or_default();
        let Some(row) = reader.knowledge_by_id(id)? else { continue };
        let (title, text) = (to_label(row.title()), to_text_below(&row.content, INDENT));
        lines.push(match row.content == row.title() {
            true => format!("- {text}"),
            false => format!("- {title}: {text}"),
        });
        let facts = item["facts"].as_array().into_iter().flatten();
        let facts = facts.filter_map(|it| it["text"].as_str());
        lines.extend(facts.map(|it| format!("  - {}", to_text_below(it, INDENT))));
        let why = item["why"].as_str().unwrap_or_default();
        match row.node_type {
            NodeType::Concept => concepts.push(json!({
                "concept": concept(reader, &row)?,
                "activation": item["score"],
                "source": if why.contains(['←', '→']) { "spread" } else { "words" },
                "why": why,
            })),
            NodeType::Episode => found.push(row),
            _ => (),
        }
    }
    Ok(json!({
        "concepts": concepts,
        "episodes": episodes(reader, &found)?,
        "formatted": lines.join("\n"),
    }))
}

impl RecordPageRequest {
    fn finds(&self, row: &KnowledgeRow) -> bool {
        let Some(search) = &self.search else { return true };
        let search = search.to_lowercase();
        row.title().to_lowercase().contains(&search) || row.content.to_lowercase().contains(&search)
    }

    fn part(&self, rows: Vec<KnowledgeRow>) -> Vec<KnowledgeRow> {
        rows.into_iter().skip(self.offset).take(self.n_max).collect()
    }
}

fn topic_id(reader: &Reader, filter: &RecordPageRequest) -> KnowledgeResult<Option<String>> {
    let Some(text) = &filter.topic else { return Ok(None) };
    let topic = find_topic(reader, text)?.ok_or_else(|| unknown("topic", text))?;
    Ok(Some(topic.id))
}

fn of_type(reader: &Reader, id: &str, node_type: NodeType) -> KnowledgeResult<KnowledgeRow> {
    let row = Some(node_of_type(reader, id, node_type)?).filter(|it| !it.is_gone());
    row.ok_or_else(|| unknown(node_type.as_str(), id))
}

fn field(row: &KnowledgeRow, key: &str) -> Value {
    row.fields.as_ref().and_then(|it| it.get(key)).cloned().unwrap_or(Value::Null)
}

fn field_or(row: &KnowledgeRow, key: &str, empty: Value) -> Value {
    let value = field(row, key);
    if value.is_null() { empty } else { value }
}

/// Returns the edges between nodes that are sorted by their keys.
pub(super) fn links_between(
    reader: &Reader,
    rows: &[KnowledgeRow],
    name: fn(&KnowledgeRow) -> String,
) -> KnowledgeResult<Vec<Value>> {
    let keys: Vec<NodeRowId> = rows.iter().map(|it| it.key).collect();
    let mut links = Vec::new();
    for edge in reader.typed_edges_from(&keys, EDGES_MAX)? {
        let at = |key| keys.binary_search(&key).ok().and_then(|it| rows.get(it));
        if let (Some(source), Some(target)) = (at(edge.source), at(edge.target)) {
            links.push(json!({
                "source": name(source),
                "target": name(target),
                "type": edge.link_type,
                "strength": edge.strength,
                "context": context_of(source, &edge.link_type, &target.id),
            }));
        }
    }
    Ok(links)
}

fn context_of(source: &KnowledgeRow, link_type: &str, to: &str) -> Value {
    let mut same =
        source.list("links").iter().filter(|it| it["type"] == link_type && it["to"] == to);
    same.next().map_or(Value::Null, |it| it["context"].clone())
}

fn mentioning(reader: &Reader, text: &str) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let entity = entity_of(reader, text)?;
    let edges = reader.typed_edges_to(&keys_of_entity(reader, &entity)?, EDGES_MAX)?;
    let keys: Vec<NodeRowId> = edges.iter().map(|it| it.source).collect();
    let mut rows = reader.knowledge(&keys)?;
    rows.retain(|it| it.node_type == NodeType::Episode && !it.is_gone());
    Ok(rows)
}

/// Returns the episodes that support a concept, eldest first.
fn sources(reader: &Reader, concept: NodeRowId) -> KnowledgeResult<Vec<KnowledgeRow>> {
    let mut edges = reader.typed_edges_to(&[concept], EDGES_MAX)?;
    edges.retain(|it| it.link_type == "supports");
    let keys: Vec<NodeRowId> = edges.iter().map(|it| it.source).collect();
    let mut rows = reader.knowledge(&keys)?;
    rows.retain(|it| it.node_type == NodeType::Episode && !it.is_gone());
    rows.sort_by_key(|it| it.key);
    Ok(rows)
}

pub(super) fn entity(row: &KnowledgeRow) -> Value {
    json!({
        "id": entity_name(row),
        "node_id": row.id,
        "type": row.text("kind").unwrap_or("file"),
        "display_name": row.title(),
        "created_at": record_time(row.time("created_at")),
    })
}

/// Returns when a node was deleted: nothing changes it afterwards.
fn deleted_at(row: &KnowledgeRow) -> Value {
    match row.has("deleted") {
        true => record_time(row.time("updated_at")),
        false => Value::Null,
    }
}

fn concept(reader: &Reader, row: &KnowledgeRow) -> KnowledgeResult<Value> {
    let sources = sources(reader, row.key)?;
    let relation = |it: &Value| {
        json!({
            "type": it["type"],
            "target_id": it["to"],
            "strength": it["strength"].as_f64().unwrap_or(1.0),
            "context": it["context"],
        })
    };
    let relations: Vec<Value> = row.list("links").iter().map(relation).collect();
    let mut facts = reader.facts_below(&[row.key], FACTS_MAX)?;
    let now = last_written(reader)?;
    facts.retain(|it| !it.is_gone() && !it.has_ended(now));
    let specifics: Vec<&str> = facts.iter().map(|it| it.content.as_str()).collect();
    let ids: Vec<&str> = sources.iter().map(|it| it.id.as_str()).collect();
    Ok(json!({
        "id": row.id,
        "title": row.title(),
        "summary": row.content,
        "confidence": row.number("confidence").unwrap_or(0.5),
        "instance_count": ids.len().max(1),
        "created_at": record_time(row.time("created_at")),
        "updated_at": record_time(row.time("updated_at")),
        "relations": relations,
        "source_episodes": ids,
        "conditions": field(row, "conditions"),
        "exceptions": field_or(row, "exceptions", json!([])),
        "tags": field_or(row, "tags", json!([])),
        "labels": field_or(row, "labels", json!({})),
        "topic_id": row.text("topic"),
        "concept_type": row.text("kind"),
        "specifics": specifics,
        "superseded_by": row.text("superseded_by"),
        "deleted_at": deleted_at(row),
    }))
}

fn episodes(reader: &Reader, rows: &[KnowledgeRow]) -> KnowledgeResult<Vec<Value>> {
    let keys: Vec<NodeRowId> = rows.iter().map(|it| it.key).collect();
    let mentioned = mentioned(reader, &keys)?;
    let record = |row: &KnowledgeRow| {
        let of_row = mentioned.iter().filter(|it| it.0 == row.key);
        let entities: Vec<&str> = of_row.map(|it| it.1.as_str()).collect();
        json!({
            "id": row.id,
            "created_at": record_time(row.time("created_at")),
            "updated_at": record_time(row.time("updated_at")),
            "timestamp": record_time(row.time("at")),
            "title": row.text("title"),
            "content": row.content,
            "episode_type": row.text("kind"),
            "entity_ids": entities,
            "consolidated": row.has("processed_in"),
            "confidence": row.number("confidence").unwrap_or(1.0),
            "metadata": field_or(row, "metadata", json!({})),
            "labels": field_or(row, "labels", json!({})),
            "topic_id": row.text("topic"),
            "source_type": row.text("source_type"),
            "asserted_by": row.text("asserted_by"),
            "source_ref": row.text("source_ref"),
            "deleted_at": deleted_at(row),
        })
    };
    Ok(rows.iter().map(record).collect())
}
