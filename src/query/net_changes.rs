//! Net changes between two snapshots: one entry per node, however often it changed.
//!
//! A node that was added and removed again, or restored as it was, is no change. Nodes are found
//! from their last changes, newest first, and both versions from the index of history, so the cost
//! of a page is proportional to its length.

mod sibling_order;
mod typed_memory_field_changes;

use std::collections::VecDeque;

use serde_json::{Value, json};
use sibling_order::MovedSiblings;

use super::budgeted_page::EntryPosition;
use super::{Error, OutputFormat};
use crate::query::render::{render_count, to_label, to_one_line, to_quote, to_value};
use crate::store::reader::{Reader, SnapshotRange};
use crate::store::{ChangePosition, FIELDS, HistoryExtent, LANG, NodeVersionWithoutText};
use crate::text;

/// Last changes read at once.
const LOOK_MAX: usize = 64;
/// Changes counted to report how many are left.
pub(super) const COUNT_MAX: usize = 10_000;
/// Characters of a parent's label in a note about a move.
const PLACE_CHARS_MAX: usize = 40;

/// Stands for a text that the database has lost.
const LOST_TEXT: &str = "(the text is missing; `remindb doctor` says more)";

/// A node that differs between two snapshots.
#[derive(Clone, Debug)]
pub(super) struct NetChange {
    pub(super) id: String,
    /// Its last change.
    pub(super) moment: ChangePosition,
    pub(super) old: Option<NodeVersionWithoutText>,
    pub(super) new: Option<NodeVersionWithoutText>,
    pub(super) is_conflict: bool,
    /// Last changes examined up to this one.
    pub(super) n_passed: usize,
}

impl NetChange {
    /// Returns its position among all changes.
    pub(super) fn place(&self) -> EntryPosition {
        EntryPosition { moment: self.moment, n_passed: self.n_passed }
    }

    /// Returns `add`, `mod` or `rem`.
    pub(super) fn op(&self) -> &'static str {
        match (&self.old, &self.new) {
            (None, _) => "add",
            (Some(_), None) => "rem",
            (Some(_), Some(_)) => "mod",
        }
    }

    /// Returns its present version, or the last one of a removed node.
    pub(super) fn side(&self) -> Option<&NodeVersionWithoutText> {
        self.new.as_ref().or(self.old.as_ref())
    }

    /// Returns whether its text changed.
    pub(super) fn is_text_changed(&self) -> bool {
        self.old.as_ref().map(|it| &it.hash) != self.new.as_ref().map(|it| &it.hash)
    }

    /// Returns the texts before and after.
    pub(super) fn texts(&self, reader: &Reader) -> Result<(String, String), Error> {
        let text = |side: &Option<NodeVersionWithoutText>| match side {
            None => Ok(String::new()),
            Some(version) => self.text_of(reader, version),
        };
        Ok((text(&self.old)?, text(&self.new)?))
    }

    /// Returns the text of a version, or a remark where the database has lost it.
    pub(super) fn text_of(
        &self,
        reader: &Reader,
        version: &NodeVersionWithoutText,
    ) -> Result<String, Error> {
        let text = reader.versions().former_text(&self.id, &version.hash)?;
        Ok(text.unwrap_or_else(|| LOST_TEXT.to_owned()))
    }
}

/// Returns whether two versions are equal but for the order key.
fn is_same(old: &NodeVersionWithoutText, new: &NodeVersionWithoutText) -> bool {
    let of_file =
        |it: &NodeVersionWithoutText| it.parent.is_none().then(|| (it.root, it.path.clone()));
    of_file(old) == of_file(new)
        && old.hash == new.hash
        && old.parent == new.parent
        && old.node_type == new.node_type
        && old.attributes == new.attributes
        && old.label == new.label
        && old.format == new.format
}

