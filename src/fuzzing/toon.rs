//! Parsing TOON: no word lost, sound trees; printed TOON is read back as the same values.

use super::parser_invariants::{check_present, parse_twice};
use crate::ingest::parse::{Syntax, decode};
use crate::model::tree::ContentFormat;

/// Panics when parsing `data` as TOON violates an invariant.
pub fn toon(data: &[u8]) {
    let (text, _) = decode(data);
    let parsed = parse_twice(Syntax::Toon, &text);
    // An escape, or a control character within a line, which is written as one.
    let is_escaped = |it: char| it == '\\' || it.is_control() && it != '\n';
    if !text.replace("\r\n", "\n").contains(is_escaped) {
        let mut shown = text.to_string();
        // The sizes of lists are marks.
        for (start, _) in text.match_indices('[') {
            if let Some(len) = text[start..].find(']') {
                let spaces = " ".repeat(len);
                shown.replace_range(start..start + len, &spaces);
            }
        }
        check_present(&parsed, &shown);
    }
    for node in parsed.tree.nodes.iter().filter(|node| node.format == ContentFormat::Toon) {
        let again = parse_twice(Syntax::Toon, &node.content);
        let [only] = &again.tree.nodes[..] else { continue };
        assert!(only.format != ContentFormat::Toon || only.content == node.content, "{only:?}");
        assert!(again.warnings.is_empty(), "{:?}", again.warnings);
    }
}
