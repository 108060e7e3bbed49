//! Parses TOML: tables and values in the order of their first appearance, scalars as written.
//!
//! A file with a fault is kept as text, since a table's entries may be anywhere in a file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::value_tree::{self, ValueArenaBuilder, ValueKind};
use super::{Parsed, Warning};
use crate::text;

/// Parses a TOML file.
pub(super) fn parse(source: &str) -> Parsed {
    let mut warnings = Vec::new();
    let out = values(source).unwrap_or_else(|(offset, what)| {
        let what = format!("not valid TOML: {what}; kept as text");
        warnings.push(Warning { line: text::line_number_at(source, offset), what });
        let words = source.trim_end();
        let mut out = ValueArenaBuilder::default();
        out.scalar(ValueKind::Raw, Cow::Borrowed(words), 0..words.len());
        out
    });
    value_tree::parsed(source, &out, warnings)
}

/// Returns the values of a TOML text; else the offset and text of the fault.
pub(super) fn values(source: &str) -> Result<ValueArenaBuilder<'_>, (usize, String)> {
    let table = DeTable::parse(source).map_err(|error| {
        (error.span().map_or(0, |span| span.start), text::fold_whitespace(error.message()))
    })?;
    let mut covered = CoveredSpans::default();
    covered.table(table.get_ref());
    let comments = covered.comments(source);
    let mut walk = TomlReader { text: source, out: ValueArenaBuilder::default(), comments };
    walk.table(table.get_ref(), 0..source.len(), true);
    Ok(walk.out)
}

/// The spans of keys and scalars; between them are marks, white space and comments.
#[derive(Default)]
struct CoveredSpans {
    ranges: Vec<Range<usize>>,
    /// Start of each key.
    keys: Vec<usize>,
}

impl CoveredSpans {
    /// Adds the spans of a table; the parser bounds the depth of this recursion.
    fn table(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            self.keys.push(key.span().start);
            self.ranges.push(key.span());
            self.value(value.get_ref(), value.span());
        }
    }

    fn value(&mut self, value: &DeValue<'_>, span: Range<usize>) {
        match value {
            DeValue::Table(table) => self.table(table),
            DeValue::Array(array) => {
                for item in array.iter() {
                    self.value(item.get_ref(), item.span());
                }
            }
            _ => self.ranges.push(span),
        }
    }

    /// Returns the comments, by the key that follows each.
    fn comments(mut self, source: &str) -> HashMap<usize, Vec<Range<usize>>> {
        self.keys.sort_unstable();
        let mut by_key: HashMap<usize, Vec<Range<usize>>> = HashMap::new();
        for comment in comments(source, self.ranges) {
            let next = self.keys.partition_point(|&key| key < comment.start);
            let key = self.keys.get(next).copied().unwrap_or(source.len());
            by_key.entry(key).or_default().push(comment);
        }
        by_key
    }
}

/// Returns the comments between the stretches that are covered.
fn comments(source: &str, mut covered: Vec<Range<usize>>) -> Vec<Range<usize>> {
    covered.sort_by_key(|it| it.start);
    covered.push(source.len()..source.len());
    let mut found = Vec::new();
    let mut done = 0;
    for range in covered {
        while done < range.start {
            let gap = &source[done..range.start];
            // Repeated keys are sometimes quoted; quoted text is no comment.
            let Some(at) = gap.find(['#', '"', '\'']) else { break };
            let rest = &gap[at..];
            let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
            let len = match line.chars().next() {
                Some('#') => {
                    let words = line.trim_end();
                    found.push(done + at..done + at + words.len());
                    line.len()
                }
                Some(quote) => line[1..].find(quote).map_or(1, |len| len + 2),
                None => 1,
            };
            done += at + len;
        }
        done = done.max(range.end);
    }
    found
}

struct TomlReader<'a> {
    text: &'a str,
    out: ValueArenaBuilder<'a>,
    /// The comments by the offset of the key that follows them.
    comments: HashMap<usize, Vec<Range<usize>>>,
}

impl<'a> TomlReader<'a> {
    fn table(&mut self, table: &DeTable<'a>, span: Range<usize>, is_root: bool) {
        self.out.open(ValueKind::Map, Cow::Borrowed(""), span.start);
        for (key, value) in table {
            self.comments_at(key.span().start);
            self.out.key(key.get_ref().clone());
            self.value(value.get_ref(), value.span());
        }
        if is_root {
            self.comments_at(self.text.len());
        }
        self.out.close(span.end);
    }

    fn value(&mut self, value: &DeValue<'a>, span: Range<usize>) {
        match value {
            DeValue::Table(table) => self.table(table, span, false),
            DeValue::Array(array) => {
                self.out.open(ValueKind::List, Cow::Borrowed(""), span.start);
                for item in array.iter() {
                    self.value(item.get_ref(), item.span());
                }
                self.out.close(span.end);
            }
            DeValue::String(words) => {
                self.out.scalar(ValueKind::Text, words.clone(), span);
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {
                let words = self.text.get(span.clone()).unwrap_or("").trim();
                self.out.scalar(ValueKind::Bare, Cow::Borrowed(words), span);
            }
        }
    }

    /// Writes the comments before the key at `offset`.
    fn comments_at(&mut self, offset: usize) {
        for range in self.comments.remove(&offset).unwrap_or_default() {
            self.out.comment(self.text, range);
        }
    }
}
