//! Decides by what stands around an assignment: whether it is in code, in an address of a badge, or
//! in a vocabulary that numbers words.
//!
//! Every function reads a bounded part of the text, so that its cost is the same for any length.

use std::ops::Range;

/// Bytes around an assignment that are read.
const NEAR_BYTES_MAX: usize = 256;

/// Returns whether the assignment is part of an image's address that a badge or graph has: the
/// token there only counts visits, and whoever reads the page sees it.
pub(super) fn in_badge(text: &str, name_begin: usize) -> bool {
    let before = before(text, name_begin);
    if !before.ends_with(['?', '&']) {
        return false;
    }
    let is_end = |at: char| at.is_whitespace() || "\"'<>()[]`".contains(at);
    let address = before.rsplit(is_end).next().unwrap_or("");
    let path = address.split('?').next().unwrap_or("").to_ascii_lowercase();
    path.contains("badge") || path.ends_with(".svg") && path.contains("graph")
}

/// Returns whether a number is that of a word in a vocabulary, by the numbers of its neighbours.
pub(super) fn in_vocabulary(text: &str, name_begin: usize, value: &Range<usize>) -> bool {
    const DIGITS_MAX: usize = 6;
    let own = &text[value.clone()];
    let Ok(own) = own.parse::<i64>() else { return false };
    let parse = |digits: &str| digits.parse::<i64>().ok().filter(|_| digits.len() <= DIGITS_MAX);
    let before = before(text, name_begin);
    let entry = before.rfind([',', '\n']).map_or("", |at| &before[..at]);
    let entry = entry.trim_end_matches([',', ' ', '\t', '\r', '\n']);
    let last = entry.trim_end_matches(|at: char| at.is_ascii_digit());
    let is_entry = last.trim_end().ends_with(':');
    let last = parse(&entry[last.len()..]).filter(|_| is_entry);
    let after = after(text, value.end);
    let entry = after.trim_start_matches([',', ' ', '\t', '\r', '\n']);
    let next = entry.split([',', '\n', '}']).next().and_then(|it| it.rsplit_once(':'));
    let next = next.and_then(|(_, it)| parse(it.trim()));
    let is_beside = |it: i64| it.abs_diff(own) == 1;
    last.is_some_and(is_beside) || next.is_some_and(is_beside)
}

/// Returns whether a line is one of code, by what its neighbours end or begin with.
pub(super) fn in_code(text: &str, name_begin: usize, value_end: usize) -> bool {
    let before = before(text, name_begin);
    let above = before.rfind('\n').map_or("", |at| before[..at].trim_end());
    let after = after(text, value_end);
    let (line, below) = after.split_once('\n').unwrap_or((after, ""));
    line.trim_end().ends_with([',', ';', ')', '{', '('])
        || above.ends_with(['{', '(', ',', ';'])
        || below.trim_start().starts_with(['}', ')'])
}

/// Returns whether a bracket of the value is closed on the rest of the line, or a block begins
/// there, as in a call.
pub(super) fn goes_on_as_code(text: &str, value: &Range<usize>) -> bool {
    let head = super::value_checks::head(&text[value.clone()]);
    let n_open = |text: &str| {
        let of = |set: &[char]| text.matches(set).count() as i64;
        of(&['(', '[', '{']) - of(&[')', ']', '}'])
    };
    let rest = after(text, value.end);
    let line = rest.split('\n').next().unwrap_or("").trim_end();
    // `(name) => …` and `$self->name`.
    if head.starts_with('(') && line.contains("=>")
        || head.starts_with('$') && line.starts_with('>')
    {
        return true;
    }
    // The value ends at white space; what follows a closing mark is another notation.
    let is_bare = line.starts_with([' ', ';']);
    0 < n_open(head) && is_bare && (n_open(head) + n_open(line) <= 0 || line.ends_with('{'))
}

fn before(text: &str, end: usize) -> &str {
    &text[text.floor_char_boundary(end.saturating_sub(NEAR_BYTES_MAX))..end]
}

fn after(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    &rest[..rest.floor_char_boundary(NEAR_BYTES_MAX)]
}
