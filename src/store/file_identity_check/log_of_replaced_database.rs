//! Parts a log from a database that took the place of its own.

#[cfg(target_os = "linux")]
use std::fs::{self, File};
#[cfg(target_os = "linux")]
use std::io::{self, BufRead, BufReader};
#[cfg(target_os = "linux")]
use std::path::PathBuf;

use super::OpenedFiles;
#[cfg(target_os = "linux")]
use super::inodes;
#[cfg(target_os = "linux")]
use crate::store::rename_noreplace;

#[cfg(target_os = "linux")]
impl OpenedFiles {
    /// Moves the log to a name that no file has, if another database is at the name of its own:
    /// SQLite would read the one with the other. A copy of its own goes with it.
    pub(super) fn part_from_other_database(&self) {
        let found = self.look();
        let [database, log, index] = inodes(&found);
        let has_frames = found[1].as_ref().is_some_and(|it| 0 < it.len());
        let is_moved_there = database.is_some() && database != self.opened[0];
        let is_overwritten = found[0].as_ref().is_some_and(|it| self.is_overwritten(it));
        let is_other = is_overwritten || is_moved_there && !self.is_copy().unwrap_or(true);
        if !is_other || log != self.opened[1] || !has_frames {
            return;
        }
        let (name, beside) = (self.path.display(), self.name(1).display());
        match self.put_log_aside() {
            Ok(kept) => {
                if index == self.opened[2] {
                    // It is that of the log, and made anew with each.
                    let _ = fs::remove_file(self.name(2));
                }
                log::error!(
                    "`{name}` was replaced, and `{beside}` with what was written last to the file \
                     before is now `{}`: put both back together, or delete it",
                    kept.display()
                );
            }
            Err(error) => log::error!(
                "`{name}` was replaced, and `{beside}` of the file before cannot be moved: \
                 {error}; move it away before the memory is opened"
            ),
        }
    }

    /// Returns whether the file at the name of the database has the bytes of the open one.
    fn is_copy(&self) -> io::Result<bool> {
        let own = self.open_again(0)?;
        let (mut own, mut other) = (BufReader::new(&*own), BufReader::new(File::open(&self.full)?));
        loop {
            let (one, two) = (own.fill_buf()?, other.fill_buf()?);
            let n_bytes = one.len().min(two.len());
            if n_bytes == 0 {
                return Ok(one.len() == two.len());
            }
            if one[..n_bytes] != two[..n_bytes] {
                return Ok(false);
            }
            own.consume(n_bytes);
            other.consume(n_bytes);
        }
    }

    fn put_log_aside(&self) -> io::Result<PathBuf> {
        for kept in self.names_of_kept_logs() {
            match rename_noreplace::rename_new(self.name(1), &kept) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                moved => return moved.map(|()| kept),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}

#[cfg(not(target_os = "linux"))]
impl OpenedFiles {
    /// Does nothing: on other systems, the open database cannot be read to compare.
    pub(super) fn part_from_other_database(&self) {}
}
