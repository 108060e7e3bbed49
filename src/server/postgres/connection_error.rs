//! Errors of a connection to PostgreSQL.

use std::io::{self, ErrorKind};

/// A failed call.
#[derive(Debug)]
pub(super) enum PostgresError {
    /// The socket: nobody knows what the server did.
    Broken(String),
    /// The server is not the one that was asked for, or would have a password read by others.
    Untrusted(String),
    /// The server asks for a password, and there is none.
    NoPassword,
    /// The server's own words.
    Server { code: String, message: String },
}

impl PostgresError {
    pub(super) fn is_code(&self, wanted: &str) -> bool {
        matches!(self, PostgresError::Server { code, .. } if code == wanted)
    }

    /// Returns the reason for a message.
    pub(super) fn why(&self) -> String {
        match self {
            PostgresError::Broken(why) if why.is_empty() => "the connection was lost".to_owned(),
            PostgresError::Broken(why) | PostgresError::Untrusted(why) => why.clone(),
            PostgresError::NoPassword => "it asks for a password".to_owned(),
            PostgresError::Server { message, .. } => message.clone(),
        }
    }
}

impl From<io::Error> for PostgresError {
    fn from(error: io::Error) -> PostgresError {
        use ErrorKind::{
            BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted,
            TimedOut, UnexpectedEof, WouldBlock,
        };
        // That it is not reachable says it all.
        let is_plain = matches!(
            error.kind(),
            BrokenPipe
                | ConnectionAborted
                | ConnectionRefused
                | ConnectionReset
                | Interrupted
                | TimedOut
                | UnexpectedEof
                | WouldBlock
        );
        PostgresError::Broken(if is_plain { String::new() } else { error.to_string() })
    }
}
