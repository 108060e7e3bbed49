//! The tools that ask about the past, and the one that goes back to it.

use serde_json::{Value, json};

use super::read::budget;
use crate::mcp::Args;
use crate::memory::rollback::LaterSnapshots;
use crate::memory::{self, Error, Memory};
use crate::model::clock::Millis;
use crate::query::{self, Output, QueryAnswer, QueryError};
use crate::store::reader::Reader;
use crate::surface::list_output;

pub(super) fn delta(
    reader: &Reader,
    args: &Args,
    _: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let query = query::DeltaQuery {
        since: args.integer("since_snapshot").unwrap_or(0),
        show: if args.flag("detail") {
            query::DeltaDetail::Texts
        } else {
            query::DeltaDetail::Lines
        },
        budget: budget(args),
        cursor: args.text("cursor"),
    };
    query::delta(reader, &query, output)
}

pub(super) fn diff(
    reader: &Reader,
    args: &Args,
    _: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let query = query::DiffQuery {
        from: args.integer("from_snapshot_id").unwrap_or(0),
        to: args.integer("to_snapshot_id").unwrap_or(0),
        budget: budget(args),
        cursor: args.text("cursor"),
    };
    query::diff(reader, &query, output)
}

pub(super) fn history(
    reader: &Reader,
    args: &Args,
    now: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let query = query::HistoryQuery {
        anchor: args.text("anchor").unwrap_or_default(),
        depth: query::clamp_levels(args.integer("depth"), query::HISTORY_DEPTH),
        budget: budget(args),
        cursor: args.text("cursor"),
    };
    query::history(reader, &query, now, output)
}

pub(super) fn rollback(memory: &Memory, args: &Args) -> Result<memory::Answer, Error> {
    let target = args.integer("snapshot_id").unwrap_or(0);
    let after = if args.flag("drop_after") { LaterSnapshots::Drop } else { LaterSnapshots::Keep };
    let rolled = memory.rollback_to(target, after)?;
    Ok(memory::Answer {
        text: rolled.text(),
        structured: memory.output().json(|| rolled.to_json()),
    })
}

pub(super) fn changes_output() -> Value {
    list_output("changes")
}

pub(super) fn rollback_output() -> Value {
    let integer = json!({"type": "integer"});
    let properties = json!({"target": integer, "nodes": integer});
    json!({"type": "object", "properties": properties, "required": ["target", "nodes"]})
}

pub(super) fn history_output() -> Value {
    list_output("history")
}
