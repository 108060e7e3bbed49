//! Typed nodes that are not archived, with the times by which they may be.

use rusqlite::{Connection, Row};

use super::Reader;
use crate::model::tree::NodeType;
use crate::store::{PreparedStatements, StoreError};

/// Holds a typed node that may be archived. Times are in ms since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArchiveCandidate {
    pub(crate) uuid: String,
    pub(crate) created_at: i64,
    /// When it was last read; when it was made, if it never was.
    pub(crate) accessed_at: i64,
    /// Of a completed task.
    pub(crate) completed_at: Option<i64>,
}

/// Returns the typed nodes of a type that are not archived, eldest first; nodes without a UUID are
/// passed over.
pub(crate) fn archivable(
    conn: &Connection,
    node_type: NodeType,
) -> Result<Vec<ArchiveCandidate>, StoreError> {
    const NODES: &str = "
        SELECT uuid.value, ifnull(created.value, 0), heat.accessed_at,
               iif(status.value = 'completed', completed.value, NULL)
          FROM facet AS of_type
          JOIN facet AS archived
            ON archived.node = of_type.node AND archived.key = 'archived' AND archived.value = 0
          JOIN facet AS uuid ON uuid.node = of_type.node AND uuid.key = 'uuid'
          LEFT JOIN facet AS created
            ON created.node = of_type.node AND created.key = 'created_at'
          LEFT JOIN facet AS status ON status.node = of_type.node AND status.key = 'status'
          LEFT JOIN facet AS completed
            ON completed.node = of_type.node AND completed.key = 'completed_at'
          LEFT JOIN heat ON heat.node = of_type.node
         WHERE of_type.key = 'type'
           AND of_type.value = ?1
         ORDER BY 2, 1";
    let read = |row: &Row<'_>| {
        // What is no number in a damaged row counts as no time.
        let time = |at: usize| row.get_ref(at).map(|it| it.as_i64().ok());
        let created_at = time(1)?.unwrap_or(0);
        Ok(ArchiveCandidate {
            uuid: row.get(0)?,
            created_at,
            accessed_at: time(2)?.unwrap_or(created_at),
            completed_at: time(3)?,
        })
    };
    conn.rows(NODES, [node_type.as_str()], read, "look for memories to archive")
}

impl Reader {
    /// Returns the typed nodes of a type that are not archived, eldest first.
    pub(crate) fn archivable(
        &self,
        node_type: NodeType,
    ) -> Result<Vec<ArchiveCandidate>, StoreError> {
        archivable(&self.conn, node_type)
    }
}
