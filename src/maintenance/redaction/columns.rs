//! Every column of text that the schema has, and what redaction does with it.
//!
//! Those of nodes and of their versions come from the table of a node's columns. The list is
//! compared with the schema by a test, so that a new column of text is decided upon before anything
//! can be stored in it.

use crate::store::columns::{self, Holds};

/// A column of text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
    pub(super) holds: Holds,
}

const fn column(table: &'static str, name: &'static str, holds: Holds) -> Column {
    Column { table, name, holds }
}

/// All of them.
pub(super) fn all() -> Vec<Column> {
    let nodes = columns::columns().iter();
    let now = nodes.clone().map(|it| column("node", it.name, it.holds));
    let old = nodes.flat_map(|it| it.old).map(|it| column("diff", it.name, it.holds));
    let texts = now.chain(old).filter(|it| it.holds != Holds::Numbers);
    texts.chain(OTHERS.iter().copied()).collect()
}

/// Those of neither nodes nor their versions.
const OTHERS: &[Column] = &[
    column("root", "path", Holds::Bound),
    column("file", "path", Holds::Bound),
    column("file", "content_hash", Holds::Names),
    column("file", "error", Holds::Words),
    column("snapshot", "cursor_hash", Holds::Names),
    column("snapshot", "message", Holds::Words),
    column("snapshot", "compile_root", Holds::Bound),
    column("cursor", "name", Holds::Names),
    column("diff", "op", Holds::Names),
    column("diff", "node_id", Holds::Names),
    column("diff", "new_hash", Holds::Hash),
    column("blob", "hash", Holds::Bound),
    column("blob", "content", Holds::Bound),
    column("reference", "origin", Holds::Names),
    column("reference", "form", Holds::Names),
    column("reference", "label", Holds::Bound),
    column("reference", "path", Holds::Bound),
    column("reference", "id_hint", Holds::Bound),
    column("reference", "heading", Holds::Bound),
    column("reference", "alias", Holds::Bound),
    column("reference", "candidates", Holds::Names),
    column("file_name", "name", Holds::Bound),
    column("lease", "name", Holds::Names),
    column("lease", "holder", Holds::Names),
    column("tombstone", "node_id", Holds::Names),
    column("tombstone", "parent", Holds::Names),
    column("tombstone", "node_type", Holds::Names),
    column("tombstone", "source_hash", Holds::Hash),
];

#[cfg(test)]
mod tests;
