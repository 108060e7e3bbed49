//! Copies the write-ahead log into the database, off the path of commits.
//!
//! SQLite checkpoints inside the commit that finds the log long, so that the caller of that commit
//! waits for the disk. Here a commit only sends a message, and another thread copies the log
//! ([`WriteAheadLog::copy`]). Where no thread does, the commit that finds it very long copies it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use rusqlite::Connection;

use super::busy_handler::ATTEMPT;
use super::file_identity_check::OpenedFiles;
use super::{ErrorContext, StoreError, busy_handler, connection};

/// Pages of a log that is worth copying; after each copy, the next commit waits for the disk once.
pub(super) const LONG_PAGES: i32 = 4_000;

/// Such pages where each process writes once, and reads all of the log first.
pub(super) const LONG_PAGES_OF_HASTE: i32 = 1_000;

/// Further pages after which a log that did not begin anew is copied again.
const AGAIN_PAGES: i32 = 500;

/// Pages of a log that the commit copies itself.
const TOO_LONG_PAGES: i32 = 8_000;

/// The write-ahead log of a memory.
pub(crate) struct WriteAheadLog {
    path: PathBuf,
    file_identity: Arc<OpenedFiles>,
    /// Pages from which the log is long.
    long_pages: i32,
    /// Held while the log is copied, since two threads cannot copy it.
    copying: Mutex<()>,
    /// Pages of the log after this process's last commit.
    n_pages: Arc<AtomicI32>,
    sender: Sender<()>,
    rung: Receiver<()>,
}

impl WriteAheadLog {
    /// Returns the log of the memory at `path`.
    pub(super) fn of(
        path: &Path,
        file_identity: &Arc<OpenedFiles>,
        long_pages: i32,
    ) -> Arc<WriteAheadLog> {
        let (ring, rung) = bounded(1);
        let file_identity = Arc::clone(file_identity);
        Arc::new(WriteAheadLog {
            path: path.to_owned(),
            file_identity,
            long_pages,
            copying: Mutex::default(),
            n_pages: Arc::default(),
            sender: ring,
            rung,
        })
    }

    /// Makes the connection's commits send a message when the log is long, in place of copying it.
    ///
    /// A log begins anew with the first commit that finds all of it copied. One that grows while it
    /// is copied does not, and would be copied after each commit.
    pub(super) fn attach(&self, conn: &mut Connection) -> Result<(), StoreError> {
        let (ring, file_identity) = (self.sender.clone(), Arc::clone(&self.file_identity));
        let (long_pages, length) = (self.long_pages, Arc::clone(&self.n_pages));
        let mut next_copy = long_pages;
        conn.wal_hook(Some(move |log: &mut rusqlite::hooks::Wal, n_pages: i32| {
            length.store(n_pages, Ordering::Relaxed);
            if n_pages < long_pages {
                next_copy = long_pages;
            } else if next_copy <= n_pages {
                next_copy = n_pages + AGAIN_PAGES;
                // A full channel already has the message.
                let _ = ring.try_send(());
            }
            if TOO_LONG_PAGES <= n_pages && file_identity.may_copy() {
                // The commit has succeeded; a later one copies what this one cannot.
                let _ = log.checkpoint();
                file_identity.note_copied();
            }
            Ok(())
        }))
        .doing("watch the log")
    }

    /// Returns the channel that has one message when the log is to be copied.
    pub(crate) fn long_log(&self) -> &Receiver<()> {
        &self.rung
    }

    /// Returns whether this process's last commit left a log that is worth copying.
    pub(super) fn is_long(&self) -> bool {
        self.long_pages <= self.n_pages.load(Ordering::Relaxed)
    }

    /// Copies a log that is worth it.
    pub(super) fn copy_if_long(&self) -> Result<(), StoreError> {
        if self.is_long() { self.copy() } else { Ok(()) }
    }

    /// Copies the pages that no reader needs any more. Readers and writers do not wait meanwhile.
    pub(crate) fn copy(&self) -> Result<(), StoreError> {
        let _copying = self.lock_copying();
        let conn = connection::open_existing(&self.path, "open the database")?;
        self.file_identity.check_to_copy(&conn)?;
        let copied = conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        self.file_identity.note_copied();
        copied.doing("copy the log")
    }

    /// Locks out other copies in this process.
    pub(crate) fn lock_copying(&self) -> MutexGuard<'_, ()> {
        // The lock guards a file, which is consistent at every instant.
        self.copying.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Copies all of the log and truncates it; returns whether it succeeded within about `longest`.
///
/// Readers in other processes can prevent it. The caller sets the connection's waiting time again.
pub(crate) fn empty(conn: &Connection, longest: Duration) -> Result<bool, StoreError> {
    const EMPTY: &str = "PRAGMA wal_checkpoint(TRUNCATE)";
    conn.busy_timeout(ATTEMPT.min(longest)).doing("set the waiting time")?;
    // While another connection copies the log, SQLite does not wait at all.
    busy_handler::try_up_to(longest, || {
        let is_busy: bool = conn.query_row(EMPTY, [], |row| row.get(0)).doing("empty the log")?;
        Ok(!is_busy)
    })
}

#[cfg(test)]
mod tests;
