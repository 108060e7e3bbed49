//! Columns of secrets: a table whose head has `password` over values that show nothing themselves.
//!
//! A head is recognized in three notations: the first line of values that commas, semicolons, tabs
//! or bars separate; the line above a rule in Markdown; and `{…}:` in TOON. Cells are judged like
//! quoted values of an assignment. If one of them is certainly a password, its short and plain
//! neighbours in the column are secrets, too. Each row is read once.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::assignment_verdict::is_secret_cell;
use super::key_name::{CredentialKind, classify, name_begin};
use super::value_checks;

/// Maximum bytes of a line that can be a head.
const HEAD_BYTES_MAX: usize = 4096;

/// Maximum bytes of a quoted cell that may hold line breaks.
const CELL_BYTES_MAX: usize = 1024;

/// Minimum characters of a plain word in a column of passwords.
const WORD_CHARS_MIN: usize = 4;

/// Minimum bytes of a plain word that needs no owner.
const PLAIN_BYTES_MIN: usize = 10;

/// A cell that holds a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SecretCell {
    pub(super) value: Range<usize>,
    /// Quotes that a marker needs here to keep the notation valid.
    pub(super) quote: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableNotation {
    Delimited,
    Markdown,
    Toon,
}

/// A column of secrets.
#[derive(Clone, Copy)]
struct SecretColumn {
    nth: usize,
    class: CredentialKind,
    /// Whether the name is only the keyword.
    alone: bool,
}

/// A head that was recognized.
struct TableHeader {
    notation: TableNotation,
    delimiter: u8,
    n_columns: usize,
    columns: Vec<SecretColumn>,
    /// Blanks before it.
    indent: usize,
    /// Whether blanks follow its separators, as they do commas in a sentence.
    is_loose: bool,
    /// Whether a column names who a password belongs to.
    has_owner: bool,
    /// Start of the rows.
    rows: usize,
}

/// Returns whether the word that ends at `word_end` may be the last of a column's name.
pub(super) fn is_site(text: &str, word_end: usize) -> bool {
    let bytes = text.as_bytes();
    let rest = &bytes[word_end..bytes.len().min(word_end + 24)];
    let n_closers = rest.iter().take_while(|at| b"_0123456789\"'`* ".contains(at)).count();
    rest.get(n_closers).is_none_or(|at| b",;|}\t\r\n".contains(at))
}

/// Returns the secret cells below the heads of `text`. Each of `word_ends` may end a column's name.
pub(super) fn find(text: &str, word_ends: &[usize]) -> Vec<SecretCell> {
    let mut cells = Vec::new();
    let mut done = 0;
    let first = first_line(text);
    for &word_end in word_ends {
        if word_end < done {
            continue;
        }
        let line = match line_around(text, word_end) {
            Ok(line) => line,
            Err(end) => {
                done = end;
                continue;
            }
        };
        done = line.end + 1;
        if let Some(head) = head(text, &line, first) {
            done = done.max(find_in_rows(text, &head, &mut cells));
        }
    }
    cells
}

/// Returns the line around `at`, without its break. A line too long for a head is an error with its
/// least end.
fn line_around(text: &str, at: usize) -> Result<Range<usize>, usize> {
    let bytes = text.as_bytes();
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let after = bytes[at..].iter().take(HEAD_BYTES_MAX).position(is_break);
    let end = match after {
        Some(n) => at + n,
        None if bytes.len() - at <= HEAD_BYTES_MAX => bytes.len(),
        None => return Err(at + HEAD_BYTES_MAX),
    };
    match bytes[..at].iter().rev().take(HEAD_BYTES_MAX).position(is_break) {
        Some(n) => Ok(at - n..end),
        None if at <= HEAD_BYTES_MAX => Ok(0..end),
        None => Err(end),
    }
}

/// Returns the start of the first line with words that does not declare the separator.
fn first_line(text: &str) -> usize {
    let words = text.trim_start_matches('\u{feff}').trim_start();
    let named = words.split_inclusive('\n').next().filter(|it| it.starts_with("sep="));
    text.len() - words.len() + named.map_or(0, str::len)
}

