//! Tests for requests to the client, in both eras.

use crossbeam_channel::Receiver;
use expect_test::expect;

use super::*;

const ASK: &str = "ask";

fn capabilities(names: &[&str]) -> Value {
    Value::Object(names.iter().map(|it| ((*it).to_owned(), json!({}))).collect())
}

/// Returns a modern call of `ask`, with the members of a retry.
fn call(capabilities: &Value, retry: Value) -> Value {
    let mut asked = modern_request("tools/call", json!({"name": ASK}));
    asked["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    let extra = retry.as_object().unwrap().clone();
    asked["params"].as_object_mut().unwrap().extend(extra);
    asked
}

fn accept(name: &str, value: &str) -> Value {
    json!({"action": "accept", "content": {name: value}})
}

#[test]
fn a_modern_call_ends_with_its_requests_and_is_retried_with_the_answers() {
    let (server, _ends) = server_testing::server();
    let mut connection = connection();
    let capabilities = capabilities(&["elicitation", "sampling", "roots"]);
    let mut respond =
        |retry: Value| ask(&server, &mut connection, call(&capabilities, retry))["result"].clone();
    let first = respond(json!({}));
    assert_eq!(first["resultType"], "input_required");
    expect![[r#"
        {"first":{"method":"elicitation/create","params":{"message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}}
    "#]].assert_eq(&format!("{}\n", first["inputRequests"]));
    // The state carries the first answer to the third round.
    let second = respond(json!({
        "inputResponses": {"first": accept("name", "Ann"), "other": 7},
        "requestState": first["requestState"],
    }));
    assert_eq!(names(&second["inputRequests"]), ["second"]);
    assert_ne!(first["requestState"], second["requestState"]);
    let third = respond(json!({
        "inputResponses": {"second": {"action": "decline"}},
        "requestState": second["requestState"],
    }));
    assert_eq!(names(&third["inputRequests"]), ["fourth", "third"]);
    let answers = json!({
        "third": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}},
        "fourth": {"roots": [{"uri": "file:///a"}]},
    });
    let last = respond(json!({"inputResponses": answers, "requestState": third["requestState"]}));
    assert_eq!(last["resultType"], "complete");
    let shown = last["content"][0]["text"].as_str().unwrap();
    assert_eq!(shown, r#"name "Ann"; color Declined; "hi" "file:///a""#);
}

#[test]
fn an_answer_that_makes_no_sense_is_asked_for_again() {
    let (server, _ends) = server_testing::server();
    let capabilities = capabilities(&["elicitation"]);
    let nonsense = [
        json!(12345),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"name": 7}}),
        json!({"action": "accept", "content": {"color": "red"}}),
        json!({"action": "maybe"}),
    ];
    for answer in nonsense {
        let retry = json!({"inputResponses": {"first": answer}});
        let reply = ask(&server, &mut connection(), call(&capabilities, retry));
        assert_eq!(names(&reply["result"]["inputRequests"]), ["first"], "{answer}");
    }
    for malformed in [json!(null), json!([]), json!("first")] {
        let retry = json!({"inputResponses": malformed});
        let reply = ask(&server, &mut connection(), call(&capabilities, retry));
        assert_eq!(reply["error"]["code"], RpcError::INVALID_PARAMS, "{malformed}");
    }
}

#[test]
fn state_that_was_changed_or_belongs_elsewhere_is_refused() {
    let (server, _ends) = server_testing::server();
    let mut connection = connection();
    let capabilities = capabilities(&["elicitation"]);
    let first = ask(&server, &mut connection, call(&capabilities, json!({})));
    let signed = first["result"]["requestState"].as_str().unwrap().to_owned();
    let bad = |state: Value| {
        let mut connection = Connection::new("b");
        let asked = call(&capabilities, json!({"requestState": state}));
        ask(&server, &mut connection, asked)["error"]["code"] == RpcError::INVALID_PARAMS
    };
    assert!(!bad(json!(signed)));
    assert!(bad(json!(format!("{signed}-TAMPERED"))));
    assert!(bad(json!("")) && bad(json!("ä".repeat(40))) && bad(json!(7)) && bad(json!(null)));
    assert!(bad(json!(signed.replacen('{', "{ ", 1))));
    let flipped = if signed.starts_with('0') { "1" } else { "0" };
    assert!(bad(json!(format!("{flipped}{}", &signed[1..]))));
    // Another request, another process.
    let mut other = call(&capabilities, json!({"requestState": signed}));
    other["params"]["name"] = "steps".into();
    assert_eq!(ask(&server, &mut connection, other)["error"]["code"], RpcError::INVALID_PARAMS);
    let (server, _ends) = server_testing::server();
    let asked = call(&capabilities, json!({"requestState": signed}));
    assert_eq!(ask(&server, &mut connection, asked)["error"]["code"], RpcError::INVALID_PARAMS);
}

#[test]
fn a_client_is_asked_only_for_what_it_can() {
    let (server, _ends) = server_testing::server();
    let reply = ask(&server, &mut connection(), call(&capabilities(&["sampling"]), json!({})));
    let shown = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(shown, "name Unsupported; color Unsupported; ");
    let url = json!({"elicitation": {"url": {}}});
    assert_eq!(ask(&server, &mut connection(), call(&url, json!({})))["result"], reply["result"]);
    // A missing capability is an error of the era's form.
    let asked = modern_request("tools/call", json!({"name": "sample"}));
    let reply = ask(&server, &mut connection(), asked);
    expect![[r#"
        {"code":-32021,"message":"this needs a client with the capability `sampling`","data":{"requiredCapabilities":{"sampling":{}}}}
    "#]].assert_eq(&format!("{}\n", reply["error"]));
    let mut legacy = connection();
    ask(&server, &mut legacy, request("initialize", json!({"capabilities": {"roots": {}}})));
    let reply = ask(&server, &mut legacy, request("tools/call", json!({"name": "sample"})));
    assert_eq!(reply["result"]["isError"], true);
}

#[test]
fn a_prompt_asks_as_a_tool_does() {
    let (server, _ends) = server_testing::server();
    let mut asked = modern_request("prompts/get", json!({"name": "asking"}));
    asked["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        capabilities(&["elicitation"]);
    let mut connection = connection();
    let first = ask(&server, &mut connection, asked.clone());
    assert_eq!(names(&first["result"]["inputRequests"]), ["first"]);
    let cancel = json!({"action": "cancel"});
    asked["params"]["inputResponses"] = json!({"first": cancel, "second": cancel});
    let last = ask(&server, &mut connection, asked);
    let shown = last["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert_eq!(shown, "name Cancelled; color Cancelled; ");
}

/// A legacy client in the middle of a call: the question to it, and the line of the reply.
struct Talk {
    connection: Connection,
    server: Arc<Server<server_testing::TestHandler>>,
    lines: Receiver<OutgoingRpcMessageLine>,
    reply: Receiver<Option<OutgoingRpcMessageLine>>,
}

impl Talk {
    fn start() -> Talk {
        let (server, _ends) = server_testing::server();
        let mut connection = connection();
        let hello = json!({"capabilities": {"elicitation": {}}});
        ask(&server, &mut connection, request("initialize", hello));
        let (sender, lines) = unbounded();
        let asked = request("tools/call", json!({"name": ASK})).to_string();
        let frame = parse_frame(asked.as_bytes()).unwrap();
        let TransportAction::Run(job) =
            connection.accept_frame(&server, frame, &Outbox::new(sender))
        else {
            panic!("not a call")
        };
        let (sender, reply) = unbounded();
        let handler = Arc::clone(&server);
        crate::server::spawn("call", move || sender.send(handler.run(*job))).unwrap();
        Talk { connection, server, lines, reply }
    }

    #[track_caller]
    fn received(&self) -> Value {
        let line = self.lines.recv_timeout(TIMEOUT).expect("it should have asked");
        let message = serde_json::from_str(&line.text).unwrap();
        published::check(None, &message);
        message
    }

    fn respond(&mut self, mut response: Value) {
        response["jsonrpc"] = "2.0".into();
        let frame = parse_frame(response.to_string().as_bytes()).unwrap();
        let step = self.connection.accept_frame(&self.server, frame, &nowhere());
        assert!(matches!(step, TransportAction::NoReply));
    }

    #[track_caller]
    fn text(&self) -> String {
        let line = self.reply.recv_timeout(TIMEOUT).expect("the call should have ended");
        let reply: Value = serde_json::from_str(&line.unwrap().text).unwrap();
        reply["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

#[test]
fn a_legacy_call_asks_and_waits() {
    let mut talk = Talk::start();
    let question = talk.received();
    assert_eq!(question["method"], "elicitation/create");
    // Responses without a question are ignored.
    talk.respond(json!({"id": 77, "result": {}}));
    talk.respond(json!({"id": "1", "result": {}}));
    talk.respond(json!({"id": question["id"], "result": accept("name", "Ann")}));
    let question = talk.received();
    talk.respond(json!({"id": question["id"], "error": {"code": -1, "message": "no"}}));
    assert_eq!(talk.text(), "name \"Ann\"; color Cancelled; ");
    talk.respond(json!({"id": question["id"], "result": {}}));
}

#[test]
fn a_client_that_has_gone_answers_nothing() {
    let talk = Talk::start();
    let _question = talk.received();
    talk.connection.stop_asking();
    assert_eq!(talk.text(), "name Cancelled; color Cancelled; ");
    // A cancelled call gets no reply, and stops waiting.
    let mut talk = Talk::start();
    let question = talk.received();
    let frame = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    talk.connection.accept_frame(&talk.server, parse_frame(frame.as_bytes()).unwrap(), &nowhere());
    assert!(talk.reply.recv_timeout(TIMEOUT).unwrap().is_none());
    let cancelled = talk.received();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    talk.respond(json!({"id": question["id"], "result": {}}));
}
