//! Restores a log that lost its name while this process has it open.

use std::fs::{self, Metadata};
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(target_os = "linux")]
use super::wal_head_reader::head_of;
use super::{LOG_HEAD, OpenedFiles, WalHeadReader, salts, with_suffix};
use crate::ingest::scan::FileIdentity;
use crate::store::descriptor_shortage::{is_shortage, shortage};
use crate::store::{StoreError, rename_noreplace};

impl OpenedFiles {
    /// Restores the log's name, and returns whether it has it again. Without a free descriptor it
    /// can be tried again later, which the error says.
    pub(super) fn put_back_or_warn(&self) -> Result<bool, StoreError> {
        const DOING: &str = "put the log back";
        let name = self.name(1);
        let is_empty = || fs::symlink_metadata(name).is_ok_and(|it| is_empty_file(&it));
        // Who put it back before us may have emptied it since.
        if is_empty() {
            match self.is_log_in_index() {
                Ok(true) => (),
                Err(error) if is_shortage(&error) => return Err(shortage(DOING)),
                Ok(false) | Err(_) => return Ok(false),
            }
        }
        match self.put_back(name) {
            Ok(()) => {
                log::warn!("`{}` was deleted, and was put back", name.display());
                Ok(true)
            }
            Err(error) => {
                log::error!("cannot put `{}` back: {error}", name.display());
                match name.exists() && !is_empty() {
                    false if is_shortage(&error) => Err(shortage(DOING)),
                    is_there => Ok(is_there),
                }
            }
        }
    }

    /// Keeps a log that has lost its name to another file under a name that no file has. It is not
    /// for its own one, since others may have written to the database.
    #[cfg(target_os = "linux")]
    pub(super) fn keep_replaced_log(&self) {
        let (name, Some(own)) = (self.name(1), self.open_salts()) else { return };
        let is_unlinked = self.open_log.as_ref().is_some_and(WalHeadReader::is_unlinked);
        if !is_unlinked || salts_of(name) == Some(own) {
            return;
        }
        let kept = match self.is_log_in_index() {
            Ok(false) => return,
            Ok(true) => self.put_aside(own),
            Err(error) => Err(error),
        };
        let name = name.display();
        match kept {
            Ok(None) => (),
            Ok(Some(kept)) => log::error!(
                "`{name}` was replaced, and what was written last is in `{}`; unless something was \
                 written since, end what uses the memory, rename it to `{name}`, and remove the \
                 index (`NAME-shm`)",
                kept.display()
            ),
            Err(error) => log::error!(
                "`{name}` was replaced, and what was written last cannot be kept beside it: {error}"
            ),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn keep_replaced_log(&self) {}

    /// Copies the open log to the first name beside it that is free, and returns the name; `None`
    /// where another process has done so.
    #[cfg(target_os = "linux")]
    fn put_aside(&self, own: [u8; 8]) -> io::Result<Option<PathBuf>> {
        for kept in self.names_of_kept_logs() {
            let kept_now = match fs::symlink_metadata(&kept) {
                Ok(_) => Err(io::Error::from(io::ErrorKind::AlreadyExists)),
                Err(_) => self.put_back(&kept),
            };
            match kept_now {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if salts_of(&kept) == Some(own) {
                        break;
                    }
                }
                outcome => return outcome.map(|()| Some(kept)),
            }
        }
        Ok(None)
    }

    /// Returns the names beside the log for logs that are kept, one after the other.
    #[cfg(target_os = "linux")]
    pub(super) fn names_of_kept_logs(&self) -> impl Iterator<Item = PathBuf> {
        let first = with_suffix(&self.full, "-wal.kept");
        let further = first.clone();
        let further = (2u32..).map(move |nth| with_suffix(&further, &format!("-{nth}")));
        std::iter::once(first).chain(further)
    }

    /// Returns whether the index that this process has open has commits of the open log: it began
    /// no other one meanwhile.
    fn is_log_in_index(&self) -> io::Result<bool> {
        Ok(self.salts_in_index()?.is_some_and(|it| self.open_salts() == Some(it)))
    }

    /// Returns whether the open log is another than the one of which its index has commits. One
    /// that begins anew meanwhile is none.
    pub(super) fn is_other_than_in_index(&self) -> bool {
        match (self.salts_in_index(), self.open_salts(), self.salts_in_index()) {
            (Ok(Some(before)), Some(open), Ok(Some(after))) => before == after && open != before,
            _ => false,
        }
    }

    /// Returns the salts of the log of which the index has commits; `None` where it has none. The
    /// format: <https://sqlite.org/walformat.html>.
    #[cfg(target_os = "linux")]
    fn salts_in_index(&self) -> io::Result<Option<[u8; 8]>> {
        let mut head = [0; LOG_HEAD];
        self.open_again(2)?.read_exact_at(&mut head, 16)?;
        Ok((head[..4] != [0; 4]).then(|| salts(&head)))
    }

    #[cfg(not(target_os = "linux"))]
    fn salts_in_index(&self) -> io::Result<Option<[u8; 8]>> {
        Ok(None)
    }

    /// Returns the salts of the open log; `None` where it is empty.
    fn open_salts(&self) -> Option<[u8; 8]> {
        self.open_log.as_ref().and_then(WalHeadReader::head).map(|(head, _)| salts(&head))
    }

    /// Copies the open log to a name that no file or an empty one has: its own, or one beside it. A
    /// copy suffices: no process appends to the log without the write lock, and every process that
    /// has the old one open finds its name changed.
    #[cfg(target_os = "linux")]
    fn put_back(&self, name: &Path) -> io::Result<()> {
        let (draft, file) = new_draft(name)?;
        let copied = self
            .copy_whole(file)
            .and_then(|()| match fs::symlink_metadata(name) {
                Ok(found) if is_empty_file(&found) => fs::rename(&draft, name),
                _ => rename_noreplace::rename_new(&draft, name),
            })
            .and_then(|()| fs::File::open(name.parent().unwrap_or(Path::new("/")))?.sync_all());
        if copied.is_err() {
            // The draft may have its name already.
            let _ = fs::remove_file(&draft);
        }
        copied
    }

    /// Copies the open log to a draft. A log that began anew meanwhile is an error: the copy may
    /// have parts of both. What is appended meanwhile may be in it or not.
    #[cfg(target_os = "linux")]
    fn copy_whole(&self, mut draft: fs::File) -> io::Result<()> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let open = self.open_log.as_ref().ok_or_else(gone)?;
        let before = open.head();
        let mut log = fs::File::open(open.path())?;
        io::copy(&mut log, &mut draft)?;
        let owner = fs::metadata(&self.full)?;
        std::os::unix::fs::fchown(&draft, Some(owner.uid()), Some(owner.gid()))?;
        draft.set_permissions(log.metadata()?.permissions())?;
        draft.sync_all()?;
        let [now, copy] = [open.head(), head_of(&draft)];
        let is_whole = match (before, now, copy) {
            (None, None, None) => true,
            (Some(before), Some(now), Some(copy)) => {
                before.0 == now.0 && before.0 == copy.0 && before.1 <= copy.1
            }
            _ => false,
        };
        match is_whole {
            true => Ok(()),
            false => Err(io::Error::other("the log began anew while it was copied")),
        }
    }

