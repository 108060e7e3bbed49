//! Typed memories: core facts, learnings and tasks that an agent stores, queries, updates and
//! deletes by UUID.
//!
//! A memory is a node below `@memories/<folder>/<month>`, whose `fields` say what is not text. One
//! call is at most one snapshot. What a query or an update returns counts one access, which is
//! heat: no snapshot, and no rollback undoes it. Requests are read from JSON arguments by
//! [`StoreRequest::parse`] and its like; `to_json` of results and errors is what clients get.

mod agent_memory_format_export;
mod collection_resources;
mod custom_view_writes;
mod custom_views;
mod error;
mod field_update_and_diff;
mod import;
mod jsonl;
mod query;
mod request;
mod retention_archiving;
mod stats;
mod typed_memory;

use serde_json::{Map, Value, json};

pub(crate) use agent_memory_format_export::{MemoryExportLayout, PlannedExportFile};
pub(crate) use collection_resources::{CollectionFilter, CollectionName, SHOWN_MAX};
pub(crate) use custom_view_writes::DefineViewOutcome;
pub(crate) use custom_views::{CustomView, check_view_name, parse_conditions};
pub(crate) use error::{ErrorCode, MemoryError};
pub(crate) use import::MemoryImportReport;
#[cfg(any(test, fuzzing))]
pub(crate) use jsonl::NumberedLine;
pub(crate) use jsonl::{ARCHIVE, FILES, INDEX, LineDefaults, read_lines};
pub(crate) use query::{MemoryPage, list_memories};
#[allow(unused_imports, reason = "tools and resources are built on it")]
pub(crate) use request::{
    DeleteMode, DeleteRequest, FieldChanges, QueryRequest, SORT_KEYS, SORT_ORDERS, SortDirection,
    SortKey, StoreRequest, UpdateRequest, check_no_arguments,
};
pub(crate) use retention_archiving::ArchiveOrDryRun;
pub(crate) use stats::MemoryStats;
pub(crate) use typed_memory::TypedMemory;

use super::Memory;
use super::edits::forget_all;
use crate::model::clock::UnixMillis;
use crate::model::identity::NodeId;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::{ContentFormat, NodeType};
use crate::model::typed_node_field_schemas::{MEMORIES_ROOT, TypedNodeSchema};
use crate::query::AccessKind;
use crate::store::reader::unreadable;
use crate::store::{
    Batch, FIELDS, NodeRecord, NodeRowId, OptionalColumnValue, OptionalColumnValues, StoreError,
    UnplacedNodeData,
};
use crate::text;
use crate::text::tokens;

/// UUIDs that an error suggests, at most.
const SUGGESTIONS_MAX: usize = 5;

/// Holds what storing did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoreOutcome {
    /// Whether the memory is new.
    pub(crate) created: bool,
    pub(crate) memory: TypedMemory,
    pub(crate) snapshot: Option<i64>,
}

/// Holds what an update did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UpdateOutcome {
    pub(crate) memory: TypedMemory,
    /// Names of fields that differ now.
    pub(crate) updated_fields: Vec<&'static str>,
    pub(crate) snapshot: Option<i64>,
}

/// Holds what deleting did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DeleteOutcome {
    pub(crate) id: String,
    pub(crate) fate: DeleteMode,
    pub(crate) snapshot: Option<i64>,
}

impl StoreOutcome {
    /// Returns the answer of `store_memory`.
    pub(crate) fn to_json(&self) -> Value {
        json!({"id": self.memory.id, "created": self.created, "memory": self.memory.to_json()})
    }
}

impl UpdateOutcome {
    /// Returns the answer of `update_memory`.
    pub(crate) fn to_json(&self) -> Value {
        json!({"memory": self.memory.to_json(), "updated_fields": self.updated_fields})
    }
}

impl DeleteOutcome {
    /// Returns the answer of `delete_memory`.
    pub(crate) fn to_json(&self) -> Value {
        let action = match self.fate {
            DeleteMode::Archive => "archived",
            DeleteMode::Permanent => "deleted",
        };
        json!({"success": true, "action": action, "id": self.id})
    }
}

