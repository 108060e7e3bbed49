//! Commits transactions, and tells the outcome of a commit that fails.
//!
//! SQLite writes the pages of a commit to the log, syncs them to the disk, and notes them in the
//! log's index last. A commit that fails after its last page was written is undone for this
//! process; after a kill, the log is read again, and recovery may find the commit in it.

use rusqlite::{ErrorCode, Transaction, ffi};

#[cfg(feature = "shared")]
use super::SharedError;
use super::{ErrorContext, StoreError};

/// Commits, and distinguishes a failure that changed nothing from one that may have.
pub(crate) fn commit(tx: Transaction<'_>, doing: &'static str) -> Result<(), StoreError> {
    tx.commit().doing(doing).map_err(at_commit)
}

/// Returns the error of a step that commits, as in doubt where it may be kept.
pub(crate) fn at_commit(error: StoreError) -> StoreError {
    match error {
        StoreError::Sqlite { doing, source } if may_be_kept(&source) => {
            StoreError::InDoubt { doing, source }
        }
        error => error,
    }
}

impl StoreError {
    /// Returns whether a write that failed with this may be kept after all.
    pub(crate) fn is_in_doubt(&self) -> bool {
        match self {
            StoreError::InDoubt { .. } => true,
            #[cfg(feature = "shared")]
            StoreError::Shared(SharedError::InDoubt { .. }) => true,
            _ => false,
        }
    }
}

/// Returns whether all pages may have been written. A page that could not be written is the last
/// one, so that the log has no whole commit.
fn may_be_kept(error: &rusqlite::Error) -> bool {
    match error.sqlite_error() {
        Some(it) if it.code == ErrorCode::SystemIoFailure => {
            it.extended_code != ffi::SQLITE_IOERR_WRITE
        }
        Some(it) => it.code == ErrorCode::OutOfMemory,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_failed_after_the_last_page_is_in_doubt() {
        let is_in_doubt = |code| {
            let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = at_commit(StoreError::Sqlite { doing: "commit a write", source });
            let text = error.to_string();
            assert_ne!(
                text.contains("may or may not be kept"),
                text.contains("nothing was"),
                "{text}"
            );
            matches!(error, StoreError::InDoubt { .. })
        };
        assert!(!is_in_doubt(ffi::SQLITE_FULL));
        assert!(!is_in_doubt(ffi::SQLITE_IOERR_WRITE));
        assert!(is_in_doubt(ffi::SQLITE_IOERR_FSYNC));
        assert!(is_in_doubt(ffi::SQLITE_IOERR_SHMSIZE));
    }
}
