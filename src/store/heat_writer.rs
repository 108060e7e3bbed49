//! Writes heat: warms nodes that were read, and moves the memory clock.
//!
//! It has a connection of its own, so that a read never waits for a write. Heat may be lost: it is
//! written without waiting for the disk, and while another process holds the write lock it is kept
//! here and written with the next call. The connection is opened for the first write: a server that
//! only starts, or only looks, needs none.

mod cold_notifications;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Row, ToSql, Transaction, params};

pub(crate) use cold_notifications::{ColdNode, ColdNodesOffer};

use super::file_identity_check::OpenedFiles;
use super::relaxed_durability_connection::RelaxedDurabilityConnection;
use super::{
    ErrorContext, NodeRowId, PreparedStatements, StoreError, WriteAheadLog, Writer, absolute_path,
    heat_rows, one,
};
use crate::model::clock::UnixMillis;
use crate::model::heat::{PendingAttendedTime, StoredHeat};

/// Longest wait for a write in progress.
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// Longest wait of the last write before the connection closes.
const LAST_WAIT: Duration = Duration::from_millis(500);

/// Nodes whose `full_at` is computed in one transaction.
const UNKNOWN_MAX: usize = 10_000;

/// Pending shares; beyond that the oldest are dropped.
const WAITING_MAX: usize = 10_000;

/// The connection that writes heat.
pub(crate) struct HeatWriter {
    path: PathBuf,
    file_identity: Arc<OpenedFiles>,
    /// The holder's name in leases.
    holder: String,
    state: Mutex<HeatWriterState>,
}

struct HeatWriterState {
    conn: HeatConnection,
    waiting: Vec<HeatIncrement>,
    cold: cold_notifications::ColdOfferTracker,
}

/// The connection, once there was something to write.
struct HeatConnection {
    path: PathBuf,
    log: Arc<WriteAheadLog>,
    file_identity: Arc<OpenedFiles>,
    opened: Option<RelaxedDurabilityConnection>,
}

impl HeatConnection {
    fn get(&mut self) -> Result<&RelaxedDurabilityConnection, StoreError> {
        let conn = match self.opened.take() {
            Some(conn) => conn,
            None => {
                let (path, files) = (&self.path, &self.file_identity);
                let mut conn = RelaxedDurabilityConnection::open(path, files, BUSY_WAIT)?;
                self.log.attach(&mut conn)?;
                conn
            }
        };
        Ok(self.opened.insert(conn))
    }
}

/// One node's share of attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct HeatIncrement {
    pub(crate) node: NodeRowId,
    /// The rise of the temperature.
    pub(crate) by: f64,
    pub(crate) at: UnixMillis,
}

impl HeatWriter {
    /// Returns the writer of heat beside the writer of everything else.
    ///
    /// # Errors
    ///
    /// The path has no name for the whole system.
    pub(crate) fn new(path: &Path, writer: &Writer) -> Result<HeatWriter, StoreError> {
        let file_identity = Arc::clone(writer.file_identity());
        let log = Arc::clone(writer.log());
        let path = absolute_path(path)?;
        let (of_path, files) = (path.clone(), Arc::clone(&file_identity));
        let conn = HeatConnection { path: of_path, log, file_identity: files, opened: None };
        let cold = cold_notifications::ColdOfferTracker::default();
        let state = Mutex::new(HeatWriterState { conn, waiting: Vec::new(), cold });
        // Seeded at random, so that no two processes share a name.
        let holder = format!("{:016x}", RandomState::new().build_hasher().finish());
        Ok(HeatWriter { path, file_identity, holder, state })
    }

    /// Warms nodes, now or with the next call.
    pub(crate) fn warm(&self, warmth: &[HeatIncrement]) -> Result<(), StoreError> {
        let mut state = self.lock_checked()?;
        state.waiting.extend_from_slice(warmth);
        state.write_waiting()
    }

    /// Moves the memory clock by the elapsed time, and returns whether it was written.
    ///
    /// It adds less where another server has moved the clock already. While another process writes,
    /// nothing is written.
    pub(crate) fn tick(
        &self,
        elapsed: PendingAttendedTime,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock_checked()?;
        if !unless_busy(advance(state.conn.get()?, elapsed, now))? {
            return Ok(false);
        }
        unless_busy(work_out_all(state.conn.get()?))?;
        state.cold.arm();
        state.write_waiting()?;
        Ok(true)
    }

    /// Writes the last tick and the pending heat before the connection closes, with a longer wait.
    pub(crate) fn settle(
        &self,
        elapsed: PendingAttendedTime,
        now: UnixMillis,
    ) -> Result<(), StoreError> {
        let mut state = self.lock_checked()?;
        if elapsed.real_ms <= 0 && !state.is_waiting() {
            return Ok(());
        }
        state.conn.get()?.busy_timeout(LAST_WAIT).doing("set the waiting time")?;
        if 0 < elapsed.real_ms {
            unless_busy(advance(state.conn.get()?, elapsed, now))?;
        }
        state.write_waiting()?;
        state.conn.get()?.busy_timeout(BUSY_WAIT).doing("set the waiting time")
    }

