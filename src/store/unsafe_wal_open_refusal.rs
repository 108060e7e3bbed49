//! Refuses to open a database whose log or index shows that a write could be lost.
//!
//! The log is created before its index and removed after it. If one of them is missing, either no
//! process has the database open, or one has it open whose files were deleted: SQLite would make
//! new ones, and the two processes would write without seeing each other. The lock that each open
//! connection holds distinguishes the two cases. Where a third process has made new ones, the list
//! of locks does.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io, mem};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::committed_wal_page_numbers::CommittedWalPageNumbers;
use super::descriptor_shortage::{is_shortage, shortage};
use super::file_identity_check::is_of_no_log;
use super::missing_path::is_missing;
use super::{StoreError, busy_handler, damaged_wal_replay, lock_list};
use crate::ingest::scan::open_unless_open;

/// Longest wait for processes that open or close the database at the same time.
const RIVALS_WAIT: Duration = Duration::from_secs(3);

/// Symbolic links followed from one to the next, as many as systems allow.
const LINKS_MAX: usize = 40;

/// Refuses a database that another process has open and whose log or index was deleted, one with a
/// log beside a symbolic link to it, an emptied one, whose log SQLite would delete, one whose log
/// it would overwrite unread, and one beside the log of another, which it would read with it.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let Ok(full) = path.canonicalize() else { return Ok(()) };
    let [log, index] = ["-wal", "-shm"].map(|it| with_suffix(&full, it));
    if let Some((link, stray)) = log_beside_a_link(path, &log) {
        let is_older = has_bytes(&log) || is_written_since(&full, &stray);
        let expected = (log.clone(), is_older);
        return Err(StoreError::LogBesideLink { link, log: stray, expected });
    }
    if has_bytes(&log) && !has_bytes(&full) {
        return Err(StoreError::Emptied { path: path.to_owned(), log });
    }
    if has_bytes(&log) && damaged_wal_replay::has_no_table(&full) {
        match damaged_wal_replay::has_unread_commits(&log, &full) {
            Ok(true) => return Err(StoreError::Unread { path: path.to_owned(), log }),
            Err(error) if is_shortage(&error) => return Err(shortage("look into the log")),
            _ => (),
        }
    }
    let are_there = || log.exists() && index.exists();
    let missing = match are_there() {
        true => match replaced(&full, &log, &index) {
            Some(replaced) => replaced,
            None => return refuse_log_of_another(path, &full, log),
        },
        false if is_held(&full, &log, are_there) && !are_there() => {
            if log.exists() {
                index
            } else {
                log
            }
        }
        _ => return refuse_log_of_another(path, &full, log),
    };
    Err(StoreError::Orphaned { path: path.to_owned(), missing })
}

/// Refuses a database beside a log that is not its own.
fn refuse_log_of_another(path: &Path, full: &Path, log: PathBuf) -> Result<(), StoreError> {
    // A database that gets its first log says before that it has one.
    match has_bytes(&log) && is_log_of_another(open_unless_open(full), &log) {
        true => Err(StoreError::LogOfAnother { path: path.to_owned(), log }),
        false => Ok(()),
    }
}

/// Returns whether a database says that it has no log, and the log beside it has commits: another
/// file was put in the place of the one whose log it is. One that cannot be opened says nothing, as
/// one that this process has open, which was looked at before.
pub(crate) fn is_log_of_another(database: io::Result<File>, log: &Path) -> bool {
    let has_none = database.and_then(|it| is_of_no_log(&it)).unwrap_or(false);
    has_none && CommittedWalPageNumbers::read(log).is_ok_and(|it| it.is_some())
}

/// Refuses a missing database whose log is still there: SQLite would delete the log.
pub(super) fn check_missing(path: &Path) -> Result<(), StoreError> {
    // The log is looked at first: a rival that makes the memory makes the database before it.
    let log = log_beside(path).filter(|it| has_bytes(it));
    let database = database_and_links(path).0;
    match log {
        Some(log) if !has_bytes(&database) => Err(StoreError::Vanished { path: database, log }),
        _ => Ok(()),
    }
}

