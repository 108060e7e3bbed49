//! Reads a database file ahead into the system's page cache.
//!
//! A search reads some hundred pages, one after the other. While the file is only on disk, it waits
//! for each of them, and so does the next search for others. Read from beginning to end, the file
//! of a usual memory is cached after the first search or two.

use std::fs::File;
use std::io;
use std::mem;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

/// Largest file that is read ahead, in bytes. Questions need a small part of a larger one, and
/// which part is unknown beforehand.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes requested from the disk at once; a query that needs a page meanwhile waits for no more.
const PIECE_BYTES: NonZeroU64 = NonZeroU64::new(512 * 1024).unwrap();

/// Reads the file at `path` ahead, piece by piece, and returns the number of bytes requested.
///
/// It stops early once `is_over`. Cached bytes cost next to nothing. For a process that keeps one
/// memory open until it ends: it leaves the file open, since closing it would drop SQLite's locks
/// on it.
///
/// # Errors
///
/// The file cannot be read.
pub(super) fn read_ahead_file(path: &Path, is_over: impl Fn() -> bool) -> io::Result<u64> {
    let file = File::open(path)?;
    let asked = advise_kernel(&file, is_over);
    mem::forget(file);
    asked
}

fn advise_kernel(file: &File, is_over: impl Fn() -> bool) -> io::Result<u64> {
    let n_bytes = file.metadata()?.len();
    let mut asked = 0;
    while asked < n_bytes && n_bytes <= FILE_BYTES_MAX && !is_over() {
        fadvise(file, asked, Some(PIECE_BYTES), Advice::WillNeed)?;
        asked = n_bytes.min(asked + PIECE_BYTES.get());
        // The last byte of a piece arrives last.
        file.read_at(&mut [0], asked - 1)?;
    }
    Ok(asked)
}

#[cfg(test)]
mod tests;
