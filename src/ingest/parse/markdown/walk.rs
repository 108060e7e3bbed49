//! The walk over the parser's events: blocks to nodes with their parents.

use std::ops::Range;

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, CowStr, Event, Tag, TagEnd};

use super::inline_to_markdown::{InlineBreaks, InlineRenderer, RenderedInline};
use super::masked_parser_input::{UnusedLinkDefinitionFinder, WikilinkPipeMaskedMarkdown};
use super::table::MarkdownTableBuilder;
use super::verbatim_block_text::VerbatimBlockTextBuilder;
use super::{NODES_MAX, code_node};
use crate::ingest::parse::label;
use crate::ingest::parse::list_quote_footnote_writer::{ContainerKind, ListQuoteFootnoteWriter};
use crate::ingest::parse::node_tree_builder::NodeTreeBuilder;
use crate::model::tree::{ContentFormat, Node, NodeType};
use crate::text;

/// A block whose inside is being read.
#[derive(Debug)]
enum OpenBlock<'a> {
    None,
    Heading { level: u8, has_attributes: bool },
    Code { info: CowStr<'a> },
    Markup,
}

/// The walk over one section.
pub(super) struct MarkdownWalk<'a, 'o> {
    source: WikilinkPipeMaskedMarkdown<'a>,
    /// Start of the section in the file.
    base: usize,
    outline: &'o mut NodeTreeBuilder,
    definitions: UnusedLinkDefinitionFinder,
    container: Option<ListQuoteFootnoteWriter>,
    inline: Option<InlineRenderer<'a>>,
    block: OpenBlock<'a>,
    raw: VerbatimBlockTextBuilder,
    table: Option<MarkdownTableBuilder<'a>>,
    /// End of the source that is accounted for.
    cursor: usize,
    /// First place where containers had to be flattened.
    pub(super) flattened_at: Option<usize>,
}

impl<'a, 'o> MarkdownWalk<'a, 'o> {
    /// Returns a walk over the section that starts at `base` in the file.
    pub(super) fn new(
        source: WikilinkPipeMaskedMarkdown<'a>,
        base: usize,
        outline: &'o mut NodeTreeBuilder,
    ) -> MarkdownWalk<'a, 'o> {
        MarkdownWalk {
            source,
            base,
            outline,
            definitions: UnusedLinkDefinitionFinder::of(source),
            container: None,
            inline: None,
            block: OpenBlock::None,
            raw: VerbatimBlockTextBuilder::default(),
            table: None,
            cursor: 0,
            flattened_at: None,
        }
    }

