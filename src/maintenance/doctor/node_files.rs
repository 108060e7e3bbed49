//! Checks that every node is of the file of the node above it, and gives altered ones their file
//! back.
//!
//! The fingerprint has the file of a node that is below no other one, and the places of all others.
//! Where it is that of HEAD, the nodes below follow.

use std::path::Path;

use rusqlite::{Connection, Row};

use super::text_hashes::node_name;
use super::{CheckStatus, PresentStateFingerprints, count, first_few, shown, verdict};
use crate::store::{PreparedStatements, StoreError};

/// Compares the file of every node with that of the node above.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let (n, others) = (count(conn, "SELECT count(*) FROM node")?, in_other_files(conn)?);
    let bad = format!(
        "{} of {n} nodes are of another file than the node above: {}",
        others.len(),
        first_few(&others)
    );
    Ok(verdict(others.is_empty(), format!("{n} nodes are of the file of the node above"), bad))
}

/// Gives nodes the file of the node above, where HEAD's fingerprint proves what is above.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let others = in_other_files(conn)?;
    if !PresentStateFingerprints::read(conn)?.agree() {
        return Ok(Vec::new());
    }
    follow_parents(conn)?;
    Ok(vec![format!("the file of the nodes beside them is theirs again: {}", first_few(&others))])
}

/// Takes files' nodes that are of another file than the node above out of it: the next compile of
/// that file would leave them out. All others follow the node above.
pub(super) fn separate(conn: &Connection) -> Result<(), StoreError> {
    const TAKE_OUT: &str = "
        UPDATE node
           SET parent = NULL
         WHERE source_hash IS NOT NULL AND file IS NOT NULL AND parent IS NOT NULL
           AND file IS NOT (SELECT above.file FROM node AS above WHERE above.key = node.parent)";
    conn.run(TAKE_OUT, [], "take a node out of another file")?;
    follow_parents(conn)
}

/// Returns the names of the nodes that are of another file than the node above.
fn in_other_files(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const OTHERS: &str = "
        SELECT node.id, node.label, file.path
          FROM node
          JOIN node AS above ON above.key = node.parent
          LEFT JOIN file ON file.id = node.file
         WHERE node.file IS NOT above.file
         ORDER BY node.key";
    let read = |row: &Row<'_>| {
        let (id, label): (String, String) = (row.get(0)?, row.get(1)?);
        let node = node_name(&id, &label);
        Ok(match row.get::<_, Option<String>>(2)? {
            Some(path) => format!("{node} of {}", shown(&path)),
            None => node,
        })
    };
    conn.rows(OTHERS, [], read, "compare the files of nodes")
}

/// Gives every node the file of the topmost node above.
fn follow_parents(conn: &Connection) -> Result<(), StoreError> {
    const FOLLOW: &str = "
        WITH RECURSIVE reached (key, file) AS (
            SELECT key, file FROM node WHERE parent IS NULL
             UNION ALL
            SELECT node.key, reached.file
              FROM reached
              JOIN node ON node.parent = reached.key
        )
        UPDATE node
           SET file = reached.file
          FROM reached
         WHERE node.key = reached.key AND node.file IS NOT reached.file";
    conn.run(FOLLOW, [], "give nodes their file").map(drop)
}
