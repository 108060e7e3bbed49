//! Kinds of knowledge: episodes, concepts, facts, topics, entities, conflicts and chunks of text.
//!
//! The fields that their nodes have, the words that they may hold, and the types of their edges.

use super::{FieldSpec, TypedNodeSchema, ValueType};
use crate::model::tree::NodeType;

/// Characters of an episode, at most.
pub(crate) const EPISODE_CHARS_MAX: usize = 100_000;

/// Characters of a title, at most.
pub(crate) const TITLE_CHARS_MAX: usize = 200;

/// Kinds of episodes, the default first.
pub(crate) const EPISODE_KINDS: &[&str] =
    &["observation", "decision", "question", "meta", "preference", "outcome", "fact"];

/// Kinds of entities; the last one is that of any other thing.
pub(crate) const ENTITY_KINDS: &[&str] =
    &["file", "function", "class", "module", "subject", "person", "project", "tool", "other"];

/// The kind of a concept whose children are facts.
pub(crate) const FACT_CLUSTER: &str = "fact_cluster";

/// States of a conflict, the first one open.
pub(crate) const CONFLICT_STATES: &[&str] = &["open", "resolved", "dismissed"];

/// States of a text that is ingested: before and after it is divided into chunks.
pub(crate) const CHUNK_STATES: &[&str] = &["buffered", "waiting"];

/// How much a conflict matters, most first.
pub(crate) const SEVERITIES: &[&str] = &["high", "medium", "low"];

/// The roots that nodes of knowledge live under.
pub(crate) const LOG_ROOT: &str = "@log";
pub(crate) const TOPICS_ROOT: &str = "@topics";
pub(crate) const ENTITIES_ROOT: &str = "@entities";

/// Edges of one node, at most.
pub(crate) const LINKS_MAX: usize = 200;

/// Types of edges from an episode to a concept.
pub(crate) const EVIDENCE: &[&str] = &["supports", "contradicts", "exemplifies", "qualifies"];

const TITLE: FieldSpec = text("title", TITLE_CHARS_MAX);
const TOPIC_ID: FieldSpec = FieldSpec { name: "topic", value_type: ValueType::Id };
const CREATED_AT: FieldSpec = FieldSpec { name: "created_at", value_type: ValueType::Time };
const UPDATED_AT: FieldSpec = FieldSpec { name: "updated_at", value_type: ValueType::Time };
const CONFIDENCE: FieldSpec = FieldSpec { name: "confidence", value_type: ValueType::Share };
const LINKS: FieldSpec =
    FieldSpec { name: "links", value_type: ValueType::Links { n_max: LINKS_MAX } };
/// Edges that somebody took away, which an import does not bring back.
const UNLINKED: FieldSpec =
    FieldSpec { name: "unlinked", value_type: ValueType::Links { n_max: LINKS_MAX } };
const LABELS: FieldSpec =
    FieldSpec { name: "labels", value_type: ValueType::Free { bytes_max: 4_096 } };
const DELETED: FieldSpec = FieldSpec { name: "deleted", value_type: ValueType::Flag };
const SUPERSEDED_BY: FieldSpec = FieldSpec { name: "superseded_by", value_type: ValueType::Id };
const SUPERSEDED_AT: FieldSpec = FieldSpec { name: "superseded_at", value_type: ValueType::Time };
const MERGED_INTO: FieldSpec = FieldSpec { name: "merged_into", value_type: ValueType::Id };
const ASSERTED_BY: FieldSpec = text("asserted_by", 200);
const SOURCE_REF: FieldSpec = text("source_ref", 500);
const SUBJECT: FieldSpec = text("subject", 200);
/// The id of the record that a node was imported from.
const ORIGIN: FieldSpec = text("origin", 200);
const METADATA: FieldSpec =
    FieldSpec { name: "metadata", value_type: ValueType::Free { bytes_max: 8_192 } };
/// Hashes of names, by which a node is found; of a fact, its key with each name of the subject, or
/// without an attribute that of its text in normal form.
const NAMES: FieldSpec =
    FieldSpec { name: "names", value_type: ValueType::Texts { n_max: 50, chars_max: 200 } };

const fn text(name: &'static str, chars_max: usize) -> FieldSpec {
    FieldSpec { name, value_type: ValueType::Text { chars_max } }
}

const fn time(name: &'static str) -> FieldSpec {
    FieldSpec { name, value_type: ValueType::Time }
}

