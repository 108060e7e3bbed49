//! Excerpts: a snippet around the matched words, and a beginning that fits a budget.

use super::budget_enforcement;
use crate::query::render;
use crate::query::render::entry::TextEntry;
use crate::store::reader::{NodeSummary, TextWithBreadcrumb};
use crate::text;
use crate::text::cutting;
use crate::text::spaceless_script_bigrams::{self, ScriptSpacing};
use crate::text::tokens;

/// Characters of a snippet.
const SNIPPET_CHARS: usize = 140;
/// Characters before the first matched word.
const LEAD_CHARS: usize = 40;
/// Bytes of a text that are scanned for words.
const SCAN_BYTES_MAX: usize = 256 * 1024;
/// Occurrences of words among which the best window is chosen.
const PLACES_MAX: usize = 256;

/// Returns the part of `content` with the most different `marks` (lower-case words), on one line.
pub(crate) fn make_snippet(content: &str, marks: &[String]) -> String {
    let content = &content[..content.floor_char_boundary(SCAN_BYTES_MAX)];
    let start = match best_place(&places(content, marks)) {
        Some(place) => start_before(content, place),
        None => 0,
    };
    let shown =
        text::fold_whitespace(content[start..].get(..SNIPPET_CHARS * 8).unwrap_or_else(|| {
            let rest = &content[start..];
            &rest[..rest.floor_char_boundary(SNIPPET_CHARS * 8)]
        }));
    let shown = render::to_one_line(&text::truncate_chars(&shown, SNIPPET_CHARS)).into_owned();
    if start == 0 { shown } else { format!("…{shown}") }
}

/// Returns the occurrences of marks: byte offset and index of the mark.
fn places(content: &str, marks: &[String]) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let origin = content.as_ptr() as usize;
    for segment in spaceless_script_bigrams::segments(content) {
        let at = segment.text.as_ptr() as usize - origin;
        match segment.script {
            ScriptSpacing::Spaced => {
                let word = segment.text.to_lowercase();
                let mark = marks.iter().position(|mark| is_same_word(&word, mark));
                places.extend(mark.map(|mark| (at, mark)));
            }
            ScriptSpacing::Spaceless => {
                let found = marks.iter().enumerate().filter_map(|(mark, text)| {
                    segment.text.find(text.as_str()).map(|offset| (at + offset, mark))
                });
                places.extend(found);
            }
        }
        if PLACES_MAX <= places.len() {
            break;
        }
    }
    places
}

/// Returns the first offset from which a snippet shows the most different marks.
fn best_place(places: &[(usize, usize)]) -> Option<usize> {
    let reach = SNIPPET_CHARS - LEAD_CHARS;
    let n_marks = |from: usize| {
        let start = places[from].0;
        let mut seen: Vec<usize> = places[from..]
            .iter()
            .take_while(|(at, _)| *at < start + reach)
            .map(|&(_, mark)| mark)
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    let mut best: Option<(usize, usize)> = None;
    for (from, &(place, _)) in places.iter().enumerate() {
        let n = n_marks(from);
        if best.is_none_or(|(most, _)| most < n) {
            best = Some((n, place));
        }
    }
    best.map(|(_, place)| place)
}

/// Returns the beginning of a word some characters before `place`; 0 if the text begins there.
fn start_before(content: &str, place: usize) -> usize {
    let before = &content[..place];
    let Some((start, _)) = before.char_indices().rev().nth(LEAD_CHARS - 1) else { return 0 };
    let lead = &before[start..];
    let word = lead.find(char::is_whitespace).map_or(start, |space| start + space);
    let skipped = &content[word..];
    word + (skipped.len() - skipped.trim_start().len())
}

/// Returns whether two lower-case words are forms of one, roughly as the index's stemmer decides.
pub(super) fn is_same_word(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let (shorter, longer) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let n_alike = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let n_needed = shorter.len().saturating_sub(2).max(4).min(shorter.len());
    3 <= shorter.len() && n_needed <= n_alike && longer.len() <= 2 * n_alike
}

/// An entry that was cut to fit.
pub(crate) struct CutEntry {
    /// The entry with a line about its size, or that line alone.
    pub(crate) text: String,
    /// The part of the node's text that is in it.
    pub(crate) content: String,
    /// Tokens of the whole entry.
    pub(crate) needs: u32,
}

/// Cuts a node's entry to the sentences or lines that fit, and a line with the tokens of the whole;
/// `None` where not even that fits. A breadcrumb that is shown already is left out.
pub(crate) fn cut_entry(
    head: &NodeSummary,
    text: &TextWithBreadcrumb,
    place: BreadcrumbAlreadyShown,
    max: u32,
) -> Option<CutEntry> {
    let empty = TextEntry::with_text(head, text, "…");
    let needs = needed(head, text);
    let note = format!("… cut: all of it needs {needs} tokens\n");
    let top = if place == BreadcrumbAlreadyShown::Shown { "" } else { &empty.place };
    let frame = tokens::count(top) + tokens::count(&empty.lines) + tokens::count(&note);
    let cut = match head.node_type.as_str() {
        "code" | "embed" | "kv" | "list" | "preamble" | "table" => cutting::cut_at_line,
        _ => cutting::cut_at_sentence,
    };
    let mut room = max.saturating_sub(frame);
    for _ in 0..4 {
        let content = cut(budget_enforcement::cut_to_tokens(&text.content, room));
        if content.is_empty() {
            break;
        }
        let entry = TextEntry::with_text(head, text, content);
        let text = [top, &entry.lines, &note].concat();
        let counted = tokens::count(&text);
        if counted <= max {
            return Some(CutEntry { text, content: content.to_owned(), needs });
        }
        room = room.saturating_sub((counted - max).max(1));
    }
    None
}

/// Returns the tokens of a node's whole entry, with room for a line about the rest.
fn needed(head: &NodeSummary, text: &TextWithBreadcrumb) -> u32 {
    /// Longer texts are not counted; no line needs more than two tokens for its space.
    const COUNTED_BYTES_MAX: usize = 64 * 1024;
    const REST_TOKENS: u32 = 16;
    let tokens = match text.content.len() <= COUNTED_BYTES_MAX {
        true => TextEntry::whole(head, text).n_tokens(),
        false => {
            let n_lines = text.content.bytes().filter(|&it| it == b'\n').count() as u32;
            let frame = TextEntry::with_text(head, text, "…").n_tokens();
            head.tokens.saturating_add(2 * n_lines).saturating_add(frame)
        }
    };
    tokens.saturating_add(REST_TOKENS)
}

/// Whether the breadcrumb of an entry is already shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreadcrumbAlreadyShown {
    Shown,
    Missing,
}

/// Cuts a node's entry; where nothing of it fits, returns a line with its size.
pub(crate) fn cut_or_size(head: &NodeSummary, text: &TextWithBreadcrumb, max: u32) -> CutEntry {
    cut_entry(head, text, BreadcrumbAlreadyShown::Missing, max).unwrap_or_else(|| {
        let needs = needed(head, text);
        let id = &head.id;
        let signs = [format!("… `{id}` needs {needs} tokens"), format!("… {needs} tokens")];
        let text = budget_enforcement::first_fitting(max, signs);
        CutEntry { text, content: String::new(), needs }
    })
}

#[cfg(test)]
mod tests;
