//! Parts a log from a database that took the place of its own.

use std::path::PathBuf;
use std::{fs, io};

use super::{OpenedFiles, inodes, with_suffix};
use crate::store::rename_noreplace;

impl OpenedFiles {
    /// Moves the log to a name that no file has, if another database is at the name of its own:
    /// SQLite would read the one with the other.
    pub(super) fn part_from_other_database(&self) {
        let found = self.look();
        let [database, log, index] = inodes(&found);
        let has_frames = found[1].as_ref().is_some_and(|it| 0 < it.len());
        if database.is_none() || database == self.opened[0] || log != self.opened[1] || !has_frames
        {
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

    fn put_log_aside(&self) -> io::Result<PathBuf> {
        let first = with_suffix(&self.full, "-wal.kept");
        let further = (2u32..).map(|nth| with_suffix(&first, &format!("-{nth}")));
        for kept in std::iter::once(first.clone()).chain(further) {
            match rename_noreplace::rename_new(self.name(1), &kept) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
                moved => return moved.map(|()| kept),
            }
        }
        Err(io::Error::from(io::ErrorKind::AlreadyExists))
    }
}
