//! Diff: how texts changed between two snapshots, as unified hunks, one record a node.

use serde_json::{Value, json};

use super::changes::{self, Net, Nets, Rest};
use super::page::{self, Entry};
use super::{Answer, Output, QueryError, budget, unified_diff};
use crate::store::Moment;
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
pub(crate) fn diff(reader: &Reader, ask: &Diff<'_>, output: Output) -> Result<Answer, QueryError> {
    let budget = ask.budget.unwrap_or(TOKENS_DEFAULT);
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
        let all = reader.snapshots()?;
        if all.is_cut && ask.from < all.first {
            let first = all.first;
            return Err(QueryError::NotFound(format!(
                "`from_snapshot_id`: history begins at snapshot {first}; what was before is gone"
            )));
        }
        let range = Range { from: ask.from, to: ask.to };
        super::within(Some(budget), output, |room| {
            page_of(reader, range, cursor, room.unwrap_or(budget), output)
        })
    })
}

fn page_of(
    reader: &Reader,
    range: Range,
    cursor: Option<Moment>,
    max: u32,
    output: Output,
) -> Result<Answer, QueryError> {
    let mut nets = Nets::behind(reader, range, cursor);
    let n_all = nets.n_left()?;
    let next = || {
        let Some(net) = nets.next()? else { return Ok(None) };
        record(reader, range, &net, output).map(Some)
    };
    let rest = |place| Rest::behind(place, n_all);
    let page = page::fill(max, usize::MAX, "\n\n", next, |place, mean| rest(place).line(mean))?;
    let text = match page.is_empty {
        true => budget::first_fitting(max, ["no changes".to_owned()]),
        false => page.text,
    };
    let structured = output.json(|| {
        let mut all = Value::from_iter([
            ("from", json!(range.from)),
            ("to", json!(range.to)),
            ("changes", page.facts.into()),
        ]);
        if let Some((place, mean)) = page.end {
            all["left_out"] = rest(place).facts(mean);
        }
        all
    });
    Ok(Answer { text, structured, warmed: Vec::new() })
}

fn record(reader: &Reader, range: Range, net: &Net, output: Output) -> Result<Entry, QueryError> {
    let (description, mut facts) = changes::described(reader, range, net, output)?;
    let mut record = format!("{} {description}", changes::title(net));
    if net.is_text_changed() {
        let (old, new) = net.texts(reader)?;
        let hunks = unified_diff::hunks(&old, &new);
        record.push('\n');
        record.push_str(hunks.trim_end_matches('\n'));
        if output == Output::Structured {
            facts["diff"] = json!(hunks);
        }
    }
    let text = record.trim_end_matches('\n').to_owned();
    Ok(Entry { text, place: net.place(), facts })
}
