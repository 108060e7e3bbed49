//! Reads which pages of a database its write-ahead log has.
//!
//! In WAL mode, a page is in the database file or in the log. A write appends every page that it
//! adds to the log, and the file grows to it when the log is copied; only the end of a copy
//! shortens the file, to the size of the copied state. So each page beyond the end of the file is
//! in the log.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

/// Bytes of the log before its first frame, and of a frame before its page:
/// <https://sqlite.org/fileformat2.html#the_write_ahead_log>.
pub(super) const HEAD_BYTES: usize = 32;
pub(super) const FRAME_HEAD_BYTES: usize = 24;

/// Position of the page with the byte on which SQLite locks the file; no page is kept there.
const LOCK_PAGE_AT: u64 = 0x4000_0000;

/// The committed pages of a log.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommittedWalPageNumbers {
    /// The numbers that distinguish this log from the one before it in the same file.
    pub(super) salts: [u8; 8],
    page_bytes: u64,
    /// Pages of the database after the last commit.
    n_pages: u64,
    pages: BTreeSet<u64>,
}

impl CommittedWalPageNumbers {
    /// Reads the heads of all frames; `None` where the log has no commit. The caller holds the
    /// write lock, so that the log does not begin anew meanwhile.
    pub(super) fn read(log: &Path) -> io::Result<Option<CommittedWalPageNumbers>> {
        let mut log = File::open(log)?;
        let mut head = [0; HEAD_BYTES];
        if !is_read(&mut log, &mut head)? {
            return Ok(None);
        }
        let salts: [u8; 8] = std::array::from_fn(|nth| head[16 + nth]);
        let page_bytes = number(&head, 8);
        let mut logged =
            CommittedWalPageNumbers { salts, page_bytes, n_pages: 0, pages: BTreeSet::new() };
        let mut uncommitted = Vec::new();
        let mut frame = [0; FRAME_HEAD_BYTES];
        // Behind the last frame of this log there may be some of an earlier one.
        while is_read(&mut log, &mut frame)? && frame[8..16] == salts {
            uncommitted.push(number(&frame, 0));
            match number(&frame, 4) {
                0 => (),
                n_pages => {
                    logged.n_pages = n_pages;
                    logged.pages.extend(uncommitted.drain(..));
                }
            }
            log.seek_relative(page_bytes.cast_signed())?;
        }
        Ok((0 < logged.n_pages).then_some(logged))
    }

    /// Returns whether a database file of that size has every page that the log does not have.
    pub(super) fn complete(&self, n_bytes: u64) -> bool {
        let n_pages = n_bytes / self.page_bytes.max(1);
        let lock_page = LOCK_PAGE_AT / self.page_bytes.max(1) + 1;
        let mut beyond = n_pages + 1..=self.n_pages;
        // SQLite takes an empty file for a new database, and deletes its log.
        0 < n_pages && beyond.all(|page| page == lock_page || self.pages.contains(&page))
    }
}

/// Reads as many bytes as there is room for; returns false at the end of the file.
fn is_read(file: &mut File, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let bytes: [u8; 4] = std::array::from_fn(|nth| bytes[at + nth]);
    u64::from(u32::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests;
