//! Prints values as lines of `key: value`, nested ones indented, items behind dashes.
//!
//! A string is printed character by character, without quotes where it cannot be taken for another
//! type. Otherwise it is the text between the first quote and the last one of its line, nothing
//! escaped. Large values, and strings of more than one line, are nodes of their own: `key: |` marks
//! a string that has moved out, a lone dash an item that has.

use std::ops::Range;

use super::path;
use super::{ValueArena, ValueKind, ValueNode, is_typed};
use crate::text;

/// Minimum entries of a map or list that is a node of its own.
const ENTRIES_MIN: usize = 5;

/// Maximum nesting within one node.
const INLINE_DEPTH_MAX: usize = 6;

/// Maximum bytes of a string within a node that has room.
const STRING_BYTES_MAX: usize = 1000;

/// Maximum bytes of a string within a node that is too large.
const STRING_BYTES_FEW: usize = 200;

/// Maximum spaces before a line.
const INDENT_MAX: usize = 40;

/// The values that move out into nodes of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MoveOutRule {
    /// Long strings, and strings of more than one line.
    Strings,
    /// These, and large maps and lists.
    Large,
    /// All maps and lists that are not empty, and all but short strings.
    Most,
}

/// A value as text, and the values that moved out of it.
#[derive(Debug, Default)]
pub(super) struct TextAndMovedValues {
    pub(super) content: String,
    pub(super) moved: Vec<ValueAsOwnNode>,
}

/// A value that has moved out of its container.
#[derive(Debug)]
pub(super) struct ValueAsOwnNode {
    pub(super) index: usize,
    pub(super) path: String,
    /// The comments before it, which move with it.
    pub(super) comments: Range<usize>,
}

/// A map or list whose entries are being printed.
struct OpenCollection {
    end: usize,
    kind: ValueKind,
    indent: usize,
    /// Number of entries so far.
    n: usize,
    /// Bytes of the path of its container.
    path_len: usize,
    /// Whether the dashes of moved items are left out, since all items moved out.
    is_bare: bool,
}

/// A request to print the value at `index`, whose path is `path`, after some comments.
#[derive(Clone, Copy, Debug)]
pub(super) struct PrintRequest<'a> {
    pub(super) index: usize,
    pub(super) path: &'a str,
    pub(super) comments: &'a Range<usize>,
    /// Maximum number of values that may move out.
    pub(super) room: usize,
}

/// Returns the lines of a value.
pub(super) fn lines(
    data: &ValueArena<'_>,
    subject: PrintRequest<'_>,
    moves: MoveOutRule,
) -> TextAndMovedValues {
    let PrintRequest { index, path, room, .. } = subject;
    let mut writer = ValuePrinter {
        data,
        moves,
        room,
        out: TextAndMovedValues::default(),
        open: Vec::new(),
        path: path.to_owned(),
        is_inline: true,
        comments: 0..0,
    };
    writer.start(index, subject.comments);
    let mut at = index + 1;
    let end = data.values[index].end;
    while at < end {
        writer.close_until(at);
        at = writer.entry(at);
    }
    writer.out
}

struct ValuePrinter<'a, 'd> {
    data: &'d ValueArena<'a>,
    moves: MoveOutRule,
    room: usize,
    out: TextAndMovedValues,
    open: Vec<OpenCollection>,
    path: String,
    /// Whether the next entry continues the present line: at the start, and behind a dash.
    is_inline: bool,
    /// The comments before the next entry, which moves out with them.
    comments: Range<usize>,
}

impl ValuePrinter<'_, '_> {
    /// Writes the text before the entries of the node's value, or all of it.
    fn start(&mut self, index: usize, comments: &Range<usize>) {
        let value = &self.data.values[index];
        let is_holder = matches!(value.kind, ValueKind::Map | ValueKind::List) && 0 < value.n;
        let out = &mut self.out.content;
        for comment in &self.data.values[comments.clone()] {
            push_comment(out, &comment.text);
            out.push('\n');
        }
        let start = out.len();
        if let Some(key) = &value.key {
            push_key(out, key);
            out.push(':');
        }
        if !is_holder {
            out.push_str(if start < out.len() { " " } else { "" });
            out.push_str(&scalar(value, ScalarPosition::Entry));
        } else if !value.marks.is_empty() {
            out.push_str(if start < out.len() { " " } else { "" });
            out.push_str(&value.marks);
        }
        self.is_inline = start == out.len();
        let indent = if value.key.is_some() && value.kind == ValueKind::Map { 2 } else { 0 };
        self.open(index, indent, self.path.len());
    }