    /// Reads the section; returns its end, or the offset at which the maximum of nodes was reached.
    pub(super) fn run(&mut self) -> usize {
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
            Event::Text(text) if matches!(self.block, OpenBlock::Code { .. }) => {
                self.raw.line(self.source, &text, range);
            }
            Event::Html(html) if matches!(self.block, OpenBlock::Markup) => {
                self.raw.line(self.source, &html, range);
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
            Tag::Paragraph => self.start_inline(InlineBreaks::Lines, range),
            Tag::Heading { level, id, classes, attrs } => {
                let has_attributes = id.is_some() || !classes.is_empty() || !attrs.is_empty();
                self.block = OpenBlock::Heading { level: level as u8, has_attributes };
                self.start_inline(InlineBreaks::OneLine, range);
            }
            Tag::CodeBlock(kind) => {
                self.start_block(range.start);
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info,
                    CodeBlockKind::Indented => CowStr::Borrowed(""),
                };
                self.block = OpenBlock::Code { info };
                self.raw = VerbatimBlockTextBuilder::default();
            }
            Tag::HtmlBlock => {
                self.start_block(range.start);
                self.block = OpenBlock::Markup;
                self.raw = VerbatimBlockTextBuilder::default();
            }
            Tag::Table(_) => {
                self.start_block(range.start);
                self.table = Some(MarkdownTableBuilder::default());
            }
            Tag::BlockQuote(alert) => self.start_quote(alert, range),
            Tag::List(_) => {
                self.start_container(ContainerKind::List, &range).open_list();
                self.cursor = range.start;
            }
            Tag::Item => {
                self.end_paragraph();
                self.definitions_until(range.start);
                let marker = marker_at(&self.source.text[range.clone()]);
                self.cursor = (range.start + marker.len()).min(range.end);
                self.start_container(ContainerKind::List, &range).open_item(marker);
            }
            Tag::FootnoteDefinition(name) => {
                let name = self.source.restored(&name).into_owned();
                self.start_container(ContainerKind::Footnote, &range).open_footnote(&name);
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
            // Text between items and the end of their list belongs to neither.
            TagEnd::List(_) => self.end_container(range),
            TagEnd::Item | TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => {
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
            self.start_inline(InlineBreaks::Lines, range.start..range.start);
        }
        if let Some(inline) = &mut self.inline {
            inline.event(event, range);
        }
    }

    fn start_inline(&mut self, flow: InlineBreaks, range: Range<usize>) {
        self.end_paragraph();
        self.definitions_until(range.start);
        self.cursor = self.cursor.max(range.start);
        let span = range.start..range.start;
        self.inline = Some(InlineRenderer::new(self.source, flow, span));
    }

    /// Ends the open paragraph, if any.
    fn end_paragraph(&mut self) {
        let Some(inline) = self.inline.take() else { return };
        let rendered = inline.finish();
        self.cursor = self.cursor.max(rendered.span.end);
        self.paragraph(rendered);
    }

    fn paragraph(&mut self, rendered: RenderedInline) {
        if let Some(tex) = &rendered.sole_math {
            let tex = tex.trim().to_owned();
            let node = Node {
                node_type: NodeType::Code,
                span: self.in_file(&rendered.span),
                label: label::titled("Math", &label::first_line(&tex)),
                content: tex,
                format: ContentFormat::Latex,
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

    /// Adds a block that is always a node.
    fn add_block(&mut self, mut node: Node, base: Option<usize>) {
        node.parent = self.block_parent(node.span.start - self.base);
        self.outline.add(node, base);
    }

    /// Returns the parent of a block that is a node; the text of its container so far becomes one.
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

impl<'a> MarkdownWalk<'a, '_> {
    /// Ends the text of a tight item before a block starts.
    fn start_block(&mut self, at: usize) {
        self.end_paragraph();
        self.definitions_until(at);
    }

    /// Keeps the unused link definitions up to `end`.
    fn definitions_until(&mut self, end: usize) {
        let gap = self.cursor..end;
        self.cursor = self.cursor.max(end);
        let lines = self.definitions.unused_in(self.source, gap.clone());
        if !lines.is_empty() {
            let plain = label::first_line(&lines);
            self.paragraph(RenderedInline { markdown: lines, plain, sole_math: None, span: gap });
        }
    }

    fn start_container(
        &mut self,
        kind: ContainerKind,
        range: &Range<usize>,
    ) -> &mut ListQuoteFootnoteWriter {
        self.end_paragraph();
        self.definitions_until(range.start);
        let (base, outline) = (self.base, &mut *self.outline);
        self.container
            .get_or_insert_with(|| ListQuoteFootnoteWriter::new(kind, range, base, outline))
    }

    fn start_quote(&mut self, alert: Option<BlockQuoteKind>, range: Range<usize>) {
        let authored = &self.source.text[range.clone()];
        self.start_block(range.start);
        self.cursor = range.start;
        let container = self.start_container(ContainerKind::Quote, &range);
        container.open_quote();
        let mark = alert.and_then(|_| Some(authored.find("[!")?..authored.find(']')? + 1));
        if let Some(mark) = mark.filter(|mark| mark.start < mark.end) {
            container.mark(&authored[mark.clone()], range.start..range.start);
            self.cursor += mark.end;
        }
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
        let block = std::mem::replace(&mut self.block, OpenBlock::None);
        self.cursor = self.cursor.max(range.end);
        let (OpenBlock::Heading { level, has_attributes }, Some(inline)) =
            (block, self.inline.take())
        else {
            return;
        };
        let rendered = inline.finish();
        let attributes = match has_attributes {
            true => attributes(&self.source.text[rendered.span.end..range.end]),
            false => "",
        };
        let is_inside = self.container.is_some();
        let mut content = text::fold_whitespace(&rendered.markdown);
        if content.is_empty() && attributes.is_empty() {
            if !is_inside {
                self.outline.close(level);
            }
            return;
        }
        let label = paragraph_label(&rendered);
        if !content.is_empty() && !attributes.is_empty() {
            content.push(' ');
        }
        content.push_str(attributes);
        let node = Node {
            node_type: NodeType::Heading,
            level: Some(level),
            span: self.in_file(&range),
            label: if label.is_empty() { text::label_of_text(&content) } else { label },
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

    fn end_code(&mut self, range: Range<usize>) {
        let block = std::mem::replace(&mut self.block, OpenBlock::None);
        self.cursor = self.cursor.max(range.end);
        let OpenBlock::Code { info } = block else { return };
        let (code, whole) = std::mem::take(&mut self.raw).into_code();
        let info = self.source.restored(&info).into_owned();
        if code.is_empty() && info.trim().is_empty() {
            return;
        }
        let node = code_node(&info, code, None, self.in_file(&range));
        let base = self.base;
        self.add_block(node, whole.map(|start| base + start));
    }

    fn end_markup(&mut self, range: Range<usize>) {
        self.block = OpenBlock::None;
        self.cursor = self.cursor.max(range.end);
        let content = std::mem::take(&mut self.raw).into_markup();
        if content.trim().is_empty() {
            return;
        }
        let node = Node {
            span: self.in_file(&range),
            label: label::of_markup(&content),
            content,
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

/// Returns the attributes at the end of a heading, as authored: `{#id .class key=value}`.
fn attributes(tail: &str) -> &str {
    match (tail.find('{'), tail.rfind('}')) {
        (Some(start), Some(end)) if start < end => &tail[start..=end],
        _ => "",
    }
}

fn paragraph_label(rendered: &RenderedInline) -> String {
    let plain = text::fold_and_truncate(&rendered.plain, text::LABEL_CHARS_MAX);
    if plain.is_empty() { label::of_markup(&rendered.markdown) } else { plain }
}

/// Returns the marker of an item: `-` for a bullet, a number with its delimiter otherwise.
fn marker_at(item: &str) -> &str {
    let digits = item.bytes().take_while(u8::is_ascii_digit).count();
    match item.as_bytes().get(digits) {
        Some(b'.' | b')') if 0 < digits => &item[..=digits],
        _ => "-",
    }
}
