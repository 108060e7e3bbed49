//! Markdown to nodes: the walk over the parser's events.
//!
//! Blocks at the top level become nodes under the innermost open heading. The blocks that are nodes
//! wherever they stand (code, tables, markup, formulas, headings) become children of the list, quote
//! or footnote around them.

mod inline;
mod sections;
mod source;
mod table;

use std::ops::Range;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, HeadingLevel, Tag, TagEnd};

use super::container::{Container, Kind, NESTING_MAX};
use super::outline::Outline;
use super::{Parsed, Warning, label, preamble};
use crate::text;
use crate::tree::{Format, Node, NodeType};
use inline::{Flow, Inline, Rendered};
use sections::Section;
use source::{Definitions, Source, mask_pipes};
use table::Table;

/// Nodes of a file, at the most; what comes after is kept as plain text.
const NODES_MAX: usize = 200_000;

/// Parses a Markdown file.
pub(super) fn parse(text: &str) -> Parsed {
    let mut outline = Outline::default();
    let mut warnings = Vec::new();
    let body_start = preamble::parse(text, &mut outline, &mut warnings);
    let sections = sections::sections(text, body_start);
    if 1 < sections.len() {
        let what = format!(
            "{} bytes, read section by section; a link to a definition in another section stays \
             as written",
            text.len()
        );
        warnings.push(Warning { line: 1, what });
    }
    for section in sections {
        if NODES_MAX <= outline.tree.nodes.len() {
            let line = text::line_at(text, section.range().start);
            let what = format!("more than {NODES_MAX} nodes; the rest is kept as plain text");
            warnings.push(Warning { line, what });
            add_plain(&mut outline, text, section.range().start..text.len());
            break;
        }
        match section {
            Section::Plain(range) => add_plain(&mut outline, text, range),
            Section::Code { info, range, .. } => {
                add_code(&mut outline, text, &text[info], range);
            }
            Section::Markdown(range) => {
                let part = &text[range.clone()];
                let masked = mask_pipes(part);
                let source = Source { text: part, parsed: &masked };
                let mut walk = Walk::new(source, range.start, &mut outline);
                let end = walk.run();
                if let Some(at) = walk.flattened_at {
                    let line = text::line_at(text, range.start + at);
                    let what = format!(
                        "lists and quotes nest deeper than {NESTING_MAX} levels; the inner ones \
                         are flattened"
                    );
                    warnings.push(Warning { line, what });
                }
                if end < range.len() {
                    let line = text::line_at(text, range.start + end);
                    let what =
                        format!("more than {NODES_MAX} nodes; the rest is kept as plain text");
                    warnings.push(Warning { line, what });
                    add_plain(&mut outline, text, range.start + end..text.len());
                    break;
                }
            }
        }
    }
    Parsed { tree: outline.tree, warnings }
}

/// Keeps a stretch of the source as it is.
fn add_plain(outline: &mut Outline, text: &str, range: Range<usize>) {
    let words = &text[range.clone()];
    if words.trim().is_empty() {
        return;
    }
    let lead = words.len() - words.trim_start_matches(['\n', '\r']).len();
    let content = words.trim_matches(['\n', '\r']).to_owned();
    let node = Node {
        parent: outline.parent(),
        span: range.clone(),
        label: label::visible(&content),
        content,
        ..Node::default()
    };
    outline.add(node, Some(range.start + lead));
}

/// Keeps a stretch of the source as code.
fn add_code(outline: &mut Outline, text: &str, info: &str, range: Range<usize>) {
    let content = &text[range.clone()];
    let node = code_node(info, content.to_owned(), outline.parent(), range.clone());
    outline.add(node, Some(range.start));
}

fn code_node(info: &str, content: String, parent: Option<usize>, span: Range<usize>) -> Node {
    Node {
        parent,
        node_type: NodeType::Code,
        lang: info.split_whitespace().next().map(str::to_owned),
        span,
        label: label::code(info, &content),
        content,
        ..Node::default()
    }
}

/// A block whose inside is being read.
#[derive(Debug)]
enum Block<'a> {
    None,
    Heading { level: u8, attributes: String },
    Code { info: CowStr<'a> },
    Markup,
}

/// The walk over one section.
struct Walk<'a, 'o> {
    source: Source<'a>,
    /// Where the section starts in the file.
    base: usize,
    outline: &'o mut Outline,
    definitions: Definitions,
    container: Option<Container>,
    inline: Option<Inline<'a>>,
    block: Block<'a>,
    raw: Raw,
    table: Option<Table<'a>>,
    /// Where the source has been accounted for up to.
    cursor: usize,
    flattened_at: Option<usize>,
}

