//! The tools that only ask.

use serde_json::{Value, json};

use crate::mcp::Args;
use crate::model::clock::Millis;
use crate::model::tree::NodeType;
use crate::query::{self, Detail, Direction, Output, QueryAnswer, QueryError};
use crate::store::reader::Reader;
use crate::surface::list_output;

pub(super) fn search(
    reader: &Reader,
    args: &Args,
    _: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let query = query::SearchQuery {
        query: args.text("query").unwrap_or_default(),
        budget: budget(args),
        detail: args.text("detail").and_then(Detail::parse).unwrap_or_default(),
        node_type: args.text("type").and_then(NodeType::parse),
        limit: None,
    };
    query::search(reader, &query, output)
}

pub(super) fn tree(
    reader: &Reader,
    args: &Args,
    _: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let levels = query::clamp_levels(args.integer("depth"), query::TREE_LEVELS);
    query::tree(
        reader,
        &query::TreeQuery { root: args.text("root"), levels, budget: budget(args) },
        output,
    )
}

pub(super) fn fetch(
    reader: &Reader,
    args: &Args,
    _: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let query = query::FetchQuery {
        anchor: args.text("anchor").unwrap_or_default(),
        budget: budget(args),
        levels: query::clamp_levels(args.integer("depth"), query::FETCH_LEVELS),
    };
    query::fetch(reader, &query, output)
}

pub(super) fn fetch_batch(
    reader: &Reader,
    args: &Args,
    _: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let ids: Vec<&str> = args.texts("node_ids").iter().map(String::as_str).collect();
    query::fetch_batch(reader, &ids, budget(args), output)
}

pub(super) fn related(
    reader: &Reader,
    args: &Args,
    _: Millis,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let query = query::RelatedQuery {
        anchor: args.text("anchor").unwrap_or_default(),
        direction: args.text("direction").and_then(Direction::parse).unwrap_or_default(),
        depth: args.integer("depth"),
        budget: budget(args),
        weight_min: args.number("weight_min").unwrap_or(0.0),
    };
    query::related(reader, &query, output)
}

pub(super) fn nodes_output() -> Value {
    list_output("nodes")
}

pub(super) fn hits_output() -> Value {
    list_output("hits")
}

pub(super) fn stats_output() -> Value {
    json!({"type": "object"})
}

/// The budget that was asked for; none, zero or less leaves it to the question.
pub(super) fn budget(args: &Args) -> Option<u32> {
    let asked = args.integer("budget").filter(|it| 0 < *it)?;
    Some(u32::try_from(asked).unwrap_or(u32::MAX))
}
