//! Finds what texts of files were before a repair accepted altered ones.
//!
//! Such a repair takes an altered text as it is and forgets the hash of its file, so that the next
//! compile brings the true text back. Its change in the history has the hash of that text, by which
//! the compile recognizes the node.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};

use super::source_files::nodes_of_file;
use super::{FileRow, NodeRowId, PreparedStatements, StoreError};
use crate::model::identity::ContentHash;

/// The message of the snapshots of repairs.
pub(crate) const REPAIR_MESSAGE: &str = "doctor: repaired";

/// A query of the repairs of the texts of nodes, given by their keys as the table `inside`.
macro_rules! repairs {
    () => {
        "
        SELECT node.key, node.source_hash, diff.old_hash, diff.new_hash
          FROM inside
         CROSS JOIN node ON node.key = inside.key
         CROSS JOIN diff ON diff.node_id = node.id
          JOIN snapshot ON snapshot.id = diff.snapshot
         WHERE node.source_hash IS NOT NULL
           AND diff.old_hash <> diff.new_hash
           AND snapshot.message = ?2
         ORDER BY diff.snapshot DESC"
    };
}

/// Returns the hashes that the texts of a file's nodes had before repairs, by key. A file whose row
/// has the hash of what was read has none.
pub(super) fn of_file(
    conn: &Connection,
    row: &FileRow,
) -> Result<HashMap<NodeRowId, ContentHash>, StoreError> {
    match row.content_hash {
        Some(_) => Ok(HashMap::new()),
        None => before(conn, concat!(nodes_of_file!(), repairs!()), row.id.0),
    }
}

/// Returns the hash that a node's text had before repairs, if its file was not read since then.
pub(super) fn of_node(
    conn: &Connection,
    node: NodeRowId,
) -> Result<Option<ContentHash>, StoreError> {
    const IS_WAITING: &str = "
        SELECT EXISTS (SELECT 1
                         FROM node
                         JOIN file ON file.id = node.file
                        WHERE node.key = ?1 AND file.content_hash IS NULL AND NOT file.gone)";
    const OF_NODE: &str = concat!("WITH inside (key) AS (SELECT ?1)", repairs!());
    let is_waiting: bool = conn.row(IS_WAITING, [node.0], |row| row.get(0), "look at a file")?;
    if !is_waiting {
        return Ok(None);
    }
    Ok(before(conn, OF_NODE, node.0)?.remove(&node))
}

/// Returns the oldest repair whose change of a text the compile of a file still needs.
pub(crate) fn oldest_needed(conn: &Connection) -> Result<Option<i64>, StoreError> {
    const OLDEST: &str = "
        SELECT min(snapshot.id)
          FROM snapshot
         CROSS JOIN diff ON diff.snapshot = snapshot.id
          JOIN node ON node.id = diff.node_id
          JOIN file ON file.id = node.file
         WHERE snapshot.message = ?1
           AND node.source_hash IS NOT NULL
           AND diff.old_hash <> diff.new_hash
           AND file.content_hash IS NULL
           AND NOT file.gone";
    conn.row(OLDEST, [REPAIR_MESSAGE], |row| row.get(0), "look for the repairs to keep")
}

fn before(
    conn: &Connection,
    repairs: &str,
    of: i64,
) -> Result<HashMap<NodeRowId, ContentHash>, StoreError> {
    let read = |row: &Row<'_>| {
        let hash = |idx| row.get(idx).map(|it: String| ContentHash::parse(&it));
        Ok((NodeRowId(row.get(0)?), [hash(1)?, hash(2)?, hash(3)?]))
    };
    let repairs: Vec<(NodeRowId, [Option<ContentHash>; 3])> =
        conn.rows(repairs, params![of, REPAIR_MESSAGE], read, "look for texts before a repair")?;
    let mut before = HashMap::new();
    // A text may be altered again before the file is read.
    for (key, [source, old, new]) in repairs {
        let now = before.get(&key).copied().or(source);
        if let Some(old) = old.filter(|_| now.is_some() && now == new) {
            before.insert(key, old);
        }
    }
    Ok(before)
}
