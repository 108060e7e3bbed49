//! The suite's scenarios over stdio, which the suite itself does not speak. Both eras run on one
//! server at once, and every line is checked against the published schemas.

use std::io::{self, BufRead, BufReader, PipeWriter, Write};

use crossbeam_channel::{Receiver, never, unbounded};
use serde_json::{Map, Value, json};

use super::*;
use crate::mcp::published::Witness;
use crate::server::spawn;

mod scenarios;

use Era::{Legacy, Modern};
use scenarios::SCENARIOS;

/// Timeout, longer than any test should take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Numbers of the suite's scenarios that each revision requires, and the names of those only HTTP
/// has. The latter are about several streams, and the host in a request's head.
const REQUIRED: [(Era, usize); 2] = [(Legacy, 30), (Modern, 37)];
const HTTP_ONLY: [&str; 2] = ["server-sse-multiple-streams", "dns-rebinding-protection"];

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Legacy,
    Modern,
}

/// A scenario of the suite, under its name there.
struct Scenario {
    name: &'static str,
    eras: &'static [Era],
    play: fn(&mut Peer),
}

/// A client of a server on pipes, of either era by turns.
struct Peer {
    era: Era,
    /// The capabilities that it declares in the modern era.
    can: Value,
    input: PipeWriter,
    lines: Receiver<String>,
    witness: Witness,
    /// Notifications since the last request was sent.
    told: Vec<Value>,
    /// Requests of the server since then, all answered.
    asked: Vec<Value>,
    n_sent: usize,
}

impl Peer {
    /// Returns a client that has sent nothing.
    fn new() -> Peer {
        let (stdin, input) = io::pipe().unwrap();
        let (output, stdout) = io::pipe().unwrap();
        spawn("server", move || {
            let server = server(Duration::ZERO);
            stdio::serve_stdio(&server, &Clock::System, Vec::new(), stdin, stdout, &never())
                .unwrap()
        })
        .unwrap();
        let (sender, lines) = unbounded();
        spawn("client", move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|it| sender.send(it))
        })
        .unwrap();
        let can = json!({"elicitation": {}, "sampling": {}, "roots": {}});
        let (witness, told, asked) = (Witness::default(), Vec::new(), Vec::new());
        Peer { era: Modern, can, input, lines, witness, told, asked, n_sent: 0 }
    }

    /// Returns a client after the handshake.
    fn greeted() -> (Peer, Value) {
        let mut peer = Peer::new();
        peer.era = Legacy;
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": peer.can,
            "clientInfo": {"name": "twin", "version": "1"},
        });
        let greeting = peer.result("initialize", hello);
        peer.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (peer, greeting)
    }

    fn send(&mut self, message: &Value) {
        let line = message.to_string();
        self.witness.sent(line.as_bytes());
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Sends a request in the peer's era; returns its id.
    fn request(&mut self, method: &str, mut params: Value) -> Value {
        if self.era == Modern {
            let mut meta = params["_meta"].as_object().cloned().unwrap_or_default();
            meta.extend(self.meta());
            params["_meta"] = meta.into();
        }
        self.request_as_is(method, params)
    }

    /// Returns the metadata of every modern request.
    fn meta(&self) -> Map<String, Value> {
        let members = [
            (VERSION, json!("2026-07-28")),
            (CLIENT, json!({"name": "twin", "version": "1"})),
            (CAPABILITIES, self.can.clone()),
        ];
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn request_as_is(&mut self, method: &str, params: Value) -> Value {
        self.n_sent += 1;
        let id = json!(format!("twin-{}", self.n_sent));
        (self.told, self.asked) = (Vec::new(), Vec::new());
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Returns the next line of the server, checked against the schemas.
    #[track_caller]
    fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(TIMEOUT).expect("a line should have come");
        let message = serde_json::from_str(&line).unwrap();
        self.witness.came(&message);
        message
    }

    /// Returns the reply to a request, and answers the server's requests meanwhile.
    #[track_caller]
    fn reply(&mut self, id: &Value) -> Value {
        loop {
            let message = self.next();
            match (message.get("method"), message.get("id")) {
                (Some(_), Some(question)) => {
                    assert_eq!(self.era, Legacy, "nobody is asked so: {message}");
                    self.send(&json!({
                        "jsonrpc": "2.0", "id": question, "result": answer(&message),
                    }));
                    self.asked.push(message);
                }
                (Some(_), None) => self.told.push(message),
                _ => {
                    assert_eq!(message["id"], *id, "{message}");
                    return message;
                }
            }
        }
    }

    #[track_caller]
    fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let reply = self.reply(&id);
        assert!(reply["error"].is_null(), "{method}: {reply}");
        reply["result"].clone()
    }

    #[track_caller]
    fn error(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let reply = self.reply(&id);
        assert!(reply["result"].is_null(), "{method}: {reply}");
        reply["error"].clone()
    }

    #[track_caller]
    fn call(&mut self, tool: &str) -> Value {
        self.result("tools/call", json!({"name": tool}))
    }

    /// Repeats a request with the answers to the questions in its results; returns all results.
    #[track_caller]
    fn rounds(&mut self, method: &str, params: &Value) -> Vec<Value> {
        let mut results = vec![self.result(method, params.clone())];
        while let Some(Value::Object(open)) = results.last().unwrap().get("inputRequests") {
            let last = results.last().unwrap();
            assert_eq!(last["resultType"], "input_required");
            assert!(results.len() < 5, "it asks for ever: {last}");
            let answers: Map<_, _> =
                open.iter().map(|(key, question)| (key.clone(), answer(question))).collect();
            let again = retry(params, &last["requestState"], answers.into());
            results.push(self.result(method, again));
        }
        results
    }
}

