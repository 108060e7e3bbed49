//! Restores a backup as the memory, after a safety copy of the present one.
//!
//! A sound memory is replaced in one transaction of SQLite, so that servers that have it open read
//! the old state or the new one, and go on with the new. The safety copy is made under the write
//! lock, so that it has every acknowledged write. A damaged file is moved aside whole, since SQLite
//! cannot write to it.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rusqlite::backup::Backup;
use rusqlite::{Connection, Row};

use super::atomic_file::{resolve_symlink, sync_folder};
use super::backup::{self as pages, BackupReport, open_to_copy, refuse_same};
use super::safety_backups::free_name;
use super::{
    AtomicFile, FileErrorContext, IfExists, ProgressFn, TransferError, check_there,
    complaint_beside, with_suffix,
};
use crate::ingest::scan::FileIdentity;
use crate::maintenance::doctor::NUMBER_MAX;
use crate::store::commit_outcome::at_commit;
use crate::store::database_path_check::COMPANIONS;
use crate::store::file_identity_check::{ASIDE, OpenedFiles};
use crate::store::rename_noreplace::rename_new;
use crate::store::replica_write_guard::carry_replica;
use crate::store::write_lock_and_holder::name_holder;
use crate::store::{ErrorContext, IfMissing, StoreError, Writer, check_path, connection, schema};

/// Pages of a step while all other connections wait.
const STEP_PAGES: i32 = 4096;

/// The outcome of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RestoreReport {
    pub(crate) state: BackupReport,
    /// Path of the safety copy; `None` when there was no memory before.
    pub(crate) safety: Option<PathBuf>,
    /// The damage because of which the old file was moved aside as it was.
    pub(crate) damage: Option<String>,
}

/// Restores `source` as the memory at `db`. `stamp` is part of the safety copy's name.
pub(crate) fn restore(
    source: &Path,
    db: &Path,
    stamp: &str,
    progress: ProgressFn<'_>,
) -> Result<RestoreReport, TransferError> {
    check_there(source, "backup")?;
    refuse_same(source, db)?;
    let unfinished = match check_path(db, IfMissing::Create) {
        Err(StoreError::HalfRestored { path, aside }) if path == db => Some(aside),
        checked => checked.map(|()| None)?,
    };
    let db = &resolve_symlink(db)?;
    let draft = draft_of(db)?;
    let state = pages::copy(&open_to_copy(source)?, draft.path(), progress)?;
    finish(&draft, source)?;
    // A past that no rollback can restore any more keeps nobody from the present state.
    if let Some(complaint) = complaint_beside(draft.path(), &["history_rows"])? {
        let what = format!(
            "`{}` is not sound: {complaint}; nothing was restored; see `remindb doctor --db {}`",
            source.display(),
            source.display()
        );
        return Err(TransferError::Refused(what));
    }
    let (safety, damage) = match unfinished {
        Some(aside) => {
            replace_damaged(draft, db, &aside)?;
            (Some(aside), Some("as a restore found that was interrupted".to_owned()))
        }
        None => install(draft, db, stamp, progress)?,
    };
    Ok(RestoreReport { state, safety, damage })
}

/// Migrates a draft of `source`, and makes it a single file.
fn finish(draft: &AtomicFile, source: &Path) -> Result<(), StoreError> {
    let migrated = Writer::open(draft.path(), IfMissing::Refuse).map_err(|error| match error {
        StoreError::SchemaMismatch { objects, is_restorable, .. } => {
            StoreError::SchemaMismatch { path: source.to_owned(), objects, is_restorable }
        }
        error => error,
    });
    drop(migrated?);
    let conn = connection::open_existing(draft.path(), "open the copy")?;
    pages::one_file(&conn)
}

/// Replaces `db` by a finished draft; returns the safety copy and the damage of the old file.
fn install(
    draft: AtomicFile,
    db: &Path,
    stamp: &str,
    progress: ProgressFn<'_>,
) -> Result<(Option<PathBuf>, Option<String>), TransferError> {
    if db.symlink_metadata().is_err() {
        draft.publish_as(db)?;
        return Ok((None, None));
    }
    let damage = match is_usable(db) {
        Ok(()) => {
            let safety = free_name(db, stamp, ".before-restore");
            carry_replica(db, draft.path(), "restore")?;
            replace_sound(&draft, db, &safety, progress)?;
            return Ok((Some(safety), None));
        }
        // An empty file, which SQLite takes for an empty database.
        Err(StoreError::Missing { .. }) => {
            replace(&draft, db, || Ok(()), progress)?;
            return Ok((None, None));
        }
        Err(StoreError::SchemaMismatch { objects, .. }) => {
            carry_replica(db, draft.path(), "restore")?;
            objects
        }
        Err(StoreError::LogOfAnother { .. }) => "its log is that of another file".to_owned(),
        // A disk that fails now may not fail later, and servers may have the file open.
        Err(error) if error.is_refusal() => return Err(error.into()),
        Err(StoreError::Sqlite { source, .. }) if is_ours(db) => source.to_string(),
        Err(error) => return Err(error.into()),
    };
    let aside = free_name(db, stamp, ASIDE);
    fs::hard_link(db, &aside).or_else(|_| fs::copy(db, &aside).map(drop)).on("set aside", db)?;
    replace_damaged(draft, db, &aside)?;
    Ok((Some(aside), Some(damage)))
}

