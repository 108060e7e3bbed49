//! The tree under construction: open headings, counted tokens, and large contents in parts.

use super::content_splitting::{self, SplitTextKind, TextPart};
use super::label;
use crate::model::tree::{DocumentTree, Node, NodeType};
use crate::text::first_sentence;

/// The tree that parsers add nodes to.
#[derive(Debug, Default)]
pub(crate) struct NodeTreeBuilder {
    pub(crate) tree: DocumentTree,
    /// Level and index of the open headings, outermost first.
    open: Vec<(u8, usize)>,
}

impl NodeTreeBuilder {
    /// Returns the innermost open heading, the parent of the next block.
    pub(crate) fn parent(&self) -> Option<usize> {
        self.open.last().map(|&(_, index)| index)
    }

    /// Closes the headings that a heading of `level` ends.
    pub(crate) fn close(&mut self, level: u8) {
        while self.open.last().is_some_and(|&(open, _)| level <= open) {
            self.open.pop();
        }
    }

    /// Adds a heading and opens it; one without a level, a title, is never closed. A heading too
    /// large for its content continues in text below it.
    pub(crate) fn open(&mut self, mut node: Node) {
        let level = node.level.unwrap_or(0);
        self.close(level);
        node.parent = self.parent();
        let index = self.add_heading(node);
        self.open.push((level, index));
    }

    /// Adds a heading under the parent that it names, without opening it.
    pub(crate) fn add_heading(&mut self, mut node: Node) -> usize {
        let content = std::mem::take(&mut node.content);
        let span = node.span.clone();
        let parts = content_splitting::split_parts(&content, SplitTextKind::Prose);
        let mut parts = parts.iter();
        if let Some(first) = parts.next() {
            node.content = content[first.range.clone()].to_owned();
            node.token_count = first.tokens;
        }
        let index = self.tree.push(node);
        for part in parts {
            let words = &content[part.range.clone()];
            self.tree.push(Node {
                parent: Some(index),
                span: span.clone(),
                label: or_first_line(label::of_markdown(words), words, NodeType::Text),
                content: words.to_owned(),
                token_count: part.tokens,
                ..Node::default()
            });
        }
        index
    }

    /// Adds a block under the parent that it names. The label of text is the first sentence of its
    /// first line.
    ///
    /// `base` is the offset of the content in the source, if it is there unchanged.
    pub(crate) fn add(&mut self, mut node: Node, base: Option<usize>) -> usize {
        let content = std::mem::take(&mut node.content);
        node.label = or_first_line(node.label, &content, node.node_type);
        if node.node_type == NodeType::Text {
            let n_bytes = first_sentence(&node.label).len();
            node.label.truncate(n_bytes);
        }
        let index = self.tree.push(node);
        self.fill(index, content, base);
        index
    }

    /// Adds a table; the header stays with the table if the rows have to go into parts.
    pub(crate) fn add_table(&mut self, mut node: Node, header_bytes: usize) {
        let content = std::mem::take(&mut node.content);
        let whole = content_splitting::split_parts(&content, SplitTextKind::Lines);
        let index = self.tree.push(node);
        if let [only] = &whole[..] {
            self.set(index, content, only.tokens);
            return;
        }
        let header = content_splitting::split_parts(&content[..header_bytes], SplitTextKind::Lines);
        match &header[..] {
            [only] if header_bytes < content.len() => {
                self.set(index, content[..header_bytes].to_owned(), only.tokens);
                let rows = &content[header_bytes + 1..];
                self.add_parts(
                    index,
                    rows,
                    &content_splitting::split_parts(rows, SplitTextKind::Lines),
                    None,
                );
            }
            _ => self.add_parts(index, &content, &whole, None),
        }
    }

    /// Adds source code, which is at `base` in the source, under the parent that it names.
    pub(crate) fn add_source(&mut self, mut node: Node, base: usize) -> usize {
        let content = std::mem::take(&mut node.content);
        let index = self.tree.push(node);
        self.fill_cut(index, content, Some(base), SplitTextKind::Blocks);
        index
    }

    /// Sets a node's content, or adds parts that have it.
    pub(crate) fn fill(&mut self, index: usize, content: String, base: Option<usize>) {
        let cut = match self.tree.nodes[index].node_type {
            NodeType::Code | NodeType::Table => SplitTextKind::Lines,
            _ => SplitTextKind::Prose,
        };
        self.fill_cut(index, content, base, cut);
    }

    fn fill_cut(&mut self, index: usize, content: String, base: Option<usize>, cut: SplitTextKind) {
        let parts = content_splitting::split_parts(&content, cut);
        match &parts[..] {
            [] => (),
            [only] if only.range.len() == content.len() => {
                self.set(index, content, only.tokens);
            }
            _ => self.add_parts(index, &content, &parts, base),
        }
    }

    fn set(&mut self, index: usize, content: String, tokens: u32) {
        let node = &mut self.tree.nodes[index];
        node.content = content;
        node.token_count = tokens;
    }

    fn add_parts(&mut self, index: usize, content: &str, parts: &[TextPart], base: Option<usize>) {
        let whole = self.tree.nodes[index].clone();
        for part in parts {
            let words = &content[part.range.clone()];
            let span = match base {
                Some(base) => base + part.range.start..base + part.range.end,
                None => whole.span.clone(),
            };
            self.tree.push(Node {
                parent: Some(index),
                level: None,
                span,
                label: part_label(&whole, words, part.is_inside_line),
                content: words.to_owned(),
                token_count: part.tokens,
                ..whole.clone()
            });
        }
    }
}

/// Returns a label for content without visible text.
fn or_first_line(label: String, content: &str, node_type: NodeType) -> String {
    let label = if label.is_empty() { crate::text::label_of_text(content) } else { label };
    if label.is_empty() { node_type.as_str().to_owned() } else { label }
}

fn part_label(whole: &Node, words: &str, is_inside_line: bool) -> String {
    let mark = if is_inside_line { "…" } else { "" };
    let label = match whole.node_type {
        NodeType::Code => {
            let line = format!("{mark}{}", label::first_line(words));
            label::of_code(whole.lang.as_deref().unwrap_or(""), &line)
        }
        NodeType::Table | NodeType::Preamble | NodeType::Kv => crate::text::label_of_text(words),
        _ => label::of_markdown(words),
    };
    or_first_line(label, words, whole.node_type)
}
