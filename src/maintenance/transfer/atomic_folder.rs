//! Writes a folder of files that appears whole or not at all, as far as a folder allows.
//!
//! All files are written and synced in a draft folder first. A folder that does not exist gets its
//! name in one step. In a folder that exists, each file is renamed into place, the last one when
//! all others are there; a kill in between leaves a folder without that last file.
//!
//! A draft, `.NAME.N.draft`, is beside its destination, or in it where that exists. One left by a
//! kill is used again by the next draft of that name. Only its owner can read the files.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::atomic_file::sync_folder;
use super::{AtomicFile, FileErrorContext, IfExists, TransferError, refuse_same};
use crate::ingest::scan;
use crate::store::rename_noreplace::rename_new;

/// Names tried before giving up; each one taken is a draft of another process.
const NAMES_MAX: usize = 1000;

/// A draft of a folder that has not got its name yet.
pub(crate) struct AtomicFolder {
    draft: PathBuf,
    dest: PathBuf,
    if_there: IfExists,
    /// Whether there is no folder at the destination yet.
    is_new: bool,
    /// Whether the draft is the folder at the destination now.
    is_published: bool,
    /// Paths of the files written so far, relative to the folder.
    files: Vec<PathBuf>,
    /// Held until the draft has its name, so that no other process takes it for an abandoned one.
    _lock: File,
}

impl AtomicFolder {
    /// Creates an empty draft of `dest`; fails if a folder with something in it may not be changed.
    pub(crate) fn of(dest: &Path, if_there: IfExists) -> Result<AtomicFolder, TransferError> {
        let is_new = dest.symlink_metadata().is_err();
        if !is_new {
            check(dest, if_there)?;
        }
        let (within, name) = match (is_new, dest.file_name()) {
            (true, Some(name)) => (parent(dest), name.to_string_lossy().into_owned()),
            (true, None) => {
                let what = format!("`{}` does not name a folder", dest.display());
                return Err(TransferError::Refused(what));
            }
            (false, _) => (dest.to_owned(), "export".to_owned()),
        };
        for nth in 0..NAMES_MAX {
            let draft = within.join(format!(".{name}.{nth}.draft"));
            if let Some(lock) = take(&draft).on("write", dest)? {
                return Ok(AtomicFolder {
                    draft,
                    dest: dest.to_owned(),
                    if_there,
                    is_new,
                    is_published: false,
                    files: Vec::new(),
                    _lock: lock,
                });
            }
        }
        let within = within.display();
        let what = format!("too many drafts in `{within}`; remove `.{name}.*.draft`");
        Err(TransferError::Refused(what))
    }

    /// Writes the next file, in a folder of its own where its path has one.
    pub(crate) fn write<E: From<TransferError>>(
        &mut self,
        path: &str,
        fill: impl FnOnce(&mut File) -> Result<(), E>,
    ) -> Result<(), E> {
        if !scan::is_below_root(path) {
            let what = format!(
                "`{}` leads out of the folder; nothing was written; see `remindb doctor`",
                path.escape_debug()
            );
            return Err(TransferError::Refused(what).into());
        }
        let full = self.draft.join(path);
        make_folder(&parent(&full)).on("write", &full)?;
        let file = AtomicFile::of(&full, IfExists::Refuse)?;
        fill(&mut file.file()?)?;
        file.publish()?;
        self.files.push(PathBuf::from(path));
        Ok(())
    }

