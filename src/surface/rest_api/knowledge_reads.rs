//! Requests of plain HTTP that read: records of knowledge, which nothing warms.

use serde_json::{Value, json};

use super::{RestArgs, RestContext, RestResult};
use crate::memory::knowledge::{self, RecallRequest};
use crate::memory::typed::{ErrorCode, MemoryError};
use crate::model::tree::NodeType;
use crate::store::StoreError;
use crate::store::reader::Reader;

pub(super) fn stats(context: &RestContext<'_>, _: &RestArgs<'_>) -> RestResult {
    let now = context.view.now();
    read(context, |reader| knowledge::stats_record(reader, now))
}

pub(super) fn config(context: &RestContext<'_>, _: &RestArgs<'_>) -> RestResult {
    Ok(json!({"episode_types": context.settings.kinds()}))
}

pub(super) fn graph(context: &RestContext<'_>, _: &RestArgs<'_>) -> RestResult {
    read(context, knowledge::graph_record)
}

pub(super) fn entity_graph(context: &RestContext<'_>, _: &RestArgs<'_>) -> RestResult {
    read(context, knowledge::entity_graph_record)
}

pub(super) fn concepts(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::concept_records(reader, &asked.filter))
}

pub(super) fn deleted_concepts(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::deleted_records(reader, NodeType::Concept, &asked.filter))
}

pub(super) fn concept(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::concept_record(reader, asked.id))
}

pub(super) fn episodes(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::episode_records(reader, &asked.filter))
}

pub(super) fn deleted_episodes(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::deleted_records(reader, NodeType::Episode, &asked.filter))
}

pub(super) fn episode(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::episode_record(reader, asked.id))
}

pub(super) fn entities(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::entity_records(reader, &asked.filter))
}

pub(super) fn entity(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::entity_record(reader, asked.id))
}

pub(super) fn episodes_of_entity(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::episodes_of_entity(reader, asked.id, &asked.filter))
}

pub(super) fn concepts_of_entity(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::concepts_of_entity(reader, asked.id, &asked.filter))
}

pub(super) fn topics(context: &RestContext<'_>, _: &RestArgs<'_>) -> RestResult {
    read(context, knowledge::topic_records)
}

pub(super) fn topic(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::topic_record(reader, asked.id))
}

pub(super) fn conflicts(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    let wanted = (asked.status.unwrap_or("open"), context.view.now());
    read(context, |reader| {
        let mut document = knowledge::conflicts_document(reader, wanted, asked.filter.n_max)?;
        document["open_count"] = knowledge::n_open_conflicts(reader, wanted.1)?.into();
        Ok(document)
    })
}

pub(super) fn events(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    read(context, |reader| knowledge::events_document(reader, asked.since, asked.filter.n_max))
}

/// Answers a question, whose arguments are the body.
pub(super) fn query(context: &RestContext<'_>, asked: &RestArgs<'_>) -> RestResult {
    let request = RecallRequest::parse(asked.object()?)?.weighed_by(&context.settings);
    let now = context.view.now();
    read(context, |reader| knowledge::query_record(reader, &request, now))
}

fn read(
    context: &RestContext<'_>,
    document: impl FnOnce(&Reader) -> Result<Value, MemoryError>,
) -> RestResult {
    let read = context.view.read::<_, StoreError>(|reader| Ok(document(reader)));
    let failed = |error: StoreError| MemoryError::new(ErrorCode::from(&error), error.to_string());
    Ok(read.map_err(failed)??)
}