/// Replaces a sound memory, after a copy of it to `safety`, which goes again where nothing was
/// changed.
fn replace_sound(
    draft: &AtomicFile,
    db: &Path,
    safety: &Path,
    progress: ProgressFn<'_>,
) -> Result<(), TransferError> {
    // Without the time in its name, a draft that a kill left is used again.
    let copy = AtomicFile::of(&with_suffix(db, ".before-restore"), IfExists::Refuse)?;
    let mut is_kept = false;
    let keep = || {
        pages::copy(&connection::open_to_examine(db)?, copy.path(), &mut |_, _| ())?;
        let published = copy.publish_as(safety);
        is_kept = matches!(published, Ok(()) | Err(TransferError::Unsynced { .. }));
        published.map_err(TransferError::before_the_last_part)
    };
    let replaced = replace(draft, db, keep, progress);
    let Err(error) = replaced else { return Ok(()) };
    if !is_kept {
        return Err(error);
    }
    let may_be_changed = match &error {
        TransferError::Store(it) => it.is_in_doubt() || matches!(it, StoreError::Unkept { .. }),
        _ => false,
    };
    if !may_be_changed && fs::remove_file(safety).is_ok() {
        return Err(error);
    }
    let safety = safety.display();
    Err(TransferError::Refused(format!("{error}; a copy of what was there is `{safety}`")))
}

/// Checks that SQLite can read every page of the database, and that no table's rows are lost.
fn is_usable(db: &Path) -> Result<(), StoreError> {
    let conn = connection::open_to_examine(db)?;
    let found: String = conn
        .query_row("PRAGMA quick_check (1)", [], |row| row.get(0))
        .doing("examine the existing file")?;
    if found == "ok" {
        return schema::refuse_unrestorable(&conn, db).map(drop);
    }
    let damaged = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(damaged, Some(found))).doing("examine the existing file")
}

/// Returns whether the header of an unreadable file marks it as a memory.
fn is_ours(db: &Path) -> bool {
    let mut head = [0; 72];
    let read = File::open(db).and_then(|mut it| it.read_exact(&mut head));
    read.is_ok() && head[68..] == (schema::APPLICATION_ID as u32).to_be_bytes()
}

/// Replaces the memory in one transaction. It calls `ready` under the write lock, while all readers
/// still see the old state.
fn replace(
    draft: &AtomicFile,
    db: &Path,
    ready: impl FnOnce() -> Result<(), TransferError>,
    progress: ProgressFn<'_>,
) -> Result<(), TransferError> {
    // In WAL mode from here on, so that readers see one state or the other without waiting.
    let mut to = connection::open_writer(db, IfMissing::Refuse)?;
    let file_identity = OpenedFiles::of(db)?;
    let from = connection::open_to_examine(draft.path())?;
    let backup = Backup::new(&from, &mut to).doing("begin to replace the memory")?;
    // The first step takes the lock that every writer needs, and keeps it to the end.
    let full = db.canonicalize().unwrap_or_else(|_| db.to_owned());
    pages::step(&backup, 1, progress).map_err(|error| name_holder(error, &full))?;
    ready()?;
    // Nobody writes meanwhile. SQLite begins to copy anew, since another connection wrote.
    continue_numbers(db, draft.path())?;
    while pages::step(&backup, STEP_PAGES, progress).map_err(at_commit)? {}
    drop(backup);
    Ok(file_identity.confirm(&to)?)
}

