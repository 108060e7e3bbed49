//! The place of a replica in the log of its space: the one row of the table `replica`.

use rusqlite::{Connection, Row, params};

use super::log_entry::LogHash;
use crate::store::{PreparedStatements, StoreError};

const DOING: &str = "read the place in the log";

/// A place in the log of a space: after an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LogPosition {
    pub(crate) epoch: i64,
    pub(crate) seq: i64,
    pub(crate) hash: LogHash,
}

/// A file that is a replica.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Replica {
    /// The space, without a password.
    pub(crate) url: String,
    pub(crate) place: LogPosition,
    /// The change past the log that has to be published as a new epoch.
    pub(crate) unpublished: Option<String>,
}

/// Returns what the file is a replica of; `None` when it is none.
pub(crate) fn replica_of(conn: &Connection) -> Result<Option<Replica>, StoreError> {
    const REPLICA: &str = "SELECT url, epoch, seq, hash, unpublished FROM replica";
    let read = |row: &Row<'_>| {
        let hash: [u8; 32] = row.get(3)?;
        let place = LogPosition { epoch: row.get(1)?, seq: row.get(2)?, hash: LogHash(hash) };
        Ok(Replica { url: row.get(0)?, place, unpublished: row.get(4)? })
    };
    conn.find(REPLICA, [], read, DOING)
}

/// Makes the file a replica of a space.
pub(crate) fn become_replica(
    conn: &Connection,
    url: &str,
    place: &LogPosition,
) -> Result<(), StoreError> {
    const SET: &str = "
        INSERT INTO replica (one, url, epoch, seq, hash)
        VALUES (1, ?1, ?2, ?3, ?4)
        ON CONFLICT (one) DO UPDATE
           SET url = ?1, epoch = ?2, seq = ?3, hash = ?4, unpublished = NULL";
    let row = params![url, place.epoch, place.seq, place.hash.0];
    conn.run(SET, row, "note the place in the log").map(drop)
}

/// Notes that a replica's space has another address.
pub(crate) fn set_space_url(conn: &Connection, url: &str) -> Result<(), StoreError> {
    conn.run("UPDATE replica SET url = ?1", [url], "note the address of the space").map(drop)
}

/// Makes the file a memory of its own again.
pub(crate) fn leave_space(conn: &Connection) -> Result<(), StoreError> {
    conn.run("DELETE FROM replica", [], "leave the space").map(drop)
}

/// Moves the place in the log. Nothing waits to be published then.
pub(super) fn move_to(conn: &Connection, place: &LogPosition) -> Result<(), StoreError> {
    const MOVE: &str = "UPDATE replica SET epoch = ?1, seq = ?2, hash = ?3, unpublished = NULL";
    let row = params![place.epoch, place.seq, place.hash.0];
    conn.run(MOVE, row, "note the place in the log").map(drop)
}
