//! Parsing of requests, access control, and the checks of repeated fields.

use std::fmt::Write;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::super::access_control::{AccessRules, BearerToken};
use super::super::header_body_check::{check_headers as mirrored, mirrored_arguments};
use super::super::request_head::RequestHead;
use super::super::response::BODY_BYTES_MAX;
use super::super::route::{Route, route};
use crate::fuzzing::http::{http, requests};
use crate::mcp::rpc::{self, Message};

/// Checks the requests in `input`: line feeds are CR LF, and `␍` and `␊` one of them alone.
#[track_caller]
fn check(input: &str, read: Expect) {
    let bytes = input.replace('\n', "\r\n").replace('␍', "\r").replace('␊', "\n").into_bytes();
    http(&bytes);
    let mut text = String::new();
    for request in requests([bytes.as_slice()]) {
        let _ = match request {
            Err(refused) => writeln!(text, "{}: {}", refused.status, refused.why),
            Ok((head, body)) => {
                let body = String::from_utf8(body).unwrap();
                writeln!(text, "{} {} {body:?}", head.method, head.target)
            }
        };
    }
    read.assert_eq(&text);
}

#[test]
fn requests_come_out_in_order() {
    check(
        "\n\nPOST /mcp HTTP/1.1\nHost: a\nContent-Length: 2\n\n{}GET /a?b=c HTTP/1.0\n\nDELETE / HTTP/1.1\n\nGET",
        expect![[r#"
            POST /mcp "{}"
            GET /a?b=c ""
            DELETE / ""
        "#]],
    );
}

#[test]
fn chunks_make_a_body() {
    check(
        "POST / HTTP/1.1\nTransfer-Encoding: Chunked\n\n3\nabc\n00A;x=y\n0123456789\n0\nTrailer: t\n\nGET / HTTP/1.1\n\n",
        expect![[r#"
            POST / "abc0123456789"
            GET / ""
        "#]],
    );
}

#[test]
fn a_body_whose_length_can_be_read_in_two_ways_is_refused() {
    for (fields, why) in [
        (
            "Content-Length: 1\nTransfer-Encoding: chunked",
            expect![[r#"
            400: the body's length is said in two ways
        "#]],
        ),
        (
            "Content-Length: 1\nContent-Length: 1",
            expect![[r#"
            400: `content-length` stands there twice
        "#]],
        ),
        (
            "Content-Length: 1, 1",
            expect![[r#"
            400: `Content-Length` must be a number
        "#]],
        ),
        (
            "Content-Length: +1",
            expect![[r#"
            400: `Content-Length` must be a number
        "#]],
        ),
        (
            "Transfer-Encoding: gzip, chunked",
            expect![[r#"
            501: the one known `Transfer-Encoding` is `chunked`
        "#]],
        ),
        (
            "Transfer-Encoding: chunked\nTransfer-Encoding: identity",
            expect![[r#"
            400: `transfer-encoding` stands there twice
        "#]],
        ),
        (
            "Content-Length: 9999999999999999999999",
            expect![[r#"
            413: the body is larger than 8388608 bytes; send less at once
        "#]],
        ),
    ] {
        check(&format!("POST / HTTP/1.1\n{fields}\n\n0\n\n"), why);
    }
    check(
        "POST / HTTP/1.0\nTransfer-Encoding: chunked\n\n0\n\n",
        expect![[r#"
        400: HTTP/1.0 knows no `Transfer-Encoding`
    "#]],
    );
}

#[test]
fn malformed_heads_are_refused() {
    for head in [
        "GET / HTTP/1.1␊Host: a\n\n",
        "GET / HTTP/1.1\nHost: a␊\n",
        "GET / HTTP/1.1\nHost: a␍b\n\n",
        "␊GET / HTTP/1.1\n\n",
    ] {
        check(
            head,
            expect![[r#"
            400: a line of the head does not end with CR LF
        "#]],
        );
    }
    for head in [
        "GET / HTTP/1.1\nHost: a\n b\n\n",
        "GET / HTTP/1.1\nHost : a\n\n",
        "GET / HTTP/1.1\n: a\n\n",
        "GET  /a b HTTP/1.1\n\n",
        "nonsense\n\n",
        "GET / HTTP/1.1\nHost: a\u{0}\n\n",
    ] {
        check(
            head,
            expect![[r#"
            400: the head is no head of HTTP/1.1
        "#]],
        );
    }
    check(
        "PRI * HTTP/2.0\n\nSM\n\n",
        expect![[r#"
        505: the version is neither HTTP/1.1 nor HTTP/1.0
    "#]],
    );
}

#[test]
fn bad_chunks_are_refused() {
    for chunks in ["x\n", "\n", "-1\n", "0x1\na\n", "1\nab\n", "1␊a", "123456789\n", "0\nno\n\n"]
    {
        check(
            &format!("POST / HTTP/1.1\nTransfer-Encoding: chunked\n\n{chunks}"),
            expect![[r#"
            400: the body's chunks are none
        "#]],
        );
    }
    check(
        "POST / HTTP/1.1\nTransfer-Encoding: chunked\n\nfffffff\n",
        expect![[r#"
        413: the body is larger than 8388608 bytes; send less at once
    "#]],
    );
}

#[test]
fn heads_are_bounded() {
    let long = format!("GET / HTTP/1.1\nA: {}", "a".repeat(20_000));
    check(
        &long,
        expect![[r#"
        431: the head is too long
    "#]],
    );
    let many = format!("GET / HTTP/1.1\n{}\n", "a: b\n".repeat(65));
    check(
        &many,
        expect![[r#"
        431: the head has too many fields
    "#]],
    );
    let few = format!("GET / HTTP/1.1\n{}\n", "a: b\n".repeat(64));
    check(
        &few,
        expect![[r#"
        GET / ""
    "#]],
    );
    assert_eq!(BODY_BYTES_MAX, 8 * 1024 * 1024);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn requests_do_not_depend_on_how_bytes_are_cut(parts in prop::collection::vec(
        prop_oneof![
            Just("POST /mcp HTTP/1.1\r\n"), Just("GET / HTTP/1.0\r\n"), Just("\r\n"), Just("\n"),
            Just("\r"), Just("Content-Length: 3\r\n"), Just("Transfer-Encoding: chunked\r\n"),
            Just("Host: a\r\n"), Just("3\r\nabc\r\n"), Just("0\r\n\r\n"), Just("abc"), Just(" x"),
            Just("\u{e9}"), Just("1;"), Just(": "),
        ],
        0..12,
    )) {
        http(parts.concat().as_bytes());
    }
}

fn head(text: &str) -> RequestHead {
    RequestHead::parse(format!("{}\n\n", text.trim_end()).replace('\n', "\r\n").as_bytes()).unwrap()
}

/// Returns the status from the guard and the routes; 0 when the head is admitted.
fn admitted(guard: &AccessRules, text: &str) -> u16 {
    let head = head(text);
    match guard.origin(&head) {
        Err(refused) => refused.status,
        Ok(_) => route(&head, guard).map_or_else(|it| it.status, |_| 0),
    }
}

#[test]
fn a_guard_admits_known_hosts_and_origins_only() {
    let address = "192.168.1.7".parse().unwrap();
    let names = ["Notes.example".to_owned()];
    let guard = AccessRules::new(address, &names, &["https://app.example".to_owned()], None);
    let get = |fields: &str| {
        admitted(&guard, &format!("GET /mcp HTTP/1.1\nAccept: text/event-stream\n{fields}"))
    };
    for host in
        ["localhost", "LOCALHOST:7474", "127.0.0.1:1", "[::1]:80", "192.168.1.7", "notes.EXAMPLE:9"]
    {
        assert_eq!(get(&format!("Host: {host}")), 0, "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "127.0.0.2",
        "[::2]",
        "localhost@evil.example",
    ] {
        assert_eq!(get(&format!("Host: {host}")), 403, "{host}");
    }
    for host in ["", "localhost:x", ":80", "[::1", "localhost\nHost: evil.example"] {
        assert_eq!(get(&format!("Host: {host}")), 400, "{host}");
    }
    assert_eq!(get(""), 400, "HTTP/1.1 has a host");
    for origin in ["http://localhost:7474", "https://app.example", "HTTPS://APP.example"] {
        assert_eq!(get(&format!("Host: localhost:7474\nOrigin: {origin}")), 0, "{origin}");
    }
    for origin in [
        "null",
        "",
        "http://localhost:3000",
        "https://localhost:7474",
        "https://evil.example",
        "https://app.example.evil.example",
        "https://app.example:8443",
        "http://app.example",
    ] {
        assert_eq!(get(&format!("Host: localhost:7474\nOrigin: {origin}")), 403, "{origin}");
    }
    assert_eq!(get("Host: localhost\nSec-Fetch-Site: cross-site"), 403);
    assert_eq!(get("Host: localhost\nSec-Fetch-Site: same-site"), 403);
    assert_eq!(get("Host: localhost\nSec-Fetch-Site: none"), 0);
    // A target that names a host is about that one, and the field has to be as good.
    let absolute = "GET http://evil.example/mcp HTTP/1.1\nHost: localhost\nAccept: */*";
    assert_eq!(admitted(&guard, absolute), 403);
    let own = "GET http://localhost/mcp HTTP/1.1\nHost: evil.example\nAccept: */*";
    assert_eq!(admitted(&guard, own), 403);
    assert_eq!(admitted(&guard, &own.replace("evil.example", "localhost")), 0);
    let nameless = own.replace("Host: evil.example", "A: b");
    assert_eq!(admitted(&guard, &nameless), 400);
}

#[test]
fn a_configured_token_is_required_in_full() {
    let token = BearerToken::new("0123456789abcdef").unwrap();
    assert_eq!(format!("{token:?}"), "Token");
    let address = "0.0.0.0".parse().unwrap();
    let guard = AccessRules::new(address, &[], &[], Some(token));
    let get = |field: &str| {
        let text = format!("GET /mcp HTTP/1.1\nHost: localhost\nAccept: */*\n{field}");
        admitted(&guard, &text)
    };
    assert_eq!(get("Authorization: Bearer 0123456789abcdef"), 0);
    assert_eq!(get("authorization: bearer 0123456789abcdef"), 0);
    for wrong in [
        "",
        "Authorization: Bearer",
        "Authorization: Bearer 0123456789abcdeF",
        "Authorization: Bearer 0123456789abcde",
        "Authorization: Bearer 0123456789abcdef0123456789abcdef",
        "Authorization: Basic 0123456789abcdef",
        "Authorization: Bearer ",
    ] {
        assert_eq!(get(wrong), 401, "{wrong}");
    }
    assert_eq!(admitted(&guard, "GET /health HTTP/1.1\nHost: localhost"), 0, "says nothing");
    assert_eq!(admitted(&guard, "OPTIONS /mcp HTTP/1.1\nHost: localhost"), 0, "cannot have it");
    assert!(BearerToken::new("short").is_err());
    assert!(BearerToken::new("sixteen and more, with spaces").is_err());
}

#[test]
fn a_route_depends_on_the_head_alone() {
    let guard = AccessRules::new("127.0.0.1".parse().unwrap(), &[], &[], None);
    let of = |line: &str, fields: &str| {
        admitted(&guard, &format!("{line} HTTP/1.1\nHost: localhost\n{fields}"))
    };
    let json = "Content-Type: application/json";
    assert_eq!(of("POST /mcp", json), 0);
    assert_eq!(of("POST /mcp?a=b", "Content-Type: Application/JSON; charset=utf-8"), 0);
    assert_eq!(of("POST /mcp", ""), 415);
    assert_eq!(of("POST /mcp", "Content-Type: text/plain"), 415);
    assert_eq!(of("POST /mcp", &format!("{json}\nAccept: text/html")), 406);
    assert_eq!(of("POST /mcp", &format!("{json}\nAccept: */*;q=0")), 406);
    assert_eq!(of("POST /mcp", &format!("{json}\nAccept: text/event-stream;q=0.5")), 0);
    assert_eq!(of("GET /mcp", "Accept: application/json"), 406);
    for (line, status) in [
        ("PUT /mcp", 405),
        ("POST /health", 405),
        ("GET /", 0),
        ("HEAD /app.css?v=1", 0),
        ("POST /", 405),
        ("GET /app.mjs", 404),
        ("GET //", 404),
        ("GET /session", 405),
        ("POST /session", 415),
        ("GET /mcp/", 404),
        ("GET /../mcp", 404),
        ("GET /etc/passwd", 404),
        ("OPTIONS *", 0),
    ] {
        assert_eq!(of(line, "Accept: */*"), status, "{line}");
    }
    let get = head("GET /mcp HTTP/1.1\nHost: localhost");
    assert_eq!(route(&get, &guard).ok(), Some(Route::Get), "no Accept is any");
}

/// Returns the error code for the fields of a modern request; 0 when they are right.
fn code(fields: &str, method: &str, params: serde_json::Value) -> i32 {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let Some(Ok(Message::Request(request))) = rpc::parse_frame(body.as_bytes()) else {
        panic!("{body}")
    };
    let schema = json!({"properties": {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "deep": {"properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
    }});
    let marked = mirrored_arguments(&[json!({"name": "sql", "inputSchema": schema})]);
    let head = head(&format!("POST /mcp HTTP/1.1\nHost: a\n{fields}"));
    mirrored(&head, &request, &marked).map_or_else(|it| it.code, |()| 0)
}

#[test]
fn fields_must_repeat_the_body() {
    let version = "MCP-Protocol-Version: 2026-07-28";
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let list = |fields: &str| code(fields, "tools/list", json!({"_meta": meta}));
    assert_eq!(list(&format!("{version}\nmcp-METHOD: tools/list")), 0);
    assert_eq!(list("Mcp-Method: tools/list"), -32020);
    assert_eq!(list(version), -32020);
    assert_eq!(list(&format!("{version}\nMcp-Method: TOOLS/LIST")), -32020);
    assert_eq!(list(&format!("{version}\nMcp-Method: tools/list\nMcp-Method: tools/list")), -32020);
    let other = "MCP-Protocol-Version: 2025-11-25\nMcp-Method: tools/list";
    assert_eq!(list(other), -32020);

    let call = |fields: &str, arguments: serde_json::Value| {
        let fields = format!("{version}\nMcp-Method: tools/call\n{fields}");
        code(&fields, "tools/call", json!({"name": "sql", "arguments": arguments}))
    };
    assert_eq!(call("Mcp-Name:   sql  ", json!({})), 0);
    assert_eq!(call("Mcp-Name: =?base64?c3Fs?=", json!({})), 0);
    assert_eq!(call("Mcp-Name: =?base64?c3F?=", json!({})), -32020);
    assert_eq!(call("", json!({})), -32020);
    assert_eq!(call("Mcp-Name: other", json!({})), -32020);
    let hello = json!({"region": "Hello"});
    for (value, wanted) in [
        ("Hello", 0),
        ("=?base64?SGVsbG8=?=", 0),
        ("=?base64?SGVsbG8?=", -32020),
        ("=?base64?SGVs!!!bG8=?=", -32020),
        ("=?base64?SGVsbG9=?=", -32020),
        ("hello", -32020),
    ] {
        let fields = format!("Mcp-Name: sql\nMcp-Param-Region: {value}");
        assert_eq!(call(&fields, hello.clone()), wanted, "{value}");
    }
    assert_eq!(call("Mcp-Name: sql", hello), -32020);
    assert_eq!(call("Mcp-Name: sql\nMcp-Param-Region: a", json!({"region": null})), -32020);
    assert_eq!(
        call("Mcp-Name: sql\nMcp-Param-Region: =?base64?a", json!({"region": "=?base64?a"})),
        0
    );
    assert_eq!(call("Mcp-Name: sql\nMcp-Param-N: 42.0", json!({"deep": {"n": 42}})), 0);
    assert_eq!(call("Mcp-Name: sql\nMcp-Param-N: 43", json!({"deep": {"n": 42}})), -32020);
    assert_eq!(call("Mcp-Name: sql\nMcp-Param-Else: é", json!({})), 0, "not one of ours");
    assert_eq!(call("Mcp-Name: sqlé", json!({})), -32020);
}
