//! Lists, quotes and footnotes: their text and structure, rendered line by line.
//!
//! A container becomes one node with its text, unless it holds a block that is a node of its own.
//! Then the text before the block is the container's content, the block a child, and the text after
//! it a further child. So the nodes in order read as the document does.

use std::ops::Range;

use super::label;
use super::node_tree_builder::NodeTreeBuilder;
use crate::model::tree::{Node, NodeType};
use crate::text;

/// Maximum nesting that is indented; deeper containers are written without further indentation.
pub(crate) const NESTING_MAX: usize = 64;

/// Maximum bytes of indentation and quote marks per byte of the source. A line may inherit dozens
/// of marks that its author did not have to repeat.
const PREFIX_RATIO_MAX: usize = 2;

/// The kind of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ContainerKind {
    #[default]
    List,
    Quote,
    Footnote,
}

/// The kind of the last block, which decides the space after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastWrittenBlock {
    #[default]
    Nothing,
    Paragraph,
    List,
    Quote,
}

/// One level of nesting.
#[derive(Debug)]
struct NestingLevel {
    kind: ContainerKind,
    /// Bytes of the prefix outside of this level.
    outer_bytes: usize,
    /// Bytes of the lead outside of this level, and bytes written when it was opened.
    lead_bytes: usize,
    n_writes: usize,
}

/// A list, quote or footnote at the top level while it is written.
#[derive(Debug, Default)]
pub(crate) struct ListQuoteFootnoteWriter {
    kind: ContainerKind,
    /// Index of the container's node.
    index: usize,
    base: usize,
    frames: Vec<NestingLevel>,
    /// Prefix of each line.
    prefix: String,
    /// Start of the next block's first line: the prefix, and markers not yet written.
    lead: String,
    n_writes: usize,
    last: LastWrittenBlock,
    /// Space needed before a container just opened: none, a break, a blank line.
    opening: Option<(bool, String)>,
    piece: String,
    piece_plain: String,
    piece_span: Range<usize>,
    n_pieces: usize,
    n_items: usize,
    first_plain: String,
    name: String,
    prefix_bytes_left: usize,
    /// Whether nesting had to be flattened.
    pub(crate) is_flattened: bool,
}

impl ListQuoteFootnoteWriter {
    /// Starts a container, and adds its node to the tree at once, to precede its children.
    ///
    /// `base` is the start of the section in the file; all other offsets are relative to it.
    pub(crate) fn new(
        kind: ContainerKind,
        range: &Range<usize>,
        base: usize,
        outline: &mut NodeTreeBuilder,
    ) -> ListQuoteFootnoteWriter {
        let node_type = if kind == ContainerKind::List { NodeType::List } else { NodeType::Text };
        let parent = outline.parent();
        let prefix_bytes_left = (range.len() + 1024) * PREFIX_RATIO_MAX;
        let piece_span = range.start..range.start;
        let span = base + range.start..base + range.end;
        let index = outline.tree.push(Node { parent, node_type, span, ..Node::default() });
        ListQuoteFootnoteWriter {
            kind,
            index,
            base,
            piece_span,
            prefix_bytes_left,
            ..ListQuoteFootnoteWriter::default()
        }
    }

