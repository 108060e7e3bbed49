//! Writes files that appear whole or not at all: filled under another name, then renamed.
//!
//! Only a regular file is ever replaced. A symbolic link stays, and leads to the new file; a pipe
//! or a device cannot have a draft.
//!
//! A draft is in the folder of its destination, so that renaming it is one step of the file system,
//! and only its owner can read it. A draft without a name in the end is removed; one left by a
//! kill, as `.NAME.N.draft`, is used again by the next draft of that name.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{FileErrorContext, TransferError, with_suffix};
use crate::store::database_path_check::COMPANIONS;
use crate::store::rename_noreplace::rename_new;
use crate::store::{ErrorContext, StoreError, connection, schema};

/// Names tried before giving up; each one taken is a draft of another process.
const NAMES_MAX: usize = 1000;

/// The behaviour when the destination exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfExists {
    Refuse,
    Replace,
}

/// A draft that has not got its name yet.
pub(crate) struct AtomicFile {
    path: PathBuf,
    dest: PathBuf,
    if_there: IfExists,
    /// Held until the draft has its name, so that no other process takes it for an abandoned one.
    _lock: File,
}

impl AtomicFile {
    /// Creates an empty draft beside `dest`; fails if `dest` cannot be replaced.
    pub(crate) fn of(dest: &Path, if_there: IfExists) -> Result<AtomicFile, TransferError> {
        refuse(dest, if_there)?;
        let dest = &resolve_symlink(dest)?;
        let Some(name) = dest.file_name() else {
            let what = format!("`{}` does not name a file", dest.display());
            return Err(TransferError::Refused(what));
        };
        let name = name.to_string_lossy();
        for nth in 0..NAMES_MAX {
            let path = dest.with_file_name(format!(".{name}.{nth}.draft"));
            if let Some(lock) = take(&path).on("write beside", dest)? {
                return Ok(AtomicFile { path, dest: dest.to_owned(), if_there, _lock: lock });
            }
        }
        let what = format!("too many drafts beside `{}`; remove `.{name}.*.draft`", dest.display());
        Err(TransferError::Refused(what))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the draft as a plain file for writing.
    pub(crate) fn file(&self) -> Result<File, TransferError> {
        private().truncate(true).open(&self.path).on("write", &self.path)
    }

    /// Opens the draft as an empty memory that can be filled quickly.
    ///
    /// No other process sees it, and an unfinished one is thrown away, so it needs neither a
    /// journal on disk nor syncs.
    pub(super) fn database(&self) -> Result<Connection, StoreError> {
        schema::check_sqlite()?;
        let mut conn = connection::open_existing(&self.path, "open a new database")?;
        conn.set_prepared_statement_cache_capacity(64);
        conn.pragma_update_and_check(None, "journal_mode", "MEMORY", |_| Ok(()))
            .and_then(|()| conn.pragma_update(None, "synchronous", "OFF"))
            .doing("set up a new database")?;
        conn.pragma_update(None, "foreign_keys", false).doing("set up a new database")?;
        // Temporary tables may hold secrets.
        conn.pragma_update(None, "temp_store", "MEMORY").doing("set up a new database")?;
        schema::migrate(&mut conn, &self.path)?;
        Ok(conn)
    }

    /// Syncs the draft to the disk and renames it.
    pub(crate) fn publish(self) -> Result<(), TransferError> {
        let dest = self.dest.clone();
        self.publish_as(&dest)
    }

    /// Publishes as [`AtomicFile::publish`], under another name in the same folder.
    pub(super) fn publish_as(self, dest: &Path) -> Result<(), TransferError> {
        refuse(dest, self.if_there)?;
        File::open(&self.path).and_then(|it| it.sync_all()).on("write", dest)?;
        match self.if_there {
            IfExists::Replace => fs::rename(&self.path, dest).on("write", dest)?,
            // A plain rename would replace a file that a rival has just made.
            IfExists::Refuse => match rename_new(&self.path, dest) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(taken(dest));
                }
                renamed => renamed.on("write", dest)?,
            },
        }
        sync_folder(dest)
    }

    /// Returns this draft with the permission to replace an existing file.
    pub(super) fn replacing(mut self) -> AtomicFile {
        self.if_there = IfExists::Replace;
        self
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // A published draft is no longer there.
        let _ = fs::remove_file(&self.path);
        drop_companions(&self.path);
    }
}

