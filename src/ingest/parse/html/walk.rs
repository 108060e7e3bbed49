//! The walk over an HTML document: blocks to nodes.

mod list_markers;
mod standalone_blocks;

use std::ops::Range;

use super::dom::{Dom, DomId, ROOT, Visit};
use super::inline::{self, ChildVisit};
use super::inline_run::{InlineRun, LineBreaks, RenderedRun, SoleImageOrFormula};
use super::superlinear_tag_filter::{CODE, LINK};
use super::{NODES_MAX, html_table_to_tsv};
use crate::ingest::parse::list_quote_footnote_writer::{
    ContainerKind, ListQuoteFootnoteWriter, NESTING_MAX,
};
use crate::ingest::parse::node_tree_builder::NodeTreeBuilder;
use crate::ingest::parse::{Warning, label};
use crate::model::tree::{ContentFormat, Node, NodeType};
use crate::text;
pub(super) use list_markers::ListNumbering;

/// The walk, with the structures that are open at its present element.
pub(super) struct HtmlWalk<'a, 'o> {
    dom: &'a Dom,
    source: &'a str,
    outline: &'o mut NodeTreeBuilder,
    container: Option<ListQuoteFootnoteWriter>,
    /// The elements that opened a list, an item or a quote of the container.
    frames: Vec<DomId>,
    lists: Vec<(DomId, ListNumbering)>,
    run: InlineRun,
    /// Open links, and whether they have been written.
    links: Vec<(DomId, bool)>,
    n_codes: usize,
    n_paragraphs: usize,
    /// The text after the maximum of nodes, and its start.
    rest: String,
    rest_start: Option<usize>,
    flattened_at: Option<usize>,
}

impl<'a, 'o> HtmlWalk<'a, 'o> {
    pub(super) fn new(
        dom: &'a Dom,
        source: &'a str,
        outline: &'o mut NodeTreeBuilder,
    ) -> HtmlWalk<'a, 'o> {
        HtmlWalk {
            dom,
            source,
            outline,
            container: None,
            frames: Vec::new(),
            lists: Vec::new(),
            run: InlineRun::new(LineBreaks::Lines),
            links: Vec::new(),
            n_codes: 0,
            n_paragraphs: 0,
            rest: String::new(),
            rest_start: None,
            flattened_at: None,
        }
    }

    /// Reads the document.
    pub(super) fn run(mut self) -> Vec<Warning> {
        let mut visits = self.dom.walk(ROOT);
        while let Some(visit) = visits.next() {
            match visit {
                Visit::Start(id) if self.enter(id) == ChildVisit::Over => visits.skip_inside(id),
                Visit::Start(_) => (),
                Visit::End(id) => self.leave(id),
            }
        }
        self.finish()
    }

    fn finish(mut self) -> Vec<Warning> {
        self.flush();
        let mut warnings = Vec::new();
        let mut warn = |at: usize, what: String| {
            warnings.push(Warning { line: text::line_number_at(self.source, at), what });
        };
        if let Some(at) = self.flattened_at {
            let what = format!(
                "lists and quotes nest deeper than {NESTING_MAX} levels; the inner ones are \
                 flattened"
            );
            warn(at, what);
        }
        if let Some(start) = self.rest_start {
            warn(start, format!("more than {NODES_MAX} nodes; the rest is kept as plain text"));
            let content = self.rest.trim_end().to_owned();
            let node = Node {
                parent: self.outline.parent(),
                span: start..self.source.len(),
                label: label::of_markdown(&content),
                content,
                ..Node::default()
            };
            self.outline.add(node, None);
        }
        warnings
    }