impl MemoryPage {
    /// Returns the answer of `query_memories`.
    pub(crate) fn to_json(&self) -> Value {
        let memories: Vec<Value> = self.memories.iter().map(TypedMemory::to_json).collect();
        json!({
            "memories": memories,
            "total": self.total,
            "limit": self.limit,
            "offset": self.offset,
            "has_more": self.has_more,
        })
    }
}

impl Memory {
    /// Stores a memory, unless an equal one is there that is not archived; with an id, updates it.
    pub(crate) fn store_memory(&self, request: StoreRequest) -> Result<StoreOutcome, MemoryError> {
        let StoreRequest { id, memory_type, content, changes } = request;
        if let Some(id) = id {
            let change = UpdateRequest { id, content: Some(content), changes };
            let UpdateOutcome { memory, snapshot, .. } =
                self.change_memory(change, Some(memory_type))?;
            return Ok(StoreOutcome { created: false, memory, snapshot });
        }
        let memory = self.scrubbed_memory(memory_type, &content, changes);
        let stored = self.writer.write("", "", self.clock.now(), |batch| {
            let (memory, _, created) = self.store_in(batch, &memory)?;
            if created {
                batch.set_message(format!("store_memory:{}", memory.id));
            }
            Ok((memory, created))
        });
        let ((memory, created), commit) = stored.map_err(|it| self.with_suggestions(it))?;
        Ok(StoreOutcome { created, memory, snapshot: commit.snapshot })
    }

    /// Returns a memory to be stored, without secrets, its tokens counted.
    pub(in crate::memory) fn scrubbed_memory(
        &self,
        memory_type: NodeType,
        content: &str,
        changes: FieldChanges,
    ) -> NewMemory {
        let redactor = &self.workspace().redactor;
        let content = redactor.scrub(content).text.into_owned();
        let token_count = tokens::count(&content);
        let changes = redacted(changes, &|it| redactor.scrub(&it).text.into_owned());
        NewMemory { memory_type, content, token_count, changes }
    }

    /// Stores a memory in a write, unless an equal one is there; returns whether it is new.
    pub(in crate::memory) fn store_in(
        &self,
        batch: &mut Batch<'_>,
        new: &NewMemory,
    ) -> Result<(TypedMemory, NodeId, bool), MemoryError> {
        let NewMemory { memory_type, content, token_count, changes } = new;
        let (memory_type, token_count, now) = (*memory_type, *token_count, self.clock.now());
        for equal in batch.typed_with_text(memory_type, content)? {
            let kept = memory_of(batch, &equal)?;
            if !kept.archived {
                return Ok((kept, equal.id, false));
            }
        }
        self.check_limit(batch, memory_type)?;
        let mut fields = Map::new();
        fields.insert("uuid".to_owned(), batch.random_uuid()?.into());
        for key in ["created_at", "updated_at"] {
            fields.insert(key.to_owned(), now.0.into());
        }
        field_update_and_diff::apply(changes, memory_type, &mut fields, now);
        let node = MemoryInsert { memory_type, content, token_count, fields };
        let (memory, _, id) = insert(batch, &node, now)?;
        Ok((memory, id, true))
    }

    /// Returns the memories that meet every condition, a page of them; each counts one access.
    pub(crate) fn query_memories(&self, request: &QueryRequest) -> Result<MemoryPage, MemoryError> {
        let (page, shown) = self
            .read::<_, StoreError>(|reader| reader.at_one_state(|it| query::query(it, request)))?;
        self.count_accesses(shown);
        Ok(page)
    }

    /// Changes fields of a memory; what differs is said. It counts one access.
    pub(crate) fn update_memory(
        &self,
        request: UpdateRequest,
    ) -> Result<UpdateOutcome, MemoryError> {
        self.change_memory(request, None)
    }

    /// Archives a memory or deletes it for good.
    pub(crate) fn delete_memory(
        &self,
        request: &DeleteRequest,
    ) -> Result<DeleteOutcome, MemoryError> {
        let DeleteRequest { id, fate } = request;
        let now = self.clock.now();
        let ((), commit) = self.writer.write("", "", now, |batch| {
            let node = found(batch, id)?;
            match fate {
                DeleteMode::Permanent => {
                    batch.set_message(format!("delete_memory:{id}"));
                    Ok::<(), MemoryError>(forget_all(batch, node)?)
                }
                DeleteMode::Archive => {
                    batch.set_message(format!("archive_memory:{id}"));
                    let archived = FieldChanges { archived: Some(true), ..FieldChanges::default() };
                    rewrite(batch, &node, None, &archived, now).map(drop)
                }
            }
        })?;
        Ok(DeleteOutcome { id: id.clone(), fate: *fate, snapshot: commit.snapshot })
    }