/// Returns the log of the database at `path`, which may be missing: the one at the name that SQLite
/// derives, or else one beside a symbolic link to the database, unless the database was written
/// since; `None` where there is none.
pub(crate) fn log_beside(path: &Path) -> Option<PathBuf> {
    let (database, links) = database_and_links(path);
    let strays = links.iter().rev().map(|it| with_suffix(it, "-wal"));
    let logs = std::iter::once(with_suffix(&database, "-wal"))
        .chain(strays.filter(|it| !is_written_since(&database, it)));
    let found: Vec<PathBuf> = logs.filter(|it| it.is_file()).collect();
    found.iter().find(|it| has_bytes(it)).or(found.first()).cloned()
}

/// Returns the name at which SQLite looks for the log of the database at `path`.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    with_suffix(&database_and_links(path).0, "-wal")
}

/// Returns a log beside a symbolic link to the database at `path` other than the log `taken`.
pub(crate) fn log_left_out(path: &Path, taken: &Path) -> Option<PathBuf> {
    log_beside_a_link(path, taken).map(|it| it.1)
}

/// Returns whether a database seems to be written after a log, which is not in use then. What is
/// moved keeps its time; what is copied may lose it.
fn is_written_since(database: &Path, log: &Path) -> bool {
    if !has_bytes(database) {
        return false;
    }
    let [database, log] =
        [database, log].map(|it| fs::metadata(it).and_then(|it| it.modified()).ok());
    database.zip(log).is_some_and(|(database, log)| log < database)
}

/// Returns whether a database is at `path`, or its log alone, or something that cannot be reached:
/// the opening says what to do then.
pub(crate) fn is_there(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(it) if it.is_file() => true,
        Err(_) if !is_missing(path) => true,
        _ => log_beside(path).is_some_and(|it| has_bytes(&it)),
    }
}

/// Returns a symbolic link on the way to the database and the log beside it, which is another one
/// than that at the name which SQLite derives.
fn log_beside_a_link(path: &Path, log: &Path) -> Option<(PathBuf, PathBuf)> {
    let is_other =
        |it: &PathBuf| has_bytes(it) && it.canonicalize().ok() != log.canonicalize().ok();
    database_and_links(path).1.into_iter().find_map(|link| {
        let stray = Some(with_suffix(&link, "-wal")).filter(is_other)?;
        Some((link, stray))
    })
}

fn has_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && 0 < it.len())
}

/// Returns the database's own name, even if nothing is there, and the symbolic links from `path` on
/// that lead to it.
fn database_and_links(path: &Path) -> (PathBuf, Vec<PathBuf>) {
    let (mut database, mut links) = (path.to_owned(), Vec::new());
    while links.len() < LINKS_MAX
        && let Ok(next) = fs::read_link(&database)
    {
        let target = database.parent().unwrap_or(Path::new("")).join(next);
        links.push(mem::replace(&mut database, target));
    }
    (database, links)
}

/// Returns `path` with `suffix` at the end of its name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns whether another process has the database open, by asking for the exclusive lock.
///
/// It asks before the log is opened, so that none is made. Two processes that ask at the same time
/// are in each other's way, so each lets go between its attempts. Errors of the question are left
/// to the real opening.
fn is_held(path: &Path, log: &Path, is_over: impl Fn() -> bool) -> bool {
    !busy_handler::try_at_random(RIVALS_WAIT, || is_over() || !is_held_now(path, log))
}

/// Returns which of the files was replaced while another process had it open. A process that opens
/// or closes them just now soon has the new ones, or none, so only one that has others at each look
/// is meant.
fn replaced(database: &Path, log: &Path, index: &Path) -> Option<PathBuf> {
    let look = || lock_list::processes_with_other_files(database, index);
    let mut suspects = look();
    let are_gone = busy_handler::try_at_random(RIVALS_WAIT, || {
        let now = look();
        suspects.database.retain(|it| now.database.contains(it));
        suspects.index.retain(|it| now.index.contains(it));
        suspects.database.is_empty() && suspects.index.is_empty()
    });
    match (are_gone, suspects.database.is_empty()) {
        (true, _) => None,
        (false, false) => Some(database.to_owned()),
        (false, true) => Some(log.to_owned()),
    }
}

fn is_held_now(path: &Path, log: &Path) -> bool {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let asked = Connection::open_with_flags(path, flags).and_then(|conn| {
        // A log that exists is left to the connection that opens the database next.
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, log.exists())?;
        conn.busy_timeout(Duration::ZERO)?;
        conn.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
        conn.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0))
    });
    matches!(asked, Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
}

#[cfg(test)]
mod tests;
