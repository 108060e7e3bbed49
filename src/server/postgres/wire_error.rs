//! Errors of a connection to PostgreSQL.

use std::io::{self, ErrorKind};

/// A failed call.
#[derive(Debug)]
pub(super) enum WireError {
    /// The socket: nobody knows what the server did.
    Broken(String),
    /// The server is not the one that was asked for, or would have a password read by others.
    Untrusted(String),
    /// The server asks for a password, and there is none.
    NoPassword,
    /// The server's own words.
    Server { code: String, message: String },
}

impl WireError {
    pub(super) fn is_code(&self, wanted: &str) -> bool {
        matches!(self, WireError::Server { code, .. } if code == wanted)
    }

    /// Returns the reason for a message.
    pub(super) fn why(&self) -> String {
        match self {
            WireError::Broken(why) if why.is_empty() => "the connection was lost".to_owned(),
            WireError::Broken(why) | WireError::Untrusted(why) => why.clone(),
            WireError::NoPassword => "it asks for a password".to_owned(),
            WireError::Server { message, .. } => message.clone(),
        }
    }
}

impl From<io::Error> for WireError {
    fn from(error: io::Error) -> WireError {
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
        WireError::Broken(if is_plain { String::new() } else { error.to_string() })
    }
}
