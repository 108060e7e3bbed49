//! Requests of plain HTTP that change the memory, as the tools do, or call one of them.
//!
//! A body has the names of a record: what is sent back changed is taken as it was read.

use serde_json::{Map, Value, json};

use super::{RestArgs, RestError, RestResult};
use crate::memory::Memory;
use crate::memory::knowledge::{
    self, ApplyRequest, ConsolidateRequest, MemoryIngestArgs, RecallRequest, RememberRequest,
    WorksheetRequest, remind_compatible_requests,
};
use crate::memory::typed::{ErrorCode, MemoryError};
use crate::model::tree::NodeType;
use crate::providers::wait_out;

/// Names of a record that are others among the arguments of a tool.
const RENAMED: [(&str, &str); 2] = [("topic_id", "topic"), ("entity_ids", "entities")];

pub(super) fn update_concept(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    check_shown(memory, asked.id, NodeType::Concept)?;
    remind_compatible_requests::update_concept(memory, &named(asked, "concept_id")?)?;
    let record: Value = memory.read(|reader| knowledge::concept_record(reader, asked.id))?;
    Ok(json!({"success": true, "concept": record}))
}

pub(super) fn update_episode(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    check_shown(memory, asked.id, NodeType::Episode)?;
    remind_compatible_requests::update_episode(memory, &named(asked, "episode_id")?)?;
    let record: Value = memory.read(|reader| knowledge::episode_record(reader, asked.id))?;
    Ok(json!({"success": true, "episode": record}))
}

pub(super) fn delete_concept(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    delete(memory, asked, NodeType::Concept)
}

pub(super) fn delete_episode(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    delete(memory, asked, NodeType::Episode)
}

pub(super) fn restore_concept(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    restore(memory, asked, NodeType::Concept)
}

pub(super) fn restore_episode(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    restore(memory, asked, NodeType::Episode)
}

pub(super) fn purge_concept(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    Ok(memory.purge(asked.id, NodeType::Concept)?)
}

pub(super) fn purge_episode(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    Ok(memory.purge(asked.id, NodeType::Episode)?)
}

pub(super) fn purge_all(memory: &Memory, _: &RestArgs<'_>) -> RestResult {
    Ok(memory.purge_all()?)
}

pub(super) fn create_topic(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    let body = asked.object()?;
    let name = body.get("name").and_then(Value::as_str).unwrap_or_default();
    if memory.read(|reader| knowledge::topic_record(reader, name)).is_ok() {
        return Err(RestError::new(409, format!("there is a topic `{name}` already")));
    }
    let made = remind_compatible_requests::create_topic(memory, body)?;
    let id = made["results"][0]["id"].as_str().unwrap_or_default();
    Ok(memory.read(|reader| knowledge::topic_record(reader, id))?)
}

pub(super) fn update_topic(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    let mut body = asked.object()?.clone();
    body.insert("topic_id".to_owned(), asked.id.into());
    let changed = remind_compatible_requests::update_topic(memory, &body)?;
    let id = changed["results"][0]["id"].as_str().unwrap_or_default();
    Ok(memory.read(|reader| knowledge::topic_record(reader, id))?)
}

pub(super) fn delete_topic(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    let body = Map::from_iter([("topic_id".to_owned(), asked.id.into())]);
    // It is there, and something is of it.
    let in_use = |error: MemoryError| match error.code {
        ErrorCode::InvalidInput => RestError::new(409, error.message),
        _ => error.into(),
    };
    remind_compatible_requests::delete_topic(memory, &body).map_err(in_use)?;
    Ok(json!({"deleted": true}))
}

pub(super) fn resolve_conflict(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    end_conflict(memory, asked, "resolve")
}

pub(super) fn dismiss_conflict(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    end_conflict(memory, asked, "dismiss")
}

pub(super) fn remember(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    Ok(memory.remember(RememberRequest::parse(asked.object()?)?)?)
}

pub(super) fn recall(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    Ok(memory.recall(&RecallRequest::parse(asked.object()?)?)?)
}

pub(super) fn review(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    Ok(memory.review(&WorksheetRequest::parse(asked.object()?)?)?)
}

pub(super) fn apply(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    let request = ApplyRequest::parse(asked.object()?)?;
    Ok(memory.apply(&request).map_err(MemoryError::from)?)
}

pub(super) fn ingest(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    Ok(memory.ingest(&MemoryIngestArgs::parse(asked.object()?)?)?)
}

pub(super) fn consolidate(memory: &Memory, asked: &RestArgs<'_>) -> RestResult {
    Ok(memory.consolidate(&ConsolidateRequest::parse(asked.object()?)?, &wait_out)?)
}

/// Returns the members of the body as a tool takes them, with the id of the path.
fn named(asked: &RestArgs<'_>, id: &str) -> Result<Map<String, Value>, MemoryError> {
    let argument = |(name, value): (&String, &Value)| {
        let renamed = RENAMED.iter().find(|(record, _)| record == name);
        (renamed.map_or(name.as_str(), |it| it.1).to_owned(), value.clone())
    };
    let mut args: Map<String, Value> = asked.object()?.iter().map(argument).collect();
    // In a record, nothing is null.
    if let Some(topic) = args.get_mut("topic").filter(|it| it.is_null()) {
        *topic = "".into();
    }
    args.insert(id.to_owned(), asked.id.into());
    Ok(args)
}

/// Refuses a node that is not there, or not of that type, or deleted.
fn check_shown(memory: &Memory, id: &str, node_type: NodeType) -> Result<(), RestError> {
    match memory.read(|reader| knowledge::deletion_of(reader, id, node_type))? {
        false => Ok(()),
        true => Err(RestError::new(404, format!("the {node_type} `{id}` is deleted; restore it"))),
    }
}

fn delete(memory: &Memory, asked: &RestArgs<'_>, node_type: NodeType) -> RestResult {
    check_shown(memory, asked.id, node_type)?;
    remind_compatible_requests::delete_node(memory, &id_of(asked), ("id", node_type))?;
    Ok(json!({"success": true}))
}

fn restore(memory: &Memory, asked: &RestArgs<'_>, node_type: NodeType) -> RestResult {
    let is_deleted: bool =
        memory.read(|reader| knowledge::deletion_of(reader, asked.id, node_type))?;
    if !is_deleted {
        return Err(RestError::new(404, format!("the {node_type} `{}` is not deleted", asked.id)));
    }
    remind_compatible_requests::restore_node(memory, &id_of(asked), ("id", node_type))?;
    Ok(json!({"success": true}))
}

fn id_of(asked: &RestArgs<'_>) -> Map<String, Value> {
    Map::from_iter([("id".to_owned(), asked.id.into())])
}

fn end_conflict(memory: &Memory, asked: &RestArgs<'_>, op: &str) -> RestResult {
    let mut operation = asked.object()?.clone();
    operation.insert("op".to_owned(), op.into());
    operation.insert("id".to_owned(), asked.id.into());
    let request = Map::from_iter([("operations".to_owned(), json!([operation]))]);
    memory.apply(&ApplyRequest::parse(&request)?).map_err(MemoryError::from)?;
    Ok(memory.read(|reader| knowledge::conflict_document(reader, asked.id))?)
}
