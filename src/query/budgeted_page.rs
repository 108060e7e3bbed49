//! Budgeted pages: as many entries as the budget holds, in order, then a line about the rest.
//!
//! No entry is skipped, so following the cursors misses nothing. An entry larger than the whole
//! budget is cut, with a line about its size. This module does no IO.

use serde_json::{Value, json};

use super::{Error, budget_enforcement};
use crate::store::ChangePosition;
use crate::text::tokens;

/// The part of a list that fits one reply.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) text: String,
    /// Whether there is no entry at all.
    pub(super) is_empty: bool,
    /// The facts of its entries.
    pub(super) facts: Vec<Value>,
    /// The last position and the mean tokens of an entry, if there is a next page.
    pub(super) end: Option<(EntryPosition, u64)>,
}

/// A position among all entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryPosition {
    pub(super) moment: ChangePosition,
    /// Changes examined up to here.
    pub(super) n_passed: usize,
}

/// An entry: its text without a final line break, and its facts.
pub(super) struct PageEntry {
    pub(super) text: String,
    pub(super) place: EntryPosition,
    pub(super) facts: Value,
}

/// Takes entries from `next` while they fit into `max` tokens, at most `n_max`. `rest` formats the
/// line about the following entries, given the mean tokens of those taken.
pub(super) fn fill(
    max: u32,
    n_max: usize,
    separator: &str,
    mut next: impl FnMut() -> Result<Option<PageEntry>, Error>,
    rest: impl Fn(EntryPosition, u64) -> String,
) -> Result<Page, Error> {
    let mut entries: Vec<PageEntry> = Vec::new();
    let (mut n_bytes, mut n_tokens) = (0, None);
    let price = |it: &PageEntry| u64::from(tokens::count(&it.text));
    let mut is_full = false;
    while !is_full && let Some(entry) = next()? {
        n_bytes += entry.text.len() + separator.len();
        entries.push(entry);
        // A token is at least one byte, so short replies are not counted at all.
        if max as usize <= n_bytes {
            let before = match n_tokens {
                Some(before) => before + entries.last().map_or(0, price),
                None => entries.iter().map(price).sum::<u64>(),
            };
            n_tokens = Some(before);
            is_full = u64::from(max) < before;
        }
        is_full |= entries.len() == n_max;
    }
    let mut has_more = is_full && next()?.is_some();
    loop {
        let mean = n_tokens.unwrap_or(n_bytes as u64 / 4) / entries.len().max(1) as u64;
        let end = entries.last().filter(|_| has_more).map(|it| (it.place, mean));
        let below = end.map(|(place, mean)| rest(place, mean)).unwrap_or_default();
        let texts: Vec<&str> = entries.iter().map(|it| it.text.as_str()).collect();
        let mut text = texts.join(separator);
        if !below.is_empty() {
            text.push('\n');
            text.push_str(&below);
        }
        let n_over = tokens::count(&text).saturating_sub(max);
        if 0 < n_over {
            if 1 < entries.len() {
                drop_last(&mut entries, n_over, separator);
                has_more = true;
                continue;
            }
            text = entries.first_mut().map_or(String::new(), |it| it.cut(&below, max));
        }
        let is_empty = entries.is_empty();
        let facts = entries.into_iter().map(|it| it.facts).collect();
        return Ok(Page { text, is_empty, facts, end });
    }
}

/// Drops the last entries of a page that is `n_over` tokens too long: at least one, and no more
/// than it takes. The first one stays.
fn drop_last(entries: &mut Vec<PageEntry>, n_over: u32, separator: &str) {
    let mut n_dropped = 0;
    while n_dropped < n_over && 1 < entries.len() {
        // Beside the others it may count as fewer tokens.
        let text = entries.pop().map_or(String::new(), |it| it.text + separator);
        n_dropped += tokens::count(&text).saturating_add(1);
    }
}

impl PageEntry {
    /// Cuts the text to fit above `below`, with a line about its whole size, and the facts to
    /// match.
    fn cut(&mut self, below: &str, max: u32) -> String {
        let needs = tokens::count(&self.text).saturating_add(tokens::count(below));
        let (text, shown) = shortened(&self.text, needs, below, max);
        if let Value::Object(facts) = &mut self.facts {
            facts.retain(|name, _| ["op", "id", "snapshot"].contains(&name.as_str()));
            facts.insert("text".to_owned(), json!(shown));
            facts.insert("needs".to_owned(), json!(needs));
        }
        text
    }
}

/// Returns the reply, and the part of the entry in it.
fn shortened<'a>(entry: &'a str, needs: u32, below: &str, max: u32) -> (String, &'a str) {
    let note = format!("… cut: all of it needs {needs} tokens");
    let ends = [format!("{note}\n{below}"), note.clone()];
    for end in ends.iter().map(|it| it.trim_end()) {
        let mut room = max.saturating_sub(tokens::count(end) + 2);
        while 0 < room {
            let shown = budget_enforcement::cut_to_tokens(entry, room).trim_end();
            let text = format!("{shown}\n{end}");
            let n_tokens = tokens::count(&text);
            if n_tokens <= max {
                return (text, shown);
            }
            room = room.saturating_sub((n_tokens - max).max(1));
        }
    }
    (budget_enforcement::first_fitting(max, [note]), "")
}

#[cfg(test)]
mod tests;
