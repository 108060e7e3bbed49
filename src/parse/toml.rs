//! TOML: tables and values in the order in which they first appear, numbers and dates as written.
//!
//! A file with a fault in it is kept as text, since what a table has may stand anywhere in a file.

use std::borrow::Cow;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::value::{self, Kind, Nodes, Writer};
use super::{Parsed, Warning};
use crate::text;

/// Parses a TOML file.
pub(super) fn parse(source: &str) -> Parsed {
    let mut warnings = Vec::new();
    let mut out = Writer::default();
    match DeTable::parse(source) {
        Ok(table) => {
            let mut covered = Vec::new();
            cover(table.get_ref(), &mut covered);
            let mut walk = Walk { text: source, out, comments: comments(source, covered), next: 0 };
            walk.table(table.get_ref(), 0..source.len(), true);
            out = walk.out;
        }
        Err(error) => {
            let offset = error.span().map_or(0, |span| span.start);
            let what = format!("not valid TOML: {}; kept as text", text::fold(error.message()));
            warnings.push(Warning { line: text::line_at(source, offset), what });
            let words = source.trim_end();
            out.scalar(Kind::Raw, Cow::Borrowed(words), 0..words.len());
        }
    }
    let mut nodes = Nodes::default();
    value::add(source, &out.data, &mut nodes);
    Parsed { tree: nodes.tree, warnings }
}

/// Where keys and scalars stand; what stands between them is marks, white space and comments.
///
/// The parser bounds how deep this goes.
fn cover(table: &DeTable<'_>, covered: &mut Vec<Range<usize>>) {
    for (key, value) in table {
        covered.push(key.span());
        cover_value(value.get_ref(), value.span(), covered);
    }
}

fn cover_value(value: &DeValue<'_>, span: Range<usize>, covered: &mut Vec<Range<usize>>) {
    match value {
        DeValue::Table(table) => cover(table, covered),
        DeValue::Array(array) => {
            for item in array.iter() {
                cover_value(item.get_ref(), item.span(), covered);
            }
        }
        _ => covered.push(span),
    }
}

/// The comments between the stretches that are covered.
fn comments(source: &str, mut covered: Vec<Range<usize>>) -> Vec<Range<usize>> {
    covered.sort_by_key(|it| it.start);
    covered.push(source.len()..source.len());
    let mut found = Vec::new();
    let mut done = 0;
    for range in covered {
        while done < range.start {
            let gap = &source[done..range.start];
            // Keys that appear again are quoted sometimes; what is in quotes is no comment.
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

struct Walk<'a> {
    text: &'a str,
    out: Writer<'a>,
    comments: Vec<Range<usize>>,
    /// The first comment that has not been written.
    next: usize,
}

impl<'a> Walk<'a> {
    fn table(&mut self, table: &DeTable<'a>, span: Range<usize>, is_root: bool) {
        self.out.open(Kind::Map, Cow::Borrowed(""), span.start);
        for (key, value) in table {
            self.comments_until(key.span().start);
            self.out.key(key.get_ref().clone());
            self.value(value.get_ref(), value.span());
        }
        if is_root {
            self.comments_until(self.text.len());
        }
        self.out.close(span.end);
    }

    fn value(&mut self, value: &DeValue<'a>, span: Range<usize>) {
        match value {
            DeValue::Table(table) => self.table(table, span, false),
            DeValue::Array(array) => {
                self.out.open(Kind::List, Cow::Borrowed(""), span.start);
                for item in array.iter() {
                    self.comments_until(item.span().start);
                    self.value(item.get_ref(), item.span());
                }
                self.out.close(span.end);
            }
            DeValue::String(words) => {
                self.out.scalar(Kind::Text, words.clone(), span);
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {
                let words = self.text.get(span.clone()).unwrap_or("").trim();
                self.out.scalar(Kind::Bare, Cow::Borrowed(words), span);
            }
        }
    }

    /// Writes the comments that stand before `end` and have not been written.
    fn comments_until(&mut self, end: usize) {
        while let Some(range) = self.comments.get(self.next).filter(|it| it.start < end) {
            self.out.comment(&self.text[range.clone()], range.clone());
            self.next += 1;
        }
    }
}
