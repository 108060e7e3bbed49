//! The one writing connection of this process.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::announcement::Announcement;
use super::checkpoint::{LONG_PAGES, LONG_PAGES_OF_HASTE};
use super::commit::commit;
use super::file_identity::FileIdentity;
use super::lock_holder::begin_write;
use super::{
    Batch, Counts, ErrorStep, FileId, FileRow, IfMissing, Root, RootId, StoreError, WriteAheadLog,
    busy_handler, connection, files,
};
use crate::model::clock::Millis;
use crate::model::identity::ContentHash;

/// Pauses between two writes of a compile while others still wait.
const PAUSES_MAX: usize = 20;

/// The writing connection, behind a mutex.
pub(crate) struct Writer {
    conn: Mutex<Connection>,
    log: Arc<WriteAheadLog>,
    file_identity: Arc<FileIdentity>,
    announcement: Arc<Announcement>,
    /// Threads that wait for the connection.
    n_waiting: AtomicUsize,
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitReport {
    /// The snapshot; `None` when nothing changed.
    pub(crate) snapshot: Option<i64>,
    pub(crate) counts: Counts,
}

impl Writer {
    /// Opens the database and migrates its schema.
    pub(crate) fn open(path: &Path, if_missing: IfMissing) -> Result<Writer, StoreError> {
        let conn = connection::open_writer(path, if_missing)?;
        Writer::of(path, conn, busy_handler::LONG, LONG_PAGES)
    }

    /// Opens a database of this build's schema version for a process that must not wait: for other
    /// connections no longer than `wait`, and not for the disk.
    pub(crate) fn open_hastily(path: &Path, wait: Duration) -> Result<Writer, StoreError> {
        let conn = connection::open_hasty_writer(path, wait)?;
        Writer::of(path, conn, wait, LONG_PAGES_OF_HASTE)
    }

    fn of(
        path: &Path,
        mut conn: Connection,
        wait: Duration,
        long_pages: i32,
    ) -> Result<Writer, StoreError> {
        let announcement = Arc::new(Announcement::of(path));
        let own = Arc::clone(&announcement);
        let announce = move || {
            own.make();
            true
        };
        busy_handler::wait_while(&mut conn, wait, announce).doing("set the waiting time")?;
        let file_identity = Arc::new(FileIdentity::of(path)?);
        let log = WriteAheadLog::of(path, &file_identity, long_pages);
        log.attach(&mut conn)?;
        let (conn, n_waiting) = (Mutex::new(conn), AtomicUsize::new(0));
        Ok(Writer { conn, log, file_identity, announcement, n_waiting })
    }

    /// Returns the log that its commits append to.
    pub(crate) fn log(&self) -> &Arc<WriteAheadLog> {
        &self.log
    }

    /// Returns the identity of its files, for the other connections of the process.
    pub(crate) fn file_identity(&self) -> &Arc<FileIdentity> {
        &self.file_identity
    }

    /// Returns every compiled folder, by path.
    pub(crate) fn roots(&self) -> Result<Vec<Root>, StoreError> {
        files::roots(&self.lock())
    }

    /// Returns the files of a root, by path.
    pub(crate) fn files(&self, root: RootId) -> Result<Vec<FileRow>, StoreError> {
        files::files(&self.lock(), root)
    }

    /// Returns the files of the root at a path, by their own paths.
    pub(crate) fn files_at(&self, root: &str) -> Result<Vec<FileRow>, StoreError> {
        files::files_at(&self.lock(), root)
    }

    /// Returns the row of a path in the root at a path.
    pub(crate) fn file_at(&self, root: &str, path: &str) -> Result<Option<FileRow>, StoreError> {
        files::file_at(&self.lock(), root, path)
    }

    /// Returns the hashes and bytes of the base texts of a file's nodes.
    pub(crate) fn file_texts(&self, file: FileId) -> Result<Vec<(ContentHash, usize)>, StoreError> {
        files::file_texts(&self.lock(), file)
    }

