//! Bytes to trees. Parsing never fails: it gives a tree and warnings.
//!
//! [`decode`] makes text of whatever bytes a file has, [`parse`] makes a tree of the text. Every
//! word that a reader would see stands in exactly one node's content; code stands there byte for
//! byte. No node's content has more than [`PART_TOKENS_MAX`] tokens: what is larger becomes a node
//! of the same type with an empty content and its parts as children. Nothing here does IO.

mod decode;
mod label;
mod markdown;
mod outline;
mod parts;
mod preamble;

use crate::tree::Tree;

pub use decode::decode;
pub use parts::PART_TOKENS_MAX;

/// What a source file is written in, told by its name's ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// CommonMark with GFM tables, task lists, strikethrough and footnotes.
    Markdown,
}

impl Syntax {
    /// The syntax of the file at `path`; `None` when it is none that is understood.
    pub fn of(path: &str) -> Option<Syntax> {
        let (_, ending) = path.rsplit_once('.')?;
        match ending.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(Syntax::Markdown),
            _ => None,
        }
    }
}

/// Something odd in the input that was got around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Line of the source, counted from 1.
    pub line: u32,
    /// What was odd and what was done about it, lower case, no period.
    pub what: String,
}

/// What parsing gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The document.
    pub tree: Tree,
    /// What was odd, in order of line.
    pub warnings: Vec<Warning>,
}

/// The tree of `text`, which [`decode`] made: nodes in document order with their tokens counted.
pub fn parse(syntax: Syntax, text: &str) -> Parsed {
    let mut parsed = match syntax {
        Syntax::Markdown => markdown::parse(text),
    };
    parsed.warnings.sort_by_key(|warning| warning.line);
    parsed
}

#[cfg(test)]
mod tests;
