//! The tools of knowledge: episodes are remembered, recalled, reviewed and consolidated.
//!
//! Each checks its arguments itself, so that a wrong one is an error with a code.

use serde_json::{Value, json};

use super::memories::{choice, output, schema, tags, text, with_default};
use crate::mcp::{ArgSpec, Tool, ToolEffect};
use crate::memory::knowledge::{
    ApplyRequest, MemoryIngestArgs, RecallRequest, RememberRequest, TASKS, WorksheetRequest,
};
use crate::surface::{ToolRunner, consolidation};

/// Every tool, in the order of their names.
pub(super) const TOOLS: &[Tool<ToolRunner>] = &[
    Tool {
        name: "MemoryApply",
        description: "Applies operations as MemoryReview lists them, all or none, in one snapshot: \
                      {operations: […], dry_run: true}",
        args: &[ArgSpec::custom_schema(apply_schema)],
        output: Some(|| output(&[("results", "array"), ("pending", "integer")])),
        effect: ToolEffect::Edits,
        run: ToolRunner::ChangingDocument(|memory, args| {
            Ok(memory.apply(&ApplyRequest::parse(args)?)?)
        }),
    },
    Tool {
        name: "MemoryConsolidate",
        description: "Returns the worksheet of what waits, for you to answer with MemoryApply, \
                      unless a provider did: {}",
        args: &[ArgSpec::custom_schema(consolidate_schema)],
        output: Some(|| output(&[("task", "string"), ("pending", "object")])),
        effect: ToolEffect::Edits,
        run: ToolRunner::Asking(consolidation::consolidate),
    },
    Tool {
        name: "MemoryIngest",
        description: "Keeps raw text, such as a conversation, until its episodes are drawn from \
                      it: MemoryReview with `task` triage. {content: 'Ana: hi'}",
        args: &[ArgSpec::custom_schema(ingest_schema)],
        output: Some(|| output(&[("buffered", "integer"), ("chunks", "integer")])),
        effect: ToolEffect::Edits,
        run: ToolRunner::ChangingDocument(|memory, args| {
            memory.ingest(&MemoryIngestArgs::parse(args)?)
        }),
    },
    Tool {
        name: "MemoryRecall",
        description: "Returns what is known of a question, an entity or a topic: concepts with \
                      their facts, and episodes: {query: 'who runs billing'}",
        args: &[ArgSpec::custom_schema(recall_schema)],
        output: Some(|| output(&[("items", "array"), ("pending", "integer")])),
        effect: ToolEffect::Reads,
        run: ToolRunner::Document(|memory, args| memory.recall(&RecallRequest::parse(args)?)),
    },
    Tool {
        name: "MemoryRemember",
        description: "Keeps what happened, was decided or is a fact, verbatim, once. Two facts of \
                      one subject and attribute contradict, unless the later has `supersede`: \
                      {content: 'Ana runs billing'}",
        args: &[ArgSpec::custom_schema(remember_schema)],
        output: Some(|| output(&[("results", "array"), ("pending", "integer")])),
        effect: ToolEffect::Edits,
        run: ToolRunner::ChangingDocument(|memory, args| {
            memory.remember(RememberRequest::parse(args)?)
        }),
    },
    Tool {
        name: "MemoryReview",
        description: "Returns what waits to be consolidated, what contradicts, and the operations \
                      for MemoryApply: {}",
        args: &[ArgSpec::custom_schema(review_schema)],
        output: Some(|| output(&[("task", "string"), ("base", "integer")])),
        effect: ToolEffect::Reads,
        run: ToolRunner::Document(|memory, args| memory.review(&WorksheetRequest::parse(args)?)),
    },
];

fn apply_schema() -> Value {
    schema(
        json!({
            "operations": {"type": "array", "items": {"type": "object"}},
            "base": {"type": "integer", "description": "Of the worksheet"},
            "key": text("Makes a repeated call safe"),
            "dry_run": {"type": "boolean"},
        }),
        &["operations"],
    )
}

fn consolidate_schema() -> Value {
    schema(
        json!({
            "topic": {"type": "string"},
            "force": {"type": "boolean", "description": "However few wait"},
            "budget": {"type": "integer", "default": 4_000},
        }),
        &[],
    )
}

fn ingest_schema() -> Value {
    schema(
        json!({
            "content": {"type": "string"},
            "flush": {"type": "boolean", "description": "Before 4000 characters are there"},
            "source": with_default(json!({"type": "string"}), "conversation"),
            "topic": {"type": "string"},
            "instructions": text("What to keep"),
        }),
        &[],
    )
}

fn review_schema() -> Value {
    schema(
        json!({
            "task": with_default(choice(TASKS), "consolidate"),
            "topic": text("Default: of the eldest episode"),
            "budget": {"type": "integer", "default": 4_000},
            "limit": {"type": "integer", "default": 25},
        }),
        &[],
    )
}

fn recall_schema() -> Value {
    let number = |default: u64| json!({"type": "integer", "default": default});
    schema(
        json!({
            "query": text("Words"),
            "entity": text("As `tool:redis`, a name or an id"),
            "topic": text("Name or id"),
            "k": number(3),
            "episodes": number(5),
            "budget": number(2_000),
            "kinds": tags("Only these"),
            "as_of": text("What held then: a day or a time"),
            "include": {"type": "array", "items": choice(&["superseded", "archived", "deleted"])},
            "explain": {"type": "boolean"},
        }),
        &[],
    )
}

fn remember_schema() -> Value {
    let any = json!({"type": "string"});
    schema(
        json!({
            "content": text("One self-contained statement"),
            "kind": with_default(
                text(
                    "Or decision, question, meta, preference, outcome, fact; core, learning and \
                     task are memories with a UUID",
                ),
                "observation",
            ),
            "topic": text("Made if new"),
            "entities": tags("As `tool:redis`; names in backticks, paths and @names are found"),
            "title": any,
            "confidence": {"type": "number"},
            "metadata": {"type": "object"},
            "source_type": any,
            "asserted_by": any,
            "source_ref": any,
            "at": text("When it happened"),
            "subject": text("Of a fact"),
            "attribute": text("Of its subject"),
            "valid_from": any,
            "valid_to": any,
            "supersede": {"type": "boolean", "description": "Closes the fact before"},
            "category": any,
            "tags": {"type": "array", "items": any},
            "importance": any,
            "task_metadata": {"type": "object"},
            "items": {"type": "array", "items": {"type": "object"}, "description": "Several"},
            "key": text("Makes a repeated call safe"),
        }),
        &[],
    )
}
