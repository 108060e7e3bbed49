//! Where to cut what is too large for one node.
//!
//! A part ends, in order of preference, where an item or row ends, a line, a sentence, a word, a
//! character. Parts that end at a line break leave the break out, so that joining such parts with a
//! line break gives the whole back.

use std::ops::Range;

use crate::tokens;

/// Tokens of a node's content, at the most.
pub const PART_TOKENS_MAX: u32 = 800;

/// Longer texts are split without counting the whole first: nothing but filler has so few tokens.
const WHOLE_BYTES_MAX: usize = 16 * 1024;

/// A part is first tried with so many bytes, which is what 800 tokens of prose have.
const TRY_BYTES: usize = 3200;

/// What a text is made of, which tells where it may be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Prose, quotes and lists: a cut takes the white space around it away.
    Prose,
    /// Code and table rows: a cut takes one line break away and nothing else.
    Lines,
}

/// A piece of a text, with its tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) range: Range<usize>,
    pub(crate) tokens: u32,
    /// Whether the part begins in the middle of a line.
    pub(crate) is_inside_line: bool,
}

/// The parts of `text`; exactly one when it is small enough for one node.
pub(crate) fn split(text: &str, cut: Cut) -> Vec<Part> {
    if text.len() <= WHOLE_BYTES_MAX {
        let n = tokens::count(text);
        if n <= PART_TOKENS_MAX {
            return vec![Part { range: 0..text.len(), tokens: n, is_inside_line: false }];
        }
    }
    let mut parts = Vec::new();
    let mut start = 0;
    let mut is_inside_line = false;
    while start < text.len() {
        let (range, tokens) = part_at(text, start, cut);
        let end = range.end;
        if !range.is_empty() || cut == Cut::Lines {
            parts.push(Part { range, tokens, is_inside_line });
        }
        let rest = &text[end..];
        let gap = match cut {
            Cut::Prose => rest.len() - rest.trim_start_matches(is_blank).len(),
            Cut::Lines => line_break(rest),
        };
        is_inside_line = !rest[..gap].contains('\n');
        start = end + gap;
        if cut == Cut::Prose {
            // The indentation of a line belongs to its text.
            let line_start = text[end..start].rfind('\n').map_or(start, |at| end + at + 1);
            start = if start < text.len() { line_start } else { start };
        } else if start == text.len() && 0 < gap {
            // The text ends with a line break: an empty last part stands for what follows it.
            parts.push(Part { range: start..start, tokens: 0, is_inside_line: false });
        }
    }
    parts
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Bytes of the line break that `text` starts with.
fn line_break(text: &str) -> usize {
    usize::from(text.starts_with('\n'))
}

/// The part that starts at `start`: at most 800 tokens, never empty unless a blank line is meant.
fn part_at(text: &str, start: usize, cut: Cut) -> (Range<usize>, u32) {
    let mut max_bytes = TRY_BYTES;
    loop {
        let rest = &text[start..];
        let len = if rest.len() <= max_bytes { rest.len() } else { boundary(rest, max_bytes, cut) };
        let len = match cut {
            Cut::Prose => rest[..len].trim_end_matches(is_blank).len(),
            Cut::Lines => len,
        };
        let n = tokens::count(&rest[..len]);
        if n <= PART_TOKENS_MAX {
            return (start..start + len, n);
        }
        // A token is at least one byte, so 800 bytes always fit and the loop ends.
        let fitting = len * PART_TOKENS_MAX as usize / n as usize;
        max_bytes = (fitting - fitting / 20).max(PART_TOKENS_MAX as usize).min(len - 1);
    }
}

/// The best place to end a part within the first `max_bytes` of `text`, which is longer than that.
fn boundary(text: &str, max_bytes: usize, cut: Cut) -> usize {
    let end = text.floor_char_boundary(max_bytes);
    let window = &text[..end];
    // One more character may be looked at, to see what the window's end stands before.
    let line = match text[end..].starts_with('\n') {
        true => Some(end),
        false => window.rfind('\n'),
    };
    let at_least = end / 4;
    if let Some(at) = line
        && at_least <= at
    {
        return top_level_break(window, at, cut).unwrap_or(at);
    }
    if cut == Cut::Lines {
        return match line {
            Some(at) if 0 < at => at,
            _ => word_end(window, at_least).unwrap_or(end),
        };
    }
    sentence_end(window, at_least)
        .or_else(|| line.filter(|&at| !window[..at].trim().is_empty()))
        .or_else(|| word_end(window, at_least))
        .unwrap_or(end)
}

/// The last line break before `last` after which an unindented line starts: an item's or a row's.
fn top_level_break(window: &str, last: usize, cut: Cut) -> Option<usize> {
    if cut == Cut::Lines {
        return None;
    }
    let bytes = window.as_bytes();
    (window.len() / 2..last).rev().find(|&at| {
        bytes[at] == b'\n' && bytes.get(at + 1).is_some_and(|next| !next.is_ascii_whitespace())
    })
}

fn sentence_end(window: &str, at_least: usize) -> Option<usize> {
    let mut chars = window.char_indices().rev().peekable();
    let mut next = 'a';
    while let Some((at, c)) = chars.next() {
        if at < at_least {
            return None;
        }
        let ends = match c {
            '.' | '!' | '?' => next.is_whitespace(),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends {
            return Some(at + c.len_utf8());
        }
        next = c;
    }
    None
}

fn word_end(window: &str, at_least: usize) -> Option<usize> {
    window.rfind([' ', '\t']).filter(|&at| at_least <= at && 0 < at)
}
