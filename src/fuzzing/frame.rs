//! Arbitrary bytes sent to a server: nothing panics, every reply is one line of JSON-RPC. A message
//! after the next line feed is answered.

use std::io::Cursor;

use crossbeam_channel::unbounded;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::mcp::rpc::FrameReader;
use crate::mcp::server_testing;
use crate::mcp::{Connection, Outbox, TransportAction};

const PING: &str = r#"{"jsonrpc":"2.0","id":"the last","method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":"the last","result":{}}"#;

/// Sends `data` and then a `ping`.
///
/// # Panics
/// When a reply is not one line of JSON-RPC, or the `ping` is not answered.
pub fn frame(data: &[u8]) {
    let input = [data, b"\n", PING.as_bytes()].concat();
    let (server, ends) = server_testing::server();
    // Calls of `gate` would wait for ever in this single thread.
    drop(ends);
    let (lines, written) = unbounded();
    let (mut connection, outbox) = (Connection::new("a"), Outbox::new(lines));
    // So would a call that asks the client: no answer comes after the input.
    connection.stop_asking();
    let mut last = None;
    for frame in FrameReader::new(Cursor::new(input)) {
        let frame = frame.expect("reading from memory cannot fail");
        let line = match connection.accept_frame(&server, frame, &outbox) {
            TransportAction::NoReply => None,
            TransportAction::Reply(line) | TransportAction::Listen(line) => Some(line),
            TransportAction::Run(job) => server.run(*job),
        };
        written.try_iter().for_each(|line| check(&line.text));
        last = line.map(|line| line.text);
        last.iter().for_each(|line| check(line));
        server.hub.publish("fixture://sea");
        connection.pending_updates(&server).iter().for_each(|line| check(&line.text));
    }
    connection.end_subscriptions().iter().for_each(|line| check(&line.text));
    assert_eq!(last.as_deref(), Some(PONG));
}

/// Checks that a line is one message: a reply with a result or an error, or a notification.
fn check(line: &str) {
    assert!(!line.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']), "{line:?}");
    let message: Value = match serde_json::from_str(line) {
        // An id goes back to the letter, a number too that is larger than any that is read.
        Err(error) if error.to_string().starts_with("number out of range") => {
            let _: &RawValue = serde_json::from_str(line).expect("a reply is JSON");
            return;
        }
        message => message.expect("a reply is JSON"),
    };
    assert_eq!(message["jsonrpc"], "2.0");
    if message.get("id").is_none() {
        assert!(message["method"].is_string(), "{line}");
        return;
    }
    let id = &message["id"];
    assert!(id.is_string() || id.is_number() || id.is_null(), "{line}");
    match (message.get("result"), message.get("error")) {
        (Some(result), None) => assert!(result.is_object() && !id.is_null(), "{line}"),
        (None, Some(error)) => {
            assert!(error["code"].is_i64() && error["message"].is_string(), "{line}");
        }
        _ => panic!("neither a result nor an error: {line}"),
    }
}
