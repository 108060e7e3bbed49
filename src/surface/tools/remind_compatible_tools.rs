//! The tools of knowledge by the names and arguments that agents were taught elsewhere: a table of
//! names, over the same requests as those of [`super::knowledge`].

use serde_json::{Value, json};

use super::memories::{schema, text};
use crate::mcp::{ArgSpec, Tool, ToolEffect};
use crate::memory::knowledge::{TASKS, remind_compatible_requests};
use crate::model::tree::NodeType;
use crate::surface::{ToolRunner, TypedMemoryFn};

/// Told to a client's model where these tools are the first that are offered.
pub(super) const INSTRUCTIONS: &str = "Long-term memory of episodes that become concepts. Look \
                                       here first: recall returns what is known of a question, an \
                                       entity or a topic. remember keeps what happened, was \
                                       decided or learnt. consolidate returns what waits to be \
                                       made into concepts, and takes the concepts.";

/// Tools of knowledge that advice names, each with the tool here that does the same, and with how
/// that is called.
pub(super) const COUNTERPARTS: &[(&str, &str, &str)] = &[
    ("MemoryApply", "consolidate", "consolidate with `operations`"),
    ("MemoryConsolidate", "consolidate", "consolidate"),
    ("MemoryIngest", "ingest", "ingest"),
    ("MemoryRecall", "recall", "recall"),
    ("MemoryRemember", "remember", "remember"),
    ("MemoryReview", "consolidate", "consolidate"),
];

const fn tool(
    name: &'static str,
    description: &'static str,
    args: &'static [ArgSpec],
    effect: ToolEffect,
    answer: TypedMemoryFn,
) -> Tool<ToolRunner> {
    let run = match effect {
        ToolEffect::Reads => ToolRunner::Document(answer),
        _ => ToolRunner::ChangingDocument(answer),
    };
    Tool { name, description, args, output: None, effect, run }
}

/// Declares the schema of a tool's arguments: properties, and the names of those that it needs.
macro_rules! args {
    ($properties:tt $(, $required:literal)*) => {
        &[ArgSpec::custom_schema(|| schema(json!($properties), &[$($required),*]))]
    };
}

fn string() -> Value {
    json!({"type": "string"})
}

fn number(default: u64) -> Value {
    json!({"type": "integer", "default": default})
}

