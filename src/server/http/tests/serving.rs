//! Answers to clients, and their isolation from each other.

use serde_json::json;

use super::super::*;
use super::client::{TIMEOUT, Up, call, modern, watched};
use crate::mcp::server_testing;

const EVENTS: &str = "Accept: text/event-stream\r\n";

fn session_field(id: &str) -> String {
    format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
}

#[test]
fn an_answer_without_messages_is_one_object() {
    let up = Up::new(|_| ());
    let mut client = up.client();
    let hello = client.post("", &call("initialize", json!({})));
    assert_eq!(hello.json()["result"]["protocolVersion"], "2025-11-25");
    let session = session_field(&hello.field("mcp-session-id").unwrap());
    let echo = json!({"name": "echo", "arguments": {"text": "hi"}});
    let response = client.post(&session, &call("tools/call", echo.clone()));
    assert_eq!(response.json()["result"]["content"][0]["text"], "hi");
    assert_eq!(response.field("content-type").as_deref(), Some("application/json"));
    assert_eq!(response.field("x-content-type-options").as_deref(), Some("nosniff"));
    assert_eq!(response.field("cache-control").as_deref(), Some("no-store"));
    let response = client.post(&(session.clone() + EVENTS), &call("tools/call", echo));
    assert_eq!(response.field("content-type").as_deref(), Some("text/event-stream"));
    assert!(client.event().unwrap().contains("\"text\":\"hi\""));
    assert_eq!(client.event(), None);
    let noted = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(client.post(&session, &noted).status, 202);
    let reply = json!({"jsonrpc": "2.0", "id": 7, "result": {}});
    assert_eq!(client.post(&session, &reply).status, 202);
    assert_eq!(client.post(&session, &json!([])).status, 400);
    assert_eq!(client.post(&session, &json!({"id": 1})).status, 400);
}

#[test]
fn messages_before_an_answer_make_it_a_stream() {
    let up = Up::new(|_| ());
    let session = session_field(&up.session());
    let mut client = up.client();
    let head = client.post(&session, &watched("steps"));
    assert_eq!(head.field("content-type").as_deref(), Some("text/event-stream"));
    assert_eq!(head.field("x-accel-buffering").as_deref(), Some("no"));
    let events: Vec<String> = std::iter::from_fn(|| client.event()).collect();
    assert_eq!(events[0], "id: 1-0\nretry: 1000\ndata:");
    assert!(events[1].starts_with("id: 1-1\ndata: {") && events[1].contains("\"half\""));
    assert!(events[2].starts_with("id: 1-2\ndata: {") && events[2].contains("\"all\""));
    assert!(events[3].starts_with("id: 1-3\ndata: {") && events[3].contains("\"done\""));
    assert_eq!(events.len(), 4);
    // A modern stream has no ids: it cannot be resumed.
    let (fields, body) = modern("steps");
    client.post(&fields, &body);
    let events: Vec<String> = std::iter::from_fn(|| client.event()).collect();
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|it| it.starts_with("data: {")));
    assert!(events[2].contains("\"resultType\":\"complete\""));
}

#[test]
fn a_disconnect_cancels_a_modern_call() {
    let up = Up::new(|limits| limits.calls = 1);
    for _ in 0..2 {
        let mut client = up.client();
        let (fields, body) = modern("gate");
        client.post(&fields, &body);
        assert!(client.event().unwrap().contains("at the gate"));
        up.fixture.started.recv_timeout(TIMEOUT).unwrap();
        drop(client);
    }
    // There is one place for calls; a call that waited at the gate would still hold it.
    let (fields, body) = modern("steps");
    assert_eq!(up.client().post(&fields, &body).status, 200);
}

