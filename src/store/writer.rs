//! The one writing connection of this process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, Transaction};

#[cfg(feature = "shared")]
use super::SharedError;
use super::batch::{EntityNamesAtHead, merge_many, merge_on};
use super::checkpoint::{LONG_PAGES, LONG_PAGES_OF_HASTE};
use super::commit_outcome::commit;
use super::file_identity_check::OpenedFiles;
#[cfg(feature = "shared")]
use super::portable_root_names;
use super::replica_write_guard::refuse_replica;
#[cfg(feature = "shared")]
use super::replication::{
    self, LogPosition, LogTransaction, PortableRootNameFn, Sequencer, WriterReplication,
};
use super::write_lock_waiter_signal::WriteLockWaiterSignal;
use super::{
    Batch, ChangedNodeCounts, ErrorContext, FileId, FileRow, IfMissing, Root, RootId, StoreError,
    WriteAheadLog, busy_handler, connection, source_files,
};
use crate::model::clock::{Clock, UnixMillis};
use crate::model::identity::ContentHash;

/// Pauses between two writes of a compile while others still wait.
const PAUSES_MAX: usize = 20;

/// Bytes of source that one write of a compile takes while all machines wait for it.
#[cfg(feature = "shared")]
const SHARED_SLICE_BYTES: usize = 4 * 1024 * 1024;

/// The writing connection, behind a mutex.
pub(crate) struct Writer {
    path: PathBuf,
    conn: Mutex<Connection>,
    #[cfg(feature = "shared")]
    sharing: Option<WriterReplication>,
    log: Arc<WriteAheadLog>,
    file_identity: Arc<OpenedFiles>,
    waiter_signal: Arc<WriteLockWaiterSignal>,
    /// Threads that wait for the connection.
    n_waiting: AtomicUsize,
    /// The time in ms for which the thread waited that has the connection.
    queued_ms: Arc<AtomicU64>,
    /// Names of entities that the last write knew, for the next one.
    entity_names: Mutex<Option<EntityNamesAtHead>>,
}

