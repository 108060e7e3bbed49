//! Warming: what was read becomes warmer, on a connection of its own, so that a read never waits
//! for a
//! write.
//!
//! Warmth is no promise: it is written without waiting for the disk, and while another process
//! holds
//! the database it is kept here and written with the next one.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::{Doing, NodeKey, StoreError};
use crate::clock::Millis;
use crate::heat::Heat;

/// How long warmth waits for a write in progress.
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// Warmth that waits; beyond that the oldest is let go.
const WAITING_MAX: usize = 10_000;

/// The connection that warms.
pub(crate) struct Warmer {
    state: Mutex<State>,
}

struct State {
    conn: Connection,
    waiting: Vec<Warmth>,
}

/// One node's share of attention.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Warmth {
    pub(crate) node: NodeKey,
    /// What it adds to the temperature.
    pub(crate) by: f64,
    pub(crate) at: Millis,
}

impl Warmer {
    /// Opens the connection; the memory must exist.
    pub(crate) fn open(path: &Path) -> Result<Warmer, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(path, flags).doing("open the database")?;
        conn.busy_timeout(BUSY_WAIT).doing("set the waiting time")?;
        conn.pragma_update(None, "synchronous", "NORMAL").doing("set the level of durability")?;
        conn.pragma_update(None, "foreign_keys", true).doing("turn foreign keys on")?;
        Ok(Warmer { state: Mutex::new(State { conn, waiting: Vec::new() }) })
    }

    /// Warms nodes, now or with the next call.
    pub(crate) fn warm(&self, warmth: &[Warmth]) -> Result<(), StoreError> {
        // A poisoned lock is sound: its transaction was rolled back when it was dropped.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { conn, waiting } = &mut *state;
        waiting.extend_from_slice(warmth);
        if waiting.is_empty() {
            return Ok(());
        }
        match write(conn, waiting) {
            Err(StoreError::Sqlite {
                source: rusqlite::Error::SqliteFailure(error, _), ..
            }) if error.code == ErrorCode::DatabaseBusy => {
                let n_over = waiting.len().saturating_sub(WAITING_MAX);
                waiting.drain(..n_over);
                Ok(())
            }
            written => {
                waiting.clear();
                written
            }
        }
    }
}

fn write(conn: &mut Connection, warmth: &[Warmth]) -> Result<(), StoreError> {
    const ATTENDED: &str = "SELECT attended FROM memory";
    const HEAT: &str = "SELECT temperature, at, pinned FROM heat WHERE node = ?1";
    const WARM: &str = "
        UPDATE heat
           SET temperature = ?2, at = ?3, access_count = access_count + 1, accessed_at = ?4
         WHERE node = ?1";
    let tx = conn
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .doing("begin to warm nodes")?;
    let attended: i64 =
        tx.query_row(ATTENDED, [], |row| row.get(0)).doing("read the memory clock")?;
    for Warmth { node, by, at } in warmth {
        let heat = tx
            .prepare_cached(HEAT)
            .and_then(|mut it| {
                let read = |row: &rusqlite::Row<'_>| {
                    Ok(Heat { temperature: row.get(0)?, at: row.get(1)?, pinned: row.get(2)? })
                };
                it.query_row([node.0], read).optional()
            })
            .doing("read a temperature")?;
        // The node may be gone by now.
        let Some(heat) = heat else { continue };
        let Heat { temperature, at: reading, .. } = heat.warmed(*by, attended);
        tx.prepare_cached(WARM)
            .and_then(|mut it| it.execute(params![node.0, temperature, reading, at.0]))
            .doing("warm a node")?;
    }
    tx.commit().doing("commit temperatures")
}
