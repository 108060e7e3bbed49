//! Rows as values, and the one place that reads them from SQLite.

use std::ops::Range;

use rusqlite::Row;

use super::StoreError;
use crate::model::file_stat::Look;
use crate::model::fingerprint::State;
use crate::model::identity::{ContentHash, NodeId};
use crate::model::tree::{Format, Node, NodeType};

/// A node's internal key. It never leaves the process; everybody else uses the [`NodeId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeKey(pub(crate) i64);

/// A source file's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FileId(pub(crate) i64);

/// A compiled folder's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct RootId(pub(crate) i64);

/// A folder that was compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Root {
    pub(crate) id: RootId,
    /// Absolute and canonical.
    pub(crate) path: String,
}

/// What is known of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRow {
    pub(crate) id: FileId,
    pub(crate) root: RootId,
    /// Relative to the root, `/` between segments.
    pub(crate) path: String,
    pub(crate) look: Look,
    /// Of the bytes that the nodes were made from.
    pub(crate) content_hash: Option<ContentHash>,
    /// Why the last look could not be compiled.
    pub(crate) error: Option<String>,
    /// Whether it was not there at the last look; something of it still is.
    pub(crate) is_gone: bool,
}

impl FileRow {
    /// Reads `id, root, path, size, mtime, content_hash, error, gone`.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<FileRow> {
        let content_hash: Option<String> = row.get(5)?;
        Ok(FileRow {
            id: FileId(row.get(0)?),
            root: RootId(row.get(1)?),
            path: row.get(2)?,
            look: Look { size: row.get(3)?, mtime: row.get(4)? },
            content_hash: content_hash.as_deref().and_then(ContentHash::parse),
            error: row.get(6)?,
            is_gone: row.get(7)?,
        })
    }
}

/// Where a node stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) file: Option<FileId>,
    pub(crate) parent: Option<NodeKey>,
    /// Sparse rank among the siblings.
    pub(crate) position: i64,
}

/// A node as the database has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) key: NodeKey,
    pub(crate) id: NodeId,
    pub(crate) place: Place,
    pub(crate) node_type: NodeType,
    pub(crate) level: Option<u8>,
    pub(crate) lang: Option<String>,
    pub(crate) key_path: Option<String>,
    pub(crate) format: Format,
    pub(crate) token_count: u32,
    pub(crate) content_hash: ContentHash,
    pub(crate) source_hash: Option<ContentHash>,
    pub(crate) label: String,
    pub(crate) trail: String,
    pub(crate) content: String,
}

/// What a file says and the memory does not contain, because an agent forgot it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tombstone {
    /// Of the node that was forgotten.
    pub(crate) id: NodeId,
    /// What it stood under; that may be forgotten, too.
    pub(crate) parent: Option<NodeId>,
    pub(crate) node_type: NodeType,
    pub(crate) level: Option<u8>,
    pub(crate) source_hash: ContentHash,
    /// Bytes of the file, at the last compile.
    pub(crate) span: Range<usize>,
}

/// The columns of [`Stored`], in the order that [`Stored::read`] expects; the table is called
/// `node`.
macro_rules! stored_columns {
    () => {
        "node.key, node.id, node.file, node.parent, node.position, node.node_type, node.level,
         node.lang, node.key_path, node.format, node.token_count, node.content_hash,
         node.source_hash, node.label, node.trail, node.content"
    };
}
pub(crate) use stored_columns;

impl Stored {
    /// Whether an agent says something else of it than its file.
    pub(crate) fn is_overlaid(&self) -> bool {
        self.source_hash.is_some_and(|it| it != self.content_hash)
    }

    /// The node apart from its surroundings.
    pub(crate) fn to_node(&self) -> Node {
        Node {
            parent: None,
            node_type: self.node_type,
            level: self.level,
            lang: self.lang.clone(),
            key_path: self.key_path.clone(),
            span: 0..0,
            label: self.label.clone(),
            content: self.content.clone(),
            format: self.format,
            token_count: self.token_count,
        }
    }

    /// Reads a row of `stored_columns!()`.
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Result<Stored, StoreError>> {
        let id: String = row.get(1)?;
        let node_type: String = row.get(5)?;
        let format: String = row.get(9)?;
        let content_hash: String = row.get(11)?;
        let source_hash: Option<String> = row.get(12)?;
        let parsed = (
            NodeId::parse(&id),
            NodeType::parse(&node_type),
            Format::parse(&format),
            ContentHash::parse(&content_hash),
        );
        let (Some(node_id), Some(node_type), Some(format), Some(content_hash)) = parsed else {
            return Ok(Err(StoreError::Corrupt {
                what: format!("node `{id}` has an id, type, format or hash of no known form"),
            }));
        };
        Ok(Ok(Stored {
            key: NodeKey(row.get(0)?),
            id: node_id,
            place: Place {
                file: row.get::<_, Option<i64>>(2)?.map(FileId),
                parent: row.get::<_, Option<i64>>(3)?.map(NodeKey),
                position: row.get(4)?,
            },
            node_type,
            level: row.get(6)?,
            lang: row.get(7)?,
            key_path: row.get(8)?,
            format,
            token_count: row.get(10)?,
            content_hash,
            source_hash: source_hash.as_deref().and_then(ContentHash::parse),
            label: row.get(13)?,
            trail: row.get(14)?,
            content: row.get(15)?,
        }))
    }
}

impl State {
    /// Reads `id, node_type, level, lang, key_path, format, label, content_hash`.
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<State> {
        Ok(State {
            id: row.get(0)?,
            node_type: row.get(1)?,
            level: row.get(2)?,
            lang: row.get(3)?,
            key_path: row.get(4)?,
            format: row.get(5)?,
            label: row.get(6)?,
            content_hash: row.get(7)?,
        })
    }
}
