//! Trims the history from its beginning, and removes the bytes of deleted rows from the file.
//!
//! Deleting rows leaves their bytes in free pages, in the log and in the segments of the full-text
//! index. [`Writer::scrub`] merges the index, rewrites the file from the live rows, and empties the
//! log; then nothing else is in it.

use std::ops::RangeInclusive;
use std::time::Duration;

use rusqlite::{Connection, Transaction, params};

use crate::model::clock::UnixMillis;
use crate::store::write_lock_and_holder::reader_name;
use crate::store::{
    ErrorContext, StoreError, Writer, busy_handler, checkpoint, hashes_before_repairs, source_files,
};

/// Longest wait for readers, which keep the log from being emptied.
const READERS_WAIT: Duration = Duration::from_secs(5);

/// Age up to which a request with a key gets its answer again, though its snapshot is forgotten.
const RECEIPT_AGE_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The snapshots to keep. The newest always stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SnapshotRetentionPolicy {
    /// All of them.
    All,
    /// The newest so many.
    Last(u32),
    /// Snapshots made at this time or later. One that claims a time in the future was made by a
    /// wrong clock, and is as old as the next one that was not.
    Since(UnixMillis),
}

/// Whether to trim or only to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GcMode {
    DryRun,
    Real,
}

/// Counts of what was removed, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GcReport {
    pub(crate) n_snapshots: usize,
    pub(crate) n_changes: usize,
    pub(crate) n_texts: usize,
    /// Bytes of the removed texts.
    pub(crate) text_bytes: i64,
    /// The oldest snapshot kept; 0: there is none.
    pub(crate) first: i64,
    pub(crate) n_left: i64,
    /// Snapshots that stay only until a compile reads the files whose texts a repair found altered.
    pub(crate) n_kept_for_compile: i64,
    /// Bytes of the file.
    pub(crate) bytes_before: i64,
    pub(crate) bytes_after: i64,
    /// The reason why deleted bytes are still in the file, if they are.
    pub(crate) unscrubbed: Option<String>,
}

impl Writer {
    /// Drops the history before the first snapshot to keep. The state stays as it is, and every
    /// snapshot kept can be rolled back to.
    ///
    /// Only what a copy has whose newest snapshot is `copied` is dropped, not what others replaced
    /// since; `i64::MAX` drops without a copy.
    pub(crate) fn collect(
        &self,
        keep: SnapshotRetentionPolicy,
        mode: GcMode,
        now: UnixMillis,
        copied: i64,
    ) -> Result<GcReport, StoreError> {
        let mut collected = {
            let conn = self.lock();
            let bytes_before = file_bytes(&conn)?;
            let drop = |tx: &Transaction<'_>| {
                let collected = GcReport { bytes_before, ..drop_before(tx, keep, now, copied)? };
                source_files::forget_lost(tx)?;
                Ok(collected)
            };
            match mode {
                GcMode::Real => {
                    let doing = ("begin a collection", "commit the collection");
                    let collected = self.transact(&conn, doing.0, doing.1, drop)?;
                    self.file_identity().confirm(&conn)?;
                    collected
                }
                GcMode::DryRun => {
                    let files = self.file_identity();
                    let tx = files.begin_write(&conn, "begin a collection")?;
                    let collected: Result<GcReport, StoreError> = drop(&tx);
                    tx.rollback().doing("roll back")?;
                    collected?
                }
            }
        };
        collected.bytes_after = collected.bytes_before;
        if mode == GcMode::Real {
            collected.unscrubbed = match self.scrub() {
                Ok(true) => None,
                Ok(false) => Some(format!("{} is reading it", reader_name(&self.lock()))),
                Err(error) => Some(error.after_a_change()),
            };
            collected.bytes_after = file_bytes(&self.lock()).unwrap_or(collected.bytes_before);
        }
        Ok(collected)
    }

    /// Removes everything but live rows from the file and its log; returns whether it succeeded.
    ///
    /// A reader in another process keeps the log.
    pub(crate) fn scrub(&self) -> Result<bool, StoreError> {
        const MERGE: &str = "INSERT INTO node_fts (node_fts) VALUES ('optimize')";
        let _kept = self.log().lock_copying();
        let mut conn = self.lock();
        let doing = "merge the full-text index";
        let tx = self.file_identity().begin_write(&conn, doing)?;
        tx.execute(MERGE, []).doing(doing)?;
        tx.commit().doing(doing)?;
        // VACUUM makes a copy as large as the memory, which is too much for RAM.
        conn.pragma_update(None, "temp_store", "FILE").doing("make room for a copy")?;
        let rewritten = conn.execute_batch("VACUUM").doing("rewrite the file");
        conn.pragma_update(None, "temp_store", "MEMORY").doing("make room for a copy")?;
        self.record_again(&conn)?;
        rewritten?;
        let emptied = checkpoint::empty(&conn, READERS_WAIT);
        busy_handler::set_busy_timeout(&mut conn, busy_handler::LONG)?;
        emptied
    }
}

