//! TOON, the compact table notation: parses files, and prints tables.

mod reader;
mod toon_encoder;

use std::borrow::Cow;

use super::value_tree::{self, ValueKind};
use super::{Parsed, Warning};
use crate::text;

pub(super) use toon_encoder::ToonTable;

/// Parses a TOON file; from the first faulty line on, it is kept as text.
pub(super) fn parse(source: &str) -> Parsed {
    let mut warnings = Vec::new();
    let (mut out, fault) = reader::read(source);
    if let Some(fault) = fault {
        let line = text::line_number_at(source, fault.offset);
        let what = format!("not valid TOON: {}; the rest is kept as text", fault.what);
        warnings.push(Warning { line, what });
        let words = source[fault.resume..].trim_end();
        let range = fault.resume..fault.resume + words.len();
        out.scalar(ValueKind::Raw, Cow::Borrowed(words), range);
    }
    value_tree::parsed(source, &out, warnings)
}
