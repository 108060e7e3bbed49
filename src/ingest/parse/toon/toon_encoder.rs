//! Prints lists of scalars and of uniform flat maps as TOON where that saves tokens.
//!
//! Nothing is escaped and no number rewritten: a list that would need either is no table. A table
//! is read again before it is used, so that it always has the values of the list.

use std::ops::Range;

use super::reader;
use crate::ingest::parse::content_splitting::PART_TOKENS_MAX;
use crate::ingest::parse::value_tree::{ValueArena, ValueKind, ValueNode, is_typed, plain_items};
use crate::text::tokens;

/// Minimum share of the tokens that TOON has to save, in percent.
const SAVING_PERCENT_MIN: u64 = 15;

/// Maximum bytes of a row; longer ones are easier to read as nodes of their own.
const ROW_BYTES_MAX: usize = 1000;

/// Maximum bytes of a row on average.
const ROW_BYTES_USUAL: usize = 200;

/// Maximum bytes of a table that is not counted.
const GROUP_BYTES: usize = 1600;

/// Number of items by which the saving is measured.
const SAMPLE_ITEMS: usize = 50;

/// Rows of one group.
#[derive(Debug)]
pub(in crate::ingest::parse) struct ToonTableChunk {
    pub(in crate::ingest::parse) rows: Range<usize>,
    pub(in crate::ingest::parse) content: String,
    pub(in crate::ingest::parse) tokens: u32,
}

/// A list as TOON.
#[derive(Debug)]
pub(in crate::ingest::parse) struct ToonTable<'a> {
    key: Option<&'a str>,
    columns: Option<Vec<&'a str>>,
    /// Each item as a row.
    rows: Vec<String>,
    /// The whole, or its parts if it is too large for one node.
    pub(in crate::ingest::parse) groups: Vec<ToonTableChunk>,
}

impl<'a> ToonTable<'a> {
    /// Returns the list at `index` as a table; `None` if it cannot be one, or would save too
    /// little.
    pub(in crate::ingest::parse) fn of(
        data: &'a ValueArena<'_>,
        index: usize,
    ) -> Option<ToonTable<'a>> {
        let list = &data.values[index];
        let columns = columns(data, index)?;
        let key = list.key.as_deref();
        if key.is_some_and(|key| !may_be_quoted(key)) || !list.marks.is_empty() {
            return None;
        }
        let mut rows = Vec::with_capacity(list.n);
        for item in data.children(index) {
            rows.push(row(data, item, columns.is_some())?);
        }
        let n_bytes: usize = rows.iter().map(String::len).sum();
        if rows.is_empty() || ROW_BYTES_USUAL < n_bytes / rows.len() {
            return None;
        }
        let mut table = ToonTable { key, columns, rows, groups: Vec::new() };
        let sample = 0..SAMPLE_ITEMS.min(table.rows.len());
        let plain = plain_items(data, index, sample.end);
        let (before, after) = (tokens::count(&plain), tokens::count(&table.text(&sample)));
        if u64::from(before) * (100 - SAVING_PERCENT_MIN) < u64::from(after) * 100 {
            return None;
        }
        if !table.group() {
            return None;
        }
        let items: Vec<usize> = data.children(index).collect();
        table.groups.iter().all(|it| says_the_same(data, &items, key, it)).then_some(table)
    }

    /// Returns the header: `users[5]{id,name}`.
    pub(in crate::ingest::parse) fn header(&self) -> String {
        self.header_of(self.rows.len())
    }

    fn header_of(&self, n: usize) -> String {
        let mut out = String::new();
        if let Some(key) = self.key {
            push_key(&mut out, key);
        }
        out.push_str(&format!("[{n}]"));
        if let Some(columns) = &self.columns {
            out.push('{');
            for (place, column) in columns.iter().enumerate() {
                out.push_str(if place == 0 { "" } else { "," });
                push_key(&mut out, column);
            }
            out.push('}');
        }
        out
    }

    fn text(&self, rows: &Range<usize>) -> String {
        let mut out = self.header_of(rows.len());
        out.push(':');
        for (place, row) in self.rows[rows.clone()].iter().enumerate() {
            out.push_str(match (&self.columns, place) {
                (Some(_), _) => "\n  ",
                (None, 0) => " ",
                (None, _) => ",",
            });
            out.push_str(row);
        }
        out
    }

    /// Groups the rows; returns false if a row alone is too large for a node.
    fn group(&mut self) -> bool {
        let whole = 0..self.rows.len();
        let n_bytes: usize = self.rows.iter().map(String::len).sum();
        if n_bytes <= GROUP_BYTES * 2 && self.push_group(whole) {
            return true;
        }
        let mut start = 0;
        while start < self.rows.len() {
            let mut end = start;
            let mut n_bytes = 0;
            while end < self.rows.len() && (end == start || n_bytes < GROUP_BYTES) {
                n_bytes += self.rows[end].len() + 1;
                end += 1;
            }
            // A row is at most 1,000 bytes; one still too large after halving has odd columns.
            while !self.push_group(start..end) {
                if end - start == 1 {
                    return false;
                }
                end = start + (end - start) / 2;
            }
            start = end;
        }
        true
    }

    /// Adds a group if it is small enough.
    fn push_group(&mut self, rows: Range<usize>) -> bool {
        let content = self.text(&rows);
        let tokens = tokens::count(&content);
        let fits = tokens <= PART_TOKENS_MAX;
        if fits {
            self.groups.push(ToonTableChunk { rows, content, tokens });
        }
        fits
    }
}

