//! Turns values into nodes of bounded size. Large values and the records of long lists are nodes of
//! their own, and uniform tables are TOON.

use std::ops::Range;

use super::printer::{self, MoveOutRule, PrintRequest, ValueAsOwnNode};
use super::{ValueArena, ValueKind, path};
use crate::ingest::parse::content_splitting::{self, PART_TOKENS_MAX, SplitTextKind};
use crate::ingest::parse::label;
use crate::ingest::parse::toon;
use crate::model::tree::{ContentFormat, DocumentTree, Node, NodeType};
use crate::text;
use crate::text::tokens;

/// Maximum nodes of a file; later values are not split any more.
const NODES_MAX: usize = 200_000;

/// Maximum tokens of a list of maps or lists that is one node.
const LIST_TOKENS_MAX: u32 = 400;

/// Minimum values of a list that is split without printing it first.
const LIST_VALUES_MAX: usize = 4000;

/// Minimum bytes of a content that is split without counting its tokens.
const WHOLE_BYTES_MAX: usize = 16 * 1024;

/// A node to be made.
struct QueuedNode {
    index: usize,
    parent: Option<usize>,
    path: Option<String>,
    moves: MoveOutRule,
    /// The comments before it.
    comments: Range<usize>,
}

impl QueuedNode {
    fn subject(&self, room: usize) -> PrintRequest<'_> {
        let path = self.path.as_deref().unwrap_or("");
        PrintRequest { index: self.index, path, comments: &self.comments, room }
    }
}

/// The nodes so far.
#[derive(Debug, Default)]
pub(in crate::ingest::parse) struct ValueNodes {
    pub(in crate::ingest::parse) tree: DocumentTree,
}

/// Adds the nodes of every value at the top of `source`'s data, roots without a path.
pub(in crate::ingest::parse) fn add(source: &str, data: &ValueArena<'_>, nodes: &mut ValueNodes) {
    let mut comments = 0..0;
    for root in data.roots() {
        let value = &data.values[root];
        if nodes.is_full() {
            return nodes.add_rest(source, value.span.start);
        }
        if value.kind == ValueKind::Comment {
            comments = if comments.end == root { comments.start..root + 1 } else { root..root + 1 };
            continue;
        }
        let mut before = std::mem::take(&mut comments);
        if matches!(value.kind, ValueKind::Raw | ValueKind::Text) {
            nodes.add_comments(data, std::mem::take(&mut before));
        }
        let (parent, path, moves) = (None, None, MoveOutRule::Large);
        nodes.add_all(data, QueuedNode { index: root, parent, path, moves, comments: before });
    }
    nodes.add_comments(data, comments);
}

impl ValueNodes {
    /// Adds the nodes of the value at `index`.
    pub(in crate::ingest::parse) fn add(
        &mut self,
        data: &ValueArena<'_>,
        index: usize,
        parent: Option<usize>,
        path: Option<String>,
    ) {
        self.add_all(
            data,
            QueuedNode { index, parent, path, moves: MoveOutRule::Large, comments: 0..0 },
        );
    }

    /// Adds the map at `index` with all its contents as one node, if it is small enough.
    pub(in crate::ingest::parse) fn add_compact(
        &mut self,
        data: &ValueArena<'_>,
        index: usize,
        parent: Option<usize>,
        path: Option<String>,
    ) {
        self.add_all(
            data,
            QueuedNode { index, parent, path, moves: MoveOutRule::Strings, comments: 0..0 },
        );
    }

    fn add_all(&mut self, data: &ValueArena<'_>, first: QueuedNode) {
        let mut due = vec![first];
        while let Some(next) = due.pop() {
            let room = NODES_MAX.saturating_sub(self.tree.nodes.len() + due.len());
            let (node, moved) = self.one(data, &next, room);
            due.extend(moved.into_iter().rev().map(|ValueAsOwnNode { index, path, comments }| {
                QueuedNode {
                    index,
                    parent: Some(node),
                    path: Some(path),
                    moves: MoveOutRule::Large,
                    comments,
                }
            }));
        }
    }

    /// Returns whether the maximum of nodes is reached, after which values are not split any more.
    pub(in crate::ingest::parse) fn is_full(&self) -> bool {
        NODES_MAX <= self.tree.nodes.len()
    }

    /// Adds the source from `start` on unchanged.
    pub(in crate::ingest::parse) fn add_rest(&mut self, source: &str, start: usize) {
        let words = &source[start..];
        let label = or_kind(text::label_of_text(words), "text");
        self.add_text(Node { span: start..source.len(), label, ..Node::default() }, words);
    }

