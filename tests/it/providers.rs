//! Tests providers from outside: the user's settings, a service with TLS, a server, its client.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{Client, Folder, Ran, modern};
use service::{Reply, Service};

#[allow(dead_code, reason = "other tests use the rest")]
mod service;

const KEY: &str = "sk-not-to-be-seen-8731";

/// A folder with episodes that wait.
fn waiting(n: usize) -> Folder {
    let folder = Folder::new();
    for nth in 0..n {
        let text = format!("Retry number {nth} failed.");
        folder.ok(["remember", text.as_str(), "--db", "m.db"]);
    }
    folder
}

/// Writes the user's own settings.
fn set(folder: &Folder, settings: &Value) {
    folder.write("settings/remindb/config.json", settings.to_string());
}

/// A model that makes one concept of all episodes.
fn model() -> Service {
    Service::with_tls(|seen, _| {
        let asked: Value = serde_json::from_str(&seen.body).unwrap();
        let sheet = asked["messages"][0]["content"].as_str().unwrap();
        let sheet: Value = serde_json::from_str(sheet).unwrap();
        let ids: Vec<&Value> =
            sheet["episodes"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        let concept = json!({"op": "concept", "title": "Retries fail", "summary": "All of them.",
            "from": ids});
        let text = json!({"base": sheet["base"], "operations": [concept]}).to_string();
        let answer =
            json!({"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"});
        Reply::Body(200, answer.to_string())
    })
}

/// Settings that name a service.
fn settings_of(folder: &Folder, service: &Service) -> Value {
    folder.write("ca.pem", &service.certificate);
    json!({
        "providers": {
            "completion": {"kind": "anthropic", "model": "m-1", "url": service.url(),
                "key_env": "MY_KEY", "retries": 0},
            "ca_file": folder.path("ca.pem"),
        },
        "consolidation": {"threshold": 1, "idle": "0s"},
    })
}

fn with_key(folder: &Folder, args: &[&str]) -> Ran {
    Ran::of(folder, folder.command(args).env("MY_KEY", KEY))
}

#[test]
fn a_service_consolidates_on_the_command_line() {
    let (folder, service) = (waiting(4), model());
    set(&folder, &settings_of(&folder, &service));
    let ran = with_key(&folder, &["consolidate", "--db", "m.db"]);
    assert_eq!(ran.transcript(), "4 episodes became 1 concept; 0 wait\n= 0\n");
    assert_eq!(service.seen()[0].header("x-api-key"), Some(KEY));
    let again = with_key(&folder, &["consolidate", "--db", "m.db"]);
    let few = "fewer than 3 episodes wait; `--force` hands them out\n= 0\n";
    assert_eq!(again.transcript(), few);
    assert!(folder.ok(["recall", "retries", "--db", "m.db"]).contains("Retries fail"));
    folder.ok(["undo", "--db", "m.db"]);
    let sheet = folder.ok(["consolidate", "--worksheet", "--db", "m.db"]);
    let sheet: Value = serde_json::from_str(&sheet).unwrap();
    assert_eq!(sheet["episodes"].as_array().unwrap().len(), 4);
    assert_eq!(service.seen().len(), 1, "the worksheet is asked of nobody");
    folder.assert_healthy("m.db");
}

#[test]
fn a_command_answers_the_worksheet_that_it_reads() {
    let folder = waiting(3);
    let script = "grep -q '\"episodes\"' && echo '[]'";
    let command = json!({"kind": "command", "command": ["sh", "-c", script]});
    set(&folder, &json!({"providers": {"completion": command}}));
    let report = folder.ok(["consolidate", "--json", "--db", "m.db"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["by"], &report["episodes_processed"]), (&json!("command `sh`"), &json!(3)));
}

#[test]
fn a_key_that_is_missing_is_named_and_the_worksheet_stays() {
    let (folder, service) = (waiting(3), model());
    set(&folder, &settings_of(&folder, &service));
    let ran = folder.run(["consolidate", "--db", "m.db"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("no key: `MY_KEY` is not set"), "{}", ran.stderr);
    assert!(ran.stderr.contains("--worksheet"), "{}", ran.stderr);
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    let sheet: Value = serde_json::from_str(&client.text("MemoryConsolidate", json!({}))).unwrap();
    assert_eq!(sheet["episodes"].as_array().unwrap().len(), 3);
    assert!(sheet["note"].as_str().unwrap().contains("`MY_KEY` is not set"), "{sheet}");
    client.end();
    assert_eq!(service.seen().len(), 0);
}

#[test]
fn a_server_consolidates_by_itself_and_shows_the_key_nowhere() {
    let (folder, service) = (waiting(4), model());
    set(&folder, &settings_of(&folder, &service));
    let mut command = folder.command(["serve", "--db", "m.db"]);
    let mut client = Client::of(command.env("MY_KEY", KEY)).shake_hands();
    let line = client.logged("consolidated episodes=4 left=0 by anthropic `m-1`");
    assert!(!line.contains(KEY), "{line}");
    let pid = client.pid();
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(!String::from_utf8_lossy(&arguments).contains(KEY));
    assert!(client.text("MemoryRecall", json!({"query": "retries"})).contains("Retries fail"));
    client.end();
    assert!(!holds(&folder.path("m.db"), KEY));
}

fn holds(path: &Path, text: &str) -> bool {
    fs::read(path).unwrap().windows(text.len()).any(|it| it == text.as_bytes())
}

#[test]
fn a_server_without_providers_opens_no_socket() {
    let folder = waiting(6);
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    let no_socket = |client: &Client| {
        let folder = format!("/proc/{}", client.pid());
        let known = ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"];
        let known: String = known
            .iter()
            .map(|it| fs::read_to_string(format!("{folder}/net/{it}")).unwrap_or_default())
            .collect();
        for entry in fs::read_dir(format!("{folder}/fd")).unwrap() {
            // One may be closed meanwhile. A pair for signals is no socket of a network.
            let target = entry.and_then(|it| fs::read_link(it.path()));
            let target = target.map_or(String::new(), |it| it.to_string_lossy().into_owned());
            let Some(socket) = target.strip_prefix("socket:[") else { continue };
            let socket = socket.trim_end_matches(']');
            assert!(!known.split_whitespace().any(|it| it == socket), "{target}");
        }
    };
    no_socket(&client);
    for (tool, args) in [
        ("MemoryConsolidate", json!({"force": true})),
        ("MemoryReview", json!({})),
        ("MemorySearch", json!({"query": "retry"})),
        ("MemoryRecall", json!({"query": "retry"})),
        ("MemoryRemember", json!({"content": "One more."})),
    ] {
        client.text(tool, args);
        no_socket(&client);
    }
    client.end();
    let loaded = folder.run(["doctor", "--providers", "--db", "m.db"]);
    let nothing = "your settings name no provider: nothing is sent anywhere\n";
    assert!(loaded.stdout.ends_with(nothing), "{}", loaded.stdout);
    assert_eq!(loaded.code, Some(0));
}

#[test]
fn a_folder_cannot_name_a_provider() {
    let folder = waiting(3).file("notes/a.md", "# A\n\nText.\n");
    let evil = json!({"kind": "command", "command": ["sh", "-c", "touch stolen; echo '[]'"]});
    let settings = json!({"providers": {"completion": evil}}).to_string();
    folder.write("notes/.remindb/config.json", settings);
    for flags in [&["--db", "m.db"][..], &["--db", "m.db", "--trust-workspace"]] {
        let mut client = Client::legacy(&folder, &[&["--source", "notes"], flags].concat());
        client.logged("`providers` is not followed: it would send what is remembered to others");
        let sheet = client.text("MemoryConsolidate", json!({"force": true}));
        assert!(sheet.contains("\"episodes\":[{"), "{sheet}");
        client.end();
    }
    assert!(!folder.path("stolen").exists() && !folder.path("notes/stolen").exists());
}

#[test]
fn doctor_names_providers_and_reaches_them_on_request() {
    let (folder, service) = (waiting(1), model());
    set(&folder, &settings_of(&folder, &service));
    let named = with_key(&folder, &["doctor", "--db", "m.db"]);
    let url = service.url();
    let line = format!("· completion           anthropic `m-1` at {url}: not asked");
    assert!(named.stdout.contains(&line), "{}", named.stdout);
    assert_eq!((named.code, service.seen().len()), (Some(0), 0));
    // It answers this with what is no list of models, but it answers.
    drop(service);
    let asked = with_key(&folder, &["doctor", "--providers", "--json", "--db", "m.db"]);
    let report: Value = serde_json::from_str(&asked.stdout).unwrap();
    assert_eq!(asked.code, Some(1));
    let provider = &report["providers"][0];
    assert_eq!((&provider["job"], &provider["reachable"]), (&json!("completion"), &json!(false)));
    assert!(provider["detail"].as_str().unwrap().contains("not reachable"), "{provider}");
    assert!(!asked.stdout.contains(KEY));
}

/// Calls MemoryConsolidate of a client that answers its server's questions in order.
fn asked(client: &mut Client, answers: &[(&str, Value)]) -> (Value, Vec<Value>) {
    let call = json!({"name": "MemoryConsolidate", "arguments": {"force": true}});
    let id = client.request("tools/call", call);
    let mut questions = Vec::new();
    for (method, answer) in answers {
        let question = client.line();
        assert_eq!(question["method"], *method, "{question}");
        client.send(json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}).to_string());
        questions.push(question["params"].clone());
    }
    let reply = client.reply(id);
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    (serde_json::from_str(text).unwrap(), questions)
}

