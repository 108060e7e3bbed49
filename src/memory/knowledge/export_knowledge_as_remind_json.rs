//! Exports knowledge in the form of Remind, version 4: one JSON object with a list of records for
//! each kind.
//!
//! A record has the id that it was imported with, else that of its node. Topics become the label
//! `topic`. What Remind has no place for stands beside its lists.

mod edges;
mod record_ids;
mod remindb_only_records;

use std::collections::{BTreeSet, HashMap};
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::arguments::KnowledgeResult;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::name_key;
use crate::model::node_fields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::FACT_CLUSTER;
use crate::store::reader::{KnowledgeRow, Reader};
use edges::RemindEdgeLists;
use record_ids::{RecordIds, rows};
use remindb_only_records::{
    conflicts_of, merged_concepts, take_own_fields, take_own_winner, topic,
};

/// Numbers of what was exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExportCounts {
    pub(crate) n_episodes: usize,
    pub(crate) n_concepts: usize,
    pub(crate) n_merged_concepts: usize,
    pub(crate) n_facts: usize,
    pub(crate) n_topics: usize,
    pub(crate) n_entities: usize,
    /// Conflicts, not the pairs of facts that they are written as.
    pub(crate) n_conflicts: usize,
    /// Edges to nodes that no record is of.
    pub(crate) n_left_out: usize,
}

/// Writes everything on one state of the memory.
pub(crate) fn export_remind(
    reader: &Reader,
    out: &mut dyn Write,
) -> Result<Result<ExportCounts, io::Error>, crate::memory::typed::MemoryError> {
    let names = RecordIds::read(reader)?;
    let mut derived = RemindEdgeLists::default();
    let episodes = rows(reader, NodeType::Episode)?;
    let episodes: Vec<Value> =
        episodes.iter().map(|it| episode(it, &names, &mut derived)).collect();
    let mut facts = facts(reader, &names, &mut derived)?;
    let concepts = concepts(reader, &names, &mut derived, &facts)?;
    let entities = rows(reader, NodeType::Entity)?;
    let mut entities: Vec<Value> =
        entities.iter().filter_map(|it| entity(it, &names, &mut derived)).collect();
    // An entity of a path that was compiled later has the id of the file.
    let known: BTreeSet<String> =
        entities.iter().filter_map(|it| it["id"].as_str().map(str::to_owned)).collect();
    let files = names.files.iter().filter(|it| !known.contains(it.0));
    entities.extend(files.map(|(id, title)| entity_record(id, "file", title, None)));
    let conflicts = rows(reader, NodeType::Conflict)?;
    let n_conflicts = conflicts.len();
    let (mut conflicts, other_conflicts) = conflicts_of(&conflicts, &names, &mut derived);
    let topics = rows(reader, NodeType::Topic)?;
    let topics: Vec<Value> = topics.iter().filter(|it| !it.is_gone()).map(topic).collect();
    let merged = merged_concepts(reader, &names)?;
    let counts = ExportCounts {
        n_episodes: episodes.len(),
        n_concepts: concepts.len(),
        n_merged_concepts: merged.len(),
        n_facts: facts.len(),
        n_topics: topics.len(),
        n_entities: entities.len(),
        n_conflicts,
        n_left_out: derived.n_left_out,
    };
    let of_facts: BTreeSet<String> =
        facts.iter().filter_map(|it| it["id"].as_str().map(str::to_owned)).collect();
    let fact_fields = facts.iter_mut().map(|it| take_own_fields(it, &of_facts)).collect();
    let conflict_fields =
        conflicts.iter_mut().filter_map(|it| take_own_winner(it, &of_facts)).collect();
    let RemindEdgeLists { mentions, evidence, relations, entity_relations, labels, .. } = derived;
    let lists = [
        ("entities", entities),
        ("concepts", concepts),
        ("episodes", episodes),
        ("facts", facts),
        ("conflicts", conflicts),
        ("evidence", evidence),
        ("relations", relations),
        ("mentions", mentions),
        ("entity_relations", entity_relations),
        ("labels", labels),
        ("events", Vec::new()),
        ("metadata", Vec::new()),
    ];
    let own_lists = [
        ("topics", topics),
        ("merged_concepts", merged),
        ("edges", derived.own_edges),
        ("other_conflicts", other_conflicts),
        ("fact_fields", fact_fields),
        ("conflict_fields", conflict_fields),
    ];
    Ok(write(out, &lists, &own_lists).map(|()| counts))
}

/// Writes the lists of Remind, and beside them those of our own, which it ignores there.
fn write(
    out: &mut dyn Write,
    lists: &[(&str, Vec<Value>)],
    own_lists: &[(&str, Vec<Value>)],
) -> io::Result<()> {
    write!(out, "{{\"version\":4,\"mode\":\"portable\",\"records\":{{")?;
    for (nth, (name, list)) in lists.iter().enumerate() {
        write!(out, "{}\n\"{name}\":[", if nth == 0 { "" } else { "," })?;
        for (nth, record) in list.iter().enumerate() {
            write!(out, "{}\n{record}", if nth == 0 { "" } else { "," })?;
        }
        write!(out, "]")?;
    }
    writeln!(out, "}},")?;
    for (name, list) in own_lists {
        writeln!(out, "\"{name}\":{},", Value::from(list.as_slice()))?;
    }
    // Without this, its times would be read as local ones.
    writeln!(out, "\"time_zone\":\"UTC\",")?;
    // Readers of version 3 look for these.
    writeln!(out, "\"concepts\":[],\"episodes\":[],\"entities\":[]}}")?;
    out.flush()
}

