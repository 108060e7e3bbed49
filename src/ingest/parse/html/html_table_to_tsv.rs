//! HTML tables: rows by line break, cells by tab; spanned rows and columns leave empty cells.

use super::dom::{Dom, DomId};
use super::inline;
use super::inline_run::{InlineRun, LineBreaks, RenderedRun};

/// Maximum columns that one cell spans, and columns in which a cell continues below.
const SPAN_MAX: usize = 20;
const COLUMNS_CARRIED_MAX: usize = 64;

/// A complete table.
#[derive(Debug, Default)]
pub(super) struct HtmlTableAsTsv {
    pub(super) content: String,
    /// Bytes of the header in the content; 0 without one.
    pub(super) header_bytes: usize,
    pub(super) columns: Vec<String>,
    pub(super) n_rows: usize,
    pub(super) captions: Vec<RenderedRun>,
    /// Elements in cells that are always nodes.
    pub(super) apart: Vec<DomId>,
}

/// Returns whether a table only lays out a page: then its cells are ordinary blocks.
pub(super) fn is_layout(dom: &Dom, table: DomId) -> bool {
    if matches!(dom.attribute(table, "role"), Some("presentation" | "none")) {
        return true;
    }
    let mut n_cells = 0;
    let mut header = None;
    let mut at = dom.first_child(table);
    while let Some(id) = at {
        match dom.html_name(id) {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => return true,
            "th" | "caption" => {
                n_cells += 1;
                header = Some(id);
            }
            "td" => n_cells += 1,
            _ => (),
        }
        at = match header.take() {
            Some(header) => dom.after(header, table),
            None => dom.next(id, table),
        };
    }
    n_cells == 1
}

/// Reads a table.
pub(super) fn read(dom: &Dom, table: DomId) -> HtmlTableAsTsv {
    let mut converter = TableToTsvConverter {
        dom,
        out: HtmlTableAsTsv::default(),
        carried: Vec::new(),
        n_lines: 0,
    };
    let mut at = dom.first_child(table);
    while let Some(id) = at {
        at = match dom.html_name(id) {
            _ if dom.is_skipped(id) => dom.after(id, table),
            "tr" => {
                converter.row(id);
                dom.after(id, table)
            }
            "caption" => {
                let (caption, apart) = inline::line(dom, id, InlineRun::new(LineBreaks::OneLine));
                converter.out.captions.extend(Some(caption).filter(|it| !it.markdown.is_empty()));
                converter.out.apart.extend(apart);
                dom.after(id, table)
            }
            _ => dom.next(id, table),
        };
    }
    converter.out
}

struct TableToTsvConverter<'a> {
    dom: &'a Dom,
    out: HtmlTableAsTsv,
    /// For each column, the number of rows below in which a cell of it continues.
    carried: Vec<usize>,
    n_lines: usize,
}

impl TableToTsvConverter<'_> {
    fn row(&mut self, row: DomId) {
        let mut n_tabs = 0;
        let dom = self.dom;
        let mut line = String::new();
        let mut plains = Vec::new();
        let mut column = 0;
        let mut is_header = self.n_lines == 0;
        let mut at = dom.first_child(row);
        while let Some(id) = at {
            let name = dom.html_name(id);
            if matches!(name, "td" | "th") && !dom.is_skipped(id) {
                is_header &= name == "th" || in_head(dom, row);
                while let Some(rows @ 1..) = self.carried.get_mut(column) {
                    *rows -= 1;
                    column += 1;
                    plains.push(String::new());
                }
                let (cell, apart) = inline::line(dom, id, InlineRun::new(LineBreaks::OneLine));
                while n_tabs < column {
                    n_tabs += 1;
                    line.push('\t');
                }
                line.push_str(&cell.markdown);
                plains.push(cell.plain);
                self.out.apart.extend(apart);
                column = self.carry(id, column);
            }
            at = dom.next_sibling(id);
        }
        for rows in self.carried.iter_mut().skip(column) {
            *rows = rows.saturating_sub(1);
        }
        if line.trim().is_empty() {
            return;
        }
        if 0 < self.n_lines {
            self.out.content.push('\n');
        }
        self.out.content.push_str(&line);
        if self.n_lines == 0 {
            self.out.columns = plains;
        }
        match is_header {
            true => self.out.header_bytes = self.out.content.len(),
            false => self.out.n_rows += 1,
        }
        self.n_lines += 1;
    }

    /// Records how far a cell reaches; returns the column behind it.
    fn carry(&mut self, cell: DomId, column: usize) -> usize {
        let span = |name| {
            let number =
                self.dom.attribute(cell, name).and_then(|it| it.trim().parse::<usize>().ok());
            number.unwrap_or(1).max(1)
        };
        let rows = span("rowspan").min(1000) - 1;
        let end = column + span("colspan").min(SPAN_MAX);
        if 0 < rows || column < self.carried.len() {
            for column in column..end.min(COLUMNS_CARRIED_MAX) {
                if self.carried.len() <= column {
                    self.carried.resize(column + 1, 0);
                }
                self.carried[column] = rows;
            }
        }
        end
    }
}

fn in_head(dom: &Dom, row: DomId) -> bool {
    dom.parent(row).is_some_and(|it| dom.html_name(it) == "thead")
}
