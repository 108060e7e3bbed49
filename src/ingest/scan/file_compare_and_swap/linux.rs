//! Replaces, creates and removes files by the descriptors of their folders.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::fs::{fchmod, mkdirat, openat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::super::{open_nofollow, stat_of};
use crate::model::file_stat::FileStat;

/// Exchanges to put a file back; each one more needs another save in the moment before it.
const EXCHANGES_MAX: usize = 64;

/// Names for a version that cannot be put back.
const KEPT_MAX: usize = 100;

/// Looks whether another process has ended its change in a folder, and the time between two.
const LOOKS_MAX: usize = 100;
const LOOK_WAIT: Duration = Duration::from_millis(10);

pub(super) fn replace(
    root: &Path,
    path: &str,
    texts: (&[u8], &[u8]),
) -> io::Result<Option<FileStat>> {
    replace_while(root, path, texts, &mut |_| ())
}

/// A moment at which others may save the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SwapMoment {
    BeforeExchange,
    /// The new file is in place; others may have the old one open.
    Exchanged,
}

/// Replaces a file as [`replace`], and calls `meanwhile` before each exchange, and after the first.
fn replace_while(
    root: &Path,
    path: &str,
    (expected, bytes): (&[u8], &[u8]),
    meanwhile: &mut dyn FnMut(SwapMoment),
) -> io::Result<Option<FileStat>> {
    let place = FileLocation::of(root, path)?;
    let Some(old) = place.open(&place.name)? else { return Ok(None) };
    if bytes_of(&old)? != expected {
        return Ok(None);
    }
    let (draft, stat) = place.draft(bytes, Some(&old.metadata()?))?;
    let own = place.version(&draft)?;
    meanwhile(SwapMoment::BeforeExchange);
    match place.rename(&draft, RenameFlags::EXCHANGE) {
        Ok(()) => (),
        // Some file systems cannot; then the look before is all there is.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            let old = old.metadata()?;
            return place.rename_over(&draft, expected, &old).map(|()| Some(stat));
        }
        Err(error) => {
            place.remove(&draft);
            return if error == Errno::NOENT { Ok(None) } else { Err(error.into()) };
        }
    }
    // While the disk is waited for, who had the file open ends its save.
    let synced = place.sync();
    meanwhile(SwapMoment::Exchanged);
    let out = place.version(&draft);
    let is_as_seen = out.as_ref().is_ok_and(|it| it.bytes.as_deref() == Some(expected));
    if is_as_seen && synced.is_ok() {
        place.remove(&draft);
        return Ok(Some(stat));
    }
    // Somebody saved the file meanwhile: it goes back. An error says that it is as it was, too.
    place.put_back(&draft, own, meanwhile)?;
    synced.map(|()| None)
}

pub(super) fn create(root: &Path, path: &str, bytes: &[u8]) -> io::Result<Option<FileStat>> {
    if let Some((folder, _)) = path.rsplit_once('/') {
        let above = open_nofollow::open_folder(root, Path::new(""))?;
        match mkdirat(&above, folder, Mode::from(0o777)) {
            Ok(()) | Err(Errno::EXIST) => (),
            Err(error) => return Err(error.into()),
        }
    }
    let place = FileLocation::of(root, path)?;
    let (draft, stat) = place.draft(bytes, None)?;
    match place.rename(&draft, RenameFlags::NOREPLACE) {
        Ok(()) => {
            let synced = place.sync();
            if synced.is_err() {
                place.remove(&place.name);
            }
            synced.map(|()| Some(stat))
        }
        Err(error) => {
            place.remove(&draft);
            if error == Errno::EXIST { Ok(None) } else { Err(error.into()) }
        }
    }
}

/// A version of a file: another save makes another one, even of the same bytes.
#[derive(PartialEq, Eq)]
struct FileVersion {
    device: u64,
    inode: u64,
    /// Seconds and nanoseconds.
    changed_at: (i64, i64),
    /// `None` where it is no regular file, or cannot be read.
    bytes: Option<Vec<u8>>,
}

/// An open folder and the name of a file in it. Nobody else changes files of the folder through
/// this module meanwhile, so that a draft that is there was left by a kill.
struct FileLocation {
    folder: OwnedFd,
    name: OsString,
    /// `None` where the file system has no such locks.
    _lock: Option<File>,
}

impl FileLocation {
    fn of(root: &Path, path: &str) -> io::Result<FileLocation> {
        let path = Path::new(path);
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = open_nofollow::open_folder(root, path.parent().unwrap_or(Path::new("")))?;
        let lock = lock(&folder)?;
        Ok(FileLocation { folder, name: name.to_owned(), _lock: lock })
    }

    fn open(&self, name: &OsStr) -> io::Result<Option<File>> {
        match open_nofollow::open_in(&self.folder, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened,
        }
    }

    fn version(&self, name: &OsStr) -> io::Result<FileVersion> {
        let bytes = self.open(name).and_then(|it| it.map(|it| bytes_of(&it)).transpose());
        let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = File::from(openat(&self.folder, name, look, Mode::empty())?).metadata()?;
        Ok(FileVersion {
            device: found.dev(),
            inode: found.ino(),
            changed_at: (found.mtime(), found.mtime_nsec()),
            bytes: bytes.unwrap_or(None),
        })
    }