    /// Locks the connection, after a check that the files are still at their names.
    fn lock_checked(&self) -> Result<MutexGuard<'_, HeatWriterState>, StoreError> {
        let state = self.lock();
        self.file_identity.check()?;
        Ok(state)
    }

    fn lock(&self) -> MutexGuard<'_, HeatWriterState> {
        // A poisoned lock is sound: its transaction was rolled back when it was dropped.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeatWriterState {
    fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || self.cold.is_waiting()
    }

    /// Writes the pending heat; it stays pending while another process writes.
    fn write_waiting(&mut self) -> Result<(), StoreError> {
        if !self.is_waiting() {
            return Ok(());
        }
        let HeatWriterState { conn, waiting, cold } = self;
        let conn = conn.get()?;
        if !waiting.is_empty() {
            match unless_busy(write(conn, waiting)) {
                Ok(false) => {
                    let n_over = waiting.len().saturating_sub(WAITING_MAX);
                    waiting.drain(..n_over);
                }
                Ok(true) => waiting.clear(),
                Err(error) => {
                    waiting.clear();
                    return Err(error);
                }
            }
        }
        cold.write_notified(conn)
    }
}

/// Returns whether the step was done; false when another process writes.
fn unless_busy(done: Result<(), StoreError>) -> Result<bool, StoreError> {
    match done {
        Ok(()) => Ok(true),
        Err(error) if error.is_busy() => Ok(false),
        Err(error) => Err(error),
    }
}

fn advance(
    conn: &RelaxedDurabilityConnection,
    elapsed: PendingAttendedTime,
    now: UnixMillis,
) -> Result<(), StoreError> {
    const TICKED: &str = "SELECT ticked_at FROM memory";
    const ADVANCE: &str = "UPDATE memory SET attended = ?1, ticked_at = ?2";
    let tx = conn.begin_write("begin to move the memory clock")?;
    let ticked_at = one(&tx, TICKED).doing("read the memory clock")?;
    let by = elapsed.uncounted_ms(now.since(UnixMillis(ticked_at)));
    let attended = heat_rows::memory_clock(&tx)?.saturating_add(by);
    tx.execute(ADVANCE, [attended, now.0]).doing("move the memory clock")?;
    tx.commit().doing("commit the memory clock")
}

/// Computes `full_at` of all nodes whose row lacks it.
fn work_out_all(conn: &RelaxedDurabilityConnection) -> Result<(), StoreError> {
    while work_out(conn)? == UNKNOWN_MAX {}
    Ok(())
}

/// Computes `full_at` of up to [`UNKNOWN_MAX`] nodes, and returns their number.
fn work_out(conn: &RelaxedDurabilityConnection) -> Result<usize, StoreError> {
    const UNKNOWN: &str = "
        SELECT node, temperature, at
          FROM heat
         WHERE full_at IS NULL AND pinned = 0 AND announced IS NULL
         LIMIT ?1";
    let limit = i64::try_from(UNKNOWN_MAX).unwrap_or(i64::MAX);
    let read = |row: &Row<'_>| {
        let heat = StoredHeat { temperature: row.get(1)?, at: row.get(2)?, pinned: false };
        Ok((NodeRowId(row.get(0)?), heat))
    };
    let tx = conn.begin_write("begin to work out temperatures")?;
    let unknown: Vec<(NodeRowId, StoredHeat)> =
        tx.rows(UNKNOWN, [limit], read, "find temperatures that moved")?;
    for (node, heat) in &unknown {
        note_full_at(&tx, *node, *heat)?;
    }
    tx.commit().doing("commit temperatures")?;
    Ok(unknown.len())
}

/// Sets a node's `full_at`, by which the index orders nodes.
fn note_full_at(tx: &Transaction<'_>, node: NodeRowId, heat: StoredHeat) -> Result<(), StoreError> {
    const NOTE: &str = "UPDATE heat SET full_at = ?2 WHERE node = ?1";
    tx.run(NOTE, params![node.0, heat.full_at()], "work out a temperature").map(drop)
}

fn write(conn: &RelaxedDurabilityConnection, warmth: &[HeatIncrement]) -> Result<(), StoreError> {
    const WARM: &str = "
        UPDATE heat
           SET temperature = ?2, at = ?3,
               access_count = access_count + 1, accessed_at = ?4
         WHERE node = ?1";
    const WARM_FIRST: &str = "
        INSERT INTO heat (node, temperature, at, access_count, accessed_at, full_at)
        SELECT key, ?2, ?3, 1, ?4, ?5 FROM node WHERE key = ?1";
    let tx = conn.begin_write("begin to warm nodes")?;
    let attended = heat_rows::memory_clock(&tx)?;
    for HeatIncrement { node, by, at } in warmth {
        let noted = heat_rows::heat_row_of(&tx, *node)?;
        let warmed = noted.unwrap_or(heat_rows::untouched()).warmed(*by, attended);
        let StoredHeat { temperature, at: reading, .. } = warmed;
        let execute = |sql, row: &[&dyn ToSql]| tx.prepare_cached(sql)?.execute(row);
        // The node may be gone by now; then nothing is written.
        match noted {
            Some(_) => execute(WARM, params![node.0, temperature, reading, at.0]),
            None => {
                let full_at = warmed.full_at();
                execute(WARM_FIRST, params![node.0, temperature, reading, at.0, full_at])
            }
        }
        .doing("warm a node")?;
    }
    tx.commit().doing("commit temperatures")
}
