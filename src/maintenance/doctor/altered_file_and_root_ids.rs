//! Gives a file or a root the number back that other rows know it by.
//!
//! Without it, the nodes of the file would lose their file, and the next compile would add each of
//! them again.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};

use super::compute_state_fingerprint;
use super::repair_history_recorder::head_snapshot;
use crate::model::identity::ContentHash;
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Changes tried at most; each computes the fingerprint of the state.
const TRIES_MAX: usize = 16;

/// The changes of a number, which the finds of [`CHANGES`] name by their place.
const SET: [&str; 3] = [
    "UPDATE file SET id = ?1 WHERE id = ?2",
    "UPDATE root SET id = ?1 WHERE id = ?2",
    "UPDATE file SET root = ?1 WHERE root = ?2",
];

/// The changes that make rows refer to something again, with the new and the present number. Each
/// file without nodes may be the missing one, each root without files too, and a file may be of any
/// root.
const CHANGES: &str = "
    SELECT DISTINCT 0, node.file, empty.id
      FROM node
      JOIN file AS empty ON empty.id NOT IN (SELECT file FROM node WHERE file IS NOT NULL)
     WHERE node.file NOT IN (SELECT id FROM file)
     UNION ALL
    SELECT DISTINCT 1, file.root, empty.id
      FROM file
      JOIN root AS empty ON empty.id NOT IN (SELECT root FROM file)
     WHERE file.root NOT IN (SELECT id FROM root)
     UNION ALL
    SELECT DISTINCT 2, root.id, file.root
      FROM file
      JOIN root
     WHERE file.root NOT IN (SELECT id FROM root)";

/// Makes the changes that lead to the state that HEAD's fingerprint proves, or stay in it.
pub(super) fn restore(conn: &Connection) -> Result<(), StoreError> {
    const DOING: &str = "restore a number";
    let head = head_snapshot(conn)?.map(|it| it.1);
    conn.pragma_update(None, "defer_foreign_keys", true).doing(DOING)?;
    let read = |row: &Row<'_>| {
        let [new, present]: [Value; 2] = [row.get(1)?, row.get(2)?];
        Ok((row.get::<_, u8>(0)?, new, present))
    };
    let changes: Vec<(u8, Value, Value)> = conn.rows(CHANGES, [], read, "find missing rows")?;
    for (nth, new, present) in changes.into_iter().take(TRIES_MAX) {
        conn.execute_batch("SAVEPOINT restoring").doing(DOING)?;
        // A number that is taken is none.
        let is_made = conn.execute(SET[usize::from(nth)], params![new, present]).is_ok();
        let is_proven = is_made
            && head.as_ref() == Some(&ContentHash(compute_state_fingerprint(conn)?).to_string());
        if !is_proven {
            conn.execute_batch("ROLLBACK TO restoring").doing(DOING)?;
        }
        conn.execute_batch("RELEASE restoring").doing(DOING)?;
    }
    Ok(())
}
