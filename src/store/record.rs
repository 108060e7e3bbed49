//! Rows as values, and the functions that read them from SQLite.

use std::borrow::Cow;
use std::ops::Range;

use rusqlite::Row;
use rusqlite::types::Type;

use super::StoreError;
use super::node_columns::{
    FingerprintCoverage, LEVEL, NodeColumn, OptionalColumnValue, OptionalColumnValues, attributes,
    columns,
};
use crate::model::database_state_fingerprint::NodeState;
use crate::model::file_stat::FileStat;
use crate::model::identity::{ContentHash, NodeId, is_base62};
use crate::model::tree::{ContentFormat, Node, NodeType};
use crate::text::supplementary_index_terms::index_terms;

/// Tokens of the largest text: as many as the bytes of the largest value that is written.
const TEXT_TOKENS_MAX: u32 = 512 * 1024 * 1024;

/// A node's internal key, which never leaves the process; others use the [`NodeId`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeRowId(pub(crate) i64);

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
    /// Absolute, canonical path.
    pub(crate) path: String,
}

/// A row of `file`: a source file as last compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileRow {
    pub(crate) id: FileId,
    pub(crate) root: RootId,
    /// Path relative to the root, `/` between segments.
    pub(crate) path: String,
    pub(crate) stat: FileStat,
    /// Hash of the bytes that the nodes were made from.
    pub(crate) content_hash: Option<ContentHash>,
    /// The reason why the last compile of it failed.
    pub(crate) error: Option<String>,
    /// Whether the file was missing at the last compile; nodes or tombstones still refer to it.
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
            stat: FileStat { size: row.get(3)?, mtime: row.get(4)? },
            content_hash: content_hash.as_deref().and_then(ContentHash::parse),
            error: row.get(6)?,
            is_gone: row.get(7)?,
        })
    }
}

/// A node's place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodePlace {
    pub(crate) file: Option<FileId>,
    pub(crate) parent: Option<NodeRowId>,
    /// Order key among the siblings.
    pub(crate) position: i64,
}

/// Holds a row of `node`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeRecord {
    pub(crate) key: NodeRowId,
    pub(crate) id: NodeId,
    pub(crate) place: NodePlace,
    pub(crate) node_type: NodeType,
    pub(crate) format: ContentFormat,
    pub(crate) label: String,
    pub(crate) content_hash: ContentHash,
    pub(crate) token_count: u32,
    pub(crate) source_hash: Option<ContentHash>,
    /// Hash of what its file said, where a repair accepted an altered text since then.
    pub(crate) hash_before_repair: Option<ContentHash>,
    pub(crate) breadcrumb: String,
    pub(crate) content: String,
    pub(crate) attributes: OptionalColumnValues,
}

/// A node whose text is compared with another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NearDuplicateCandidate {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) content: String,
    pub(crate) is_heading: bool,
    pub(crate) is_archived: bool,
}

/// Holds the type, texts and optional values of a node, apart from its identity and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnplacedNodeData<'a> {
    pub(crate) node_type: NodeType,
    pub(crate) format: ContentFormat,
    pub(crate) label: &'a str,
    pub(crate) content: &'a str,
    pub(crate) token_count: u32,
    pub(crate) attributes: OptionalColumnValues,
}

/// The tombstone of a node that a file contains and an agent forgot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ForgottenNodeTombstone {
    /// Id of the forgotten node.
    pub(crate) id: NodeId,
    /// Its former parent, which may be forgotten, too.
    pub(crate) parent: Option<NodeId>,
    pub(crate) node_type: NodeType,
    pub(crate) level: Option<u8>,
    pub(crate) source_hash: ContentHash,
    /// Byte range in the file, at the last compile.
    pub(crate) span: Range<usize>,
}

impl NodeRecord {
    /// Returns whether an agent's overlay hides the file's text.
    pub(crate) fn is_overlaid(&self) -> bool {
        self.source_hash.is_some_and(|it| it != self.content_hash)
    }

    /// Returns the node apart from its identity and place.
    pub(crate) fn data(&self) -> UnplacedNodeData<'_> {
        UnplacedNodeData {
            node_type: self.node_type,
            format: self.format,
            label: &self.label,
            content: &self.content,
            token_count: self.token_count,
            attributes: self.attributes.clone(),
        }
    }

    /// Reads a row of `{record}`.
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Result<NodeRecord, StoreError>> {
        let id: String = row.get(1)?;
        let node_type: String = row.get(5)?;
        let format: String = row.get(6)?;
        let content_hash: String = row.get(8)?;
        let source_hash: Option<String> = row.get(10)?;
        let attributes = OptionalColumnValues::read(row, 13)?;
        let is_level_known = attributes.get(LEVEL).is_none() || attributes.level().is_some();
        let parsed = (
            NodeId::parse(&id),
            NodeType::parse(&node_type),
            ContentFormat::parse(&format),
            ContentHash::parse(&content_hash),
            is_level_known,
        );
        let (Some(node_id), Some(node_type), Some(format), Some(content_hash), true) = parsed
        else {
            return Ok(Err(StoreError::Corrupt {
                what: format!("node `{id}` has an id, type, format or hash of no known form"),
            }));
        };
        Ok(Ok(NodeRecord {
            key: NodeRowId(row.get(0)?),
            id: node_id,
            place: NodePlace {
                file: row.get::<_, Option<i64>>(2)?.map(FileId),
                parent: row.get::<_, Option<i64>>(3)?.map(NodeRowId),
                position: row.get(4)?,
            },
            node_type,
            format,
            label: row.get(7)?,
            content_hash,
            token_count: read_tokens(row, 9)?,
            source_hash: source_hash.as_deref().and_then(ContentHash::parse),
            hash_before_repair: None,
            breadcrumb: row.get(11)?,
            content: row.get(12)?,
            attributes,
        }))
    }
}

