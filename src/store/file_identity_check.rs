//! Compares the three open files of a database with the files at their names.
//!
//! SQLite writes to descriptors, and other processes find the files by their names. While a
//! connection is open, no process removes or replaces any of the three through SQLite: the last
//! connection to close removes the log and its index, and every open one holds a lock that keeps
//! others from being the last. So a name that leads elsewhere was changed from outside. Device and
//! inode of the names are noted when the log is open; an open file keeps its inode, so no other can
//! have it. The names are looked up and the files not opened, since closing one would drop SQLite's
//! locks; only the log has none, and is kept open, since each write reads its beginning.

mod copies_beside_memory;
mod files_left_open;
mod hard_links;
mod log_of_replaced_database;
mod overwritten_files;
mod unlinked_wal_rescue;
mod wal_head_reader;

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Transaction, TransactionBehavior};

pub(crate) use copies_beside_memory::CopiesBesideMemory;
pub(crate) use hard_links::ASIDE;
pub(super) use hard_links::check_links;
use hard_links::{check_names, n_names};
pub(super) use overwritten_files::is_of_no_log;
use overwritten_files::time_of_write;
use unlinked_wal_rescue::is_empty_file;
use wal_head_reader::{LOG_HEAD, WalHeadReader};

use super::committed_wal_page_numbers::CommittedWalPageNumbers;
use super::descriptor_shortage::{is_shortage, shortage};
use super::schema_check_cache::SchemaCheckCache;
use super::unsafe_wal_open_refusal::with_suffix;
use super::{ErrorContext, StoreError, write_lock_and_holder};
use crate::ingest::scan::{FileIdentity, OwnOpenDatabaseFiles};

/// The first bytes of a log whose checksums are little-endian, and big-endian.
const LOG_MAGIC: [u8; 4] = [0x37, 0x7f, 0x06, 0x82];
const LOG_MAGIC_BIG: [u8; 4] = [0x37, 0x7f, 0x06, 0x83];

/// The three files, as they were when they were opened.
#[derive(Debug)]
pub(crate) struct OpenedFiles {
    /// The path as given.
    path: PathBuf,
    /// The path without symbolic links, from which SQLite derives the names of the log and its
    /// index.
    full: PathBuf,
    /// The names of the log and of its index.
    beside: [PathBuf; 2],
    opened: DatabaseWalShmInodes,
    open_log: Option<WalHeadReader>,
    /// Keeps whoever reads a folder from dropping SQLite's locks.
    _locked: OwnOpenDatabaseFiles,
    /// The time at which the database file was last written, as far as this process knows that
    /// SQLite did it; since the Unix epoch.
    written: Mutex<Option<Duration>>,
    /// The log as it was after a write of this process that was not its first.
    log: Mutex<Option<WalExtent>>,
    /// The database as it was when this process last saw that it is whole.
    database: Mutex<Option<LastWholeDatabaseSize>>,
    schema: SchemaCheckCache,
}

/// The size of the database file when this process last found it whole.
///
/// It only grows, unless another process rewrites the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LastWholeDatabaseSize {
    n_bytes: u64,
    /// The log's salts, if it had a commit.
    salts: Option<[u8; 8]>,
}

/// The extent of the write-ahead log: its salts and length. From its first commit on it only grows,
/// until it begins anew with other salts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WalExtent {
    salts: [u8; 8],
    n_bytes: u64,
}

/// The moment at which this process checks the write-ahead log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WalCheckMoment {
    /// It holds the write lock, and has not written yet.
    BeforeWrite,
    /// Its write is in the log.
    AfterWrite,
    Other,
}

/// The result of a look at the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WalTruncationCheckResult {
    /// It is as SQLite left it; its salts, unless it is empty.
    Whole(Option<[u8; 8]>),
    /// It was shortened from outside.
    Cut,
}

/// Inodes behind the names of the database, its log and the log's index.
///
/// `None` where there is no file.
type DatabaseWalShmInodes = [Option<FileIdentity>; 3];

/// A change of the names while the files were open; the number is that of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileReplacedOrUnlinked {
    /// The database is gone or empty, or another file has the name of one of the three.
    ///
    /// Other processes may have written there.
    Replaced(usize),
    /// The log has no name: data that only the log holds is lost when the last process closes it.
    LogUnlinked,
    /// Only the log's index has no name. It holds nothing that is not in the log.
    IndexUnlinked,
}

fn salts(head: &[u8; LOG_HEAD]) -> [u8; 8] {
    let [.., a, b, c, d, e, f, g, h] = *head;
    [a, b, c, d, e, f, g, h]
}

