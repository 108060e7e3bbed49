//! Records that Remind has no place for; it ignores them, and an import here reads them.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::record_ids::RecordIds;
use super::{list, record_time, value};
use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::knowledge::entity_resolution::MERGED_MAX;
use crate::model::tree::NodeType;
use crate::store::reader::{FieldFilter, KnowledgeRow, Reader};

/// Takes the fields out of a fact that Remind refuses, and returns them as a record of our own.
pub(super) fn take_own_fields(fact: &mut Value) -> Value {
    let mut own = json!({"id": fact["id"]});
    for name in ["subject", "deleted_at"] {
        own[name] = fact.as_object_mut().and_then(|it| it.shift_remove(name)).into();
    }
    // To Remind, what has an end has a beginning.
    if let (None, Some(end)) = (fact["valid_from"].as_str(), fact["valid_to"].as_str()) {
        let began = fact["created_at"].as_str().map_or(end, |it| it.min(end)).to_owned();
        fact["valid_from"] = began.into();
        own["valid_from"] = Value::Null;
    }
    own
}

/// Returns a topic, with the hashes of all names by which it is found.
pub(super) fn topic(row: &KnowledgeRow) -> Value {
    json!({
        "id": row.title(),
        "name": row.title(),
        "description": row.content,
        "name_hashes": list(row, "names"),
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