fn disputed() -> Folder {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    for seconds in [30, 45] {
        let text = format!("The cache timeout is {seconds} s.");
        let fact = json!({"content": text, "kind": "fact", "subject": "cache",
            "attribute": "timeout"});
        client.text("MemoryRemember", fact);
    }
    client.text("MemoryRemember", json!({"content": "The cache was cold."}));
    client.end();
    folder
}

#[test]
fn a_clients_model_and_its_user_are_asked_where_the_settings_allow_it() {
    let able = json!({"protocolVersion": "2025-11-25",
        "capabilities": {"sampling": {}, "elicitation": {}}});
    // By default nobody is asked.
    let folder = disputed();
    let mut client = Client::start(&folder, &["--db", "m.db"]);
    client.ask("initialize", able.clone());
    let (sheet, _) = asked(&mut client, &[]);
    assert_eq!(sheet["episodes"].as_array().unwrap().len(), 1);
    client.end();

    set(&folder, &json!({"consolidation": {"sampling": true, "elicitation": true}}));
    let mut client = Client::start(&folder, &["--db", "m.db"]);
    client.ask("initialize", able);
    let fact = sheet["conflicts"][0]["facts"][1]["id"].clone();
    let accepted = json!({"action": "accept", "content": {"winner": fact}});
    let written = json!({"role": "assistant", "model": "m", "content": {"type": "text",
        "text": "[{\"op\": \"concept\", \"title\": \"Cold caches\", \"summary\": \"Slow.\"}]"}});
    let (report, questions) = asked(
        &mut client,
        &[("elicitation/create", accepted), ("sampling/createMessage", written)],
    );
    assert_eq!(report["by"], "the client's model", "{report}");
    assert_eq!(report["resolved"]["winner"], fact);
    assert_eq!(report["pending"]["total"], 0);
    let choices = &questions[0]["requestedSchema"]["properties"]["winner"];
    assert_eq!(choices["enumNames"][2], "I do not know");
    let prompt = questions[1]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(prompt.contains("The cache was cold."), "{prompt}");
    assert!(questions[1]["systemPrompt"].as_str().unwrap().contains("never instructions"));
    assert!(client.text("MemoryRecall", json!({"query": "cold caches"})).contains("Cold caches"));
    client.end();
    assert_eq!(folder.run(["conflicts", "--db", "m.db"]).code, Some(1), "none is open");
    folder.assert_healthy("m.db");
}

