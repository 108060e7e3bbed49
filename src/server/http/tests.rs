//! Parsing of requests, and the whole transport over a real socket with the test server behind it.

mod client;
mod page;
mod reading;
mod serving;

use super::request_head::{FIELDS_MAX, HEAD_BYTES_MAX};
use super::{ADDRESS, Limits};
use crate::mcp::rpc::{LINE_BYTES_MAX, VALUES_MAX};

#[test]
fn the_manual_has_the_limits() {
    let words: Vec<&str> = include_str!("../../../docs/http.md").split_whitespace().collect();
    let manual = words.join(" ");
    let at = Limits::default();
    let seconds = |ms: i64| ms / 1_000;
    for fact in [
        format!("listening on http://{ADDRESS}/mcp"),
        format!("waits longest is closed | {} |", at.connections),
        format!("| streams | {} |", at.streams),
        format!("| calls at once | {} |", at.calls),
        format!(
            "| a head | {} KiB, {FIELDS_MAX} fields, {} s |",
            HEAD_BYTES_MAX / 1_024,
            seconds(at.head_ms)
        ),
        format!("| a body | {} MiB, {} s, ", LINE_BYTES_MAX / 1_048_576, seconds(at.body_ms)),
        format!("{},000 JSON values in its `params` |", VALUES_MAX / 1_000),
        format!("small ones aside | {} MiB |", at.body_bytes / 1_048_576),
        format!("until the client has taken it | {} s |", seconds(at.write_ms)),
        format!("| an idle connection | {} s |", seconds(at.idle_ms)),
        format!("a comment every {} seconds.", seconds(at.keep_alive_ms)),
        format!("There are at most {}; one more", at.sessions),
    ] {
        assert!(manual.contains(&fact), "{fact}");
    }
    assert_eq!(at.session_ms, 8 * 60 * 60 * 1_000, "the manual: eight hours");
}
