//! The tools that only read: each turns its arguments into a query.

use serde_json::{Value, json};

use crate::mcp::Args;
use crate::model::tree::NodeType;
use crate::query::{
    self, BatchFetchQuery, DeltaDetail, DeltaQuery, DiffQuery, Direction, FetchQuery, HistoryQuery,
    HitDetail, Query, RelatedQuery, SearchQuery, TreeQuery,
};
use crate::store::reader::{ArchivedVisibility, NodeFilter};
use crate::surface::list_output;

pub(super) fn search(args: &Args) -> Query<'_> {
    Query::Search(SearchQuery {
        query: args.text("query").unwrap_or_default(),
        detail: args.text("detail").and_then(HitDetail::parse).unwrap_or_default(),
        filter: NodeFilter {
            node_type: args.text("type").and_then(NodeType::parse),
            tags: args.texts("tags"),
            status: args.text("status"),
            importance: args.text("importance"),
            since: args.time("since"),
            until: args.time("until"),
            archived: archived(args),
        },
        limit: args.integer("limit").filter(|it| 0 < *it).and_then(|it| it.try_into().ok()),
        has_dates: args.flag("dates"),
        meaning: None,
    })
}

fn archived(args: &Args) -> ArchivedVisibility {
    if args.flag("archived") { ArchivedVisibility::Shown } else { ArchivedVisibility::Hidden }
}

pub(super) fn tree(args: &Args) -> Query<'_> {
    let levels = query::clamp_levels(args.integer("depth"), query::TREE_LEVELS);
    Query::Tree(TreeQuery { root: args.text("root"), levels, archived: archived(args) })
}

pub(super) fn fetch(args: &Args) -> Query<'_> {
    let levels = query::clamp_levels(args.integer("depth"), query::FETCH_LEVELS);
    Query::Fetch(FetchQuery {
        anchor: args.text("anchor").unwrap_or_default(),
        levels,
        has_dates: args.flag("dates"),
    })
}

pub(super) fn fetch_batch(args: &Args) -> Query<'_> {
    Query::Batch(BatchFetchQuery {
        ids: args.texts("node_ids").iter().map(String::as_str).collect(),
        has_dates: args.flag("dates"),
    })
}

pub(super) fn related(args: &Args) -> Query<'_> {
    Query::Related(RelatedQuery {
        anchor: args.text("anchor").unwrap_or_default(),
        direction: args.text("direction").and_then(Direction::parse).unwrap_or_default(),
        depth: args.integer("depth"),
        weight_min: args.number("weight_min").unwrap_or(0.0),
        archived: archived(args),
    })
}

pub(super) fn delta(args: &Args) -> Query<'_> {
    Query::Delta(DeltaQuery {
        since: args.integer("since_snapshot").unwrap_or(0),
        show: if args.flag("detail") { DeltaDetail::Texts } else { DeltaDetail::Lines },
        cursor: args.text("cursor"),
    })
}

pub(super) fn diff(args: &Args) -> Query<'_> {
    Query::Diff(DiffQuery {
        from: args.integer("from_snapshot_id").unwrap_or(0),
        to: args.integer("to_snapshot_id").unwrap_or(0),
        cursor: args.text("cursor"),
    })
}

pub(super) fn history(args: &Args) -> Query<'_> {
    Query::History(HistoryQuery {
        anchor: args.text("anchor").unwrap_or_default(),
        depth: query::clamp_levels(args.integer("depth"), query::HISTORY_DEPTH),
        cursor: args.text("cursor"),
    })
}

pub(super) fn stats(_: &Args) -> Query<'_> {
    Query::Stats
}

pub(super) fn nodes_output() -> Value {
    list_output("nodes")
}

pub(super) fn hits_output() -> Value {
    list_output("hits")
}

pub(super) fn changes_output() -> Value {
    list_output("changes")
}

pub(super) fn history_output() -> Value {
    list_output("history")
}

pub(super) fn stats_output() -> Value {
    json!({"type": "object"})
}
