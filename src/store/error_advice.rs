//! Says what to do about an error of SQLite whose cause lies outside of the program.

use std::path::Display;

use ExternalErrorCause::{Refusal, State};

use super::descriptor_shortage::is_cause;

/// The cause of an error that lies outside of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExternalErrorCause {
    /// The system refused a step, and the transaction was rolled back.
    Refusal,
    /// The file or another process is in the way.
    State,
}

/// Returns the advice for what no repair mends.
pub(crate) fn last_resort(path: &Display<'_>) -> String {
    format!("restore a backup, or read what can be read: remindb salvage {path} --out NEW.db")
}

/// Returns the advice for a memory with another schema, which the doctor may be able to restore.
pub(super) fn schema_advice(path: &Display<'_>, is_restorable: bool) -> String {
    match is_restorable {
        true => format!("`remindb doctor --fix --db {path}` restores it, after a backup"),
        false => format!("that cannot be put right in place; {}", last_resort(path)),
    }
}

/// Returns advice for an error whose cause lies outside of the program.
pub(super) fn advice(error: &rusqlite::Error) -> Option<(ExternalErrorCause, &'static str)> {
    use rusqlite::ErrorCode;
    if is_strange_value(error) {
        let advice = "a row holds what remindb never writes: run `remindb doctor --fix`, or \
                      restore a backup with `remindb restore`";
        return Some((State, advice));
    }
    if is_dangling(error) {
        let advice = "a row refers to one that is gone: run `remindb doctor --fix`";
        return Some((State, advice));
    }
    if matches!(error, rusqlite::Error::QueryReturnedNoRows) {
        let advice = "a row that every memory has is missing: run `remindb doctor --fix`";
        return Some((State, advice));
    }
    if is_broken_index(error) {
        let advice = "the full-text index is damaged: run `remindb doctor --fix`";
        return Some((State, advice));
    }
    if is_cause(error) {
        let advice = "close some of its connections or files, or raise its limit (`ulimit -n`), \
                      and try again";
        return Some((Refusal, advice));
    }
    Some(match error.sqlite_error_code()? {
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => (
            State,
            "the file or its disk is damaged: restore a backup with `remindb restore`, or read \
             what can be read with `remindb salvage`",
        ),
        ErrorCode::DatabaseBusy => {
            (State, "another process has been writing for a long time; try again later")
        }
        ErrorCode::OperationInterrupted => (
            State,
            "it took longer than 30 s: ask for less, such as fewer words; if that takes as long, \
             `remindb doctor` says whether the file is damaged",
        ),
        // SQLite says the same where there is no number left for a row.
        ErrorCode::DiskFull => {
            (Refusal, "make room on the disk; if there is room, run `remindb doctor`")
        }
        ErrorCode::SystemIoFailure if is_short_read(error) => (
            Refusal,
            "the database or its log was replaced or shortened: end every process that uses it, so \
             that it is put back, then try again",
        ),
        ErrorCode::SystemIoFailure => {
            (Refusal, "is the disk full, or a file as large as it may get?")
        }
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen => {
            (Refusal, "this user has to be able to write the file and its folder")
        }
        _ => return None,
    })
}

/// Returns whether a value in the file is of another type, no text, or beyond all bounds.
pub(super) fn is_strange_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, SqliteFailure,
        Utf8Error,
    };
    match error {
        FromSqlConversionFailure(..)
        | IntegralValueOutOfRange(..)
        | InvalidColumnType(..)
        | Utf8Error(..) => true,
        // A number that grows beyond all integers becomes a fraction; a sum is refused.
        SqliteFailure(error, message) => {
            error.extended_code == rusqlite::ffi::SQLITE_CONSTRAINT_DATATYPE
                || matches!(message.as_deref(), Some("integer overflow" | "malformed JSON"))
        }
        _ => false,
    }
}

/// Returns whether a row refers to a missing one; only other programs write such rows.
pub(super) fn is_dangling(error: &rusqlite::Error) -> bool {
    let found = error.sqlite_error().map(|it| it.extended_code);
    found == Some(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY)
}

/// Returns whether a file was shorter than its index says.
fn is_short_read(error: &rusqlite::Error) -> bool {
    let found = error.sqlite_error().map(|it| it.extended_code);
    found == Some(rusqlite::ffi::SQLITE_IOERR_SHORT_READ)
}

/// Returns whether the full-text index is damaged, from which it can be made anew.
pub(super) fn is_broken_index(error: &rusqlite::Error) -> bool {
    const UNKNOWN_VERSION: &str = "invalid fts5 file format";
    let rusqlite::Error::SqliteFailure(error, message) = error else { return false };
    error.extended_code == rusqlite::ffi::SQLITE_CORRUPT_VTAB
        || message.as_ref().is_some_and(|it| it.starts_with(UNKNOWN_VERSION))
}

#[cfg(test)]
mod tests;
