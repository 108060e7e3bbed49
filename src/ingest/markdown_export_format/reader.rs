//! Reads an exported file: markers and blocks become nodes, whatever a person did to them.

use std::ops::Range;

use super::marker::{self, FILE_HEADER, Marker, NodeTextForm};
use super::{ExportedNodeAttributes, ParsedExport};
use crate::ingest::parse::{self, Parsed, Syntax, Warning};
use crate::model::identity::ContentHash;
use crate::model::tree::{DocumentTree, Node, NodeType};
use crate::model::typed_node_field_schemas::TypedNodeSchema;
use crate::text::{self, label_of_text, tokens};

/// Returns whether a text is that of an exported file.
pub(crate) fn is_exported(text: &str) -> bool {
    text.lines().next().is_some_and(|it| it.trim_end() == FILE_HEADER)
}

/// Parses an exported file. A marker that is no longer one is a warning, and its block belongs to
/// the one before.
pub(crate) fn parse_export(text: &str) -> ParsedExport {
    let mut reader = ExportReader { text, out: ParsedExport::default(), open: Vec::new() };
    let mut lines = LineCursor { text, at: 0 };
    lines.next();
    reader.add_fragment(lines.text_until_marker(), 0);
    while let Some(line) = lines.next() {
        match marker::parse(&text[line.clone()]) {
            Ok(marker) => reader.read_block(marker, line, &mut lines),
            Err(why) => reader.read_lost(&why, line, &mut lines),
        }
    }
    reader.out
}

struct ExportReader<'a> {
    text: &'a str,
    out: ParsedExport,
    /// The nodes above the next one, each with its depth.
    open: Vec<(usize, usize)>,
}

/// The lines of a text, and a place among them.
struct LineCursor<'a> {
    text: &'a str,
    at: usize,
}

impl LineCursor<'_> {
    /// Returns the next line without its end.
    fn next(&mut self) -> Option<Range<usize>> {
        let rest = self.text.get(self.at..).filter(|it| !it.is_empty())?;
        let length = rest.find('\n').unwrap_or(rest.len());
        let start = self.at;
        self.at += (length + 1).min(rest.len());
        let line = &self.text[start..start + length];
        Some(start..start + line.strip_suffix('\r').unwrap_or(line).len())
    }

    /// Takes all lines before the next marker, without blank ones at both ends.
    fn text_until_marker(&mut self) -> Range<usize> {
        let (mut start, mut end) = (None, self.at);
        loop {
            let before = self.at;
            let Some(line) = self.next() else { break };
            let text = &self.text[line.clone()];
            if marker::is_marker(text) {
                self.at = before;
                break;
            }
            if !text.trim().is_empty() {
                start.get_or_insert(line.start);
                end = line.end;
            }
        }
        start.unwrap_or(end)..end
    }

    /// Takes a fenced block, if one is next: the whole of it, and the lines inside.
    fn fenced(&mut self) -> Option<(Range<usize>, Range<usize>)> {
        let begun = self.at;
        let opening = loop {
            match self.next() {
                Some(line) if self.text[line.clone()].trim().is_empty() => (),
                line => break line,
            }
        };
        let found = opening.and_then(|line| self.inside(line));
        if found.is_none() {
            self.at = begun;
        }
        found
    }

    fn inside(&mut self, opening: Range<usize>) -> Option<(Range<usize>, Range<usize>)> {
        let n_ticks = |line: &str| line.bytes().take_while(|it| *it == b'`').count();
        let n_opening = n_ticks(&self.text[opening.clone()]);
        if n_opening < 3 {
            return None;
        }
        let start = self.at;
        let mut end = start;
        while let Some(line) = self.next() {
            let text = self.text[line.clone()].trim_end();
            if text.len() == n_ticks(text) && n_opening <= text.len() {
                return Some((opening.start..line.end, start..end));
            }
            // A carriage return at the end is the text's own.
            end = self.at - usize::from(self.text[..self.at].ends_with('\n'));
        }
        None
    }
}

