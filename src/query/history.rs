//! History: the changes of one node, latest first, including removed nodes.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde_json::{Value, json};

use super::budgeted_page::{self, PageEntry};
use super::net_changes::{self, NetChange, OmittedChanges};
use super::{Answer, Error, QueryOptions, budget_enforcement, find_by_id, quote_input};
use crate::model::clock::UnixMillis;
use crate::model::typed_node_field_schemas::is_uuid;
use crate::query::render::stats::format_age;
use crate::query::render::{to_label, to_one_line, to_quote};
use crate::store::reader::{Reader, SnapshotRange};
use crate::store::{ChangePosition, HistoryChange};
use crate::text;

/// Default number of changes.
pub(crate) const DEPTH_DEFAULT: u32 = 10;
/// Bytes of a text that a line shows.
const PREVIEW_BYTES_MAX: usize = 100;
/// Characters of a snapshot's message that a line shows.
const MESSAGE_CHARS_MAX: usize = 60;
/// Changes read at once.
const LOOK_MAX: usize = 16;

/// A query for the history of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HistoryQuery<'a> {
    /// Its id.
    pub(crate) anchor: &'a str,
    /// Changes per page.
    pub(crate) depth: u32,
    /// The cursor of the page before this one.
    pub(crate) cursor: Option<&'a str>,
}

/// Returns the changes of a node, latest first, in at most `max` tokens of text.
pub(super) fn history(
    reader: &Reader,
    query: &HistoryQuery<'_>,
    max: u32,
    options: &QueryOptions,
) -> Result<Answer, Error> {
    let anchor = &*node_id(reader, query.anchor)?;
    let latest = ChangePosition { snapshot: i64::MAX, seq: i64::MAX };
    let before = net_changes::parse_cursor(query.cursor)?.unwrap_or(latest);
    let n_all = reader.count_changes_of(anchor, before, net_changes::COUNT_MAX)?;
    let mut last = before;
    let mut n_passed = 0;
    let mut waiting: VecDeque<HistoryChange> = VecDeque::new();
    let next = || {
        if waiting.is_empty() {
            waiting = reader.versions().changes_of(anchor, last, LOOK_MAX)?.into();
        }
        let Some(change) = waiting.pop_front() else { return Ok(None) };
        last = change.moment;
        n_passed += 1;
        step(reader, change, n_passed, options.now).map(Some)
    };
    let rest = |place| OmittedChanges::behind(place, n_all);
    let n_max = query.depth.max(1) as usize;
    let page = budgeted_page::fill(max, n_max, "\n", next, |place, mean| rest(place).line(mean))?;
    let (text, unchanged_since) = match page.is_empty {
        true => {
            let (text, since) = nothing(reader, anchor)?;
            (budget_enforcement::first_fitting(max, [text]), since)
        }
        false => (page.text, None),
    };
    let structured = options.output.json(|| {
        let anchor = ("anchor", json!(quote_input(anchor)));
        let mut all = Value::from_iter([anchor, ("history", page.facts.into())]);
        if let Some((place, mean)) = page.end {
            all["left_out"] = rest(place).facts(mean);
        }
        if let Some(first) = unchanged_since {
            all["unchanged_since"] = json!(first);
        }
        all
    });
    Ok(Answer { text, structured, shown: Vec::new(), budget: None })
}

/// Returns the id of the node of a UUID or file, or of the one that had the UUID before it was
/// removed; else the text as it is.
fn node_id<'a>(reader: &Reader, anchor: &'a str) -> Result<Cow<'a, str>, Error> {
    if let Some(head) = find_by_id(reader, anchor)? {
        return Ok(head.id.into());
    }
    let uuid = anchor.to_ascii_lowercase();
    if !is_uuid(&uuid) {
        return Ok(anchor.into());
    }
    Ok(reader.removed_by_uuid(&uuid)?.map_or(anchor.into(), Cow::Owned))
}

fn step(
    reader: &Reader,
    change: HistoryChange,
    n_passed: usize,
    now: UnixMillis,
) -> Result<PageEntry, Error> {
    let HistoryChange { moment, node_id, op, is_conflict, old } = change;
    let new = match op.as_str() {
        "rem" => None,
        _ => reader.versions().version_after(&node_id, moment)?,
    };
    let net = NetChange { id: node_id, moment, old, new, is_conflict, n_passed };
    let snapshot = reader.versions().snapshot(moment.snapshot)?;
    let mut text = format!("snapshot {}: {op}", moment.snapshot);
    let mut facts = json!({ "snapshot": moment.snapshot, "op": op });
    if let Some(snapshot) = &snapshot {
        let message = text::truncate_chars(&to_one_line(&snapshot.message), MESSAGE_CHARS_MAX);
        let age = format_age(now.since(snapshot.created_at));
        text.push_str(&format!(" ({age} ago, {})", to_quote(&message)));
        facts["created_at"] = json!(snapshot.created_at.0);
        facts["message"] = json!(message);
    }
    let range = SnapshotRange { from: moment.snapshot - 1, to: moment.snapshot };
    let notes = net_changes::notes(reader, range, &net)?;
    notes.iter().for_each(|note| text.push_str(&format!("\n  {note}")));
    if net.is_text_changed() {
        let (old, new) = net.texts(reader)?;
        for (name, content) in [("old", old), ("new", new)] {
            if !content.is_empty() {
                let preview = preview(&content);
                text.push_str(&format!("\n  {name}: {}", to_label(&preview)));
                facts[name] = json!(preview);
            }
        }
    }
    if net.is_conflict {
        facts["conflict"] = json!(true);
    }
    if !notes.is_empty() {
        facts["notes"] = json!(notes);
    }
    Ok(PageEntry { text, place: net.place(), facts })
}

/// Returns the beginning of a text, on one line.
fn preview(content: &str) -> String {
    let line = to_one_line(content);
    match line.len() <= PREVIEW_BYTES_MAX {
        true => line.into_owned(),
        false => format!("{}...", &line[..line.floor_char_boundary(PREVIEW_BYTES_MAX)]),
    }
}

/// Returns the answer for a node without recorded changes, and the snapshot since which it is
/// unchanged.
fn nothing(reader: &Reader, anchor: &str) -> Result<(String, Option<i64>), Error> {
    let mut text = format!("no history for {}", quote_input(anchor));
    if reader.head(anchor)?.is_none() {
        return Ok((text, None));
    }
    let first = reader.versions().snapshots()?.first;
    text.push_str(&format!(": unchanged since snapshot {first}, where history begins"));
    Ok((text, Some(first)))
}