/// Every tool, in the order of their names.
pub(super) const TOOLS: &[Tool<ToolRunner>] = &[
    tool(
        "consolidate",
        "Returns the worksheet of episodes that wait, with the operations that answer it; with \
         `operations`, applies them, all or none.",
        args!({
            "force": {"type": "boolean", "description": "However few wait"},
            "task": {"type": "string", "enum": TASKS},
            "budget": {"type": "integer", "default": 4000, "description": "Tokens"},
            "operations": {"type": "array", "items": {"type": "object"}},
            "base": {"type": "integer", "description": "Of the worksheet"},
            "dry_run": {"type": "boolean"},
        }),
        ToolEffect::Edits,
        remind_compatible_requests::consolidate,
    ),
    tool(
        "create_topic",
        "Makes a topic, unless one of that name is there.",
        args!({"name": string(), "description": string()}, "name"),
        ToolEffect::Edits,
        remind_compatible_requests::create_topic,
    ),
    tool(
        "delete_concept",
        "Hides a concept; restore_concept shows it again.",
        args!({"concept_id": string()}, "concept_id"),
        ToolEffect::Edits,
        |memory, args| {
            remind_compatible_requests::delete_node(memory, args, ("concept_id", NodeType::Concept))
        },
    ),
    tool(
        "delete_episode",
        "Hides an episode; restore_episode shows it again.",
        args!({"episode_id": string()}, "episode_id"),
        ToolEffect::Edits,
        |memory, args| {
            remind_compatible_requests::delete_node(memory, args, ("episode_id", NodeType::Episode))
        },
    ),
    tool(
        "delete_topic",
        "Deletes a topic that has no episodes and no concepts.",
        args!({"topic_id": text("Id or name")}, "topic_id"),
        ToolEffect::Edits,
        remind_compatible_requests::delete_topic,
    ),
    tool(
        "entities",
        "Returns the entities that are mentioned most.",
        args!({"entity_type": text("As file, person, tool"), "limit": number(50)}),
        ToolEffect::Reads,
        remind_compatible_requests::entities,
    ),
    tool(
        "episode_types",
        "Returns the types of episodes.",
        args!({}),
        ToolEffect::Reads,
        remind_compatible_requests::episode_types,
    ),
    tool(
        "flush_ingest",
        "Divides the raw text that waits, however short it is.",
        args!({"topic": string(), "instructions": text("What to keep")}),
        ToolEffect::Edits,
        remind_compatible_requests::flush_ingest,
    ),
    tool(
        "ingest",
        "Keeps raw text, such as a conversation, until its episodes are drawn from it.",
        args!({
            "content": string(),
            "source": string(),
            "topic": string(),
            "instructions": text("What to keep"),
        }, "content"),
        ToolEffect::Edits,
        remind_compatible_requests::ingest,
    ),
    tool(
        "inspect",
        "Returns a concept with its facts and edges; without an id, the newest concepts.",
        args!({
            "concept_id": string(),
            "show_episodes": {"type": "boolean", "default": false},
            "limit": number(10),
            "start_date": text("Of episodes: a day"),
            "end_date": text("A day, inclusive"),
        }),
        ToolEffect::Reads,
        remind_compatible_requests::inspect,
    ),
    tool(
        "inspect_entity",
        "Returns an entity with its relations, episodes and concepts.",
        args!({
            "entity_id": text("As `tool:redis`, a name or an id"),
            "show_relations": {"type": "boolean", "default": true},
        }, "entity_id"),
        ToolEffect::Reads,
        remind_compatible_requests::inspect_entity,
    ),
    tool(
        "list_deleted",
        "Returns deleted episodes and concepts, newest first.",
        args!({
            "item_type": {"type": "string", "enum": ["episode", "concept"]},
            "limit": number(20),
        }),
        ToolEffect::Reads,
        remind_compatible_requests::list_deleted,
    ),
    tool(
        "list_topics",
        "Returns all topics, with the numbers of their episodes and concepts.",
        args!({}),
        ToolEffect::Reads,
        remind_compatible_requests::list_topics,
    ),
    tool(
        "recall",
        "Returns what is known of a question, an entity or a topic, best first.",
        args!({
            "query": string(),
            "k": number(3),
            "context": text("Further words of the question"),
            "entity": text("As `tool:redis`, a name or an id"),
            "episode_k": number(5),
            "topic": text("Id or name"),
            "budget": {"type": "integer", "default": 2000, "description": "Tokens"},
        }),
        ToolEffect::Reads,
        remind_compatible_requests::recall_in_context,
    ),
    tool(
        "remember",
        "Keeps what happened, was decided or learnt, verbatim, once.",
        args!({
            "content": text("One self-contained statement"),
            "metadata": text("JSON"),
            "episode_type": text("One of episode_types; default observation"),
            "entities": text("With commas, as `tool:redis, person:ana`"),
            "topic": text("Id or name; made if new"),
            "source_type": string(),
        }, "content"),
        ToolEffect::Edits,
        remind_compatible_requests::remember,
    ),
    tool(
        "restore_concept",
        "Shows a deleted concept again.",
        args!({"concept_id": string()}, "concept_id"),
        ToolEffect::Edits,
        |memory, args| {
            remind_compatible_requests::restore_node(
                memory,
                args,
                ("concept_id", NodeType::Concept),
            )
        },
    ),
    tool(
        "restore_episode",
        "Shows a deleted episode again.",
        args!({"episode_id": string()}, "episode_id"),
        ToolEffect::Edits,
        |memory, args| {
            remind_compatible_requests::restore_node(
                memory,
                args,
                ("episode_id", NodeType::Episode),
            )
        },
    ),
    tool(
        "stats",
        "Returns how many episodes, concepts, facts, topics and entities there are.",
        args!({}),
        ToolEffect::Reads,
        remind_compatible_requests::stats,
    ),
    tool(
        "topic_overview",
        "Returns the concepts of a topic that are supported best.",
        args!({"topic_id": text("Id or name"), "k": number(5)}, "topic_id"),
        ToolEffect::Reads,
        remind_compatible_requests::topic_overview,
    ),
    tool(
        "update_concept",
        "Changes what is given of a concept, and adds relations.",
        args!({
            "concept_id": string(),
            "title": string(),
            "summary": string(),
            "confidence": {"type": "number"},
            "tags": text("With commas"),
            "relations": text("JSON: [{type, target_id, strength, context}]"),
            "topic": text("Id or name; empty: none"),
        }, "concept_id"),
        ToolEffect::Edits,
        remind_compatible_requests::update_concept,
    ),
    tool(
        "update_episode",
        "Changes what is given of an episode.",
        args!({
            "episode_id": string(),
            "content": string(),
            "episode_type": string(),
            "entities": text("With commas"),
            "topic": text("Id or name; empty: none"),
            "plan_id": string(),
            "spec_ids": string(),
            "depends_on": string(),
            "priority": string(),
        }, "episode_id"),
        ToolEffect::Edits,
        remind_compatible_requests::update_episode,
    ),
    tool(
        "update_topic",
        "Renames a topic, or describes it anew.",
        args!({
            "topic_id": text("Id or name"),
            "name": string(),
            "description": string(),
        }, "topic_id"),
        ToolEffect::Edits,
        remind_compatible_requests::update_topic,
    ),
];