    /// Gives the draft its name. In a folder that exists, `stale` are the paths of files to remove.
    /// None of them is `source`, the memory that is exported.
    pub(crate) fn publish(mut self, source: &Path, stale: &[PathBuf]) -> Result<(), TransferError> {
        let dest = self.dest.clone();
        if self.is_new {
            rename_new(&self.draft, &dest).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty => taken(&dest),
                _ => TransferError::File { doing: "write", path: dest.clone(), source: error },
            })?;
            self.is_published = true;
            return sync_folder(&dest);
        }
        check(&dest, self.if_there)?;
        let Some((last, others)) = self.files.split_last() else { return Ok(()) };
        for file in self.files.iter().chain(stale) {
            refuse_linked_folders(&dest, file)?;
            refuse_same(source, &dest.join(file))?;
        }
        for file in &self.files {
            let full = dest.join(file);
            make_folder(&parent(&full)).on("write", &full)?;
            if full.symlink_metadata().is_ok_and(|it| !it.is_file()) {
                let what = format!(
                    "`{}` is no regular file, and no other is replaced; move it away",
                    full.display()
                );
                return Err(TransferError::Refused(what));
            }
        }
        remove(&dest.join(last))?;
        for file in others {
            self.put(file).map_err(TransferError::before_the_last_part)?;
        }
        for file in stale.iter().filter(|it| !self.files.contains(it)) {
            remove(&dest.join(file))?;
        }
        self.put(last)
    }

    /// Moves a file of the draft to its place.
    fn put(&self, file: &Path) -> Result<(), TransferError> {
        let (from, to) = (self.draft.join(file), self.dest.join(file));
        match self.if_there {
            IfExists::Replace => fs::rename(&from, &to),
            IfExists::Refuse => rename_new(&from, &to),
        }
        .on("write", &to)?;
        sync_folder(&to)
    }
}

impl Drop for AtomicFolder {
    fn drop(&mut self) {
        if !self.is_published {
            let _ = fs::remove_dir_all(&self.draft);
        }
    }
}

/// Refuses what is no folder, and a folder with something in it that may not be changed.
fn check(dest: &Path, if_there: IfExists) -> Result<(), TransferError> {
    if !dest.is_dir() {
        let what = format!("`{}` is no folder; name another, or move it away", dest.display());
        return Err(TransferError::Refused(what));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(dest).on("read", dest)? {
        names.push(entry.on("read", dest)?.file_name().to_string_lossy().into_owned());
    }
    let is_draft = |it: &String| it.starts_with(".export.") && it.ends_with(".draft");
    if if_there == IfExists::Refuse && !names.iter().all(is_draft) {
        return Err(taken(dest));
    }
    Ok(())
}

/// Refuses a file below `dest` that is behind a link: it is not in the folder.
fn refuse_linked_folders(dest: &Path, file: &Path) -> Result<(), TransferError> {
    for folder in file.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()) {
        let full = dest.join(folder);
        if full.is_symlink() {
            let what = format!(
                "`{}` is a link, and nothing behind it is changed; move it away",
                full.display()
            );
            return Err(TransferError::Refused(what));
        }
    }
    Ok(())
}

fn taken(dest: &Path) -> TransferError {
    let dest = dest.display();
    let what =
        format!("`{dest}` is not empty; name another folder, or replace its files by --force");
    TransferError::Refused(what)
}

/// Creates an empty folder, or takes an abandoned one; `None` if another process works on it, or
/// the name is that of something else.
fn take(path: &Path) -> io::Result<Option<File>> {
    if path.symlink_metadata().is_ok_and(|it| !it.is_dir()) {
        return Ok(None);
    }
    match folder_builder().create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => (),
    }
    let lock = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match lock.try_lock() {
        Ok(()) => (),
        Err(TryLockError::WouldBlock) => return Ok(None),
        // Where folders cannot be locked, only an empty one surely belongs to no other process.
        Err(TryLockError::Error(_)) if fs::read_dir(path)?.next().is_none() => (),
        Err(TryLockError::Error(_)) => return Ok(None),
    }
    // Its owner may have published it since it was opened here, and another may have its name.
    if !is_same(&lock, path) {
        return Ok(None);
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(Some(lock))
}

#[cfg(unix)]
fn is_same(folder: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let name = |it: fs::Metadata| (it.dev(), it.ino());
    match (folder.metadata().map(name), path.symlink_metadata().map(name)) {
        (Ok(folder), Ok(path)) => folder == path,
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same(_: &File, path: &Path) -> bool {
    path.exists()
}

fn make_folder(path: &Path) -> io::Result<()> {
    folder_builder().recursive(true).create(path)
}

fn folder_builder() -> DirBuilder {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(0o700);
    builder
}

fn remove(file: &Path) -> Result<(), TransferError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.on("remove", file),
    }
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
