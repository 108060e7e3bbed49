//! The mark of a file that is a replica: it is written through its log, or not at all.

use std::path::Path;

use rusqlite::{Connection, Row, params};

use super::{ErrorContext, PreparedStatements, SharedError, StoreError, connection};

/// Refuses to write to a replica without its log.
pub(super) fn refuse_replica(conn: &Connection, path: &Path) -> Result<(), StoreError> {
    const SPACE: &str = "SELECT url FROM replica";
    match conn.find(SPACE, [], |row| row.get(0), "look for a space")? {
        None => Ok(()),
        Some(url) => Err(SharedError::ReadOnly { path: path.to_owned(), url }.into()),
    }
}

/// Notes which command changes the file past its log, if it is a replica, and returns whether it is
/// one. Nothing else is written then until an image is published.
pub(crate) fn mark_unpublished(conn: &Connection, what: &str) -> Result<bool, StoreError> {
    const MARK: &str = "UPDATE replica SET unpublished = ?1";
    Ok(0 < conn.run(MARK, [what], "note a change past the log")?)
}

/// Makes a file that takes the place of a replica one, too, with all of it to be published.
pub(crate) fn carry_replica(from: &Path, to: &Path, what: &str) -> Result<(), StoreError> {
    const REPLICA: &str = "SELECT url, epoch, seq, hash FROM replica";
    const DROP: &str = "DELETE FROM replica";
    const SET: &str = "
        INSERT INTO replica (one, url, epoch, seq, hash, unpublished)
        VALUES (1, ?1, ?2, ?3, ?4, ?5)";
    type ReplicaRow = (String, i64, i64, Vec<u8>);
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let old = connection::open_to_examine(from)?;
    // A file of an earlier schema is no replica.
    let place: Option<ReplicaRow> =
        old.prepare(REPLICA).ok().and_then(|mut it| it.query_row([], read).ok());
    let Some((url, epoch, seq, hash)) = place else { return Ok(()) };
    let new = connection::open_existing(to, "open the new file")?;
    new.execute(DROP, []).doing("carry the place in the log over")?;
    let row = params![url, epoch, seq, hash, what];
    new.execute(SET, row).doing("carry the place in the log over").map(drop)
}
