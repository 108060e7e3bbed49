//! Requests of plain HTTP that read: records of knowledge, which nothing warms.

use serde_json::{Value, json};

use super::{PlainDoor, Refusal, RestArgs};
use crate::memory::knowledge::{self, RecallRequest};
use crate::memory::typed::{ErrorCode, MemoryError};
use crate::model::tree::NodeType;
use crate::store::StoreError;
use crate::store::reader::Reader;

type Answer = Result<Value, Refusal>;

pub(super) fn stats(door: &PlainDoor<'_>, _: &RestArgs<'_>) -> Answer {
    read(door, knowledge::stats_record)
}

pub(super) fn config(door: &PlainDoor<'_>, _: &RestArgs<'_>) -> Answer {
    Ok(json!({"episode_types": door.settings.kinds()}))
}

pub(super) fn graph(door: &PlainDoor<'_>, _: &RestArgs<'_>) -> Answer {
    read(door, knowledge::graph_record)
}

pub(super) fn entity_graph(door: &PlainDoor<'_>, _: &RestArgs<'_>) -> Answer {
    read(door, knowledge::entity_graph_record)
}

pub(super) fn concepts(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::concept_records(reader, &asked.filter))
}

pub(super) fn deleted_concepts(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::deleted_records(reader, NodeType::Concept, &asked.filter))
}

pub(super) fn concept(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::concept_record(reader, asked.id))
}

pub(super) fn episodes(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::episode_records(reader, &asked.filter))
}

pub(super) fn deleted_episodes(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::deleted_records(reader, NodeType::Episode, &asked.filter))
}

pub(super) fn episode(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::episode_record(reader, asked.id))
}

pub(super) fn entities(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::entity_records(reader, &asked.filter))
}

pub(super) fn entity(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::entity_record(reader, asked.id))
}

pub(super) fn episodes_of_entity(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::episodes_of_entity(reader, asked.id, &asked.filter))
}

pub(super) fn concepts_of_entity(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::concepts_of_entity(reader, asked.id, &asked.filter))
}

pub(super) fn topics(door: &PlainDoor<'_>, _: &RestArgs<'_>) -> Answer {
    read(door, knowledge::topic_records)
}

pub(super) fn topic(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::topic_record(reader, asked.id))
}

pub(super) fn conflicts(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    let status = asked.status.unwrap_or("open");
    read(door, |reader| {
        let mut document = knowledge::conflicts_document(reader, status, asked.filter.n_max)?;
        document["open_count"] = knowledge::stats_document(reader)?["open_conflicts"].clone();
        Ok(document)
    })
}

pub(super) fn events(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    read(door, |reader| knowledge::events_document(reader, asked.since, asked.filter.n_max))
}

/// Answers a question, whose arguments are the body.
pub(super) fn query(door: &PlainDoor<'_>, asked: &RestArgs<'_>) -> Answer {
    let request = RecallRequest::parse(&asked.object()?)?.weighed_by(&door.settings);
    let now = door.view.now();
    read(door, |reader| knowledge::query_record(reader, &request, now))
}

fn read(
    door: &PlainDoor<'_>,
    document: impl FnOnce(&Reader) -> Result<Value, MemoryError>,
) -> Answer {
    let read = door.view.read::<_, StoreError>(|reader| Ok(document(reader)));
    let failed = |error: StoreError| MemoryError::new(ErrorCode::from(&error), error.to_string());
    Ok(read.map_err(failed)??)
}
