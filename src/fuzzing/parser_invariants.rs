//! Invariants of every parser: sound and deterministic trees with every word of the source.

use std::collections::BTreeMap;

use crate::ingest::parse::{PART_TOKENS_MAX, Parsed, Syntax, parse};
use crate::model::tree::{ContentFormat, DocumentTree, Node, NodeType};
use crate::text::tokens;

/// Parses a text twice and returns the result. It panics unless that is a sound tree, and the same
/// both times.
pub(super) fn parse_twice(syntax: Syntax, text: &str) -> Parsed {
    let parsed = parse(syntax, text);
    assert_eq!(parsed, parse(syntax, text), "parsing twice gives two trees");
    check_tree(&parsed.tree, text);
    // A page of HTML has a title, which is a heading without a level.
    let has_level = |node: &Node| node.level.is_some() || node.node_type != NodeType::Heading;
    assert!(syntax == Syntax::Html || parsed.tree.nodes.iter().all(has_level));
    parsed
}

/// Panics when a tree violates an invariant of all trees.
pub(crate) fn check_tree(tree: &DocumentTree, text: &str) {
    for (index, node) in tree.nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            assert!(parent < index, "node {index} stands before its parent {parent}");
            // In pre-order, a node's parent is the node before it or one of that one's ancestors.
            let mut above = Some(index - 1);
            while above != Some(parent) {
                above = above.and_then(|it| tree.nodes[it].parent);
                assert!(above.is_some(), "node {index} is not in document order");
            }
        }
        assert!(node.label.chars().count() <= 80, "label too long: {:?}", node.label);
        assert!(!node.label.contains(['\n', '\r']), "label of two lines: {:?}", node.label);
        assert!(!node.label.trim().is_empty(), "no label: {node:?}");
        assert_eq!(node.token_count, tokens::count(&node.content), "wrong count: {node:?}");
        assert!(node.token_count <= PART_TOKENS_MAX, "too large: {:?}", node.label);
        assert!(node.span.start <= node.span.end && node.span.end <= text.len());
        assert!(text.get(node.span.clone()).is_some(), "span inside a character: {node:?}");
        assert!(node.level.is_none() || node.node_type == NodeType::Heading);
        assert!(node.format != ContentFormat::Latex || node.node_type == NodeType::Code);
    }
}

/// Panics when a word of a source without backslashes is in no node.
pub(super) fn check_present(parsed: &Parsed, text: &str) {
    check_present_but(parsed, text, |_| false);
}

/// Panics when a word of a source without backslashes is in no node and is no mark.
pub(super) fn check_present_but(parsed: &Parsed, text: &str, is_mark: impl Fn(&str) -> bool) {
    let contents: Vec<String> =
        parsed.tree.nodes.iter().map(|it| without_escapes(&it.content)).collect();
    let have = counts(contents.iter().map(String::as_str));
    let is_cut = parsed.tree.nodes.iter().any(|node| 700 < node.token_count);
    for word in words(text) {
        let is_kept = have.contains_key(word) || is_cut || is_mark(word);
        assert!(is_kept, "{word:?} is lost in {:?}", parsed.tree);
    }
}

/// Returns a content without the escapes of a key of several lines. Its source must have no
/// backslash.
pub(super) fn without_escapes(content: &str) -> String {
    let mut parts = content.split('\\');
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let code = part.strip_prefix("u{").and_then(|it| it.split_once('}'));
        let decoded = code.and_then(|(code, rest)| {
            Some((char::from_u32(u32::from_str_radix(code, 16).ok()?)?, rest))
        });
        let (c, rest) = decoded.unwrap_or((' ', part.get(1..).unwrap_or(part)));
        out.push(c);
        out.push_str(rest);
    }
    out
}

pub(super) fn counts<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for word in texts.into_iter().flat_map(words) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Returns the maximal runs of letters and digits.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
