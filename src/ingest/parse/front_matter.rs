//! Parses front matter: keys and values between two `---` (YAML) or `+++` (TOML) lines at the top.
//!
//! A map becomes a `preamble` node, its large values children. Anything else stays text: a note may
//! well begin with a rule.

use std::ops::Range;

use super::node_tree_builder::NodeTreeBuilder;
use super::value_tree::{self, ValueArenaBuilder, ValueKind, ValueNodes};
use super::{label, toml, yaml};
use crate::model::tree::{Node, NodeType};
use crate::text;

/// Maximum bytes of front matter; larger data is kept as text.
const PREAMBLE_BYTES_MAX: usize = 256 * 1024;

/// The notation of front matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrontMatterFormat {
    Yaml,
    Toml,
}

/// Reads the front matter of `text` into the tree; returns the start of the rest of the text.
///
/// `warn` takes the offset and the text of a warning.
pub(super) fn parse(
    text: &str,
    outline: &mut NodeTreeBuilder,
    warn: &mut dyn FnMut(usize, String),
) -> usize {
    let first_len = line_len(text);
    let notation = match text[..first_len].trim_end() {
        "---" => FrontMatterFormat::Yaml,
        "+++" => FrontMatterFormat::Toml,
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
        (_, true) => Err((0, format!("{} bytes are too many", words.len()))),
        (FrontMatterFormat::Yaml, _) => yaml::values(words),
        (FrontMatterFormat::Toml, _) => toml::values(words),
    };
    match read {
        Ok(values) if is_map(&values) => {
            for (at, what) in values.repetitions() {
                warn(inner.start + at, what);
            }
            add(words, &values, inner.start, outline);
            end
        }
        Ok(values) if values.data.values.len() <= 1 || !has_a_key_first(words, notation) => 0,
        Err(_) if !has_a_key_first(words, notation) => 0,
        fault => {
            let (at, why) = fault.err().unwrap_or((0, "it is more than one map".to_owned()));
            let what = format!("front matter is not understood: {why}; kept as text");
            warn(inner.start + at, what);
            let content = words.trim_matches(['\n', '\r']).to_owned();
            let label = text::label_of_text(&content);
            let node = Node { span: inner, label, content, ..Node::default() };
            outline.add(node, None);
            end
        }
    }
}

/// Returns whether the values are one map that is not empty, with or without comments around it.
fn is_map(values: &ValueArenaBuilder<'_>) -> bool {
    let data = &values.data;
    let mut roots =
        data.roots().map(|it| &data.values[it]).filter(|it| it.kind != ValueKind::Comment);
    let first = roots.next();
    first.is_some_and(|it| it.kind == ValueKind::Map && 0 < it.n) && roots.next().is_none()
}

/// Adds the nodes of a map that starts at `start` of the file.
fn add(words: &str, values: &ValueArenaBuilder<'_>, start: usize, outline: &mut NodeTreeBuilder) {
    let mut nodes = ValueNodes::default();
    value_tree::add(words, &values.data, &mut nodes);
    let first = outline.tree.nodes.len();
    for mut node in nodes.tree.nodes {
        if node.parent.is_none() && node.node_type == NodeType::Kv {
            node.node_type = NodeType::Preamble;
            node.label = label::titled("Preamble", &node.label);
        }
        node.parent = node.parent.map(|it| first + it);
        node.span = start + node.span.start..start + node.span.end;
        outline.tree.push(node);
    }
}

/// Returns the bytes of the first line of `text`, its break included.
fn line_len(text: &str) -> usize {
    text.find('\n').map_or(text.len(), |at| at + 1)
}

/// Returns the text between the opening line and the closing one, and the end of the latter.
fn closing(text: &str, from: usize, notation: FrontMatterFormat) -> Option<(Range<usize>, usize)> {
    let mut at = from;
    while at < text.len() {
        let len = line_len(&text[at..]);
        let is_end = matches!(
            (notation, text[at..at + len].trim_end()),
            (FrontMatterFormat::Yaml, "---" | "...") | (FrontMatterFormat::Toml, "+++")
        );
        if is_end {
            return Some((from..at, at + len));
        }
        at += len;
    }
    None
}

/// Returns whether the first line that is not blank or a comment is a key with a value. A rule with
/// prose after it has none.
fn has_a_key_first(text: &str, notation: FrontMatterFormat) -> bool {
    let mut lines = text.lines().take(100).map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(line) = first else { return false };
    let is_key = |key: &str| {
        let key = key.trim().trim_matches(['"', '\'']);
        !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
    };
    match notation {
        FrontMatterFormat::Yaml => match line.split_once(':') {
            Some((key, rest)) => is_key(key) && (rest.is_empty() || rest.starts_with(' ')),
            None => false,
        },
        FrontMatterFormat::Toml => {
            line.starts_with('[') || line.split_once('=').is_some_and(|(key, _)| is_key(key))
        }
    }
}
