//! Parsing YAML: no word lost, sound and deterministic trees, none larger than its source.

use super::parser_invariants::{check_present, parse_twice};
use crate::ingest::parse::{Syntax, decode};

/// Panics when parsing `data` as YAML violates an invariant.
pub fn yaml(data: &[u8]) {
    let (text, _) = decode(data);
    let parsed = parse_twice(Syntax::Yaml, &text);
    let n_bytes: usize = parsed.tree.nodes.iter().map(|node| node.content.len()).sum();
    assert!(n_bytes <= text.len() * 50 + 100, "{n_bytes} bytes from {}", text.len());
    // Escapes are decoded, and the heads of block scalars have digits that are marks.
    let has_marks = text.contains('\\')
        || text.lines().any(|line| line.contains(['|', '>']) || line.starts_with("..."));
    if !has_marks {
        check_present(&parsed, &text);
    }
}