impl FileReplacedOrUnlinked {
    fn between(
        opened: DatabaseWalShmInodes,
        now: DatabaseWalShmInodes,
    ) -> Option<FileReplacedOrUnlinked> {
        if opened == now {
            return None;
        }
        let is_other = |nth: usize| now[nth] != opened[nth] && (nth == 0 || now[nth].is_some());
        Some(match (0..3).find(|&nth| is_other(nth)) {
            Some(nth) => FileReplacedOrUnlinked::Replaced(nth),
            None if now[1].is_none() => FileReplacedOrUnlinked::LogUnlinked,
            None => FileReplacedOrUnlinked::IndexUnlinked,
        })
    }

    fn file(self) -> usize {
        match self {
            FileReplacedOrUnlinked::Replaced(nth) => nth,
            FileReplacedOrUnlinked::LogUnlinked => 1,
            FileReplacedOrUnlinked::IndexUnlinked => 2,
        }
    }
}

impl OpenedFiles {
    /// Notes the files at `path`, which a connection of this process has open together with the
    /// log.
    pub(crate) fn of(path: &Path) -> Result<OpenedFiles, StoreError> {
        let full = path.canonicalize().map_err(|error| match is_shortage(&error) {
            true => shortage("find the database"),
            false => StoreError::Moved { path: path.to_owned() },
        })?;
        let beside = ["-wal", "-shm"].map(|it| with_suffix(&full, it));
        let mut file_identity = OpenedFiles {
            path: path.to_owned(),
            full,
            open_log: WalHeadReader::open(&beside[0])?,
            beside,
            opened: [None; 3],
            _locked: OwnOpenDatabaseFiles::new([]),
            written: Mutex::default(),
            log: Mutex::default(),
            database: Mutex::default(),
            schema: SchemaCheckCache::default(),
        };
        let found = file_identity.look();
        file_identity.opened = inodes(&found);
        *lock(&file_identity.written) = found[0].as_ref().and_then(time_of_write);
        match file_identity.opened.iter().position(Option::is_none) {
            Some(nth) => Err(file_identity.moved(nth)),
            None if file_identity.open_log.as_ref().and_then(WalHeadReader::inode)
                != file_identity.opened[1] =>
            {
                Err(file_identity.moved(1))
            }
            None => {
                let locked = OwnOpenDatabaseFiles::new(file_identity.opened.into_iter().flatten());
                Ok(OpenedFiles { _locked: locked, ..file_identity })
            }
        }
    }