/// Returns a time as Remind writes it, in UTC.
pub(super) fn record_time(at: Option<UnixMillis>) -> Value {
    let shown = |it: UnixMillis| {
        let second = it.to_second();
        format!("{}.{:03}", second.trim_end_matches('Z'), it.0.rem_euclid(1_000))
    };
    at.map(shown).into()
}

fn value(row: &KnowledgeRow, key: &str) -> Value {
    row.fields.as_ref().and_then(|it| it.get(key)).cloned().unwrap_or(Value::Null)
}

/// Returns the id of what replaced a node.
fn superseded_by(row: &KnowledgeRow, names: &RecordIds) -> Value {
    row.text("superseded_by").and_then(|it| names.of(it)).into()
}

fn deleted_at(row: &KnowledgeRow) -> Value {
    record_time(row.time("updated_at").filter(|_| row.has("deleted")))
}

/// Returns the labels of a node, first its topic, and notes them as rows.
fn labels(row: &KnowledgeRow, names: &RecordIds, derived: &mut RemindEdgeLists) -> Value {
    let mut labels = match value(row, "labels") {
        Value::Object(it) => it,
        _ => Map::new(),
    };
    if let Some(topic) = topic_of(row, names).as_str() {
        let others = node_fields::list(&labels, "topic").iter().filter(|it| *it != topic).cloned();
        let all: Vec<Value> = std::iter::once(topic.into()).chain(others).collect();
        labels.insert("topic".to_owned(), all.into());
    }
    for (key, values) in &labels {
        for value in values.as_array().into_iter().flatten() {
            derived.labels.push(json!({
                "subject_type": row.node_type.as_str(),
                "subject_id": names.own(row),
                "key": key,
                "value": value,
            }));
        }
    }
    labels.into()
}

/// Returns the name of the topic of a node.
fn topic_of(row: &KnowledgeRow, names: &RecordIds) -> Value {
    row.text("topic").and_then(|it| names.topics.get(it)).map(String::as_str).into()
}

fn episode(row: &KnowledgeRow, names: &RecordIds, derived: &mut RemindEdgeLists) -> Value {
    let id = names.own(row).to_owned();
    let entities = derived.add_edges(row, names);
    let labels = labels(row, names, derived);
    let metadata = match value(row, "metadata") {
        Value::Null => json!({}),
        other => other,
    };
    let at = record_time(row.time("at"));
    let data = json!({
        "id": id,
        "created_at": record_time(row.time("created_at")),
        "updated_at": record_time(row.time("updated_at")),
        "timestamp": at,
        "title": value(row, "title"),
        "content": row.content,
        "episode_type": row.text("kind"),
        "summary": null,
        "concepts_activated": [],
        "entity_ids": entities,
        "consolidated": row.has("processed_in"),
        "entities_extracted": true,
        "relations_extracted": false,
        "confidence": row.number("confidence").unwrap_or(1.0),
        "metadata": metadata,
        "labels": labels,
        "topic_id": topic_of(row, names),
        "source_type": value(row, "source_type"),
        "asserted_by": value(row, "asserted_by"),
        "source_ref": value(row, "source_ref"),
        "superseded_by": superseded_by(row, names),
        "superseded_at": record_time(row.time("superseded_at")),
        "deleted_at": deleted_at(row),
    });
    json!({
        "id": id,
        "title": data["title"],
        "content": row.content,
        "episode_type": row.text("kind"),
        "deleted_at": deleted_at(row),
        "consolidated": row.has("processed_in"),
        "timestamp": at,
        "data": data,
    })
}

fn facts(
    reader: &Reader,
    names: &RecordIds,
    derived: &mut RemindEdgeLists,
) -> KnowledgeResult<Vec<Value>> {
    let clusters = rows(reader, NodeType::Concept)?;
    let clusters: HashMap<_, &str> = clusters.iter().map(|it| (it.key, names.own(it))).collect();
    let mut facts = Vec::new();
    for row in rows(reader, NodeType::Fact)? {
        let Some(cluster) = row.parent.and_then(|it| clusters.get(&it)) else { continue };
        let id = names.own(&row);
        let entities = derived.add_edges(&row, names);
        labels(&row, names, derived);
        derived.entities.entry((*cluster).to_owned()).or_default().extend(entities.clone());
        facts.push(json!({
            "id": id,
            "cluster_id": cluster,
            "statement": row.content,
            "subject": value(&row, "subject"),
            "attribute": value(&row, "attribute"),
            "entity_ids": Value::from(entities).to_string(),
            "valid_from": record_time(row.time("valid_from")),
            "valid_to": record_time(row.time("valid_to")),
            "deleted_at": deleted_at(&row),
            "superseded_by": superseded_by(&row, names),
            "asserted_by": value(&row, "asserted_by"),
            "source_ref": value(&row, "source_ref"),
            "source_episode_id": derived.sources.get(id).and_then(|it| it.first()),
            "created_at": record_time(row.time("created_at")),
        }));
    }
    Ok(facts)
}