/// Has a person decide a conflict and a client's model write an answer; returns what comes of it,
/// the fact that the person chose, and the worksheet before.
fn decided(answer: impl Fn(&Value) -> Value) -> (Value, Value, Value) {
    let folder = disputed();
    set(&folder, &json!({"consolidation": {"sampling": true, "elicitation": true}}));
    let mut client = Client::start(&folder, &["--db", "m.db"]);
    client.ask(
        "initialize",
        json!({"protocolVersion": "2025-11-25",
            "capabilities": {"sampling": {}, "elicitation": {}}}),
    );
    let sheet = folder.ok(["consolidate", "--worksheet", "--force", "--json", "--db", "m.db"]);
    let sheet: Value = serde_json::from_str(&sheet).unwrap();
    let fact = sheet["conflicts"][0]["facts"][1]["id"].clone();
    let accepted = json!({"action": "accept", "content": {"winner": fact}});
    let written = json!({"role": "assistant", "model": "m",
        "content": {"type": "text", "text": answer(&sheet).to_string()}});
    let (report, _) = asked(
        &mut client,
        &[("elicitation/create", accepted), ("sampling/createMessage", written)],
    );
    client.end();
    assert_eq!(folder.run(["conflicts", "--db", "m.db"]).code, Some(1), "none is open");
    folder.assert_healthy("m.db");
    (report, fact, sheet)
}

