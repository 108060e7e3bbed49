//! Documents of one concept and one entity, with everything that is connected.

use serde_json::{Map, Value, json};

use super::{EDGES_MAX, aliases, concept_line, entity_name, last_written};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::knowledge::deleted_flag_in_json::marked_if_deleted;
use crate::memory::knowledge::recall::{entity_of, keys_of_entity, node_of_type};
use crate::model::clock::UnixMillis;
use crate::model::tree::NodeType;
use crate::store::NodeRowId;
use crate::store::reader::{KnowledgeRow, Reader, TypedEdge};

/// Facts of one cluster, at most.
const FACTS_MAX: usize = 10_000;

/// Returns a concept with its fields, facts, sources, evidence and edges both ways.
pub(crate) fn concept_document(reader: &Reader, id: &str) -> KnowledgeResult<Value> {
    let concept = node_of_type(reader, id, NodeType::Concept)?;
    if let Some(into) = concept.text("merged_into") {
        return Ok(json!({"id": concept.id, "merged_into": into}));
    }
    let mut document = fields(&concept);
    document.insert("id".to_owned(), concept.id.as_str().into());
    document.insert("title".to_owned(), concept.title().into());
    document.insert("summary".to_owned(), concept.content.as_str().into());
    let facts = reader.facts_below(&[concept.key], FACTS_MAX)?;
    let marked: Vec<NodeRowId> =
        facts.iter().filter(|it| it.has("contested")).map(|it| it.key).collect();
    let contested = reader.contested_among(&marked, last_written(reader)?)?;
    let line = |it: &KnowledgeRow| fact_line(it, contested.contains(&it.key));
    let facts: Vec<Value> = facts.iter().filter(|it| !it.has("merged_into")).map(line).collect();
    document.insert("facts".to_owned(), facts.into());
    let (to, from) = ends(reader, &[concept.key])?;
    let (mut sources, mut evidence, mut links_in) = (Vec::new(), Vec::new(), Vec::new());
    for (edge, row) in &to {
        match (row.node_type, edge.link_type.as_str()) {
            (NodeType::Episode, "supports") => sources.push(episode_line(row)),
            (NodeType::Episode, _) => evidence.push(edge_line(edge, row)),
            _ => links_in.push(edge_line(edge, row)),
        }
    }
    let links: Vec<Value> = from.iter().map(|(edge, row)| edge_line(edge, row)).collect();
    document.insert("sources".to_owned(), sources.into());
    document.insert("evidence".to_owned(), evidence.into());
    document.insert("links".to_owned(), links.into());
    document.insert("links_in".to_owned(), links_in.into());
    document.entry("labels").or_insert_with(|| Map::new().into());
    Ok(document.into())
}

/// Returns an entity with its relations, episodes and concepts.
pub(crate) fn entity_document(reader: &Reader, text: &str) -> KnowledgeResult<Value> {
    let entity = entity_of(reader, text)?;
    if let Some(into) = entity.text("merged_into") {
        return Ok(json!({"id": entity.id, "merged_into": into}));
    }
    let (to, from) = ends(reader, &keys_of_entity(reader, &entity)?)?;
    let (mut relations, mut episodes, mut concepts) = (Vec::new(), Vec::new(), Vec::new());
    for (edge, row) in &to {
        match row.node_type {
            NodeType::Episode => episodes.push(episode_line(row)),
            NodeType::Concept => concepts.push(concept_line(row)),
            NodeType::Fact => {
                let cluster: Vec<NodeRowId> = row.parent.into_iter().collect();
                concepts.extend(reader.knowledge(&cluster)?.iter().map(concept_line));
            }
            _ => relations.push(edge_line(edge, row)),
        }
    }
    concepts.sort_by_key(|it| it["id"].to_string());
    concepts.dedup();
    relations.extend(from.iter().map(|(edge, row)| edge_line(edge, row)));
    Ok(json!({
        "id": entity.id,
        "name": entity.title(),
        "type": entity.text("kind").unwrap_or("file"),
        "aliases": aliases(&entity),
        "relations": relations,
        "episodes": episodes,
        "concepts": concepts,
    }))
}

/// An edge with the node at its other end.
type EdgeWithNode = (TypedEdge, KnowledgeRow);

/// Returns the edges that lead to nodes and those that begin at them, without nodes that are gone.
fn ends(
    reader: &Reader,
    keys: &[NodeRowId],
) -> KnowledgeResult<(Vec<EdgeWithNode>, Vec<EdgeWithNode>)> {
    let with_rows = |edges: Vec<TypedEdge>,
                     other: fn(&TypedEdge) -> NodeRowId|
     -> KnowledgeResult<_> {
        let keys: Vec<NodeRowId> = edges.iter().map(other).collect();
        let rows = reader.knowledge(&keys)?;
        let end = |edge: TypedEdge| {
            let row = rows.iter().find(|it| it.key == other(&edge)).filter(|it| !it.is_gone())?;
            Some((edge, row.clone()))
        };
        Ok(edges.into_iter().filter_map(end).collect::<Vec<EdgeWithNode>>())
    };
    let to = with_rows(reader.typed_edges_to(keys, EDGES_MAX)?, |it| it.source)?;
    let from = with_rows(reader.typed_edges_from(keys, EDGES_MAX)?, |it| it.target)?;
    Ok((to, from))
}

/// Returns the fields of a node apart from its edges, times as clients see them.
fn fields(row: &KnowledgeRow) -> Map<String, Value> {
    let mut shown = Map::new();
    for (key, value) in row.fields.iter().flat_map(|it| it.object()) {
        let is_time = key.ends_with("_at");
        match value.as_i64() {
            _ if ["links", "unlinked", "names", "subject"].contains(&key.as_str()) => (),
            Some(at) if is_time => {
                shown.insert(key.clone(), UnixMillis(at).to_second().into());
            }
            _ => {
                shown.insert(key.clone(), value.clone());
            }
        }
    }
    shown
}

fn fact_line(fact: &KnowledgeRow, is_contested: bool) -> Value {
    let shown = json!({
        "id": fact.id,
        "text": fact.content,
        "subject": fact.text("subject"),
        "attribute": fact.text("attribute"),
        "valid_from": fact.time("valid_from").map(UnixMillis::to_second),
        "valid_to": fact.time("valid_to").map(UnixMillis::to_second),
        "contested": is_contested,
        "superseded_by": fact.text("superseded_by"),
    });
    marked_if_deleted(fact, shown)
}

fn episode_line(episode: &KnowledgeRow) -> Value {
    json!({
        "id": episode.id,
        "kind": episode.text("kind"),
        "title": episode.title(),
        "at": episode.time("at").map(UnixMillis::to_second),
    })
}

fn edge_line(edge: &TypedEdge, row: &KnowledgeRow) -> Value {
    let title = match row.node_type {
        NodeType::Entity => entity_name(row),
        _ => row.title().to_owned(),
    };
    json!({"id": row.id, "title": title, "type": edge.link_type, "strength": edge.strength})
}
