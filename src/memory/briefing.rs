//! Briefings: the state of a memory in a few lines, for the beginning of a session.
//!
//! A briefing holds core memories, open tasks, the notes of the last sessions, the changes since a
//! snapshot, and the headings in use, in this order and each within a share of the budget. It only
//! reads, and warms nothing: nobody asked for what it shows.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashSet;

use super::session_note::is_session_note;
use super::typed::TypedMemory;
use crate::model::heat::BIRTH_TEMPERATURE;
use crate::model::tree::NodeType;
use crate::model::typed_node_field_schemas::knowledge::LOG_ROOT;
use crate::query::render::{to_label, to_text_below, to_value};
use crate::store::reader::{
    ArchivedVisibility, NodeSummary, Reader, SnapshotRange, UsedNodeWithHeat,
};
use crate::store::{NodeRowId, StoreError};
use crate::text;
use crate::text::tokens;

/// How to use the memory, and when to write.
const ADVICE: &str = "Look things up with MemorySearch, read an id with MemoryFetch. Write with \
    MemoryWrite as soon as something is decided, the person corrects you or states a preference, \
    or a cause was hard to find; not what the files say already.";

/// The line for a memory without nodes.
const EMPTY: &str = "The memory is empty so far.";

/// Characters of a line.
const LINE_CHARS_MAX: usize = 200;

/// Entries of a section.
const CORE_MAX: usize = 8;
const TASKS_MAX: usize = 6;
const SESSIONS_MAX: usize = 2;
const CHANGES_MAX: usize = 8;
const HEADINGS_MAX: usize = 10;

/// Tokens of a session's note; the rest is left to a fetch.
const SESSION_TOKENS_MAX: u32 = 130;

/// Typed memories, changes and temperatures that are considered.
const TYPED_MAX: usize = 1_000;
const CHANGES_READ_MAX: usize = 60;
const TEMPERATURES_MAX: usize = 250_000;
/// Warmest nodes whose headings are considered.
const WARMEST_MAX: usize = 60;

/// The state of a memory, for a client that comes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BriefingRequest {
    /// The snapshot at the end of the client's last session, if it had one.
    pub(crate) since: Option<i64>,
    /// Tokens of the briefing.
    pub(crate) budget: u32,
}

/// A briefing and the snapshot that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Briefing {
    pub(crate) text: String,
    pub(crate) head: i64,
}

/// Returns the briefing.
pub(crate) fn brief(reader: &Reader, request: BriefingRequest) -> Result<Briefing, StoreError> {
    reader.at_one_state(|reader| {
        let head = reader.change_counters()?.head;
        let mut page = BudgetedBriefingText { text: String::new(), left: request.budget };
        page.line(ADVICE);
        let share = |percent: u32| request.budget / 100 * percent;
        page.section("Core memories:", share(30), core(reader)?);
        page.section("Open tasks:", share(20), tasks(reader)?);
        page.section("Last sessions:", share(40), sessions(reader)?);
        if let Some(since) = request.since.filter(|it| *it < head) {
            let title = format!("Changed since your last session, at snapshot {since}:");
            page.section(&title, share(25), changes(reader, since, head)?);
        }
        let used = headings_in_use(reader)?;
        match used.is_empty() {
            false => page.section("Headings in use:", u32::MAX, used),
            true => {
                let roots = reader.roots(ArchivedVisibility::Hidden, HEADINGS_MAX)?;
                if roots.is_empty() {
                    page.line(EMPTY);
                }
                // The notes of sessions have their own section.
                let shown = roots.iter().filter(|it| it.label != LOG_ROOT);
                page.section("It holds:", u32::MAX, shown.map(entry).collect());
            }
        }
        Ok(Briefing { text: page.text, head })
    })
}

/// A text that is filled line by line while tokens are left.
struct BudgetedBriefingText {
    text: String,
    /// Tokens left.
    left: u32,
}

impl BudgetedBriefingText {
    /// Adds a line if it fits.
    fn line(&mut self, line: &str) -> bool {
        let cost = tokens::count(line).saturating_add(1);
        if self.left < cost {
            return false;
        }
        self.left -= cost;
        self.text.push_str(line);
        self.text.push('\n');
        true
    }

    /// Adds a heading and the lines that fit into `max` tokens; nothing where no line does.
    fn section(&mut self, title: &str, max: u32, lines: Vec<String>) {
        let outer = self.left;
        let mut part = BudgetedBriefingText { text: String::new(), left: outer.min(max) };
        let whole = part.left;
        if !part.line(title) {
            return;
        }
        let n_lines = lines.into_iter().take_while(|it| part.line(it)).count();
        if 0 < n_lines {
            self.text += &part.text;
            self.left = outer - (whole - part.left);
        }
    }
}

fn core(reader: &Reader) -> Result<Vec<String>, StoreError> {
    let mut memories = typed(reader, NodeType::Core)?;
    memories.sort_by_cached_key(|(_, it)| (it.importance_rank(), Reverse(it.updated_at)));
    Ok(memories.iter().take(CORE_MAX).map(|(id, it)| said(id, &it.content, "")).collect())
}