/// The outcome of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommitReport {
    /// The snapshot; `None` when nothing changed.
    pub(crate) snapshot: Option<i64>,
    pub(crate) counts: ChangedNodeCounts,
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
        let waiter_signal = Arc::new(WriteLockWaiterSignal::of(path));
        let own = Arc::clone(&waiter_signal);
        let signal_waiting = move || {
            own.make();
            true
        };
        let queued_ms = Arc::new(AtomicU64::new(0));
        let of_holder = Arc::clone(&queued_ms);
        let queued = move || Duration::from_millis(of_holder.load(Ordering::Relaxed));
        busy_handler::wait_while(&mut conn, wait, queued, signal_waiting)
            .doing("set the waiting time")?;
        let file_identity = Arc::new(OpenedFiles::of(path)?);
        let log = WriteAheadLog::of(path, &file_identity, long_pages);
        log.attach(&mut conn)?;
        let (conn, n_waiting) = (Mutex::new(conn), AtomicUsize::new(0));
        Ok(Writer {
            path: path.to_owned(),
            conn,
            #[cfg(feature = "shared")]
            sharing: None,
            log,
            file_identity,
            waiter_signal,
            n_waiting,
            queued_ms,
            entity_names: Mutex::default(),
        })
    }

    /// Returns the log that its commits append to.
    pub(crate) fn log(&self) -> &Arc<WriteAheadLog> {
        &self.log
    }

    /// Returns the identity of its files, for the other connections of the process.
    pub(crate) fn file_identity(&self) -> &Arc<OpenedFiles> {
        &self.file_identity
    }

    /// Returns every compiled folder, by path.
    pub(crate) fn roots(&self) -> Result<Vec<Root>, StoreError> {
        self.read(source_files::roots)
    }

    /// Returns the files of a root, by path.
    pub(crate) fn files(&self, root: RootId) -> Result<Vec<FileRow>, StoreError> {
        self.read(|conn| source_files::files(conn, root))
    }

    /// Returns the files of the root at a path, by their own paths.
    pub(crate) fn files_at(&self, root: &str) -> Result<Vec<FileRow>, StoreError> {
        self.read(|conn| source_files::files_at(conn, root))
    }

    /// Returns the row of a path in the root at a path.
    pub(crate) fn file_at(&self, root: &str, path: &str) -> Result<Option<FileRow>, StoreError> {
        self.read(|conn| source_files::file_at(conn, root, path))
    }

    /// Returns the hashes and bytes of the base texts of a file's nodes.
    pub(crate) fn file_texts(
        &self,
        row: &FileRow,
    ) -> Result<Vec<(ContentHash, usize)>, StoreError> {
        self.read(|conn| source_files::file_texts(conn, row))
    }

    /// Returns the hashes of a file's texts that an agent forgot.
    pub(crate) fn forgotten_texts(&self, file: FileId) -> Result<Vec<ContentHash>, StoreError> {
        self.read(|conn| source_files::forgotten_texts(conn, file))
    }

    /// Returns the files in which an agent forgot something.
    pub(crate) fn files_with_forgotten(&self) -> Result<Vec<FileId>, StoreError> {
        self.read(source_files::files_with_forgotten)
    }

    /// Runs a query in a schema that was checked.
    fn read<T>(
        &self,
        question: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let conn = self.lock();
        self.file_identity.check_schema(&conn)?;
        question(&conn)
    }

    /// Runs `body` in one transaction and commits when it returns `Ok`: one snapshot if it changed
    /// a node, none otherwise. An error or a panic leaves no trace.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        message: &str,
        compile_root: &str,
        now: UnixMillis,
        body: impl FnOnce(&mut Batch<'_>) -> Result<T, E>,
    ) -> Result<(T, CommitReport), E> {
        let conn = self.lock();
        let in_batch = |tx: &Transaction<'_>| {
            let mut batch = Batch::begin(tx, message, compile_root, now)?;
            #[cfg(feature = "shared")]
            batch.name_root(self.root_name(compile_root));
            batch.take_up_names(self.lock_names().take())?;
            let value = body(&mut batch)?;
            let snapshot = batch.finish()?;
            let report = CommitReport { snapshot, counts: batch.counts() };
            Ok::<_, E>((value, report, batch.names_for_next_write()?))
        };
        #[cfg(feature = "shared")]
        if let Some(sharing) = self.sharing.as_ref().filter(|_| !compile_root.is_empty()) {
            let name = sharing.root_name_at(&conn, compile_root)?;
            let (value, report, _) = sharing.write(&conn, Some(&name), in_batch)?;
            self.file_identity.confirm(&conn)?;
            return Ok((value, report));
        }
        let (value, report, names) =
            self.transact(&conn, "begin a write", "commit a write", in_batch)?;
        // Only now: a snapshot that was not committed leaves its number to another one.
        *self.lock_names() = names;
        self.file_identity.confirm(&conn)?;
        Ok((value, report))
    }

    fn lock_names(&self) -> MutexGuard<'_, Option<EntityNamesAtHead>> {
        // They are taken whole and set whole.
        self.entity_names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `body` in one transaction and commits it: in a turn of the log where the memory is
    /// shared. A replica whose log is not at hand is not written.
    pub(crate) fn transact<T, E: From<StoreError>>(
        &self,
        conn: &Connection,
        begin: &'static str,
        end: &'static str,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        #[cfg(feature = "shared")]
        if let Some(sharing) = &self.sharing {
            return sharing.write(conn, None, body);
        }
        self.waiter_signal.allow();
        let begun = self.file_identity.begin_write(conn, begin);
        self.waiter_signal.withdraw();
        let tx = begun?;
        refuse_replica(&tx, &self.path)?;
        let value = body(&tx)?;
        self.file_identity.check_locked()?;
        commit(tx, end)?;
        Ok(value)
    }

    /// Makes the writer share its memory: from now on every write goes through the log.
    #[cfg(feature = "shared")]
    pub(crate) fn share(
        &mut self,
        sequencer: Arc<dyn Sequencer>,
        namer: Box<PortableRootNameFn>,
    ) -> Result<(), StoreError> {
        let files = (&*self.log, &self.file_identity);
        let sharing = WriterReplication::attach(&self.lock(), &self.path, files, sequencer, namer)?;
        self.sharing = Some(sharing);
        Ok(())
    }

    /// Makes the memory the first replica of a new space, in the turn that makes it.
    #[cfg(feature = "shared")]
    pub(crate) fn publish_space(
        &self,
        sequencer: &Arc<dyn Sequencer>,
        namer: &PortableRootNameFn,
        turn: Box<dyn LogTransaction + '_>,
    ) -> Result<(), StoreError> {
        let (conn, doing) = (self.lock(), "begin to publish the memory");
        let tx = self.file_identity.begin_write(&conn, doing)?;
        replication::publish_space(tx, sequencer, namer, turn)
    }

    /// Publishes an image of the replica as it is.
    #[cfg(feature = "shared")]
    pub(crate) fn publish_image(&self) -> Result<LogPosition, StoreError> {
        let sharing = self.sharing.as_ref().ok_or(SharedError::NoReplica)?;
        sharing.publish_image(&self.lock())
    }

    /// Makes a connection that shares record again: a change of the place of temporary tables drops
    /// them.
    pub(crate) fn record_again(&self, conn: &Connection) -> Result<(), StoreError> {
        #[cfg(feature = "shared")]
        if let Some(sharing) = &self.sharing {
            return sharing.record_again(conn);
        }
        let _ = conn;
        Ok(())
    }

    /// Returns the part that shares the memory; `None` where the memory is one file.
    #[cfg(feature = "shared")]
    pub(crate) fn sharing(&self) -> Option<&WriterReplication> {
        self.sharing.as_ref()
    }

    /// Notes where a root of other machines lies on this one: at a folder, or around it.
    #[cfg(feature = "shared")]
    pub(crate) fn place_root(&self, folder: &Path) -> Result<(), StoreError> {
        let Some(sharing) = &self.sharing else { return Ok(()) };
        let conn = self.lock();
        if !portable_root_names::has_unplaced(&conn)? {
            return Ok(());
        }
        sharing.write_local(&conn, |tx| {
            let folders = folder.ancestors().filter(|it| it.file_name().is_some());
            for path in folders.filter_map(Path::to_str) {
                portable_root_names::place_root(tx, path, &sharing.root_name(path))?;
            }
            Ok(())
        })
    }

    /// Returns the bytes of source that one write of a compile takes: others wait for it.
    pub(crate) fn slice_bytes(&self, asked: usize) -> usize {
        #[cfg(feature = "shared")]
        if self.sharing.is_some() {
            return asked.min(SHARED_SLICE_BYTES);
        }
        asked
    }

    /// Claims the right to compile a root, which one process has among all machines.
    #[cfg(feature = "shared")]
    pub(crate) fn claim_root(&self, path: &str) -> Result<(), StoreError> {
        let Some(sharing) = &self.sharing else { return Ok(()) };
        let root = sharing.root_name_at(&self.lock(), path)?;
        match sharing.sequencer().take_lease(&replication::compile_lease(&root))? {
            None => Ok(()),
            Some(holder) => Err(SharedError::Compiled { root, holder }.into()),
        }
    }

    #[cfg(feature = "shared")]
    fn root_name(&self, root: &str) -> Option<String> {
        self.sharing.as_ref().filter(|_| !root.is_empty()).map(|it| it.root_name(root))
    }

    /// Does what is due between the writes of a compile: lets others write, merges the full-text
    /// index, and copies a long log.
    pub(crate) fn give_way(&self) -> Result<(), StoreError> {
        loop {
            self.let_others_write();
            self.log.copy_if_long()?;
            if !self.merge_step(merge_many)? {
                break;
            }
        }
        // Whoever wrote while the log was copied keeps it from beginning anew.
        self.log.copy_if_long()
    }

    /// Goes on with the merge of the full-text index that a large compile began, up to about
    /// `n_pages`. Later writes complete the rest.
    pub(crate) fn merge_index(&self, n_pages: i64) -> Result<(), StoreError> {
        let mut n_left = n_pages;
        while 0 < n_left {
            if self.is_awaited() {
                self.let_others_write();
            }
            match self.merge_step(merge_on)? {
                0 => break,
                n_merged => n_left -= n_merged,
            }
            self.log.copy_if_long()?;
        }
        Ok(())
    }

    /// Runs a step of a merge in a transaction. The index is each machine's own.
    fn merge_step<T>(
        &self,
        step: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let conn = self.lock();
        let doing = "begin to merge the index";
        let tx = self.file_identity.begin_write(&conn, doing)?;
        let value = step(&tx)?;
        commit(tx, "commit a merge of the index")?;
        self.file_identity.confirm(&conn)?;
        Ok(value)
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
        now: UnixMillis,
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
        let stopwatch = Clock::System.stopwatch();
        self.n_waiting.fetch_add(1, Ordering::Relaxed);
        let conn = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        self.n_waiting.fetch_sub(1, Ordering::Relaxed);
        let queued_ms = u64::try_from(stopwatch.elapsed_ms()).unwrap_or(0);
        self.queued_ms.store(queued_ms, Ordering::Relaxed);
        conn
    }

    /// Returns whether others wait to write, while this thread does.
    pub(crate) fn is_awaited(&self) -> bool {
        0 < self.n_waiting.load(Ordering::Relaxed) || self.waiter_signal.is_made()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let conn = self.lock();
        if self.log.is_long() {
            connection::copy_log_on_close(&conn);
        }
        self.file_identity.leave(&conn);
    }
}
