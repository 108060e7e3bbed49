//! Has the system read a file before anybody asks for what is in it.
//!
//! A search looks at some hundred pages, one after the other. While the file is only on disk, it
//! waits for each of them, and so does the next search for others. Read from its beginning to its
//! end, the file of a usual memory is there after the first one or two.

use std::fs::File;
use std::io;
use std::mem;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

/// Bytes of a file that is read ahead. Of a larger one, questions need a small part, and where that
/// stands nobody knows before.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Bytes that the disk is asked for at once: who needs a page meanwhile waits for no more.
const PIECE_BYTES: NonZeroU64 = NonZeroU64::new(512 * 1024).unwrap();

/// Has the system read the file at `path`, a piece at a time, until it is done or over; gives the
/// bytes that were asked for. What the system has in memory costs next to nothing.
///
/// For a process that has one memory open until it ends: it leaves the file open, since closing it
/// would take away the locks that SQLite has on it.
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
        // Its last byte is there when all of it is.
        file.read_at(&mut [0], asked - 1)?;
    }
    Ok(asked)
}

#[cfg(test)]
mod tests;