fn drop_before(
    conn: &Connection,
    keep: SnapshotRetentionPolicy,
    now: UnixMillis,
    copied: i64,
) -> Result<GcReport, StoreError> {
    const FIRST: &str = "SELECT ifnull(min(id), 0), count(*) FROM snapshot";
    const BETWEEN: &str = "SELECT count(*) FROM snapshot WHERE ?1 <= id AND id < ?2";
    // The base text below an overlay is needed to notice the file's next change; one that was kept
    // for that goes once the overlay is gone, whatever is forgotten.
    const DROP_TEXTS: &str = "
        DELETE FROM blob
         WHERE NOT EXISTS (
               SELECT 1 FROM diff WHERE diff.old_hash = blob.hash AND ?1 < diff.snapshot)
           AND hash NOT IN (
               SELECT source_hash FROM node
                WHERE source_hash IS NOT NULL AND source_hash <> content_hash)";
    const TEXT_BYTES: &str = "SELECT ifnull(sum(octet_length(content)), 0) FROM blob";
    const DROP_CHANGES: &str = "DELETE FROM diff WHERE snapshot <= ?1";
    const DROP_COUNTS: &str = "DELETE FROM change_count WHERE snapshot <= ?1";
    const BEGIN_HERE: &str = "UPDATE snapshot SET parent = NULL WHERE ?1 <= id AND parent < ?1";
    const DROP: &str = "DELETE FROM snapshot WHERE id < ?1";
    let doing = "forget old snapshots";
    let (first, n): (i64, i64) =
        conn.query_row(FIRST, [], |row| Ok((row.get(0)?, row.get(1)?))).doing(doing)?;
    let (wanted, base) = first_to_keep(conn, keep, now, first..=copied)?;
    let n_kept_for_compile =
        conn.query_row(BETWEEN, [base, wanted], |row| row.get(0)).doing(doing)?;
    let bytes = || conn.query_row(TEXT_BYTES, [], |row| row.get::<_, i64>(0)).doing(doing);
    let before = bytes()?;
    let is_idle = base <= first;
    let n_texts = conn.execute(DROP_TEXTS, [if is_idle { 0 } else { base }]).doing(doing)?;
    let text_bytes = before - bytes()?;
    if is_idle {
        let found = GcReport { first, n_left: n, n_kept_for_compile, ..GcReport::default() };
        return Ok(GcReport { n_texts, text_bytes, ..found });
    }
    let n_changes = conn.execute(DROP_CHANGES, [base]).doing(doing)?;
    conn.execute(DROP_COUNTS, [base]).doing(doing)?;
    conn.execute(BEGIN_HERE, [base]).doing(doing)?;
    drop_receipts_before(conn, base, now)?;
    let n_snapshots = conn.execute(DROP, params![base]).doing(doing)?;
    let n_left = n - i64::try_from(n_snapshots).unwrap_or(n);
    Ok(GcReport {
        n_snapshots,
        n_changes,
        n_texts,
        text_bytes,
        first: base,
        n_left,
        n_kept_for_compile,
        ..GcReport::default()
    })
}

/// Returns the first snapshot that the policy keeps, one of a range, and the first that stays: the
/// next compile may need some before it.
fn first_to_keep(
    conn: &Connection,
    keep: SnapshotRetentionPolicy,
    now: UnixMillis,
    within: RangeInclusive<i64>,
) -> Result<(i64, i64), StoreError> {
    const NTH: &str = "SELECT id FROM snapshot ORDER BY id DESC LIMIT 1 OFFSET ?1";
    // The first one after the last old one; those of a clock that was ahead are not old themselves.
    const SINCE: &str = "
        WITH new AS (SELECT min(id) AS id FROM snapshot WHERE created_at BETWEEN ?1 AND ?2),
             old AS (SELECT max(snapshot.id) AS id FROM snapshot, new
                      WHERE created_at < ?1 AND (new.id IS NULL OR snapshot.id < new.id))
        SELECT ifnull(min(snapshot.id), (SELECT max(id) FROM snapshot))
          FROM snapshot, old WHERE ifnull(old.id, 0) < snapshot.id";
    const BEFORE: &str = "SELECT ifnull(max(id), 0) FROM snapshot WHERE id < ?1";
    let doing = "choose the snapshots to keep";
    let wanted = match keep {
        SnapshotRetentionPolicy::All => None,
        SnapshotRetentionPolicy::Last(n) => {
            let mut query = conn.prepare(NTH).doing(doing)?;
            let mut rows = query.query_map([n.max(1) - 1], |row| row.get(0)).doing(doing)?;
            rows.next().transpose().doing(doing)?
        }
        SnapshotRetentionPolicy::Since(at) => {
            conn.query_row(SINCE, [at.0, now.0], |row| row.get(0)).doing(doing)?
        }
    };
    let (first, last) = within.into_inner();
    let wanted: i64 = wanted.unwrap_or(first).min(last.max(first));
    let base = match hashes_before_repairs::oldest_needed(conn)? {
        Some(repair) if repair <= wanted => {
            conn.query_row(BEFORE, [repair], |row| row.get(0)).doing(doing)?
        }
        _ => wanted,
    };
    Ok((wanted, base))
}

/// Drops old receipts of forgotten snapshots, and the rollbacks that say nothing of any other.
fn drop_receipts_before(conn: &Connection, base: i64, now: UnixMillis) -> Result<(), StoreError> {
    const RECEIPTS: &str = "DELETE FROM receipt WHERE since < ?1 AND created_at < ?2";
    const ROLLBACKS: &str = "
        DELETE FROM restored
         WHERE snapshot < min(?1, ifnull((SELECT min(since) FROM receipt), ?1))";
    let doing = "forget old receipts";
    let youngest = now.0.saturating_sub(RECEIPT_AGE_MS);
    conn.execute(RECEIPTS, [base, youngest]).doing(doing)?;
    conn.execute(ROLLBACKS, [base]).doing(doing).map(drop)
}

fn file_bytes(conn: &Connection) -> Result<i64, StoreError> {
    const SIZE: &str = "
        SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";
    conn.query_row(SIZE, [], |row| row.get(0)).doing("measure the file")
}
