//! A backup becomes the memory, after a copy of what is there was set aside.
//!
//! A sound memory is replaced in one transaction of SQLite, so that servers that have it open read
//! the old state or the new one, and go on with the new. The safety copy is made when nobody else
//! can write any more, so that every write that was acknowledged is in it.
//! A damaged file is moved aside whole, since SQLite cannot write to it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::backup::Backup;

use super::atomic_file::{behind_links, sync_folder};
use super::backup::{self as pages, BackupReport, open_to_copy, refuse_same};
use super::{AtomicFile, IfThere, MoveError, OnFile, ProgressFn, complaint, with_suffix};
use crate::store::commit::at_commit;
use crate::store::file_identity::FileIdentity;
use crate::store::{ErrorStep, IfMissing, StoreError, Writer, check_path, connection, schema};

/// Pages of a step while everybody else waits.
const STEP_PAGES: i32 = 4096;

/// What became of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RestoreReport {
    pub(crate) state: BackupReport,
    /// Where that is kept which was there before; `None` when nothing was.
    pub(crate) safety: Option<PathBuf>,
    /// Why what was there could only be moved aside as it was.
    pub(crate) damage: Option<String>,
}

/// Makes the memory at `db` what `source` is. `stamp` names the safety copy.
pub(crate) fn restore(
    source: &Path,
    db: &Path,
    stamp: &str,
    progress: ProgressFn<'_>,
) -> Result<RestoreReport, MoveError> {
    check_path(source, IfMissing::Refuse).map_err(|error| match error {
        StoreError::Missing { path } => {
            MoveError::Refused(format!("no backup at `{}`", path.display()))
        }
        error => error.into(),
    })?;
    refuse_same(source, db)?;
    let db = &behind_links(db)?;
    check_path(db, IfMissing::Create)?;
    let draft = draft_of(db)?;
    let state = pages::copy(&open_to_copy(source)?, draft.path(), progress)?;
    finish(&draft)?;
    if let Some(complaint) = complaint(draft.path())? {
        let what = format!(
            "`{}` is not sound: {complaint}; nothing was restored; see `remindb doctor --db {}`",
            source.display(),
            source.display()
        );
        return Err(MoveError::Refused(what));
    }
    let (safety, damage) = install(draft, db, stamp, progress)?;
    Ok(RestoreReport { state, safety, damage })
}

/// Brings a draft to the newest schema, and makes it one file.
fn finish(draft: &AtomicFile) -> Result<(), StoreError> {
    drop(Writer::open(draft.path(), IfMissing::Refuse)?);
    let conn = connection::open_existing(draft.path(), "open the copy")?;
    pages::one_file(&conn)
}

/// Puts a finished draft in the place of `db`; gives the safety copy and what was wrong with it.
fn install(
    draft: AtomicFile,
    db: &Path,
    stamp: &str,
    progress: ProgressFn<'_>,
) -> Result<(Option<PathBuf>, Option<String>), MoveError> {
    if db.symlink_metadata().is_err() {
        draft.publish_as(db)?;
        return Ok((None, None));
    }
    let damage = match is_usable(db) {
        Ok(()) => {
            let safety = with_suffix(db, &format!(".{stamp}.before-restore"));
            // Without the time in its name, a draft that a kill left is used again.
            let copy = AtomicFile::of(&with_suffix(db, ".before-restore"), IfThere::Refuse)?;
            let keep = || {
                pages::copy(&connection::open_to_examine(db)?, copy.path(), &mut |_, _| ())?;
                copy.publish_as(&safety)
            };
            replace(&draft, db, keep, progress)?;
            return Ok((Some(safety), None));
        }
        // An empty file, which SQLite takes for an empty database.
        Err(StoreError::Missing { .. }) => {
            replace(&draft, db, || Ok(()), progress)?;
            return Ok((None, None));
        }
        Err(StoreError::Sqlite { source, .. }) if is_ours(db) => source.to_string(),
        Err(error) => return Err(error.into()),
    };
    let aside = with_suffix(db, &format!(".{stamp}.damaged"));
    set_aside(db, &aside)?;
    draft.replacing().publish_as(db)?;
    Ok((Some(aside), Some(damage)))
}

