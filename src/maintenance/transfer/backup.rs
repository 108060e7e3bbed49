//! Copies a memory page by page through SQLite while others read and write it.
//!
//! The copy is one state of the memory: that of the moment when copying began.

use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use super::{AtomicFile, IfExists, ProgressFn, TransferError, with_suffix};
use crate::maintenance::doctor;
use crate::model::identity::ContentHash;
use crate::store::{ErrorContext, StoreError, check_path, connection, schema};

/// Pages between two reports of progress.
const STEP_PAGES: i32 = 4096;

/// The outcome of a backup, whose copy was examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackupReport {
    pub(crate) n_nodes: u64,
    /// Fingerprint of the state, computed from the copy.
    pub(crate) fingerprint: ContentHash,
    /// Whether it equals the fingerprint that the memory has stored.
    pub(crate) is_as_noted: bool,
}

/// Copies the memory at `db` to `dest`, which appears only when complete.
pub(crate) fn backup(
    db: &Path,
    dest: &Path,
    if_there: IfExists,
    progress: ProgressFn<'_>,
) -> Result<BackupReport, TransferError> {
    check_path(db, crate::store::IfMissing::Refuse)?;
    refuse_same(db, dest)?;
    let from = connection::open_to_examine(db)?;
    let draft = AtomicFile::of(dest, if_there)?;
    let backed = copy(&from, draft.path(), progress)?;
    draft.publish()?;
    Ok(backed)
}

/// Copies the memory at `db` to `dest`, faults included, before a repair.
pub(crate) fn backup_as_is(db: &Path, dest: &Path) -> Result<(), TransferError> {
    let from = connection::open_to_examine(db)?;
    let state = connection::begin_read(&from, "begin a backup")?;
    let draft = safety_draft(db)?;
    let mut copy = connection::open_existing(draft.path(), "open the copy")?;
    copy_pages(&state, &mut copy, &mut |_, _| ())?;
    one_file(&copy)?;
    // A fault that prevents the one computation prevents the other.
    if doctor::compute_state_fingerprint(&copy).ok()
        != doctor::compute_state_fingerprint(&state).ok()
    {
        let what = "the copy is not what was copied; check the disk".to_owned();
        return Err(TransferError::Refused(what));
    }
    drop(copy);
    draft.publish_as(dest)
}

/// Creates a draft without the time in its name, so that one that a kill left is used again.
pub(super) fn safety_draft(db: &Path) -> Result<AtomicFile, TransferError> {
    AtomicFile::of(&with_suffix(db, ".before"), IfExists::Refuse)
}

/// Copies the state that `from` sees into the empty file `to`, and compares the two.
pub(super) fn copy(
    from: &Connection,
    to: &Path,
    progress: ProgressFn<'_>,
) -> Result<BackupReport, TransferError> {
    // One state, however long it takes and whoever writes meanwhile.
    let state = connection::begin_read(from, "begin a backup")?;
    let mut copy = connection::open_existing(to, "open the copy")?;
    copy_pages(&state, &mut copy, progress)?;
    one_file(&copy)?;
    let finding: String =
        copy.query_row("PRAGMA quick_check (1)", [], |row| row.get(0)).doing("examine the copy")?;
    if finding != "ok" {
        let what = format!("the database is damaged: {finding}; run `remindb doctor`");
        return Err(TransferError::Refused(what));
    }
    let computed = doctor::compute_state_fingerprint(&copy)?;
    if computed != doctor::compute_state_fingerprint(&state)? {
        let what = "the copy is not what was copied; check the disk".to_owned();
        return Err(TransferError::Refused(what));
    }
    let read = |sql| copy.query_row(sql, [], |row| row.get::<_, i64>(0)).doing("read the copy");
    Ok(BackupReport {
        n_nodes: read("SELECT count(*) FROM node")?.cast_unsigned(),
        fingerprint: ContentHash(computed),
        is_as_noted: read("SELECT fingerprint FROM memory")?.cast_unsigned() == computed,
    })
}

/// Copies every page, sound or not, as one transaction of `to`.
pub(super) fn copy_pages(
    from: &Connection,
    to: &mut Connection,
    progress: ProgressFn<'_>,
) -> Result<(), StoreError> {
    let backup = Backup::new(from, to).doing("begin to copy")?;
    while step(&backup, STEP_PAGES, progress)? {}
    Ok(())
}

/// Copies some pages; returns false when that was the last.
pub(super) fn step(
    backup: &Backup<'_, '_>,
    n_pages: i32,
    progress: ProgressFn<'_>,
) -> Result<bool, StoreError> {
    let result = backup.step(n_pages).doing("copy pages")?;
    let seen = backup.progress();
    let pages = |n: i32| u64::try_from(n).unwrap_or(0);
    progress(pages(seen.pagecount - seen.remaining), pages(seen.pagecount));
    match result {
        StepResult::Done => Ok(false),
        StepResult::More => Ok(true),
        // The connection's waiting time is over.
        _ => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_BUSY), None))
            .doing("copy pages"),
    }
}

/// Makes a database a single file without a log beside it.
pub(super) fn one_file(conn: &Connection) -> Result<(), StoreError> {
    const DOING: &str = "write the log back into the file";
    let mut change = conn.prepare("PRAGMA journal_mode = DELETE").doing(DOING)?;
    let mut rows = change.query([]).doing(DOING)?;
    // SQLite commits after the row with the mode.
    while rows.next().doing(DOING)?.is_some() {}
    Ok(())
}

/// Opens a memory of any schema version for copying, without a change around it.
///
/// In a read-only place it is opened as an immutable file.
pub(super) fn open_to_copy(path: &Path) -> Result<Connection, StoreError> {
    match connection::open_to_examine(path) {
        Err(StoreError::Sqlite { source: rusqlite::Error::SqliteFailure(error, _), .. })
            if error.code == ErrorCode::CannotOpen && !with_suffix(path, "-wal").exists() =>
        {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            let conn = Connection::open_with_flags(immutable(path), flags)
                .doing("open the database to read")?;
            schema::check_is_memory(&conn, path)?;
            Ok(conn)
        }
        opened => opened,
    }
}

/// Returns `path` as a URI that promises SQLite that no process writes.
fn immutable(path: &Path) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri += &format!("%{byte:02x}"),
        }
    }
    uri + "?immutable=1"
}

/// Refuses to overwrite the source of a transfer.
pub(crate) fn refuse_same(from: &Path, to: &Path) -> Result<(), TransferError> {
    let full = |path: &Path| -> Option<PathBuf> { path.canonicalize().ok() };
    if full(from).is_some() && full(from) == full(to) {
        let what = format!("`{}` cannot be both source and destination", from.display());
        return Err(TransferError::Refused(what));
    }
    Ok(())
}