    /// Adds comments that are beside no value.
    fn add_comments(&mut self, data: &ValueArena<'_>, range: Range<usize>) {
        let comments = &data.values[range];
        let (Some(first), Some(last)) = (comments.first(), comments.last()) else { return };
        let lines: Vec<&str> = comments.iter().map(|it| &*it.text).collect();
        let content = lines.join("\n");
        let span = first.span.start..last.span.end;
        let label = or_kind(text::label_of_text(&content), "text");
        self.add_text(Node { span, label, ..Node::default() }, &content);
    }

    /// Adds a node with exact text, in parts if it is large.
    pub(in crate::ingest::parse) fn add_text(&mut self, node: Node, content: &str) -> usize {
        let index = self.tree.push(node);
        self.fill(index, content);
        index
    }

    /// Adds the node of one value; returns it and the values that have to become its children.
    fn one(
        &mut self,
        data: &ValueArena<'_>,
        due: &QueuedNode,
        room: usize,
    ) -> (usize, Vec<ValueAsOwnNode>) {
        let value = &data.values[due.index];
        let node = Node {
            parent: due.parent,
            key_path: due.path.clone(),
            span: value.span.clone(),
            ..Node::default()
        };
        let key = value.key.as_deref().unwrap_or("");
        match value.kind {
            ValueKind::Raw | ValueKind::Comment => {
                let label = text::label_of_text(&value.text);
                let node = Node { label: or_kind(label, "text"), ..node };
                (self.add_text(node, &value.text), Vec::new())
            }
            ValueKind::Text if due.parent.is_some() || value.text.contains(['\n', '\r']) => {
                if due.parent.is_none() && !value.marks.is_empty() {
                    let (label, span) = (text::label_of_text(&value.marks), value.span.clone());
                    self.add_text(Node { label, span, ..Node::default() }, &value.marks);
                }
                let label =
                    label::titled(&text::fold_whitespace(key), &label::first_line(&value.text));
                let node = Node { label: or_kind(label, "text"), ..node };
                (self.add_text(node, &value.text), Vec::new())
            }
            ValueKind::Text | ValueKind::Bare => {
                let content = printer::lines(data, due.subject(0), MoveOutRule::Large).content;
                let label = or_kind(text::label_of_text(&content), "value");
                let node = Node { node_type: NodeType::Kv, label, ..node };
                (self.add_text(node, &content), Vec::new())
            }
            ValueKind::Map => self.map(data, due.subject(room), node, due.moves),
            ValueKind::List => self.list(data, due.subject(room), node),
        }
    }

    fn map(
        &mut self,
        data: &ValueArena<'_>,
        subject: PrintRequest<'_>,
        node: Node,
        moves: MoveOutRule,
    ) -> (usize, Vec<ValueAsOwnNode>) {
        let mut lines = printer::lines(data, subject, moves);
        for next in [MoveOutRule::Large, MoveOutRule::Most] {
            if moves < next && PART_TOKENS_MAX < size(&lines.content) {
                lines = printer::lines(data, subject, next);
            }
        }
        let label = map_label(data, subject.index, &lines, node.key_path.is_some());
        let node = Node { node_type: NodeType::Kv, label, ..node };
        (self.add_text(node, &lines.content), lines.moved)
    }

    fn list(
        &mut self,
        data: &ValueArena<'_>,
        subject: PrintRequest<'_>,
        node: Node,
    ) -> (usize, Vec<ValueAsOwnNode>) {
        let node = Node { node_type: NodeType::List, ..node };
        let index = subject.index;
        if subject.comments.is_empty()
            && let Some(table) = toon::ToonTable::of(data, index)
        {
            return (self.table(&table, node), Vec::new());
        }
        let value = &data.values[index];
        let is_nested = data
            .children(index)
            .any(|it| matches!(data.values[it].kind, ValueKind::Map | ValueKind::List));
        let moves = match is_nested && LIST_VALUES_MAX < value.end - index {
            true => MoveOutRule::Most,
            false => MoveOutRule::Large,
        };
        let mut lines = printer::lines(data, subject, moves);
        let max = if is_nested { LIST_TOKENS_MAX } else { PART_TOKENS_MAX };
        if moves == MoveOutRule::Large && max < size(&lines.content) {
            lines = printer::lines(data, subject, MoveOutRule::Most);
        }
        let first = data.children(index).find(|&it| data.values[it].kind != ValueKind::Comment);
        let first = first.map(|it| printer::preview(data, it)).unwrap_or_default();
        let label = label::titled(&format!("{}-item list", value.n), &first);
        let node = Node { label, ..node };
        (self.add_text(node, &lines.content), lines.moved)
    }

