//! The reading connections of a process: opened when they are needed, kept for the next question.
//!
//! Whoever holds this can read, and has no way from here to anything that writes. It refuses files
//! that were deleted or replaced since they were opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::file_identity::FileIdentity;
#[cfg(target_os = "linux")]
use super::readahead;
use super::reader::Reader;
use super::{ErrorStep, StoreError};

/// Reading connections to one memory, for any number of threads.
pub(crate) struct ReaderPool {
    path: PathBuf,
    file_identity: Arc<FileIdentity>,
    /// Those that nobody reads from right now.
    idle: Mutex<Vec<Reader>>,
}

impl ReaderPool {
    /// Opens the first connection to the memory at `path`, which has these files open.
    pub(crate) fn open(
        path: &Path,
        file_identity: &Arc<FileIdentity>,
    ) -> Result<ReaderPool, StoreError> {
        let file_identity = Arc::clone(file_identity);
        file_identity.check()?;
        let idle = Mutex::new(vec![Reader::open(path)?]);
        let path = std::path::absolute(path);
        let path = path.map_err(|_| rusqlite::Error::InvalidPath(PathBuf::new()));
        Ok(ReaderPool { path: path.doing("find the folder of the database")?, file_identity, idle })
    }

    /// The file, in full.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Asks on a connection that nobody else asks on.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        self.file_identity.check()?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Reader::open(&self.path)?,
        };
        let answer = question(&reader);
        // A panic above drops the connection instead of giving it back.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        answer
    }

    /// Has the system read the file before anybody asks for it, until it is done or over; gives the
    /// bytes that were asked for, none of a large file.
    ///
    /// For a process that has one memory open until it ends: it leaves the file open.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    #[cfg(target_os = "linux")]
    pub(crate) fn read_ahead(&self, is_over: impl Fn() -> bool) -> io::Result<u64> {
        readahead::read_ahead_file(&self.path, is_over)
    }

    /// Elsewhere, the system is not asked for that.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn read_ahead(&self, _: impl Fn() -> bool) -> io::Result<u64> {
        Ok(0)
    }

    /// Returns the path, where the file that was opened still stands.
    ///
    /// # Errors
    ///
    /// [`StoreError::Moved`], if another file or none stands there by now.
    pub(crate) fn current_path(&self) -> Result<&Path, StoreError> {
        self.file_identity.check()?;
        Ok(&self.path)
    }
}
