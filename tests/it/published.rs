//! Checks every message of the server against the protocol's published schemas.
//!
//! Only the keywords that the schemas use are known; any other fails the test, so that nothing is
//! skipped. An error for a line without a readable id has the id null, and a fraction comes back as
//! the id that it was, as JSON-RPC requires; the schemas provide for neither.

use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Value, json};

/// The requests sent on one connection, by their ids.
#[derive(Default)]
pub(crate) struct Witness(HashMap<String, Value>);

impl Witness {
    /// Notes a line to the server.
    pub(crate) fn sent(&mut self, line: &[u8]) {
        if let Ok(message) = serde_json::from_slice::<Value>(line) {
            self.0.insert(message["id"].to_string(), message);
        }
    }

    /// Checks a line of the server against the schema of its era.
    #[track_caller]
    pub(crate) fn came(&self, message: &Value) {
        check(self.0.get(&message["id"].to_string()), message);
    }
}

/// Checks a message of the server, in reply to `request` if it is one, against the schema.
#[track_caller]
pub(crate) fn check(request: Option<&Value>, message: &Value) {
    let method = |it: &Value| it["method"].as_str().map(str::to_owned);
    let is_modern = request.is_some_and(|it| {
        let meta = &it["params"]["_meta"];
        meta.get("io.modelcontextprotocol/protocolVersion").is_some()
    });
    let schema = if is_modern { modern() } else { legacy() };
    let mut message = message.clone();
    if message["id"].as_f64().is_some_and(|it| it.fract() != 0.0) {
        message["id"] = 0.into();
    }
    let message = &message;
    let mut problems = Vec::new();
    match method(message) {
        Some(name) => {
            let definition = definition_of(&name);
            let definition = definition.unwrap_or_else(|| panic!("unknown: {message}"));
            let is_there = schema["$defs"].get(definition).is_some();
            let schema = if is_there { schema } else { modern() };
            fits(schema, &reference(definition), message, "", &mut problems);
        }
        None if message.get("error").is_some() => {
            let definition = match message["error"]["code"].as_i64() {
                Some(-32020) => "HeaderMismatchError",
                Some(-32021) => "MissingRequiredClientCapabilityError",
                Some(-32022) => "UnsupportedProtocolVersionError",
                _ => "JSONRPCErrorResponse",
            };
            let schema = if definition.starts_with("JSONRPC") { schema } else { modern() };
            let mut message = message.clone();
            if message["id"].is_null() {
                message.as_object_mut().unwrap().remove("id");
            }
            fits(schema, &reference(definition), &message, "", &mut problems);
        }
        None => {
            let result = &message["result"];
            let asked = request.and_then(method).unwrap_or_default();
            let definition = match result["resultType"].as_str() {
                Some("input_required") => "InputRequiredResult",
                _ => result_of(&asked),
            };
            if definition == "InputRequiredResult" {
                let is_allowed = ["tools/call", "prompts/get", "resources/read"].contains(&&*asked);
                assert!(is_allowed, "{asked} must not ask: {message}");
            }
            fits(schema, &reference("JSONRPCResultResponse"), message, "", &mut problems);
            fits(schema, &reference(definition), result, "/result", &mut problems);
        }
    }
    assert!(problems.is_empty(), "{}\nin {message}", problems.join("\n"));
}

fn definition_of(method: &str) -> Option<&'static str> {
    Some(match method {
        "elicitation/create" => "ElicitRequest",
        "sampling/createMessage" => "CreateMessageRequest",
        "roots/list" => "ListRootsRequest",
        "notifications/cancelled" => "CancelledNotification",
        "notifications/message" => "LoggingMessageNotification",
        "notifications/progress" => "ProgressNotification",
        "notifications/resources/updated" => "ResourceUpdatedNotification",
        "notifications/subscriptions/acknowledged" => "SubscriptionsAcknowledgedNotification",
        _ => return None,
    })
}

fn result_of(method: &str) -> &'static str {
    match method {
        "initialize" => "InitializeResult",
        "server/discover" => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        "completion/complete" => "CompleteResult",
        "subscriptions/listen" => "SubscriptionsListenResult",
        _ => "Result",
    }
}

fn legacy() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| load("schema-2025-11-25.json"))
}

fn modern() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| load("schema-2026-07-28.json"))
}