    fn open(&mut self, index: usize, indent: usize, path_len: usize) {
        let value = &self.data.values[index];
        let is_bare = value.kind == ValueKind::List
            && self.data.children(index).all(|it| {
                let kind = self.data.values[it].kind;
                kind == ValueKind::Comment
                    || (kind != ValueKind::Text && self.moves_out(it, self.open.len() + 1))
            });
        let (end, kind) = (value.end, value.kind);
        self.open.push(OpenCollection { end, kind, indent, n: 0, path_len, is_bare });
    }

    fn close_until(&mut self, at: usize) {
        while self.open.last().is_some_and(|open| open.end <= at) && 1 < self.open.len() {
            if let Some(open) = self.open.pop() {
                self.path.truncate(open.path_len);
                self.is_inline = false;
            }
        }
    }

    /// Writes the entry at `at`; returns the index of the next one.
    fn entry(&mut self, at: usize) -> usize {
        let value = &self.data.values[at];
        let depth = self.open.len();
        let Some(open) = self.open.last_mut() else { return value.end };
        let (indent, is_list, is_bare) = (open.indent, open.kind == ValueKind::List, open.is_bare);
        if value.kind == ValueKind::Comment {
            let values = &self.data.values[at..open.end];
            let len = values
                .iter()
                .take_while(|it| it.kind == ValueKind::Comment && !it.is_aside)
                .count();
            let is_holder = values
                .get(len)
                .is_some_and(|it| matches!(it.kind, ValueKind::Map | ValueKind::List));
            if is_holder && self.moves_out(at + len, depth) {
                self.comments = at..at + len;
                return at + len;
            }
            // All of them at once: one by one, each would look through those after it.
            let n_written = len.max(1);
            for comment in &values[..n_written] {
                self.line(indent);
                push_comment(&mut self.out.content, &comment.text);
            }
            return at + n_written;
        }
        let place = open.n;
        open.n += 1;
        let path_len = self.path.len();
        match &value.key {
            Some(key) if !is_list => path::push_key(&mut self.path, key),
            _ => path::push_place(&mut self.path, place),
        }
        if self.moves_out(at, depth) {
            let comments = std::mem::take(&mut self.comments);
            self.out.moved.push(ValueAsOwnNode { index: at, path: self.path.clone(), comments });
            self.path.truncate(path_len);
            let is_string = matches!(value.kind, ValueKind::Text | ValueKind::Raw);
            if is_list && !is_bare || !is_list && is_string {
                self.head(indent, is_list, value);
                if is_string {
                    push_separated(&mut self.out.content, &value.marks);
                    self.out.content.push_str(" |");
                }
            }
            return value.end;
        }
        self.head(indent, is_list, value);
        if value.is_taken {
            push_separated(&mut self.out.content, &value.marks);
            self.out.content.push_str(" |");
        } else if matches!(value.kind, ValueKind::Map | ValueKind::List) && 0 < value.n {
            push_separated(&mut self.out.content, &value.marks);
            self.is_inline = is_list && value.marks.is_empty();
            let more = if !is_list && value.kind == ValueKind::List { 0 } else { 2 };
            self.open(at, indent + more, path_len);
            return at + 1;
        } else {
            let place = if is_list { ScalarPosition::Item } else { ScalarPosition::Entry };
            push_separated(&mut self.out.content, &scalar(value, place));
        }
        self.path.truncate(path_len);
        // An empty value may hold comments.
        at + 1
    }

    fn head(&mut self, indent: usize, is_list: bool, value: &ValueNode<'_>) {
        self.line(indent);
        let out = &mut self.out.content;
        match &value.key {
            Some(key) if !is_list => {
                push_key(out, key);
                out.push(':');
            }
            _ => out.push('-'),
        }
    }

    /// Goes to the start of the next line.
    fn line(&mut self, indent: usize) {
        let out = &mut self.out.content;
        if std::mem::take(&mut self.is_inline) {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push(' ');
            }
            return;
        }
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent.min(INDENT_MAX)));
    }

    fn moves_out(&self, at: usize, depth: usize) -> bool {
        let value = &self.data.values[at];
        let (entries_min, bytes_max) = match self.moves {
            MoveOutRule::Strings if depth <= INLINE_DEPTH_MAX => (usize::MAX, STRING_BYTES_MAX),
            MoveOutRule::Large if depth <= INLINE_DEPTH_MAX => (ENTRIES_MIN, STRING_BYTES_MAX),
            MoveOutRule::Strings | MoveOutRule::Large => (1, STRING_BYTES_MAX),
            MoveOutRule::Most => (1, STRING_BYTES_FEW),
        };
        if self.room <= self.out.moved.len() {
            return false;
        }
        match value.kind {
            ValueKind::Map | ValueKind::List => entries_min <= value.n,
            ValueKind::Text => {
                !value.is_taken && (bytes_max < value.text.len() || has_break(&value.text))
            }
            ValueKind::Raw => true,
            ValueKind::Bare | ValueKind::Comment => false,
        }
    }
}

