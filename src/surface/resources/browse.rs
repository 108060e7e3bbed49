//! The resources of pages for people: nodes, areas, edges and changes, page by page.

use std::fmt::Write;

use serde_json::Value;

use super::{ResourceFn, number, put};
use crate::mcp::uri::UriVars;
use crate::mcp::{Resource, ResourceFormat};
use crate::memory::{Error, ReadOnlyMemory};
use crate::query::browse::{self, DirectionFilter, HitsQuery, LIMIT_DEFAULT, LIMIT_MAX};
use crate::store::reader::Reader;
use crate::text::terminal_safe_json::json_text;

const fn row(
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    description: &'static str,
    read: ResourceFn,
) -> Resource<ResourceFn> {
    let form = ResourceFormat::Json;
    Resource { uri, name, title, description, form, is_subscribable: false, read }
}

pub(super) const NODE: Resource<ResourceFn> = row(
    "remindb://node/{id}{?from}",
    "node",
    "Node",
    "The node `id` with its place, heat and text as blocks; `from` continues a long text.",
    |view, vars, out| {
        let id = vars.get("id").unwrap_or_default();
        write(view, out, |reader| browse::node_document(reader, id, vars.get("from")))
    },
);

pub(super) const CHILDREN: Resource<ResourceFn> = row(
    "remindb://children{?of,after,limit}",
    "children",
    "Children",
    "The children of the node or file `of`, or of all files, `limit` (at most 200) a page.",
    |view, vars, out| {
        let (of, after, n_max) = (vars.get("of"), vars.get("after"), limit(vars)?);
        write(view, out, |reader| browse::children_document(reader, of, after, n_max))
    },
);

pub(super) const MAP: Resource<ResourceFn> = row(
    "remindb://map{?path,limit}",
    "map",
    "Map",
    "The folders and files in the folder `path`, with nodes, tokens and temperatures.",
    |view, vars, out| {
        let (path, n_max, now) = (vars.get("path"), limit(vars)?, view.now());
        write(view, out, |reader| browse::map_document(reader, path, n_max, now))
    },
);

pub(super) const HEAT: Resource<ResourceFn> = Resource {
    is_subscribable: true,
    ..row(
        "remindb://heat",
        "heat",
        "Heat",
        "How many nodes are how warm, and the warmest and coldest ones. Reading it warms nothing.",
        |view, _, out| {
            let (lines, now) = (view.thresholds(), view.now());
            write(view, out, |reader| browse::heat_document(reader, lines, now))
        },
    )
};

pub(super) const SEARCH: Resource<ResourceFn> = row(
    "remindb://search{?q,type,budget}",
    "search",
    "Search",
    "What a search answers, with the reasons of each rank. It warms nothing.",
    |view, vars, out| {
        let budget = number(vars, "budget")?.map(|it| u32::try_from(it).unwrap_or(u32::MAX));
        let budget = budget.filter(|it| 0 < *it);
        let asked = HitsQuery { query: vars.get("q"), node_type: vars.get("type"), budget };
        let (lines, now) = (view.thresholds(), view.now());
        write(view, out, |reader| browse::search_document(reader, asked, lines, now))
    },
);

pub(super) const LINKS: Resource<ResourceFn> = row(
    "remindb://links/{id}{?direction,after,limit}",
    "links",
    "Links",
    "The edges of the node `id` (`direction` in, out or both), and references without a target.",
    |view, vars, out| {
        let (id, after, n_max) = (vars.get("id"), vars.get("after"), limit(vars)?);
        let direction = match vars.get("direction") {
            None => DirectionFilter::default(),
            Some(name) => DirectionFilter::parse(name).ok_or_else(|| {
                Error::BadArgument("`direction` must be in, out or both".to_owned())
            })?,
        };
        let id = id.unwrap_or_default();
        write(view, out, |reader| browse::links_document(reader, id, direction, after, n_max))
    },
);

pub(super) const TIMELINE: Resource<ResourceFn> = Resource {
    is_subscribable: true,
    ..row(
        "remindb://timeline",
        "timeline",
        "Timeline",
        "The 100 newest snapshots with their numbers of changes, and these by day.",
        timeline,
    )
};

pub(super) const TIMELINE_NARROWED: Resource<ResourceFn> = row(
    "remindb://timeline{?before,limit}",
    "timeline-page",
    "Timeline",
    "The `limit` (at most 200) snapshots before another page's `next`.",
    timeline,
);

pub(super) const CHANGES: Resource<ResourceFn> = row(
    "remindb://snapshots/{id}/changes{?after,limit}",
    "snapshot-changes",
    "Changes of a snapshot",
    "What the snapshot `id` changed, hunk by hunk, `limit` (100, at most 200) changes a page.",
    |view, vars, out| {
        let (id, after, n_max) = (number(vars, "id")?, vars.get("after"), limit(vars)?);
        let id = id.unwrap_or_default();
        write(view, out, |reader| browse::changes_document(reader, id, after, n_max))
    },
);

pub(super) const HISTORY: Resource<ResourceFn> = row(
    "remindb://history/{id}{?before,limit}",
    "node-history",
    "History of a node",
    "The changes of the node `id`, newest first, hunk by hunk.",
    |view, vars, out| {
        let (id, before, n_max) = (vars.get("id"), vars.get("before"), limit(vars)?);
        let id = id.unwrap_or_default();
        write(view, out, |reader| browse::history_document(reader, id, before, n_max))
    },
);

fn timeline(view: &ReadOnlyMemory, vars: &UriVars, out: &mut dyn Write) -> Result<(), Error> {
    let (before, n_max) = (vars.get("before"), limit(vars)?);
    write(view, out, |reader| browse::timeline_document(reader, before, n_max))
}

/// Digits of a number that is read; a longer one is more than there is of anything.
const DIGITS_MAX: usize = 18;

/// Returns the asked number of rows; more than fit are as many as fit.
fn limit(vars: &UriVars) -> Result<usize, Error> {
    let has_all = |it: &str| DIGITS_MAX < it.len() && it.bytes().all(|it| it.is_ascii_digit());
    if vars.get("limit").is_some_and(has_all) {
        return Ok(LIMIT_MAX);
    }
    match number(vars, "limit")? {
        None => Ok(LIMIT_DEFAULT),
        Some(0) => Err(Error::BadArgument("`limit` is 0; ask for at least 1".to_owned())),
        Some(n) => Ok(usize::try_from(n).unwrap_or(LIMIT_MAX).min(LIMIT_MAX)),
    }
}

/// Writes a document of one state of the memory.
fn write(
    view: &ReadOnlyMemory,
    out: &mut dyn Write,
    document: impl FnOnce(&Reader) -> Result<Value, Error>,
) -> Result<(), Error> {
    put(out, &json_text(&view.read(document)?))
}
