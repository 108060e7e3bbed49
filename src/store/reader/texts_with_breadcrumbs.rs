//! Texts of nodes with their breadcrumbs, as ranking and excerpts read them.

use std::collections::HashMap;

use rusqlite::Row;

use super::{Reader, list};
use crate::store::{ErrorContext, NodeKey, StoreError};

/// The text of a node, and its breadcrumb.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextWithBreadcrumb {
    /// The stem of its file and the labels above it.
    pub(crate) breadcrumb: String,
    pub(crate) content: String,
}

impl Reader {
    /// Returns the texts of nodes with their breadcrumbs.
    pub(crate) fn texts(
        &self,
        keys: &[NodeKey],
    ) -> Result<HashMap<NodeKey, TextWithBreadcrumb>, StoreError> {
        const TEXTS: &str = "
            SELECT n.key, n.trail, n.content
              FROM json_each(?1) AS wanted
              JOIN node AS n ON n.key = wanted.value";
        let read = |row: &Row<'_>| {
            let text = TextWithBreadcrumb { breadcrumb: row.get(1)?, content: row.get(2)? };
            Ok((NodeKey(row.get(0)?), text))
        };
        let rows: Vec<(NodeKey, TextWithBreadcrumb)> =
            self.all(TEXTS, [list(keys)], read).doing("read texts and breadcrumbs")?;
        Ok(rows.into_iter().collect())
    }
}