fn tasks(reader: &Reader) -> Result<Vec<String>, StoreError> {
    let mut memories = typed(reader, NodeType::Task)?;
    memories.retain(|(_, it)| it.completed_at().is_none() && it.status() != "completed");
    memories.sort_by_cached_key(|(_, it)| (it.importance_rank(), Reverse(it.updated_at)));
    let line = |(id, it): &(String, TypedMemory)| said(id, &it.content, it.status());
    Ok(memories.iter().take(TASKS_MAX).map(line).collect())
}

/// Returns the memories of a type that are not archived, with their ids.
fn typed(reader: &Reader, of_type: NodeType) -> Result<Vec<(String, TypedMemory)>, StoreError> {
    let mut keys = reader.typed_with(&[], &[of_type], false)?;
    // The newest ones.
    keys.drain(..keys.len().saturating_sub(TYPED_MAX));
    let nodes = reader.typed_nodes(&keys)?;
    Ok(nodes.iter().map(|it| (it.id.clone(), TypedMemory::of(it))).collect())
}

fn sessions(reader: &Reader) -> Result<Vec<String>, StoreError> {
    let newest = reader.newest_below(LOG_ROOT, 8 * SESSIONS_MAX)?;
    let notes: Vec<&NodeSummary> =
        newest.iter().filter(|it| is_session_note(&it.label)).take(SESSIONS_MAX).collect();
    let keys: Vec<NodeRowId> = notes.iter().map(|it| it.key).collect();
    let contents = reader.contents(&keys)?;
    let line = |head: &&NodeSummary| {
        let content = contents.get(&head.key)?;
        let mut text = content.clone();
        while !tokens::fits(&text, SESSION_TOKENS_MAX) {
            let cut = text.rfind('\n')?;
            text.truncate(cut);
        }
        let more = if text.len() < content.len() { "\n  …" } else { "" };
        Some(format!("- (id={}) {}{more}", head.id, to_text_below(&text, "  ")))
    };
    Ok(notes.iter().filter_map(line).collect())
}

/// Returns the nodes that changed after a snapshot: the newest first, then how many more.
fn changes(reader: &Reader, since: i64, head: i64) -> Result<Vec<String>, StoreError> {
    let range = SnapshotRange { from: since, to: head };
    let changed = reader.last_changes(range, None, CHANGES_READ_MAX)?;
    let (mut lines, mut n_removed) = (Vec::new(), 0);
    for (_, id) in &changed {
        match reader.head(id)? {
            // Typed memories and sessions have sections of their own; buckets say nothing.
            Some(head) if head.path.is_none() => {
                let is_plain = head.node_type == NodeType::Text.as_str();
                if is_plain && !is_session_note(&head.label) {
                    lines.push(entry(&head));
                }
            }
            Some(head) => lines.push(entry(&head)),
            None => n_removed += 1,
        }
    }
    let n_more = lines.len().saturating_sub(CHANGES_MAX);
    lines.truncate(CHANGES_MAX);
    let at_least = if changed.len() == CHANGES_READ_MAX { "at least " } else { "" };
    if 0 < n_more || 0 < n_removed {
        lines.push(format!(
            "  {at_least}{n_more} more changed, {n_removed} removed: MemoryDelta with since={since}"
        ));
    }
    Ok(lines)
}

/// Returns the headings of the pinned and the warmest nodes, in this order.
fn headings_in_use(reader: &Reader) -> Result<Vec<String>, StoreError> {
    let attended = reader.attended()?;
    let mut used: Vec<(UsedNodeWithHeat, f64)> = reader
        .used_nodes(TEMPERATURES_MAX)?
        .into_iter()
        .map(|it| (it, it.heat.now(attended)))
        .filter(|(it, temperature)| it.heat.pinned || BIRTH_TEMPERATURE <= *temperature)
        .collect();
    used.sort_by(|(a, a_now), (b, b_now)| {
        b.heat.pinned.cmp(&a.heat.pinned).then(b_now.total_cmp(a_now)).then(a.key.cmp(&b.key))
    });
    used.truncate(WARMEST_MAX);
    let heading =
        |it: &UsedNodeWithHeat| if it.is_heading { it.key } else { it.parent.unwrap_or(it.key) };
    let mut seen = HashSet::new();
    let mut keys: Vec<NodeRowId> = used.iter().map(|(it, _)| heading(it)).collect();
    keys.retain(|it| seen.insert(*it));
    let mut heads = reader.heads(&keys)?;
    heads.sort_by_key(|it| keys.iter().position(|key| *key == it.key));
    // A list or a table has the heading above it.
    let is_shown =
        |it: &&NodeSummary| it.path.is_some() || it.node_type != NodeType::Heading.as_str();
    Ok(heads.iter().filter(is_shown).take(HEADINGS_MAX).map(entry).collect())
}

/// Formats a node as a line: label, id and file.
fn entry(head: &NodeSummary) -> String {
    let label = text::fold_and_truncate(&to_label(&head.label), LINE_CHARS_MAX);
    let path = head.path.as_deref().map_or(String::new(), |it| format!(" {}", to_value(it)));
    format!("- {label} (id={}{path})", head.id)
}

/// Formats a text with its id and a word about it.
fn said(id: &str, content: &str, word: &str) -> String {
    let line = text::fold_and_truncate(&to_label(content), LINE_CHARS_MAX);
    let word = if word.is_empty() { String::new() } else { format!(" {word}") };
    format!("- {line} (id={id}{word})")
}