    /// Returns the facts about all memories.
    pub(crate) fn memory_stats(&self) -> Result<MemoryStats, MemoryError> {
        Ok(self.read::<_, StoreError>(|reader| reader.at_one_state(stats::stats))?)
    }

    /// Returns the memory of that UUID; it counts no access.
    #[cfg(test)]
    pub(crate) fn typed_memory(&self, id: &str) -> Result<Option<TypedMemory>, MemoryError> {
        let node = self.read::<_, MemoryError>(|reader| Ok(reader.typed_by_uuid(id)?))?;
        Ok(node.as_ref().map(TypedMemory::of))
    }

    fn change_memory(
        &self,
        request: UpdateRequest,
        memory_type: Option<NodeType>,
    ) -> Result<UpdateOutcome, MemoryError> {
        let UpdateRequest { id, content, changes } = request;
        let redactor = &self.workspace().redactor;
        let content = content.map(|it| redactor.scrub(&it).text.into_owned());
        let changes = redacted(changes, &|it| redactor.scrub(&it).text.into_owned());
        let now = self.clock.now();
        let changed = self.writer.write("", "", now, |batch| {
            batch.set_message(format!("update_memory:{id}"));
            let node = found(batch, &id)?;
            if let Some(asked) = memory_type.filter(|it| *it != node.node_type) {
                let what = format!(
                    "`type` cannot change: memory `{id}` is a {}, not a {asked}",
                    node.node_type
                );
                return Err(MemoryError::invalid(what));
            }
            if changes.task_metadata.is_some() {
                request::check_is_task(node.node_type)?;
            }
            if changes.archived == Some(false) && memory_of(batch, &node)?.archived {
                self.check_limit(batch, node.node_type)?;
            }
            let (memory, updated_fields) =
                rewrite(batch, &node, content.as_deref(), &changes, now)?;
            Ok((memory, updated_fields, node.key))
        });
        let ((memory, updated_fields, key), commit) =
            changed.map_err(|it| self.with_suggestions(it))?;
        self.count_accesses(vec![key]);
        Ok(UpdateOutcome { memory, updated_fields, snapshot: commit.snapshot })
    }

    fn check_limit(&self, batch: &Batch<'_>, of_type: NodeType) -> Result<(), MemoryError> {
        let max = self.memory_settings().limits().core_max;
        if of_type != NodeType::Core || batch.n_unarchived(of_type)? < max {
            return Ok(());
        }
        Err(too_many_core(max))
    }

    /// Completes the error of a limit; only core memories have one.
    fn with_suggestions(&self, mut error: MemoryError) -> MemoryError {
        if error.code != ErrorCode::LimitExceeded {
            return error;
        }
        let suggestions =
            self.read(|reader| query::suggestions(reader, NodeType::Core, SUGGESTIONS_MAX));
        error.suggestions = suggestions.unwrap_or_default();
        error
    }

    fn count_accesses(&self, nodes: Vec<NodeRowId>) {
        let shown: Vec<_> = nodes.into_iter().map(|it| (it, AccessKind::Read)).collect();
        self.warm(&shown);
    }
}

fn too_many_core(max: u64) -> MemoryError {
    let what = format!("there are {max} core memories, the most there may be; archive one first");
    MemoryError::new(ErrorCode::LimitExceeded, what)
}

/// A memory to be stored, without secrets.
pub(in crate::memory) struct NewMemory {
    memory_type: NodeType,
    content: String,
    token_count: u32,
    changes: FieldChanges,
}

/// A memory to be added.
struct MemoryInsert<'a> {
    memory_type: NodeType,
    content: &'a str,
    token_count: u32,
    fields: Map<String, Value>,
}

