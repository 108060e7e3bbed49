//! Parsing TOML: no word lost, sound and deterministic trees.

use super::parser_invariants::{check_present, parse_twice};
use crate::ingest::parse::{Syntax, decode};

/// Panics when parsing `data` as TOML violates an invariant.
pub fn toml(data: &[u8]) {
    let (text, _) = decode(data);
    let parsed = parse_twice(Syntax::Toml, &text);
    if !text.contains('\\') {
        check_present(&parsed, &text);
    }
}
