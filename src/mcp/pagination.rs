//! Pagination: a cursor names its list and the begin of the next page.

use serde_json::{Map, Value};

use crate::mcp::rpc::{Params, RpcError};

/// Rows of one page. Usual lists fit one page, which saves round trips.
pub(crate) const PAGE_ROWS_MAX: usize = 100;

/// Returns the page of `rows` that `params` ask for, as a result with the member `name`.
pub(super) fn list<'a, T: 'a>(
    name: &str,
    rows: impl Iterator<Item = &'a T> + Clone,
    rows_max: usize,
    params: &Params,
    to_json: impl Fn(&T) -> Value,
) -> Result<Map<String, Value>, RpcError> {
    let n_rows = rows.clone().count();
    let start = match params.get("cursor") {
        None | Some(Value::Null) => 0,
        Some(cursor) => cursor
            .as_str()
            .and_then(|it| it.strip_prefix(name)?.strip_prefix(':')?.parse::<usize>().ok())
            .filter(|start| (1..n_rows).contains(start))
            .ok_or_else(|| {
                RpcError::new(RpcError::INVALID_PARAMS, "unknown `cursor`; begin without one")
            })?,
    };
    let end = n_rows.min(start.saturating_add(rows_max.max(1)));
    let page = rows.skip(start).take(end - start).map(to_json).collect();
    let mut body = Map::from_iter([(name.to_owned(), page)]);
    if end < n_rows {
        body.insert("nextCursor".to_owned(), format!("{name}:{end}").into());
    }
    Ok(body)
}
