//! The tools that change the memory. Each calls one method of it, which is one write.

use serde_json::{Map, Value, json};

use crate::mcp::Args;
use crate::memory::rollback::LaterSnapshotPolicy;
use crate::memory::{Answer, AppendOrReplaceMode, Error, ForgetChildrenMode, Memory};

pub(super) fn write(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    let mode = match args.text("mode") {
        Some("append") => AppendOrReplaceMode::Append,
        Some("replace") => AppendOrReplaceMode::Replace,
        _ => AppendOrReplaceMode::Auto,
    };
    let anchor = args.text("anchor").filter(|it| !it.is_empty());
    let payload = args.text("payload").unwrap_or_default();
    memory.write(payload, anchor, mode)
}

pub(super) fn summarize(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    let summary = args.text("summary").unwrap_or_default();
    memory.summarize(node_id(args), summary, args.number("temperature"))
}

pub(super) fn forget(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    let mode = match args.text("mode") {
        Some("cascade") => ForgetChildrenMode::Cascade,
        Some("reparent") => ForgetChildrenMode::Reparent,
        _ => ForgetChildrenMode::Strict,
    };
    memory.forget(node_id(args), mode)
}

pub(super) fn pin(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    memory.pin(node_id(args), args.number("temperature"))
}

pub(super) fn unpin(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    memory.unpin(node_id(args))
}

pub(super) fn rollback(memory: &Memory, args: &Args) -> Result<Answer, Error> {
    let target = args.integer("snapshot_id").unwrap_or(0);
    memory.rollback_to(
        target,
        if args.flag("drop_after") { LaterSnapshotPolicy::Drop } else { LaterSnapshotPolicy::Keep },
    )
}

pub(super) fn rollback_output() -> Value {
    let integer = json!({"type": "integer"});
    let properties = json!({"target": integer, "nodes": integer});
    json!({"type": "object", "properties": properties, "required": ["target", "nodes"]})
}

pub(super) fn written_output() -> Value {
    output(&[("tokens", "integer")])
}

pub(super) fn summarized_output() -> Value {
    output(&[("tokens_before", "integer"), ("tokens_after", "integer")])
}

pub(super) fn forgotten_output() -> Value {
    output(&[("affected", "integer")])
}

pub(super) fn pinned_output() -> Value {
    output(&[("pinned", "boolean"), ("temperature", "number")])
}

/// Returns the schema of an object with the node's id and these facts, all required.
fn output(facts: &[(&str, &str)]) -> Value {
    let mut properties = Map::from_iter([("node_id".to_owned(), json!({"type": "string"}))]);
    properties.extend(facts.iter().map(|(name, kind)| ((*name).to_owned(), json!({"type": kind}))));
    let names: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "properties": properties, "required": names})
}

fn node_id(args: &Args) -> &str {
    args.text("node_id").unwrap_or_default()
}
