//! Parsing TOML: no word lost, sound trees, the same tree twice.

use super::markdown::check_tree;
use super::plain::{check_present, twice};
use crate::ingest::parse::{Syntax, decode};

/// Panics when parsing `data` as TOML breaks a promise.
pub fn toml(data: &[u8]) {
    let (text, _) = decode(data);
    let parsed = twice(Syntax::Toml, &text);
    check_tree(&parsed.tree, &text);
    if !text.contains('\\') {
        check_present(&parsed, &text);
    }
}