/// The lines of code or markup, as the source has them.
#[derive(Debug, Default)]
struct Raw {
    text: String,
    /// Where the source of it starts and ends, while that is one piece.
    whole: Option<Range<usize>>,
    end: usize,
}

impl<'a, 'o> Walk<'a, 'o> {
    fn new(source: Source<'a>, base: usize, outline: &'o mut Outline) -> Walk<'a, 'o> {
        Walk {
            source,
            base,
            outline,
            definitions: Definitions::of(source),
            container: None,
            inline: None,
            block: Block::None,
            raw: Raw::default(),
            table: None,
            cursor: 0,
            flattened_at: None,
        }
    }

    /// Reads the section; returns how far it got before there were too many nodes.
    fn run(&mut self) -> usize {
        let source = self.source;
        for (event, range) in source.parser().into_offset_iter() {
            let is_at_top = self.container.is_none()
                && self.inline.is_none()
                && matches!(event, Event::Start(_));
            if is_at_top && NODES_MAX <= self.outline.tree.nodes.len() {
                return self.cursor;
            }
            self.event(event, range);
        }
        self.end_paragraph();
        self.definitions_until(source.text.len());
        source.text.len()
    }

    fn event(&mut self, event: Event<'a>, range: Range<usize>) {
        if self.table.is_some() {
            return self.table_event(event, range);
        }
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) if matches!(self.block, Block::Code { .. }) => {
                self.raw_line(&text, range);
            }
            Event::Html(html) if matches!(self.block, Block::Markup) => {
                self.raw_line(&html, range);
            }
            Event::Rule => {
                self.end_paragraph();
                self.definitions_until(range.start);
                self.cursor = range.end;
            }
            event => self.inline_event(event, range),
        }
    }

    fn start(&mut self, tag: Tag<'a>, range: Range<usize>) {
        match tag {
            Tag::Paragraph => self.start_inline(Flow::Lines, range),
            Tag::Heading { level, id, classes, attrs } => {
                let level = level_number(level);
                let attributes = self.attributes(id, &classes, &attrs);
                self.block = Block::Heading { level, attributes };
                self.start_inline(Flow::OneLine, range);
            }
            Tag::CodeBlock(kind) => {
                self.start_block(range.start);
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => CowStr::Borrowed(""),
                };
                self.block = Block::Code { info };
                self.raw = Raw::default();
            }
            Tag::HtmlBlock => {
                self.start_block(range.start);
                self.block = Block::Markup;
                self.raw = Raw::default();
            }
            Tag::Table(_) => {
                self.start_block(range.start);
                self.table = Some(Table::default());
            }
            Tag::BlockQuote(alert) => self.start_quote(alert, range),
            Tag::List(_) => {
                self.start_container(Kind::List, &range).open_list();
                self.cursor = range.start;
            }
            Tag::Item => {
                self.end_paragraph();
                self.definitions_until(range.start);
                let marker = marker_at(&self.source.text[range.clone()]);
                self.cursor = (range.start + marker.len()).min(range.end);
                self.start_container(Kind::List, &range).open_item(marker);
            }
            Tag::FootnoteDefinition(name) => {
                let name = self.source.restored(&name).into_owned();
                self.start_container(Kind::Footnote, &range).open_footnote(&name);
                let head = self.source.text[range.clone()].find("]:").map_or(0, |at| at + 2);
                self.cursor = range.start + head;
            }
            tag => self.inline_event(Event::Start(tag), range),
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Paragraph => {
                self.end_paragraph();
                self.cursor = self.cursor.max(range.end);
            }
            TagEnd::Heading(_) => self.end_heading(range),
            TagEnd::CodeBlock => self.end_code(range),
            TagEnd::HtmlBlock => self.end_markup(range),
            TagEnd::List(_) | TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => {
                self.end_paragraph();
                self.definitions_until(range.end);
                self.end_container(range);
            }
            tag => self.inline_event(Event::End(tag), range),
        }
    }

    fn inline_event(&mut self, event: Event<'_>, range: Range<usize>) {
        if self.inline.is_none() {
            // The text of a tight list's item has no paragraph around it.
            self.start_inline(Flow::Lines, range.start..range.start);
        }
        if let Some(inline) = &mut self.inline {
            inline.event(event, range);
        }
    }

    fn start_inline(&mut self, flow: Flow, range: Range<usize>) {
        self.end_paragraph();
        self.definitions_until(range.start);
        self.cursor = self.cursor.max(range.start);
        let span = range.start..range.start;
        self.inline = Some(Inline::new(self.source, flow, span));
    }

    /// Ends the paragraph that is open, if one is.
    fn end_paragraph(&mut self) {
        let Some(inline) = self.inline.take() else { return };
        let rendered = inline.finish();
        self.cursor = self.cursor.max(rendered.span.end);
        self.paragraph(rendered);
    }

    fn paragraph(&mut self, rendered: Rendered) {
        if let Some(tex) = &rendered.sole_math {
            let tex = tex.trim().to_owned();
            let node = Node {
                node_type: NodeType::Code,
                span: self.in_file(&rendered.span),
                label: label::titled("Math", &label::first_line(&tex)),
                content: tex,
                format: Format::Latex,
                ..Node::default()
            };
            return self.add_block(node, None);
        }
        if rendered.markdown.trim().is_empty() {
            return;
        }
        match &mut self.container {
            Some(container) => {
                container.paragraph(&rendered.markdown, &rendered.plain, rendered.span);
            }
            None => {
                let node = Node {
                    span: self.in_file(&rendered.span),
                    label: paragraph_label(&rendered),
                    content: rendered.markdown,
                    ..Node::default()
                };
                self.add_block(node, None);
            }
        }
    }

    /// Adds a block that is a node wherever it stands.
    fn add_block(&mut self, mut node: Node, base: Option<usize>) {
        node.parent = self.block_parent(node.span.start - self.base);
        self.outline.add(node, base);
    }

    /// Where a block that is a node belongs; the text of the container around it so far becomes one.
    fn block_parent(&mut self, at: usize) -> Option<usize> {
        match &mut self.container {
            Some(container) => {
                container.interrupt(at, self.outline);
                Some(container.index())
            }
            None => self.outline.parent(),
        }
    }

    fn in_file(&self, range: &Range<usize>) -> Range<usize> {
        self.base + range.start..self.base + range.end
    }
}