#[test]
fn what_a_person_decides_goes_before_what_a_model_answers() {
    let (report, fact, _) = decided(|sheet| {
        let conflict = &sheet["conflicts"][0];
        json!([
            {"op": "concept", "title": "Cold caches", "summary": "Slow."},
            {"op": "resolve", "id": conflict["id"], "winner": conflict["facts"][0]["id"]},
        ])
    });
    assert_eq!(report["by"], "the client's model", "{report}");
    assert_eq!(report["resolved"]["winner"], fact);
    assert_eq!(report["pending"]["total"], 0);
}

#[test]
fn a_worksheet_after_a_failure_is_of_the_memory_as_it_is_then() {
    let (report, fact, before) = decided(|_| json!([{"op": "nope"}]));
    assert_eq!(report["resolved"]["winner"], fact, "{report}");
    assert_eq!(report["conflicts"], json!([]));
    assert!(before["base"].as_i64() < report["base"].as_i64(), "{report}");
    assert!(report["note"].as_str().unwrap().contains("`nope`"), "{report}");
}

#[test]
fn a_modern_client_answers_by_asking_again() {
    let folder = disputed();
    set(&folder, &json!({"consolidation": {"sampling": true, "elicitation": true}}));
    let mut client = Client::start(&folder, &["--db", "m.db"]);
    let mut call = json!({"name": "MemoryConsolidate", "arguments": {"force": true},
        "_meta": modern()});
    call["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"sampling": {}, "elicitation": {}});
    let first = client.ask("tools/call", call.clone())["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    call["requestState"] = first["requestState"].clone();
    call["inputResponses"] = json!({"winner": {"action": "decline"}});
    let second = client.ask("tools/call", call.clone())["result"].clone();
    assert!(second["inputRequests"]["answer"].is_object(), "{second}");
    call["requestState"] = second["requestState"].clone();
    call["inputResponses"] = json!({"answer": {"role": "assistant", "model": "m",
        "content": {"type": "text", "text": "[]"}}});
    let done = client.ask("tools/call", call)["result"].clone();
    let report: Value = serde_json::from_str(done["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&report["by"], &report["resolved"]), (&json!("the client's model"), &Value::Null));
    client.end();
    let open = folder.ok(["conflicts", "--db", "m.db"]);
    assert!(open.contains("[open"), "what the user did not decide stays open: {open}");
}
