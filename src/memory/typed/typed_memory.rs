//! A memory as clients see it.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::request::texts;
use crate::model::clock::UnixMillis;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::{IMPORTANCES, STATUSES, TASK_METADATA};
use crate::store::reader::{AccessStats, TypedNode};

/// The importance of a memory that says none.
const IMPORTANCE: &str = IMPORTANCES[1];

/// The category of a memory that says none and is no task.
pub(super) const NO_CATEGORY: &str = "other";

/// The status of a task that says none.
pub(super) const DEFAULT_STATUS: &str = STATUSES[1];

/// Writes the memory in the order of keys that clients expect.
impl Serialize for TypedMemory {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        map.serialize_entry("type", self.memory_type.as_str())?;
        map.serialize_entry("content", &self.content)?;
        map.serialize_entry("category", &self.category)?;
        map.serialize_entry("created_at", &self.created_at.to_second())?;
        map.serialize_entry("updated_at", &self.updated_at.to_second())?;
        map.serialize_entry("accessed_at", &self.accessed_at.to_second())?;
        map.serialize_entry("access_count", &self.access_count)?;
        map.serialize_entry("tags", &self.tags)?;
        map.serialize_entry("importance", &self.importance)?;
        map.serialize_entry("archived", &self.archived)?;
        if let Some(metadata) = &self.task_metadata {
            map.serialize_entry("task_metadata", &TaskMetadataJson(metadata))?;
        }
        map.end()
    }
}

/// Writes the metadata of a task in the order of its table.
struct TaskMetadataJson<'a>(&'a Map<String, Value>);

impl Serialize for TaskMetadataJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for key in TASK_METADATA {
            let Some(value) = self.0.get(key.name) else { continue };
            match (key.name, value.as_i64()) {
                ("completed_at", Some(at)) => {
                    map.serialize_entry(key.name, &UnixMillis(at).to_second())?;
                }
                _ => map.serialize_entry(key.name, value)?,
            }
        }
        map.end()
    }
}

/// Holds a memory of one of the three types.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TypedMemory {
    /// UUID.
    pub(crate) id: String,
    pub(crate) memory_type: NodeType,
    pub(crate) content: String,
    /// As given, else `other`, and of a task its status.
    pub(crate) category: String,
    pub(crate) created_at: UnixMillis,
    pub(crate) updated_at: UnixMillis,
    /// When it was last read; when it was made, if it never was.
    pub(crate) accessed_at: UnixMillis,
    pub(crate) access_count: u64,
    pub(crate) tags: Vec<String>,
    pub(crate) importance: String,
    pub(crate) archived: bool,
    /// Of a task.
    pub(crate) task_metadata: Option<Map<String, Value>>,
}

impl TypedMemory {
    /// Returns the memory that a node is.
    pub(crate) fn of(node: &TypedNode) -> TypedMemory {
        TypedMemory::new(node.node_type, &node.content, &node.fields, node.access)
    }

    pub(super) fn new(
        memory_type: NodeType,
        content: &str,
        fields: &CanonicalFields,
        access: AccessStats,
    ) -> TypedMemory {
        let text = |key: &str| fields.get(key).and_then(Value::as_str).map(str::to_owned);
        let time = |key: &str| fields.get(key).and_then(Value::as_i64).map(UnixMillis);
        let is_task = memory_type == NodeType::Task;
        let metadata = fields.get("task_metadata").and_then(Value::as_object);
        let status = metadata.and_then(|it| it.get("status")).and_then(Value::as_str);
        let default = if is_task { status.unwrap_or(DEFAULT_STATUS) } else { NO_CATEGORY };
        let created_at = time("created_at").unwrap_or(UnixMillis(0));
        TypedMemory {
            id: text("uuid").unwrap_or_default(),
            memory_type,
            content: content.to_owned(),
            category: text("category").unwrap_or_else(|| default.to_owned()),
            created_at,
            updated_at: time("updated_at").unwrap_or(created_at),
            accessed_at: access.accessed_at.map_or(created_at, UnixMillis),
            access_count: access.access_count,
            tags: fields.get("tags").map(texts).unwrap_or_default(),
            importance: text("importance").unwrap_or_else(|| IMPORTANCE.to_owned()),
            archived: fields.get("archived") == Some(&Value::Bool(true)),
            task_metadata: is_task.then(|| metadata.cloned().unwrap_or_default()),
        }
    }

    /// Returns the memory in the order of keys that clients expect.
    pub(crate) fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("keys are texts, and values are what JSON has")
    }

    /// Returns the memory as a text that is the same after an access.
    pub(super) fn without_accesses(&self) -> String {
        let mut json = self.to_json();
        json["accessed_at"].take();
        json["access_count"].take();
        json.to_string()
    }

    fn metadata(&self, key: &str) -> Option<&Value> {
        self.task_metadata.as_ref()?.get(key)
    }

    /// Returns the status of a task; of another memory, that of a task which says none.
    pub(crate) fn status(&self) -> &str {
        self.metadata("status").and_then(Value::as_str).unwrap_or(DEFAULT_STATUS)
    }

    /// Returns when a task was completed.
    pub(crate) fn completed_at(&self) -> Option<UnixMillis> {
        self.metadata("completed_at").and_then(Value::as_i64).map(UnixMillis)
    }

    /// Returns a value to sort by a time: equal ones are in the order of being made, then of ids.
    pub(super) fn recency(&self, at: UnixMillis) -> (UnixMillis, UnixMillis, String) {
        (at, self.created_at, self.id.clone())
    }

    /// Returns how much it matters: 0 most.
    pub(crate) fn importance_rank(&self) -> usize {
        IMPORTANCES.iter().position(|it| *it == self.importance).unwrap_or(IMPORTANCES.len())
    }
}