impl<'a> Walk<'a, '_> {
    /// Whatever starts a block ends the text of a tight item.
    fn start_block(&mut self, at: usize) {
        self.end_paragraph();
        self.definitions_until(at);
    }

    /// Keeps the link definitions up to `end` that nothing uses.
    fn definitions_until(&mut self, end: usize) {
        let gap = self.cursor..end;
        self.cursor = self.cursor.max(end);
        let lines = self.definitions.unused_in(self.source, gap.clone());
        if !lines.is_empty() {
            let plain = label::first_line(&lines);
            self.paragraph(Rendered { markdown: lines, plain, sole_math: None, span: gap });
        }
    }

    fn start_container(&mut self, kind: Kind, range: &Range<usize>) -> &mut Container {
        self.end_paragraph();
        self.definitions_until(range.start);
        let (base, outline) = (self.base, &mut *self.outline);
        self.container.get_or_insert_with(|| Container::new(kind, range, base, outline))
    }

    fn start_quote(&mut self, alert: Option<BlockQuoteKind>, range: Range<usize>) {
        let container = self.start_container(Kind::Quote, &range);
        container.open_quote();
        let Some(alert) = alert else { return };
        let mark = match alert {
            BlockQuoteKind::Note => "[!NOTE]",
            BlockQuoteKind::Tip => "[!TIP]",
            BlockQuoteKind::Important => "[!IMPORTANT]",
            BlockQuoteKind::Warning => "[!WARNING]",
            BlockQuoteKind::Caution => "[!CAUTION]",
        };
        container.mark(mark, range.start..range.start);
        let head = self.source.text[range.clone()].find(']').map_or(0, |at| at + 1);
        self.cursor = range.start + head;
    }

    fn end_container(&mut self, range: Range<usize>) {
        let Some(container) = &mut self.container else { return };
        container.close();
        if container.is_flattened {
            self.flattened_at.get_or_insert(range.start);
        }
        if container.is_closed()
            && let Some(container) = self.container.take()
        {
            container.finish(self.outline);
        }
    }

    fn end_heading(&mut self, range: Range<usize>) {
        let block = std::mem::replace(&mut self.block, Block::None);
        self.cursor = self.cursor.max(range.end);
        let (Block::Heading { level, attributes }, Some(inline)) = (block, self.inline.take())
        else {
            return;
        };
        let rendered = inline.finish();
        let is_inside = self.container.is_some();
        let mut content = text::fold(&rendered.markdown);
        if content.is_empty() && attributes.is_empty() {
            if !is_inside {
                self.outline.close(level);
            }
            return;
        }
        let label = paragraph_label(&rendered);
        content.push_str(if content.is_empty() { attributes.trim_start() } else { &attributes });
        let node = Node {
            node_type: NodeType::Heading,
            level: Some(level),
            span: self.in_file(&range),
            label: if label.is_empty() { text::label(&content) } else { label },
            content,
            ..Node::default()
        };
        match is_inside {
            true => {
                let parent = self.block_parent(range.start);
                self.outline.add_heading(Node { parent, ..node });
            }
            false => self.outline.open(node),
        }
    }

    /// A heading's attributes as its author may have written them: ` {#id .class key=value}`.
    fn attributes(
        &self,
        id: Option<CowStr<'a>>,
        classes: &[CowStr<'a>],
        pairs: &[(CowStr<'a>, Option<CowStr<'a>>)],
    ) -> String {
        let mut words: Vec<String> = Vec::new();
        words.extend(id.map(|id| format!("#{id}")));
        words.extend(classes.iter().map(|class| format!(".{class}")));
        words.extend(pairs.iter().map(|(key, value)| match value {
            Some(value) => format!("{key}={value}"),
            None => key.to_string(),
        }));
        match words.is_empty() {
            true => String::new(),
            false => self.source.restored(&format!(" {{{}}}", words.join(" "))).into_owned(),
        }
    }

    /// Takes a line of code or markup as the source has it.
    fn raw_line(&mut self, line: &str, range: Range<usize>) {
        let Source { text, parsed } = self.source;
        let is_authored = parsed[range.clone()] == *line;
        let mut start = range.start;
        // The parser leaves the carriage return of a line break out.
        if line == "\n" && 0 < start && text.as_bytes()[start - 1] == b'\r' {
            self.raw.text.push('\r');
            start -= 1;
        }
        let is_first = self.raw.text.is_empty();
        match is_authored {
            true => self.raw.text.push_str(&text[range.clone()]),
            false => self.raw.text.push_str(&self.source.restored(line)),
        }
        let goes_on = is_first || start == self.raw.end;
        self.raw.whole = match (&self.raw.whole, is_authored && goes_on) {
            (None, true) if is_first => Some(start..range.end),
            (Some(whole), true) => Some(whole.start..range.end),
            _ => None,
        };
        self.raw.end = range.end;
    }

    fn end_code(&mut self, range: Range<usize>) {
        let block = std::mem::replace(&mut self.block, Block::None);
        self.cursor = self.cursor.max(range.end);
        let Block::Code { info } = block else { return };
        let Raw { text: mut code, whole, .. } = std::mem::take(&mut self.raw);
        if code.ends_with('\n') {
            code.pop();
            if code.ends_with('\r') {
                code.pop();
            }
        }
        let info = self.source.restored(&info).into_owned();
        if code.is_empty() && info.trim().is_empty() {
            return;
        }
        let node = code_node(&info, code, None, self.in_file(&range));
        let base = self.base;
        self.add_block(node, whole.map(|whole| base + whole.start));
    }

    fn end_markup(&mut self, range: Range<usize>) {
        self.block = Block::None;
        self.cursor = self.cursor.max(range.end);
        let raw = std::mem::take(&mut self.raw).text.replace("\r\n", "\n").replace('\r', "\n");
        let content = raw.trim_matches('\n').trim_end();
        if content.trim().is_empty() {
            return;
        }
        let node = Node {
            span: self.in_file(&range),
            label: label::markup(content),
            content: content.to_owned(),
            ..Node::default()
        };
        self.add_block(node, None);
    }

    fn table_event(&mut self, event: Event<'a>, range: Range<usize>) {
        let Some(table) = &mut self.table else { return };
        if event != Event::End(TagEnd::Table) {
            return table.event(self.source, event, range);
        }
        self.cursor = self.cursor.max(range.end);
        let Some(table) = self.table.take() else { return };
        let span = self.in_file(&range);
        let parent = self.block_parent(range.start);
        let (node, header_bytes) = table.finish();
        self.outline.add_table(Node { parent, span, ..node }, header_bytes);
    }
}

fn paragraph_label(rendered: &Rendered) -> String {
    let plain = text::fold(&rendered.plain);
    match plain.is_empty() {
        true => label::markup(&rendered.markdown),
        false => text::cut(&plain, text::LABEL_CHARS_MAX),
    }
}

/// The marker that an item starts with: `-` for a bullet, a number with its delimiter otherwise.
fn marker_at(item: &str) -> &str {
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    match item.as_bytes().get(digits) {
        Some(b'.' | b')') if 0 < digits => &item[..=digits],
        _ => "-",
    }
}

fn level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}
