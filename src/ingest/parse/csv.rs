//! Delimited tables: comma, semicolon or tab between cells, quotes around cells that contain them.
//!
//! Rows are kept as their author wrote them. A table that is too large for one node keeps its
//! header, and groups of rows are its children; no cell is cut in two while its row fits a node.

use std::ops::Range;

use super::content_splitting::PART_TOKENS_MAX;
use super::{Parsed, Warning, content_splitting, label};
use crate::model::tree::{DocumentTree, Node, NodeType};
use crate::text::tokens;
use crate::text::{self, LABEL_CHARS_MAX};

/// Maximum bytes of a group of rows.
const GROUP_BYTES: usize = 1600;

/// Maximum columns that a label may need.
const COLUMNS_MAX: usize = LABEL_CHARS_MAX;

/// Parses a table whose cells are separated by commas or, if the header has none, semicolons.
pub(super) fn parse(source: &str) -> Parsed {
    let header = source.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    let delimiter = match header.contains(',') {
        true => ',',
        false => [';', '\t', '|'].into_iter().find(|&it| header.contains(it)).unwrap_or(','),
    };
    parse_with(source, delimiter)
}

/// Parses a table whose cells are separated by tabs.
pub(super) fn parse_tabs(source: &str) -> Parsed {
    parse_with(source, '\t')
}

fn parse_with(source: &str, delimiter: char) -> Parsed {
    let mut warnings = Vec::new();
    let rows = rows(source, delimiter, &mut warnings);
    let mut tree = DocumentTree::default();
    let Some(header) = rows.first() else { return Parsed { tree, warnings } };
    let words = &source[header.clone()];
    let columns: Vec<String> = cells(words, delimiter)
        .take(COLUMNS_MAX)
        .map(|cell| {
            text::truncate_chars(
                &text::fold_whitespace(cell.trim().trim_matches('"')),
                LABEL_CHARS_MAX,
            )
        })
        .collect();
    let node = Node {
        node_type: NodeType::Table,
        span: 0..source.len(),
        label: label::of_table(&columns, rows.len() - 1),
        ..Node::default()
    };
    let index = tree.push(node);
    let whole = joined(source, &rows);
    if whole.len() <= GROUP_BYTES * 4 && set(&mut tree, index, &whole) {
        return Parsed { tree, warnings };
    }
    let has_header = set(&mut tree, index, words);
    let mut start = usize::from(has_header);
    while start < rows.len() {
        let mut end = start + 1;
        let mut n_bytes = rows[start].len();
        while end < rows.len() && n_bytes + rows[end].len() < GROUP_BYTES {
            n_bytes += rows[end].len() + 1;
            end += 1;
        }
        add_group(&mut tree, index, source, &rows[start..end]);
        start = end;
    }
    Parsed { tree, warnings }
}

/// Adds rows as one node, or as several if they have too many tokens.
fn add_group(tree: &mut DocumentTree, parent: usize, source: &str, rows: &[Range<usize>]) {
    let mut due = vec![rows];
    while let Some(rows) = due.pop() {
        let content = joined(source, rows);
        if 1 < rows.len() && !tokens::fits(&content, PART_TOKENS_MAX) {
            let (left, right) = rows.split_at(rows.len() / 2);
            due.push(right);
            due.push(left);
            continue;
        }
        let span = rows.first().map_or(0, |it| it.start)..rows.last().map_or(0, |it| it.end);
        for part in
            content_splitting::split_parts(&content, content_splitting::SplitTextKind::Lines)
        {
            let words = &content[part.range];
            let label = text::label_of_text(words);
            tree.push(Node {
                parent: Some(parent),
                node_type: NodeType::Table,
                span: span.clone(),
                label: if label.is_empty() { "…".to_owned() } else { label },
                content: words.to_owned(),
                token_count: part.tokens,
                ..Node::default()
            });
        }
    }
}

/// Sets a node's content if that is small enough; returns whether it is.
fn set(tree: &mut DocumentTree, index: usize, content: &str) -> bool {
    if !tokens::fits(content, PART_TOKENS_MAX) {
        return false;
    }
    let node = &mut tree.nodes[index];
    node.content = content.to_owned();
    node.token_count = tokens::count(content);
    true
}

fn joined(source: &str, rows: &[Range<usize>]) -> String {
    let mut out = String::new();
    for (place, row) in rows.iter().enumerate() {
        out.push_str(if place == 0 { "" } else { "\n" });
        out.push_str(&source[row.clone()]);
    }
    out
}

/// Returns the rows: lines, or several where quotes hold line breaks. A quote that is never closed
/// is an ordinary character, and so are all that follow it.
fn rows(source: &str, delimiter: char, warnings: &mut Vec<Warning>) -> Vec<Range<usize>> {
    let mut rows = Vec::new();
    let mut has_quotes = true;
    let mut start = 0;
    while start < source.len() {
        let end = match has_quotes {
            true => row_end(source, start, delimiter),
            false => None,
        };
        let end = end.unwrap_or_else(|| {
            if has_quotes {
                let what = "a quote is not closed; from here on each line is a row".to_owned();
                warnings.push(Warning { line: text::line_number_at(source, start), what });
                has_quotes = false;
            }
            source[start..].find('\n').map_or(source.len(), |len| start + len)
        });
        let row = source[start..end].strip_suffix('\r').unwrap_or(&source[start..end]);
        if !row.trim().is_empty() {
            rows.push(start..start + row.len());
        }
        start = end + 1;
    }
    rows
}

/// Returns the end of the row that begins at `start`; `None` if a quote in it is not closed.
fn row_end(source: &str, start: usize, delimiter: char) -> Option<usize> {
    let bytes = source.as_bytes();
    let mut is_quoted = false;
    let mut is_cell_start = true;
    for (at, &byte) in bytes.iter().enumerate().skip(start) {
        if is_quoted {
            is_quoted = byte != b'"';
            is_cell_start = false;
            continue;
        }
        match byte {
            b'\n' => return Some(at),
            // After a closing quote, another one is a quote within the cell.
            b'"' if is_cell_start || bytes[at - 1] == b'"' && start < at => is_quoted = true,
            _ => (),
        }
        is_cell_start = byte == delimiter as u8;
    }
    (!is_quoted).then_some(bytes.len())
}

/// Returns the cells of a row as written.
fn cells(row: &str, delimiter: char) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    row.split(move |c: char| {
        is_quoted ^= c == '"';
        c == delimiter && !is_quoted
    })
}
