//! Leases: named locks with a holder, for work that one process at a time should do.
//!
//! A lease saves work and protects nothing: two processes that both believe to hold one do the same
//! work twice, each in its own transactions. So it is written without waiting for the disk, and a
//! busy database means that the lease is not available now.
//!
//! A lease is held while `now < expires_at <= now + LEASE_MS`. One that seems to last longer was
//! written by another clock and counts as free, so that no clock step locks every process out.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};

use super::file_identity_check::OpenedFiles;
use super::relaxed_durability_connection::RelaxedDurabilityConnection;
use super::{ErrorContext, StoreError};
use crate::model::clock::UnixMillis;

/// Time after its last renewal during which a holder counts as alive.
pub(crate) const LEASE_MS: i64 = 90_000;

/// The beginning of the names of leases for rescans; the rest identifies the folder.
pub(crate) const RESCAN_LEASE: &str = "rescan:";

/// The beginning of the names of leases for first compiles; the rest identifies the process.
pub(crate) const COMPILE_LEASE: &str = "compile:";

/// Remaining time below which a holder renews, so that a quick schedule does not write each time.
const RENEW_MS: i64 = LEASE_MS / 2;

/// Time after its last renewal in which a holder may be in the middle of its work.
const FRESH_MS: i64 = 2_000;

/// Longest wait for a write in progress.
const BUSY_WAIT: Duration = Duration::from_millis(20);

/// The age that a lease must have to be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimableLeaseAge {
    /// It expired.
    Expired,
    /// It was not taken or renewed within the last two seconds. A starting process cannot know
    /// whether its holder died.
    NotRenewedLately,
}

/// Takes and renews leases for one holder, on a connection of its own.
pub(crate) struct LeaseManager {
    conn: Mutex<RelaxedDurabilityConnection>,
    file_identity: Arc<OpenedFiles>,
    holder: String,
}

impl LeaseManager {
    /// Opens the connection; the memory must exist. No other process may use the name `holder`.
    pub(crate) fn open(
        path: &Path,
        file_identity: &Arc<OpenedFiles>,
        holder: &str,
    ) -> Result<LeaseManager, StoreError> {
        let conn = Mutex::new(RelaxedDurabilityConnection::open(path, file_identity, BUSY_WAIT)?);
        Ok(LeaseManager {
            conn,
            file_identity: Arc::clone(file_identity),
            holder: holder.to_owned(),
        })
    }

    /// Takes or renews a lease, and returns whether this holder has it now. Writes nothing where
    /// another has it or where it lasts for long enough.
    pub(crate) fn take(
        &self,
        name: &str,
        claim: ClaimableLeaseAge,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        match self.try_take(name, claim, now) {
            Err(error) if error.is_busy() => Ok(false),
            taken => taken,
        }
    }

    /// Releases a lease, if this holder has it.
    pub(crate) fn release(&self, name: &str) -> Result<(), StoreError> {
        const RELEASE: &str = "DELETE FROM lease WHERE name = ?1 AND holder = ?2";
        self.file_identity.check()?;
        let (conn, doing) = (self.lock(), "release a lease");
        let released = conn.begin_write(doing).and_then(|tx| {
            tx.execute(RELEASE, [name, &self.holder]).doing(doing)?;
            tx.commit().doing(doing)
        });
        match released {
            // A starting process takes the lease by [`ClaimableLeaseAge::NotRenewedLately`] before
            // it expires.
            Err(error) if error.is_busy() => Ok(()),
            released => released,
        }
    }

    fn try_take(
        &self,
        name: &str,
        claim: ClaimableLeaseAge,
        now: UnixMillis,
    ) -> Result<bool, StoreError> {
        const TAKE: &str = "
            INSERT INTO lease (name, holder, expires_at)
            VALUES (?1, ?2, ?3)
            ON CONFLICT (name) DO UPDATE SET holder = ?2, expires_at = ?3";
        self.file_identity.check()?;
        let conn = self.lock();
        match self.state(&conn, name, claim, now)? {
            LeaseState::Held => return Ok(true),
            LeaseState::Others => return Ok(false),
            LeaseState::Open => (),
        }
        let tx = conn.begin_write("begin to take a lease")?;
        // Read again under the lock: a rival may have been quicker.
        if self.state(&tx, name, claim, now)? == LeaseState::Others {
            return Ok(false);
        }
        let expires_at = now.0.saturating_add(LEASE_MS);
        tx.execute(TAKE, params![name, self.holder, expires_at]).doing("take a lease")?;
        tx.commit().doing("commit a lease")?;
        Ok(true)
    }

    fn state(
        &self,
        conn: &Connection,
        name: &str,
        claim: ClaimableLeaseAge,
        now: UnixMillis,
    ) -> Result<LeaseState, StoreError> {
        const LEASE: &str = "SELECT holder, expires_at FROM lease WHERE name = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?));
        let row = conn.query_row(LEASE, [name], read).optional().doing("read a lease")?;
        let Some((holder, expires_at)) = row else { return Ok(LeaseState::Open) };
        let left_ms = expires_at.saturating_sub(now.0);
        let is_running = 0 < left_ms && left_ms <= LEASE_MS;
        Ok(match (holder == self.holder, claim) {
            _ if !is_running => LeaseState::Open,
            (true, _) if left_ms < RENEW_MS => LeaseState::Open,
            (true, _) => LeaseState::Held,
            (false, ClaimableLeaseAge::NotRenewedLately) if left_ms < LEASE_MS - FRESH_MS => {
                LeaseState::Open
            }
            (false, _) => LeaseState::Others,
        })
    }

    fn lock(&self) -> MutexGuard<'_, RelaxedDurabilityConnection> {
        // A poisoned lock is sound: its transaction was rolled back when it was dropped.
        self.conn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lease that has not expired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeaseInForce {
    /// The name of the work.
    pub(crate) name: String,
    /// The process that does it, by a name that no other has.
    pub(crate) holder: String,
}

/// The state of a lease, seen by one holder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeaseState {
    /// Available, or due for renewal.
    Open,
    /// Held by this holder, for long enough.
    Held,
    /// Held by another.
    Others,
}

#[cfg(test)]
mod tests;
