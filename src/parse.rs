//! Bytes to trees. Parsing never fails: it gives a tree and warnings.

use crate::tree::Tree;

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
