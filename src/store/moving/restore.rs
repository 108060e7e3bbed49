//! A backup becomes the memory, after a copy of what is there was set aside.
//!
//! A sound memory is replaced in one transaction of SQLite, so that servers that have it open read
//! the old state or the new one, and go on with the new. The safety copy has every write that was
//! acknowledged before: a write that comes between copying and replacing makes both begin again.
//! A damaged file is moved aside whole, since SQLite cannot write to it.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};

use super::backup::{self as pages, Backed, open_to_copy, refuse_same};
use super::draft::sync_folder;
use super::{Draft, IfThere, MoveError, OnFile, Progress, complaint, with_suffix};
use crate::store::{Doing, IfMissing, StoreError, Writer, check_path, pragma, schema};

/// Times that copying and replacing begin again because somebody wrote in between.
const TRIES_MAX: usize = 20;

/// Pages of a step while everybody else waits.
const STEP_PAGES: i32 = 4096;

/// What became of the memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Restored {
    pub(crate) state: Backed,
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
    progress: Progress<'_>,
) -> Result<Restored, MoveError> {
    check_path(source, IfMissing::Refuse).map_err(|error| match error {
        StoreError::Missing { path } => {
            MoveError::Refused(format!("no backup at `{}`", path.display()))
        }
        error => error.into(),
    })?;
    refuse_same(source, db)?;
    check_path(db, IfMissing::Create)?;
    // Companions of what is there are no obstacle here, so the draft is not of `db` itself.
    let draft = Draft::of(&with_suffix(db, ".restored"), IfThere::Refuse)?;
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
    Ok(Restored { state, safety, damage })
}

/// Brings a draft to the newest schema, and makes it one file.
fn finish(draft: &Draft) -> Result<(), StoreError> {
    drop(Writer::open(draft.path(), IfMissing::Refuse)?);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(draft.path(), flags).doing("open the copy")?;
    pages::one_file(&conn)
}

/// Puts a finished draft in the place of `db`; gives the safety copy and what was wrong with it.
fn install(
    draft: Draft,
    db: &Path,
    stamp: &str,
    progress: Progress<'_>,
) -> Result<(Option<PathBuf>, Option<String>), MoveError> {
    if db.symlink_metadata().is_err() {
        draft.publish_as(db)?;
        return Ok((None, None));
    }
    let damage = match is_usable(db) {
        Ok(()) => {
            let safety = with_suffix(db, &format!(".{stamp}.before-restore"));
            replace(&draft, db, &safety, progress)?;
            return Ok((Some(safety), None));
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
    let conn = pragma::open_to_examine(db)?;
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

/// Copies what is there to `safety`, then replaces it, with no write in between.
fn replace(
    draft: &Draft,
    db: &Path,
    safety: &Path,
    progress: Progress<'_>,
) -> Result<(), MoveError> {
    let from = pragma::open_to_examine(draft.path())?;
    // In WAL mode from here on, so that readers see one state or the other without waiting.
    let mut to = pragma::open_writer(db, IfMissing::Refuse)?;
    // Not `from` nor `to`: it sees what others commit, also while `to` is locked.
    let watch = pragma::open_to_examine(db)?;
    let version = || -> Result<i64, StoreError> {
        watch.query_row("PRAGMA data_version", [], |row| row.get(0)).doing("look for other writes")
    };
    for _ in 0..TRIES_MAX {
        let before = version()?;
        let copy = Draft::of(safety, IfThere::Refuse)?;
        pages::copy(&pragma::open_to_examine(db)?, copy.path(), progress)?;
        let backup = Backup::new(&from, &mut to).doing("begin to restore")?;
        // The first step takes the lock that every writer needs, and keeps it to the end.
        let is_more = pages::step(&backup, 1, progress)?;
        if version()? != before && is_more {
            continue;
        }
        copy.publish()?;
        while is_more && pages::step(&backup, STEP_PAGES, progress)? {}
        return Ok(());
    }
    let what =
        format!("`{}` is written to all the time; end what writes, then restore", db.display());
    Err(MoveError::Refused(what))
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
