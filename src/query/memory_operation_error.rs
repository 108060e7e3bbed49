//! Errors of a memory, each with a remedy; one type for everything below the protocol.

mod compile_error;

use std::fmt;

use crate::store::StoreError;
pub use compile_error::CompileError;

/// An error of a memory.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The database could not be opened, read or written.
    Store(StoreError),
    /// Nothing was compiled.
    Compile(CompileError),
    /// An argument is invalid; the text names valid ones.
    BadArgument(String),
    /// The requested thing does not exist; the text names similar ones.
    NotFound(String),
    /// No resource has the URI.
    UnknownUri(String),
    /// Something outside the database could not be read, or an answer not be written.
    Unavailable(String),
}

impl Error {
    /// Returns the text without the claim that nothing was changed.
    pub(crate) fn after_a_change(&self) -> String {
        match self {
            Error::Store(error) => error.after_a_change(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Store(error) => error.fmt(f),
            Error::Compile(error) => error.fmt(f),
            Error::BadArgument(why) | Error::NotFound(why) | Error::Unavailable(why) => {
                f.write_str(why)
            }
            Error::UnknownUri(uri) => {
                write!(f, "no resource `{uri}`; list them to see which there are")
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Store(error) => Some(error),
            Error::Compile(error) => Some(error),
            Error::BadArgument(_)
            | Error::NotFound(_)
            | Error::UnknownUri(_)
            | Error::Unavailable(_) => None,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        Error::Store(error)
    }
}

impl From<CompileError> for Error {
    fn from(error: CompileError) -> Error {
        match error {
            CompileError::Store(error) => Error::Store(error),
            error => Error::Compile(error),
        }
    }
}

impl From<fmt::Error> for Error {
    fn from(_: fmt::Error) -> Error {
        Error::Unavailable("the answer was not taken".to_owned())
    }
}