/// Adds a memory to the bucket of the month in which it was made.
fn insert(
    batch: &mut Batch<'_>,
    new: &MemoryInsert<'_>,
    made: UnixMillis,
) -> Result<(TypedMemory, NodeRowId, NodeId), MemoryError> {
    let fields = canonical(new.fields.clone())?;
    let label = text::label_of_text(new.content);
    let memory = TypedMemory::new(new.memory_type, new.content, &fields, Default::default());
    let data = UnplacedNodeData {
        node_type: new.memory_type,
        format: ContentFormat::Plain,
        label: &label,
        content: new.content,
        token_count: new.token_count,
        attributes: OptionalColumnValues::default()
            .with(FIELDS, Some(OptionalColumnValue::Text(fields.to_string()))),
    };
    let bucket = TypedNodeSchema::of(new.memory_type).map_or(&[MEMORIES_ROOT][..], |it| it.bucket);
    let month = made.month();
    let bucket: Vec<&str> = bucket.iter().copied().chain([month.as_str()]).collect();
    let (key, id) = batch.insert_typed_node(&data, &bucket)?;
    Ok((memory, key, id))
}

fn canonical(fields: Map<String, Value>) -> Result<CanonicalFields, MemoryError> {
    CanonicalFields::new(fields).map_err(|error| MemoryError::invalid(error.to_string()))
}

fn found(batch: &Batch<'_>, id: &str) -> Result<NodeRecord, MemoryError> {
    batch.find_typed(id)?.ok_or_else(|| MemoryError::not_found(id))
}

fn fields_of(node: &NodeRecord) -> Result<CanonicalFields, MemoryError> {
    let text = node.attributes.fields().unwrap_or_default();
    CanonicalFields::parse_loosely(text).map_err(|error| unreadable(node.id, &error).into())
}

fn memory_of(batch: &Batch<'_>, node: &NodeRecord) -> Result<TypedMemory, MemoryError> {
    let access = batch.access_counts_of(node.key)?;
    Ok(TypedMemory::new(node.node_type, &node.content, &fields_of(node)?, access))
}

/// Gives a memory new values; returns it as it is then, and the names of what differs.
pub(in crate::memory) fn rewrite(
    batch: &mut Batch<'_>,
    node: &NodeRecord,
    content: Option<&str>,
    changes: &FieldChanges,
    now: UnixMillis,
) -> Result<(TypedMemory, Vec<&'static str>), MemoryError> {
    let before = fields_of(node)?;
    let mut fields = before.object().clone();
    field_update_and_diff::apply(changes, node.node_type, &mut fields, now);
    let after = canonical(fields)?;
    let content = content.unwrap_or(&node.content);
    let updated = field_update_and_diff::differing(&before, &after, content != node.content);
    if updated.is_empty() {
        return Ok((memory_of(batch, node)?, updated));
    }
    let mut fields = after.into_object();
    fields.insert("updated_at".to_owned(), now.0.into());
    let fields = canonical(fields)?;
    let is_same_text = content == node.content;
    let label = if is_same_text { node.label.clone() } else { text::label_of_text(content) };
    let token_count = if is_same_text { node.token_count } else { tokens::count(content) };
    let attributes =
        node.attributes.with(FIELDS, Some(OptionalColumnValue::Text(fields.to_string())));
    let data = UnplacedNodeData { label: &label, content, token_count, attributes, ..node.data() };
    batch.set_agent_text(node, &data)?;
    let access = batch.access_counts_of(node.key)?;
    Ok((TypedMemory::new(node.node_type, content, &fields, access), updated))
}

/// Returns the values with every text scrubbed. Tags that became equal are kept once.
fn redacted(changes: FieldChanges, scrub: &impl Fn(String) -> String) -> FieldChanges {
    let metadata = changes.task_metadata.map(|it| scrubbed(it, scrub));
    let tags = changes.tags.map(|it| {
        let mut tags: Vec<String> = Vec::with_capacity(it.len());
        for tag in it.into_iter().map(scrub) {
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        tags
    });
    FieldChanges { category: changes.category.map(scrub), tags, task_metadata: metadata, ..changes }
}

fn scrubbed(metadata: Map<String, Value>, scrub: &impl Fn(String) -> String) -> Map<String, Value> {
    let value = |it: Value| match it {
        Value::String(it) => scrub(it).into(),
        Value::Array(items) => {
            let texts = items.into_iter().filter_map(|it| it.as_str().map(str::to_owned));
            texts.map(scrub).collect()
        }
        other => other,
    };
    metadata.into_iter().map(|(key, it)| (key, value(it))).collect()
}

#[cfg(test)]
mod tests;