fn head(text: &str, line: &Range<usize>, first: usize) -> Option<TableHeader> {
    let words = &text[line.clone()];
    let indent = words.len() - words.trim_start_matches([' ', '\t']).len();
    let rows = after_break(text, line.end);
    if let Some(head) = toon_head(text, line, indent, rows) {
        return Some(head);
    }
    let next = text[rows..].lines().next().unwrap_or("");
    if words.contains('|') && is_rule(next) {
        let rows = after_break(text, rows + next.len());
        return named(text, line, TableNotation::Markdown, b'|', indent, rows);
    }
    if first < line.start {
        return None;
    }
    [b',', b';', b'\t', b'|']
        .into_iter()
        .filter_map(|it| named(text, line, TableNotation::Delimited, it, indent, rows))
        .max_by_key(|it| it.n_columns)
}

/// Parses `users[2]{name,password}:`, where a tab or a bar in the brackets is the delimiter.
fn toon_head(text: &str, line: &Range<usize>, indent: usize, rows: usize) -> Option<TableHeader> {
    let words = text[line.clone()].trim_end().strip_suffix("}:")?;
    let open = words.find("]{")?;
    let delimiter = match words.as_bytes().get(open.checked_sub(1)?) {
        Some(it @ (b'\t' | b'|')) => *it,
        _ => b',',
    };
    let names = line.start + open + 2..line.start + words.len();
    named(text, &names, TableNotation::Toon, delimiter, indent, rows)
}

fn named(
    text: &str,
    line: &Range<usize>,
    notation: TableNotation,
    delimiter: u8,
    indent: usize,
    rows: usize,
) -> Option<TableHeader> {
    let (cells, _) = record(text, line.start, line.end, delimiter);
    let n_columns = cells.len();
    let is_loose = cells.iter().skip(1).all(|it| text[it.clone()].starts_with(' '));
    let is_loose = is_loose && notation == TableNotation::Delimited;
    let mut columns = Vec::new();
    let mut has_owner = false;
    for (nth, cell) in cells.into_iter().enumerate() {
        let name = inner(text, cell);
        has_owner |= is_owner(&text[name.clone()], notation);
        if let Some((class, alone)) = class_of(text, &name) {
            columns.push(SecretColumn { nth, class, alone });
        }
    }
    let is_wide = 2 <= n_columns || notation == TableNotation::Toon;
    (is_wide && !columns.is_empty()).then_some(TableHeader {
        notation,
        delimiter,
        n_columns,
        columns,
        indent,
        is_loose,
        has_owner,
        rows,
    })
}

/// Returns whether a column names the owner of a password. In a table of Markdown, a name and the
/// like may be that of a field.
fn is_owner(name: &str, notation: TableNotation) -> bool {
    const OWNERS: [&str; 7] = ["user", "username", "login", "email", "account", "e-mail", "member"];
    const MAYBE: [&str; 10] = [
        "name", "id", "host", "hostname", "server", "service", "site", "url", "database", "website",
    ];
    let name = name.to_ascii_lowercase();
    let words: Vec<&str> = name.split(['_', ' ', '.']).collect();
    let is_of = |set: &[&str]| words.iter().any(|it| set.contains(it));
    is_of(&OWNERS) || notation != TableNotation::Markdown && is_of(&MAYBE)
}

fn class_of(text: &str, cell: &Range<usize>) -> Option<(CredentialKind, bool)> {
    let begin = name_begin(text, cell.end).max(cell.start);
    let before = &text[cell.start..begin];
    let is_short = before.len() <= 24 && before.chars().all(|at| at.is_alphabetic() || at == ' ');
    if begin == cell.end || !is_short {
        return None;
    }
    let (class, alone) = classify(text, begin, &text[begin..cell.end])?;
    Some((class, alone && before.is_empty()))
}