    /// Adds a table in TOON, in groups of rows if it is large; each group can be read alone.
    fn table(&mut self, table: &toon::ToonTable<'_>, node: Node) -> usize {
        let span = node.span.clone();
        let path = node.key_path.clone().unwrap_or_default();
        let label = or_kind(
            text::truncate_chars(&text::fold_whitespace(&table.header()), text::LABEL_CHARS_MAX),
            "list",
        );
        let node = Node { label, format: ContentFormat::Toon, ..node };
        if let [only] = &table.groups[..] {
            let (content, token_count) = (only.content.clone(), only.tokens);
            return self.tree.push(Node { content, token_count, ..node });
        }
        let index = self.tree.push(Node { format: ContentFormat::Plain, ..node });
        for group in &table.groups {
            let mut key_path = path.clone();
            path::push_range(&mut key_path, &group.rows);
            let first =
                group.content.lines().nth(1).or(group.content.split_once(": ").map(|it| it.1));
            let title = format!("[{}..{}]", group.rows.start, group.rows.end);
            self.tree.push(Node {
                parent: Some(index),
                node_type: NodeType::List,
                label: label::titled(&title, &text::fold_whitespace(first.unwrap_or(""))),
                key_path: Some(key_path),
                span: span.clone(),
                content: group.content.clone(),
                format: ContentFormat::Toon,
                token_count: group.tokens,
                ..Node::default()
            });
        }
        index
    }

    /// Sets a node's content, or adds children that have it in parts.
    fn fill(&mut self, index: usize, content: &str) {
        let parts = content_splitting::split_parts(content, SplitTextKind::Lines);
        if let [only] = &parts[..] {
            let node = &mut self.tree.nodes[index];
            node.content = content.to_owned();
            node.token_count = only.tokens;
            return;
        }
        let whole = self.tree.nodes[index].clone();
        for part in parts {
            let words = &content[part.range];
            let mark = if part.is_inside_line { "…" } else { "" };
            let label = text::label_of_text(&format!("{mark}{}", label::first_line(words)));
            self.tree.push(Node {
                parent: Some(index),
                label: or_kind(label, "…"),
                content: words.to_owned(),
                token_count: part.tokens,
                ..whole.clone()
            });
        }
    }
}

/// Returns the path of an item of the list at the top.
pub(in crate::ingest::parse) fn place_path(place: usize) -> String {
    let mut path = String::new();
    path::push_place(&mut path, place);
    path
}

/// Returns the tokens of a content, or more than any may have.
fn size(content: &str) -> u32 {
    match WHOLE_BYTES_MAX < content.len() {
        true => u32::MAX,
        false => tokens::count(content),
    }
}

fn or_kind(label: String, kind: &str) -> String {
    if label.trim().is_empty() { kind.to_owned() } else { label }
}

/// Returns the label of a map: its keys if it has a key or is a file, else its start.
fn map_label(
    data: &ValueArena<'_>,
    index: usize,
    lines: &printer::TextAndMovedValues,
    has_path: bool,
) -> String {
    let value = &data.values[index];
    if value.n == 0 {
        return or_kind(text::label_of_text(&lines.content), "{}");
    }
    if has_path && value.key.is_none() {
        return or_kind(printer::preview(data, index), "map");
    }
    let keys_of = |is_shown: &dyn Fn(usize) -> bool| {
        let mut keys = String::new();
        for child in data.children(index).filter(|&it| is_shown(it)) {
            let Some(key) = &data.values[child].key else { continue };
            keys.push_str(if keys.is_empty() { "" } else { ", " });
            keys.push_str(&text::truncate_chars(key, text::LABEL_CHARS_MAX));
            if text::LABEL_CHARS_MAX * 4 < keys.len() {
                break;
            }
        }
        text::fold_whitespace(&keys)
    };
    let has_moved = |it: usize| {
        let is_holder = matches!(data.values[it].kind, ValueKind::Map | ValueKind::List);
        is_holder && lines.moved.binary_search_by_key(&it, |moved| moved.index).is_ok()
    };
    let shown = keys_of(&|it| !has_moved(it));
    let keys = if shown.is_empty() { keys_of(&|_| true) } else { shown };
    match &value.key {
        Some(key) => or_kind(
            label::titled(&text::fold_whitespace(&text::truncate_chars(key, 80)), &keys),
            "map",
        ),
        None => or_kind(text::truncate_chars(&keys, text::LABEL_CHARS_MAX), "map"),
    }
}
