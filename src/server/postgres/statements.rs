//! The tables of spaces and every statement about them, with the reading of their rows.

use super::connection::RawRow;
use crate::store::replication::{LogHash, LogPart, LogPosition, SpaceHead};

/// The tables. A lock keeps two that make them at once apart.
pub(super) const TABLES: [&str; 5] = [
    "SELECT pg_advisory_xact_lock(7236825617862984802)",
    "CREATE TABLE IF NOT EXISTS space (
         name text PRIMARY KEY, epoch bigint NOT NULL, head bigint NOT NULL, hash bytea NOT NULL,
         schema bigint NOT NULL)",
    "CREATE TABLE IF NOT EXISTS log (
         space text NOT NULL, epoch bigint NOT NULL, seq bigint NOT NULL, part bigint NOT NULL,
         writer text NOT NULL, schema bigint NOT NULL, hash bytea, body bytea NOT NULL,
         PRIMARY KEY (space, epoch, seq, part))",
    "CREATE TABLE IF NOT EXISTS image (
         space text NOT NULL, epoch bigint NOT NULL, seq bigint NOT NULL, part bigint NOT NULL,
         hash bytea NOT NULL, writer text NOT NULL, schema bigint NOT NULL, sum bytea,
         body bytea NOT NULL, PRIMARY KEY (space, epoch, seq, part))",
    "CREATE TABLE IF NOT EXISTS lease (
         space text NOT NULL, name text NOT NULL, holder text NOT NULL,
         expires_at timestamptz NOT NULL, PRIMARY KEY (space, name))",
];

/// Each statement sees what was committed before it, whatever the server's settings say: the head
/// is read when its lock is there.
pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
pub(super) const COMMIT: &str = "COMMIT";
pub(super) const ROLLBACK: &str = "ROLLBACK";

/// The server ends the transaction of a writer that does not go on.
pub(super) const FENCE: &str = "SET LOCAL idle_in_transaction_session_timeout = 30000";

/// The server ends a wait for the turn of another.
pub(super) const WAIT: &str = "SET LOCAL lock_timeout = 7000";

pub(super) const ADD_SPACE: &str =
    "INSERT INTO space (name, epoch, head, hash, schema) VALUES ($1, 0, 0, $2, $3)
     ON CONFLICT (name) DO NOTHING RETURNING name";

pub(super) const HEAD: &str = "SELECT epoch, head, hash, schema FROM space WHERE name = $1";

pub(super) const LOCK_HEAD: &str =
    "SELECT epoch, head, hash, schema FROM space WHERE name = $1 FOR UPDATE";

/// Few parts, and of those only as many as are small together: one may be large.
pub(super) const PARTS: &str = "SELECT seq, part, writer, schema, hash, body
     FROM (SELECT *, sum(octet_length(body)) OVER (ORDER BY seq, part) - octet_length(body) AS bytes
           FROM (SELECT seq, part, writer, schema, hash, body FROM log
                 WHERE space = $1 AND epoch = $2 AND (seq > $3 OR seq = $3 AND part > $4)
                 ORDER BY seq, part LIMIT 16) AS later) AS summed
     WHERE bytes < 8388608 ORDER BY seq, part";

pub(super) const ENTRY_HASH: &str =
    "SELECT hash FROM log WHERE space = $1 AND epoch = $2 AND seq = $3 AND hash IS NOT NULL";

pub(super) const APPEND: &str =
    "INSERT INTO log (space, epoch, seq, part, writer, schema, hash, body)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";

pub(super) const APPEND_IMAGE: &str =
    "INSERT INTO image (space, epoch, seq, part, hash, writer, schema, sum, body)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

/// An image of a place that has one already is made again.
pub(super) const DROP_IMAGE: &str =
    "DELETE FROM image WHERE space = $1 AND epoch = $2 AND seq = $3";

pub(super) const MOVE_HEAD: &str =
    "UPDATE space SET epoch = $2, head = $3, hash = $4, schema = $5 WHERE name = $1";

pub(super) const DROP_OLD_LOG: &str = "DELETE FROM log WHERE space = $1 AND epoch < $2";
pub(super) const DROP_OLD_IMAGES: &str = "DELETE FROM image WHERE space = $1 AND epoch < $2";

pub(super) const NOTIFY: &str = "SELECT pg_notify('remindb', $1)";
pub(super) const LISTEN: &str = "LISTEN remindb";

