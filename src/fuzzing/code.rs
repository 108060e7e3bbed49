//! Parsing source code: no byte lost, sound and deterministic trees in every language.

use super::parser_invariants::parse_twice;
use crate::ingest::parse::{CodeLanguage, Syntax, decode};

/// Panics when parsing `data` as source code violates an invariant in a language.
pub fn code(data: &[u8]) {
    let (text, _) = decode(data);
    for language in CodeLanguage::all() {
        let parsed = parse_twice(Syntax::Code(language), &text);
        let mut end = 0;
        for node in parsed.tree.nodes.iter().filter(|it| !it.content.is_empty()) {
            let span = node.span.clone();
            assert_eq!(text[span.clone()], node.content, "{language:?}: a text is not its span");
            assert!(end <= span.start, "{language:?}: spans overlap at {}", span.start);
            let between = &text[end..span.start];
            assert!(between.trim().is_empty(), "{language:?}: {between:?} is lost");
            end = span.end;
        }
        let rest = &text[end..];
        assert!(rest.trim().is_empty(), "{language:?}: {rest:?} is lost");
    }
}
