//! Reads the beginning of the write-ahead log by a descriptor that stays open, since each write
//! reads it three times. Closing a descriptor of the log drops no lock of SQLite.

use std::fs::File;
use std::path::Path;

use crate::ingest::scan::FileIdentity;

/// Bytes at the beginning of a log up to the end of its salts:
/// <https://sqlite.org/fileformat2.html#the_write_ahead_log>.
pub(super) const LOG_HEAD: usize = 24;

/// The open log.
#[derive(Debug)]
pub(super) struct OpenWal(File);

impl OpenWal {
    /// Opens the log at its name.
    pub(super) fn open(name: &Path) -> Option<OpenWal> {
        File::open(name).ok().map(OpenWal)
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
        let n_bytes = self.0.metadata().ok()?.len();
        let mut head = [0; LOG_HEAD];
        let n_read = read_first(&self.0, &mut head).ok()?;
        (4 <= n_read).then_some((head, n_bytes))
    }
}

#[cfg(unix)]
fn read_first(file: &File, into: &mut [u8]) -> std::io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, 0)
}

#[cfg(windows)]
fn read_first(file: &File, into: &mut [u8]) -> std::io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, into, 0)
}
