//! Replaces, creates and removes files by the descriptors of their folders.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::fs::{fchmod, mkdirat, openat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::super::{open_nofollow, stat_of};
use crate::model::file_stat::FileStat;

/// Exchanges before a file is left as it is.
const EXCHANGES_MAX: usize = 8;

pub(super) fn replace(
    root: &Path,
    path: &str,
    (expected, bytes): (&[u8], &[u8]),
) -> io::Result<Option<FileStat>> {
    let place = FileLocation::of(root, path)?;
    let Some(old) = place.open(&place.name)? else { return Ok(None) };
    if bytes_of(&old)? != expected {
        return Ok(None);
    }
    let (draft, stat) = place.draft(bytes, Some(&old.metadata()?))?;
    for _ in 0..EXCHANGES_MAX {
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
        let out = place.open(&draft)?.map(|it| bytes_of(&it)).transpose()?;
        if out.as_deref() == Some(expected) {
            let synced = place.sync();
            if synced.is_err() {
                // An error says that the file is as it was.
                place.rename(&draft, RenameFlags::EXCHANGE)?;
            }
            place.remove(&draft);
            return synced.map(|()| Some(stat));
        }
        if out.as_deref() == Some(bytes) {
            place.remove(&draft);
            return Ok(None);
        }
        // Somebody saved the file meanwhile: it goes back.
    }
    Ok(None)
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

/// An open folder and the name of a file in it.
struct FileLocation {
    folder: OwnedFd,
    name: OsString,
}

impl FileLocation {
    fn of(root: &Path, path: &str) -> io::Result<FileLocation> {
        let path = Path::new(path);
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = open_nofollow::open_folder(root, path.parent().unwrap_or(Path::new("")))?;
        Ok(FileLocation { folder, name: name.to_owned() })
    }

    fn open(&self, name: &OsStr) -> io::Result<Option<File>> {
        match open_nofollow::open_in(&self.folder, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened,
        }
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
                // A kill left it.
                self.remove(&draft);
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
