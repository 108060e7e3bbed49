//! Splits a text into the words that cl100k counts apart, without a regex engine, by this pattern:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+
//!   | ?[^\s\p{L}\p{N}]++[\r\n]*+ | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
//! ```

use super::cl100k_vocabulary::{is_letter, is_number};

/// The character classes of the pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternCharClass {
    Letter,
    Number,
    Space,
    Other,
}

/// The classes of the ASCII characters.
const ASCII: [PatternCharClass; 128] = {
    let mut kinds = [PatternCharClass::Other; 128];
    let mut at = 0;
    while at < kinds.len() {
        kinds[at] = match at as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => PatternCharClass::Letter,
            b'0'..=b'9' => PatternCharClass::Number,
            b'\t'..=b'\r' | b' ' => PatternCharClass::Space,
            _ => PatternCharClass::Other,
        };
        at += 1;
    }
    kinds
};

/// Maximum digits of one word.
const DIGITS_MAX: usize = 3;

/// Returns the end of the first word of `text`, which is not empty.
pub(super) fn word_end(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return 0 };
    let after = first.len_utf8();
    if first == '\''
        && let Some(end) = contraction_end(chars.as_str())
    {
        return after + end;
    }
    let second = chars.next().map(kind);
    match kind(first) {
        PatternCharClass::Letter => run_end(text, after, PatternCharClass::Letter),
        PatternCharClass::Number => {
            let digits = text
                .chars()
                .take(DIGITS_MAX)
                .take_while(|&it| kind(it) == PatternCharClass::Number);
            digits.map(char::len_utf8).sum()
        }
        _ if second == Some(PatternCharClass::Letter) && !matches!(first, '\r' | '\n') => {
            run_end(text, after, PatternCharClass::Letter)
        }
        PatternCharClass::Other => breaks_end(text, run_end(text, after, PatternCharClass::Other)),
        PatternCharClass::Space if first == ' ' && second == Some(PatternCharClass::Other) => {
            breaks_end(text, run_end(text, after, PatternCharClass::Other))
        }
        PatternCharClass::Space => space_end(text),
    }
}

/// Returns the end of a contraction after its apostrophe, as in `'ll`.
fn contraction_end(text: &str) -> Option<usize> {
    let mut chars = text.chars();
    match (chars.next()?, chars.next()) {
        ('s' | 'S' | 'd' | 'D' | 'm' | 'M' | 't' | 'T', _) => Some(1),
        // The long s folds to an s.
        ('ſ', _) => Some('ſ'.len_utf8()),
        ('l' | 'L', Some('l' | 'L')) => Some(2),
        ('v' | 'V' | 'r' | 'R', Some('e' | 'E')) => Some(2),
        _ => None,
    }
}

/// Returns the end of the run of characters of one kind from `start` on.
fn run_end(text: &str, start: usize, of: PatternCharClass) -> usize {
    let is_other = |it: &u8| ASCII.get(usize::from(*it)) != Some(&of);
    let ascii = text.as_bytes()[start..].iter().position(is_other);
    let Some(start) = ascii.map(|at| start + at) else { return text.len() };
    let rest = &text[start..];
    if rest.as_bytes()[0].is_ascii() {
        return start;
    }
    let found = rest.char_indices().find(|&(_, it)| kind(it) != of);
    found.map_or(text.len(), |(at, _)| start + at)
}

fn breaks_end(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    start + (rest.len() - rest.trim_start_matches(['\r', '\n']).len())
}

/// Returns the end of a run of white space that forms one word. The run reaches to the end of the
/// text, or up to its last line break, or all but its last character, which belongs to the next
/// word.
fn space_end(text: &str) -> usize {
    let end = run_end(text, 0, PatternCharClass::Space);
    let space = &text[..end];
    if end == text.len() {
        return end;
    }
    if let Some(at) = space.rfind(['\r', '\n']) {
        return at + 1;
    }
    match space.char_indices().next_back() {
        Some((at, _)) if 0 < at => at,
        _ => end,
    }
}

fn kind(it: char) -> PatternCharClass {
    match it {
        _ if it.is_ascii() => ASCII[it as usize],
        _ if it.is_whitespace() => PatternCharClass::Space,
        _ if is_letter(it) => PatternCharClass::Letter,
        _ if is_number(it) => PatternCharClass::Number,
        _ => PatternCharClass::Other,
    }
}
