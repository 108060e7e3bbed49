//! Parses plain text and notations that are little more, one node per paragraph.

pub(super) mod org;
pub(super) mod rst;

use std::ops::Range;

use super::node_tree_builder::NodeTreeBuilder;
use super::{Parsed, Warning, label};
use crate::model::tree::{Node, NodeType};
use crate::text::{self, LABEL_CHARS_MAX};

/// Maximum nodes of a file; the rest is kept in parts, regardless of paragraphs.
const NODES_MAX: usize = 200_000;

/// Parses a text file.
pub(super) fn parse(source: &str) -> Parsed {
    let mut page = PlainReader::new(source);
    for line in lines(source) {
        if page.is_full(line.start) {
            break;
        }
        page.text_line(line);
    }
    page.finish()
}

/// Returns the lines of a text, without their breaks.
fn lines(source: &str) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if source.len() <= at {
            return None;
        }
        let start = at;
        let len = source[start..].find('\n').unwrap_or(source.len() - start);
        at = start + len + 1;
        let end = start + len;
        Some(start..if source[start..end].ends_with('\r') { end - 1 } else { end })
    })
}

/// The nodes so far, and the open paragraph.
struct PlainReader<'a> {
    text: &'a str,
    outline: NodeTreeBuilder,
    paragraph: Option<Range<usize>>,
    warnings: Vec<Warning>,
}

impl<'a> PlainReader<'a> {
    fn new(text: &'a str) -> PlainReader<'a> {
        PlainReader {
            text,
            outline: NodeTreeBuilder::default(),
            paragraph: None,
            warnings: Vec::new(),
        }
    }

    fn finish(mut self) -> Parsed {
        self.end_paragraph();
        Parsed { tree: self.outline.tree, warnings: self.warnings }
    }

    /// Returns whether the maximum of nodes is reached; if so, adds the rest of the text.
    fn is_full(&mut self, start: usize) -> bool {
        if self.outline.tree.nodes.len() < NODES_MAX {
            return false;
        }
        let start = self.paragraph.take().map_or(start, |it| it.start);
        let what = format!("more than {NODES_MAX} nodes; the rest is kept in larger parts");
        self.warnings.push(Warning { line: text::line_number_at(self.text, start), what });
        self.add(NodeType::Text, start..self.text.len());
        true
    }

    /// Adds a line to a paragraph, or ends it.
    fn text_line(&mut self, line: Range<usize>) {
        if self.text[line.clone()].trim().is_empty() {
            return self.end_paragraph();
        }
        let start = self.paragraph.as_ref().map_or(line.start, |it| it.start);
        self.paragraph = Some(start..line.end);
    }

    fn end_paragraph(&mut self) {
        if let Some(range) = self.paragraph.take() {
            self.add(NodeType::Text, range);
        }
    }

    fn heading(&mut self, level: u8, span: Range<usize>, title: &str) {
        self.end_paragraph();
        let title = title.trim();
        self.outline.open(Node {
            node_type: NodeType::Heading,
            level: Some(level),
            span,
            label: or_mark(text::label_of_text(title)),
            content: title.to_owned(),
            ..Node::default()
        });
    }

    /// Adds a stretch of the source unchanged.
    fn add(&mut self, node_type: NodeType, range: Range<usize>) {
        let content = self.text[range.clone()].trim_end();
        if content.trim().is_empty() {
            return;
        }
        let label = match node_type {
            NodeType::List => list_label(content),
            NodeType::Table => table_label(content),
            _ => text::label_of_text(content),
        };
        let node = Node {
            parent: self.outline.parent(),
            node_type,
            span: range.clone(),
            label: or_mark(label),
            content: content.to_owned(),
            ..Node::default()
        };
        self.outline.add(node, Some(range.start));
    }

    fn code(&mut self, lang: &str, span: Range<usize>, content: String) {
        self.end_paragraph();
        let lang = lang.trim();
        if content.is_empty() && lang.is_empty() {
            return;
        }
        let node = Node {
            parent: self.outline.parent(),
            node_type: NodeType::Code,
            lang: (!lang.is_empty()).then(|| lang.to_owned()),
            span,
            label: label::of_code(lang, &content),
            content,
            ..Node::default()
        };
        self.outline.add(node, None);
    }
}

fn or_mark(label: String) -> String {
    if label.trim().is_empty() { "…".to_owned() } else { label }
}

/// Returns the text behind the marker of an item: `- x`, `+ x`, `1. x`.
fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = match line.strip_prefix(['-', '+']) {
        Some(rest) => rest,
        None => {
            let digits = line.bytes().take_while(u8::is_ascii_digit).count();
            let rest = (0 < digits).then(|| &line[digits..])?;
            rest.strip_prefix(['.', ')'])?
        }
    };
    rest.strip_prefix(' ').or_else(|| rest.is_empty().then_some(""))
}

fn list_label(content: &str) -> String {
    let mut items = content.lines().filter_map(item);
    let first = items.next().unwrap_or("");
    let n = items.count() + 1;
    label::titled(&format!("{n}-item list"), &text::fold_whitespace(first))
}

fn table_label(content: &str) -> String {
    let is_rule = |line: &&str| line.trim_start().starts_with("|-");
    let n_rows = content.lines().filter(|line| !is_rule(line)).count();
    let first = content.lines().next().unwrap_or("").trim().trim_matches('|');
    let columns: Vec<String> = first
        .split('|')
        .take(LABEL_CHARS_MAX)
        .map(|cell| text::truncate_chars(&text::fold_whitespace(cell), LABEL_CHARS_MAX))
        .collect();
    label::of_table(&columns, n_rows.saturating_sub(1))
}
