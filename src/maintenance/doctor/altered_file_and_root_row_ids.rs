//! Gives a file or a root the number back that other rows know it by, and a node at the top of a
//! file the number of that file.
//!
//! Without it, the nodes of the file would lose their file, and the next compile would add each of
//! them again.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params};

use super::repair_history_recorder::head_snapshot;
use super::text_hashes::node_name;
use super::{NUMBER_MAX, compute_state_fingerprint};
use crate::model::identity::ContentHash;
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Changes tried at most; each computes the fingerprint of the state.
const TRIES_MAX: i64 = 16;

/// The changes of a number, which the finds of [`CHANGES`] name by their place.
const SET: [&str; 4] = [
    "UPDATE file SET id = ?1 WHERE id = ?2",
    "UPDATE root SET id = ?1 WHERE id = ?2",
    "UPDATE file SET root = ?1 WHERE root = ?2",
    "UPDATE node SET file = ?1 WHERE key = ?2",
];

/// The changes that make rows refer to something again, with the new and the present number. Each
/// file without nodes may be the missing one, each root without files too, and a file may be of any
/// root. A node may be of the file of the nodes below it. One with another breadcrumb than the
/// nodes beside it may be of a file of its breadcrumb, or of one without nodes; those whose
/// breadcrumb is the rarest are tried.
const CHANGES: &str = "
    WITH alike (file, trail, n) AS MATERIALIZED (
             SELECT file, trail, count(*)
               FROM node
              WHERE parent IS NULL AND file IS NOT NULL
              GROUP BY file, trail),
         top (file, trail, n_trails) AS MATERIALIZED (
             SELECT file, min(trail), count(*) FROM alike GROUP BY file),
         stray (key, file, trail, n) AS MATERIALIZED (
             SELECT node.key, node.file, node.trail, alike.n
               FROM node
               LEFT JOIN alike ON alike.file = node.file AND alike.trail = node.trail
              WHERE node.parent IS NULL
                AND (node.file IS NULL AND node.trail <> ''
                     OR node.file NOT IN (SELECT id FROM file)
                     OR node.file IN (SELECT file FROM top WHERE 1 < n_trails))
              ORDER BY alike.n, node.key
              LIMIT ?2)
    SELECT DISTINCT 0, node.file, empty.id
      FROM node
      JOIN file AS empty ON empty.id NOT IN (SELECT file FROM node WHERE file IS NOT NULL)
     WHERE node.file NOT IN (SELECT id FROM file) AND node.file BETWEEN 1 AND ?1
     UNION ALL
    SELECT DISTINCT 1, file.root, empty.id
      FROM file
      JOIN root AS empty ON empty.id NOT IN (SELECT root FROM file)
     WHERE file.root NOT IN (SELECT id FROM root) AND file.root BETWEEN 1 AND ?1
     UNION ALL
    SELECT DISTINCT 2, root.id, file.root
      FROM file
      JOIN root
     WHERE file.root NOT IN (SELECT id FROM root)
     UNION ALL
    SELECT DISTINCT 3, below.file, above.key
      FROM node AS above
      JOIN node AS below ON below.parent = above.key
     WHERE above.parent IS NULL AND below.file IS NOT above.file
     UNION ALL
    SELECT *
      FROM (SELECT 3, file.id, stray.key
              FROM stray
              JOIN file ON file.id IS NOT stray.file
              LEFT JOIN top ON top.file = file.id
             WHERE top.file IS NULL OR top.n_trails = 1 AND top.trail = stray.trail
             ORDER BY top.file IS NULL, stray.n, stray.key, file.id)
     LIMIT ?2";

/// Makes the changes that lead to the state that HEAD's fingerprint proves, or stay in it; returns
/// a note for each node.
pub(super) fn restore(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const NAME: &str = "SELECT id, label FROM node WHERE key = ?1";
    const DOING: &str = "restore a number";
    let head = head_snapshot(conn)?.map(|it| it.1);
    conn.pragma_update(None, "defer_foreign_keys", true).doing(DOING)?;
    let read = |row: &Row<'_>| {
        let [new, present]: [Value; 2] = [row.get(1)?, row.get(2)?];
        Ok((row.get::<_, u8>(0)?, new, present))
    };
    let mut notes = Vec::new();
    let changes: Vec<(u8, Value, Value)> =
        conn.rows(CHANGES, [NUMBER_MAX, TRIES_MAX], read, "find missing rows")?;
    for (nth, new, present) in changes {
        conn.execute_batch("SAVEPOINT restoring").doing(DOING)?;
        // A number that is taken is none.
        let (set, args) = (SET[usize::from(nth)], params![new, present]);
        let is_made = conn.execute(set, args).is_ok();
        let is_proven = is_made
            && head.as_ref() == Some(&ContentHash(compute_state_fingerprint(conn)?).to_string());
        if !is_proven {
            conn.execute_batch("ROLLBACK TO restoring").doing(DOING)?;
        } else if set == SET[3] {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let (id, label): (String, String) = conn.row(NAME, [&present], read, DOING)?;
            notes.push(format!("{} is of its file again", node_name(&id, &label)));
        }
        conn.execute_batch("RELEASE restoring").doing(DOING)?;
    }
    Ok(notes)
}
