//! Markdown tables: rows of cells, joined by tabs.

use std::ops::Range;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::inline_to_markdown::{InlineBreaks, InlineRenderer};
use super::masked_parser_input::WikilinkPipeMaskedMarkdown;
use crate::ingest::parse::label;
use crate::model::tree::{Node, NodeType};
use crate::text;

/// A table while it is read.
#[derive(Debug, Default)]
pub(super) struct MarkdownTableBuilder<'a> {
    content: String,
    header_bytes: usize,
    columns: Vec<String>,
    n_rows: usize,
    n_cells: usize,
    cell: Option<InlineRenderer<'a>>,
    /// End of the row's last cell.
    cell_end: usize,
}

impl<'a> MarkdownTableBuilder<'a> {
    /// Reads an event between the table's start and its end.
    pub(super) fn event(
        &mut self,
        source: WikilinkPipeMaskedMarkdown<'a>,
        event: Event<'_>,
        range: Range<usize>,
    ) {
        match event {
            Event::Start(Tag::TableHead) => self.start_row(range.start),
            Event::Start(Tag::TableRow) => {
                self.content.push('\n');
                self.n_rows += 1;
                self.start_row(range.start);
            }
            Event::Start(Tag::TableCell) => {
                self.cell =
                    Some(InlineRenderer::new(source, InlineBreaks::Cell, range.start..range.start));
                self.cell_end = range.end;
            }
            Event::End(TagEnd::TableCell) => self.end_cell(),
            Event::End(TagEnd::TableHead) => {
                self.end_row(source, range.end);
                self.header_bytes = self.content.len();
            }
            Event::End(TagEnd::TableRow) => self.end_row(source, range.end),
            event => {
                if let Some(cell) = &mut self.cell {
                    cell.event(event, range);
                }
            }
        }
    }

    fn start_row(&mut self, start: usize) {
        self.n_cells = 0;
        self.cell_end = start;
    }

    fn end_cell(&mut self) {
        let Some(cell) = self.cell.take() else { return };
        let rendered = cell.finish();
        if 0 < self.n_cells {
            self.content.push('\t');
        }
        self.n_cells += 1;
        self.content.push_str(&rendered.markdown);
        if self.n_rows == 0 {
            self.columns.push(text::fold_whitespace(&rendered.plain));
        }
    }

    /// Ends a row. The parser drops the cells beyond the last column; they are kept here.
    fn end_row(&mut self, source: WikilinkPipeMaskedMarkdown<'a>, end: usize) {
        let rest = source.parsed.get(self.cell_end..end).unwrap_or("").trim();
        let rest = rest.strip_prefix('|').unwrap_or(rest);
        for cell in cells(rest) {
            self.content.push('\t');
            self.content.push_str(&text::fold_whitespace(&source.restored(&cell)));
        }
    }

    /// Returns the table's node, and the bytes of its header in the content.
    pub(super) fn finish(self) -> (Node, usize) {
        let node = Node {
            node_type: NodeType::Table,
            label: label::of_table(&self.columns, self.n_rows),
            content: self.content,
            ..Node::default()
        };
        (node, self.header_bytes)
    }
}

/// Returns the cells of the end of a row; a pipe behind a backslash is a part of its cell, also in
/// code.
fn cells(rest: &str) -> Vec<String> {
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '|' => cells.push(std::mem::take(&mut cell)),
            '\\' => match chars.next() {
                Some('|') => cell.push('|'),
                escaped => cell.extend([c].into_iter().chain(escaped)),
            },
            c => cell.push(c),
        }
    }
    // The last pipe ends the row.
    if !cell.trim().is_empty() {
        cells.push(cell);
    }
    if cells.iter().all(|it| it.trim().is_empty()) { Vec::new() } else { cells }
}