/// Whether SQLite reads every page of what is there.
fn is_usable(db: &Path) -> Result<(), StoreError> {
    let conn = connection::open_to_examine(db)?;
    let found: String = conn
        .query_row("PRAGMA quick_check (1)", [], |row| row.get(0))
        .doing("look at what is there")?;
    if found == "ok" {
        return Ok(());
    }
    let damaged = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(damaged, Some(found))).doing("look at what is there")
}

/// Whether the head of a file that SQLite cannot read says that it was a memory.
fn is_ours(db: &Path) -> bool {
    let mut head = [0; 72];
    let read = File::open(db).and_then(|mut it| it.read_exact(&mut head));
    read.is_ok() && head[68..] == (schema::APPLICATION_ID as u32).to_be_bytes()
}

/// Replaces what is there in one transaction. `ready` is called when nobody else can write any
/// more and everybody still reads the old state.
fn replace(
    draft: &AtomicFile,
    db: &Path,
    ready: impl FnOnce() -> Result<(), MoveError>,
    progress: ProgressFn<'_>,
) -> Result<(), MoveError> {
    // In WAL mode from here on, so that readers see one state or the other without waiting.
    let mut to = connection::open_writer(db, IfMissing::Refuse)?;
    let file_identity = FileIdentity::of(db)?;
    let from = connection::open_to_examine(draft.path())?;
    let backup = Backup::new(&from, &mut to).doing("begin to replace the memory")?;
    // The first step takes the lock that every writer needs, and keeps it to the end.
    pages::step(&backup, 1, progress)?;
    ready()?;
    while pages::step(&backup, STEP_PAGES, progress).map_err(at_commit)? {}
    drop(backup);
    Ok(file_identity.confirm(&to)?)
}

/// A draft that will stand where `db` is. Companions of what is there are no obstacle to it.
pub(super) fn draft_of(db: &Path) -> Result<AtomicFile, MoveError> {
    AtomicFile::of(&with_suffix(db, ".new"), IfThere::Refuse)
}

/// Refuses a database that has anything in it.
pub(super) fn refuse_occupied(db: &Path) -> Result<(), MoveError> {
    const ROWS: &str = "
        SELECT (SELECT count(*) FROM node),
               (SELECT count(*) FROM snapshot) + (SELECT count(*) FROM root)";
    check_path(db, IfMissing::Create)?;
    // A file of no bytes is an empty database to SQLite.
    if !fs::metadata(db).is_ok_and(|it| 0 < it.len()) {
        return Ok(());
    }
    let conn = connection::open_to_examine(db)?;
    let (n_nodes, n_others): (i64, i64) = conn
        .query_row(ROWS, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .doing("look at what is there")?;
    if n_nodes + n_others == 0 {
        return Ok(());
    }
    let what = format!(
        "`{}` holds a memory of {n_nodes} nodes; name a new database with --db, or move it away",
        db.display()
    );
    Err(MoveError::Refused(what))
}

/// Puts a finished draft where no database is, or an empty one.
pub(super) fn install_draft(
    draft: AtomicFile,
    db: &Path,
    progress: ProgressFn<'_>,
) -> Result<(), MoveError> {
    match fs::metadata(db) {
        Err(_) => draft.publish_as(db),
        Ok(_) => replace(&draft, db, || refuse_occupied(db), progress),
    }
}

/// Moves a damaged file and its log aside. It keeps its name, too, until it is replaced.
fn set_aside(db: &Path, aside: &Path) -> Result<(), MoveError> {
    fs::hard_link(db, aside).or_else(|_| fs::copy(db, aside).map(drop)).on("set aside", db)?;
    for suffix in ["-wal", "-shm", "-journal"] {
        let (old, new) = (with_suffix(db, suffix), with_suffix(aside, suffix));
        if old.exists() {
            fs::rename(&old, &new).on("set aside", &old)?;
        }
    }
    sync_folder(db)
}