impl ExportReader<'_> {
    /// Reads the block of a marker.
    fn read_block(&mut self, marker: Marker, line: Range<usize>, lines: &mut LineCursor<'_>) {
        if marker.form == NodeTextForm::Fenced
            && let Some((whole, inside)) = lines.fenced()
        {
            let depth = marker.depth;
            self.add_fenced(marker, line.start..whole.end, (whole, inside));
            let rest = lines.text_until_marker();
            return self.add_fragment(rest, depth);
        }
        let block = lines.text_until_marker();
        let shown = &self.text[block.clone()];
        let span = line.start..block.end.max(line.end);
        if shown.is_empty() {
            // A block without its text was taken out; some have never had one.
            if marker.hash == ContentHash::of("") {
                self.push_marked(marker, String::new(), span);
            }
            return;
        }
        let shown = shown.replace("\r\n", "\n");
        let content = match marker.form {
            NodeTextForm::Heading => shown.trim_start_matches('#').strip_prefix(' '),
            _ => Some(shown.as_str()),
        };
        match content.filter(|it| ContentHash::of(it) == marker.hash) {
            Some(content) => {
                let n_signs = shown.len() - shown.trim_start_matches('#').len();
                let level = match (marker.form, marker.has_level) {
                    (NodeTextForm::Heading, false) => u8::try_from(n_signs).ok(),
                    _ => marker.node.level,
                };
                let node = Node { level, ..marker.node };
                self.push_marked(Marker { node, ..marker }, content.to_owned(), span);
            }
            None => self.add_edited(marker, block),
        }
    }

    /// Reads what follows a line that was a marker.
    fn read_lost(&mut self, why: &str, line: Range<usize>, lines: &mut LineCursor<'_>) {
        let number = text::line_number_at(self.text, line.start);
        let what = format!("a marker that was changed: {why}; its block is read as a new one");
        self.out.parsed.warnings.push(Warning { line: number, what });
        let depth = self.depth_after_last();
        let block = lines.text_until_marker();
        self.add_fragment(block, depth);
    }

    /// Returns the depth of a block that comes next and does not tell its own.
    fn depth_after_last(&self) -> usize {
        let Some((depth, idx)) = self.open.last() else { return 0 };
        let last = &self.out.parsed.tree.nodes[*idx];
        let has_parts = last.node_type == NodeType::Heading || last.content.is_empty();
        depth + usize::from(has_parts)
    }

    fn add_fenced(
        &mut self,
        marker: Marker,
        span: Range<usize>,
        (whole, inside): (Range<usize>, Range<usize>),
    ) {
        let mut content = self.text[inside].to_owned();
        // Line ends inside are the text's own, unless an editor changed them all.
        if ContentHash::of(&content) != marker.hash {
            content = content.replace("\r\n", "\n");
            content.truncate(content.trim_end_matches('\r').len());
        }
        let is_same = ContentHash::of(&content) == marker.hash;
        if !is_same && marker.node.node_type == NodeType::Code {
            return self.add_edited(marker, whole);
        }
        let mut marker = marker;
        if marker.node.node_type == NodeType::Code && !marker.has_lang {
            let opening = self.text[whole].lines().next().unwrap_or("");
            let info = opening.trim_start_matches('`').trim();
            marker.node.lang = (!info.is_empty()).then(|| info.to_owned());
        }
        marker.has_label &= is_same;
        self.push_marked(marker, content, span);
    }

    /// Adds a block whose text a person changed, as the Markdown that it is now.
    fn add_edited(&mut self, marker: Marker, block: Range<usize>) {
        let (node_type, depth) = (marker.node.node_type, marker.depth);
        if TypedNodeSchema::of(node_type).is_some() {
            let content = self.text[block.clone()].replace("\r\n", "\n");
            return self.push_marked(Marker { has_label: false, ..marker }, content, block);
        }
        let tree = self.parse_fragment(&block);
        let is_top = |it: &Node| it.parent.is_none();
        let heir = tree.nodes.iter().position(|it| is_top(it) && it.node_type == node_type);
        self.add_tree(tree, block.start, depth, heir.map(|idx| (idx, marker)));
    }

    /// Adds Markdown that no marker names.
    fn add_fragment(&mut self, block: Range<usize>, depth: usize) {
        let tree = self.parse_fragment(&block);
        self.add_tree(tree, block.start, depth, None);
    }

    fn parse_fragment(&mut self, block: &Range<usize>) -> DocumentTree {
        let first = text::line_number_at(self.text, block.start);
        let Parsed { tree, warnings } = parse::parse(Syntax::Markdown, &self.text[block.clone()]);
        let moved = warnings.into_iter().map(|it| Warning { line: first + it.line - 1, ..it });
        self.out.parsed.warnings.extend(moved);
        tree
    }

    /// Adds the nodes of a fragment at a depth; one of them may have a marker.
    fn add_tree(
        &mut self,
        tree: DocumentTree,
        start: usize,
        depth: usize,
        heir: Option<(usize, Marker)>,
    ) {
        let depths = tree.depths();
        let mut heir = heir;
        for (idx, (node, below)) in tree.nodes.into_iter().zip(depths).enumerate() {
            let span = start + node.span.start..start + node.span.end;
            let (node, marks) = match heir.take_if(|(at, _)| *at == idx) {
                Some((_, Marker { marks, node: marked, .. })) => {
                    (Node { key_path: marked.key_path, ..node }, marks)
                }
                None => (node, ExportedNodeAttributes::default()),
            };
            self.push(node, span, depth + below, marks);
        }
    }

    /// Adds the node of a marker.
    fn push_marked(&mut self, marker: Marker, content: String, span: Range<usize>) {
        let label = match marker.has_label {
            true => text::truncate_chars(&marker.node.label, text::LABEL_CHARS_MAX),
            false => label_of_text(&content),
        };
        let node = Node { label, content, ..marker.node };
        self.push(node, span, marker.depth, marker.marks);
    }

    /// Adds a node below the last one that is higher.
    fn push(
        &mut self,
        node: Node,
        span: Range<usize>,
        depth: usize,
        marks: ExportedNodeAttributes,
    ) {
        while self.open.last().is_some_and(|(at, _)| depth <= *at) {
            self.open.pop();
        }
        let parent = self.open.last().map(|(_, idx)| *idx);
        let token_count = tokens::count(&node.content);
        let node = Node { parent, span, token_count, ..node };
        let idx = self.out.parsed.tree.push(node);
        self.open.push((depth, idx));
        self.out.marks.push(marks);
    }
}
