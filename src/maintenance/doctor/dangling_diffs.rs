//! Checks that every change is of a snapshot, and restores the rows of lost snapshots: without one,
//! nothing before it could be restored.

use std::path::Path;

use rusqlite::{Connection, Row, params};

use super::{CheckStatus, first_few, verdict};
use crate::model::identity::ContentHash;
use crate::store::{PreparedStatements, StoreError};

/// The message of a restored snapshot.
const MESSAGE: &str = "doctor: its row was lost";

/// Checks the snapshot of every change.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let lost = lost_snapshots(conn)?;
    let n: i64 = lost.iter().map(|it| it.1).sum();
    let bad = format!("{n} diff rows reference a missing snapshot: {}", names(&lost));
    Ok(verdict(lost.is_empty(), "no dangling diffs".to_owned(), bad))
}

/// Adds the rows of snapshots up to the newest one, and drops the changes of others. The newest is
/// that of HEAD, though its row may be lost, too. The fingerprint of a state is nowhere else, but
/// for that of HEAD.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const RESTORE: &str = "
        WITH known (id) AS (
            SELECT id FROM snapshot
             UNION ALL
            SELECT snapshot
              FROM cursor
             WHERE name = 'HEAD' AND snapshot IN (SELECT snapshot FROM diff)
        )
        INSERT INTO snapshot (id, parent, cursor_hash, message, compile_root, created_at)
        SELECT ?1, (SELECT max(id) FROM snapshot WHERE id < ?1),
               iif(?1 < (SELECT max(id) FROM known), '', ?2), ?3, '',
               ifnull((SELECT created_at FROM snapshot WHERE id < ?1 ORDER BY id DESC LIMIT 1), 0)
         WHERE ?1 <= (SELECT max(id) FROM known)";
    const DROP: &str = "DELETE FROM diff WHERE snapshot = ?1";
    const KEPT: &str = "SELECT fingerprint FROM memory";
    const DOING: &str = "restore a snapshot";
    let kept: Option<i64> = conn.find(KEPT, [], |row| row.get(0), DOING)?;
    let kept = kept.map(|it| ContentHash(it.cast_unsigned()).to_string()).unwrap_or_default();
    let (mut restored, mut dropped) = (Vec::new(), Vec::new());
    for lost in lost_snapshots(conn)? {
        match conn.run(RESTORE, params![lost.0, kept, MESSAGE], DOING)? {
            0 => {
                conn.run(DROP, [lost.0], "drop changes of no snapshot")?;
                dropped.push(lost);
            }
            _ => restored.push(lost),
        }
    }
    let mut notes = Vec::new();
    if !restored.is_empty() {
        let names = names(&restored);
        notes.push(format!("the rows of snapshots were lost, and their changes are kept: {names}"));
    }
    if !dropped.is_empty() {
        let names = names(&dropped);
        notes.push(format!("changes of snapshots that never were are dropped: {names}"));
    }
    Ok(notes)
}

/// Returns the snapshots without a row that have changes, and the numbers of these.
fn lost_snapshots(conn: &Connection) -> Result<Vec<(i64, i64)>, StoreError> {
    const LOST: &str = "
        SELECT snapshot, count(*)
          FROM diff
         WHERE snapshot NOT IN (SELECT id FROM snapshot)
         GROUP BY snapshot
         ORDER BY snapshot";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    conn.rows(LOST, [], read, "look for lost snapshots")
}

fn names(snapshots: &[(i64, i64)]) -> String {
    first_few(&snapshots.iter().map(|it| it.0.to_string()).collect::<Vec<_>>())
}
