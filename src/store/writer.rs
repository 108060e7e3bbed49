//! The one writing connection of this process.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use super::commit::commit;
use super::file_identity::FileIdentity;
use super::lock_holder::begin_write;
use super::{
    Batch, Counts, ErrorStep, FileRow, IfMissing, Root, RootId, StoreError, WriteAheadLog,
    connection, files,
};
use crate::model::clock::Millis;

/// The writing connection, behind a mutex.
pub(crate) struct Writer {
    conn: Mutex<Connection>,
    log: Arc<WriteAheadLog>,
    file_identity: Arc<FileIdentity>,
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
        Writer::of(path, connection::open_writer(path, if_missing)?)
    }

    /// Opens a database of this build's schema version for a process that must not wait: for other
    /// connections no longer than `wait`, and not for the disk.
    pub(crate) fn open_hastily(path: &Path, wait: Duration) -> Result<Writer, StoreError> {
        Writer::of(path, connection::open_hasty_writer(path, wait)?)
    }

    fn of(path: &Path, mut conn: Connection) -> Result<Writer, StoreError> {
        let file_identity = Arc::new(FileIdentity::of(path)?);
        let log = WriteAheadLog::of(path, &file_identity);
        log.attach(&mut conn)?;
        Ok(Writer { conn: Mutex::new(conn), log, file_identity })
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
        let tx = begin_write(&conn, "begin a write")?;
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
        self.conn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.file_identity.leave(&self.lock());
    }
}
