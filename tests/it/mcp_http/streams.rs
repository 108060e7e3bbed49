//! Tests messages over a stream: questions to a person, updates, and the end.

use std::io::{BufRead, BufReader};

use super::*;

/// Returns the head of a request that names its method, as 2026-07-28 requires.
pub(super) fn fields(method: &str, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("Mcp-Name: {name}\r\n") };
    format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n{name}")
}

/// A response that comes event by event.
pub(super) struct Events {
    input: BufReader<TcpStream>,
    stream: TcpStream,
}

impl Events {
    #[track_caller]
    pub(super) fn open(up: &Up, method: &str, fields: &str, body: &str) -> Events {
        Events::at(up.address, method, &(up.fields.clone() + fields), body)
    }

    #[track_caller]
    pub(super) fn at(address: SocketAddr, method: &str, fields: &str, body: &str) -> Events {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let text = format!(
            "{method} /mcp HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n{fields}\r\n{body}",
            body.len(),
        );
        (&stream).write_all(text.as_bytes()).unwrap();
        let mut events = Events { input: BufReader::new(stream.try_clone().unwrap()), stream };
        assert_eq!(events.line().as_deref(), Some("HTTP/1.1 200 OK"));
        while events.line().is_some_and(|it| !it.is_empty()) {}
        events
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        self.input.read_line(&mut line).unwrap();
        line.ends_with('\n').then(|| line.trim_end().to_owned())
    }

    /// Returns the message of the next event; `None` at the end.
    pub(super) fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.line()?;
            if let Some(data) = line.strip_prefix("data: ") {
                return Some(serde_json::from_str(data).unwrap());
            }
        }
    }
}

/// Returns notes with more nodes than an agent may remove without a confirmation, and their parent.
fn crowded() -> (Folder, String) {
    let notes: String = (0..20).map(|it| format!("Paragraph {it}.\n\n")).collect();
    let folder = Folder::new().file("notes/store.md", format!("# Store\n\n{notes}"));
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let up = Up::new(&folder, &[]);
    let tree = up.tool("MemoryTree", json!({"depth": 1}));
    let id = tree.split_once("(id=").unwrap().1[..11].to_owned();
    up.end();
    (folder, id)
}