#[test]
fn a_legacy_stream_goes_on_after_a_break() {
    let up = Up::new(|_| ());
    let id = up.session();
    let session = session_field(&id);
    let mut client = up.client();
    client.post(&session, &watched("gate"));
    assert_eq!(client.event().unwrap(), "id: 1-0\nretry: 1000\ndata:");
    assert!(client.event().unwrap().starts_with("id: 1-1\n"));
    drop(client);
    let mut again = up.client();
    let head = again.ask("GET", &format!("{session}{EVENTS}Last-Event-ID: 1-0\r\n"));
    assert_eq!(head.status, 200);
    assert!(again.event().unwrap().contains("at the gate"), "what was missed comes first");
    up.fixture.gate.send(()).unwrap();
    let last = again.event().unwrap();
    assert!(last.starts_with("id: 1-2\n") && last.contains("through"), "{last}");
    assert_eq!(again.event(), None);
    // No event of that stream is on any other.
    let mut other = up.client();
    other.ask("GET", &format!("{session}{EVENTS}Last-Event-ID: 2-0\r\n"));
    assert_eq!(other.event(), None);
}

#[test]
fn a_call_that_finds_no_room_for_its_stream_ends_no_other() {
    let up = Up::new(|limits| limits.streams = 0);
    let session = session_field(&up.session());
    let mut quiet = up.client();
    quiet.send(&session, &call("tools/call", json!({"name": "gate"})));
    up.fixture.started.recv_timeout(TIMEOUT).unwrap();
    let mut loud = watched("steps");
    loud["id"] = json!(2);
    assert_eq!(up.client().post(&session, &loud).status, 503);
    up.fixture.gate.send(()).unwrap();
    assert!(quiet.answer().text.contains("through"));
}

#[test]
fn notifications_come_on_the_one_stream_of_a_session() {
    let up = Up::new(|_| ());
    let session = session_field(&up.session());
    let mut first = up.client();
    assert_eq!(first.ask("GET", &format!("{session}{EVENTS}")).status, 200);
    let mut second = up.client();
    assert_eq!(second.ask("GET", &format!("{session}{EVENTS}")).status, 200);
    assert_eq!(first.event(), None, "the later stream takes over");
    let (notice, written) = server_testing::notice();
    up.fixture.notices.send(notice).unwrap();
    let level = call("logging/setLevel", json!({"level": "info"}));
    assert_eq!(up.client().post(&session, &level).status, 200);
    let event = second.event().unwrap();
    assert!(event.starts_with("id: 0-1\ndata: ") && event.contains("\"cold\""), "{event}");
    written.recv_timeout(TIMEOUT).unwrap();
    let (notice, written) = server_testing::notice();
    up.fixture.notices.send(notice).unwrap();
    up.fixture.waker.wake();
    assert!(second.event().unwrap().starts_with("id: 0-2\n"));
    written.recv_timeout(TIMEOUT).unwrap();
    // The stream closes with the session.
    assert_eq!(up.client().ask("DELETE", &session).status, 204);
    assert_eq!(second.event(), None);
    assert_eq!(up.client().ask("DELETE", &session).status, 404);
    assert_eq!(up.client().post(&session, &call("ping", json!({}))).status, 404);
}

#[test]
fn a_session_is_needed_and_one_in_use_is_never_ended_for_another() {
    let up = Up::new(|limits| limits.sessions = 3);
    let ping = call("ping", json!({}));
    assert_eq!(up.client().post("", &ping).status, 400);
    assert_eq!(up.client().ask("GET", EVENTS).status, 400);
    assert_eq!(up.client().post(&session_field("0123"), &ping).status, 404);
    let (old, streamed) = (session_field(&up.session()), session_field(&up.session()));
    assert_eq!(up.client().post(&old, &ping).status, 200);
    let mut stream = up.client();
    assert_eq!(stream.ask("GET", &format!("{streamed}{EVENTS}")).status, 200);
    for _ in 0..50 {
        up.session();
    }
    assert_eq!(up.client().post(&old, &ping).status, 200, "others only shook hands");
    assert_eq!(up.client().post(&streamed, &ping).status, 200);
    let unknown = "MCP-Protocol-Version: 1999-01-01\r\n";
    let refused = up.client().post(unknown, &ping);
    assert_eq!((refused.status, refused.json()["error"]["code"].clone()), (400, json!(-32022)));
}

