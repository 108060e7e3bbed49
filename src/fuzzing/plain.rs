//! Parsing text, tables, Org, reStructuredText and MDX: no word lost, sound and deterministic
//! trees.

use std::collections::BTreeMap;

use super::parser_invariants::{counts, parse_twice};
use crate::ingest::parse::{Syntax, decode};

/// Panics when parsing `data` as one of the plain notations violates an invariant.
pub fn plain(data: &[u8]) {
    let (text, _) = decode(data);
    for syntax in [Syntax::Text, Syntax::Csv, Syntax::Tsv, Syntax::Org, Syntax::Rst] {
        let parsed = parse_twice(syntax, &text);
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
    parse_twice(Syntax::Mdx, &text);
}

fn count(counts: &BTreeMap<&str, usize>, word: &str) -> usize {
    counts.get(word).copied().unwrap_or(0)
}
