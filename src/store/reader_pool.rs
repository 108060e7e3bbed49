//! A pool of reading connections, opened on demand and kept for the next query.
//!
//! The pool gives no access to anything that writes. It refuses files that were deleted or replaced
//! since they were opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::file_identity_check::OpenedFiles;
#[cfg(target_os = "linux")]
use super::readahead;
use super::reader::{Reader, SumCache};
use super::{StoreError, absolute_path};

/// Reading connections to one memory, for any number of threads.
pub(crate) struct ReaderPool {
    path: PathBuf,
    file_identity: Arc<OpenedFiles>,
    /// Sums that all connections share.
    sums: SumCache,
    /// Connections not in use.
    idle: Mutex<Vec<Reader>>,
}

impl ReaderPool {
    /// Returns an empty pool of the memory at `path`, whose open files are `file_identity`. The
    /// writer has checked the memory, and the first question opens the first connection.
    ///
    /// # Errors
    ///
    /// The path has no name for the whole system.
    pub(crate) fn new(
        path: &Path,
        file_identity: &Arc<OpenedFiles>,
    ) -> Result<ReaderPool, StoreError> {
        let (sums, idle) = (SumCache::default(), Mutex::default());
        let file_identity = Arc::clone(file_identity);
        Ok(ReaderPool { path: absolute_path(path)?, file_identity, sums, idle })
    }

    /// Opens the memory at `path` in a process that only reads it.
    ///
    /// # Errors
    ///
    /// There is no memory, or it is not of this build's schema.
    pub(crate) fn open(path: &Path) -> Result<ReaderPool, StoreError> {
        // The open connection keeps the log where it is.
        let reader = Reader::open(path)?;
        let pool = ReaderPool::new(path, &Arc::new(OpenedFiles::of(path)?))?;
        let reader = reader.with_sums(&pool.sums);
        pool.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        Ok(pool)
    }

    /// Returns the absolute path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs queries on a connection that no other thread uses.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        question: impl FnOnce(&Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        self.file_identity.check()?;
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Reader::open(&self.path)?.with_sums(&self.sums),
        };
        let answer = reader.within_the_deadline(|reader| {
            reader.check_schema(&self.file_identity)?;
            question(reader)
        });
        // A panic in `question` drops the connection instead of returning it to the pool.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        answer
    }

    /// Reads the file ahead into the system's cache, and returns the number of bytes requested.
    ///
    /// It stops early once `is_over`, and reads nothing of a large file. For a process that keeps
    /// one memory open until it ends: it leaves the file open.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    #[cfg(target_os = "linux")]
    pub(crate) fn read_ahead(&self, is_over: impl Fn() -> bool) -> io::Result<u64> {
        readahead::read_ahead_file(&self.path, is_over)
    }

    /// Reads nothing: other systems have no readahead here.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn read_ahead(&self, _: impl Fn() -> bool) -> io::Result<u64> {
        Ok(0)
    }

    /// Returns the path, if the opened file is still there.
    ///
    /// # Errors
    ///
    /// [`StoreError::Moved`], if the path leads to another file or to none.
    pub(crate) fn current_path(&self) -> Result<&Path, StoreError> {
        self.file_identity.check()?;
        Ok(&self.path)
    }
}

/// Runs queries on a memory that this process does not keep open, with a mark on every id.
pub(crate) fn read_marked<T, E: From<StoreError>>(
    path: &Path,
    mark: &'static str,
    question: impl FnOnce(&Reader) -> Result<T, E>,
) -> Result<T, E> {
    Reader::open_marked(path, mark)?.within_the_deadline(question)
}
