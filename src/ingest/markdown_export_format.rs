//! A memory as a folder of Markdown: files whose comments say what their blocks are.
//!
//! The first line of such a file is `<!-- remindb export 1 -->`. Each node follows as a marker and
//! its block; other programs see a comment and Markdown:
//!
//! ```text
//! <!-- remindb AcTRirZSwQh text 1 4716b53fc14d9188 {"pinned":true} -->
//! One connection writes.
//! ```
//!
//! A marker has the id, the type, the depth below the top of the file, the hash of the text, and as
//! JSON what the block does not show. A block is a heading, the text itself, or a fenced one for
//! code and for what is no Markdown. The hash tells whether a person edited the block: its text is
//! then parsed as Markdown, the first node of the marker's type keeps the marker's id, and the
//! others are new.
//!
//! This module does no IO, except that [`export_root_folders`] looks for the index of a root.

pub(crate) mod export_root_folders;
mod marker;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use crate::ingest::parse::Parsed;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::links::reference::Reference;
use crate::model::node_fields::CanonicalFields;

pub(crate) use export_root_folders::{FoldersByRoot, RootWithinExport};
pub(crate) use marker::FILE_HEADER;
pub(crate) use reader::{is_exported, parse_export};
pub(crate) use writer::push_node;

/// The attributes of an exported node that its block does not show.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExportedNodeAttributes {
    /// The id at the export; `None` for a block that a person added.
    pub(crate) id: Option<NodeId>,
    /// Hash of the text at the export.
    pub(crate) exported_hash: Option<ContentHash>,
    /// The parent of a node at the top of its file, where that is in another file.
    pub(crate) parent: Option<NodeId>,
    /// The order key among its siblings, of a node that belongs to no file.
    pub(crate) position: Option<i64>,
    pub(crate) fields: Option<CanonicalFields>,
    pub(crate) is_pinned: bool,
    /// References made by hand.
    pub(crate) links: Vec<Reference>,
}

/// An exported file as parsed: the tree, and the marks of each of its nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ParsedExport {
    pub(crate) parsed: Parsed,
    pub(crate) marks: Vec<ExportedNodeAttributes>,
}
