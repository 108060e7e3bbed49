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

/// Returns the hashes that the texts of a file's nodes had before a repair, by key. A file that was
/// read since then has none.
pub(super) fn of_file(
    conn: &Connection,
    row: &FileRow,
) -> Result<HashMap<NodeRowId, ContentHash>, StoreError> {
    const BEFORE: &str = concat!(
        nodes_of_file!(),
        "
        SELECT node.key, diff.old_hash
          FROM inside
         CROSS JOIN node ON node.key = inside.key
          JOIN diff ON diff.node_id = node.id AND diff.new_hash = node.source_hash
          JOIN snapshot ON snapshot.id = diff.snapshot
         WHERE diff.old_hash <> diff.new_hash
           AND snapshot.message = ?2
         ORDER BY diff.snapshot"
    );
    if row.content_hash.is_some() {
        return Ok(HashMap::new());
    }
    let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get::<_, String>(1)?));
    let of = params![row.id.0, REPAIR_MESSAGE];
    let rows: Vec<(NodeRowId, String)> =
        conn.rows(BEFORE, of, read, "look for texts before a repair")?;
    Ok(rows.into_iter().filter_map(|(key, hash)| Some((key, ContentHash::parse(&hash)?))).collect())
}