    /// Puts the newest version of a file back, which an exchange with `inside` brought to `draft`.
    ///
    /// What an exchange takes out of the file is newer than what it puts in, unless it is what the
    /// exchange before put in: then nobody saved in between. A version that cannot be put back is
    /// kept beside the file, under a name that no later change takes.
    fn put_back(
        &self,
        draft: &OsStr,
        mut inside: FileVersion,
        meanwhile: &mut dyn FnMut(SwapMoment),
    ) -> io::Result<()> {
        let mut exchange = || {
            let newest = self.version(draft)?;
            meanwhile(SwapMoment::BeforeExchange);
            self.rename(draft, RenameFlags::EXCHANGE)?;
            let is_put_back = self.version(draft)? == inside;
            inside = newest;
            Ok(is_put_back)
        };
        let mut why = io::Error::other("it is saved again and again");
        for _ in 0..EXCHANGES_MAX {
            match exchange() {
                Ok(true) => {
                    self.remove(draft);
                    return Ok(());
                }
                Ok(false) => (),
                Err(error) => {
                    why = error;
                    break;
                }
            }
        }
        let kept = self.keep(draft).to_string_lossy().into_owned();
        Err(io::Error::other(format!(
            "{why}; a version that was saved meanwhile is in `{kept}`: compare the two"
        )))
    }

    /// Renames a draft so that the next one does not take its place; returns the name that it has.
    fn keep(&self, draft: &OsStr) -> OsString {
        for nth in 1..=KEPT_MAX {
            let mut kept = OsString::from(".");
            kept.push(&self.name);
            kept.push(format!(".saved-{nth}"));
            let (folder, flags) = (&self.folder, RenameFlags::NOREPLACE);
            if renameat_with(folder, draft, folder, &kept, flags).is_ok() {
                return kept;
            }
        }
        draft.to_owned()
    }

    /// Makes room for a draft of `bytes` where a kill left one. What is neither empty nor in the
    /// file, before or after, may be a version that a person saved at that moment, and is kept.
    fn clear(&self, draft: &OsStr, bytes: &[u8]) -> io::Result<()> {
        let left = self.version(draft)?.bytes;
        let is_known = left.as_deref().is_some_and(|it| it.is_empty() || it == bytes);
        let in_file = || self.version(&self.name).ok().and_then(|it| it.bytes);
        if is_known || left.is_some() && left == in_file() {
            self.remove(draft);
        } else if self.keep(draft) == draft {
            let why = format!("`{}` is in the way: look at it, and delete it", draft.display());
            return Err(io::Error::other(why));
        }
        Ok(())
    }

    fn rename(&self, draft: &OsStr, flags: RenameFlags) -> Result<(), Errno> {
        renameat_with(&self.folder, draft, &self.folder, &self.name, flags)
    }

    /// Renames a draft to the file, of which nothing is left; after an error the file is as it was.
    fn rename_over(&self, draft: &OsStr, expected: &[u8], old: &Metadata) -> io::Result<()> {
        let renamed = renameat(&self.folder, draft, &self.folder, &self.name);
        if let Err(error) = renamed {
            self.remove(draft);
            return Err(error.into());
        }
        let synced = self.sync();
        if synced.is_err() {
            let (draft, _) = self.draft(expected, Some(old))?;
            renameat(&self.folder, &draft, &self.folder, &self.name)?;
        }
        synced
    }

    /// Writes and syncs a draft with the owner and the mode of the file that it is to replace.
    fn draft(&self, bytes: &[u8], like: Option<&Metadata>) -> io::Result<(OsString, FileStat)> {
        const NEW: OFlags = OFlags::CREATE
            .union(OFlags::EXCL)
            .union(OFlags::WRONLY)
            .union(OFlags::NOFOLLOW)
            .union(OFlags::CLOEXEC);
        let mut draft = OsString::from(".");
        draft.push(&self.name);
        draft.push(".draft");
        let create = || openat(&self.folder, &draft, NEW, Mode::from(0o666));
        let mut file = match create() {
            Err(Errno::EXIST) => {
                self.clear(&draft, bytes)?;
                File::from(create()?)
            }
            created => File::from(created?),
        };
        let written = fill(&mut file, bytes, like);
        if written.is_err() {
            self.remove(&draft);
        }
        written.map(|stat| (draft, stat))
    }

    fn remove(&self, name: &OsStr) {
        let _ = unlinkat(&self.folder, name, AtFlags::empty());
    }

    fn sync(&self) -> io::Result<()> {
        let folder = openat(&self.folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        File::from(folder).sync_all()
    }
}

/// Locks a folder. Whoever has it locked is waited for only so long: it may be a stopped process.
fn lock(folder: &OwnedFd) -> io::Result<Option<File>> {
    let folder = openat(folder, ".", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let folder = File::from(folder);
    for _ in 0..LOOKS_MAX {
        match folder.try_lock() {
            Ok(()) => return Ok(Some(folder)),
            Err(TryLockError::WouldBlock) => {
                let _ = crossbeam_channel::never::<()>().recv_timeout(LOOK_WAIT);
            }
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    Err(io::Error::other("another process is changing a file of that folder"))
}

fn fill(file: &mut File, bytes: &[u8], like: Option<&Metadata>) -> io::Result<FileStat> {
    if let Some(like) = like {
        if 1 < like.nlink() {
            return Err(io::Error::other("it has several names"));
        }
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            fchown(&*file, Some(like.uid()), Some(like.gid()))?;
        }
        fchmod(&*file, Mode::from(like.mode() & 0o7777))?;
    }
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(stat_of(&file.metadata()?))
}

pub(super) fn remove(root: &Path, path: &str, expected: &[u8]) -> io::Result<bool> {
    let place = FileLocation::of(root, path)?;
    let found = place.open(&place.name)?.map(|it| bytes_of(&it)).transpose()?;
    let is_it = found.as_deref() == Some(expected);
    if is_it {
        unlinkat(&place.folder, &place.name, AtFlags::empty())?;
        place.sync()?;
    }
    Ok(is_it)
}

fn bytes_of(mut file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map(|_| bytes)
}

#[cfg(test)]
#[path = "linux/tests.rs"]
mod tests;
