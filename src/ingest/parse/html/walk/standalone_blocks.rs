//! The blocks that are always nodes: code, tables, media, drawings, formulas.

use super::HtmlWalk;
use crate::ingest::parse::html::dom::DomId;
use crate::ingest::parse::html::{NODES_MAX, html_table_to_tsv, inline, math, preformatted};
use crate::ingest::parse::label;
use crate::model::tree::{ContentFormat, Node, NodeType};
use crate::text;

impl HtmlWalk<'_, '_> {
    pub(super) fn all_apart(&mut self, apart: Vec<DomId>) {
        for id in apart {
            self.apart(id);
        }
    }

    /// Adds code or a table, and the code and tables in its cells.
    pub(super) fn apart(&mut self, id: DomId) {
        let mut open: Vec<(DomId, Option<usize>)> = vec![(id, None)];
        while let Some((id, parent)) = open.pop() {
            if self.dom.html_name(id) != "table" {
                self.code(id, parent);
                continue;
            }
            let table = html_table_to_tsv::read(self.dom, id);
            let inner = self.table(id, parent, &table);
            open.extend(table.apart.iter().rev().map(|&it| (it, inner.or(parent))));
        }
    }

    /// Adds a block under a node, or in place.
    fn add_under(&mut self, parent: Option<usize>, node: Node) -> Option<usize> {
        match parent {
            Some(_) if self.outline.tree.nodes.len() < NODES_MAX => {
                Some(self.outline.add(Node { parent, ..node }, None))
            }
            _ => self.add(node),
        }
    }

    fn code(&mut self, id: DomId, parent: Option<usize>) {
        let Some(content) = preformatted::code(self.dom, id) else { return };
        let lang = preformatted::language(self.dom, id);
        let node = Node {
            node_type: NodeType::Code,
            span: self.dom.span(id),
            label: label::of_code(lang.as_deref().unwrap_or(""), &content),
            lang,
            content,
            ..Node::default()
        };
        self.add_under(parent, node);
    }

    fn table(
        &mut self,
        id: DomId,
        parent: Option<usize>,
        read: &html_table_to_tsv::HtmlTableAsTsv,
    ) -> Option<usize> {
        let span = self.dom.span(id);
        for caption in &read.captions {
            self.add_under(
                parent,
                Node {
                    span: caption.span.clone(),
                    label: label::of_rendered(&caption.plain, &caption.markdown),
                    content: caption.markdown.clone(),
                    ..Node::default()
                },
            );
        }
        if read.content.is_empty() {
            return None;
        }
        let node = Node {
            node_type: NodeType::Table,
            label: label::of_table(&read.columns, read.n_rows),
            content: read.content.clone(),
            span,
            ..Node::default()
        };
        if read.header_bytes == 0 || NODES_MAX <= self.outline.tree.nodes.len() {
            return self.add_under(parent, node);
        }
        let parent = match parent {
            Some(parent) => Some(parent),
            None => self.block_parent(node.span.start),
        };
        let index = self.outline.tree.nodes.len();
        self.outline.add_table(Node { parent, ..node }, read.header_bytes);
        Some(index)
    }

    pub(super) fn media(&mut self, id: DomId) {
        self.flush();
        let Some((content, address)) = inline::media(self.dom, id) else { return };
        let (title, format) = match self.dom.html_name(id) {
            "video" => ("Video", ContentFormat::Video),
            "audio" => ("Audio", ContentFormat::Audio),
            "iframe" => ("Iframe", ContentFormat::Iframe),
            _ => ("Embed", ContentFormat::Embed),
        };
        let alt = content.split("](").next().unwrap_or("").trim_start_matches('[');
        let line = if alt.is_empty() { &address } else { alt };
        self.add(Node {
            node_type: NodeType::Embed,
            span: self.dom.span(id),
            label: label::titled(title, line),
            content,
            format,
            ..Node::default()
        });
    }

    /// Returns whether a drawing is alone, and not among the words of a line.
    pub(super) fn is_drawing(&self, id: DomId) -> bool {
        let is_one = self.dom.foreign_root_name(id) == "svg" || self.dom.html_name(id) == "canvas";
        is_one
            && self.run.is_empty()
            && self.container.is_none()
            && self.links.is_empty()
            && self.n_paragraphs == 0
            && self.n_codes == 0
    }

    pub(super) fn is_display_math(&self, id: DomId) -> bool {
        self.dom.foreign_root_name(id) == "math"
            && self.dom.attribute(id, "display") == Some("block")
    }

    /// Adds a drawing or a formula.
    pub(super) fn drawing(&mut self, id: DomId) {
        let (content, format) = match self.dom.foreign_root_name(id) {
            "math" => {
                let Some(written) = math::display(self.dom, id) else { return };
                (written.content, written.format)
            }
            name => {
                let format = if name == "svg" { ContentFormat::Svg } else { ContentFormat::Canvas };
                let attributes = self.dom.attributes(id);
                let inner = self.dom.inner_markup(id);
                let content = [attributes.trim(), inner.trim()].join("\n");
                (content.trim().to_owned(), format)
            }
        };
        if content.is_empty() {
            return;
        }
        let title = match format {
            ContentFormat::Latex | ContentFormat::Mathml => "Math",
            ContentFormat::Svg => "Drawing",
            _ => "Canvas",
        };
        let texts: Vec<&str> =
            self.dom.descendants(id).filter_map(|it| self.dom.text(it)).collect();
        let words = text::fold_whitespace(&texts.join(" "));
        let line = match format {
            ContentFormat::Latex => label::first_line(&content),
            _ if words.is_empty() => label::first_line(&content),
            _ => words,
        };
        self.add(Node {
            node_type: NodeType::Code,
            span: self.dom.span(id),
            label: label::titled(title, &line),
            content,
            format,
            ..Node::default()
        });
    }
}
