//! Events: the changes of nodes of knowledge one after another, each with what it is about.

use serde_json::{Value, json};

use crate::memory::knowledge::arguments::KnowledgeResult;
use crate::memory::typed::MemoryError;
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::NodeType;
use crate::store::reader::{KnowledgeChange, Reader};

/// Types of nodes whose changes are events.
const TYPES: &[NodeType] = &[
    NodeType::Episode,
    NodeType::Concept,
    NodeType::Fact,
    NodeType::Topic,
    NodeType::Entity,
    NodeType::Conflict,
];

/// Fields that say what happened when they appear or go, the first one that does.
const TELLING: &[(&str, &str, &str)] = &[
    ("deleted", "deleted", "restored"),
    ("merged_into", "merged", "unmerged"),
    ("superseded_by", "superseded", "current"),
    ("contested", "contested", "uncontested"),
    ("processed_in", "processed", "pending"),
];

/// A place in the history: all of a snapshot, or its changes up to a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EventCursor(i64, i64);

impl EventCursor {
    /// Parses `snapshot` or `snapshot.change`.
    fn parse(text: &str) -> Option<EventCursor> {
        let number = |it: &str| it.parse::<i64>().ok().filter(|it| 0 <= *it);
        match text.split_once('.') {
            Some((snapshot, seq)) => Some(EventCursor(number(snapshot)?, number(seq)?)),
            None => Some(EventCursor(number(text)?, i64::MAX)),
        }
    }
}

/// Returns the events after a place, eldest first, and the place to go on from.
pub(crate) fn events_document(
    reader: &Reader,
    since: Option<&str>,
    n_max: usize,
) -> KnowledgeResult<Value> {
    let EventCursor(snapshot, seq) = match since {
        None => EventCursor(0, i64::MAX),
        Some(text) => EventCursor::parse(text).ok_or_else(|| {
            MemoryError::invalid("`since` must be a snapshot, or `next` of an earlier answer")
        })?,
    };
    let history = reader.versions().snapshots()?;
    let (oldest, head) = (history.first, history.last);
    let mut changes = reader.knowledge_changes((snapshot, seq), TYPES, n_max + 1)?;
    let has_more = n_max < changes.len();
    changes.truncate(n_max);
    let next = match changes.last().filter(|_| has_more) {
        Some(last) => format!("{}.{}", last.snapshot, last.seq),
        None => head.to_string(),
    };
    let events: Vec<Value> = changes.iter().map(event).collect();
    Ok(json!({
        "events": events,
        "next": next,
        "more": has_more,
        // The events between are not known any more, or never were.
        "reset": head < snapshot || snapshot + 1 < oldest || snapshot < oldest && history.is_cut,
    }))
}

fn event(change: &KnowledgeChange) -> Value {
    json!({
        "snapshot": change.snapshot,
        "at": change.at.to_second(),
        "kind": kind_of(change),
        "type": change.node_type,
        "id": change.id,
        "title": change.label,
        "message": change.message,
    })
}

/// Returns what a change did to its node.
fn kind_of(change: &KnowledgeChange) -> &'static str {
    match change.op.as_str() {
        "add" => return "added",
        "rem" => return "removed",
        _ => (),
    }
    let fields = |text: &Option<String>| {
        text.as_deref().and_then(|it| CanonicalFields::parse_loosely(it).ok())
    };
    let (old, new) = (fields(&change.old_fields), fields(&change.new_fields));
    let value =
        |it: &Option<CanonicalFields>, key: &str| it.as_ref().and_then(|it| it.get(key).cloned());
    for (key, appears, goes) in TELLING {
        match (value(&old, key), value(&new, key)) {
            (None, Some(_)) => return appears,
            (Some(_), None) => return goes,
            _ => (),
        }
    }
    match (value(&old, "conflict"), value(&new, "conflict")) {
        (old, Some(new)) if old.as_ref() != Some(&new) => match new.as_str() {
            Some("resolved") => "resolved",
            Some("dismissed") => "dismissed",
            _ => "reopened",
        },
        _ => "changed",
    }
}