/// The position of a scalar, which decides what it could be taken for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScalarPosition {
    Entry,
    Item,
}

fn has_break(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

fn push_separated(out: &mut String, words: &str) {
    if !words.is_empty() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(words);
    }
}

/// Writes a comment on a line of its own, with a mark if its author's notation needs none here.
fn push_comment(out: &mut String, words: &str) {
    if !words.starts_with(['#', '/']) {
        out.push_str("# ");
    }
    out.push_str(words);
}

fn push_key(out: &mut String, key: &str) {
    let is_plain = !key.is_empty()
        && key.trim() == key
        && !key.starts_with(['"', '\'', '#', '/', '?'])
        && key != "-"
        && !key.starts_with("- ")
        && !key.contains(": ")
        && !key.ends_with(':')
        && !key.contains(char::is_control);
    match is_plain {
        true => out.push_str(key),
        // A line break would end the line of the key.
        false if has_break(key) => out.push_str(&format!("{key:?}")),
        false => out.push_str(&format!("\"{key}\"")),
    }
}

fn scalar(value: &ValueNode<'_>, place: ScalarPosition) -> String {
    let words = match value.kind {
        ValueKind::Map => "{}".to_owned(),
        ValueKind::List => "[]".to_owned(),
        ValueKind::Bare if value.text.is_empty() => String::new(),
        ValueKind::Text if needs_quotes(&value.text, place) => format!("\"{}\"", value.text),
        ValueKind::Bare | ValueKind::Text | ValueKind::Comment | ValueKind::Raw => {
            value.text.to_string()
        }
    };
    match value.marks.is_empty() {
        true => words,
        false => format!("{} {words}", value.marks),
    }
}

fn needs_quotes(text: &str, place: ScalarPosition) -> bool {
    text.is_empty()
        || text.starts_with(['"', '\'', '&', '*', '!', '#'])
        || text.trim() != text
        || matches!(text, "|" | "{}" | "[]" | "-")
        || text.starts_with("- ")
        || has_break(text)
        || place == ScalarPosition::Item && (text.contains(": ") || text.ends_with(':'))
        || is_typed(text)
}

/// Returns the first `n` items of a list of scalars or flat maps, printed in full. It is the
/// alternative to a table.
pub(in crate::ingest::parse) fn plain_items(
    data: &ValueArena<'_>,
    index: usize,
    n: usize,
) -> String {
    let mut out = String::new();
    if let Some(key) = &data.values[index].key {
        push_key(&mut out, key);
        out.push_str(":\n");
    }
    for item in data.children(index).take(n) {
        let value = &data.values[item];
        out.push_str(if value.kind == ValueKind::Map { "- " } else { "-" });
        if value.kind != ValueKind::Map {
            push_separated(&mut out, &scalar(value, ScalarPosition::Item));
        }
        for (place, cell) in data.children(item).enumerate() {
            out.push_str(if place == 0 { "" } else { "\n  " });
            push_key(&mut out, data.values[cell].key.as_deref().unwrap_or(""));
            out.push(':');
            push_separated(&mut out, &scalar(&data.values[cell], ScalarPosition::Entry));
        }
        out.push('\n');
    }
    out
}

/// Maximum characters that a preview needs.
const PREVIEW_CHARS_MAX: usize = text::LABEL_CHARS_MAX * 2;

/// Returns the start of the value at `index`, on one line: `id: 1, name: al`.
pub(in crate::ingest::parse) fn preview(data: &ValueArena<'_>, index: usize) -> String {
    let mut out = String::new();
    let mut pending = String::new();
    for value in &data.values[index..data.values[index].end] {
        if value.kind == ValueKind::Comment {
            continue;
        }
        let is_first = out.is_empty() && pending.is_empty();
        if let Some(key) = &value.key
            && !(is_first && std::ptr::eq(value, &data.values[index]))
        {
            pending.push_str(&text::truncate_chars(key, text::LABEL_CHARS_MAX));
            pending.push_str(": ");
        }
        if matches!(value.kind, ValueKind::Map | ValueKind::List) {
            continue;
        }
        let head = &value.text[..value.text.floor_char_boundary(1000)];
        let words = text::label_of_text(head);
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(&std::mem::take(&mut pending));
        out.push_str(&words);
        if PREVIEW_CHARS_MAX < out.len() {
            break;
        }
    }
    if out.is_empty() {
        out.push_str(pending.trim_end_matches([':', ' ']));
    }
    text::truncate_chars(&text::fold_whitespace(&out), text::LABEL_CHARS_MAX)
}
