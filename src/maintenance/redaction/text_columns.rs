//! Lists the schema's columns of text, and how redaction treats each.
//!
//! The table of a node's columns yields those of nodes and of their versions. A test compares the
//! list with the schema, so that every new column of text gets its treatment before anything is
//! stored in it.

use crate::store::node_columns::{self, ColumnRedaction};

/// A column of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextColumn {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    pub(super) holds: ColumnRedaction,
}

const fn column(table: &'static str, name: &'static str, holds: ColumnRedaction) -> TextColumn {
    TextColumn { table, name, holds }
}

/// Returns all of them.
pub(super) fn all() -> Vec<TextColumn> {
    let nodes = node_columns::columns().iter();
    let now = nodes.clone().map(|it| column("node", it.name, it.holds));
    let old = nodes.flat_map(|it| it.old).map(|it| column("diff", it.name, it.holds));
    let texts = now.chain(old).filter(|it| it.holds != ColumnRedaction::Numbers);
    texts.chain(OTHERS.iter().copied()).collect()
}

/// Columns of neither nodes nor their versions.
const OTHERS: &[TextColumn] = &[
    column("root", "path", ColumnRedaction::Bound),
    column("root", "name", ColumnRedaction::Words),
    column("file", "path", ColumnRedaction::Bound),
    column("file", "content_hash", ColumnRedaction::Names),
    column("file", "error", ColumnRedaction::Words),
    column("snapshot", "cursor_hash", ColumnRedaction::Names),
    column("snapshot", "message", ColumnRedaction::Words),
    column("snapshot", "compile_root", ColumnRedaction::Bound),
    column("cursor", "name", ColumnRedaction::Names),
    column("diff", "op", ColumnRedaction::Names),
    column("diff", "node_id", ColumnRedaction::Names),
    column("diff", "new_hash", ColumnRedaction::Hash),
    column("blob", "hash", ColumnRedaction::Bound),
    column("blob", "content", ColumnRedaction::Bound),
    column("reference", "origin", ColumnRedaction::Names),
    column("reference", "form", ColumnRedaction::Names),
    column("reference", "label", ColumnRedaction::Bound),
    column("reference", "path", ColumnRedaction::Bound),
    column("reference", "id_hint", ColumnRedaction::Bound),
    column("reference", "heading", ColumnRedaction::Bound),
    column("reference", "alias", ColumnRedaction::Bound),
    column("reference", "candidates", ColumnRedaction::Names),
    column("file_name", "name", ColumnRedaction::Bound),
    column("lease", "name", ColumnRedaction::Names),
    column("lease", "holder", ColumnRedaction::Names),
    column("tombstone", "node_id", ColumnRedaction::Names),
    column("tombstone", "parent", ColumnRedaction::Names),
    column("tombstone", "node_type", ColumnRedaction::Names),
    column("tombstone", "source_hash", ColumnRedaction::Hash),
    column("facet", "key", ColumnRedaction::Names),
    column("facet", "value", ColumnRedaction::Bound),
    column("running_total", "counted", ColumnRedaction::Names),
    column("running_total", "kind", ColumnRedaction::Names),
    column("custom_view", "name", ColumnRedaction::Names),
    column("custom_view", "query", ColumnRedaction::Json),
    column("typed_edge", "type", ColumnRedaction::Bound),
    column("typed_edge", "target", ColumnRedaction::Names),
    column("forgotten_note", "hash", ColumnRedaction::Names),
    column("receipt", "name", ColumnRedaction::Names),
    column("receipt", "request", ColumnRedaction::Names),
    column("receipt", "answer", ColumnRedaction::Names),
    column("replica", "url", ColumnRedaction::Names),
    column("replica", "hash", ColumnRedaction::Names),
    column("replica", "unpublished", ColumnRedaction::Names),
    column("vector", "data", ColumnRedaction::Names),
];

#[cfg(test)]
mod tests;
