//! Diff: how texts changed between two snapshots, as unified hunks, one record a node.

use serde_json::{Value, json};

use super::changes::{self, NetChange, NetChanges, OmittedChanges};
use super::page::{self, PageEntry};
use super::{QueryAnswer, QueryError, budget, unified_diff};
use crate::store::reader::{Reader, SnapshotRange};

/// Tokens of a reply when no budget is given.
const TOKENS_DEFAULT: u32 = 8_000;

/// A question for how texts changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffQuery<'a> {
    /// The snapshot before the first change; 0: before everything.
    pub(crate) from: i64,
    /// The snapshot after the last change.
    pub(crate) to: i64,
    /// Tokens of the reply; `None`: 8,000.
    pub(crate) budget: Option<u32>,
    /// Where the page before this one ended.
    pub(crate) cursor: Option<&'a str>,
}

/// Returns what leads from one snapshot to a later one, net.
pub(crate) fn diff(reader: &Reader, query: &DiffQuery<'_>) -> Result<QueryAnswer, QueryError> {
    reader.at_one_state(|reader| {
        let cursor = changes::parse_cursor(query.cursor)?;
        if query.to < query.from {
            let (from, to) = (query.from, query.to);
            return Err(QueryError::BadArgument(format!(
                "`from_snapshot_id` {from} must be <= `to_snapshot_id` {to}; swap them"
            )));
        }
        changes::check_begin(reader, "from_snapshot_id", query.from)?;
        changes::check_known(reader, "to_snapshot_id", query.to)?;
        let all = reader.snapshots()?;
        if all.is_cut && query.from < all.first {
            let first = all.first;
            return Err(QueryError::NotFound(format!(
                "`from_snapshot_id`: history begins at snapshot {first}; what was before is gone"
            )));
        }
        let range = SnapshotRange { from: query.from, to: query.to };
        let max = query.budget.unwrap_or(TOKENS_DEFAULT);
        let mut nets = NetChanges::behind(reader, range, cursor);
        let n_all = nets.n_left()?;
        let next = || {
            let Some(net) = nets.next()? else { return Ok(None) };
            Ok(Some(PageEntry { text: record(reader, range, &net)?, facts: net }))
        };
        let rest = |net: &NetChange| OmittedChanges::behind(net.moment, net.n_passed, n_all);
        let page = page::fill(max, usize::MAX, "\n\n", next, |net, mean| rest(net).line(mean))?;

        let text = match page.shown.is_empty() {
            true => budget::first_fitting(max, ["no changes".to_owned()]),
            false => page.text.clone(),
        };
        let mut structured = Value::from_iter([
            ("from", json!(query.from)),
            ("to", json!(query.to)),
            ("changes", page.shown.iter().map(changes::facts).collect()),
        ]);
        if let Some(last) = page.shown.last().filter(|_| page.has_more) {
            structured["left_out"] = rest(last).facts();
        }
        Ok(QueryAnswer { text, structured, warmed: Vec::new() })
    })
}

fn record(reader: &Reader, range: SnapshotRange, net: &NetChange) -> Result<String, QueryError> {
    let description = changes::description(reader, range, net)?;
    let mut record = format!("{} {description}", changes::title(net));
    if net.is_text_changed() {
        let (old, new) = net.texts(reader)?;
        record.push('\n');
        record.push_str(unified_diff::unified_hunks(&old, &new).trim_end_matches('\n'));
    }
    Ok(record.trim_end_matches('\n').to_owned())
}