/// An iterator over the net changes of a range, newest first.
pub(super) struct NetChangeIterator<'a> {
    reader: &'a Reader,
    range: SnapshotRange,
    last: Option<ChangePosition>,
    waiting: VecDeque<(ChangePosition, String)>,
    n_passed: usize,
    moved_siblings: MovedSiblings,
}

impl NetChangeIterator<'_> {
    /// Returns the changes after a cursor.
    pub(super) fn behind(
        reader: &Reader,
        range: SnapshotRange,
        cursor: Option<ChangePosition>,
    ) -> NetChangeIterator<'_> {
        let (waiting, moved_siblings) = (VecDeque::new(), MovedSiblings::default());
        NetChangeIterator { reader, range, last: cursor, waiting, n_passed: 0, moved_siblings }
    }

    pub(super) fn next(&mut self) -> Result<Option<NetChange>, Error> {
        loop {
            if self.waiting.is_empty() {
                self.waiting = self.reader.last_changes(self.range, self.last, LOOK_MAX)?.into();
            }
            let Some((moment, id)) = self.waiting.pop_front() else { return Ok(None) };
            self.last = Some(moment);
            self.n_passed += 1;
            let net = NetChange {
                moment,
                old: self.reader.versions().version_at(&id, self.range.from)?,
                new: self.reader.versions().version_at(&id, self.range.to)?,
                is_conflict: self.reader.has_conflict(&id, self.range)?,
                id,
                n_passed: self.n_passed,
            };
            if self.is_change(&net)? {
                return Ok(Some(net));
            }
        }
    }

    fn is_change(&mut self, net: &NetChange) -> Result<bool, Error> {
        match (&net.old, &net.new) {
            (None, None) => Ok(false),
            (Some(old), Some(new)) if is_same(old, new) => {
                let is_elsewhere = old.position != new.position;
                Ok(is_elsewhere
                    && self.moved_siblings.is_moved(self.reader, self.range, &net.id, new)?)
            }
            _ => Ok(true),
        }
    }

    /// Returns the number of changes left to examine, at most [`COUNT_MAX`].
    pub(super) fn n_left(&self) -> Result<usize, Error> {
        Ok(self.reader.last_changes(self.range, self.last, COUNT_MAX)?.len())
    }
}

/// The changes that a page omits.
#[derive(Clone, Copy, Debug)]
pub(super) struct OmittedChanges {
    n_left: usize,
    is_at_least: bool,
    /// The last change of the page.
    moment: ChangePosition,
}

impl OmittedChanges {
    /// Returns the omission after a page, of `n_all` changes counted up to [`COUNT_MAX`].
    pub(super) fn behind(place: EntryPosition, n_all: usize) -> OmittedChanges {
        let n_left = n_all.saturating_sub(place.n_passed).max(1);
        OmittedChanges { n_left, is_at_least: COUNT_MAX <= n_all, moment: place.moment }
    }

    /// Returns the last line of a page, given the mean tokens of a change.
    pub(super) fn line(self, mean: u64) -> String {
        let n_left = self.n_left as u64;
        let plural = if n_left == 1 { "" } else { "s" };
        let more = if self.is_at_least { "+" } else { "" };
        let (n, size) = (render_count(n_left), render_count(n_left.saturating_mul(mean)));
        let cursor = format_cursor(self.moment);
        format!("… {n}{more} more change{plural}, about {size}{more} tokens; cursor={cursor}")
    }

    /// Returns the omission as JSON.
    pub(super) fn facts(self, mean: u64) -> Value {
        json!({
            "changes": self.n_left,
            "tokens": (self.n_left as u64).saturating_mul(mean),
            "at_least": self.is_at_least,
            "cursor": format_cursor(self.moment),
        })
    }
}

/// Formats the end of a page as a cursor, such as `7.12`.
fn format_cursor(moment: ChangePosition) -> String {
    format!("{}.{}", moment.snapshot, moment.seq)
}