    /// Returns the hashes of a file's texts that an agent forgot.
    pub(crate) fn forgotten_texts(&self, file: FileId) -> Result<Vec<ContentHash>, StoreError> {
        files::forgotten_texts(&self.lock(), file)
    }

    /// Runs `body` in one transaction and commits when it returns `Ok`: one snapshot if it changed
    /// a node, none otherwise. An error or a panic leaves no trace.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        message: &str,
        compile_root: &str,
        now: Millis,
        body: impl FnOnce(&mut Batch<'_>) -> Result<T, E>,
    ) -> Result<(T, CommitReport), E> {
        let conn = self.lock();
        self.announcement.allow();
        let begun = begin_write(&conn, "begin a write");
        self.announcement.withdraw();
        let tx = begun?;
        self.file_identity.check_locked()?;
        let mut batch = Batch::begin(&tx, message, compile_root, now)?;
        let value = body(&mut batch)?;
        let snapshot = batch.finish()?;
        let counts = batch.counts();
        drop(batch);
        self.file_identity.check_locked()?;
        commit(tx, "commit a write")?;
        self.file_identity.confirm(&conn)?;
        Ok((value, CommitReport { snapshot, counts }))
    }

    /// Does what is due between the writes of a compile: lets others write, merges the full-text
    /// index, and copies a long log.
    pub(crate) fn give_way(&self) -> Result<(), StoreError> {
        let merge = |batch: &mut Batch<'_>| batch.merge_many();
        loop {
            self.let_others_write();
            self.log.copy_if_long()?;
            if !self.write::<_, StoreError>("", "", Millis(0), merge)?.0 {
                break;
            }
        }
        // Whoever wrote while the log was copied keeps it from beginning anew.
        self.log.copy_if_long()
    }

    /// Goes on with the merge of the full-text index that a large compile began, up to about
    /// `n_pages`. Later writes complete the rest.
    pub(crate) fn merge_index(&self, n_pages: i64) -> Result<(), StoreError> {
        let merge = |batch: &mut Batch<'_>| batch.merge_on();
        let mut n_left = n_pages;
        while 0 < n_left {
            if self.is_awaited() {
                self.let_others_write();
            }
            match self.write::<_, StoreError>("", "", Millis(0), merge)?.0 {
                0 => break,
                n_merged => n_left -= n_merged,
            }
            self.log.copy_if_long()?;
        }
        Ok(())
    }

    /// Pauses for as long as others need to notice that no one writes, and to begin.
    fn let_others_write(&self) {
        for _ in 0..PAUSES_MAX {
            busy_handler::pause();
            if !self.is_awaited() {
                break;
            }
        }
    }

    /// Runs a write as [`Writer::write`], and overwrites what it deletes with zeros.
    pub(crate) fn write_securely<T, E: From<StoreError>>(
        &self,
        message: &str,
        now: Millis,
        body: impl FnOnce(&mut Batch<'_>) -> Result<T, E>,
    ) -> Result<(T, CommitReport), E> {
        let set = |on: bool| {
            self.lock().pragma_update(None, "secure_delete", on).doing("overwrite deleted text")
        };
        set(true)?;
        let written = self.write(message, "", now, body);
        set(false)?;
        written
    }

    /// Locks the connection. SQLite allows one writer; waiting here, not in SQLite, keeps callers
    /// in order. A poisoned lock is sound: the panicking transaction was rolled back when it was
    /// dropped.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Connection> {
        self.n_waiting.fetch_add(1, Ordering::Relaxed);
        let conn = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        self.n_waiting.fetch_sub(1, Ordering::Relaxed);
        conn
    }

    /// Returns whether others wait to write, while this thread does.
    pub(crate) fn is_awaited(&self) -> bool {
        0 < self.n_waiting.load(Ordering::Relaxed) || self.announcement.is_made()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let conn = self.lock();
        if self.log.long_log().try_recv().is_ok() {
            connection::copy_log_on_close(&conn);
        }
        self.file_identity.leave(&conn);
    }
}
