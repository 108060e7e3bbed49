//! Delta: what changed since a snapshot, one line a node, so that an agent that comes back knows.
//!
//! With texts it is up to date after one call. The newest changes come first.

use serde_json::{Value, json};

use super::changes::{self, NetChange, NetChanges, OmittedChanges};
use super::page::{self, PageEntry};
use super::{Output, QueryAnswer, QueryError, budget};
use crate::store::reader::{Reader, SnapshotRange};
use crate::text::tokens;

/// Tokens of a reply of lines when no budget is given.
const TOKENS_DEFAULT: u32 = 4_000;
/// Tokens of a reply with texts when no budget is given.
const TOKENS_DEFAULT_WITH_TEXTS: u32 = 8_000;

/// What a delta shows of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DeltaDetail {
    /// A line.
    #[default]
    Lines,
    /// The new text below it, too.
    Texts,
}

/// A question for what changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeltaQuery<'a> {
    /// The last snapshot that whoever asks knows; 0: none.
    pub(crate) since: i64,
    pub(crate) show: DeltaDetail,
    /// Tokens of the reply; `None`: 4,000, and 8,000 with texts.
    pub(crate) budget: Option<u32>,
    /// Where the page before this one ended.
    pub(crate) cursor: Option<&'a str>,
}

/// Returns what changed since a snapshot, net.
pub(crate) fn delta(
    reader: &Reader,
    query: &DeltaQuery<'_>,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let budget = query.budget.unwrap_or(match query.show {
        DeltaDetail::Lines => TOKENS_DEFAULT,
        DeltaDetail::Texts => TOKENS_DEFAULT_WITH_TEXTS,
    });
    reader.at_one_state(|reader| {
        super::within(Some(budget), output, |room| {
            page_of(reader, query, room.unwrap_or(budget), output)
        })
    })
}

fn page_of(
    reader: &Reader,
    query: &DeltaQuery<'_>,
    max: u32,
    output: Output,
) -> Result<QueryAnswer, QueryError> {
    let cursor = changes::parse_cursor(query.cursor)?;
    changes::check_begin(reader, "since_snapshot", query.since)?;
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
    let mut nets = NetChanges::behind(reader, range, cursor);
    let n_all = nets.n_left()?;
    let next = || {
        let Some(net) = nets.next()? else { return Ok(None) };
        entry(reader, range, &net, query.show, output).map(Some)
    };
    let rest = |place| OmittedChanges::behind(place, n_all);
    let page = page::fill(room, usize::MAX, "\n", next, |place, mean| rest(place).line(mean))?;

    let mut text = page.text;
    if page.is_empty {
        text = budget::first_fitting(room, ["no changes".to_owned()]);
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
    Ok(QueryAnswer { text, structured, warmed: Vec::new() })
}

fn entry(
    reader: &Reader,
    range: SnapshotRange,
    net: &NetChange,
    show: DeltaDetail,
    output: Output,
) -> Result<PageEntry, QueryError> {
    let (description, mut facts) = changes::described(reader, range, net, output)?;
    let mut entry =
        format!("{} (snapshot {}) {description}", changes::title(net), net.moment.snapshot);
    if let (DeltaDetail::Texts, Some(new), true) = (show, &net.new, net.is_text_changed()) {
        let text = reader.versions().former_text(&net.id, &new.hash)?.unwrap_or_default();
        for line in text.split_inclusive('\n') {
            entry.push_str("\n  ");
            entry.push_str(line.trim_end_matches('\n'));
        }
        if output == Output::Structured {
            facts["text"] = json!(text);
        }
    }
    Ok(PageEntry { text: entry, place: net.place(), facts })
}
