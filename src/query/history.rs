//! History: what happened to one node, the latest first. It works for nodes that are gone, too.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::changes::{self, Net, Rest};
use super::page::{self, Entry};
use super::{Answer, QueryError, budget, echo};
use crate::clock::Millis;
use crate::render::one_line;
use crate::render::stats::age;
use crate::store::reader::{Range, Reader};
use crate::store::{Change, Moment};
use crate::text;

/// Tokens of a reply when no budget is given.
const TOKENS_DEFAULT: u32 = 8_000;
/// Changes, when no number is given.
pub(crate) const DEPTH_DEFAULT: u32 = 10;
/// Bytes of a text that a line shows.
const PREVIEW_BYTES_MAX: usize = 100;
/// Characters of a snapshot's message that a line shows.
const MESSAGE_CHARS_MAX: usize = 60;
/// Changes that are looked at in one go.
const LOOK_MAX: usize = 16;

/// A question for the past of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct History<'a> {
    /// Its id.
    pub(crate) anchor: &'a str,
    /// Changes of one page.
    pub(crate) depth: u32,
    /// Tokens of the reply; `None`: 8,000.
    pub(crate) budget: Option<u32>,
    /// Where the page before this one ended.
    pub(crate) cursor: Option<&'a str>,
}

/// Returns what happened to a node, the latest first.
pub(crate) fn history(
    reader: &Reader,
    ask: &History<'_>,
    now: Millis,
) -> Result<Answer, QueryError> {
    reader.at_one_state(|reader| {
        let latest = Moment { snapshot: i64::MAX, seq: i64::MAX };
        let before = changes::parse_cursor(ask.cursor)?.unwrap_or(latest);
        let n_all = reader.count_changes_of(ask.anchor, before, changes::COUNT_MAX)?;
        let max = ask.budget.unwrap_or(TOKENS_DEFAULT);
        let mut last = before;
        let mut n_passed = 0;
        let mut waiting: VecDeque<Change> = VecDeque::new();
        let next = || {
            if waiting.is_empty() {
                waiting = reader.versions().changes_of(ask.anchor, last, LOOK_MAX)?.into();
            }
            let Some(change) = waiting.pop_front() else { return Ok(None) };
            last = change.moment;
            n_passed += 1;
            step(reader, change, n_passed, now).map(Some)
        };
        let rest = |step: &Step| Rest::behind(step.moment, step.n_passed, n_all);
        let n_max = ask.depth.max(1) as usize;
        let page = page::fill(max, n_max, "\n", next, |step, mean| rest(step).line(mean))?;

        let mut structured = Value::from_iter([
            ("anchor", json!(echo(ask.anchor))),
            ("history", page.shown.iter().map(|it| it.facts.clone()).collect()),
        ]);
        if let Some(last) = page.shown.last().filter(|_| page.has_more) {
            structured["left_out"] = rest(last).facts();
        }
        let text = match page.shown.is_empty() {
            true => budget::first_fitting(max, [nothing(reader, ask.anchor)?]),
            false => page.text,
        };
        Ok(Answer { text, structured, warmed: Vec::new() })
    })
}

/// A change as an entry.
struct Step {
    moment: Moment,
    n_passed: usize,
    facts: Value,
}

fn step(
    reader: &Reader,
    change: Change,
    n_passed: usize,
    now: Millis,
) -> Result<Entry<Step>, QueryError> {
    let Change { moment, node_id, op, is_conflict, old } = change;
    let new = match op.as_str() {
        "rem" => None,
        _ => reader.versions().side_after(&node_id, moment)?,
    };
    let net = Net { id: node_id, moment, old, new, is_conflict, n_passed };
    let snapshot = reader.versions().snapshot(moment.snapshot)?;
    let mut text = format!("snapshot {}: {op}", moment.snapshot);
    let mut facts = json!({ "snapshot": moment.snapshot, "op": op });
    if let Some(snapshot) = &snapshot {
        let message = text::cut(&one_line(&snapshot.message), MESSAGE_CHARS_MAX);
        let age = age(now.since(snapshot.created_at));
        text.push_str(&format!(" ({age} ago, \"{message}\")"));
        facts["created_at"] = json!(snapshot.created_at.0);
        facts["message"] = json!(message);
    }
    let range = Range { from: moment.snapshot - 1, to: moment.snapshot };
    for note in changes::notes(reader, range, &net)? {
        text.push_str(&format!("\n  {note}"));
    }
    if net.is_text_changed() {
        let (old, new) = net.texts(reader)?;
        for (name, content) in [("old", old), ("new", new)] {
            if !content.is_empty() {
                let preview = preview(&content);
                text.push_str(&format!("\n  {name}: {preview}"));
                facts[name] = json!(preview);
            }
        }
    }
    if net.is_conflict {
        facts["conflict"] = json!(true);
    }
    Ok(Entry { text, facts: Step { moment, n_passed, facts } })
}

/// The beginning of a text, on one line.
fn preview(content: &str) -> String {
    let line = one_line(content);
    match line.len() <= PREVIEW_BYTES_MAX {
        true => line.into_owned(),
        false => format!("{}...", &line[..line.floor_char_boundary(PREVIEW_BYTES_MAX)]),
    }
}

/// What is said of a node that no change is known of.
fn nothing(reader: &Reader, anchor: &str) -> Result<String, QueryError> {
    let mut text = format!("no history for {}", echo(anchor));
    if reader.head(anchor)?.is_some() {
        let first = reader.versions().snapshots()?.first;
        text.push_str(&format!(": unchanged since snapshot {first}, where history begins"));
    }
    Ok(text)
}