impl<'a> UnplacedNodeData<'a> {
    /// Returns a parsed node as data.
    pub(crate) fn of(node: &'a Node) -> UnplacedNodeData<'a> {
        UnplacedNodeData {
            node_type: node.node_type,
            format: node.format,
            label: &node.label,
            content: &node.content,
            token_count: node.token_count,
            attributes: OptionalColumnValues::of_source(node),
        }
    }

    /// Returns what the full-text index has of it beside its texts.
    pub(super) fn index_terms(&self) -> Option<String> {
        index_terms(self.label, self.content)
    }

    /// Returns the part that the fingerprint covers.
    pub(super) fn state<'s>(&'s self, id: &'s str, hash: &'s str) -> NodeState<'s> {
        let mut state = NodeState::new(Cow::Borrowed(id));
        state.fields.push(Some(self.node_type.as_str().into()));
        for (column, value) in attributes().iter().zip(self.attributes.values()) {
            push(&mut state, column, value.map(OptionalColumnValue::text));
        }
        let others = [self.format.as_str(), self.label, hash];
        state.fields.extend(others.map(|it| Some(it.into())));
        state
    }
}

/// Reads the number of tokens of a text; a larger one than any text has is refused.
pub(super) fn read_tokens(row: &Row<'_>, column: usize) -> rusqlite::Result<u32> {
    let tokens: i64 = row.get(column)?;
    match u32::try_from(tokens) {
        Ok(n) if n <= TEXT_TOKENS_MAX => Ok(n),
        _ => Err(rusqlite::Error::IntegralValueOutOfRange(column, tokens)),
    }
}

/// Reads the id of a node; another text is refused, since it could be taken for framing.
pub(super) fn read_id(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    let id: String = row.get(column)?;
    match is_base62(&id) {
        true => Ok(id),
        false => Err(strange_text(column, "no id of a node")),
    }
}

/// Reads the type of a node; another text is refused, since it could be taken for framing.
pub(super) fn read_type(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    let node_type: String = row.get(column)?;
    match NodeType::parse(&node_type) {
        Some(_) => Ok(node_type),
        None => Err(strange_text(column, "no type of a node")),
    }
}

/// Reads a name that the program chose, such as an operation or a hash; another text is refused,
/// since it could be taken for framing.
pub(super) fn read_name(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    let name = read_optional_name(row, column)?;
    name.ok_or_else(|| strange_text(column, "no name"))
}

/// Reads a name that the program chose, or none, as [`read_name`] does.
pub(super) fn read_optional_name(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<String>> {
    let is_of_names = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-');
    match row.get::<_, Option<String>>(column)? {
        Some(text) if !text.bytes().all(is_of_names) => Err(strange_text(column, "no name")),
        name => Ok(name),
    }
}

fn strange_text(column: usize, why: &'static str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into())
}

/// Reads `{state}` or `{old_state}`, which begins at column `at`.
pub(crate) fn read_state(
    row: &Row<'_>,
    id: String,
    at: usize,
) -> rusqlite::Result<NodeState<'static>> {
    let mut state = NodeState::new(Cow::Owned(id));
    let hashed = |which: FingerprintCoverage| columns().iter().filter(move |it| it.hashed == which);
    for (column, nth) in
        hashed(FingerprintCoverage::Always).chain(hashed(FingerprintCoverage::WhereGiven)).zip(at..)
    {
        let value: Option<OptionalColumnValue> = row.get(nth)?;
        let value = value.map(|it| match it {
            OptionalColumnValue::Text(it) => Cow::Owned(it),
            OptionalColumnValue::Integer(it) => Cow::Owned(it.to_string()),
        });
        push(&mut state, column, value);
    }
    Ok(state)
}

fn push<'a>(state: &mut NodeState<'a>, column: &NodeColumn, value: Option<Cow<'a, str>>) {
    match (column.hashed, value) {
        (FingerprintCoverage::Always, value) => state.fields.push(value),
        (FingerprintCoverage::WhereGiven, Some(value)) => state.given.push((column.name, value)),
        (FingerprintCoverage::WhereGiven, None) | (FingerprintCoverage::No, _) => (),
    }
}
