//! The tools of knowledge: episodes are remembered and recalled. Each checks its arguments itself.

use serde_json::{Value, json};

use super::memories::{choice, output, schema, tags, text, with_default};
use crate::mcp::{Arg, Effect, Tool};
use crate::memory::knowledge::{RecallRequest, RememberRequest};
use crate::surface::ToolRunner;

/// Every tool, in the order of their names.
pub(super) const TOOLS: &[Tool<ToolRunner>] = &[
    Tool {
        name: "MemoryRecall",
        title: "Recall",
        description: "Returns what is known of a question, an entity or a topic: concepts with \
                      their facts, and episodes. Says so if nothing is relevant.",
        args: &[Arg::custom_schema(recall_schema)],
        output: Some(|| output(&[("items", "array"), ("pending", "integer")])),
        effect: Effect::Reads,
        run: ToolRunner::Document(|memory, args| memory.recall(&RecallRequest::parse(args)?)),
    },
    Tool {
        name: "MemoryRemember",
        title: "Remember",
        description: "Keeps what happened, was decided or is a fact, verbatim, once. Two facts of \
                      one subject and attribute contradict, unless the later has `supersede`.",
        args: &[Arg::custom_schema(remember_schema)],
        output: Some(|| output(&[("results", "array"), ("pending", "integer")])),
        effect: Effect::Edits,
        run: ToolRunner::Document(|memory, args| memory.remember(RememberRequest::parse(args)?)),
    },
];

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