/// Returns the columns of a list of maps, or `Some(None)` for a list of scalars; `None` for others.
#[expect(clippy::option_option, reason = "no table, a table without columns, one with some")]
fn columns<'a>(data: &'a ValueArena<'_>, index: usize) -> Option<Option<Vec<&'a str>>> {
    let list = &data.values[index];
    let first = data.children(index).next()?;
    let is_map = data.values[first].kind == ValueKind::Map;
    if !is_map {
        let are_plain = data.children(index).all(|it| is_cell(&data.values[it]));
        return (list.kind == ValueKind::List && are_plain).then_some(None);
    }
    let keys: Vec<&str> =
        data.children(first).filter_map(|it| data.values[it].key.as_deref()).collect();
    let have_same_keys = data.children(index).all(|item| {
        let map = &data.values[item];
        map.kind == ValueKind::Map
            && map.marks.is_empty()
            && map.n == keys.len()
            && map.end - item == keys.len() + 1
            && keys
                .iter()
                .zip(&data.values[item + 1..map.end])
                .all(|(&key, value)| is_cell(value) && value.key.as_deref() == Some(key))
    });
    let are_keys = !keys.is_empty()
        && keys.iter().all(|key| may_be_quoted(key))
        && (1..keys.len()).all(|at| keys.len() < 50 && !keys[..at].contains(&keys[at]));
    (list.kind == ValueKind::List && have_same_keys && are_keys).then_some(Some(keys))
}

/// Returns whether a value can be a cell unchanged.
fn is_cell(value: &ValueNode<'_>) -> bool {
    let is_free = value.marks.is_empty() && !value.is_taken && value.text.len() <= ROW_BYTES_MAX;
    let odd = |c: char| c.is_whitespace() || matches!(c, ':' | ',' | '[' | ']' | '{' | '}');
    is_free
        && match value.kind {
            ValueKind::Text => may_be_quoted(&value.text),
            ValueKind::Bare => {
                may_be_quoted(&value.text) && is_typed(&value.text) && !value.text.contains(odd)
            }
            ValueKind::Map | ValueKind::List | ValueKind::Comment | ValueKind::Raw => false,
        }
}

/// Returns whether a string needs no escapes in quotes.
fn may_be_quoted(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || matches!(c, '"' | '\\'))
}

fn row(data: &ValueArena<'_>, item: usize, has_columns: bool) -> Option<String> {
    let mut out = String::new();
    if !has_columns {
        push_cell(&mut out, &data.values[item]);
        return Some(out);
    }
    for (place, cell) in data.values[item + 1..data.values[item].end].iter().enumerate() {
        out.push_str(if place == 0 { "" } else { "," });
        push_cell(&mut out, cell);
    }
    (out.len() <= ROW_BYTES_MAX).then_some(out)
}

fn push_cell(out: &mut String, value: &ValueNode<'_>) {
    let text = &*value.text;
    let has_mark = text.contains([':', ',', '[', ']', '{', '}']);
    let is_plain = value.kind == ValueKind::Bare
        || !text.is_empty()
            && text.trim() == text
            && !text.starts_with('-')
            && !has_mark
            && !is_typed(text);
    push_quoted(out, text, is_plain);
}

fn push_key(out: &mut String, key: &str) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let is_plain =
        key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && key.chars().all(is_word);
    push_quoted(out, key, is_plain);
}

fn push_quoted(out: &mut String, text: &str, is_plain: bool) {
    let quote = if is_plain { "" } else { "\"" };
    out.push_str(quote);
    out.push_str(text);
    out.push_str(quote);
}

/// Returns whether a group, read again, has the values that it was made of.
fn says_the_same(
    data: &ValueArena<'_>,
    items: &[usize],
    key: Option<&str>,
    group: &ToonTableChunk,
) -> bool {
    let (read, None) = reader::read(&group.content) else { return false };
    let read = read.data;
    let list = if key.is_some() { read.get(0, key.unwrap_or("")) } else { Some(0) };
    let Some(list) = list else { return false };
    let read_items: Vec<usize> = read.children(list).collect();
    let items = &items[group.rows.clone()];
    !items.is_empty()
        && read_items.len() == items.len()
        && items.iter().zip(read_items).all(|(&source, target)| {
            let source = &data.values[source..data.values[source].end];
            let target = &read.values[target..read.values[target].end];
            source.len() == target.len()
                && source.iter().zip(target).all(|(a, b)| {
                    a.kind == b.kind && a.text == b.text && a.key == b.key && a.n == b.n
                })
        })
}
