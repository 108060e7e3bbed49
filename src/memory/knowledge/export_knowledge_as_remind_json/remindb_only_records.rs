//! Records that Remind has no place for; it ignores them, and an import here reads them.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Value, json};

use super::edges::RemindEdgeLists;
use super::record_ids::{RecordIds, links};
use super::{record_time, value};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::knowledge::entity_resolution::MERGED_MAX;
use crate::model::tree::NodeType;
use crate::store::reader::{FieldFilter, KnowledgeRow, Reader};

/// Takes the fields out of a fact that Remind refuses, and returns them as a record of our own.
pub(super) fn take_own_fields(fact: &mut Value, of_facts: &BTreeSet<String>) -> Value {
    let mut own = json!({"id": fact["id"]});
    for name in ["subject", "deleted_at"] {
        own[name] = fact.as_object_mut().and_then(|it| it.shift_remove(name)).into();
    }
    if fact["superseded_by"].as_str().is_some_and(|it| !of_facts.contains(it)) {
        own["superseded_by"] = fact["superseded_by"].take();
    }
    // To Remind, a fact without an end is current.
    let deleted_at = own["deleted_at"].as_str().map(str::to_owned);
    if let Some(at) = deleted_at.filter(|_| fact["valid_to"].is_null()) {
        own["valid_to"] = Value::Null;
        let end = fact["valid_from"].as_str().map_or(&*at, |it| it.max(&at)).to_owned();
        fact["valid_to"] = end.into();
    }
    // To Remind, what has an end has a beginning.
    if let (None, Some(end)) = (fact["valid_from"].as_str(), fact["valid_to"].as_str()) {
        let began = fact["created_at"].as_str().map_or(end, |it| it.min(end)).to_owned();
        fact["valid_from"] = began.into();
        own["valid_from"] = Value::Null;
    }
    own
}

/// Takes a winner that is no fact out of a conflict, and returns it as a record of our own.
pub(super) fn take_own_winner(conflict: &mut Value, of_facts: &BTreeSet<String>) -> Option<Value> {
    if of_facts.contains(conflict["winning_fact_id"].as_str()?) {
        return None;
    }
    Some(json!({"id": conflict["id"], "winning_fact_id": conflict["winning_fact_id"].take()}))
}

/// Returns conflicts as records of two facts or of concepts, and those of anything else as records
/// of our own, with the ids of what they are between.
pub(super) fn conflicts_of(
    rows: &[KnowledgeRow],
    names: &RecordIds,
    derived: &mut RemindEdgeLists,
) -> (Vec<Value>, Vec<Value>) {
    let (mut conflicts, mut others) = (Vec::new(), Vec::new());
    for row in rows {
        let id = names.own(row);
        let mut ends: Vec<(&str, NodeType)> = Vec::new();
        for link in links(row) {
            match names.record_of(link.to) {
                Some(end) if ends.contains(&end) => (),
                Some(end) => ends.push(end),
                None => derived.n_left_out += 1,
            }
        }
        let disputed: Vec<&str> = ends.iter().map(|it| it.0).collect();
        if !ends.is_empty() && ends.iter().all(|it| it.1 == NodeType::Fact) {
            for nth in 1..disputed.len().max(2) {
                let id = if nth == 1 { id.to_owned() } else { format!("{id}/{nth}") };
                let facts = (disputed.first().copied(), disputed.get(nth).copied());
                conflicts.push(conflict(row, names, (id, "fact"), facts, &[]));
            }
        } else if ends.iter().all(|it| it.1 == NodeType::Concept) {
            let of = (id.to_owned(), "concept");
            conflicts.push(conflict(row, names, of, (None, None), &disputed));
        } else {
            let of = (id.to_owned(), "concept");
            let mut other = conflict(row, names, of, (None, None), &[]);
            other["between"] = disputed.into();
            others.push(other);
        }
    }
    (conflicts, others)
}

fn conflict(
    row: &KnowledgeRow,
    names: &RecordIds,
    (id, kind): (String, &str),
    (fact, other): (Option<&str>, Option<&str>),
    concepts: &[&str],
) -> Value {
    json!({
        "id": id,
        "kind": kind,
        "fact_a_id": fact,
        "fact_b_id": other,
        "concept_ids": Value::from(concepts).to_string(),
        "description": row.content,
        "severity": row.text("severity"),
        "status": row.text("conflict"),
        "created_at": record_time(row.time("created_at")),
        "resolved_at": record_time(row.time("resolved_at")),
        "resolution_note": value(row, "note"),
        "resolved_by": null,
        "winning_fact_id": row.text("winner").and_then(|it| names.of(it)),
    })
}

/// Returns a topic, with the hashes of all names by which it is found.
pub(super) fn topic(row: &KnowledgeRow) -> Value {
    json!({
        "id": row.title(),
        "name": row.title(),
        "description": row.content,
        "name_hashes": row.list("names"),
    })
}

/// Returns the concepts that were merged into others, each with the one that stands for it.
pub(super) fn merged_concepts(reader: &Reader, names: &RecordIds) -> KnowledgeResult<Vec<Value>> {
    let of_type = FieldFilter::text("type", NodeType::Concept.as_str());
    let concepts = reader.knowledge(&reader.nodes_with(&[of_type])?)?;
    let into: HashMap<&str, &str> =
        concepts.iter().filter_map(|it| Some((&*it.id, it.text("merged_into")?))).collect();
    let mut merged = Vec::with_capacity(into.len());
    for row in concepts.iter().filter(|it| it.has("merged_into")) {
        let mut standing = row.id.as_str();
        for _ in 0..MERGED_MAX {
            standing = into.get(standing).copied().unwrap_or(standing);
        }
        merged.push(json!({
            "id": row.text("origin").unwrap_or(&row.id),
            "title": row.title(),
            "summary": row.content,
            "concept_type": value(row, "kind"),
            "merged_into": names.of(standing),
            "created_at": record_time(row.time("created_at")),
            "updated_at": record_time(row.time("updated_at")),
        }));
    }
    Ok(merged)
}
