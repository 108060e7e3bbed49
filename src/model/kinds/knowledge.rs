//! Kinds of knowledge: episodes, concepts, facts, topics, entities, conflicts and chunks of text.
//!
//! The fields that their nodes have, the words that they may hold, and the types of their edges.

use super::{FieldKey, Kind, ValueType};
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

const TITLE: FieldKey = text("title", TITLE_CHARS_MAX);
const TOPIC_ID: FieldKey = FieldKey { name: "topic", value_type: ValueType::Id };
const CREATED_AT: FieldKey = FieldKey { name: "created_at", value_type: ValueType::Time };
const UPDATED_AT: FieldKey = FieldKey { name: "updated_at", value_type: ValueType::Time };
const CONFIDENCE: FieldKey = FieldKey { name: "confidence", value_type: ValueType::Share };
const LINKS: FieldKey =
    FieldKey { name: "links", value_type: ValueType::Links { n_max: LINKS_MAX } };
const LABELS: FieldKey =
    FieldKey { name: "labels", value_type: ValueType::Free { bytes_max: 4_096 } };
const DELETED: FieldKey = FieldKey { name: "deleted", value_type: ValueType::Flag };
const SUPERSEDED_BY: FieldKey = FieldKey { name: "superseded_by", value_type: ValueType::Id };
const SUPERSEDED_AT: FieldKey = FieldKey { name: "superseded_at", value_type: ValueType::Time };
const MERGED_INTO: FieldKey = FieldKey { name: "merged_into", value_type: ValueType::Id };
const ASSERTED_BY: FieldKey = text("asserted_by", 200);
const SOURCE_REF: FieldKey = text("source_ref", 500);
const SUBJECT: FieldKey = text("subject", 200);
/// The id of the record that a node was imported from.
const ORIGIN: FieldKey = text("origin", 200);
const METADATA: FieldKey =
    FieldKey { name: "metadata", value_type: ValueType::Free { bytes_max: 8_192 } };
/// Hashes of names, by which a node is found.
const NAMES: FieldKey =
    FieldKey { name: "names", value_type: ValueType::Texts { n_max: 50, chars_max: 200 } };

const fn text(name: &'static str, chars_max: usize) -> FieldKey {
    FieldKey { name, value_type: ValueType::Text { chars_max } }
}

const fn time(name: &'static str) -> FieldKey {
    FieldKey { name, value_type: ValueType::Time }
}

pub(super) const EPISODE: Kind = Kind {
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
        LABELS,
        FieldKey { name: "processed_in", value_type: ValueType::Whole },
        ORIGIN,
        DELETED,
        SUPERSEDED_BY,
        SUPERSEDED_AT,
        MERGED_INTO,
    ],
};

pub(super) const CONCEPT: Kind = Kind {
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
        FieldKey { name: "exceptions", value_type: ValueType::Texts { n_max: 50, chars_max: 500 } },
        FieldKey { name: "tags", value_type: ValueType::Texts { n_max: 20, chars_max: 50 } },
        METADATA,
        ORIGIN,
        LINKS,
        LABELS,
        text("note", 1_000),
        DELETED,
        SUPERSEDED_BY,
        SUPERSEDED_AT,
        MERGED_INTO,
    ],
};

pub(super) const FACT: Kind = Kind {
    node_type: NodeType::Fact,
    bucket: &["@concepts"],
    content_chars_max: EPISODE_CHARS_MAX,
    keys: &[
        SUBJECT,
        text("attribute", 200),
        text("key", 401),
        time("valid_from"),
        time("valid_to"),
        FieldKey { name: "contested", value_type: ValueType::Flag },
        ORIGIN,
        CREATED_AT,
        UPDATED_AT,
        ASSERTED_BY,
        SOURCE_REF,
        LINKS,
        LABELS,
        text("note", 1_000),
        DELETED,
        SUPERSEDED_BY,
        SUPERSEDED_AT,
        MERGED_INTO,
    ],
};

pub(super) const TOPIC: Kind = Kind {
    node_type: NodeType::Topic,
    bucket: &[TOPICS_ROOT],
    content_chars_max: 2_000,
    keys: &[TITLE, NAMES, CREATED_AT, UPDATED_AT, LABELS, DELETED],
};

pub(super) const ENTITY: Kind = Kind {
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
        LABELS,
        DELETED,
        MERGED_INTO,
    ],
};

pub(super) const CONFLICT: Kind = Kind {
    node_type: NodeType::Conflict,
    bucket: &["@conflicts"],
    content_chars_max: 20_000,
    keys: &[
        FieldKey { name: "conflict", value_type: ValueType::Choice(CONFLICT_STATES) },
        FieldKey { name: "severity", value_type: ValueType::Choice(SEVERITIES) },
        LINKS,
        text("note", 1_000),
        FieldKey { name: "winner", value_type: ValueType::Id },
        ORIGIN,
        CREATED_AT,
        UPDATED_AT,
        time("resolved_at"),
    ],
};

pub(super) const CHUNK: Kind = Kind {
    node_type: NodeType::Chunk,
    bucket: &["@ingest"],
    content_chars_max: EPISODE_CHARS_MAX,
    keys: &[
        FieldKey { name: "kind", value_type: ValueType::Choice(CHUNK_STATES) },
        text("source", 100),
        text("instructions", 4_000),
        TOPIC_ID,
        FieldKey { name: "archived", value_type: ValueType::Flag },
        CREATED_AT,
        UPDATED_AT,
    ],
};
