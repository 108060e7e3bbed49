use std::fmt::Write as _;
use std::io::{self, Cursor, Read};

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::text::is_hidden;

/// Outlines the messages of a stream, one per line.
fn outline(input: impl Read) -> String {
    let mut out = String::new();
    for frame in FrameReader::new(input) {
        match frame.unwrap() {
            Ok(Message::Request(Request { id, method, params })) => {
                writeln!(out, "request {} {method} {}", id.0.get(), Value::Object(params))
            }
            Ok(Message::Notification(Notification { method, params })) => {
                writeln!(out, "notification {method} {}", Value::Object(params))
            }
            Ok(Message::Response(ClientResponse { id, outcome: Ok(result) })) => {
                writeln!(out, "response {} {result}", id.0.get())
            }
            Ok(Message::Response(ClientResponse {
                id,
                outcome: Err(RpcError { code, message, .. }),
            })) => {
                writeln!(out, "response {} {code} {message}", id.0.get())
            }
            Ok(Message::Ignored) => writeln!(out, "idle"),
            Err(BadFrame { id, fault }) => {
                let id = id.map_or("null".to_owned(), |id| id.0.get().to_owned());
                writeln!(out, "refused {id} {} {}", fault.code, fault.message)
            }
        }
        .unwrap();
    }
    out
}

#[track_caller]
fn check(input: impl AsRef<[u8]>, expected: Expect) {
    expected.assert_eq(&outline(Cursor::new(input)));
}

