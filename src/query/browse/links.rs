//! The edges of a node in both directions, and its references that wait for their targets.

use serde_json::{Value, json};

use super::{CursorPage, Error, bad_cursor, numbers};
use crate::query::node_by_id;
use crate::store::reader::{BrowsedLink, LinkGroup, Reader};

/// Pending references that are listed, at most.
const PENDING_MAX: usize = 100;

/// The kinds of edges, in the order of their listing.
const KINDS: [(LinkGroup, &str); 4] = [
    (LinkGroup::ReferencesOut, "out"),
    (LinkGroup::ReferencesIn, "in"),
    (LinkGroup::TypedOut, "out"),
    (LinkGroup::TypedIn, "in"),
];

/// The directions of the edges to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DirectionFilter {
    In,
    Out,
    #[default]
    Both,
}

impl DirectionFilter {
    /// Returns the direction of that name.
    pub(crate) fn parse(name: &str) -> Option<DirectionFilter> {
        match name {
            "in" => Some(DirectionFilter::In),
            "out" => Some(DirectionFilter::Out),
            "both" => Some(DirectionFilter::Both),
            _ => None,
        }
    }

    fn has(self, direction: &str) -> bool {
        match self {
            DirectionFilter::In => direction == "in",
            DirectionFilter::Out => direction == "out",
            DirectionFilter::Both => true,
        }
    }
}

/// An edge with the position that it has in the listing.
struct LinkWithPageCursor {
    /// Index in [`KINDS`].
    kind: usize,
    /// The number of a reference, or the number of edges up to this one.
    at: i64,
    link: BrowsedLink,
}

/// Returns a page of the edges of a node.
pub(crate) fn links_document(
    reader: &Reader,
    id: &str,
    direction: DirectionFilter,
    after: Option<&str>,
    n_max: usize,
) -> Result<Value, Error> {
    let key = node_by_id(reader, id)?.key;
    let node = reader.browsed(&[key])?.pop();
    let node =
        node.ok_or_else(|| Error::NotFound(format!("no node `{}`", super::quote_input(id))))?;
    let [first, mut at] = match after {
        None => [0, 0],
        Some(cursor) => numbers("after", cursor).and_then(|it: [i64; 2]| {
            let is_one = (0..KINDS.len() as i64).contains(&it[0]) && 0 < it[1];
            if is_one { Ok(it) } else { Err(bad_cursor("after", cursor)) }
        })?,
    };
    let mut links: Vec<LinkWithPageCursor> = Vec::new();
    for (kind, (of, name)) in KINDS.into_iter().enumerate().skip(first as usize) {
        let n_left = (n_max + 1).saturating_sub(links.len());
        if direction.has(name) && 0 < n_left {
            let found = reader.links_after(&node, of, at, n_left)?;
            links.extend(found.into_iter().enumerate().map(|(nth, link)| {
                let at = if 0 < link.number { link.number } else { at + nth as i64 + 1 };
                LinkWithPageCursor { kind, at, link }
            }));
        }
        at = 0;
    }
    let row = |it: &LinkWithPageCursor| {
        json!({
            "id": it.link.id,
            "label": it.link.label,
            "direction": KINDS[it.kind].1,
            "type": it.link.link_type,
            "origin": it.link.origin,
            "weight": it.link.weight,
        })
    };
    let page = CursorPage::take(&links, n_max, row, |it| format!("{}.{}", it.kind, it.at));
    let pending = match direction.has("out") && after.is_none() {
        true => reader.pending_links(key, PENDING_MAX)?,
        false => Vec::new(),
    };
    let pending: Vec<Value> = pending
        .iter()
        .map(|it| json!({"label": it.label, "path": it.path, "id_hint": it.id_hint}))
        .collect();
    Ok(json!({"id": node.id, "links": page.rows, "pending": pending, "next": page.next}))
}
