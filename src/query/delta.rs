//! Delta: the net changes since a snapshot, one line per node, newest first.
//!
//! With texts, one call brings an agent that comes back up to date.

use serde_json::{Value, json};

use super::budgeted_page::{self, PageEntry};
use super::net_changes::{self, NetChange, NetChangeIterator, OmittedChanges};
use super::{Answer, Error, OutputFormat, budget_enforcement};
use crate::store::reader::{Reader, SnapshotRange};
use crate::text::tokens;

/// The detail of a delta.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DeltaDetail {
    /// A line per change.
    #[default]
    Lines,
    /// The line, and the new text below it.
    Texts,
}

/// A query for the changes since a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeltaQuery<'a> {
    /// The last snapshot that the caller knows; 0: none.
    pub(crate) since: i64,
    pub(crate) show: DeltaDetail,
    /// The cursor of the page before this one.
    pub(crate) cursor: Option<&'a str>,
}

/// Returns the net changes since a snapshot, in at most `max` tokens of text.
pub(super) fn delta(
    reader: &Reader,
    query: &DeltaQuery<'_>,
    max: u32,
    output: OutputFormat,
) -> Result<Answer, Error> {
    let cursor = net_changes::parse_cursor(query.cursor)?;
    net_changes::check_begin(reader, "since_snapshot", query.since)?;
    let all = reader.versions().snapshots()?;
    let is_cut = all.is_cut && query.since < all.first;
    let range = SnapshotRange { from: if is_cut { all.first } else { query.since }, to: all.last };
    let note = match is_cut && cursor.is_none() {
        true => {
            format!("… history begins at snapshot {}; what is older is not listed", all.first)
        }
        false => String::new(),
    };
    let room = max.saturating_sub(if note.is_empty() { 0 } else { tokens::count(&note) + 1 });
    let mut nets = NetChangeIterator::behind(reader, range, cursor);
    let n_all = nets.n_left()?;
    let next = || {
        let Some(net) = nets.next()? else { return Ok(None) };
        entry(reader, range, &net, query.show, output).map(Some)
    };
    let rest = |place| OmittedChanges::behind(place, n_all);
    let page =
        budgeted_page::fill(room, usize::MAX, "\n", next, |place, mean| rest(place).line(mean))?;

    let mut text = page.text;
    if page.is_empty {
        text = budget_enforcement::first_fitting(room, ["no changes".to_owned()]);
    }
    if !note.is_empty() && room < max {
        let with_note = format!("{text}\n{note}");
        if tokens::fits(&with_note, max) {
            text = with_note;
        }
    }
    let structured = output.json(|| {
        let mut all_facts = Value::from_iter([
            ("since", json!(query.since)),
            ("head", json!(all.last)),
            ("changes", page.facts.into()),
        ]);
        if is_cut {
            all_facts["history_begins"] = json!(all.first);
        }
        if let Some((place, mean)) = page.end {
            all_facts["left_out"] = rest(place).facts(mean);
        }
        all_facts
    });
    Ok(Answer { text, structured, shown: Vec::new(), budget: None })
}

fn entry(
    reader: &Reader,
    range: SnapshotRange,
    net: &NetChange,
    show: DeltaDetail,
    output: OutputFormat,
) -> Result<PageEntry, Error> {
    let (description, mut facts) = net_changes::described(reader, range, net, output)?;
    let mut entry =
        format!("{} (snapshot {}) {description}", net_changes::title(net), net.moment.snapshot);
    if let (DeltaDetail::Texts, Some(new), true) = (show, &net.new, net.is_text_changed()) {
        let text = net.text_of(reader, new)?;
        for line in text.split_inclusive('\n') {
            entry.push_str("\n  ");
            entry.push_str(line.trim_end_matches('\n'));
        }
        if output == OutputFormat::Structured {
            facts["text"] = json!(text);
        }
    }
    Ok(PageEntry { text: entry, place: net.place(), facts })
}