/// Has the numbers of the draft go on after those of the memory that it replaces.
///
/// Servers tell by them whether what they know still holds, and clients name snapshots by them.
/// Were they those of the backup, the next writes would reach the same numbers again.
fn continue_numbers(old: &Path, draft: &Path) -> Result<(), StoreError> {
    const LAST: &str = "
        SELECT ifnull((SELECT max(edges, files, heats, views) FROM pulse), 0),
               ifnull((SELECT max(seq) FROM sqlite_sequence WHERE name = 'snapshot'), 0)";
    const RAISE: &str = "UPDATE pulse SET edges = ?1, files = ?1, heats = ?1, views = ?1";
    const DROP: &str = "DELETE FROM sqlite_sequence WHERE name = 'snapshot'";
    const CONTINUE: &str = "INSERT INTO sqlite_sequence (name, seq) VALUES ('snapshot', ?1)";
    const DOING: &str = "continue the numbers of the replaced memory";
    let read = |conn: &Connection| {
        let pair = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        conn.query_row(LAST, [], pair).doing(DOING)
    };
    let (old_count, old_snapshot) = read(&connection::open_to_examine(old)?)?;
    let mut conn = connection::open_existing(draft, "open the new file")?;
    let (new_count, new_snapshot) = read(&conn)?;
    // A number beyond all bounds is a fault, which a restore mends.
    let is_sound = |it: i64| it < NUMBER_MAX;
    let change = conn.transaction().doing(DOING)?;
    let count = [old_count, new_count].into_iter().filter(|it| is_sound(*it)).max().unwrap_or(0);
    change.execute(RAISE, [count + 1]).doing(DOING)?;
    if new_snapshot < old_snapshot && is_sound(old_snapshot) {
        change.execute(DROP, []).doing(DOING)?;
        change.execute(CONTINUE, [old_snapshot]).doing(DOING)?;
    }
    change.commit().doing(DOING)
}

/// Creates a draft that will replace `db`, whose log and other companions may exist.
pub(super) fn draft_of(db: &Path) -> Result<AtomicFile, TransferError> {
    AtomicFile::of(&with_suffix(db, ".new"), IfExists::Refuse)
}

/// Refuses a database that is not empty.
pub(super) fn refuse_occupied(db: &Path) -> Result<(), TransferError> {
    const ROWS: &str = "
        SELECT (SELECT count(*) FROM node),
               (SELECT count(*) FROM snapshot) + (SELECT count(*) FROM root)";
    check_path(db, IfMissing::Create)?;
    // SQLite takes a file of no bytes for an empty database.
    if !fs::metadata(db).is_ok_and(|it| 0 < it.len()) {
        return Ok(());
    }
    let conn = connection::open_to_examine(db)?;
    let (n_nodes, n_others): (i64, i64) = conn
        .query_row(ROWS, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .doing("examine the existing file")?;
    if n_nodes + n_others == 0 {
        return Ok(());
    }
    let what = format!(
        "`{}` holds a memory of {n_nodes} nodes; name a new database with --db, or move it away",
        db.display()
    );
    Err(TransferError::Refused(what))
}

/// Publishes a finished draft where there is no database or an empty one.
pub(super) fn install_draft(
    draft: AtomicFile,
    db: &Path,
    progress: ProgressFn<'_>,
) -> Result<(), TransferError> {
    match fs::metadata(db) {
        Err(_) => draft.publish_as(db),
        Ok(it) => {
            if 0 < it.len() {
                carry_replica(db, draft.path(), "import")?;
            }
            replace(&draft, db, || refuse_occupied(db), progress)
        }
    }
}

/// Puts the draft in the place of a damaged file that is linked to another name, after its log was
/// moved there.
///
/// The file keeps its own name, too, until it is replaced. Every command refuses it meanwhile but
/// another restore, which goes on here, whatever was moved before.
fn replace_damaged(draft: AtomicFile, db: &Path, aside: &Path) -> Result<(), TransferError> {
    let replaced = set_log_aside(db, aside).and_then(|()| draft.replacing().publish_as(db));
    replaced.map_err(|error| match error {
        TransferError::Unsynced { .. } => error,
        error => TransferError::Refused(format!(
            "{error}; nothing was restored: `remindb restore BACKUP --db {}` again completes it",
            db.display()
        )),
    })
}

fn set_log_aside(db: &Path, aside: &Path) -> Result<(), TransferError> {
    let file = |it: &Path| fs::symlink_metadata(it).ok().map(|it| FileIdentity::of(&it));
    for suffix in COMPANIONS {
        let (old, new) = (with_suffix(db, suffix), with_suffix(aside, suffix));
        if old.exists() {
            let moved = match rename_new(&old, &new) {
                // A server that has it open gave it its name again.
                Err(error)
                    if error.kind() == io::ErrorKind::AlreadyExists && file(&old) == file(&new) =>
                {
                    fs::remove_file(&old)
                }
                moved => moved,
            };
            moved.on("set aside", &old)?;
        }
    }
    sync_folder(aside).map_err(TransferError::before_the_last_part)
}
