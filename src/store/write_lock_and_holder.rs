//! Begins writes, and names the process that holds a lock where one holds it for too long.
//!
//! SQLite takes the locks of a database in WAL mode on bytes of the log's index. On Linux,
//! `/proc/locks` lists the locks of all processes with the files' inodes. Elsewhere, and where the
//! holder is in another namespace, nobody is named. The index is not opened here: closing it would
//! drop SQLite's own locks.

use std::fmt;
use std::fs;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::lock_list::{self, READ_LOCKS, WRITE_LOCK, WalLockByteRange};
use super::unsafe_wal_open_refusal::with_suffix;
use super::{ErrorContext, StoreError};

/// A process that holds a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    pid: u32,
    /// Name of its program, where the system tells.
    program: Option<String>,
    /// Whether it was stopped by a signal, or by a debugger.
    is_stopped: bool,
}

impl LockHolder {
    fn name(&self) -> String {
        match &self.program {
            Some(program) => format!("process {} (`{program}`)", self.pid),
            None => format!("process {}", self.pid),
        }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LockHolder { pid, is_stopped, .. } = self;
        f.write_str(&self.name())?;
        match is_stopped {
            true => write!(f, ", which is stopped, holds its lock; end it, or `kill -CONT {pid}`"),
            false => f.write_str(" has been writing for a long time; try again later"),
        }
    }
}

/// Begins a transaction that writes. Where another process holds the lock for longer than the
/// connection waits, the error names it.
pub(crate) fn begin_write<'c>(
    conn: &'c Connection,
    doing: &'static str,
) -> Result<Transaction<'c>, StoreError> {
    let begun = Transaction::new_unchecked(conn, TransactionBehavior::Immediate).doing(doing);
    begun.map_err(|error| match conn.path() {
        Some(path) => name_holder(error, Path::new(path)),
        None => error,
    })
}

/// Returns an error with the name of the process that holds the write lock, if that is its cause.
/// `path` is the database's without links.
pub(crate) fn name_holder(error: StoreError, path: &Path) -> StoreError {
    match error {
        StoreError::Sqlite { doing, .. } if error.is_busy() => match holder_of(path, &WRITE_LOCK) {
            Some(holder) => StoreError::Locked { doing, holder },
            None => name_stopped(error, path),
        },
        error => error,
    }
}

/// Returns an error of an opening with the name of a process that was stopped while it had the
/// database open, which may be the cause: one that opens or closes it holds other locks for a
/// moment than one that writes, and its log is not there then.
pub(super) fn name_stopped(error: StoreError, path: &Path) -> StoreError {
    let doing = match &error {
        StoreError::Sqlite { doing, source } if error.is_busy() || is_protocol(source) => *doing,
        StoreError::Orphaned { .. } => "open the database",
        _ => return error,
    };
    let full = path.canonicalize();
    let holder = full.ok().and_then(|it| stopped_holder(&it));
    holder.map_or(error, |holder| StoreError::Locked { doing, holder })
}

/// Returns whether SQLite gave up because others changed the log's index each time it looked.
fn is_protocol(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::FileLockingProtocolFailed)
}

/// Returns a process that reads the database, as the subject of a sentence.
pub(crate) fn reader_name(conn: &Connection) -> String {
    match conn.path().and_then(|it| holder_of(Path::new(it), &READ_LOCKS)) {
        Some(holder) if holder.is_stopped => format!("{}, which is stopped,", holder.name()),
        Some(holder) => holder.name(),
        None => "another process".to_owned(),
    }
}

/// Returns a process that holds a lock of the database at `path`, a path without links.
#[cfg(target_os = "linux")]
fn holder_of(path: &Path, lock: &WalLockByteRange) -> Option<LockHolder> {
    lock_list::first_holder(&with_suffix(path, "-shm"), lock).map(holder_named)
}

/// Returns a stopped process that holds a lock of the database at `path`, a path without links.
#[cfg(target_os = "linux")]
fn stopped_holder(path: &Path) -> Option<LockHolder> {
    let holders = lock_list::holders_of(&[path, &with_suffix(path, "-shm")]);
    holders.into_iter().map(holder_named).find(|it| it.is_stopped)
}

/// Returns a holder with what the system tells of its process.
#[cfg(target_os = "linux")]
fn holder_named(pid: u32) -> LockHolder {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|it| it.strip_prefix(name))?;
        Some(line.trim().to_owned())
    };
    let is_stopped = field("State:").is_some_and(|it| it.starts_with(['T', 't']));
    LockHolder { pid, program: field("Name:"), is_stopped }
}

#[cfg(not(target_os = "linux"))]
fn stopped_holder(_: &Path) -> Option<LockHolder> {
    None
}

#[cfg(not(target_os = "linux"))]
fn holder_of(_: &Path, _: &WalLockByteRange) -> Option<LockHolder> {
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::store::{IfMissing, busy_handler, connection};

    #[test]
    #[cfg(target_os = "linux")]
    fn whoever_writes_for_too_long_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("m.db");
        let one = connection::open_writer(&path, IfMissing::Create).unwrap();
        let mut two = connection::open_writer(&path, IfMissing::Refuse).unwrap();
        busy_handler::set_busy_timeout(&mut two, Duration::from_millis(2)).unwrap();
        let held = begin_write(&one, "begin a write").unwrap();
        let error = begin_write(&two, "begin a write").unwrap_err();
        assert!(error.is_busy() && error.is_outside());
        let holder = format!("cannot begin a write: process {} (`", std::process::id());
        let error = error.to_string();
        assert!(error.starts_with(&holder), "{error}");
        assert!(error.ends_with("has been writing for a long time; try again later"), "{error}");
        drop(held);
        begin_write(&two, "begin a write").unwrap();
    }

    #[test]
    fn a_stopped_writer_is_called_so() {
        let holder = LockHolder { pid: 7, program: Some("remindb".to_owned()), is_stopped: true };
        expect_test::expect![[
            r#"process 7 (`remindb`), which is stopped, holds its lock; end it, or `kill -CONT 7`"#
        ]]
        .assert_eq(&holder.to_string());
    }
}
