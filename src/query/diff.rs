//! Diff: how texts changed between two snapshots, as unified hunks, one record a node.

use serde_json::{Value, json};

use super::changes::{self, Net, Nets, Rest};
use super::page::{self, Entry};
use super::{Answer, QueryError, budget, unified};
use crate::store::reader::{Range, Reader};

/// Tokens of a reply when no budget is given.
const TOKENS_DEFAULT: u32 = 8_000;

/// A question for how texts changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Diff<'a> {
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
pub(crate) fn diff(reader: &Reader, ask: &Diff<'_>) -> Result<Answer, QueryError> {
    reader.at_one_state(|reader| {
        let cursor = changes::parse_cursor(ask.cursor)?;
        if ask.to < ask.from {
            let (from, to) = (ask.from, ask.to);
            return Err(QueryError::BadArgument(format!(
                "`from_snapshot_id` {from} must be <= `to_snapshot_id` {to}; swap them"
            )));
        }
        changes::check_begin(reader, "from_snapshot_id", ask.from)?;
        changes::check_known(reader, "to_snapshot_id", ask.to)?;
        let all = reader.versions().snapshots()?;
        if all.is_cut && ask.from < all.first {
            let first = all.first;
            return Err(QueryError::NotFound(format!(
                "`from_snapshot_id`: history begins at snapshot {first}; what was before is gone"
            )));
        }
        let range = Range { from: ask.from, to: ask.to };
        let max = ask.budget.unwrap_or(TOKENS_DEFAULT);
        let mut nets = Nets::behind(reader, range, cursor);
        let n_all = nets.n_left()?;
        let next = || {
            let Some(net) = nets.next()? else { return Ok(None) };
            Ok(Some(Entry { text: record(reader, range, &net)?, facts: net }))
        };
        let rest = |net: &Net| Rest::behind(net.moment, net.n_passed, n_all);
        let page = page::fill(max, usize::MAX, "\n\n", next, |net, mean| rest(net).line(mean))?;

        let text = match page.shown.is_empty() {
            true => budget::first_fitting(max, ["no changes".to_owned()]),
            false => page.text.clone(),
        };
        let mut structured = Value::from_iter([
            ("from", json!(ask.from)),
            ("to", json!(ask.to)),
            ("changes", page.shown.iter().map(changes::facts).collect()),
        ]);
        if let Some(last) = page.shown.last().filter(|_| page.has_more) {
            structured["left_out"] = rest(last).facts();
        }
        Ok(Answer { text, structured, warmed: Vec::new() })
    })
}

fn record(reader: &Reader, range: Range, net: &Net) -> Result<String, QueryError> {
    let description = changes::description(reader, range, net)?;
    let mut record = format!("{} {description}", changes::title(net));
    if net.is_text_changed() {
        let (old, new) = net.texts(reader)?;
        record.push('\n');
        record.push_str(unified::hunks(&old, &new).trim_end_matches('\n'));
    }
    Ok(record.trim_end_matches('\n').to_owned())
}
