//! Tells a database that another was written over, such as a backup that was copied to its name.

use std::fs::{File, Metadata};
use std::io;
use std::time::{Duration, UNIX_EPOCH};

use super::wal_head_reader::read_first;
use super::{OpenedFiles, lock};
use crate::ingest::scan::FileIdentity;

/// The first bytes of a database file: <https://sqlite.org/fileformat2.html#the_database_header>.
const DATABASE_MAGIC: &[u8] = b"SQLite format 3\0";

/// The versions in the header of a database without a write-ahead log. Copies that `backup`, `gc`
/// and others make are single files, and have these until they are first written to.
const NO_LOG: [u8; 2] = [1, 1];

impl OpenedFiles {
    /// Returns whether the database that was opened is one without a log by now: another was
    /// written over it. Who opened it with its log made the header say so before.
    ///
    /// The header is read where the file was written to since the last look.
    pub(super) fn is_overwritten(&self, found: &Metadata) -> bool {
        // On other systems, all files have one identity.
        if cfg!(not(unix)) || self.opened[0] != Some(FileIdentity::of(found)) {
            return false;
        }
        let written = time_of_write(found);
        let mut known = lock(&self.written);
        if *known == written {
            return false;
        }
        let is_overwritten = self.open_again(0).and_then(|it| is_of_no_log(&it)).unwrap_or(false);
        if !is_overwritten {
            *known = written;
        }
        is_overwritten
    }

    /// Notes that this process copied the log into the database file.
    pub(in crate::store) fn note_copied(&self) {
        let written = self.look()[0].as_ref().and_then(time_of_write);
        *lock(&self.written) = written;
    }
}

/// Returns the time at which a file was last written, since the Unix epoch.
pub(super) fn time_of_write(found: &Metadata) -> Option<Duration> {
    found.modified().ok()?.duration_since(UNIX_EPOCH).ok()
}

/// Returns whether a file is a database without a write-ahead log.
pub(in crate::store) fn is_of_no_log(database: &File) -> io::Result<bool> {
    let mut head = [0; 20];
    let n_read = read_first(database, &mut head)?;
    Ok(n_read == head.len() && head.starts_with(DATABASE_MAGIC) && head[18..] == NO_LOG)
}
