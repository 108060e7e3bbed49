//! The scenarios of the suite: requests, and assertions about the answers.

use super::*;

mod required;
mod stateless;

const BOTH: &[Era] = &[Legacy, Modern];
const OLD: &[Era] = &[Legacy];
const NEW: &[Era] = &[Modern];

const fn row(name: &'static str, eras: &'static [Era], play: fn(&mut Peer)) -> Scenario {
    Scenario { name, eras, play }
}

pub(super) const SCENARIOS: &[Scenario] = &[
    row("server-initialize", OLD, |_| {
        let (_, greeting) = Peer::greeted();
        assert_eq!(greeting["protocolVersion"], "2025-11-25");
        assert_eq!(greeting["serverInfo"]["name"], "remindb-conformance");
    }),
    row("server-stateless", NEW, stateless::play),
    row("logging-set-level", OLD, |peer| {
        assert_eq!(peer.result("logging/setLevel", json!({"level": "info"})), json!({}));
    }),
    row("ping", OLD, |peer| assert_eq!(peer.result("ping", json!({})), json!({}))),
    row("completion-complete", BOTH, |peer| {
        let subject = json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"});
        let argument = json!({"name": "arg1", "value": "test"});
        let asked = json!({"ref": subject, "argument": argument});
        let found = peer.result("completion/complete", asked);
        assert_eq!(found["completion"]["values"], json!(["test value 1", "test value 2"]));
    }),
    row("tools-list", BOTH, |peer| {
        let [first, second, third] = [(); 3].map(|()| rows(peer, "tools"));
        assert!(first == second && second == third, "the order changes");
        assert!(first.len() >= 27 && first.iter().all(|it| it["inputSchema"]["type"] == "object"));
        let is_plain = |it: char| it.is_ascii_alphanumeric() || "_.-".contains(it);
        assert!(first.iter().all(|it| it["name"].as_str().unwrap().chars().all(is_plain)));
    }),
    row("tools-call-simple-text", BOTH, |peer| {
        let result = peer.call("test_simple_text");
        assert_eq!(text_of(&result), "This is a simple text response for testing.");
    }),
    row("tools-call-image", BOTH, |peer| {
        let result = peer.call("test_image_content");
        assert_eq!(result["content"][0]["type"], "image");
        assert_eq!(result["content"][0]["mimeType"], "image/png");
    }),
    row("tools-call-audio", BOTH, |peer| {
        let result = peer.call("test_audio_content");
        assert_eq!(result["content"][0]["type"], "audio");
        assert_eq!(result["content"][0]["mimeType"], "audio/wav");
    }),
    row("tools-call-embedded-resource", BOTH, |peer| {
        let result = peer.call("test_embedded_resource");
        let resource = json!({
            "uri": "test://embedded-resource",
            "mimeType": "text/plain",
            "text": "This is an embedded resource content.",
        });
        assert_eq!(result["content"], json!([{"type": "resource", "resource": resource}]));
    }),
    row("tools-call-mixed-content", BOTH, |peer| {
        let result = peer.call("test_multiple_content_types");
        assert_eq!(kinds_of(&result["content"]), ["text", "image", "resource"]);
    }),
    row("tools-call-with-logging", OLD, |peer| {
        peer.result("logging/setLevel", json!({"level": "debug"}));
        peer.call("test_tool_with_logging");
        let told: Vec<_> = peer.told.iter().map(|it| &it["params"]["data"]).collect();
        let wanted = ["Tool execution started", "Tool processing data", "Tool execution completed"];
        assert_eq!(told, wanted);
        assert!(peer.told.iter().all(|it| it["method"] == "notifications/message"));
    }),
    row("tools-call-error", BOTH, |peer| {
        let result = peer.call("test_error_handling");
        assert_eq!(result["isError"], true);
        assert_eq!(text_of(&result), "This tool intentionally returns an error for testing");
    }),
    row("tools-call-with-progress", BOTH, |peer| {
        let meta = json!({"progressToken": "progress-test-1"});
        let asked = json!({"name": "test_tool_with_progress", "_meta": meta});
        peer.result("tools/call", asked);
        let told = peer.told.iter().filter(|it| it["method"] == "notifications/progress");
        let params: Vec<_> = told.map(|it| &it["params"]).collect();
        assert!(params.iter().all(|it| it["progressToken"] == "progress-test-1"));
        let done: Vec<_> = params.iter().map(|it| &it["progress"]).collect();
        assert_eq!(done, [0, 50, 100]);
    }),
    row("tools-call-sampling", OLD, |peer| {
        let arguments = json!({"prompt": "Say something."});
        let asked = json!({"name": "test_sampling", "arguments": arguments});
        let result = peer.result("tools/call", asked);
        assert_eq!(text_of(&result), "LLM response: The capital of France is Paris.");
        let content = &peer.asked[0]["params"]["messages"][0]["content"];
        assert_eq!(content["text"], "Say something.");
    }),
    row("tools-call-elicitation", OLD, |peer| {
        let arguments = json!({"message": "Who are you?"});
        let asked = json!({"name": "test_elicitation", "arguments": arguments});
        let result = peer.result("tools/call", asked);
        assert!(text_of(&result).starts_with("User response: action=accept, content={"));
        assert_eq!(peer.asked[0]["params"]["message"], "Who are you?");
        let schema = &peer.asked[0]["params"]["requestedSchema"];
        assert_eq!(schema["required"], json!(["username", "email"]));
    }),
    row("elicitation-sep1034-defaults", OLD, |peer| {
        let result = peer.call("test_elicitation_sep1034_defaults");
        let taken =
            r#"{"name":"John Doe","age":30,"score":95.5,"status":"active","verified":true}"#;
        let wanted = format!("Elicitation completed: action=accept, content={taken}");
        assert_eq!(text_of(&result), wanted);
    }),
    row("elicitation-sep1330-enums", OLD, required::choices),
    row("resources-list", BOTH, |peer| {
        let found = rows(peer, "resources");
        let uris: Vec<_> = found.iter().map(|it| &it["uri"]).collect();
        let wanted = ["test://static-text", "test://static-binary", "test://watched-resource"];
        assert_eq!(uris, wanted);
    }),
    row("resources-read-text", BOTH, |peer| {
        let read = peer.result("resources/read", json!({"uri": "test://static-text"}));
        let text = "This is the content of the static text resource.";
        assert_eq!(read["contents"][0]["text"], text);
    }),
    row("resources-read-binary", BOTH, |peer| {
        let read = peer.result("resources/read", json!({"uri": "test://static-binary"}));
        assert_eq!(read["contents"][0]["mimeType"], "image/png");
        assert_eq!(read["contents"][0]["blob"], super::super::fixture_tools::PNG);
    }),
    row("resources-templates-read", BOTH, |peer| {
        let uri = "test://template/123/data";
        let read = peer.result("resources/read", json!({"uri": uri}));
        let text = r#"{"id":"123","templateTest":true,"data":"Data for ID: 123"}"#;
        let wanted = json!([{"uri": uri, "mimeType": "application/json", "text": text}]);
        assert_eq!(read["contents"], wanted);
    }),
    row("sep-2164-resource-not-found", NEW, |peer| {
        let uri = "test://nonexistent-resource-for-conformance-testing";
        let error = peer.error("resources/read", json!({"uri": uri}));
        assert_eq!(error["code"], -32602);
        assert_eq!(error["data"]["uri"], uri);
    }),
    row("resources-subscribe", OLD, |peer| {
        let watched = json!({"uri": "test://watched-resource"});
        assert_eq!(peer.result("resources/subscribe", watched), json!({}));
    }),
    row("resources-unsubscribe", OLD, |peer| {
        let watched = json!({"uri": "test://watched-resource"});
        assert_eq!(peer.result("resources/subscribe", watched.clone()), json!({}));
        assert_eq!(peer.result("resources/unsubscribe", watched), json!({}));
    }),
    row("prompts-list", BOTH, |peer| assert_eq!(rows(peer, "prompts").len(), 5)),
    row("prompts-get-simple", BOTH, |peer| {
        let got = peer.result("prompts/get", json!({"name": "test_simple_prompt"}));
        let text = "This is a simple prompt for testing.";
        let content = json!({"type": "text", "text": text});
        assert_eq!(got["messages"], json!([{"role": "user", "content": content}]));
    }),
    row("prompts-get-with-args", BOTH, |peer| {
        let arguments = json!({"arg1": "hello", "arg2": "world"});
        let asked = json!({"name": "test_prompt_with_arguments", "arguments": arguments});
        let got = peer.result("prompts/get", asked);
        let text = "Prompt with arguments: arg1='hello', arg2='world'";
        assert_eq!(got["messages"][0]["content"]["text"], text);
    }),
    row("prompts-get-embedded-resource", BOTH, |peer| {
        let arguments = json!({"resourceUri": "test://example-resource"});
        let asked = json!({"name": "test_prompt_with_embedded_resource", "arguments": arguments});
        let got = peer.result("prompts/get", asked);
        assert_eq!(got["messages"][0]["content"]["resource"]["uri"], "test://example-resource");
        assert_eq!(got["messages"][1]["content"]["type"], "text");
    }),
    row("prompts-get-with-image", BOTH, |peer| {
        let got = peer.result("prompts/get", json!({"name": "test_prompt_with_image"}));
        assert_eq!(got["messages"][0]["content"]["mimeType"], "image/png");
        assert_eq!(got["messages"][1]["content"]["type"], "text");
    }),
    row("caching", NEW, |peer| {
        let lists = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];
        for method in lists.into_iter().chain(["resources/read"]) {
            let result = peer.result(method, json!({"uri": "test://static-text"}));
            assert!(result["ttlMs"].is_u64(), "{method}: {result}");
            assert!(["public", "private"].contains(&result["cacheScope"].as_str().unwrap()));
        }
    }),
    row("input-required-result-basic-elicitation", NEW, |peer| {
        let rounds = required::called(peer, "test_input_required_result_elicitation");
        assert_eq!(rounds, [&["user_name"][..], &[]]);
    }),
    row("input-required-result-basic-sampling", NEW, |peer| {
        let rounds = required::called(peer, "test_input_required_result_sampling");
        assert_eq!(rounds, [&["capital_question"][..], &[]]);
    }),
    row("input-required-result-basic-list-roots", NEW, |peer| {
        let rounds = required::called(peer, "test_input_required_result_list_roots");
        assert_eq!(rounds, [&["client_roots"][..], &[]]);
    }),
    row("input-required-result-request-state", NEW, required::state),
    row("input-required-result-multiple-input-requests", NEW, |peer| {
        let rounds = required::called(peer, "test_input_required_result_multiple_inputs");
        assert_eq!(rounds, [&["client_roots", "greeting", "user_name"][..], &[]]);
    }),
    row("input-required-result-multi-round", NEW, |peer| {
        let rounds = required::called(peer, "test_input_required_result_multi_round");
        assert_eq!(rounds, [&["step1"][..], &["step2"], &[]]);
    }),
    row("input-required-result-missing-input-response", NEW, |peer| {
        let reply = required::answered(peer, json!({"wrong_key": {"action": "accept"}}));
        assert_eq!(reply["result"]["resultType"], "input_required");
    }),
    row("input-required-result-non-tool-request", NEW, |peer| {
        let asked = json!({"name": "test_input_required_result_prompt"});
        let rounds = peer.rounds("prompts/get", &asked);
        assert_eq!(rounds[0]["inputRequests"]["user_context"]["method"], "elicitation/create");
        let text = &rounds[1]["messages"][0]["content"]["text"];
        assert_eq!(text, "Use this context: Alice");
    }),
    row("input-required-result-result-type", NEW, |peer| {
        let asked = peer.call("test_input_required_result_elicitation");
        assert_eq!(asked["resultType"], "input_required");
    }),
    row("input-required-result-unsupported-methods", NEW, |peer| {
        for method in ["tools/list", "prompts/list"] {
            assert_eq!(peer.result(method, json!({}))["resultType"], "complete");
        }
    }),
    row("input-required-result-tampered-state", NEW, required::tampered),
    row("input-required-result-capability-check", NEW, required::capabilities),
    row("input-required-result-ignore-extra-params", NEW, |peer| {
        let answer = json!({"action": "accept", "content": {"name": "Alice"}});
        let answers = json!({"user_name": answer, "unexpected": {"action": "accept"}});
        let reply = required::answered(peer, answers);
        assert_eq!(text_of(&reply["result"]), "Hello, Alice!");
    }),
    row("input-required-result-validate-input", NEW, |peer| {
        for nonsense in [json!({"user_name": 12345}), Value::Null] {
            let reply = required::answered(peer, nonsense);
            let is_refused = !reply["error"].is_null();
            assert!(is_refused || reply["result"]["resultType"] == "input_required", "{reply}");
        }
    }),
    row("json-schema-2020-12", BOTH, required::dialect),
];

fn rows(peer: &mut Peer, kind: &str) -> Vec<Value> {
    let mut result = peer.result(&format!("{kind}/list"), json!({}));
    let Value::Array(rows) = result[kind].take() else { panic!("no list: {result}") };
    assert!(rows.iter().all(|it| it["name"].is_string() && it["description"].is_string()));
    rows
}

fn text_of(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn kinds_of(content: &Value) -> Vec<&str> {
    content.as_array().unwrap().iter().map(|it| it["type"].as_str().unwrap()).collect()
}