pub(super) const NEWEST_IMAGE: &str = "SELECT epoch, seq, hash FROM image
     WHERE space = $1 AND epoch = $2 AND part = 0 ORDER BY seq DESC LIMIT 1";

pub(super) const IMAGE_PARTS: &str = "SELECT seq, part, writer, schema, sum, body
     FROM (SELECT *, sum(octet_length(body)) OVER (ORDER BY part) - octet_length(body) AS bytes
           FROM (SELECT seq, part, writer, schema, sum, body FROM image
                 WHERE space = $1 AND epoch = $2 AND seq = $3 AND part > $4
                 ORDER BY part LIMIT 16) AS later) AS summed
     WHERE bytes < 8388608 ORDER BY part";

pub(super) const IMAGE_SUM: &str =
    "SELECT sum FROM image WHERE space = $1 AND epoch = $2 AND seq = $3 AND sum IS NOT NULL";

/// Takes a lease that is free, or renews an own one.
pub(super) const TAKE_LEASE: &str = "INSERT INTO lease (space, name, holder, expires_at)
     VALUES ($1, $2, $3, now() + interval '90 seconds')
     ON CONFLICT (space, name) DO UPDATE
        SET holder = excluded.holder, expires_at = excluded.expires_at
      WHERE lease.holder = excluded.holder OR lease.expires_at < now()
     RETURNING holder";

/// Renews what was not lost, and says which leases those are.
pub(super) const RENEW_LEASES: &str =
    "UPDATE lease SET expires_at = now() + interval '90 seconds' WHERE space = $1 AND holder = $2
     RETURNING name";

/// A turn ends before the lease does: a writer that does not go on is ended after 30 s.
pub(super) const HAS_LEASE: &str = "SELECT holder FROM lease
     WHERE space = $1 AND name = $2 AND holder = $3
       AND clock_timestamp() + interval '40 seconds' < expires_at";

pub(super) const RELEASE_LEASES: &str = "DELETE FROM lease WHERE space = $1 AND holder = $2";

pub(super) const LEASE_HOLDER: &str = "SELECT holder FROM lease WHERE space = $1 AND name = $2";

pub(super) const LEASES: &str =
    "SELECT name, holder, CAST(extract(epoch FROM expires_at - now()) AS bigint) FROM lease
     WHERE space = $1 AND now() <= expires_at ORDER BY name";

pub(super) const CUT_LOG: &str =
    "DELETE FROM log WHERE space = $1 AND epoch = $2 AND seq <= $3 RETURNING seq";

pub(super) const CUT_IMAGES: &str =
    "DELETE FROM image WHERE space = $1 AND (epoch < $2 OR epoch = $2 AND seq < $3) RETURNING seq";

/// Reads the values of a row; `None` where the server answers in a form of its own.
pub(super) struct RowReader(std::vec::IntoIter<Option<Vec<u8>>>);

impl RowReader {
    pub(super) fn new(row: RawRow) -> RowReader {
        RowReader(row.into_iter())
    }

    pub(super) fn int(&mut self) -> Option<i64> {
        self.bytes()?.try_into().ok().map(i64::from_be_bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?).ok()
    }

    pub(super) fn bytes(&mut self) -> Option<Vec<u8>> {
        self.0.next()?
    }

    fn hash(&mut self) -> Option<LogHash> {
        self.bytes()?.try_into().ok().map(LogHash)
    }

    fn place(&mut self) -> Option<LogPosition> {
        Some(LogPosition { epoch: self.int()?, seq: self.int()?, hash: self.hash()? })
    }
}

pub(super) fn read_head(row: RawRow) -> Option<SpaceHead> {
    let mut row = RowReader::new(row);
    Some(SpaceHead { place: row.place()?, schema: row.int()? })
}

pub(super) fn read_hash(row: RawRow) -> Option<LogHash> {
    RowReader::new(row).hash()
}

pub(super) fn read_place(row: RawRow) -> Option<LogPosition> {
    RowReader::new(row).place()
}

pub(super) fn read_part(row: RawRow) -> Option<LogPart> {
    let mut row = RowReader::new(row);
    let (seq, part, writer, schema) = (row.int()?, row.int()?, row.text()?, row.int()?);
    let hash = match row.0.next()? {
        None => None,
        Some(bytes) => Some(LogHash(bytes.try_into().ok()?)),
    };
    Some(LogPart { seq, part, writer, schema, hash, body: row.bytes()? })
}
