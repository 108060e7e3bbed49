//! Whether the file that was opened is still the one at its path.
//!
//! A file that was deleted or replaced while it was open takes writes as before, and nobody will
//! ever read them: what is acknowledged has to stand where the next one looks for it. The path is
//! asked, and the file not opened, since closing it would take SQLite's locks away.

use std::fs;
use std::path::{Path, PathBuf};

use super::StoreError;

/// The file at a path, as it was when it was opened.
#[derive(Debug)]
pub(super) struct Whereabouts {
    path: PathBuf,
    file: Option<FileName>,
}

/// What no two files have in common.
type FileName = (u64, u64);

impl Whereabouts {
    /// Remembers the file at `path`, which was just opened.
    pub(super) fn of(path: &Path) -> Whereabouts {
        Whereabouts { path: path.to_owned(), file: name_of(path) }
    }

    /// Refuses to go on with a file that is no longer there, or is another.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if name_of(&self.path) == self.file {
            return Ok(());
        }
        Err(StoreError::Moved { path: self.path.clone() })
    }
}

#[cfg(unix)]
fn name_of(path: &Path) -> Option<FileName> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|it| (it.dev(), it.ino()))
}

/// Elsewhere, a file that is open is neither deleted nor replaced.
#[cfg(not(unix))]
fn name_of(path: &Path) -> Option<FileName> {
    fs::metadata(path).ok().map(|_| (0, 0))
}