pub(super) const EPISODE: TypedNodeSchema = TypedNodeSchema {
    node_type: NodeType::Episode,
    bucket: &[LOG_ROOT],
    content_chars_max: EPISODE_CHARS_MAX,
    keys: &[
        text("kind", 50),
        TITLE,
        time("at"),
        CREATED_AT,
        UPDATED_AT,
        TOPIC_ID,
        CONFIDENCE,
        METADATA,
        text("source_type", 50),
        ASSERTED_BY,
        SOURCE_REF,
        LINKS,
        UNLINKED,
        LABELS,
        FieldSpec { name: "processed_in", value_type: ValueType::Whole },
        ORIGIN,
        DELETED,
        SUPERSEDED_BY,
        SUPERSEDED_AT,
        MERGED_INTO,
    ],
};

pub(super) const CONCEPT: TypedNodeSchema = TypedNodeSchema {
    node_type: NodeType::Concept,
    bucket: &["@concepts"],
    content_chars_max: 20_000,
    keys: &[
        text("kind", 50),
        TITLE,
        NAMES,
        SUBJECT,
        CREATED_AT,
        UPDATED_AT,
        TOPIC_ID,
        CONFIDENCE,
        text("conditions", 2_000),
        FieldSpec {
            name: "exceptions",
            value_type: ValueType::Texts { n_max: 50, chars_max: 500 },
        },
        FieldSpec { name: "tags", value_type: ValueType::Texts { n_max: 20, chars_max: 50 } },
        METADATA,
        ORIGIN,
        LINKS,
        UNLINKED,
        LABELS,
        text("note", 1_000),
        DELETED,
        SUPERSEDED_BY,
        SUPERSEDED_AT,
        MERGED_INTO,
    ],
};

pub(super) const FACT: TypedNodeSchema = TypedNodeSchema {
    node_type: NodeType::Fact,
    bucket: &["@concepts"],
    content_chars_max: EPISODE_CHARS_MAX,
    keys: &[
        SUBJECT,
        text("attribute", 200),
        text("key", 401),
        NAMES,
        time("valid_from"),
        time("valid_to"),
        FieldSpec { name: "contested", value_type: ValueType::Flag },
        ORIGIN,
        CREATED_AT,
        UPDATED_AT,
        ASSERTED_BY,
        SOURCE_REF,
        LINKS,
        UNLINKED,
        LABELS,
        text("note", 1_000),
        DELETED,
        SUPERSEDED_BY,
        SUPERSEDED_AT,
        MERGED_INTO,
    ],
};

pub(super) const TOPIC: TypedNodeSchema = TypedNodeSchema {
    node_type: NodeType::Topic,
    bucket: &[TOPICS_ROOT],
    content_chars_max: 2_000,
    keys: &[TITLE, NAMES, CREATED_AT, UPDATED_AT, LABELS, DELETED],
};

pub(super) const ENTITY: TypedNodeSchema = TypedNodeSchema {
    node_type: NodeType::Entity,
    bucket: &[ENTITIES_ROOT],
    content_chars_max: 20_000,
    keys: &[
        text("kind", 50),
        TITLE,
        NAMES,
        CREATED_AT,
        UPDATED_AT,
        LINKS,
        UNLINKED,
        LABELS,
        DELETED,
        MERGED_INTO,
    ],
};

pub(super) const CONFLICT: TypedNodeSchema = TypedNodeSchema {
    node_type: NodeType::Conflict,
    bucket: &["@conflicts"],
    content_chars_max: 20_000,
    keys: &[
        FieldSpec { name: "conflict", value_type: ValueType::Choice(CONFLICT_STATES) },
        FieldSpec { name: "severity", value_type: ValueType::Choice(SEVERITIES) },
        LINKS,
        UNLINKED,
        text("note", 1_000),
        FieldSpec { name: "winner", value_type: ValueType::Id },
        ORIGIN,
        CREATED_AT,
        UPDATED_AT,
        time("resolved_at"),
    ],
};

pub(super) const CHUNK: TypedNodeSchema = TypedNodeSchema {
    node_type: NodeType::Chunk,
    bucket: &["@ingest"],
    content_chars_max: EPISODE_CHARS_MAX,
    keys: &[
        FieldSpec { name: "kind", value_type: ValueType::Choice(CHUNK_STATES) },
        text("source", 100),
        text("instructions", 4_000),
        TOPIC_ID,
        FieldSpec { name: "archived", value_type: ValueType::Flag },
        CREATED_AT,
        UPDATED_AT,
    ],
};
