//! Excerpts: a snippet around the matched words, and a beginning that fits a budget.

use super::budget;
use crate::query::render;
use crate::store::reader::NodeHead;
use crate::text;
use crate::text::bigrams::{self, Script};
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

/// Removes from a snippet the label on the line above it.
pub(crate) fn without_label(snippet: String, label: &str) -> String {
    let shown_label = label.strip_suffix('…').unwrap_or(label);
    let rest = match snippet.strip_prefix(shown_label) {
        Some(rest) if !shown_label.is_empty() => rest,
        _ => return snippet,
    };
    if rest.is_empty() || rest == "…" {
        return String::new();
    }
    // A label may end within a word, which then begins the rest.
    let is_within = rest.starts_with(char::is_alphanumeric);
    let start = shown_label.rfind(' ').filter(|_| is_within).unwrap_or(shown_label.len());
    format!("…{}", snippet[start..].trim_start())
}

/// Returns the occurrences of marks: byte offset and index of the mark.
fn places(content: &str, marks: &[String]) -> Vec<(usize, usize)> {
    let mut places = Vec::new();
    let origin = content.as_ptr() as usize;
    for segment in bigrams::segments(content) {
        let at = segment.text.as_ptr() as usize - origin;
        match segment.script {
            Script::Spaced => {
                let word = segment.text.to_lowercase();
                let mark = marks.iter().position(|mark| is_same_word(&word, mark));
                places.extend(mark.map(|mark| (at, mark)));
            }
            Script::Spaceless => {
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

/// Returns an upper bound for the tokens of a node's block.
pub(crate) fn tokens_needed(head: &NodeHead, score: f64) -> u32 {
    tokens::count(&render::render_block_head(head, score))
        .saturating_add(head.tokens)
        .saturating_add(2)
}

/// A block that was cut to fit.
pub(crate) struct CutBlock {
    /// The block, or a line about its size.
    pub(crate) block: String,
    /// The part of the node's text that is in it.
    pub(crate) content: String,
    /// Tokens of the whole block.
    pub(crate) needs: u32,
}

/// Cuts a node's block to the text that fits, and a line with the tokens of the whole. Where not
/// even that fits, it returns the line alone, or a shorter one.
pub(crate) fn cut(head: &NodeHead, score: f64, content: &str, max: u32) -> CutBlock {
    let top = render::render_block_head(head, score);
    let needs = tokens_needed(head, score);
    let note = format!("… cut: all of it needs {needs} tokens\n");
    let frame = tokens::count(&top) + tokens::count(&note) + 2;
    let mut room = max.saturating_sub(frame);
    for _ in 0..4 {
        if room == 0 {
            break;
        }
        let content = budget::cut_to_tokens(content, room).trim_end();
        let block = format!("{top}{content}\n{note}");
        if tokens::fits(&block, max) {
            return CutBlock { block, content: content.to_owned(), needs };
        }
        room = room.saturating_sub(tokens::count(&block).saturating_sub(max)).min(room - 1);
    }
    let id = &head.id;
    let signs = [format!("… `{id}` needs {needs} tokens"), format!("… {needs} tokens")];
    CutBlock { block: budget::first_fitting(max, signs), content: String::new(), needs }
}

#[cfg(test)]
mod tests;
