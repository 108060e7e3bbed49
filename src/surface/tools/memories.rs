//! The tools of typed memories, by the names, arguments and answers that agents were taught.
//!
//! Each checks its arguments itself, so that a wrong one is an error with a code, as any other.

use serde_json::{Map, Value, json};

use crate::mcp::{ArgSpec, Tool, ToolEffect};
use crate::memory::typed::{
    DeleteRequest, QueryRequest, SORT_KEYS, SORT_ORDERS, StoreRequest, UpdateRequest,
    check_no_arguments,
};
use crate::model::typed_node_field_schemas::{IMPORTANCES, MEMORY_TYPES, STATUSES};
use crate::surface::ToolRunner;

/// Told to a client's model where these tools are the first that are offered.
pub(super) const INSTRUCTIONS: &str = "Long-term memory of core facts, learnings and tasks, each \
                                       with a UUID. Look here first: query_memories finds what is \
                                       known. store_memory keeps what you learn, update_memory \
                                       changes it, delete_memory archives it.";

/// Every tool, in the order of their names.
pub(super) const TOOLS: &[Tool<ToolRunner>] = &[
    Tool {
        name: "delete_memory",
        description: "Archives a memory, or deletes it. A rollback undoes both.",
        args: &[ArgSpec::custom_schema(delete_schema)],
        output: Some(|| output(&[("success", "boolean"), ("action", "string"), ("id", "string")])),
        effect: ToolEffect::Edits,
        run: ToolRunner::ChangingDocument(|memory, args| {
            Ok(memory.delete_memory(&DeleteRequest::parse(args)?)?.to_json())
        }),
    },
    Tool {
        name: "get_memory_stats",
        description: "Returns counts of memories by type and importance, archived ones included, \
                      and the most frequent tags.",
        args: &[ArgSpec::custom_schema(|| schema(json!({}), &[]))],
        output: Some(stats_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Document(|memory, args| {
            check_no_arguments(args)?;
            Ok(memory.memory_stats()?.to_json())
        }),
    },
    Tool {
        name: "query_memories",
        description: "Returns the memories that meet every condition, a page of them.",
        args: &[ArgSpec::custom_schema(query_schema)],
        output: Some(page_output),
        effect: ToolEffect::Reads,
        run: ToolRunner::Document(|memory, args| {
            Ok(memory.query_memories(&QueryRequest::parse(args)?)?.to_json())
        }),
    },
    Tool {
        name: "store_memory",
        description: "Stores a memory, unless one of that type and content is there; with `id`, \
                      updates it.",
        args: &[ArgSpec::custom_schema(store_schema)],
        output: Some(|| output(&[("id", "string"), ("created", "boolean"), ("memory", "object")])),
        effect: ToolEffect::Edits,
        run: ToolRunner::ChangingDocument(|memory, args| {
            Ok(memory.store_memory(StoreRequest::parse(args)?)?.to_json())
        }),
    },
    Tool {
        name: "update_memory",
        description: "Changes the fields that are given; `task_metadata` key by key.",
        args: &[ArgSpec::custom_schema(update_schema)],
        output: Some(|| output(&[("memory", "object"), ("updated_fields", "array")])),
        effect: ToolEffect::Edits,
        run: ToolRunner::ChangingDocument(|memory, args| {
            Ok(memory.update_memory(UpdateRequest::parse(args)?)?.to_json())
        }),
    },
];

pub(super) fn schema(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema["additionalProperties"] = false.into();
    schema
}

pub(super) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

pub(super) fn choice(words: &[&str]) -> Value {
    json!({"type": "string", "enum": words})
}

pub(super) fn with_default(mut schema: Value, default: impl Into<Value>) -> Value {
    schema["default"] = default.into();
    schema
}

fn types() -> Value {
    choice(&MEMORY_TYPES.map(|it| it.as_str()))
}

pub(super) fn tags(about: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": about})
}

/// The properties of a memory that both storing and updating take.
fn fields(content: &str) -> Map<String, Value> {
    let metadata = json!({"type": "object", "description": "Of tasks", "properties": {
        "status": with_default(choice(STATUSES), "in-progress"),
        "completed_at": text("ISO 8601"),
        "blockers": tags("Up to 10 of 200 characters"),
        "outcome": text("Up to 1000 characters"),
    }, "additionalProperties": false});
    [
        ("content", text(content)),
        ("category", text("Up to 50 characters")),
        ("tags", tags("Up to 10 of 30 characters")),
        ("importance", choice(IMPORTANCES)),
        ("task_metadata", metadata),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
    .into_iter()
    .collect()
}

fn store_schema() -> Value {
    let mut properties = Map::new();
    properties.insert("type".to_owned(), types());
    properties.extend(fields("1 to 5000 characters"));
    properties["importance"] = with_default(choice(IMPORTANCES), "medium");
    properties.insert("id".to_owned(), text("UUID of a memory to update"));
    schema(properties.into(), &["type", "content"])
}

fn update_schema() -> Value {
    let mut properties = Map::new();
    properties.insert("id".to_owned(), text("UUID"));
    properties.extend(fields("1 to 5000 characters"));
    properties.insert("archived".to_owned(), json!({"type": "boolean"}));
    schema(properties.into(), &["id"])
}

fn delete_schema() -> Value {
    let permanent =
        json!({"type": "boolean", "default": false, "description": "Delete, not archive"});
    schema(json!({"id": text("UUID"), "permanent": permanent}), &["id"])
}

fn query_schema() -> Value {
    let number =
        |default: u64, min: u64| json!({"type": "integer", "default": default, "minimum": min});
    let mut limit = number(10, 1);
    limit["maximum"] = 100.into();
    schema(
        json!({
            "type": types(),
            "tags": tags("All of them"),
            "search": text("Words, all of them; up to 200 characters"),
            "importance": choice(IMPORTANCES),
            "category": text("As it was given"),
            "archived": {"type": "boolean", "default": false},
            "limit": limit,
            "offset": number(0, 0),
            "sort_by": with_default(choice(&SORT_KEYS.map(|it| it.0)), "accessed_at"),
            "sort_order": with_default(choice(&SORT_ORDERS.map(|it| it.0)), "desc"),
        }),
        &[],
    )
}

/// An object of these members, by name and type, all of them required.
pub(super) fn output(members: &[(&str, &str)]) -> Value {
    let properties: Map<String, Value> =
        members.iter().map(|(name, of)| ((*name).to_owned(), json!({"type": of}))).collect();
    let required: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn page_output() -> Value {
    output(&[
        ("memories", "array"),
        ("total", "integer"),
        ("limit", "integer"),
        ("offset", "integer"),
        ("has_more", "boolean"),
    ])
}

fn stats_output() -> Value {
    output(&[
        ("total_memories", "integer"),
        ("by_type", "object"),
        ("by_importance", "object"),
        ("archived_count", "integer"),
        ("total_storage_kb", "number"),
        ("top_tags", "array"),
    ])
}