    fn enter(&mut self, id: DomId) -> ChildVisit {
        let dom = self.dom;
        let name = dom.html_name(id);
        if dom.is_skipped(id) {
            return ChildVisit::Over;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.heading(id, name.as_bytes()[1] - b'0');
                ChildVisit::Over
            }
            "pre" | "listing" | "xmp" | "plaintext" => {
                self.flush();
                self.apart(id);
                ChildVisit::Over
            }
            "table" => {
                self.flush();
                if html_table_to_tsv::is_layout(dom, id) {
                    return ChildVisit::Into;
                }
                self.apart(id);
                ChildVisit::Over
            }
            "blockquote" | "ul" | "ol" | "menu" | "dir" | "dl" | "li" | "dt" | "dd" => {
                self.flush();
                self.open_frame(id);
                ChildVisit::Into
            }
            "p" => {
                self.flush();
                self.n_paragraphs += 1;
                ChildVisit::Into
            }
            "video" | "audio" | "iframe" | "embed" | "object" => {
                self.media(id);
                ChildVisit::Into
            }
            LINK => {
                if dom.attribute(id, "href").is_some() {
                    self.links.push((id, false));
                }
                inline::enter(dom, id, &mut self.run)
            }
            CODE => {
                self.n_codes += 1;
                inline::enter(dom, id, &mut self.run)
            }
            name if inline::is_block(name) => {
                self.flush();
                ChildVisit::Into
            }
            _ if self.is_drawing(id) || self.is_display_math(id) => {
                self.flush();
                self.drawing(id);
                ChildVisit::Over
            }
            _ => inline::enter(dom, id, &mut self.run),
        }
    }

    fn leave(&mut self, id: DomId) {
        let name = self.dom.html_name(id);
        if inline::is_block(name) || inline::is_apart(name) {
            self.flush();
        }
        match name {
            "p" => self.n_paragraphs = self.n_paragraphs.saturating_sub(1),
            LINK => {
                if self.links.last().is_some_and(|&(link, _)| link == id) {
                    self.links.pop();
                }
                inline::leave(self.dom, id, &mut self.run);
            }
            CODE => {
                self.n_codes = self.n_codes.saturating_sub(1);
                inline::leave(self.dom, id, &mut self.run);
            }
            "video" | "audio" | "iframe" | "object" => self.flush(),
            _ => inline::leave(self.dom, id, &mut self.run),
        }
        if self.lists.last().is_some_and(|(list, _)| *list == id) {
            self.lists.pop();
        }
        if self.frames.last() == Some(&id) {
            self.frames.pop();
            self.close_frame(id);
        }
    }

    /// Opens a quote, a list or an item; an item outside of all lists is an ordinary block.
    fn open_frame(&mut self, id: DomId) {
        let dom = self.dom;
        match dom.html_name(id) {
            "blockquote" => self.container_at(ContainerKind::Quote, id).open_quote(),
            "li" | "dt" | "dd" => match (self.lists.last_mut(), &mut self.container) {
                (Some((_, list)), Some(container)) => container.open_item(&list.marker(dom, id)),
                _ => return,
            },
            _ => {
                self.container_at(ContainerKind::List, id).open_list();
                self.lists.push((id, ListNumbering::new(dom, id)));
            }
        }
        self.frames.push(id);
    }

    fn container_at(&mut self, kind: ContainerKind, id: DomId) -> &mut ListQuoteFootnoteWriter {
        let range = self.dom.span(id);
        let outline = &mut *self.outline;
        self.container.get_or_insert_with(|| ListQuoteFootnoteWriter::new(kind, &range, 0, outline))
    }

    fn close_frame(&mut self, id: DomId) {
        let Some(container) = &mut self.container else { return };
        container.close();
        if container.is_flattened && self.flattened_at.is_none() {
            self.flattened_at = Some(self.dom.span(id).start);
        }
        if container.is_closed()
            && let Some(container) = self.container.take()
        {
            container.finish(self.outline);
        }
    }

    /// Ends the open run of text, and makes a paragraph of it.
    fn flush(&mut self) {
        let rendered = self.end_run();
        if rendered.markdown.is_empty() {
            return;
        }
        if let Some(container) = &mut self.container {
            container.paragraph(&rendered.markdown, &rendered.plain, rendered.span);
            return;
        }
        if !rendered.has_text && self.n_paragraphs == 0 {
            let is_one = rendered.soles.len() == 1;
            if is_one
                || rendered.soles.iter().all(|it| matches!(it, SoleImageOrFormula::Image { .. }))
            {
                for sole in rendered.soles {
                    self.sole(sole, rendered.span.clone());
                }
                return;
            }
        }
        self.add(Node {
            span: rendered.span,
            label: label::of_rendered(&rendered.plain, &rendered.markdown),
            content: rendered.markdown,
            ..Node::default()
        });
    }

    fn end_run(&mut self) -> RenderedRun {
        if self.run.has_used_link()
            && let Some((_, is_used)) = self.links.last_mut()
        {
            *is_used = true;
        }
        let next = self.next_run(LineBreaks::Lines);
        std::mem::replace(&mut self.run, next).finish()
    }

    /// Returns a run with the link and the code that are open around it; a link is written once.
    fn next_run(&self, flow: LineBreaks) -> InlineRun {
        let link = self.links.last().filter(|(_, is_used)| !is_used);
        let href = link.and_then(|&(id, _)| self.dom.attribute(id, "href"));
        inline::run_within(flow, href, 0 < self.n_codes)
    }

    fn sole(&mut self, sole: SoleImageOrFormula, span: Range<usize>) {
        match sole {
            SoleImageOrFormula::Math(id) => self.drawing(id),
            SoleImageOrFormula::Image { markdown, alt, address } => {
                let line = if alt.is_empty() { address } else { alt };
                self.add(Node {
                    node_type: NodeType::Embed,
                    span,
                    label: label::titled("Image", &line),
                    content: markdown,
                    format: ContentFormat::Image,
                    ..Node::default()
                });
            }
        }
    }

    /// Adds a block that is always a node.
    fn add(&mut self, node: Node) -> Option<usize> {
        let at = node.span.start;
        if NODES_MAX <= self.outline.tree.nodes.len() {
            self.add_to_rest(&node.content, at);
            return None;
        }
        let parent = self.block_parent(at);
        Some(self.outline.add(Node { parent, ..node }, None))
    }

    fn add_to_rest(&mut self, content: &str, at: usize) {
        if let Some(container) = &mut self.container {
            container.paragraph(content, content, at..at);
            return;
        }
        self.rest_start.get_or_insert(at);
        self.rest.push_str(content);
        self.rest.push_str("\n\n");
    }

    /// Returns the parent of a block; the text of its container so far becomes a node.
    fn block_parent(&mut self, at: usize) -> Option<usize> {
        match &mut self.container {
            Some(container) => {
                container.interrupt(at, self.outline);
                Some(container.index())
            }
            None => self.outline.parent(),
        }
    }

    fn heading(&mut self, id: DomId, level: u8) {
        self.flush();
        let run = self.next_run(LineBreaks::OneLine);
        let (rendered, apart) = inline::line(self.dom, id, run);
        let span = self.dom.span(id);
        if rendered.markdown.is_empty() {
            self.all_apart(apart);
            return;
        }
        if let Some((_, is_used)) = self.links.last_mut() {
            *is_used = true;
            self.run = self.next_run(LineBreaks::Lines);
        }
        if NODES_MAX <= self.outline.tree.nodes.len() {
            self.add_to_rest(&rendered.markdown, span.start);
            return self.all_apart(apart);
        }
        let node = Node {
            node_type: NodeType::Heading,
            level: Some(level),
            label: label::of_rendered(&rendered.plain, &rendered.markdown),
            content: rendered.markdown,
            span,
            ..Node::default()
        };
        match self.container {
            Some(_) => {
                let parent = self.block_parent(node.span.start);
                self.outline.add_heading(Node { parent, ..node });
            }
            None => self.outline.open(node),
        }
        self.all_apart(apart);
    }
}