#[test]
fn lines_become_messages() {
    check(
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "\r\n\n  \t\r\n",
            r#"  { "method" : "a/b" , "params" : {"x":[1.50,null]} , "jsonrpc" : "2.0" }  "#,
            "\n",
            r#"{"jsonrpc":"2.0","id":"a","method":"m","params":null,"more":{"id":2}}"#,
        ),
        expect![[r#"
            request 1 ping {}
            notification a/b {"x":[1.5,null]}
            request "a" m {}
        "#]],
    );
}

#[test]
fn broken_json_is_a_parse_error() {
    check(
        b"{\"jsonrpc\":\n}\nhello\n\xff{}\n[1,\n\x00\n{\"id\":01}\n",
        expect![[r#"
            refused null -32700 not JSON: EOF while parsing a value at line 1 column 11
            refused null -32700 not JSON: expected value at line 1 column 1
            refused null -32700 not JSON: expected value at line 1 column 1
            refused null -32700 not UTF-8; send JSON in UTF-8
            refused null -32700 not JSON: EOF while parsing a value at line 1 column 3
            refused null -32700 not JSON: expected value at line 1 column 1
            refused null -32700 not JSON: invalid number at line 1 column 8
        "#]],
    );
}

#[test]
fn json_that_is_no_request_is_refused_with_its_id() {
    check(
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]
[]
"text"
null
{}
{"id":1,"method":"ping"}
{"jsonrpc":"1.0","id":1,"method":"ping"}
{"jsonrpc":2.0,"id":1,"method":"ping"}
{"jsonrpc":"2.0","id":1}
{"jsonrpc":"2.0","id":1,"method":7}
{"jsonrpc":"2.0","id":null,"method":"ping"}
{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}
{"jsonrpc":"2.0","id":[1],"method":"ping"}
{"jsonrpc":"2.0","id":true,"method":"ping"}
{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}
{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}
{"jsonrpc":"2.0","id":1,"method":"ping","params":"text"}"#,
        expect![[r#"
            refused null -32600 batches are not supported; send one message per line
            refused null -32600 batches are not supported; send one message per line
            refused null -32600 a message is a JSON object
            refused null -32600 a message is a JSON object
            refused null -32600 `jsonrpc` must be "2.0"
            refused 1 -32600 `jsonrpc` must be "2.0"
            refused 1 -32600 `jsonrpc` must be "2.0"
            refused 1 -32600 `jsonrpc` must be "2.0"
            refused 1 -32600 `method` is missing
            refused 1 -32600 `method` must be a string
            refused null -32600 `id` must be a string or a number
            refused null -32600 `id` must be a string or a number
            refused null -32600 `id` must be a string or a number
            refused null -32600 `id` must be a string or a number
            refused null -32600 `id` stands there twice
            refused 1 -32602 `params` must be an object
            refused 1 -32602 `params` must be an object
        "#]],
    );
}

#[test]
fn a_bomb_of_values_is_refused_before_it_is_built() {
    let call = |zeros: usize, text: &str| {
        let zeros = vec!["0"; zeros].join(",");
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":[{zeros}],"b":{text}}}}}"#
        )
    };
    let outcome =
        |line: String| parse_frame(line.as_bytes()).unwrap().map(|_| ()).map_err(|it| it.fault);
    // The object and the list count, besides their members.
    assert_eq!(outcome(call(VALUES_MAX - 2, "1")), Ok(()));
    let refused = outcome(call(VALUES_MAX - 1, "1")).unwrap_err();
    assert_eq!(refused.code, RpcError::INVALID_PARAMS);
    assert_eq!(refused.message, "`params` has more than 20000 values; send less at once");
    // Characters in a string are no values.
    let text = serde_json::to_string(&"\\\",[{".repeat(VALUES_MAX)).unwrap();
    assert_eq!(outcome(call(9, &text)), Ok(()));
    let told =
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":[{}]}}"#, "0,".repeat(VALUES_MAX) + "0");
    assert!(matches!(parse_frame(told.as_bytes()), Some(Ok(Message::Ignored))));
}

#[test]
fn two_messages_on_a_line_are_one_error() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}
{"jsonrpc":"2.0","id":1,"method":"ping"} x
[] []
{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
        expect![[r#"
            refused null -32700 something follows the message; send one message per line
            refused null -32700 something follows the message; send one message per line
            refused null -32700 not JSON: trailing characters at line 1 column 4
            request 3 ping {}
        "#]],
    );
}

#[test]
fn a_byte_order_mark_is_an_error() {
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    check(
        format!("\u{feff}{ping}\n\u{feff}{ping}\n{ping}\n"),
        expect![[r#"
            refused null -32700 a byte order mark is no part of a message; leave it out
            refused null -32700 a byte order mark is no part of a message; leave it out
            request 1 ping {}
        "#]],
    );
    check(
        "\u{feff}\n\u{feff}",
        expect![[r#"
            refused null -32700 a byte order mark is no part of a message; leave it out
            refused null -32700 a byte order mark is no part of a message; leave it out
        "#]],
    );
}

#[test]
fn responses_and_notifications_get_no_reply() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{}}
{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}
{"id":null,"error":{"code":-32700,"message":"not JSON"}}
{"jsonrpc":"2.0","method":"notifications/initialized","params":7}"#,
        expect![[r#"
            response 1 {}
            response 1 1 no
            idle
            idle
        "#]],
    );
}

#[test]
fn depth_and_size_of_values_have_an_end() {
    let deep = |n| format!("{}{}", r#"{"a":"#.repeat(n), "1".to_owned() + &"}".repeat(n));
    let request = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#) + "\n"
    };
    let brackets = "[".repeat(1_000_000);
    let input = request(&deep(10_000))
        + &request(&deep(100_000))
        + &request(r#"{"n":1e999}"#)
        + &request(r#"{"s":"\ud800"}"#)
        + &brackets
        + "\n"
        + &request("{}");
    check(
        input,
        expect![[r#"
            refused 1 -32700 cannot read `params`: recursion limit exceeded at line 1 column 636
            refused 1 -32602 `params` has more than 20000 values; send less at once
            refused 1 -32700 cannot read `params`: number out of range at line 1 column 10
            refused 1 -32700 cannot read `params`: unexpected end of hex escape at line 1 column 13
            refused null -32700 not JSON: EOF while parsing a list at line 1 column 1000000
            request 1 m {}
        "#]],
    );
}

#[test]
fn ids_go_back_to_the_letter() {
    let huge = "9".repeat(400);
    for id in ["1", "-7", "1.50", "1e999", "\"\"", r#""\u00e4\n""#, "\"ä\"", &huge] {
        let line = format!(r#"{{"id": {id} ,"jsonrpc":"2.0","method":"m"}}"#);
        let Some(Ok(Message::Request(request))) = parse_frame(line.as_bytes()) else {
            panic!("refused: {line}");
        };
        let reply = result_line(&request.id, &Value::Null);
        assert_eq!(reply, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":null}}"#));
    }
}

#[test]
fn equal_ids_have_equal_keys() {
    let id =
        |json: &str| RequestId::read(&RawValue::from_string(json.to_owned()).unwrap()).unwrap();
    assert_eq!(id(r#""a\u0062""#).key(), id(r#""ab""#).key());
    assert_eq!(id("7").key(), RequestId::of_value(&Value::from(7)).unwrap().key());
    assert_ne!(id("7").key(), id(r#""7""#).key());
}

#[test]
fn a_line_has_no_line_break_of_any_kind() {
    let fault = RpcError {
        code: RpcError::INTERNAL_ERROR,
        message: "a\nb\r\u{85}c\u{2028}d\u{2029}".to_owned(),
        data: Some(Value::from("\n")),
    };
    let line = error_line(None, &fault);
    assert!(line.ends_with(r#""message":"a\nb\r\u0085c\u2028d\u2029","data":"\n"}}"#), "{line}");
    let back: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(back["error"]["message"], Value::from(fault.message));
}

/// A reader that returns a few bytes at a time, with interrupts in between.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(2) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n_bytes = (self.1 % 7 + 1).min(self.0.len());
        self.0.read(&mut buffer[..n_bytes])
    }
}

/// Generates lines that are nearly valid.
fn nearly() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just("{\"jsonrpc\":\"2.0\",".to_owned()),
        Just("\"id\":".to_owned()),
        Just("\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",".to_owned()),
        Just("\"arguments\":{\"text\":\"x\",\"times\":2}}".to_owned()),
        Just("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}\n".to_owned()),
        Just("}".to_owned()),
        Just("\n".to_owned()),
        Just("\u{feff}".to_owned()),
        "[0-9\\[\\]{},:\"\\\\ a-z\\n\\r]{0,8}",
        any::<String>(),
    ];
    let text = prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat().into_bytes());
    prop_oneof![3 => text, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn how_bytes_arrive_makes_no_difference(bytes in nearly()) {
        prop_assert_eq!(outline(Cursor::new(&bytes)), outline(Trickle(&bytes, 0)));
    }

    #[test]
    fn no_bytes_break_the_frames(bytes in nearly()) {
        crate::fuzzing::frame::frame(&bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn escaped_text_reads_back_and_ends_no_line(
        pieces in prop::collection::vec("[\\PC\\x00-\\x1f\u{7f}\u{85}\u{2028}\u{2029}\"\\\\]{0,8}", 0..8),
    ) {
        let mut line = String::from("\"");
        for piece in &pieces {
            JsonStringEscaper(&mut line).write_str(piece).unwrap();
        }
        line.push('"');
        let ends_a_line = line.contains(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']);
        prop_assert!(!ends_a_line);
        prop_assert_eq!(serde_json::from_str::<String>(&line).unwrap(), pieces.concat());
    }
}

#[test]
fn a_malformed_response_is_ignored() {
    check(
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"a":[1]}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no","data":[]}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":""}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"result":1,"result":2}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}"#,
            "\n",
            r#"{"id":1,"result":{}}"#,
        ),
        expect![[r#"
            response 1 {"a":[1]}
            response "x" -1 no
            response 1 null
            idle
            idle
            idle
            idle
            idle
        "#]],
    );
}

#[test]
fn the_log_has_no_word_of_an_id() {
    let logged = |written: &str| {
        let id = RequestId::read(&RawValue::from_string(written.to_owned()).unwrap()).unwrap();
        id.logged().into_owned()
    };
    assert_eq!(logged("-17.50"), "-17.50");
    assert_eq!(logged(r#""a secret""#), "string");
    assert!(logged(&"1".repeat(1000)).len() < 30);
}

#[test]
fn a_line_has_no_character_that_steers_or_hides_others() {
    let hidden: String = ('\0'..=char::MAX).filter(|it| is_hidden(*it)).collect();
    let mut line = String::from("\"");
    JsonStringEscaper(&mut line).write_str(&hidden).unwrap();
    line.push('"');
    assert!(!line.contains(is_hidden), "{line:?}");
    assert_eq!(serde_json::from_str::<String>(&line).unwrap(), hidden);
}
