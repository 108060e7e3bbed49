//! Delta: what changed since a snapshot, one line a node, so that an agent that comes back knows.
//!
//! With texts it is up to date after one call. The newest changes come first.

use serde_json::{Value, json};

use super::changes::{self, Net, Nets, Rest};
use super::page::{self, Entry};
use super::{Answer, QueryError};
use crate::store::reader::{Range, Reader};
use crate::tokens;

/// Tokens of a reply of lines when no budget is given.
const TOKENS_DEFAULT: u32 = 4_000;
/// Tokens of a reply with texts when no budget is given.
const TOKENS_DEFAULT_WITH_TEXTS: u32 = 8_000;

/// What a delta shows of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Show {
    /// A line.
    #[default]
    Lines,
    /// The new text below it, too.
    Texts,
}

/// A question for what changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Delta<'a> {
    /// The last snapshot that whoever asks knows; 0: none.
    pub(crate) since: i64,
    pub(crate) show: Show,
    /// Tokens of the reply; `None`: 4,000, and 8,000 with texts.
    pub(crate) budget: Option<u32>,
    /// Where the page before this one ended.
    pub(crate) cursor: Option<&'a str>,
}

/// Returns what changed since a snapshot, net.
pub(crate) fn delta(reader: &Reader, ask: &Delta<'_>) -> Result<Answer, QueryError> {
    reader.at_one_state(|reader| {
        let cursor = changes::parse_cursor(ask.cursor)?;
        changes::check_begin(reader, "since_snapshot", ask.since)?;
        let all = reader.versions().snapshots()?;
        let is_cut = all.is_cut && ask.since < all.first;
        let range = Range { from: if is_cut { all.first } else { ask.since }, to: all.last };
        let max = ask.budget.unwrap_or(match ask.show {
            Show::Lines => TOKENS_DEFAULT,
            Show::Texts => TOKENS_DEFAULT_WITH_TEXTS,
        });
        let note = match is_cut && cursor.is_none() {
            true => {
                format!("… history begins at snapshot {}; what is older is not listed", all.first)
            }
            false => String::new(),
        };
        let room = max.saturating_sub(if note.is_empty() { 0 } else { tokens::count(&note) + 1 });
        let mut nets = Nets::behind(reader, range, cursor);
        let n_all = nets.n_left()?;
        let next = || {
            let Some(net) = nets.next()? else { return Ok(None) };
            Ok(Some(Entry { text: entry(reader, range, &net, ask.show)?, facts: net }))
        };
        let rest = |net: &Net| Rest::behind(net.moment, net.n_passed, n_all);
        let page = page::fill(room, usize::MAX, "\n", next, |net, mean| rest(net).line(mean))?;

        let mut text = page.text.clone();
        if page.shown.is_empty() {
            text = super::budget::first_fitting(room, ["no changes".to_owned()]);
        }
        if !note.is_empty() && room < max {
            let with_note = format!("{text}\n{note}");
            if tokens::fits(&with_note, max) {
                text = with_note;
            }
        }
        let mut structured = Value::from_iter([
            ("since", json!(ask.since)),
            ("head", json!(all.last)),
            ("changes", page.shown.iter().map(changes::facts).collect()),
        ]);
        if is_cut {
            structured["history_begins"] = json!(all.first);
        }
        if let Some(last) = page.shown.last().filter(|_| page.has_more) {
            structured["left_out"] = rest(last).facts();
        }
        Ok(Answer { text, structured, warmed: Vec::new() })
    })
}

fn entry(reader: &Reader, range: Range, net: &Net, show: Show) -> Result<String, QueryError> {
    let description = changes::description(reader, range, net)?;
    let mut entry =
        format!("{} (snapshot {}) {description}", changes::title(net), net.moment.snapshot);
    if let (Show::Texts, Some(new), true) = (show, &net.new, net.is_text_changed()) {
        let text = reader.versions().former_text(&net.id, &new.hash)?.unwrap_or_default();
        for line in text.split_inclusive('\n') {
            entry.push_str("\n  ");
            entry.push_str(line.trim_end_matches('\n'));
        }
    }
    Ok(entry)
}