/// Parses a cursor made by [`format_cursor`].
pub(super) fn parse_cursor(typed: Option<&str>) -> Result<Option<ChangePosition>, Error> {
    let Some(typed) = typed.filter(|it| !it.is_empty()) else { return Ok(None) };
    let parsed = typed.split_once('.').and_then(|(snapshot, seq)| {
        Some(ChangePosition { snapshot: snapshot.parse().ok()?, seq: seq.parse().ok()? })
    });
    match parsed {
        Some(moment) => Ok(Some(moment)),
        None => Err(Error::BadArgument(format!(
            "`cursor` must be one that a reply named, such as 7.12, not `{}`",
            super::quote_input(typed)
        ))),
    }
}

/// Formats a change as `[mod] 3axb6gIRgDr`.
pub(super) fn title(net: &NetChange) -> String {
    format!("[{}] {}", net.op(), net.id)
}

/// Formats a change as `[text] The label (file=a.md tok=12 → 4); moved from Alpha (…) to Beta
/// (…)`, and as JSON.
pub(super) fn described(
    reader: &Reader,
    range: SnapshotRange,
    net: &NetChange,
    output: OutputFormat,
) -> Result<(String, Value), Error> {
    let notes = notes(reader, range, net)?;
    let facts = output.json(|| facts(net, &notes));
    Ok((description(net, &notes), facts))
}

fn description(net: &NetChange, notes: &[String]) -> String {
    let Some(side) = net.side() else { return String::new() };
    let mut line = format!("[{}] ", side.node_type);
    if !side.label.is_empty() {
        line.push_str(&to_label(&side.label));
        line.push(' ');
    }
    line.push('(');
    if let Some(path) = &side.path {
        line.push_str(&format!("file={} ", to_value(path)));
    }
    match &net.old {
        Some(old) if old.tokens != side.tokens => {
            line.push_str(&format!("tok={} → {})", old.tokens, side.tokens));
        }
        _ => line.push_str(&format!("tok={})", side.tokens)),
    }
    for note in notes {
        line.push_str("; ");
        line.push_str(note);
    }
    line
}

/// Describes the changes besides the text, in words.
pub(super) fn notes(
    reader: &Reader,
    range: SnapshotRange,
    net: &NetChange,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    if let (Some(old), Some(new)) = (&net.old, &net.new) {
        let is_moved = old.parent != new.parent;
        let is_elsewhere = (old.root, &old.path) != (new.root, &new.path);
        if is_moved {
            let from = place(reader, old, range.from)?;
            notes.push(format!("moved from {from} to {}", place(reader, new, range.to)?));
        } else if old.parent.is_none() && is_elsewhere {
            let path =
                |it: &NodeVersionWithoutText| file_name(it).unwrap_or_else(|| "no file".to_owned());
            notes.push(format!("file renamed from {} to {}", path(old), path(new)));
        } else if is_same(old, new) {
            notes.push("moved among its siblings".to_owned());
        }
        if old.label != new.label && !net.is_text_changed() {
            notes.push(format!("label was {}", text_of_note(&old.label, PLACE_CHARS_MAX)));
        }
        if old.node_type != new.node_type {
            notes.push("type changed".to_owned());
        }
        for name in old.attributes.differing(&new.attributes) {
            if name == FIELDS {
                let (old, new) = (old.attributes.fields(), new.attributes.fields());
                notes.extend(typed_memory_field_changes::field_notes(old, new));
                continue;
            }
            let name = if name == LANG { "language" } else { &name.replace('_', " ") };
            notes.push(format!("{name} changed"));
        }
        if old.format != new.format {
            notes.push("format changed".to_owned());
        }
    }
    if net.is_conflict {
        let what = match net.new {
            Some(_) => "the file's new words replaced the memory's",
            None => "the memory's words went with the block, which is not where it was",
        };
        notes.push(format!("conflict: {what}"));
    }
    Ok(notes)
}

