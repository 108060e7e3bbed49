//! Transfers whole memories: backup, restore, export, import and salvage.
//!
//! Each result is written under another name beside its destination, examined by the doctor, and
//! only then renamed, so that a kill at any instant leaves the old state or the new one. A database
//! that another process may have open is only changed through SQLite.

mod atomic_file;
mod atomic_folder;
mod backup;
mod database_jsonl_export;
mod database_jsonl_import;
mod foreign_remind_reader;
mod markdown_export;
mod opencode_reader;
mod restore;
mod row_redaction;
mod safety_backups;
mod salvage;
mod transferred_tables;
mod v03;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) use atomic_file::{AtomicFile, IfExists, is_stream};
pub(crate) use atomic_folder::AtomicFolder;
pub(crate) use backup::{BackupReport, backup, backup_as_is, refuse_same};
pub(crate) use database_jsonl_export::export;
pub(crate) use database_jsonl_import::{ImportInput, ImportReport, import};
pub(crate) use foreign_remind_reader::{RemindRecord, RemindRecordLists};
pub(crate) use markdown_export::{MarkdownExportReport, export_markdown};
pub(crate) use opencode_reader::each_opencode_session;
pub(crate) use restore::{RestoreReport, restore};
pub(crate) use safety_backups::{
    DestructiveOperation, backup_before, drop_unfinished_backup, prune_backups,
};
pub(crate) use salvage::{SalvageReport, salvage};
pub(crate) use v03::{V03ImportReport, copy_still, import_old};

use super::doctor::{self, CheckStatus};
use crate::store::unsafe_wal_open_refusal::with_suffix;
use crate::store::{StoreError, check_path_to_read};

/// A callback that gets the work done and the total, in a unit of the work's own.
pub(crate) type ProgressFn<'a> = &'a mut dyn FnMut(u64, u64);

/// An error of a transfer. The destination is unchanged, but for [`TransferError::Unsynced`].
#[derive(Debug)]
pub(crate) enum TransferError {
    /// SQLite refused a step.
    Store(StoreError),
    /// The system refused a step. `doing` fits after "cannot".
    File { doing: &'static str, path: PathBuf, source: io::Error },
    /// The file has its name, and the system did not sync the folder.
    Unsynced { path: PathBuf, source: io::Error },
    /// The output stream is closed or full.
    Output(io::Error),
    /// The transfer makes no sense or would lose data; the text advises.
    Refused(String),
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TransferError::Store(error) => error.fmt(f),
            TransferError::File { doing, path, source } => {
                write!(f, "cannot {doing} `{}`: {source}", path.display())
            }
            TransferError::Unsynced { path, source } => write!(
                f,
                "`{}` is complete, but a loss of power may undo that: cannot sync its folder: \
                 {source}",
                path.display()
            ),
            TransferError::Output(error) => write!(f, "cannot write the export: {error}"),
            TransferError::Refused(why) => f.write_str(why),
        }
    }
}

impl TransferError {
    /// Returns the text without the claim that nothing was changed, which the caller makes.
    pub(crate) fn without_claim(&self) -> String {
        match self {
            TransferError::Store(error) => error.after_a_change(),
            other => other.to_string(),
        }
    }

    /// Returns the error for a destination of which another part is still missing.
    fn before_the_last_part(self) -> TransferError {
        match self {
            TransferError::Unsynced { path, source } => {
                TransferError::File { doing: "write", path, source }
            }
            error => error,
        }
    }
}

impl std::error::Error for TransferError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TransferError::Store(error) => Some(error),
            TransferError::File { source, .. }
            | TransferError::Unsynced { source, .. }
            | TransferError::Output(source) => Some(source),
            TransferError::Refused(_) => None,
        }
    }
}

impl From<StoreError> for TransferError {
    fn from(error: StoreError) -> TransferError {
        TransferError::Store(error)
    }
}

/// Adds the file and the name of the refused step to an error of the system, once, at the call.
trait FileErrorContext<T> {
    fn on(self, doing: &'static str, path: &Path) -> Result<T, TransferError>;
}

impl<T> FileErrorContext<T> for io::Result<T> {
    fn on(self, doing: &'static str, path: &Path) -> Result<T, TransferError> {
        self.map_err(|source| TransferError::File { doing, path: path.to_owned(), source })
    }
}

/// Refuses a path without a file, which would be a `noun`.
fn check_there(path: &Path, noun: &str) -> Result<(), TransferError> {
    check_path_to_read(path).map_err(|error| match error {
        StoreError::Missing { path } => {
            TransferError::Refused(format!("no {noun} at `{}`", path.display()))
        }
        StoreError::Foreign { path, what } => TransferError::Refused(format!(
            "`{}` is {what}, not a remindb memory; name another file",
            path.display()
        )),
        error => error.into(),
    })
}

/// Returns the doctor's first failed check, if any.
fn complaint(path: &Path) -> Result<Option<String>, StoreError> {
    complaint_beside(path, &[])
}

/// Returns the doctor's first failed check that is none of `ignored`, if any.
fn complaint_beside(path: &Path, ignored: &[&str]) -> Result<Option<String>, StoreError> {
    let report = doctor::examine(path)?;
    let is_failed = |status, name| status == CheckStatus::Fail && !ignored.contains(&name);
    let failed = report.checks.into_iter().find(|it| is_failed(it.status, it.name));
    Ok(failed.map(|it| format!("{}: {}", it.name, it.detail)))
}

#[cfg(test)]
mod tests;
