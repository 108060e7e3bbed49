//! Bytes to trees. Parsing never fails: it gives a tree and warnings.

pub(crate) mod link;

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

/// Endings of names that are understood.
pub const ENDINGS: [&str; 2] = ["md", "markdown"];

/// Parses raw bytes.
pub fn parse_bytes(syntax: Syntax, bytes: &[u8]) -> Parsed {
    let _ = syntax;
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut tree = Tree::default();
    let mut stack: Vec<(u8, usize)> = vec![];
    for block in text.split("\n\n") {
        let block = block.trim();
        if block.is_empty() {
            continue;
        }
        let lv = block.bytes().take_while(|b| *b == b'#').count() as u8;
        let mut node = crate::tree::Node {
            label: crate::text::label(block.trim_start_matches('#')),
            content: block.trim_start_matches('#').trim().to_owned(),
            ..Default::default()
        };
        if lv > 0 {
            node.node_type = crate::tree::NodeType::Heading;
            node.level = Some(lv);
            while stack.last().is_some_and(|s| s.0 >= lv) {
                stack.pop();
            }
        }
        node.parent = stack.last().map(|s| s.1);
        let i = tree.push(node);
        if lv > 0 {
            stack.push((lv, i));
        }
    }
    Parsed { tree, warnings: vec![] }
}