/// Names a node's place: its parent's label and id, else its file.
fn place(reader: &Reader, side: &NodeVersionWithoutText, at: i64) -> Result<String, Error> {
    let Some(parent) = &side.parent else {
        return Ok(file_name(side).unwrap_or_else(|| "the roots".to_owned()));
    };
    let label = reader.versions().version_at(parent, at)?.map(|it| it.label).unwrap_or_default();
    let label = text_of_note(&label, PLACE_CHARS_MAX);
    Ok(if label.is_empty() { parent.clone() } else { format!("{label} ({parent})") })
}

fn file_name(side: &NodeVersionWithoutText) -> Option<String> {
    side.path.as_deref().map(to_value)
}

/// Shortens a text for a note: in quotes where it could be taken for more of the note.
fn text_of_note(text: &str, chars_max: usize) -> String {
    let text = text::truncate_chars(text, chars_max);
    let label = to_label(&text);
    let is_open = label.starts_with('"') || label.contains([';', '→']) || label.contains(" to ");
    if is_open { to_quote(&text) } else { label }
}

/// Returns the facts of a change as JSON.
fn facts(net: &NetChange, notes: &[String]) -> Value {
    let mut facts = json!({ "op": net.op(), "id": net.id, "snapshot": net.moment.snapshot });
    let Some(side) = net.side() else { return facts };
    facts["type"] = json!(side.node_type);
    facts["label"] = json!(to_one_line(&side.label));
    if let Some(path) = &side.path {
        facts["file"] = json!(to_one_line(path));
    }
    facts["tokens"] = json!(side.tokens);
    facts["text_changed"] = json!(net.is_text_changed());
    if let (Some(old), Some(new)) = (&net.old, &net.new) {
        facts["old_tokens"] = json!(old.tokens);
        if old.parent != new.parent || (old.root, &old.path) != (new.root, &new.path) {
            let file = |it: &NodeVersionWithoutText| {
                it.path.as_deref().map(|it| to_one_line(it).into_owned())
            };
            let place =
                |it: &NodeVersionWithoutText| json!({ "parent": it.parent, "file": file(it) });
            facts["moved"] = json!({ "from": place(old), "to": place(new) });
        }
    }
    if net.is_conflict {
        facts["conflict"] = json!(true);
    }
    if !notes.is_empty() {
        facts["notes"] = json!(notes);
    }
    facts
}

/// Checks that a snapshot exists; the error lists those that do.
pub(super) fn check_known(reader: &Reader, name: &str, id: i64) -> Result<(), Error> {
    if reader.versions().snapshot(id)?.is_some() {
        return Ok(());
    }
    let (all, beside) = (reader.versions().snapshots()?, reader.versions().snapshots_beside(id)?);
    Err(Error::NotFound(unknown_snapshot(name, id, all, beside)))
}

/// Checks the begin of a range: 0, which is before everything, or a snapshot.
pub(super) fn check_begin(reader: &Reader, name: &str, id: i64) -> Result<(), Error> {
    if id == 0 { Ok(()) } else { check_known(reader, name, id) }
}

/// Words the error for an unknown snapshot, listing those that exist.
pub(crate) fn unknown_snapshot(
    name: &str,
    id: i64,
    all: HistoryExtent,
    beside: (Option<i64>, Option<i64>),
) -> String {
    let HistoryExtent { n, first, last, .. } = all;
    let known = match (n, beside) {
        (0, _) => "there is none yet".to_owned(),
        (1, _) => format!("there is only {first}"),
        _ if n == last - first + 1 => format!("there are {first} to {last}"),
        (n, (Some(below), Some(above))) => {
            format!("there are {n} from {first} to {last}, the nearest {below} and {above}")
        }
        (n, _) => format!("there are {n} from {first} to {last}"),
    };
    format!("`{name}`: no snapshot {id}; {known}")
}

#[cfg(test)]
mod tests;