    /// Refuses files that are no longer at their names.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self.change() {
            None => Ok(()),
            Some(change) => Err(self.moved(change.file())),
        }
    }

    /// Begins a transaction that writes, in files at their names and in a schema that was checked.
    pub(crate) fn begin_write<'c>(
        &self,
        conn: &'c Connection,
        doing: &'static str,
    ) -> Result<Transaction<'c>, StoreError> {
        let tx = write_lock_and_holder::begin_write(conn, doing)?;
        self.check_locked()?;
        self.check_schema(&tx)?;
        Ok(tx)
    }

    /// Refuses a schema that is no longer this build's, in the state that `conn` sees.
    pub(crate) fn check_schema(&self, conn: &Connection) -> Result<(), StoreError> {
        self.schema.check(conn, &self.path)
    }

    /// Checks the names and the sizes under the write lock, and restores an unlinked log.
    ///
    /// No acknowledged write is lost that way.
    pub(crate) fn check_locked(&self) -> Result<(), StoreError> {
        let found = self.look();
        if let Some(database) = &found[0] {
            check_names(&self.path, n_names(database))?;
        }
        let moment = match FileReplacedOrUnlinked::between(self.opened, self.inodes_of(&found)) {
            None => WalCheckMoment::BeforeWrite,
            Some(FileReplacedOrUnlinked::LogUnlinked) => {
                self.put_back_or_warn()?;
                self.check()?;
                WalCheckMoment::Other
            }
            Some(change) => return Err(self.moved(change.file())),
        };
        let cut = match self.log_state(moment) {
            WalTruncationCheckResult::Cut => 1,
            WalTruncationCheckResult::Whole(salts) if self.is_cut_locked(salts) => 0,
            WalTruncationCheckResult::Whole(_) => return Ok(()),
        };
        Err(self.moved(cut))
    }

    /// Refuses files that are no longer at their names, and those that were cut from outside,
    /// before `conn` copies the log.
    pub(super) fn check_to_copy(&self, conn: &Connection) -> Result<(), StoreError> {
        self.check()?;
        match self.cut_file(WalCheckMoment::Other, conn)? {
            None => Ok(()),
            Some(nth) => Err(self.moved(nth)),
        }
    }

    /// Returns whether the log can be copied in the middle of a commit. Where only the write lock
    /// tells, it cannot.
    pub(super) fn may_copy(&self) -> bool {
        self.change().is_none()
            && self.log_state(WalCheckMoment::Other) != WalTruncationCheckResult::Cut
            && !self.is_shorter()
    }

    /// Checks that the last commit of `conn` is in files with names; the error means that it may be
    /// lost.
    pub(crate) fn confirm(&self, conn: &Connection) -> Result<(), StoreError> {
        let unkept_file = |nth| StoreError::Unkept { path: self.name(nth).to_owned() };
        let unkept = |change: FileReplacedOrUnlinked| unkept_file(change.file());
        match self.change() {
            None | Some(FileReplacedOrUnlinked::IndexUnlinked) => {
                match self.cut_file(WalCheckMoment::AfterWrite, conn).unwrap_or(Some(0)) {
                    Some(nth) => Err(unkept_file(nth)),
                    None => Ok(()),
                }
            }
            Some(FileReplacedOrUnlinked::LogUnlinked) => {
                let lock = Transaction::new_unchecked(conn, TransactionBehavior::Immediate);
                let Ok(_lock) = lock else {
                    return Err(unkept(FileReplacedOrUnlinked::LogUnlinked));
                };
                match self.change() {
                    None => Ok(()),
                    Some(FileReplacedOrUnlinked::LogUnlinked)
                        if matches!(self.put_back_or_warn(), Ok(true)) =>
                    {
                        Ok(())
                    }
                    Some(change) => Err(unkept(change)),
                }
            }
            Some(change) => Err(unkept(change)),
        }
    }

    /// Prepares the end of a connection. Where a name leads elsewhere, the log stays as it is:
    /// copying it into the database could overwrite what others wrote.
    pub(crate) fn leave(&self, conn: &Connection) {
        let change = self.change();
        if change.is_none() && matches!(self.cut_file(WalCheckMoment::Other, conn), Ok(None)) {
            return;
        }
        match change {
            Some(FileReplacedOrUnlinked::LogUnlinked) => {
                if let Err(error) = self.confirm(conn) {
                    log::error!("{error}");
                }
            }
            Some(FileReplacedOrUnlinked::Replaced(0)) => self.part_from_other_database(),
            Some(FileReplacedOrUnlinked::Replaced(_)) => self.keep_replaced_log(),
            _ => (),
        }
        if let Err(error) = conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true) {
            log::warn!("cannot leave the log as it is: {error}");
        }
    }

    /// Returns the file that was cut from outside, if any.
    fn cut_file(
        &self,
        moment: WalCheckMoment,
        conn: &Connection,
    ) -> Result<Option<usize>, StoreError> {
        if self.log_state(moment) == WalTruncationCheckResult::Cut {
            return Ok(Some(1));
        }
        if !self.is_shorter() {
            return Ok(None);
        }
        let lock = Transaction::new_unchecked(conn, TransactionBehavior::Immediate);
        let _lock = lock.doing("look whether the database is whole")?;
        Ok(match self.log_state(WalCheckMoment::Other) {
            WalTruncationCheckResult::Cut => Some(1),
            WalTruncationCheckResult::Whole(salts) => self.is_cut_locked(salts).then_some(0),
        })
    }

    /// Returns whether the database file is shorter than before.
    fn is_shorter(&self) -> bool {
        let mut known = lock(&self.database);
        let n_bytes = self.database_bytes();
        match &mut *known {
            Some(mark) if n_bytes < mark.n_bytes => return true,
            Some(mark) => mark.n_bytes = n_bytes,
            None => (),
        }
        false
    }

    /// Returns whether the database file has lost pages that the log does not have. It is for the
    /// holder of the write lock, and reads the log where the file is shorter than before, or where
    /// the log has begun anew.
    fn is_cut_locked(&self, salts: Option<[u8; 8]>) -> bool {
        let is_shorter = self.is_shorter();
        let mut known = lock(&self.database);
        if !is_shorter && known.is_some_and(|it| it.salts == salts) {
            return false;
        }
        // What cannot be read says nothing.
        let logged = CommittedWalPageNumbers::read(self.name(1)).unwrap_or(None);
        let n_bytes = self.database_bytes();
        let is_whole = match &logged {
            Some(logged) => logged.complete(n_bytes),
            // The next commit tells: the log has the size of the database then.
            None if is_shorter => return false,
            None => true,
        };
        if is_whole {
            *known = Some(LastWholeDatabaseSize { n_bytes, salts: logged.map(|it| it.salts) });
        }
        !is_whole
    }

    fn database_bytes(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |it| it.len())
    }

    /// Looks whether somebody shortened the log or wrote another over it, and SQLite went on behind
    /// that: it has something, and not what a log begins with, or less than it had since it began,
    /// or it began anew and its index does not say so. The next process would not find what is
    /// written behind that. An empty log was copied by another process.
    ///
    /// The first commit to a log that begins anew may cut what the one before left. So a length
    /// counts after a write to a log that had begun before.
    fn log_state(&self, moment: WalCheckMoment) -> WalTruncationCheckResult {
        // Other threads note a later state meanwhile otherwise.
        let mut known = lock(&self.log);
        let Some((head, n_bytes)) = self.open_log.as_ref().and_then(WalHeadReader::head) else {
            return WalTruncationCheckResult::Whole(None);
        };
        if ![LOG_MAGIC, LOG_MAGIC_BIG].contains(&[head[0], head[1], head[2], head[3]]) {
            return WalTruncationCheckResult::Cut;
        }
        let salts = salts(&head);
        match (&mut *known, moment) {
            (Some(mark), _) if mark.salts == salts && n_bytes < mark.n_bytes => {
                return WalTruncationCheckResult::Cut;
            }
            (Some(mark), WalCheckMoment::AfterWrite) if mark.salts == salts => {
                mark.n_bytes = n_bytes
            }
            (Some(mark), _) if mark.salts == salts => (),
            // This write began it anew.
            (mark, WalCheckMoment::AfterWrite) => *mark = Some(WalExtent { salts, n_bytes: 0 }),
            (Some(_), _) if self.is_other_than_in_index() => return WalTruncationCheckResult::Cut,
            (mark, WalCheckMoment::BeforeWrite) => *mark = Some(WalExtent { salts, n_bytes: 0 }),
            _ => (),
        }
        WalTruncationCheckResult::Whole(Some(salts))
    }

    fn change(&self) -> Option<FileReplacedOrUnlinked> {
        FileReplacedOrUnlinked::between(self.opened, self.inodes_of(&self.look()))
    }

    /// Looks up the three names.
    fn look(&self) -> [Option<Metadata>; 3] {
        // A link in place of a file is another file, wherever it leads: who opens the database by
        // it looks for the log elsewhere.
        let of = |name: &Path| fs::symlink_metadata(name).ok();
        // A symbolic link that leads elsewhere is another database, too. An empty file is none.
        let database = match self.path == self.full {
            true => of(&self.full),
            false => fs::metadata(&self.path).ok().and_then(|found| {
                of(&self.full).filter(|it| FileIdentity::of(it) == FileIdentity::of(&found))
            }),
        };
        [database.filter(|it| 0 < it.len()), of(self.name(1)), of(self.name(2))]
    }

    /// Returns the inodes at the names. An empty file in place of the log counts as none: nothing
    /// was written to it, and who has the same index cannot write to it. So does a database that
    /// another was written over.
    fn inodes_of(&self, found: &[Option<Metadata>; 3]) -> DatabaseWalShmInodes {
        let mut inodes = inodes(found);
        if found[1].as_ref().is_some_and(is_empty_file) && inodes[1] != self.opened[1] {
            inodes[1] = None;
        }
        if found[0].as_ref().is_some_and(|it| self.is_overwritten(it)) {
            inodes[0] = None;
        }
        inodes
    }

    /// Returns the copies beside the database that nothing else tells of.
    pub(crate) fn copies_beside(&self) -> CopiesBesideMemory {
        CopiesBesideMemory::of(&self.full)
    }

    fn name(&self, nth: usize) -> &Path {
        match nth {
            0 => &self.path,
            _ => &self.beside[nth - 1],
        }
    }

    fn moved(&self, nth: usize) -> StoreError {
        StoreError::Moved { path: self.name(nth).to_owned() }
    }
}

fn inodes(files: &[Option<Metadata>; 3]) -> DatabaseWalShmInodes {
    files.each_ref().map(|it| it.as_ref().map(FileIdentity::of))
}

fn lock<T>(mark: &Mutex<T>) -> MutexGuard<'_, T> {
    // A mark is replaced as a whole.
    mark.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