fn load(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/mcp");
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

fn reference(definition: &str) -> Value {
    json!({"$ref": format!("#/$defs/{definition}")})
}

/// Adds to `problems` the reasons why `value` does not fit `rule`.
fn fits(schema: &Value, rule: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
    let mut complain = |what: String| problems.push(format!("{at}: {what}"));
    let mut deeper: Vec<(&Value, &Value, String)> = Vec::new();
    for (keyword, wanted) in rule.as_object().unwrap() {
        match keyword.as_str() {
            "description" | "format" => (),
            "$ref" => {
                let pointer = wanted.as_str().unwrap().trim_start_matches('#');
                let target = schema.pointer(pointer);
                let target = target.unwrap_or_else(|| panic!("no definition {pointer}"));
                deeper.push((target, value, at.to_owned()));
            }
            "type" => {
                let kinds = wanted.as_array().cloned().unwrap_or_else(|| vec![wanted.clone()]);
                if !kinds.iter().any(|kind| is_kind(kind.as_str().unwrap(), value)) {
                    complain(format!("is no {wanted}: {value}"));
                }
            }
            "const" if wanted != value => complain(format!("is {value}, not {wanted}")),
            "enum" if !wanted.as_array().unwrap().contains(value) => {
                complain(format!("is {value}, none of {wanted}"));
            }
            "const" | "enum" => (),
            "required" => {
                for name in wanted.as_array().unwrap() {
                    if value.is_object() && value.get(name.as_str().unwrap()).is_none() {
                        complain(format!("lacks {name}"));
                    }
                }
            }
            "properties" => {
                for (name, rule) in wanted.as_object().unwrap() {
                    let member = value.get(name);
                    deeper.extend(member.map(|it| (rule, it, format!("{at}/{name}"))));
                }
            }
            "additionalProperties" => {
                let members = value.as_object().into_iter().flatten();
                for (name, member) in members.filter(|it| rule["properties"].get(it.0).is_none()) {
                    match wanted {
                        Value::Bool(true) => (),
                        Value::Bool(false) => complain(format!("has {name}")),
                        rule => deeper.push((rule, member, format!("{at}/{name}"))),
                    }
                }
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                deeper.extend(items.map(|(idx, it)| (wanted, it, format!("{at}/{idx}"))));
            }
            "maxItems" | "minimum" | "maximum" => {
                let n_items = value.as_array().map(|it| it.len() as f64);
                let size = value.as_f64().or(n_items).unwrap_or_default();
                let bound = wanted.as_f64().unwrap();
                let is_kept = if keyword == "minimum" { bound <= size } else { size <= bound };
                if !is_kept {
                    complain(format!("breaks {keyword} {wanted}: {value}"));
                }
            }
            "allOf" => {
                let rules = wanted.as_array().unwrap().iter();
                deeper.extend(rules.map(|it| (it, value, at.to_owned())));
            }
            "anyOf" => {
                let does_fit = |rule: &Value| {
                    let mut problems = Vec::new();
                    fits(schema, rule, value, at, &mut problems);
                    problems.is_empty()
                };
                if !wanted.as_array().unwrap().iter().any(does_fit) {
                    complain(format!("is none of {wanted}: {value}"));
                }
            }
            _ => panic!("the schema has an unknown keyword: {keyword}: {wanted}"),
        }
    }
    for (rule, value, at) in deeper {
        fits(schema, rule, value, &at, problems);
    }
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|it| it.fract() == 0.0),
        _ => panic!("unknown type {kind}"),
    }
}

#[test]
fn a_wrong_message_is_rejected() {
    let request = json!({"id": 1, "method": "completion/complete"});
    let reply = |total: Value, n: usize| {
        let completion = json!({"values": vec!["a"; n], "total": total});
        json!({"jsonrpc": "2.0", "id": 1, "result": {"completion": completion}})
    };
    check(Some(&request), &reply(json!(101), 100));
    let is_wrong =
        |message: Value| std::panic::catch_unwind(|| check(Some(&request), &message)).is_err();
    assert!(is_wrong(json!({"jsonrpc": "2.0", "id": 1, "result": {}})));
    assert!(is_wrong(json!({"jsonrpc": "2.0", "id": null, "result": {"completion": {}}})));
    assert!(is_wrong(json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "a", "message": ""}})));
    assert!(is_wrong(reply(json!("many"), 1)));
    assert!(is_wrong(reply(json!(1.5), 1)));
}
