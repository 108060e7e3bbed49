//! Longer scenarios: questions, and schemas that must come through unchanged.

use super::*;

/// Calls a tool until it asks no more; returns the keys that each round asked for.
pub(super) fn called(peer: &mut Peer, tool: &str) -> Vec<Vec<String>> {
    let rounds = peer.rounds("tools/call", &json!({"name": tool}));
    let last = rounds.last().unwrap();
    assert_eq!(last["resultType"], "complete");
    assert!(last["isError"].is_null() && !text_of(last).is_empty(), "{last}");
    rounds.iter().map(keys).collect()
}

fn keys(result: &Value) -> Vec<String> {
    let open = result["inputRequests"].as_object().into_iter().flatten();
    let mut keys: Vec<_> = open.map(|it| it.0.clone()).collect();
    keys.sort();
    keys
}

/// Returns the reply to `answers` to the question for a name.
pub(super) fn answered(peer: &mut Peer, answers: Value) -> Value {
    let asked = json!({"name": "test_input_required_result_elicitation"});
    let first = peer.result("tools/call", asked.clone());
    assert_eq!(keys(&first), ["user_name"]);
    let id = peer.request("tools/call", retry(&asked, &first["requestState"], answers));
    peer.reply(&id)
}

pub(super) fn state(peer: &mut Peer) {
    let asked = json!({"name": "test_input_required_result_request_state"});
    let rounds = peer.rounds("tools/call", &asked);
    assert!(rounds[0]["requestState"].is_string());
    assert!(text_of(&rounds[1]).contains("state-ok"));
}

pub(super) fn tampered(peer: &mut Peer) {
    let asked = json!({"name": "test_input_required_result_tampered_state"});
    let first = peer.result("tools/call", asked.clone());
    let state = json!(format!("{}-TAMPERED", first["requestState"].as_str().unwrap()));
    let answers = json!({"confirm": {"action": "accept", "content": {"ok": true}}});
    let error = peer.error("tools/call", retry(&asked, &state, answers));
    assert_eq!(error["code"], -32602);
}

pub(super) fn capabilities(peer: &mut Peer) {
    let all = std::mem::replace(&mut peer.can, json!({"sampling": {}}));
    let result = peer.call("test_input_required_result_capabilities");
    peer.can = all;
    let open = result["inputRequests"].as_object().unwrap();
    let methods: Vec<_> = open.values().map(|it| &it["method"]).collect();
    assert_eq!(methods, ["sampling/createMessage"]);
}

pub(super) fn choices(peer: &mut Peer) {
    peer.call("test_elicitation_sep1330_enums");
    let form = &peer.asked[0]["params"]["requestedSchema"]["properties"];
    let members = |name: &str| -> Vec<&str> {
        form[name].as_object().unwrap().keys().map(String::as_str).collect()
    };
    assert_eq!(members("untitledSingle"), ["type", "enum"]);
    assert_eq!(members("titledSingle"), ["type", "oneOf"]);
    let first = json!({"const": "value1", "title": "First Option"});
    assert_eq!(form["titledSingle"]["oneOf"][0], first);
    let legacy = &form["legacyEnum"];
    assert_eq!(legacy["enum"].as_array().unwrap().len(), 3);
    assert_eq!(legacy["enumNames"].as_array().unwrap().len(), 3);
    assert_eq!(members("untitledMulti"), ["type", "items"]);
    let items = &form["untitledMulti"]["items"];
    assert!(items["enum"].is_array() && items["anyOf"].is_null());
    let items = &form["titledMulti"]["items"];
    assert_eq!(items["anyOf"][0], json!({"const": "value1", "title": "First Choice"}));
    assert!(items["enum"].is_null());
}

pub(super) fn dialect(peer: &mut Peer) {
    let name = "json_schema_2020_12_tool";
    let tools = rows(peer, "tools");
    let schema = &tools.iter().find(|it| it["name"] == name).unwrap()["inputSchema"];
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["$defs"]["address"]["$anchor"], "addressDef");
    assert_eq!(schema["properties"]["address"]["$ref"], "#/$defs/address");
    for keyword in ["allOf", "if", "then", "else", "additionalProperties"] {
        assert!(schema.get(keyword).is_some(), "lacks {keyword}");
    }
}
