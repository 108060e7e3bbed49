//! Reads a write-ahead log whose beginning is damaged.
//!
//! SQLite reads a log up to the first byte that is not as it was written: the head and each frame
//! have a checksum that continues the one before it. Where that byte is in the first commit, it
//! takes the log for empty, and the next write begins at its start.
//! <https://sqlite.org/fileformat2.html#the_write_ahead_log>

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::committed_wal_page_numbers::{FRAME_HEAD_BYTES, HEAD_BYTES};

/// Bytes of a page; remindb makes no others.
const PAGE_BYTES: usize = 4096;

const FRAME_BYTES: usize = FRAME_HEAD_BYTES + PAGE_BYTES;

/// The first number of a log: its last bit is the byte order of the checksums.
const MAGIC: u32 = 0x377f_0682;

/// A frame of a log: a page as a write left it.
struct WalFrame {
    bytes: [u8; FRAME_BYTES],
}

impl WalFrame {
    /// Reads the next frame; `None` at the end of the log.
    fn read(log: &mut File) -> io::Result<Option<WalFrame>> {
        let mut bytes = [0; FRAME_BYTES];
        match log.read_exact(&mut bytes) {
            Ok(()) => Ok(Some(WalFrame { bytes })),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn page(&self) -> u32 {
        big_endian(&self.bytes, 0)
    }

    /// Pages of the database after the commit that the frame ends; 0 where it ends none.
    fn n_pages(&self) -> u32 {
        big_endian(&self.bytes, 4)
    }

    fn salts(&self) -> &[u8] {
        &self.bytes[8..16]
    }

    /// Returns whether this may be what a write to a database of at most so many pages left.
    fn is_plausible(&self, n_pages_max: u64) -> bool {
        let [page, n_pages] = [self.page(), self.n_pages()].map(u64::from);
        let is_within = n_pages == 0 || (page..=n_pages_max).contains(&n_pages);
        (1..=n_pages_max).contains(&page) && is_within
    }
}

/// Returns whether a database file has no table yet: all of the memory is in its log. The file is
/// not opened, since closing it would drop SQLite's locks on it.
pub(super) fn has_no_table(database: &Path) -> bool {
    std::fs::metadata(database).is_ok_and(|it| it.len() <= PAGE_BYTES as u64)
}

/// Returns whether the log of a database has commits, and SQLite reads none of them.
pub(crate) fn has_unread_commits(log: &Path, database: &Path) -> io::Result<bool> {
    let is_unsound = || is_first_commit_sound(log).map(|it| !it);
    // Another process may be writing the first commit, whose end comes last.
    Ok(is_unsound()? && CommittedFrames::find(log, database)?.is_some() && is_unsound()?)
}

/// Writes the pages of a log, up to its last commit and whatever their checksums are, into the
/// database; returns the number of frames.
pub(crate) fn replay(log: &Path, database: &Path) -> io::Result<u64> {
    let Some(committed) = CommittedFrames::find(log, database)? else { return Ok(0) };
    let mut database = File::options().write(true).open(database)?;
    let mut log = open(log)?;
    let mut is_first = true;
    for _ in 0..committed.n_frames {
        let Some(frame) = WalFrame::read(&mut log)? else { break };
        // Frames before the first one of this log are of this log, and damaged.
        let is_of_this = frame.salts() == committed.salts;
        is_first &= !is_of_this;
        if frame.is_plausible(committed.n_pages_max) && (is_of_this || is_first) {
            let at = u64::from(frame.page() - 1) * PAGE_BYTES as u64;
            database.seek(SeekFrom::Start(at))?;
            database.write_all(&frame.bytes[FRAME_HEAD_BYTES..])?;
        }
    }
    Ok(committed.n_frames)
}

/// Opens a log behind its head.
fn open(log: &Path) -> io::Result<File> {
    let mut log = File::open(log)?;
    log.seek(SeekFrom::Start(HEAD_BYTES as u64))?;
    Ok(log)
}

/// The frames of a log up to the end of its last commit.
struct CommittedFrames {
    /// Frames of an earlier log have other salts.
    salts: Vec<u8>,
    n_frames: u64,
    /// Most pages that the database can have.
    n_pages_max: u64,
}

impl CommittedFrames {
    fn find(log: &Path, database: &Path) -> io::Result<Option<CommittedFrames>> {
        let n_bytes = |path: &Path| std::fs::metadata(path).map(|it| it.len());
        let n_pages_max =
            n_bytes(log)? / FRAME_BYTES as u64 + n_bytes(database)? / PAGE_BYTES as u64;
        let mut log = open(log)?;
        let (mut salts, mut before): (Option<Vec<u8>>, Vec<u8>) = (None, Vec::new());
        let (mut n, mut n_frames) = (0, 0);
        while let Some(frame) = WalFrame::read(&mut log)? {
            n += 1;
            let is_plausible = frame.is_plausible(n_pages_max);
            // A damaged frame has salts of its own.
            if salts.is_none() && is_plausible && frame.salts() == before {
                salts = Some(before);
            }
            let is_of_this = salts.as_deref().is_none_or(|it| it == frame.salts());
            if is_of_this && is_plausible && 0 < frame.n_pages() {
                n_frames = n;
            }
            before = frame.salts().to_vec();
        }
        let salts = salts.filter(|_| 0 < n_frames);
        Ok(salts.map(|salts| CommittedFrames { salts, n_frames, n_pages_max }))
    }
}

/// Returns whether every checksum up to the end of the first commit is right.
fn is_first_commit_sound(log: &Path) -> io::Result<bool> {
    let (mut head, mut log) = ([0; HEAD_BYTES], File::open(log)?);
    if log.read_exact(&mut head).is_err() || big_endian(&head, 0) & !1 != MAGIC {
        return Ok(false);
    }
    let number = match big_endian(&head, 0) & 1 {
        0 => u32::from_le_bytes,
        _ => u32::from_be_bytes,
    };
    let mut sum = Checksum { number, parts: (0, 0) };
    sum.add(&head[..24]);
    let is_head_sound = sum.is(&head, 24) && big_endian(&head, 8) as usize == PAGE_BYTES;
    while is_head_sound && let Some(frame) = WalFrame::read(&mut log)? {
        sum.add(&frame.bytes[..8]);
        sum.add(&frame.bytes[FRAME_HEAD_BYTES..]);
        if frame.salts() != &head[16..24] || !sum.is(&frame.bytes, 16) {
            break;
        }
        if 0 < frame.n_pages() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The checksum of a log so far.
struct Checksum {
    number: fn([u8; 4]) -> u32,
    parts: (u32, u32),
}

impl Checksum {
    fn add(&mut self, bytes: &[u8]) {
        for pair in bytes.chunks_exact(8) {
            let [a, b, c, d, e, f, g, h] = *pair else { return };
            let (first, second) = ((self.number)([a, b, c, d]), (self.number)([e, f, g, h]));
            self.parts.0 = self.parts.0.wrapping_add(first).wrapping_add(self.parts.1);
            self.parts.1 = self.parts.1.wrapping_add(second).wrapping_add(self.parts.0);
        }
    }

    /// Returns whether it is the one that was written at a position.
    fn is(&self, bytes: &[u8], at: usize) -> bool {
        self.parts == (big_endian(bytes, at), big_endian(bytes, at + 4))
    }
}

fn big_endian(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(std::array::from_fn(|nth| bytes[at + nth]))
}

#[cfg(test)]
mod tests;