    /// Refuses: on other systems, an unlinked file cannot be read through its descriptor.
    #[cfg(not(target_os = "linux"))]
    fn put_back(&self, _: &Path) -> io::Result<()> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// Makes a file of this process alone for a copy that gets `name` when it is whole. A draft that a
/// kill left is never used again.
#[cfg(target_os = "linux")]
fn new_draft(name: &Path) -> io::Result<(PathBuf, fs::File)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let draft = with_suffix(name, &format!(".{}-{nth}.draft", std::process::id()));
        let mut options = fs::OpenOptions::new();
        match options.read(true).write(true).create_new(true).mode(0o600).open(&draft) {
            // Processes of two containers may have the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            opened => return opened.map(|file| (draft, file)),
        }
    }
}

/// Returns the salts of a log, if the path leads to a file with some.
#[cfg(target_os = "linux")]
fn salts_of(path: &Path) -> Option<[u8; 8]> {
    let mut head = [0; LOG_HEAD];
    let is_file = fs::metadata(path).is_ok_and(|it| it.is_file());
    let log = if is_file { fs::File::open(path).ok()? } else { return None };
    log.read_exact_at(&mut head, 0).ok()?;
    Some(salts(&head))
}

pub(super) fn is_empty_file(found: &Metadata) -> bool {
    found.is_file() && found.len() == 0
}

/// Returns the path of a descriptor of this process that leads to the file.
#[cfg(target_os = "linux")]
pub(super) fn descriptor_of(inode: FileIdentity) -> io::Result<Option<PathBuf>> {
    for entry in fs::read_dir("/proc/self/fd")? {
        let path = entry?.path();
        if fs::metadata(&path).is_ok_and(|it| FileIdentity::of(&it) == inode) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
