//! Front matter: the keys and values between two `---` (YAML) or `+++` (TOML) lines at the top.
//!
//! What reads as a map becomes a `preamble` node, its large values children. Anything else stays
//! text: a note may well begin with a rule.

mod toml;
mod value;
mod yaml;

use std::ops::Range;

use super::label;
use super::outline::Outline;
use crate::text;
use crate::tree::{Node, NodeType};
use value::{Large, Value};

/// Larger front matter is data that strayed into a note, and is kept as text.
const PREAMBLE_BYTES_MAX: usize = 256 * 1024;

/// Deeper values are kept as text.
const NESTING_MAX: usize = 32;

/// Values with so many entries are nodes of their own.
const LARGE_ENTRIES_MIN: usize = 5;

/// Why front matter was not understood, and where in it.
#[derive(Debug)]
struct Fault {
    offset: usize,
    what: String,
}

/// How front matter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    Yaml,
    Toml,
}

/// Reads the front matter of `text` into the outline; returns where the rest of the text starts.
///
/// `warn` takes the place of what is odd, and what it is.
pub(super) fn parse(
    text: &str,
    outline: &mut Outline,
    warn: &mut dyn FnMut(usize, String),
) -> usize {
    let first_len = line_len(text);
    let notation = match text[..first_len].trim_end() {
        "---" => Notation::Yaml,
        "+++" => Notation::Toml,
        _ => return 0,
    };
    let Some((inner, end)) = closing(text, first_len, notation) else {
        if has_a_key_first(&text[first_len..], notation) {
            let mark = text[..first_len].trim_end();
            let what =
                format!("front matter is not closed: no `{mark}` line ends it; read as text");
            warn(0, what);
        }
        return 0;
    };
    let words = &text[inner.clone()];
    let read = match (notation, PREAMBLE_BYTES_MAX < words.len()) {
        (_, true) => Err(Fault { offset: 0, what: format!("{} bytes are too many", words.len()) }),
        (Notation::Yaml, _) => yaml::read(words),
        (Notation::Toml, _) => toml::read(words),
    };
    match read {
        Ok(Some(entries)) => {
            add(&entries, 0..end, outline);
            end
        }
        Ok(None) => 0,
        Err(_) if !has_a_key_first(words, notation) => 0,
        Err(fault) => {
            let what = format!("front matter is not understood: {}; kept as text", fault.what);
            warn(inner.start + fault.offset, what);
            let content = words.trim_matches(['\n', '\r']).to_owned();
            let label = text::label(&content);
            let node = Node { span: inner, label, content, ..Node::default() };
            outline.add(node, None);
            end
        }
    }
}

/// Bytes of the first line of `text`, its break included.
fn line_len(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |at| at + 1)
}

/// What stands between the opening line and the closing one, and where the closing one ends.
fn closing(text: &str, from: usize, notation: Notation) -> Option<(Range<usize>, usize)> {
    let mut at = from;
    while at < text.len() {
        let len = line_len(&text[at..]);
        let is_end = match (notation, text[at..at + len].trim_end()) {
            (Notation::Yaml, "---" | "...") | (Notation::Toml, "+++") => true,
            _ => false,
        };
        if is_end {
            return Some((from..at, at + len));
        }
        at += len;
    }
    None
}

/// Whether the first line that says something is a key with a value, which a rule with prose after
/// it does not have.
fn has_a_key_first(text: &str, notation: Notation) -> bool {
    let mut lines = text.lines().take(100).map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(line) = first else { return false };
    let is_key = |key: &str| {
        let key = key.trim().trim_matches(['"', '\'']);
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    match notation {
        Notation::Yaml => match line.split_once(':') {
            Some((key, rest)) => is_key(key) && (rest.is_empty() || rest.starts_with(' ')),
            None => false,
        },
        Notation::Toml => {
            line.starts_with('[') || line.split_once('=').is_some_and(|(key, _)| is_key(key))
        }
    }
}

fn add(entries: &[(String, Value)], span: Range<usize>, outline: &mut Outline) {
    let mut large = Vec::new();
    let mut content = String::new();
    value::write_map(&mut content, entries, 0, "", &mut large);
    let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).take(40).collect();
    let node = Node {
        node_type: NodeType::Preamble,
        span: span.clone(),
        label: label::titled("Preamble", &text::fold(&keys.join(", "))),
        content,
        ..Node::default()
    };
    let index = outline.add(node, None);
    add_large(large, index, &span, outline);
}

/// Adds the large values as children; a large map may have large values itself.
fn add_large(large: Vec<Large<'_>>, parent: usize, span: &Range<usize>, outline: &mut Outline) {
    for Large { key, path, value } in large {
        let mut inner = Vec::new();
        let mut content = format!("{key}:");
        let (node_type, label) = match value {
            Value::Map { entries, properties } => {
                value::push_properties(&mut content, properties);
                content.push('\n');
                value::write_map(&mut content, entries, 2, &path, &mut inner);
                let keys: Vec<&str> =
                    entries.iter().map(|(key, _)| key.as_str()).take(40).collect();
                (NodeType::Kv, label::titled(key, &keys.join(", ")))
            }
            Value::List { items, properties } => {
                value::push_properties(&mut content, properties);
                content.push('\n');
                value::write_list(&mut content, items, 0);
                let size = format!("{key}[{}]", items.len());
                (NodeType::List, text::cut(&size, text::LABEL_CHARS_MAX))
            }
            Value::Scalar(_) | Value::Lines(_) => continue,
        };
        let node = Node {
            parent: Some(parent),
            node_type,
            key_path: Some(path),
            span: span.clone(),
            label: text::fold(&label),
            content: content.trim_end().to_owned(),
            ..Node::default()
        };
        let index = outline.add(node, None);
        add_large(inner, index, span, outline);
    }
}
