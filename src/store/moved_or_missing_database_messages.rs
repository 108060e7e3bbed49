//! Says what to do about a database whose files are not where SQLite looks for them.

use std::fmt;
use std::path::{Path, PathBuf};

use super::StoreError;

impl StoreError {
    /// Writes the errors of a database whose files are not at their names.
    pub(super) fn fmt_identity(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Moved { path } => write!(
                f,
                "`{}` was deleted, replaced or shortened while it was open; put it back, or start \
                 again",
                path.display()
            ),
            StoreError::Unkept { path } => write!(
                f,
                "`{}` was deleted, replaced or shortened during the write, which may or may not be \
                 kept; start again, and look",
                path.display()
            ),
            StoreError::Orphaned { path, missing } if !is_beside(missing) => write!(
                f,
                "another process has the log of a file open that was `{}` before; end that process \
                 first, so that the log of the one is not read with the other",
                path.display()
            ),
            StoreError::Orphaned { path, missing } => write!(
                f,
                "another process has `{}` open, whose `{}` was deleted; end that process first, so \
                 that nothing it wrote is lost",
                path.display(),
                missing.display()
            ),
            StoreError::Nowhere { path } => {
                write!(f, "`{}` names no file; name one with --db", path.display())
            }
            StoreError::Linked { path, n_names } => write!(
                f,
                "`{}` has {n_names} names (hard links), and what is written under one is lost to \
                 the others; keep the name that has a log beside it (`NAME-wal`), if any, and \
                 remove the others",
                path.display()
            ),
            StoreError::HalfRestored { path, aside } => write!(
                f,
                "`{}` has the name `{}`, too: a restore is moving it aside, or was interrupted; \
                 where none is running, `remindb restore BACKUP --db {}` completes it",
                path.display(),
                aside.display(),
                path.display()
            ),
            StoreError::Unreachable { link: Some((link, target)), source, .. } => write!(
                f,
                "`{}` is a symbolic link to `{}`, which cannot be reached: {source}; mount the \
                 disk that has it, or let this user enter its folder; remove the link only to \
                 begin anew",
                link.display(),
                target.display()
            ),
            StoreError::Unreachable { path, link: None, source } => write!(
                f,
                "cannot look whether a database is at `{}`: {source}; let this user enter its \
                 folder, or name another file",
                path.display()
            ),
            StoreError::Mounted { path } => write!(
                f,
                "`{}` is mounted without its folder, so its log would stay behind; mount the \
                 folder instead",
                path.display()
            ),
            _ => self.fmt_missing(f),
        }
    }

    /// Writes the errors of a database that is missing, or whose log is not beside it.
    fn fmt_missing(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Missing { path } => write!(
                f,
                "no database at `{}`; make one with `remindb compile FOLDER --db {}`",
                path.display(),
                path.display()
            ),
            StoreError::NoFolder { path } => {
                write!(f, "no folder `{}` to keep the database in; make it first", path.display())
            }
            StoreError::Emptied { path, log } => write!(
                f,
                "`{}` was emptied, and what was written last is in `{}`; read what can be read: \
                 remindb salvage {} --out NEW.db, or move the log away to begin anew",
                path.display(),
                log.display(),
                path.display()
            ),
            StoreError::Vanished { path, log } => write!(
                f,
                "`{}` is gone, and what was written last is in `{}`; put the database back, or \
                 read what can be read: remindb salvage {} --out NEW.db, or move the log away to \
                 begin anew",
                path.display(),
                log.display(),
                database_of(log).display()
            ),
            _ => self.fmt_log(f),
        }
    }

    /// Writes the errors of a database whose log is not one that SQLite reads as it should.
    fn fmt_log(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::LogBesideLink { link, log, expected: (expected, false) } => write!(
                f,
                "`{}` is a symbolic link, and what was written last may be in `{}`, where SQLite \
                 does not look for it; if nothing was written since the database was moved, end \
                 what uses it and rename the log to `{}`, or read both: remindb salvage {} --out \
                 NEW.db; else move the log away",
                link.display(),
                log.display(),
                expected.display(),
                link.display()
            ),
            StoreError::LogBesideLink { link, log, expected: (expected, true) } => write!(
                f,
                "`{}` is a symbolic link, and `{}` may have what was written before the database \
                 was moved; `{}` seems to be written since: copy both into a folder, the log as \
                 `NAME-wal`, and see with remindb doctor whether they belong together, or move the \
                 log away",
                link.display(),
                log.display(),
                database_of(expected).display()
            ),
            StoreError::LinkedLog { name } => write!(
                f,
                "`{}` is a symbolic link, which SQLite does not follow; put the file that it leads \
                 to in its place, or remove the link if there is none",
                name.display()
            ),
            StoreError::StrangeLog { name, what } => write!(
                f,
                "`{}` is {what} in the place of a file of the memory; move it away, and put back \
                 what was there, such as a log that a server kept (`NAME-wal.kept`)",
                name.display()
            ),
            StoreError::Unread { path, log } => write!(
                f,
                "`{}` is damaged at its beginning, and has all that was written to `{}`; read what \
                 can be read: remindb salvage {} --out NEW.db, or move the log away to begin anew",
                log.display(),
                path.display(),
                path.display()
            ),
            StoreError::LogOfAnother { path, log } => write!(
                f,
                "`{}` took the place of another file, whose log `{}` would be read with it; end \
                 what uses the memory and move the log away with its index (`NAME-shm`): it has \
                 what was written last to the file before",
                path.display(),
                log.display()
            ),
            _ => Ok(()),
        }
    }
}

/// Returns whether a file is a log or the index of one.
fn is_beside(file: &Path) -> bool {
    let name = file.to_string_lossy();
    name.ends_with("-wal") || name.ends_with("-shm")
}

/// Returns the name beside which a log lies.
fn database_of(log: &Path) -> PathBuf {
    let name = log.to_string_lossy();
    PathBuf::from(name.strip_suffix("-wal").unwrap_or(&name))
}
