//! Browsing documents: pages of the memory as JSON, for people who look around.
//!
//! Each is bounded: at most [`LIMIT_MAX`] rows and about [`BYTES_MAX`] bytes, with `next` where
//! there is more, which is handed back unchanged. Nothing here warms a node.

mod children;
mod explained_hits;
mod folder_treemap;
mod heat_distribution;
mod links;
mod markdown_to_json_elements;
mod node;
mod timeline_and_changes;

use serde_json::{Value, json};

pub(crate) use children::children_document;
pub(crate) use explained_hits::{HitsQuery, search_document};
pub(crate) use folder_treemap::map_document;
pub(crate) use heat_distribution::heat_document;
pub(crate) use links::{DirectionFilter, links_document};
pub(crate) use node::node_document;
pub(crate) use timeline_and_changes::{changes_document, history_document, timeline_document};

use super::{Error, quote_input};
use crate::model::clock::UnixMillis;
use crate::store::reader::BrowsedNode;

/// Rows of a page, at most.
pub(crate) const LIMIT_MAX: usize = 200;

/// Rows of a page that asks for no number.
pub(crate) const LIMIT_DEFAULT: usize = 100;

/// Bytes of the rows of a page, unless one row alone has more.
const BYTES_MAX: usize = 200 * 1024;

/// Rows of a page, and where the next one begins.
struct CursorPage {
    rows: Vec<Value>,
    /// The cursor of the last row, if there are more.
    next: Option<String>,
}

impl CursorPage {
    /// Takes rows while they fit, of `n_max` and one more that tells that there are more.
    fn take<T>(
        items: &[T],
        n_max: usize,
        row: impl Fn(&T) -> Value,
        cursor: impl Fn(&T) -> String,
    ) -> CursorPage {
        let (mut rows, mut n_bytes) = (Vec::new(), 0);
        for (nth, item) in items.iter().enumerate() {
            let row = row(item);
            n_bytes += row.to_string().len();
            if nth == n_max || (0 < nth && BYTES_MAX < n_bytes) {
                let next = items.get(nth.wrapping_sub(1)).map(&cursor);
                return CursorPage { rows, next };
            }
            rows.push(row);
        }
        CursorPage { rows, next: None }
    }
}

/// Reads whole numbers between periods, as [`CursorPage`] have them in their cursors.
fn numbers<const N: usize>(name: &str, cursor: &str) -> Result<[i64; N], Error> {
    let parsed: Option<Vec<i64>> = cursor.split('.').map(|it| it.parse().ok()).collect();
    parsed.and_then(|it| it.try_into().ok()).ok_or_else(|| bad_cursor(name, cursor))
}

/// Reads one number above zero, as [`CursorPage`] have it in their cursors.
fn position(name: &str, cursor: &str) -> Result<i64, Error> {
    let [position] = numbers(name, cursor)?;
    if position < 1 { Err(bad_cursor(name, cursor)) } else { Ok(position) }
}

fn bad_cursor(name: &str, cursor: &str) -> Error {
    let cursor = quote_input(cursor);
    Error::BadArgument(format!("`{name}` must be the `next` of an earlier page, not `{cursor}`"))
}

/// Returns the row of a node.
fn node_row(node: &BrowsedNode, attended: i64) -> Value {
    json!({
        "id": node.id,
        "type": node.node_type,
        "label": node.label,
        "source": node.path,
        "tokens": node.tokens,
        "temperature": thousandths(node.heat.now(attended)),
        "pinned": node.heat.pinned,
        "n_children": node.n_children,
    })
}

/// Rounds what a person compares by eye.
fn thousandths(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

/// Formats a time to the second.
fn instant(time: UnixMillis) -> String {
    UnixMillis(time.0.div_euclid(1_000).saturating_mul(1_000)).rfc3339()
}
