//! Holds a file in the middle of a compile: its parsed words, and the nodes that they become.

use crate::model::identity::ContentHash;
use crate::model::tree::Tree;
use crate::store::{FileId, NodeRecord};

/// A file's new words: the tree, and each node's hash.
pub(super) struct ParsedFile {
    pub(super) tree: Tree,
    pub(super) hashes: Vec<ContentHash>,
}

/// A file in the middle of the work.
pub(super) struct FileWork {
    pub(super) file: FileId,
    pub(super) path: String,
    pub(super) parsed: ParsedFile,
    /// What the file said before.
    pub(super) old: Vec<NodeRecord>,
    /// What an agent added to it.
    pub(super) agent_nodes: Vec<NodeRecord>,
    /// For each new node, the old node that it is.
    pub(super) matched: Vec<Option<NodeRecord>>,
}

/// Returns the hash of what the node's file says of it.
pub(super) fn base_hash(node: &NodeRecord) -> ContentHash {
    node.source_hash.unwrap_or(node.content_hash)
}
