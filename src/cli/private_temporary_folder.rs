//! A folder among the temporary files that only its owner can read, deleted at the end.

use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use crate::model::clock::UnixMillis;

/// A private temporary folder; dropping it deletes it.
pub(super) struct PrivateTemporaryFolder(PathBuf);

impl PrivateTemporaryFolder {
    /// Makes a folder for a purpose, which is a part of its name.
    pub(super) fn new(purpose: &str, now: UnixMillis) -> io::Result<PrivateTemporaryFolder> {
        let name = format!("remindb-{purpose}-{}-{}", std::process::id(), now.0);
        let folder = std::env::temp_dir().join(name);
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(PrivateTemporaryFolder(folder.canonicalize()?))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the path of a database in it.
    pub(super) fn db(&self) -> PathBuf {
        self.0.join("memory.db")
    }
}

impl Drop for PrivateTemporaryFolder {
    fn drop(&mut self) {
        // A folder that cannot be deleted is left among the temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}