/// Returns the same request with answers and the state of the result.
fn retry(params: &Value, state: &Value, answers: Value) -> Value {
    let mut again = params.clone();
    again["inputResponses"] = answers;
    if !state.is_null() {
        again["requestState"] = state.clone();
    }
    again
}

/// Returns the answer of the suite's client: the proposal of a form, or some value.
#[track_caller]
fn answer(question: &Value) -> Value {
    let filled = |schema: &Value| match schema["type"].as_str() {
        _ if !schema["default"].is_null() => schema["default"].clone(),
        Some("boolean") => true.into(),
        Some("array") => json!([]),
        _ if schema["enum"].is_array() => schema["enum"][0].clone(),
        _ if schema["oneOf"].is_array() => schema["oneOf"][0]["const"].clone(),
        _ => "Alice".into(),
    };
    match question["method"].as_str() {
        Some("elicitation/create") => {
            let properties = question["params"]["requestedSchema"]["properties"].as_object();
            let content: Map<_, _> =
                properties.unwrap().iter().map(|it| (it.0.clone(), filled(it.1))).collect();
            json!({"action": "accept", "content": content})
        }
        Some("sampling/createMessage") => json!({
            "role": "assistant",
            "content": {"type": "text", "text": "The capital of France is Paris."},
            "model": "test-model",
            "stopReason": "endTurn",
        }),
        Some("roots/list") => json!({"roots": [{"uri": "file:///test/root", "name": "Test Root"}]}),
        _ => panic!("no client answers {question}"),
    }
}

#[test]
fn every_scenario_holds_in_both_eras_on_one_connection() {
    let (mut peer, _) = Peer::greeted();
    for scenario in SCENARIOS {
        for era in scenario.eras {
            // The harness prints it when an assertion fails.
            eprintln!("{} {era:?}", scenario.name);
            peer.era = *era;
            (scenario.play)(&mut peer);
        }
    }
}

#[test]
fn every_scenario_that_is_required_is_played() {
    for (era, n) in REQUIRED {
        let names = SCENARIOS.iter().filter(|it| it.eras.contains(&era)).map(|it| it.name);
        let scored = names.filter(|it| *it != "json-schema-2020-12");
        assert_eq!(scored.count() + HTTP_ONLY.len(), n, "{era:?}");
    }
    let n_twice = SCENARIOS.iter().filter(|it| HTTP_ONLY.contains(&it.name)).count();
    assert_eq!(n_twice, 0);
}

#[test]
fn requests_of_both_eras_may_be_under_way_at_once() {
    let (mut peer, _) = Peer::greeted();
    let requests = [
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "test_tool_with_progress", "_meta": {"progressToken": 1}})),
        ("tools/call", json!({"name": "test_input_required_result_elicitation"})),
        ("resources/read", json!({"uri": "test://static-binary"})),
        ("prompts/get", json!({"name": "test_prompt_with_image"})),
        ("tools/call", json!({"name": "test_error_handling"})),
    ];
    let mut open = Vec::new();
    for (method, params) in requests.iter().cycle().take(2 * requests.len()) {
        for era in [Legacy, Modern] {
            peer.era = era;
            open.push((peer.request(method, params.clone()), era));
        }
    }
    let mut n_questions = 0;
    while !open.is_empty() {
        let message = peer.next();
        if message["method"] == "elicitation/create" {
            let id = &message["id"];
            peer.send(&json!({"jsonrpc": "2.0", "id": id, "result": answer(&message)}));
            n_questions += 1;
        } else if message.get("method").is_none() {
            let at = open.iter().position(|it| it.0 == message["id"]).expect("asked once");
            let (_, era) = open.swap_remove(at);
            let is_modern = message["result"].get("resultType").is_some();
            assert_eq!(is_modern, era == Modern, "{message}");
        }
    }
    assert_eq!(n_questions, 2, "only a session is asked by requests");
}