#[test]
fn a_slow_client_gets_408() {
    let up = Up::new(|limits| {
        limits.head_ms = 50;
        limits.body_ms = 50;
        limits.idle_ms = 100;
    });
    let mut client = up.client();
    client.write("POST /mcp HTT");
    assert_eq!(client.answer().status, 408);
    assert!(client.is_closed());
    let mut client = up.client();
    client.write(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: 9\r\n\r\n{",
    );
    assert_eq!(client.answer().status, 408);
    assert!(client.is_closed());
    assert!(up.client().is_closed(), "who says nothing is told nothing");
}

#[test]
fn a_waiting_connection_makes_room() {
    let up = Up::new(|limits| limits.connections = 2);
    let (mut oldest, mut second) = (up.client(), up.client());
    second.write("GET /he");
    let mut third = up.client();
    assert_eq!(third.post("", &call("initialize", json!({}))).status, 200);
    assert!(oldest.is_closed());
    second.write("alth HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(second.answer().status, 200, "it was not its turn");
}

#[test]
fn oversized_requests_are_refused_unread() {
    let up = Up::new(|limits| limits.body_bytes = 100_000);
    let mut client = up.client();
    client.write(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: 1073741824\r\n\r\n",
    );
    assert_eq!(client.answer().status, 413);
    assert!(client.is_closed());
    let mut client = up.client();
    let long = json!({"text": "a".repeat(200_000)});
    assert_eq!(client.post("", &call("initialize", long)).status, 503);
    let mut client = up.client();
    client.write(format!("GET /health HTTP/1.1\r\nHost: localhost\r\n{}", "A: b\r\n".repeat(5000)));
    assert_eq!(client.answer().status, 431);
}

#[test]
fn requests_that_come_at_once_are_answered_in_order() {
    let up = Up::new(|_| ());
    let mut client = up.client();
    let health = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    client.write(format!(
        "{health}PUT /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n{health}nonsense\r\n\r\n{health}"
    ));
    let statuses: Vec<u16> = (0..4).map(|_| client.answer().status).collect();
    assert_eq!(statuses, [200, 405, 200, 400]);
    assert!(client.is_closed(), "nothing after nonsense is believed");
    let mut client = up.client();
    client.write(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 44\r\n\r\n\
         GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    assert_eq!(client.answer().status, 415);
    assert!(client.is_closed(), "a body that was not read is no request");
    let mut client = up.client();
    client.write("GET /health HTTP/1.0\r\n\r\n");
    assert_eq!(client.answer().status, 400, "not even an old one without a host that is known");
    let mut client = up.client();
    client.write("GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n");
    assert_eq!(client.answer().field("connection").as_deref(), Some("close"));
    assert!(client.is_closed());
}

#[test]
fn a_client_that_expects_100_continue_gets_it() {
    let up = Up::new(|_| ());
    let mut client = up.client();
    let body = call("initialize", json!({})).to_string();
    client.write(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Expect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    assert_eq!(client.answer().status, 100);
    client.write(format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len()));
    assert_eq!(client.answer().status, 200);
}

#[test]
fn a_preflight_of_an_allowed_origin_is_granted() {
    let up = Up::new(|_| ());
    let origin = "Origin: https://app.example\r\n";
    let asked = "Access-Control-Request-Method: POST\r\n\
                 Access-Control-Request-Headers: content-type, mcp-param-region, x-evil\r\n";
    let answer = up.client().ask("OPTIONS", &format!("{origin}{asked}"));
    assert_eq!(answer.status, 204);
    let allowed = |name: &str| answer.field(&format!("access-control-allow-{name}"));
    assert_eq!(allowed("origin").as_deref(), Some("https://app.example"));
    let headers = allowed("headers").unwrap();
    assert!(headers.ends_with(", mcp-param-region") && !headers.contains("evil"), "{headers}");
    let hello = up.client().post(origin, &call("initialize", json!({})));
    assert_eq!(hello.field("access-control-allow-origin").as_deref(), Some("https://app.example"));
    assert!(hello.field("access-control-expose-headers").unwrap().contains("Mcp-Session-Id"));
    let evil = up.client().ask("OPTIONS", "Origin: https://evil.example\r\n");
    assert_eq!((evil.status, evil.field("access-control-allow-origin")), (403, None));
    let plain = up.client().post("", &call("initialize", json!({})));
    assert_eq!(plain.field("access-control-allow-origin"), None);
}

#[test]
fn modern_refusals_have_their_status() {
    let up = Up::new(|_| ());
    let (fields, mut body) = modern("echo");
    let mut client = up.client();
    let mismatch = client.post(&fields.replace("echo", "gate"), &body);
    assert_eq!((mismatch.status, mismatch.json()["error"]["code"].clone()), (400, json!(-32020)));
    assert_eq!(mismatch.json()["id"], 1);
    body["params"]["_meta"] = json!({});
    let nothing = client.post(&fields, &body);
    assert_eq!((nothing.status, nothing.json()["error"]["code"].clone()), (400, json!(-32602)));
    let (_, mut body) = modern("echo");
    for method in ["ping", "initialize", "no/such"] {
        body["method"] = json!(method);
        let fields = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
        let unknown = client.post(&fields, &body);
        let code = unknown.json()["error"]["code"].clone();
        assert_eq!((unknown.status, code), (404, json!(-32601)), "{method}");
    }
    body["method"] = json!("tools/list");
    body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let unknown =
        client.post("MCP-Protocol-Version: 2099-01-01\r\nMcp-Method: tools/list\r\n", &body);
    assert_eq!((unknown.status, unknown.json()["error"]["code"].clone()), (400, json!(-32022)));
    let noted = json!({"jsonrpc": "2.0", "method": "notifications/cancelled"});
    assert_eq!(client.post("MCP-Protocol-Version: 2026-07-28\r\n", &noted).status, 202);
}

#[test]
fn a_signal_ends_streams_calls_and_idle_connections() {
    let up = Up::new(|_| ());
    let session = session_field(&up.session());
    let mut idle = up.client();
    let mut stream = up.client();
    assert_eq!(stream.ask("GET", &format!("{session}{EVENTS}")).status, 200);
    let mut busy = up.client();
    busy.send(&session, &call("tools/call", json!({"name": "gate"})));
    up.fixture.started.recv_timeout(TIMEOUT).unwrap();
    up.interrupt.send(()).unwrap();
    assert_eq!(stream.event(), None, "a stream ends as a stream");
    assert_eq!(busy.answer().status, 503);
    assert_eq!(up.ended.recv_timeout(TIMEOUT).unwrap(), StopReason::Signal);
    assert!(idle.is_closed());
    assert!(TcpStream::connect(up.address).is_err(), "nobody listens any more");
}

#[test]
fn a_panic_is_answered_with_an_error() {
    let up = Up::new(|_| ());
    let (fields, body) = modern("panic");
    let mut client = up.client();
    let answer = client.post(&fields, &body);
    assert_eq!((answer.status, answer.json()["error"]["code"].clone()), (500, json!(-32603)));
    let session = session_field(&up.session());
    let answer = client.post(&session, &call("tools/call", json!({"name": "panic"})));
    assert_eq!((answer.status, answer.json()["error"]["code"].clone()), (200, json!(-32603)));
}

#[test]
fn a_silent_stream_sends_signs_of_life() {
    let up = Up::new(|limits| limits.keep_alive_ms = 1);
    let session = session_field(&up.session());
    let mut client = up.client();
    client.ask("GET", &format!("{session}{EVENTS}"));
    assert_eq!(client.event().unwrap(), ":");
}

#[test]
fn an_unused_session_ends() {
    let sessions = HttpSessions::new(4, 1000).unwrap();
    let session = |id: &str| {
        let connection = crate::mcp::Connection::new(id);
        Arc::new(HttpSession::new(id.to_owned(), connection, crossbeam_channel::never()))
    };
    let ids: Vec<String> = (0..3).map(|_| sessions.id().unwrap()).collect();
    assert!(ids[0].len() == 32 && ids[0] != ids[1] && ids[1] != ids[2]);
    sessions.add(&session("a"), 0).unwrap();
    sessions.add(&session("b"), 500).unwrap();
    let visit = sessions.open_session("a", 0).unwrap();
    assert!(sessions.expire_idle(Some(1400)).is_empty(), "one is in use, the other not old enough");
    visit.end(1400);
    let gone = sessions.expire_idle(Some(1500));
    assert_eq!(gone.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["b"]);
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions.expire_idle(None).len(), 1);
}