/// Returns whether `dest` is a pipe or a device, which keeps no file.
pub(crate) fn is_stream(dest: &Path) -> bool {
    fs::metadata(dest).is_ok_and(|it| !it.is_file() && !it.is_dir())
}

/// Returns the file that a path leads to: the path itself unless it is a symbolic link.
pub(super) fn resolve_symlink(path: &Path) -> Result<PathBuf, TransferError> {
    if !path.is_symlink() {
        return Ok(path.to_owned());
    }
    match path.canonicalize() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let path = path.display();
            let what =
                format!("`{path}` is a symbolic link to nothing; name another file, or remove it");
            Err(TransferError::Refused(what))
        }
        target => target.on("follow the symbolic link", path),
    }
}

fn drop_companions(path: &Path) {
    for suffix in COMPANIONS {
        let _ = fs::remove_file(with_suffix(path, suffix));
    }
}

/// Creates an empty file, or takes an abandoned one; `None` if another process works on it, or the
/// name is that of something else.
fn take(path: &Path) -> io::Result<Option<File>> {
    if path.symlink_metadata().is_ok_and(|it| !it.is_file()) {
        return Ok(None);
    }
    let file = private().create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => (),
        Err(TryLockError::WouldBlock) => return Ok(None),
        // Where files cannot be locked, only an empty one surely belongs to no other process.
        Err(TryLockError::Error(_)) if file.metadata()?.len() == 0 => return Ok(Some(file)),
        Err(TryLockError::Error(_)) => return Ok(None),
    }
    // Its owner may have published it since it was opened here; then it must stay untouched.
    if !is_same(&file, path) {
        return Ok(None);
    }
    if file.metadata()?.len() != 0 {
        file.set_len(0)?;
    }
    drop_companions(path);
    Ok(Some(file))
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let name = |it: fs::Metadata| (it.dev(), it.ino(), it.nlink());
    match (file.metadata().map(name), path.symlink_metadata().map(name)) {
        // A second link is the name that it was published under.
        (Ok(file), Ok(path)) => file == path && file.2 == 1,
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
}

/// Syncs the folder of a file that has got its name, so that the entry lasts.
pub(super) fn sync_folder(file: &Path) -> Result<(), TransferError> {
    let folder = file.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|it| it.sync_all())
        .map_err(|source| TransferError::Unsynced { path: file.to_owned(), source })
}

fn private() -> OpenOptions {
    let mut options = File::options();
    options.write(true).read(true);
    #[cfg(unix)]
    options.mode(0o600);
    options
}

/// Refuses a destination whose content would be lost or mixed with the new one.
fn refuse(dest: &Path, if_there: IfExists) -> Result<(), TransferError> {
    if dest.is_dir() {
        let what = format!("`{}` is a folder; name a file in it", dest.display());
        return Err(TransferError::Refused(what));
    }
    if if_there == IfExists::Refuse && dest.symlink_metadata().is_ok() {
        return Err(taken(dest));
    }
    if is_stream(dest) {
        let what = format!(
            "`{}` is no regular file, and no other is replaced; name another",
            dest.display()
        );
        return Err(TransferError::Refused(what));
    }
    let dest = &resolve_symlink(dest)?;
    if let Some(database) = database_of(dest) {
        let what = format!(
            "`{}` is a part of the database `{}`; name another file",
            dest.display(),
            database.display()
        );
        return Err(TransferError::Refused(what));
    }
    // SQLite would replay the log of another database into the new one.
    for suffix in COMPANIONS {
        let companion = with_suffix(dest, suffix);
        if companion.symlink_metadata().is_ok() {
            let what = format!(
                "`{}` belongs to a database that is in use or was not closed, and may hold what \
                 was written to it last; name another file",
                companion.display()
            );
            return Err(TransferError::Refused(what));
        }
    }
    Ok(())
}

/// Returns the database whose log, index or journal would have this name.
fn database_of(dest: &Path) -> Option<PathBuf> {
    let name = dest.file_name()?.to_str()?;
    let names = COMPANIONS.iter().filter_map(|suffix| name.strip_suffix(suffix));
    names.filter(|it| !it.is_empty()).map(|it| dest.with_file_name(it)).find(|it| it.is_file())
}

fn taken(dest: &Path) -> TransferError {
    let what = format!("`{}` exists; name another file, or move it away", dest.display());
    TransferError::Refused(what)
}
