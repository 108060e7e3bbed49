//! A file during a compile: its parsed content, and the nodes that it becomes.

use crate::ingest::markdown_export_format::ExportedNodeAttributes;
use crate::model::identity::ContentHash;
use crate::model::tree::DocumentTree;
use crate::store::{FileId, NodeRecord};

/// A file's new content: the tree, each node's hash, and its marks in an exported file.
#[derive(Default)]
pub(super) struct ParsedFile {
    pub(super) tree: DocumentTree,
    pub(super) hashes: Vec<ContentHash>,
    /// Empty in other files.
    pub(super) marks: Vec<ExportedNodeAttributes>,
}

/// A file in the middle of a compile.
pub(super) struct FileBeingCompiled {
    pub(super) file: FileId,
    pub(super) path: String,
    pub(super) parsed: ParsedFile,
    /// Nodes of the file's last version.
    pub(super) old: Vec<NodeRecord>,
    /// Nodes that an agent added to it.
    pub(super) agent_nodes: Vec<NodeRecord>,
    /// The old node of each new node.
    pub(super) matched: Vec<Option<NodeRecord>>,
}

/// Returns the hash of a node's base text, by which it is recognized.
pub(super) fn base_hash(node: &NodeRecord) -> ContentHash {
    node.hash_before_repair.or(node.source_hash).unwrap_or(node.content_hash)
}
