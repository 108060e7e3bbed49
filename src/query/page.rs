//! Pages: entries in their order, as many as the budget holds, then one line about the rest.
//!
//! Nothing is passed over, so that whoever asks for the next page misses nothing. An entry that is
//! larger than the whole budget is cut and says what all of it needs. This module does no IO.

use super::{QueryError, budget};
use crate::text::tokens;

/// What a reply has room for.
#[derive(Debug)]
pub(super) struct Page<T> {
    pub(super) text: String,
    /// The facts about the entries in it.
    pub(super) shown: Vec<T>,
    /// Whether there is a next page.
    pub(super) has_more: bool,
}

/// An entry: how it stands in the text, without a line break at its end, and the facts about it.
pub(super) struct PageEntry<T> {
    pub(super) text: String,
    pub(super) facts: T,
}

/// Takes entries from `next` while they fit into `max` tokens, at most `n_max`. `rest` is the line
/// about what comes behind an entry, given the mean tokens of those before.
pub(super) fn fill<T>(
    max: u32,
    n_max: usize,
    separator: &str,
    mut next: impl FnMut() -> Result<Option<PageEntry<T>>, QueryError>,
    rest: impl Fn(&T, u64) -> String,
) -> Result<Page<T>, QueryError> {
    let mut entries: Vec<PageEntry<T>> = Vec::new();
    let (mut n_bytes, mut n_tokens) = (0, None);
    let price = |it: &PageEntry<T>| u64::from(tokens::count(&it.text));
    let mut is_full = false;
    while !is_full && let Some(entry) = next()? {
        n_bytes += entry.text.len() + separator.len();
        entries.push(entry);
        // A token is at least one byte, so that short replies are not counted at all.
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
        let below = match entries.last() {
            Some(last) if has_more => {
                let mean = n_tokens.unwrap_or(n_bytes as u64 / 4) / entries.len() as u64;
                rest(&last.facts, mean)
            }
            _ => String::new(),
        };
        let texts: Vec<&str> = entries.iter().map(|it| it.text.as_str()).collect();
        let mut text = texts.join(separator);
        if !below.is_empty() {
            text.push('\n');
            text.push_str(&below);
        }
        if !tokens::fits(&text, max) {
            if 1 < entries.len() {
                entries.pop();
                has_more = true;
                continue;
            }
            text = entries.first().map_or(String::new(), |it| shortened(&it.text, &below, max));
        }
        let shown = entries.into_iter().map(|it| it.facts).collect();
        return Ok(Page { text, shown, has_more });
    }
}

/// As much of an entry as fits above `below`, and a line that says what all of it would need.
fn shortened(entry: &str, below: &str, max: u32) -> String {
    let needed = tokens::count(entry).saturating_add(tokens::count(below));
    let note = format!("… cut: all of it needs {needed} tokens");
    let ends = [format!("{note}\n{below}"), note.clone()];
    for end in ends.iter().map(|it| it.trim_end()) {
        let mut room = max.saturating_sub(tokens::count(end) + 2);
        while 0 < room {
            let text = format!("{}\n{end}", budget::cut_to_tokens(entry, room).trim_end());
            let n_tokens = tokens::count(&text);
            if n_tokens <= max {
                return text;
            }
            room = room.saturating_sub((n_tokens - max).max(1));
        }
    }
    budget::first_fitting(max, [note])
}

#[cfg(test)]
mod tests;