fn concepts(
    reader: &Reader,
    names: &RecordIds,
    derived: &mut RemindEdgeLists,
    facts: &[Value],
) -> KnowledgeResult<Vec<Value>> {
    let mut statements: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut subjects: HashMap<&str, &str> = HashMap::new();
    for fact in facts {
        if let (Some(cluster), Some(subject)) =
            (fact["cluster_id"].as_str(), fact["subject"].as_str())
        {
            subjects.entry(cluster).or_insert(subject);
        }
    }
    let is_current = |it: &&Value| it["valid_to"].is_null() && it["deleted_at"].is_null();
    for fact in facts.iter().filter(is_current) {
        if let (Some(cluster), Some(text)) =
            (fact["cluster_id"].as_str(), fact["statement"].as_str())
        {
            statements.entry(cluster).or_default().push(text);
        }
    }
    let mut concepts = Vec::new();
    for row in rows(reader, NodeType::Concept)? {
        let subject = subjects.get(names.own(&row)).copied();
        concepts.push(concept(&row, names, derived, (&statements, subject)));
    }
    Ok(concepts)
}

fn concept(
    row: &KnowledgeRow,
    names: &RecordIds,
    derived: &mut RemindEdgeLists,
    (statements, subject): (&HashMap<&str, Vec<&str>>, Option<&str>),
) -> Value {
    let id = names.own(row).to_owned();
    let n_before = derived.relations.len();
    derived.add_edges(row, names);
    let mut relations = derived.relations[n_before..].to_vec();
    for relation in relations.iter_mut().filter_map(Value::as_object_mut) {
        relation.shift_remove("source_id");
    }
    let labels = labels(row, names, derived);
    let sources = derived.sources.get(&id).cloned().unwrap_or_default();
    let metadata = value(row, "metadata");
    let specifics = match row.text("kind") {
        Some(FACT_CLUSTER) => statements.get(id.as_str()).map_or(String::new(), |it| it.join("\n")),
        _ => String::new(),
    };
    let created = record_time(row.time("created_at"));
    let updated = record_time(row.time("updated_at"));
    let data = json!({
        "id": id,
        "title": row.title(),
        "summary": row.content,
        "confidence": row.number("confidence").unwrap_or(0.5),
        "instance_count": sources.len().max(1),
        "created_at": created,
        "updated_at": updated,
        "relations": relations,
        "source_episodes": sources,
        "conditions": value(row, "conditions"),
        "exceptions": row.list("exceptions"),
        "tags": row.list("tags"),
        "labels": labels,
        "topic_id": topic_of(row, names),
        "deleted_at": deleted_at(row),
        "concept_type": row.text("kind"),
        "subject": subject.filter(|_| row.has("subject")),
        "specifics": specifics,
        "evidence": metadata.get("evidence").cloned().unwrap_or_else(|| json!([])),
        "actionable": metadata.get("actionable").cloned().unwrap_or(Value::Bool(true)),
        "conflicts": [],
        "entity_ids": derived.entities.get(&id).cloned().unwrap_or_default(),
        "parent_id": null,
        "lineage_note": value(row, "note"),
        "superseded_by": superseded_by(row, names),
        "superseded_at": record_time(row.time("superseded_at")),
    });
    json!({
        "id": id,
        "title": row.title(),
        "summary": row.content,
        "search_text": format!("{} {}", row.title(), row.content),
        "deleted_at": deleted_at(row),
        "created_at": created,
        "updated_at": updated,
        "data": data,
    })
}

fn entity(row: &KnowledgeRow, names: &RecordIds, derived: &mut RemindEdgeLists) -> Option<Value> {
    let id = names.of(&row.id)?.to_owned();
    derived.add_edges(row, names);
    let kind = row.text("kind").unwrap_or("other");
    let mut record = entity_record(&id, kind, row.title(), row.time("created_at"));
    let is_alias = |it: &&str| {
        let key = Value::from(name_key(it));
        key != name_key(row.title()) && row.list("names").contains(&key)
    };
    let aliases: Vec<&str> = row.content.lines().filter(is_alias).collect();
    if !aliases.is_empty() {
        record["data"]["metadata"]["aliases"] = aliases.into();
    }
    Some(record)
}

fn entity_record(id: &str, kind: &str, name: &str, created: Option<UnixMillis>) -> Value {
    let created = record_time(created);
    json!({
        "id": id,
        "type": kind,
        "display_name": name,
        "created_at": created,
        "data": {
            "id": id,
            "type": kind,
            "display_name": name,
            "created_at": created,
            "metadata": {},
        },
    })
}
