//! Serves the official conformance suite its fixtures, for `make conformance`.
//!
//! Usage: `conformance http` prints the URL and serves there; `conformance stdio` serves its
//! standard streams. Both are the program's own transports.

use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let served = match std::env::args().nth(1).as_deref() {
        Some("http") => remindb::conformance::http(|url| {
            // Without a reader, the URL is of no use.
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
