//! Lists the schema's columns of text, and how redaction treats each.
//!
//! The table of a node's columns yields those of nodes and of their versions. A test compares the
//! list with the schema, so that every new column of text gets its treatment before anything is
//! stored in it.

use crate::store::node_columns::{self, ColumnContent};

/// A column of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextColumn {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    pub(super) holds: ColumnContent,
}

const fn column(table: &'static str, name: &'static str, holds: ColumnContent) -> TextColumn {
    TextColumn { table, name, holds }
}

/// Returns all of them.
pub(super) fn all() -> Vec<TextColumn> {
    let nodes = node_columns::columns().iter();
    let now = nodes.clone().map(|it| column("node", it.name, it.holds));
    let old = nodes.flat_map(|it| it.old).map(|it| column("diff", it.name, it.holds));
    let texts = now.chain(old).filter(|it| it.holds != ColumnContent::Numbers);
    texts.chain(OTHERS.iter().copied()).collect()
}

/// Columns of neither nodes nor their versions.
const OTHERS: &[TextColumn] = &[
    column("root", "path", ColumnContent::Bound),
    column("root", "name", ColumnContent::Words),
    column("file", "path", ColumnContent::Bound),
    column("file", "content_hash", ColumnContent::Names),
    column("file", "error", ColumnContent::Words),
    column("snapshot", "cursor_hash", ColumnContent::Names),
    column("snapshot", "message", ColumnContent::Words),
    column("snapshot", "compile_root", ColumnContent::Bound),
    column("cursor", "name", ColumnContent::Names),
    column("diff", "op", ColumnContent::Names),
    column("diff", "node_id", ColumnContent::Names),
    column("diff", "new_hash", ColumnContent::Hash),
    column("blob", "hash", ColumnContent::Bound),
    column("blob", "content", ColumnContent::Bound),
    column("reference", "origin", ColumnContent::Names),
    column("reference", "form", ColumnContent::Names),
    column("reference", "label", ColumnContent::Bound),
    column("reference", "path", ColumnContent::Bound),
    column("reference", "id_hint", ColumnContent::Bound),
    column("reference", "heading", ColumnContent::Bound),
    column("reference", "alias", ColumnContent::Bound),
    column("reference", "candidates", ColumnContent::Names),
    column("file_name", "name", ColumnContent::Bound),
    column("lease", "name", ColumnContent::Names),
    column("lease", "holder", ColumnContent::Names),
    column("tombstone", "node_id", ColumnContent::Names),
    column("tombstone", "parent", ColumnContent::Names),
    column("tombstone", "node_type", ColumnContent::Names),
    column("tombstone", "source_hash", ColumnContent::Hash),
    column("facet", "key", ColumnContent::Names),
    column("facet", "value", ColumnContent::Bound),
    column("custom_view", "name", ColumnContent::Names),
    column("custom_view", "query", ColumnContent::Json),
    column("typed_edge", "type", ColumnContent::Bound),
    column("typed_edge", "target", ColumnContent::Names),
    column("forgotten_note", "hash", ColumnContent::Names),
    column("receipt", "name", ColumnContent::Names),
    column("receipt", "request", ColumnContent::Names),
    column("receipt", "answer", ColumnContent::Names),
    column("replica", "url", ColumnContent::Names),
    column("replica", "hash", ColumnContent::Names),
    column("replica", "unpublished", ColumnContent::Names),
    column("vector", "data", ColumnContent::Names),
];

#[cfg(test)]
mod tests;
