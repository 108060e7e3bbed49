//! Changes of a memory's fields: put over what there is, and told by name.

use serde_json::{Map, Value};

use super::request::FieldChanges;
use super::typed_memory::DEFAULT_STATUS;
use crate::model::clock::UnixMillis;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::IMPORTANCES;

/// Fields that a call can change, in the order in which answers name them; the content comes first.
const CHANGING: [&str; 5] = ["category", "tags", "importance", "archived", "task_metadata"];

/// Merges new values into fields. A task is given a status, and the time of its completion follows
/// that.
pub(super) fn apply(
    changes: &FieldChanges,
    memory_type: NodeType,
    fields: &mut Map<String, Value>,
    now: UnixMillis,
) {
    if let Some(category) = &changes.category {
        fields.insert("category".to_owned(), category.as_str().into());
    }
    if let Some(tags) = &changes.tags {
        // No tags are no member.
        let value = if tags.is_empty() { Value::Null } else { tags.clone().into() };
        fields.insert("tags".to_owned(), value);
    }
    let importance = fields.get("importance").and_then(Value::as_str).unwrap_or(IMPORTANCES[1]);
    let importance = changes.importance.as_deref().unwrap_or(importance).to_owned();
    fields.insert("importance".to_owned(), importance.into());
    if let Some(archived) = changes.archived {
        let value = if archived { Value::Bool(true) } else { Value::Null };
        fields.insert("archived".to_owned(), value);
    }
    if memory_type == NodeType::Task {
        let old = fields.get("task_metadata").and_then(Value::as_object);
        let given = changes.task_metadata.as_ref();
        fields.insert("task_metadata".to_owned(), merged(old, given, now).into());
    }
}

fn merged(
    old: Option<&Map<String, Value>>,
    given: Option<&Map<String, Value>>,
    now: UnixMillis,
) -> Map<String, Value> {
    let mut merged = old.cloned().unwrap_or_default();
    merged.extend(given.into_iter().flatten().map(|(key, it)| (key.clone(), it.clone())));
    let status = merged.entry("status").or_insert_with(|| DEFAULT_STATUS.into());
    if status == "completed" {
        merged.entry("completed_at").or_insert_with(|| now.0.into());
    } else {
        merged.shift_remove("completed_at");
    }
    merged
}

/// Returns the names of what differs.
pub(super) fn differing(
    before: &CanonicalFields,
    after: &CanonicalFields,
    is_reworded: bool,
) -> Vec<&'static str> {
    let fields = CHANGING.into_iter().filter(|it| before.get(it) != after.get(it));
    is_reworded.then_some("content").into_iter().chain(fields).collect()
}
