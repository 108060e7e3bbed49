//! Parsing text, tables, Org, reStructuredText and MDX: no word lost, sound trees, the same tree
//! twice.

use std::collections::BTreeMap;

use super::markdown::check_tree;
use crate::ingest::parse::{Parsed, Syntax, decode, parse};

/// Panics when parsing `data` as one of the plain notations breaks a promise.
pub fn plain(data: &[u8]) {
    let (text, _) = decode(data);
    for syntax in [Syntax::Text, Syntax::Csv, Syntax::Tsv, Syntax::Org, Syntax::Rst] {
        let parsed = twice(syntax, &text);
        check_tree(&parsed.tree, &text);
        let mut markup = String::new();
        if syntax == Syntax::Org {
            // The words that open and close blocks are marks.
            let lines = text.lines().filter(|line| line.trim_start().starts_with("#+"));
            lines.for_each(|line| markup.push_str(&format!("{line}\n")));
        } else if syntax == Syntax::Rst {
            let lines = text.lines().filter(|line| line.trim_start().starts_with(".. "));
            lines.for_each(|line| markup.push_str(&format!("{line}\n")));
        }
        let have = counts(parsed.tree.nodes.iter().map(|it| &*it.content));
        let marks = counts([&*markup]);
        let want = counts([&*text]);
        for (word, n) in &want {
            let (found, of_marks) = (count(&have, word), count(&marks, word));
            let is_kept = *n <= found + of_marks;
            assert!(is_kept, "{syntax:?}: {word:?}: {n} times, kept {found} times");
            // A long word may be cut in two.
            let is_cut = parsed.tree.nodes.iter().any(|node| 700 < node.token_count);
            assert!(found <= *n || is_cut, "{syntax:?}: {word:?}: {n} times, but {found} times");
        }
    }
    let mdx = twice(Syntax::Mdx, &text);
    check_tree(&mdx.tree, &text);
}

/// What parsing gives, which is the same each time.
pub(super) fn twice(syntax: Syntax, text: &str) -> Parsed {
    let parsed = parse(syntax, text);
    assert_eq!(parsed, parse(syntax, text), "parsing twice gives two trees");
    parsed
}

/// Panics when a word of the source is in no node at all.
pub(super) fn check_present(parsed: &Parsed, text: &str) {
    let have = counts(parsed.tree.nodes.iter().map(|it| &*it.content));
    let is_cut = parsed.tree.nodes.iter().any(|node| 700 < node.token_count);
    for word in words(text) {
        assert!(have.contains_key(word) || is_cut, "{word:?} is lost in {:?}", parsed.tree);
    }
}

pub(super) fn counts<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for word in texts.into_iter().flat_map(words) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

fn count(counts: &BTreeMap<&str, usize>, word: &str) -> usize {
    counts.get(word).copied().unwrap_or(0)
}

/// Maximal runs of letters and digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}
