//! Queries nodes that were read or pinned, and the newest notes below a root.

use rusqlite::{Row, params};

use super::{NodeSummary, Reader, limit};
use crate::model::heat::StoredHeat;
use crate::store::heat_rows::{self, heat_columns};
use crate::store::{ErrorContext, NodeRowId, StoreError, links};

/// A node that was read or pinned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct UsedNodeWithHeat {
    pub(crate) key: NodeRowId,
    pub(crate) parent: Option<NodeRowId>,
    pub(crate) is_heading: bool,
    pub(crate) heat: StoredHeat,
}

impl Reader {
    /// Returns the nodes that were ever read or are pinned, among the newest `n_rows_max`
    /// temperatures.
    pub(crate) fn used_nodes(
        &self,
        n_rows_max: usize,
    ) -> Result<Vec<UsedNodeWithHeat>, StoreError> {
        const USED: &str = "
            SELECT n.key, n.parent, n.node_type = 'heading', h.temperature, h.at, h.pinned
              FROM (SELECT node, temperature, at, pinned, accessed_at
                      FROM heat
                     ORDER BY node DESC
                     LIMIT ?1) AS h
             CROSS JOIN node AS n ON n.key = h.node
             WHERE h.pinned = 1 OR h.accessed_at IS NOT NULL";
        let read = |row: &Row<'_>| {
            Ok(UsedNodeWithHeat {
                key: NodeRowId(row.get(0)?),
                parent: row.get::<_, Option<i64>>(1)?.map(NodeRowId),
                is_heading: row.get(2)?,
                heat: heat_rows::read_heat(row, 3)?,
            })
        };
        self.all(USED, [limit(n_rows_max)], read).doing("list the nodes in use")
    }

    /// Returns the newest nodes two levels below the root heading of that name, which belongs to no
    /// file: those of the last label first, and of one label the last.
    pub(crate) fn newest_below(
        &self,
        root: &str,
        n_max: usize,
    ) -> Result<Vec<NodeSummary>, StoreError> {
        const NEWEST: &str = concat!(
            "
            SELECT n.key, n.id, n.parent, n.position, n.file, NULL, n.node_type, n.lang, n.label,
                   n.token_count, ",
            heat_columns!(),
            "
              FROM node AS root
             CROSS JOIN node AS bucket ON bucket.parent = root.key
             CROSS JOIN node AS n ON n.parent = bucket.key
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE root.name = ?1
               AND root.label = ?2
               AND root.parent IS NULL
               AND root.file IS NULL
               AND n.fields IS NULL
             ORDER BY bucket.label DESC, n.position DESC
             LIMIT ?3"
        );
        let params = params![links::name(root), root, limit(n_max)];
        self.all(NEWEST, params, |row| self.read_head(row)).doing("list the newest notes")
    }
}
