//! Diff: text changes between two snapshots as unified hunks, one record per node.

use serde_json::{Value, json};

use super::budgeted_page::{self, PageEntry};
use super::net_changes::{self, NetChange, NetChangeIterator, OmittedChanges};
use super::{Answer, Error, OutputFormat, budget_enforcement, unified_diff};
use crate::store::ChangePosition;
use crate::store::reader::{Reader, SnapshotRange};

/// A query for the text changes between two snapshots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DiffQuery<'a> {
    /// The snapshot before the first change; 0: before everything.
    pub(crate) from: i64,
    /// The snapshot after the last change.
    pub(crate) to: i64,
    /// The cursor of the page before this one.
    pub(crate) cursor: Option<&'a str>,
}

/// Returns the net text changes between two snapshots, in at most `max` tokens of text.
pub(super) fn diff(
    reader: &Reader,
    query: &DiffQuery<'_>,
    max: u32,
    output: OutputFormat,
) -> Result<Answer, Error> {
    let cursor = net_changes::parse_cursor(query.cursor)?;
    if query.to < query.from {
        let (from, to) = (query.from, query.to);
        return Err(Error::BadArgument(format!(
            "`from_snapshot_id` {from} must be <= `to_snapshot_id` {to}; swap them"
        )));
    }
    net_changes::check_begin(reader, "from_snapshot_id", query.from)?;
    net_changes::check_known(reader, "to_snapshot_id", query.to)?;
    let all = reader.versions().snapshots()?;
    if all.is_cut && query.from < all.first {
        let first = all.first;
        return Err(Error::NotFound(format!(
            "`from_snapshot_id`: history begins at snapshot {first}; what was before is gone"
        )));
    }
    page_of(reader, SnapshotRange { from: query.from, to: query.to }, cursor, (max, output))
}

fn page_of(
    reader: &Reader,
    range: SnapshotRange,
    cursor: Option<ChangePosition>,
    (max, output): (u32, OutputFormat),
) -> Result<Answer, Error> {
    let mut nets = NetChangeIterator::behind(reader, range, cursor);
    let n_all = nets.n_left()?;
    let next = || {
        let Some(net) = nets.next()? else { return Ok(None) };
        record(reader, range, &net, output).map(Some)
    };
    let rest = |place| OmittedChanges::behind(place, n_all);
    let page =
        budgeted_page::fill(max, usize::MAX, "\n\n", next, |place, mean| rest(place).line(mean))?;
    let text = match page.is_empty {
        true => budget_enforcement::first_fitting(max, ["no changes".to_owned()]),
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
    Ok(Answer { text, structured, shown: Vec::new(), budget: None })
}

fn record(
    reader: &Reader,
    range: SnapshotRange,
    net: &NetChange,
    output: OutputFormat,
) -> Result<PageEntry, Error> {
    let (description, mut facts) = net_changes::described(reader, range, net, output)?;
    let mut record = format!("{} {description}", net_changes::title(net));
    if net.is_text_changed() {
        let (old, new) = net.texts(reader)?;
        let hunks = unified_diff::unified_hunks(&old, &new);
        record.push('\n');
        record.push_str(hunks.trim_end_matches('\n'));
        if output == OutputFormat::Structured {
            facts["diff"] = json!(hunks);
        }
    }
    let text = record.trim_end_matches('\n').to_owned();
    Ok(PageEntry { text, place: net.place(), facts })
}
