//! The server that `make conformance` holds against the official suite: its fixtures, on the
//! transports of the program.
//!
//! Usage: `conformance http` prints the URL and serves there; `conformance stdio` serves its
//! standard streams.

use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let served = match std::env::args().nth(1).as_deref() {
        Some("http") => remindb::conformance::http(|url| {
            // Without a reader, nobody wants to know.
            let _ = writeln!(io::stdout(), "{url}").and_then(|()| io::stdout().flush());
        }),
        Some("stdio") => remindb::conformance::stdio(),
        _ => Err(io::Error::other("usage: conformance http|stdio")),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance: {error}");
            ExitCode::FAILURE
        }
    }
}