    /// Returns the index of the container's node, the parent of the blocks inside.
    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Returns whether all containers are closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.frames.is_empty()
    }

    /// Opens a list, whose items have the markers.
    pub(crate) fn open_list(&mut self) {
        self.open(ContainerKind::List, "", "");
    }

    /// Opens an item of the innermost list, with the marker that its author gave it.
    pub(crate) fn open_item(&mut self, marker: &str) {
        if self.frames.len() == 1 {
            self.n_items += 1;
        }
        let indent = " ".repeat(marker.len() + 1);
        self.open(ContainerKind::List, &format!("{marker} "), &indent);
        self.last = LastWrittenBlock::Nothing;
    }

    /// Opens a quote.
    pub(crate) fn open_quote(&mut self) {
        self.open(ContainerKind::Quote, "> ", "> ");
    }

    /// Opens a footnote's definition.
    pub(crate) fn open_footnote(&mut self, name: &str) {
        let marker = format!("[^{name}]: ");
        if self.frames.is_empty() {
            self.name = format!("[^{name}]");
        }
        self.open(ContainerKind::Footnote, &marker, "    ");
    }

    fn open(&mut self, kind: ContainerKind, first: &str, rest: &str) {
        if self.opening.is_none() {
            let is_blank =
                matches!((self.last, kind), (LastWrittenBlock::Quote, ContainerKind::Quote))
                    || (self.last == LastWrittenBlock::Paragraph
                        && kind == ContainerKind::Footnote);
            self.opening = Some((is_blank, self.prefix.clone()));
        }
        self.frames.push(NestingLevel {
            kind,
            outer_bytes: self.prefix.len(),
            lead_bytes: self.lead.len(),
            n_writes: self.n_writes,
        });
        if NESTING_MAX < self.frames.len() {
            self.is_flattened = true;
            if kind == ContainerKind::Quote {
                return;
            }
        } else {
            self.prefix.push_str(rest);
        }
        self.lead.push_str(first);
    }

    /// Closes the innermost container or item.
    pub(crate) fn close(&mut self) {
        let Some(frame) = self.frames.last() else { return };
        if frame.n_writes == self.n_writes && self.lead_names_something() {
            // The number of an empty item is still something to read.
            self.write("", "", self.piece_span.end..self.piece_span.end);
        }
        let Some(frame) = self.frames.pop() else { return };
        self.prefix.truncate(frame.outer_bytes);
        if frame.n_writes == self.n_writes {
            self.lead.truncate(frame.lead_bytes);
        } else {
            self.lead.clone_from(&self.prefix);
            self.last = match frame.kind {
                ContainerKind::List => LastWrittenBlock::List,
                ContainerKind::Quote => LastWrittenBlock::Quote,
                ContainerKind::Footnote => LastWrittenBlock::Paragraph,
            };
        }
    }

    /// Returns whether the innermost marker, not yet written, has a number or a name.
    fn lead_names_something(&self) -> bool {
        let from = self.frames.last().map_or(0, |frame| frame.lead_bytes);
        self.lead[from..].contains(char::is_alphanumeric)
    }

    /// Writes a paragraph; `plain` is its first line without marks.
    pub(crate) fn paragraph(&mut self, markdown: &str, plain: &str, span: Range<usize>) {
        self.write(markdown, plain, span);
        self.last = LastWrittenBlock::Paragraph;
    }

    /// Writes a line that the next paragraph follows directly: the kind of an alert.
    pub(crate) fn mark(&mut self, line: &str, span: Range<usize>) {
        self.write(line, "", span);
        self.last = LastWrittenBlock::Nothing;
    }

    fn write(&mut self, body: &str, plain: &str, span: Range<usize>) {
        self.separate();
        if self.piece.is_empty() {
            self.piece_span = span.clone();
        }
        self.piece_span.end = self.piece_span.end.max(span.end);
        if self.piece_plain.is_empty() && !plain.trim().is_empty() {
            self.piece_plain = text::fold_whitespace(plain);
        }
        self.piece.push_str(&self.lead);
        for (index, line) in body.split('\n').enumerate() {
            if 0 < index {
                self.piece.push('\n');
                self.push_prefix();
            }
            self.piece.push_str(line);
            if line.is_empty() {
                let len = self.piece.trim_end_matches(' ').len();
                self.piece.truncate(len);
            }
        }
        self.n_writes += 1;
        self.lead.clone_from(&self.prefix);
    }

    fn push_prefix(&mut self) {
        match self.prefix_bytes_left.checked_sub(self.prefix.len()) {
            Some(left) => {
                self.prefix_bytes_left = left;
                self.piece.push_str(&self.prefix);
            }
            None => self.is_flattened = true,
        }
    }

    /// Ends the line before the next block, with a blank line where the two would run together.
    fn separate(&mut self) {
        let opening = self.opening.take();
        if self.piece.is_empty() {
            return;
        }
        self.piece.push('\n');
        match opening {
            Some((false, _)) => (),
            Some((true, prefix)) => {
                self.piece.push_str(prefix.trim_end());
                self.piece.push('\n');
            }
            None if self.last == LastWrittenBlock::Nothing => (),
            None => {
                self.push_prefix();
                let len = self.piece.trim_end_matches(' ').len();
                self.piece.truncate(len);
                self.piece.push('\n');
            }
        }
    }

    /// Makes a node of the text so far, before a block that is a node of its own.
    pub(crate) fn interrupt(&mut self, at: usize, outline: &mut NodeTreeBuilder) {
        let unwritten = self.frames.iter().rev().take_while(|it| it.n_writes == self.n_writes);
        let from = unwritten.last().map_or(self.lead.len(), |frame| frame.lead_bytes);
        if self.lead[from..].contains(char::is_alphanumeric) {
            self.write("", "", at..at);
        }
        self.n_writes += 1;
        self.lead.clone_from(&self.prefix);
        self.opening = None;
        self.last = LastWrittenBlock::Nothing;
        self.flush(outline);
    }

    fn flush(&mut self, outline: &mut NodeTreeBuilder) {
        let content = std::mem::take(&mut self.piece);
        let plain = std::mem::take(&mut self.piece_plain);
        self.n_pieces += 1;
        if self.n_pieces == 1 {
            self.first_plain = plain;
            outline.fill(self.index, content, None);
        } else if !content.is_empty() {
            let label = label::of_rendered(&plain, &content);
            let node = Node {
                parent: Some(self.index),
                node_type: outline.tree.nodes[self.index].node_type,
                span: self.base + self.piece_span.start..self.base + self.piece_span.end,
                label,
                content,
                ..Node::default()
            };
            outline.add(node, None);
        }
    }

    /// Ends the container; an empty one leaves no node.
    pub(crate) fn finish(mut self, outline: &mut NodeTreeBuilder) {
        self.flush(outline);
        if self.index + 1 == outline.tree.nodes.len()
            && outline.tree.nodes[self.index].content.is_empty()
        {
            outline.tree.nodes.pop();
            return;
        }
        let node = &outline.tree.nodes[self.index];
        let first = match self.first_plain.is_empty() && !node.content.is_empty() {
            true => label::of_markdown(&node.content),
            false => self.first_plain,
        };
        outline.tree.nodes[self.index].label = match self.kind {
            ContainerKind::List => label::titled(&format!("{}-item list", self.n_items), &first),
            ContainerKind::Quote if first.is_empty() => "Quote".to_owned(),
            ContainerKind::Quote => text::truncate_chars(&first, text::LABEL_CHARS_MAX),
            ContainerKind::Footnote => label::titled(&self.name, &first),
        };
    }
}