/// Appends the secrets of the rows and returns the end of the rows.
fn find_in_rows(text: &str, head: &TableHeader, found: &mut Vec<SecretCell>) -> usize {
    let mut columns: Vec<Vec<(Range<usize>, &'static str)>> = vec![Vec::new(); head.columns.len()];
    let mut at = head.rows;
    while at < text.len() {
        let line = text[at..].lines().next().unwrap_or("");
        let is_row = match head.notation {
            TableNotation::Delimited => true,
            TableNotation::Markdown => line.contains('|'),
            TableNotation::Toon => {
                head.indent < line.len() - line.trim_start_matches([' ', '\t']).len()
            }
        };
        if !is_row {
            break;
        }
        let limit = match head.notation {
            TableNotation::Delimited => text.len(),
            TableNotation::Markdown | TableNotation::Toon => at + line.len(),
        };
        let (cells, end) = record(text, at, limit, head.delimiter);
        if cells.len() == head.n_columns {
            for (column, SecretColumn { nth, .. }) in columns.iter_mut().zip(&head.columns) {
                let value = inner(text, cells[*nth].clone());
                let is_bare = value == trimmed(text, cells[*nth].clone());
                let quote = match head.notation {
                    TableNotation::Toon if is_bare => "\"",
                    _ => "",
                };
                column.push((value, quote));
            }
        } else if head.is_loose && !line.trim().is_empty() {
            // Sentences, not rows.
            return head.rows;
        }
        at = after_break(text, end).max(at + 1);
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    for (cells, &column) in columns.into_iter().zip(&head.columns) {
        judge(text, head, column, cells, found);
    }
    at
}

fn judge(
    text: &str,
    head: &TableHeader,
    column: SecretColumn,
    cells: Vec<(Range<usize>, &'static str)>,
    found: &mut Vec<SecretCell>,
) {
    let SecretColumn { class, alone, .. } = column;
    // A short plain word says nothing itself; it needs an owner.
    let is_credential = head.has_owner && class == CredentialKind::Password;
    let is_word = |word: &str| word.len() < PLAIN_BYTES_MIN && value_checks::is_chosen_word(word);
    let is_secret = |at: &Range<usize>| {
        is_secret_cell(class, alone, text, at) && (is_credential || !is_word(&text[at.clone()]))
    };
    let is_sure = matches!(class, CredentialKind::Password | CredentialKind::Secret)
        && cells.iter().any(|(at, _)| is_secret(at) && value_checks::is_varied(&text[at.clone()]));
    for (at, quote) in cells {
        let word = &text[at.clone()];
        let is_plain = || {
            word.chars().nth(WORD_CHARS_MIN - 1).is_some()
                && !word.contains(char::is_whitespace)
                && !word.contains("«redacted:")
                && !value_checks::is_placeholder(word)
                && !value_checks::is_reserved(word)
        };
        if is_secret(&at) || is_sure && is_plain() {
            found.push(SecretCell { value: at, quote });
        }
    }
}

/// Returns the cells of the record that begins at `at`, and its end. A quoted cell may hold
/// delimiters and, within `limit`, line breaks.
fn record(text: &str, at: usize, limit: usize, delimiter: u8) -> (Vec<Range<usize>>, usize) {
    let bytes = &text.as_bytes()[..limit];
    let mut cells = Vec::new();
    let mut start = at;
    let mut here = at;
    while here < limit {
        let byte = bytes[here];
        if byte == b'"' && bytes[start..here].iter().all(|it| *it == b' ') {
            here = quoted_end(bytes, here + 1).unwrap_or(here + 1);
            continue;
        }
        if byte == b'\n' || byte == b'\r' {
            break;
        }
        let is_escaped =
            delimiter == b'|' && here.checked_sub(1).map(|it| bytes[it]) == Some(b'\\');
        if byte == delimiter && !is_escaped {
            cells.push(start..here);
            start = here + 1;
        }
        here += 1;
    }
    cells.push(start..here);
    (cells, here)
}

/// Returns the start of the text after a quoted cell; `None` if it is not closed nearby.
fn quoted_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while at < bytes.len().min(from + CELL_BYTES_MAX) {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', Some(b'"')) | (b'\\', Some(_)) => at += 2,
            (b'"', _) => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

fn trimmed(text: &str, cell: Range<usize>) -> Range<usize> {
    let words = &text[cell.clone()];
    let start = cell.start + words.len() - words.trim_start().len();
    start..start + words.trim().len()
}

/// Returns a cell without blanks, quotes and marks of emphasis.
fn inner(text: &str, cell: Range<usize>) -> Range<usize> {
    let mut cell = trimmed(text, cell);
    for mark in ["**", "\"", "'", "`"] {
        let words = &text[cell.clone()];
        if 2 * mark.len() <= words.len() && words.starts_with(mark) && words.ends_with(mark) {
            cell = cell.start + mark.len()..cell.end - mark.len();
        }
    }
    trimmed(text, cell)
}

/// Returns whether a line is the rule below the head of a Markdown table.
fn is_rule(line: &str) -> bool {
    line.contains('|') && line.contains('-') && line.bytes().all(|at| b"|-: \t".contains(&at))
}

/// Returns the start of the line after the break at `end`.
fn after_break(text: &str, end: usize) -> usize {
    let rest = &text.as_bytes()[end..];
    end + match (rest.first(), rest.get(1)) {
        (Some(b'\r'), Some(b'\n')) => 2,
        (Some(b'\r' | b'\n'), _) => 1,
        _ => 0,
    }
}
