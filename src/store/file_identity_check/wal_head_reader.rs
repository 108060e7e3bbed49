//! Reads the beginning of the write-ahead log by a descriptor that stays open, since each write
//! reads it three times. Closing a descriptor of the log drops no lock of SQLite.

use std::fs::File;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use crate::ingest::scan::FileIdentity;
use crate::store::StoreError;
use crate::store::descriptor_shortage::{is_shortage, shortage};

/// Bytes at the beginning of a log up to the end of its salts:
/// <https://sqlite.org/fileformat2.html#the_write_ahead_log>.
pub(super) const LOG_HEAD: usize = 24;

/// Reads the beginning of the open log.
#[derive(Debug)]
pub(super) struct WalHeadReader(File);

impl WalHeadReader {
    /// Opens the log at its name; `None` where there is none.
    pub(super) fn open(name: &Path) -> Result<Option<WalHeadReader>, StoreError> {
        match File::open(name) {
            Ok(log) => Ok(Some(WalHeadReader(log))),
            Err(error) if is_shortage(&error) => Err(shortage("watch the log")),
            Err(_) => Ok(None),
        }
    }

    /// Returns whether the open file has no name any more.
    #[cfg(target_os = "linux")]
    pub(super) fn is_unlinked(&self) -> bool {
        use std::os::unix::fs::MetadataExt;
        self.0.metadata().is_ok_and(|it| it.nlink() == 0)
    }

    /// Returns a path that leads to the open file, whatever its name is.
    #[cfg(target_os = "linux")]
    pub(super) fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    /// Returns the file that is open, by which it is compared with its name.
    pub(super) fn inode(&self) -> Option<FileIdentity> {
        Some(FileIdentity::of(&self.0.metadata().ok()?))
    }

    /// Returns what the log begins with, and its length; `None` where it is empty.
    ///
    /// The length is read first: a log that begins anew in between has other salts then, and not
    /// those of a longer one.
    pub(super) fn head(&self) -> Option<([u8; LOG_HEAD], u64)> {
        head_of(&self.0)
    }
}

/// Returns what a log begins with, and its length, as [`WalHeadReader::head`] does.
pub(super) fn head_of(log: &File) -> Option<([u8; LOG_HEAD], u64)> {
    let n_bytes = log.metadata().ok()?.len();
    let mut head = [0; LOG_HEAD];
    let n_read = read_first(log, &mut head).ok()?;
    (4 <= n_read).then_some((head, n_bytes))
}

#[cfg(unix)]
pub(super) fn read_first(file: &File, into: &mut [u8]) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, 0)
}

#[cfg(windows)]
pub(super) fn read_first(file: &File, into: &mut [u8]) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, 0)
}
