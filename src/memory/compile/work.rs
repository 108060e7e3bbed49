//! A file during a compile: its parsed content, and the nodes that it becomes.

use crate::ingest::parse::Warning;
use crate::ingest::scan::ScannedFile;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::Tree;
use crate::store::{FileRow, NodeKey, NodeRecord, Tombstone};

/// A file's new content: the tree, and each node's hash.
pub(super) struct ParsedFile {
    pub(super) tree: Tree,
    pub(super) hashes: Vec<ContentHash>,
}

/// A file that was read and aligned with its nodes, to be written.
pub(super) struct FileWork {
    pub(super) found: ScannedFile,
    /// Bytes read.
    pub(super) size: usize,
    /// Hash of the bytes read.
    pub(super) hash: ContentHash,
    /// The file's row at the alignment; `None` for a new file.
    pub(super) row: Option<FileRow>,
    pub(super) parsed: ParsedFile,
    /// The tree with its forgotten blocks, if it has some.
    pub(super) whole: Option<Tree>,
    pub(super) warnings: Vec<Warning>,
    /// Nodes of the file's last version.
    pub(super) old: Vec<NodeRecord>,
    /// Nodes that an agent added to it.
    pub(super) agent_nodes: Vec<NodeRecord>,
    /// The old node of each new node.
    pub(super) matched: Vec<Option<NodeRecord>>,
    pub(super) tombstones: Vec<TombstoneChange>,
    /// Nodes that are the file's again below an agent's text, with the hashes of their base texts.
    pub(super) restored: Vec<(NodeKey, ContentHash)>,
    /// Whether old nodes of the file have no successor in it.
    pub(super) has_leftovers: bool,
}

impl FileWork {
    /// Returns the matched nodes that lie in other files.
    pub(super) fn taken(&self) -> impl Iterator<Item = &NodeRecord> {
        let own = self.row.as_ref().map(|it| it.id);
        self.matched.iter().flatten().filter(move |it| it.place.file != own)
    }
}

/// A change of a tombstone that follows from the file's new text.
pub(super) enum TombstoneChange {
    /// Its block has moved.
    Place(Tombstone),
    /// Its block is no longer there.
    Drop(NodeId),
}

/// Returns the hash of a node's base text.
pub(super) fn base_hash(node: &NodeRecord) -> ContentHash {
    node.source_hash.unwrap_or(node.content_hash)
}
