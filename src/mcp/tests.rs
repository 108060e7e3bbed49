use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::unbounded;

use super::*;
use crate::mcp::rpc::{Message, parse_frame};

mod asking;
mod reading;

/// Longer than any test should take.
const TIMEOUT: Duration = Duration::from_secs(120);

fn connection() -> Connection {
    Connection::new("a")
}

fn nowhere() -> Outbox {
    Outbox::new(unbounded().0)
}

/// Runs a request to its end; returns the reply, checked against the published schemas.
#[track_caller]
fn ask(
    server: &Server<server_testing::TestHandler>,
    connection: &mut Connection,
    request: Value,
) -> Value {
    let line = request.to_string();
    let frame = parse_frame(line.as_bytes()).expect("a request is not blank");
    let reply = match connection.accept_frame(server, frame, &nowhere()) {
        TransportAction::NoReply => return Value::Null,
        TransportAction::Reply(line) | TransportAction::Listen(line) => line.text,
        TransportAction::Run(job) => {
            server.run(*job).map_or_else(|| "null".to_owned(), |it| it.text)
        }
    };
    let reply = serde_json::from_str(&reply).unwrap();
    if reply != Value::Null {
        published::check(Some(&request), &reply);
    }
    reply
}

fn modern_request(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(method, params)
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// Returns the sorted names of an object's members.
fn names(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[test]
fn a_handshake_gives_every_version_that_has_one() {
    let (server, _ends) = server_testing::server();
    let mut asked: Vec<&str> = Version::ALL.map(Version::as_str).to_vec();
    asked.extend(["", "2099-01-01", "latest"]);
    for name in asked {
        let reply = ask(
            &server,
            &mut connection(),
            request("initialize", json!({"protocolVersion": name})),
        );
        let known = Version::parse(name).filter(|version| !version.is_modern());
        let expected = known.unwrap_or(Version::LEGACY_LATEST).as_str();
        assert_eq!(reply["result"]["protocolVersion"], expected, "asked for {name:?}");
    }
}

#[test]
fn a_tool_shows_what_its_version_knows() {
    let (server, _ends) = server_testing::server();
    let members = |version| names(&server.tools[0].json(version)).join(" ");
    let first = "description inputSchema name";
    assert_eq!(members(Version::V2024_11_05), first);
    assert_eq!(members(Version::V2025_03_26), format!("annotations {first}"));
    let all = format!("annotations {first} outputSchema");
    for version in [Version::V2025_06_18, Version::V2025_11_25, Version::V2026_07_28] {
        assert_eq!(members(version), all);
    }
}

#[test]
fn a_modern_result_has_what_its_schema_requires() {
    let (server, _ends) = server_testing::server();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut connection = connection();
    let mut result = |method: &str, mut params: Value| {
        params["_meta"] = meta.clone();
        let reply = ask(&server, &mut connection, request(method, params));
        names(&reply["result"]).join(" ")
    };
    assert_eq!(
        result("server/discover", json!({})),
        "_meta cacheScope capabilities instructions resultType supportedVersions ttlMs"
    );
    assert_eq!(result("tools/list", json!({})), "_meta cacheScope resultType tools ttlMs");
    assert_eq!(
        result("tools/call", json!({"name": "echo", "arguments": {"text": "x"}})),
        "_meta content resultType structuredContent"
    );
}

#[test]
fn a_notice_rides_on_a_modern_reply_and_is_given_when_that_is_written() {
    let (server, ends) = server_testing::server();
    let mut connection = connection();
    let outbox = nowhere();
    let mut run = |meta: Value| {
        let params = json!({"name": "echo", "arguments": {"text": "x"}, "_meta": meta});
        let call = request("tools/call", params).to_string();
        let frame = parse_frame(call.as_bytes()).unwrap();
        let TransportAction::Run(job) = connection.accept_frame(&server, frame, &outbox) else {
            panic!("not a call")
        };
        server.run(*job).unwrap()
    };
    let (notice, written) = server_testing::notice();
    ends.notices.send(notice).unwrap();
    let modern = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let line = run(modern.clone());
    let result = serde_json::from_str::<Value>(&line.text).unwrap()["result"].take();
    let texts = result["content"].as_array().unwrap().iter().map(|it| it["text"].as_str());
    assert_eq!(texts.collect::<Vec<_>>(), [Some("x"), Some("a went cold")]);
    assert_eq!(result["_meta"]["fixture"], json!({"cold": ["a"]}));
    assert!(written.try_recv().is_err(), "nobody has seen it");
    line.was_written();
    written.try_recv().unwrap();
    // A reply that is never sent takes its notice with it.
    let (notice, written) = server_testing::notice();
    ends.notices.send(notice).unwrap();
    drop(run(modern));
    assert_eq!(written.try_recv(), Err(crossbeam_channel::TryRecvError::Disconnected));
}

#[test]
fn a_cancelled_call_says_nothing_more() {
    let (server, _ends) = server_testing::server();
    let (lines, told) = unbounded();
    let (mut connection, outbox) = (connection(), Outbox::new(lines));
    ask(&server, &mut connection, request("initialize", json!({})));
    let call = request("tools/call", json!({"name": "steps", "_meta": {"progressToken": 1}}));
    let frame = parse_frame(call.to_string().as_bytes()).unwrap();
    let TransportAction::Run(job) = connection.accept_frame(&server, frame, &outbox) else {
        panic!("not a call")
    };
    let cancel = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 1},
    });
    ask(&server, &mut connection, cancel);
    // The handler has not noticed yet, but nothing it sends passes.
    assert!(job.call.is_cancelled());
    job.call.progress(1, None, "late");
    job.call.log(Severity::Emergency, "late", &Value::Null);
    assert!(server.run(*job).is_none());
    assert!(told.is_empty());
}

#[test]
fn an_id_is_free_again_when_its_call_has_ended() {
    let (server, _ends) = server_testing::server();
    let mut connection = connection();
    ask(&server, &mut connection, request("initialize", json!({})));
    for name in ["echo", "panic", "steps", "steps"] {
        let reply = ask(&server, &mut connection, request("tools/call", json!({"name": name})));
        assert_ne!(reply["error"]["code"], RpcError::INVALID_REQUEST, "{reply}");
    }
}

#[test]
fn requests_are_answered_and_notifications_are_not() {
    let (server, _ends) = server_testing::server();
    let methods = ["initialize", "ping", "tools/list", "tools/call", "server/discover", "x"];
    for method in methods {
        let mut asked = request(method, json!({}));
        assert_eq!(ask(&server, &mut connection(), asked.clone())["id"], 1);
        asked.as_object_mut().unwrap().remove("id");
        let frame = parse_frame(asked.to_string().as_bytes()).unwrap();
        assert!(matches!(frame, Ok(Message::Notification(_))));
        assert!(matches!(
            connection().accept_frame(&server, frame, &nowhere()),
            TransportAction::NoReply
        ));
    }
}
