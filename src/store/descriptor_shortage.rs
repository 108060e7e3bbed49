//! Recognizes that a process has no free file descriptor. SQLite only says then that it cannot open
//! a file, as it does where a user may not.

use std::fs::File;
use std::io;

use rusqlite::{Error, ErrorCode, ffi};

use super::StoreError;

/// The cause, as the text of an error of SQLite.
const NO_DESCRIPTOR: &str = "the process has no free file descriptor";

/// The system's numbers for too many open files: of the process, and of all processes.
const TOO_MANY_OPEN_FILES: [i32; 2] = if cfg!(windows) { [4, 4] } else { [24, 23] };

/// Returns whether a file was not opened since no descriptor is free.
pub(super) fn is_shortage(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|it| TOO_MANY_OPEN_FILES.contains(&it))
}

/// Returns the error of a step that found no free descriptor.
pub(super) fn shortage(doing: &'static str) -> StoreError {
    let error = ffi::Error::new(ffi::SQLITE_CANTOPEN);
    StoreError::Sqlite { doing, source: named(error) }
}

/// Returns an error of SQLite with the cause in it, if a descriptor is missing.
pub(super) fn with_cause(error: Error) -> Error {
    match error {
        Error::SqliteFailure(it, _) if it.code == ErrorCode::CannotOpen && is_short_now() => {
            named(it)
        }
        error => error,
    }
}

/// Returns whether the cause is in an error of SQLite.
pub(super) fn is_cause(error: &Error) -> bool {
    matches!(error, Error::SqliteFailure(_, Some(message)) if message == NO_DESCRIPTOR)
}

fn named(error: ffi::Error) -> Error {
    Error::SqliteFailure(error, Some(NO_DESCRIPTOR.to_owned()))
}

/// Returns whether no file can be opened for want of a descriptor.
fn is_short_now() -> bool {
    File::open(".").is_err_and(|error| is_shortage(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_missing_descriptor_is_named_as_such() {
        let says = |error: StoreError| error.to_string();
        assert_eq!(
            says(shortage("watch the log")),
            "cannot watch the log: the process has no free file descriptor; nothing was changed; \
             close some of its connections or files, or raise its limit (`ulimit -n`), and try \
             again"
        );
        assert!(!shortage("watch the log").is_forbidden());
        let cannot_open = || Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_CANTOPEN), None);
        assert!(!is_cause(&with_cause(cannot_open())), "there are descriptors");
        let forbidden = StoreError::Sqlite { doing: "open the database", source: cannot_open() };
        assert!(forbidden.is_forbidden());
        assert!(says(forbidden).ends_with("has to be able to write the file and its folder"));
        assert!(!is_shortage(&File::open("no such file").unwrap_err()));
    }
}