#[test]
fn a_person_is_asked_over_a_stream_and_answers_by_a_request() {
    let (folder, id) = crowded();
    let mut up = Up::new(&folder, &[]);
    let can = json!({"elicitation": {}});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": can});
    let hello = up.post("", "initialize", &hello);
    let session = hello.field("mcp-session-id").unwrap();
    up.fields = format!("Mcp-Session-Id: {session}\r\n");
    let mut forget = json!({
        "name": "MemoryForget",
        "arguments": {"node_id": id, "mode": "cascade"},
    });
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": forget});
    for (action, expected) in [
        ("decline", "the user said no; nothing was changed"),
        ("cancel", "the user was asked and did not answer; nothing was changed"),
    ] {
        let mut events = Events::open(&up, "POST", "", &call.to_string());
        let question = events.next().unwrap();
        assert_eq!(question["params"]["message"], "Forget `Store` and the 20 nodes below it?");
        // Other requests are answered meanwhile, even of the same session.
        assert_eq!(up.post("", "ping", &json!({})).status, 200);
        let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": action}});
        assert_eq!(up.send("POST", "/mcp", "", &reply.to_string()).status, 202);
        let over = events.next().unwrap();
        assert_eq!(over["id"], 7);
        assert_eq!(over["result"]["content"][0]["text"], expected);
        assert_eq!(events.next(), None);
    }
    // In the modern era the question is the result, and the answer a retry.
    up.fields = String::new();
    forget["_meta"] = modern();
    forget["_meta"]["io.modelcontextprotocol/clientCapabilities"] = can;
    let fields = fields("tools/call", "MemoryForget");
    let asked = up.post(&fields, "tools/call", &forget).json()["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    forget["requestState"] = asked["requestState"].clone();
    forget["inputResponses"] =
        json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let done = up.post(&fields, "tools/call", &forget).json()["result"].clone();
    let expected = format!("forgot node {id} (mode=cascade, 21 affected)");
    assert_eq!(done["content"][0]["text"], expected);
    up.end();
}

#[test]
fn a_session_that_ends_takes_its_open_question_with_it() {
    let (folder, id) = crowded();
    let mut up = Up::new(&folder, &[]);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}});
    let hello = up.post("", "initialize", &hello);
    up.fields = format!("Mcp-Session-Id: {}\r\n", hello.field("mcp-session-id").unwrap());
    let arguments = json!({"node_id": id, "mode": "cascade"});
    let params = json!({"name": "MemoryForget", "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    let mut events = Events::open(&up, "POST", "", &call.to_string());
    assert_eq!(events.next().unwrap()["method"], "elicitation/create");
    assert_eq!(up.send("DELETE", "/mcp", "", "").status, 204);
    while events.next().is_some() {}
    up.fields = String::new();
    assert!(up.tool("MemoryTree", json!({})).contains("Paragraph 19."), "nothing was forgotten");
    up.end();
}

#[test]
fn listeners_get_updates_and_the_end() {
    let folder = notes();
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let up = Up::new(&folder, &[]).shake_hands();
    let tree = json!({"uri": "remindb://tree"});
    assert_eq!(up.post("", "resources/subscribe", &tree).status, 200);
    let mut news = Events::open(&up, "GET", "Accept: text/event-stream\r\n", "");
    let listen = |uris: Value| {
        let wanted = json!({"resourceSubscriptions": uris});
        let params = json!({"_meta": modern(), "notifications": wanted});
        let method = "subscriptions/listen";
        let body = json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params});
        Events::at(up.address, "POST", &fields(method, ""), &body.to_string())
    };
    let mut listening = listen(json!(["remindb://tree"]));
    let acknowledged = listening.next().unwrap();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(
        acknowledged["params"]["notifications"],
        json!({"resourceSubscriptions": ["remindb://tree"]})
    );
    let mut gone = listen(json!(["remindb://tree"]));
    gone.next().unwrap();
    // Closing the stream cancels the request.
    gone.stream.shutdown(std::net::Shutdown::Both).unwrap();
    up.tool("MemoryWrite", json!({"payload": "Written here."}));
    for events in [&mut news, &mut listening] {
        let update = events.next().unwrap();
        assert_eq!(update["method"], "notifications/resources/updated");
        assert_eq!(update["params"]["uri"], "remindb://tree");
    }
    up.end();
    let farewell = listening.next().unwrap();
    assert_eq!(
        (&farewell["id"], &farewell["result"]["resultType"]),
        (&json!(5), &json!("complete"))
    );
    assert_eq!((listening.next(), news.next()), (None, None));
}

#[test]
fn resources_are_read_in_both_eras() {
    let folder = notes();
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let mut up = Up::new(&folder, &[]).shake_hands();
    let uri = "remindb://tree";
    let legacy = up.post("", "resources/read", &json!({"uri": uri})).json();
    assert_eq!(up.post("", "resources/read", &json!({"uri": "remindb://no"})).status, 200);
    up.fields = String::new();
    let read = |uri: &str, named: &str| {
        let params = json!({"_meta": modern(), "uri": uri});
        up.post(&fields("resources/read", named), "resources/read", &params)
    };
    let modern = read(uri, uri).json();
    assert_eq!(modern["result"]["contents"], legacy["result"]["contents"]);
    assert_eq!(modern["result"]["resultType"], "complete");
    assert_eq!(read("remindb://no", "remindb://no").status, 400);
    let mismatch = read(uri, "remindb://graph");
    assert_eq!((mismatch.status, &mismatch.json()["error"]["code"]), (400, &json!(-32020)));
    up.end();
}

#[test]
fn a_bomb_of_values_costs_its_text_only() {
    let folder = notes();
    let up = Up::new(&folder, &[]).shake_hands();
    let zeros = format!("[{}0]", "0,".repeat(4_000_000));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"MemoryStats","arguments":{{"a":{zeros}}}}}}}"#
    );
    for _ in 0..3 {
        let refused = up.send("POST", "/mcp", "", &body);
        assert!(refused.body.contains("more than 20000 values"), "{refused:?}");
    }
    let peak_kib = peak_kib(&up);
    assert!(peak_kib < 64 * 1024, "{peak_kib} KiB");
    up.end();
}
