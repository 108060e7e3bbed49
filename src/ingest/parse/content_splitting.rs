//! Splits content that is too large for one node.
//!
//! A part ends, in order of preference, at the end of an item or row, a line, a sentence, a word, a
//! character. Parts that end at a line break leave the break out, so that joining them with a line
//! break gives the whole back.

use std::ops::Range;

use xxhash_rust::xxh64::xxh64;

use crate::text::tokens;

/// Maximum tokens of a node's content.
pub(crate) const PART_TOKENS_MAX: u32 = 800;

/// Maximum bytes of a text that is counted before it is split; only filler has so few tokens.
const WHOLE_BYTES_MAX: usize = 16 * 1024;

/// Bytes with which the first part is tried, which is 800 tokens of prose.
const TRY_BYTES: usize = 3200;

/// Maximum bytes with which the other parts are tried; the last one suggests how many.
const TRY_BYTES_MAX: usize = 12_800;

/// Bytes after a place that decide whether a part ends there.
const SETTLE_BYTES: usize = 48;

/// The kind of a text, which decides where it may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SplitTextKind {
    /// Prose, quotes and lists: a cut removes the white space around it.
    Prose,
    /// Code and table rows: a cut removes one line break and nothing else.
    Lines,
    /// Source code: the same, at a blank line where there is one.
    Blocks,
}

/// A piece of a text, with its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextPart {
    pub(crate) range: Range<usize>,
    pub(crate) tokens: u32,
    /// Whether the part begins in the middle of a line.
    pub(crate) is_inside_line: bool,
}

/// Returns the parts of `text`; exactly one if it is small enough for one node.
pub(crate) fn split_parts(text: &str, cut: SplitTextKind) -> Vec<TextPart> {
    if text.len() <= WHOLE_BYTES_MAX {
        let n = tokens::count(text);
        if n <= PART_TOKENS_MAX {
            return vec![TextPart { range: 0..text.len(), tokens: n, is_inside_line: false }];
        }
    }
    let mut parts = Vec::new();
    let mut start = 0;
    let mut is_inside_line = false;
    let mut try_bytes = TRY_BYTES;
    while start < text.len() {
        let (range, tokens) = part_at(text, start, cut, &mut try_bytes);
        let end = range.end;
        if !range.is_empty() || cut != SplitTextKind::Prose {
            parts.push(TextPart { range, tokens, is_inside_line });
        }
        let rest = &text[end..];
        let gap = match cut {
            SplitTextKind::Prose => rest.len() - rest.trim_start_matches(is_blank).len(),
            SplitTextKind::Lines | SplitTextKind::Blocks => line_break(rest),
        };
        is_inside_line = !rest[..gap].contains('\n');
        start = end + gap;
        if cut == SplitTextKind::Prose {
            // The indentation of a line belongs to its text.
            let line_start = text[end..start].rfind('\n').map_or(start, |at| end + at + 1);
            start = if start < text.len() { line_start } else { start };
        } else if start == text.len() && 0 < gap {
            // The text ends with a line break: an empty last part follows it.
            parts.push(TextPart { range: start..start, tokens: 0, is_inside_line: false });
        }
    }
    parts
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Returns the bytes of the line break that `text` starts with.
fn line_break(text: &str) -> usize {
    usize::from(text.starts_with('\n'))
}

/// Returns the part that starts at `start`: at most 800 tokens, empty only in blank text.
///
/// Parts of one text are alike, so that the size of one is a good guess at the next one's.
fn part_at(
    text: &str,
    start: usize,
    cut: SplitTextKind,
    try_bytes: &mut usize,
) -> (Range<usize>, u32) {
    let mut max_bytes = *try_bytes;
    loop {
        let rest = &text[start..];
        let len = if rest.len() <= max_bytes { rest.len() } else { boundary(rest, max_bytes, cut) };
        let len = match cut {
            SplitTextKind::Prose => rest[..len].trim_end_matches(is_blank).len(),
            SplitTextKind::Lines | SplitTextKind::Blocks => len,
        };
        let n = tokens::count(&rest[..len]);
        let max_tokens = PART_TOKENS_MAX as usize;
        let fitting = len * max_tokens / n.max(1) as usize;
        let fitting = (fitting - fitting / 16).max(max_tokens);
        if n <= PART_TOKENS_MAX {
            if 0 < n {
                *try_bytes = fitting.min(TRY_BYTES_MAX);
            }
            return (start..start + len, n);
        }
        // A token is at least one byte, so 800 bytes always fit and the loop ends.
        max_bytes = fitting.min(len - 1);
    }
}

/// Returns a good end of a part within the first `max_bytes` of `text`, which is longer.
fn boundary(text: &str, max_bytes: usize, cut: SplitTextKind) -> usize {
    let end = text.floor_char_boundary(max_bytes);
    // One more character shows what follows the last place.
    let after = text[end..].chars().next().map_or(0, char::len_utf8);
    let window = &text[..end + after];
    let breaks =
        || window.match_indices('\n').map(|(at, _)| at).filter(|at| (1..=end).contains(at));
    let late_breaks = || breaks().filter(|at| end / 2 <= *at);
    let is_margin = |at: &usize| {
        let next = window.as_bytes().get(at + 1);
        next.is_some_and(|byte| !byte.is_ascii_whitespace())
    };
    if cut != SplitTextKind::Prose {
        let is_gap =
            |at: &usize| cut == SplitTextKind::Blocks && window[at + 1..].starts_with(['\n', '\r']);
        return settled(text, late_breaks().filter(is_gap))
            .or_else(|| settled(text, late_breaks()))
            .or_else(|| breaks().next_back())
            .or_else(|| word_end(&window[..end]))
            .unwrap_or(end);
    }
    settled(text, late_breaks().filter(is_margin))
        .or_else(|| settled(text, late_breaks()))
        .or_else(|| settled(text, sentence_ends(&window[..end]).filter(|at| end / 2 <= *at)))
        .or_else(|| breaks().rfind(|at| !window[..*at].trim().is_empty()))
        .or_else(|| word_end(&window[..end]))
        .unwrap_or(end)
}

/// Chooses among several good places by the text after them, not by the distance from the start. So
/// the parts after an edit begin and end where they did before it.
fn settled(text: &str, places: impl Iterator<Item = usize>) -> Option<usize> {
    places.min_by_key(|&at| {
        let rest = &text.as_bytes()[at..];
        (xxh64(&rest[..rest.len().min(SETTLE_BYTES)], 0), usize::MAX - at)
    })
}

/// Returns the ends of sentences.
fn sentence_ends(window: &str) -> impl Iterator<Item = usize> {
    window.char_indices().filter_map(|(at, c)| {
        let end = at + c.len_utf8();
        let is_end = match c {
            '.' | '!' | '?' => window[end..].starts_with(char::is_whitespace),
            '。' | '！' | '？' => true,
            _ => false,
        };
        is_end.then_some(end)
    })
}

/// Returns the end of the last word that is not alone: before white space, or else beside a mark.
fn word_end(window: &str) -> Option<usize> {
    let is_late = |at: &usize| window.len() / 4 <= *at && 0 < *at;
    let mark = || {
        let (at, c) = window.char_indices().rfind(|(_, c)| !c.is_alphanumeric())?;
        Some(at + c.len_utf8())
    };
    window.rfind([' ', '\t']).filter(is_late).or_else(|| mark().filter(is_late))
}

#[cfg(test)]
mod tests;
