//! Tests the server over stdio: a real process, and whatever comes down its pipes.

use std::collections::BTreeMap;

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::support::{Client, Folder, finish, modern, signal};

const NOTES: &str = "# Store\n\nOne connection writes.\n\n## Limits\n\nFive kilobytes.\n";

const TOOLS: [&str; 24] = [
    "MemoryApply",
    "MemoryCompile",
    "MemoryConsolidate",
    "MemoryDelta",
    "MemoryDiff",
    "MemoryFetch",
    "MemoryFetchBatch",
    "MemoryForget",
    "MemoryHistory",
    "MemoryIngest",
    "MemoryPin",
    "MemoryRecall",
    "MemoryRelate",
    "MemoryRelated",
    "MemoryRemember",
    "MemoryReview",
    "MemoryRollback",
    "MemorySearch",
    "MemoryStats",
    "MemorySummarize",
    "MemoryTree",
    "MemoryUnpin",
    "MemoryUnrelate",
    "MemoryWrite",
];

/// Largest list of tools, in tokens; every session pays for it.
const LIST_TOKENS_MAX: usize = 3_500;
/// Largest list of tools with `--tools core`, in tokens.
const CORE_TOKENS_MAX: usize = 800;
/// Tokens of the tools of notes among them.
const NOTES_TOKENS_MAX: usize = 2_300;
const OF_KNOWLEDGE: [&str; 6] = [
    "MemoryApply",
    "MemoryConsolidate",
    "MemoryIngest",
    "MemoryRecall",
    "MemoryRemember",
    "MemoryReview",
];
/// Largest list of tools with `--structured`, in tokens.
const STRUCTURED_TOKENS_MAX: usize = 4_200;
/// Largest instructions of the server, in tokens.
const INSTRUCTIONS_TOKENS_MAX: usize = 200;

fn compiled() -> Folder {
    let folder = Folder::new().file("notes/store.md", NOTES);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

/// Calls every tool, each of which has to succeed with a sensible text.
#[track_caller]
fn call_all(client: &mut Client) {
    let tree = client.text("MemoryTree", json!({}));
    assert!(tree.starts_with("[heading] Store (id="), "{tree}");
    let found = client.text("MemorySearch", json!({"query": "five kilobytes"}));
    assert!(found.contains("Five kilobytes. (id="), "{found}");
    let (_, id) = found.split_once("(id=").unwrap();
    let id = &id[..11];
    let fetched = client.text("MemoryFetch", json!({"anchor": id, "budget": 200}));
    assert!(fetched.ends_with(&format!("\n{id} Five kilobytes.\n")), "{fetched}");
    let batch = client.text("MemoryFetchBatch", json!({"node_ids": [id, "nonsense"]}));
    assert!(batch.contains("Five kilobytes.") && batch.contains("not found: nonsense"), "{batch}");
    let (_, other) = tree.split_once("(id=").unwrap();
    let ends = json!({"source_id": id, "target_id": &other[..11]});
    let related = client.text("MemoryRelate", ends.clone());
    assert_eq!(related, format!("edge created (resolved): {id} -> {}", &other[..11]));
    let neighbours = client.text("MemoryRelated", json!({"anchor": &other[..11]}));
    assert!(
        neighbours.contains(&format!("(id={id} file=store.md hop=1 weight=1.00")),
        "{neighbours}"
    );
    let removed = client.text("MemoryUnrelate", ends);
    assert_eq!(removed, format!("edge removed: {id} -> {}", &other[..11]));
    let stats = client.text("MemoryStats", json!({}));
    assert!(stats.contains("Nodes:                4 (11 tokens)"), "{stats}");
    let delta = client.text("MemoryDelta", json!({}));
    assert!(delta.contains(&format!("[add] {id} (snapshot 1) [text] Five kilobytes.")), "{delta}");
    let diff = json!({"from_snapshot_id": 0, "to_snapshot_id": 1});
    assert!(client.text("MemoryDiff", diff).contains("\n+Five kilobytes.\n"));
    let history = client.text("MemoryHistory", json!({"anchor": id}));
    assert!(history.ends_with("\n  new: Five kilobytes."), "{history}");
    let rolled = client.text("MemoryRollback", json!({"snapshot_id": 1}));
    assert_eq!(rolled, "already at snapshot 1; nothing to do");
    let compiled = client.text("MemoryCompile", json!({"path": "."}));
    assert_eq!(compiled, "compiled: 0 added, 0 modified, 0 removed (0 ops)");
}

fn listed(client: &mut Client) -> Value {
    let list = client.ask("tools/list", json!({}))["result"].clone();
    let names: Vec<&str> =
        list["tools"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, TOOLS);
    list
}

#[test]
fn every_legacy_version_gets_everything() {
    let folder = compiled();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut client = Client::start(&folder, &["--db", "m.db", "--source", "notes"]);
        let hello = client.ask(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": {"name": "it", "version": "1"},
            }),
        );
        assert_eq!(hello["result"]["protocolVersion"], version, "{hello}");
        assert_eq!(hello["result"]["serverInfo"]["name"], "remindb");
        client.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
        let list = listed(&mut client);
        assert_eq!(list.get("ttlMs"), None);
        call_all(&mut client);
        client.end();
    }
}

#[test]
fn the_modern_version_needs_no_handshake() {
    let folder = compiled();
    let mut client = Client::modern(&folder, &["--db", "m.db", "--source", "notes"]);
    let about = client.ask("server/discover", json!({}))["result"].clone();
    assert_eq!(about["supportedVersions"][0], "2026-07-28");
    assert_eq!(about["resultType"], "complete");
    let list = listed(&mut client);
    assert_eq!((&list["ttlMs"], &list["cacheScope"]), (&json!(300_000), &json!("public")));
    call_all(&mut client);
    let stats = client.call("MemoryStats", json!({})).result;
    assert_eq!(stats["resultType"], "complete");
    let reply = client.ask("initialize", json!({"protocolVersion": "2026-07-28"}));
    assert_eq!(reply["error"]["code"], -32601);
    client.end();
}

#[test]
fn the_list_of_tools_is_cheap() {
    let folder = compiled();
    let vocabulary = tiktoken_rs::cl100k_base().unwrap();
    let n_tokens = |list: &Value| vocabulary.encode_ordinary(&list["tools"].to_string()).len();
    for mut client in
        [Client::legacy(&folder, &["--db", "m.db"]), Client::modern(&folder, &["--db", "m.db"])]
    {
        let mut list = listed(&mut client);
        let n_all = n_tokens(&list);
        assert!(n_all <= LIST_TOKENS_MAX, "{n_all} tokens");
        let tools = list["tools"].as_array_mut().unwrap();
        tools.retain(|it| !OF_KNOWLEDGE.contains(&it["name"].as_str().unwrap()));
        assert_eq!(tools.len(), 18);
        let n_of_notes = n_tokens(&list);
        assert!(n_of_notes <= NOTES_TOKENS_MAX, "{n_of_notes} tokens");
        client.end();
    }
    let core = ["--db", "m.db", "--tools", "core"];
    for mut client in [Client::legacy(&folder, &core), Client::modern(&folder, &core)] {
        let list = client.ask("tools/list", json!({}))["result"].clone();
        assert_eq!(list["tools"].as_array().unwrap().len(), 7);
        let n_tokens = n_tokens(&list);
        assert!(n_tokens <= CORE_TOKENS_MAX, "{n_tokens} tokens");
        assert!(client.call_refused("MemoryForget").contains("unknown tool `MemoryForget`"));
        client.end();
    }
    let mut client = Client::modern(&folder, &["--db", "m.db", "--structured"]);
    let n_structured = n_tokens(&listed(&mut client));
    assert!(n_structured <= STRUCTURED_TOKENS_MAX, "{n_structured} tokens");
    client.end();
    let mut client = Client::modern(&folder, &core);
    let about = client.ask("server/discover", json!({}))["result"]["instructions"].clone();
    let n_tokens = vocabulary.encode_ordinary(about.as_str().unwrap()).len();
    assert!(n_tokens <= INSTRUCTIONS_TOKENS_MAX, "{n_tokens} tokens");
    client.end();
}

#[test]
fn each_description_has_an_example_of_its_arguments() {
    let folder = compiled();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let list = client.ask("tools/list", json!({}))["result"].clone();
    for tool in list["tools"].as_array().unwrap() {
        let about = tool["description"].as_str().unwrap();
        let (_, example) = about.split_once('{').expect(about);
        let (example, _) = example.split_once('}').expect(about);
        let names = example.split(", ").filter_map(|it| it.split_once(": ")).map(|it| it.0);
        for name in names.filter(|it| it.bytes().all(|it| it.is_ascii_lowercase() || it == b'_')) {
            assert!(tool["inputSchema"]["properties"].get(name).is_some(), "`{name}` in {about}");
        }
        for required in tool["inputSchema"]["required"].as_array().into_iter().flatten() {
            let key = format!("{}: ", required.as_str().unwrap());
            assert!(example.contains(&key), "no `{key}` in {about}");
        }
    }
    client.end();
}

/// Returns notes with more nodes than an agent may remove without a confirmation.
fn crowded() -> (Folder, String) {
    let notes: String = (0..20).map(|it| format!("Paragraph {it}.\n\n")).collect();
    let folder = Folder::new().file("notes/store.md", format!("# Store\n\n{notes}"));
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let tree = client.text("MemoryTree", json!({"depth": 1}));
    let (_, id) = tree.split_once("(id=").unwrap();
    let id = id[..11].to_owned();
    client.end();
    (folder, id)
}

#[test]
fn a_person_is_asked_before_much_is_forgotten() {
    let (folder, id) = crowded();
    let mut client = Client::start(&folder, &["--db", "m.db"]);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}});
    client.ask("initialize", hello);
    let forget = json!({
        "name": "MemoryForget",
        "arguments": {"node_id": id, "mode": "cascade"},
    });
    for (answer, expected) in [
        (json!({"action": "decline"}), "the user said no; nothing was changed"),
        (
            json!({"action": "accept", "content": {"confirm": false}}),
            "the user said no; nothing was changed",
        ),
        (json!({"action": "cancel"}), "the user was asked and did not answer; nothing was changed"),
    ] {
        let call = client.request("tools/call", forget.clone());
        let question = client.line();
        assert_eq!(question["method"], "elicitation/create");
        assert_eq!(question["params"]["message"], "Forget `Store` and the 20 nodes below it?");
        let reply = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
        client.send(reply.to_string());
        let reply = client.reply(call);
        assert_eq!(reply["result"]["content"][0]["text"], expected);
        assert_eq!(reply["result"]["isError"], true);
    }
    // In the modern era, on the same connection, the question is the result and the answer a retry.
    let mut forget = forget;
    forget["_meta"] = modern();
    forget["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    let asked = client.ask("tools/call", forget.clone())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    forget["requestState"] = asked["requestState"].clone();
    forget["inputResponses"] =
        json!({"confirm": {"action": "accept", "content": {"confirm": true}}});
    let done = client.ask("tools/call", forget)["result"]["content"][0]["text"].clone();
    assert_eq!(done, format!("forgot node {id} (mode=cascade, 21 affected)"));
    // Dropping history needs a confirmation, too.
    let mut rollback = json!({
        "name": "MemoryRollback",
        "arguments": {"snapshot_id": 1, "drop_after": true},
        "_meta": modern(),
    });
    rollback["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    let asked = client.ask("tools/call", rollback.clone())["result"].clone();
    assert_eq!(names(&asked["inputRequests"]), ["confirm"]);
    // A client that shows no forms gets no question.
    rollback["_meta"] = modern();
    let done = client.ask("tools/call", rollback)["result"].clone();
    let done = done["content"][0]["text"].as_str().unwrap();
    assert!(done.starts_with("rolled back to snapshot 1 "), "{done}");
    client.end();
}

/// Ends the input, after which no answer can come; the call does not wait for one.
#[test]
fn the_end_of_input_confirms_nothing() {
    let (folder, id) = crowded();
    let mut client = Client::start(&folder, &["--db", "m.db"]);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}});
    client.ask("initialize", hello);
    let arguments = json!({"node_id": id, "mode": "cascade"});
    let call =
        client.request("tools/call", json!({"name": "MemoryForget", "arguments": arguments}));
    let question = client.line();
    assert_eq!(question["method"], "elicitation/create");
    client.close();
    let reply = client.reply(call);
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert_eq!(client.wait().code(), Some(0));
}

#[test]
fn a_person_picks_a_prompt() {
    let folder = compiled();
    for mut client in
        [Client::legacy(&folder, &["--db", "m.db"]), Client::modern(&folder, &["--db", "m.db"])]
    {
        let list = client.ask("prompts/list", json!({}))["result"]["prompts"].clone();
        let listed: Vec<&str> =
            list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(listed, ["orient", "resync", "tidy", "consolidate", "triage"]);
        let asked = json!({"name": "resync", "arguments": {"since_snapshot": "7"}});
        let message = client.ask("prompts/get", asked)["result"]["messages"][0].clone();
        assert_eq!(message["role"], "user");
        let text = message["content"]["text"].as_str().unwrap();
        assert!(text.contains("MemoryDelta with `since_snapshot` 7"), "{text}");
        let reply = client.ask("prompts/get", json!({"name": "resync", "arguments": {"since": 7}}));
        assert_eq!(reply["error"]["code"], -32602);
        let reference = json!({"type": "ref/prompt", "name": "orient"});
        let argument = json!({"name": "topic", "value": "a"});
        let asked = json!({"ref": reference, "argument": argument});
        let found = client.ask("completion/complete", asked)["result"]["completion"].clone();
        assert_eq!(found["hasMore"], false);
        client.end();
    }
}

/// Returns the sorted names of an object's members.
fn names(object: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Sends malformed lines: each gets one error, and the next line is answered.
#[test]
fn malformed_lines_cost_themselves_only() {
    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let folder = compiled();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    let mut check = |sent: &[u8], code: i32, id: Value| {
        client.send(sent);
        let reply = client.line();
        let shown = String::from_utf8_lossy(&sent[..sent.len().min(60)]).into_owned();
        assert_eq!(reply["error"]["code"], code, "{shown}: {reply}");
        assert_eq!(reply["id"], id, "{shown}: {reply}");
        assert_eq!(reply["jsonrpc"], "2.0");
        let reply = client.ask("tools/call", json!({"name": "MemoryStats", "arguments": {}}));
        assert!(reply.get("result").is_some(), "{shown}: {reply}");
    };
    check(b"not json", -32700, Value::Null);
    check(b"{\"jsonrpc\":\"2.0\",\"id\":1,", -32700, Value::Null);
    check(b"\xff\xfe{}", -32700, Value::Null);
    check(b"\0", -32700, Value::Null);
    check(format!("\u{feff}{PING}").as_bytes(), -32700, Value::Null);
    check(format!("{PING}{PING}").as_bytes(), -32700, Value::Null);
    check(format!("{PING} {PING}").as_bytes(), -32700, Value::Null);
    check(format!("[{PING},{PING}]").as_bytes(), -32600, Value::Null);
    check(b"[]", -32600, Value::Null);
    check(b"7", -32600, Value::Null);
    check(b"\"text\"", -32600, Value::Null);
    check(b"null", -32600, Value::Null);
    check(b"{}", -32600, Value::Null);
    check(br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, Value::Null);
    check(br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600, Value::Null);
    check(br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, -32600, Value::Null);
    check(br#"{"jsonrpc":"1.0","id":"a","method":"ping"}"#, -32600, json!("a"));
    check(br#"{"jsonrpc":"2.0","id":"a","method":7}"#, -32600, json!("a"));
    check(br#"{"jsonrpc":"2.0","id":2,"method":"ping","params":[1]}"#, -32602, json!(2));
    check(br#"{"jsonrpc":"2.0","id":3,"method":"no/such"}"#, -32601, json!(3));
    check(br#"{"jsonrpc":"2.0","id":4,"method":""}"#, -32601, json!(4));
    check("[".repeat(100_000).as_bytes(), -32700, Value::Null);
    check("{\"a\":".repeat(100_000).as_bytes(), -32700, Value::Null);
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{{\"a\":{}{}}}}}",
        "[".repeat(9_000),
        "]".repeat(9_000)
    );
    check(deep.as_bytes(), -32700, json!(5));
    check(&vec![b'x'; 100 << 20], -32600, Value::Null);
    let long = format!(r#"{{"jsonrpc":"2.0","id":6,"method":"{}"}}"#, "m".repeat(9 << 20));
    check(long.as_bytes(), -32600, Value::Null);
    client.end();
}

#[test]
fn tools_and_arguments_that_do_not_exist_are_named() {
    let folder = compiled();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    for params in [
        json!({"name": "MemoryErase", "arguments": {}}),
        json!({"name": "", "arguments": {}}),
        json!({"name": 7}),
        json!({"arguments": {}}),
        json!({"name": "MemoryStats", "arguments": []}),
        json!({"name": "MemoryStats", "arguments": "x"}),
    ] {
        let reply = client.ask("tools/call", params.clone());
        assert_eq!(reply["error"]["code"], -32602, "{params}: {reply}");
    }
    let here = folder.path("notes").to_string_lossy().into_owned();
    let mut check = |tool: &str, arguments: Value, answer: Expect| {
        let reply = client.call(tool, arguments);
        assert!(reply.is_error, "{}", reply.text);
        answer.assert_eq(&reply.text.replace(&here, "DIR"));
    };
    check(
        "MemoryStats",
        json!({"verbose": true}),
        expect!["unknown argument `verbose`; it takes none"],
    );
    check(
        "MemorySearch",
        json!({"query": "a", "bugdet": 3}),
        expect![
            "unknown argument `bugdet`; allowed: query, budget, detail, type, tags, status, importance, since, until, archived, dates (did you mean `budget`?)"
        ],
    );
    check("MemorySearch", json!({}), expect!["missing argument `query`, a string"]);
    check("MemorySearch", json!({"query": []}), expect!["`query` must be a string, not a list"]);
    check(
        "MemorySearch",
        json!({"query": "a", "budget": "many"}),
        expect!["`budget` must be an integer, not a string"],
    );
    check(
        "MemorySearch",
        json!({"query": "a", "budget": 1.5}),
        expect!["`budget` must be an integer, not 1.5"],
    );
    check(
        "MemorySearch",
        json!({"query": "a", "detail": "all"}),
        expect!["`detail` must be one of label, snippet, full, not `all`"],
    );
    check(
        "MemorySearch",
        json!({"query": "a", "type": "prose"}),
        expect![
            "`type` must be one of heading, list, kv, table, preamble, text, code, embed, core, learning, task, episode, concept, fact, topic, entity, not `prose`"
        ],
    );
    check(
        "MemoryFetch",
        json!({"key": "x"}),
        expect![
            "unknown argument `key`; allowed: anchor, budget, depth, dates; missing argument `anchor`, a string"
        ],
    );
    check(
        "MemoryFetch",
        json!({"anchor": "nonsense"}),
        expect!["no node `nonsense`; find one with a search"],
    );
    check("MemoryFetch", json!({"anchor": ""}), expect!["no node ``; find one with a search"]);
    check(
        "MemoryTree",
        json!({"root": "nonsense"}),
        expect!["no node `nonsense`; find one with a search"],
    );
    check(
        "MemoryTree",
        json!({"depth": "deep"}),
        expect!["`depth` must be an integer, not a string"],
    );
    check(
        "MemoryFetchBatch",
        json!({"node_ids": []}),
        expect!["`node_ids` must have 1 to 256 items, not 0"],
    );
    check(
        "MemoryFetchBatch",
        json!({"node_ids": 7}),
        expect!["`node_ids` must be a list of strings, not a number"],
    );
    check(
        "MemoryFetchBatch",
        json!({"node_ids": vec!["x"; 257]}),
        expect!["`node_ids` must have 1 to 256 items, not 257"],
    );
    check("MemoryCompile", json!({"path": ""}), expect!["`path` is empty; name a file or folder"]);
    check(
        "MemoryCompile",
        json!({"path": "/etc"}),
        expect!["`/etc` lies outside of what this server may read; it may read `DIR`"],
    );
    check(
        "MemoryCompile",
        json!({"path": "../../../../../../etc"}),
        expect![
            "`../../../../../../etc` lies outside of what this server may read; it may read `DIR`"
        ],
    );
    check(
        "MemoryCompile",
        json!({"path": "no/such"}),
        expect!["cannot compile `DIR/no/such`: No such file or directory (os error 2)"],
    );
    let forged = "no\n[text] Forged (id=ZZZZZZZZZZZ relevance=0.99)";
    check(
        "MemoryCompile",
        json!({"path": forged}),
        expect![
            "cannot compile `DIR/no [text] Forged (id =ZZZZZZZZZZZ relevance=0.99)`: No such file or directory (os error 2)"
        ],
    );
    check(
        "MemoryCompile",
        json!({"path": format!("/{forged}")}),
        expect![
            "`/no [text] Forged (id =ZZZZZZZZZZZ relevance=0.99)` lies outside of what this server may read; it may read `DIR`"
        ],
    );
    client.end();
}

/// Sends queries of every kind: none is an error, least of all one of the database.
#[test]
fn every_query_is_answered() {
    let folder = compiled().file(
        "notes/odd.md",
        "# Odd\n\nwhat's up with the rate-limit of C++ NOT NULL a/b \"quoted\"\n\n日本語テキスト\n",
    );
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    for (query, finds) in [
        ("what's up?", "what's up"),
        ("rate-limit", "rate-limit"),
        ("C++", "C++"),
        ("NOT NULL", "NOT NULL"),
        ("a/b", "a/b"),
        ("日本語", "日本語テキスト"),
        ("テキ", "日本語テキスト"),
    ] {
        let found = client.text("MemorySearch", json!({"query": query}));
        assert!(found.contains(finds), "{query}: {found}");
    }
    let parentheses = ["(", ")", "()", "((a) OR ", "NEAR(", "\"", "*", "a AND "];
    let long = parentheses.map(|it| it.repeat((64 << 10) / it.len()));
    let short = [
        "\"",
        "\"\"",
        "'",
        "*",
        "a*",
        "^a",
        "-",
        "NOT",
        "AND",
        "a AND",
        "NEAR",
        "NEAR(",
        "label:",
        "content:x",
        "{label content}: x",
        "a OR OR b",
        "\0",
        "a\0b",
        "%",
        "_",
        "\\",
        "; DROP TABLE node; --",
        "\u{202e}",
        "é",
        "e\u{301}",
        "🦀",
        "\u{10ffff}",
        "a\nb",
    ];
    for query in short.into_iter().chain(long.iter().map(String::as_str)) {
        for detail in ["label", "snippet", "full"] {
            let reply = client.call("MemorySearch", json!({"query": query, "detail": detail}));
            assert!(!reply.is_error, "{query:.40}: {}", reply.text);
        }
    }
    client.end();
}

/// Keeps the input open: the writer of replies must not wait for another holder of stdout.
#[test]
fn replies_come_while_the_input_stays_open() {
    let folder = compiled();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    for _ in 0..20 {
        assert_eq!(client.ask("ping", json!({}))["result"], json!({}));
    }
    client.end();
}

/// Sends many requests at once, each of which is answered exactly once.
#[test]
fn requests_may_overtake_each_other_and_none_is_lost() {
    let folder = compiled();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    let ids: Vec<u64> = (0..300)
        .map(|n| match n % 3 {
            0 => client.request("ping", json!({})),
            1 => client.request("tools/call", json!({"name": "MemoryTree", "arguments": {}})),
            _ => client.request("tools/list", json!({})),
        })
        .collect();
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    for _ in &ids {
        let reply = client.line();
        assert!(reply.get("result").is_some(), "{reply}");
        *seen.entry(reply["id"].as_u64().unwrap()).or_default() += 1;
    }
    assert_eq!(seen, ids.into_iter().map(|id| (id, 1)).collect());
    client.end();
}

/// Writes so many files that compiling them takes longer than answering a ping.
fn many(folder: &Folder, n_files: usize) {
    for nth in 0..n_files {
        let section = |n: usize| format!("## Part {n}\n\nText {n} of {nth}, *with* `code`.\n\n");
        let text: String = (0..40).map(section).collect();
        folder.write(format!("notes/{:02}/{nth}.md", nth % 20), format!("# File {nth}\n\n{text}"));
    }
}

#[test]
fn a_ping_is_answered_while_a_compile_runs() {
    let folder = compiled();
    many(&folder, 200);
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    let path = folder.path("notes");
    let compile = client.request(
        "tools/call",
        json!({"name": "MemoryCompile", "arguments": {"path": path}, "_meta": {"progressToken": 7}}),
    );
    let first = client.line();
    assert_eq!(first["params"]["progressToken"], 7, "{first}");
    let ping = client.request("ping", json!({}));
    let stats = client.request("tools/call", json!({"name": "MemoryStats", "arguments": {}}));
    let mut order = Vec::new();
    let mut last = first["params"]["progress"].as_u64();
    while order.len() < 3 {
        let line = client.line();
        match line["id"].as_u64() {
            Some(id) => order.push(id),
            None => {
                let now = line["params"]["progress"].as_u64();
                assert!(last < now, "{line}");
                last = now;
            }
        }
    }
    assert_eq!((order[0], order[2]), (ping, compile), "the compile comes last, then {stats}");
    client.end();
}

#[test]
fn a_cancelled_compile_changes_nothing() {
    let folder = compiled();
    many(&folder, 200);
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--structured"]);
    let before = client.call("MemoryStats", json!({})).result["structuredContent"]["head"].clone();
    let path = folder.path("notes");
    let compile = client.request(
        "tools/call",
        json!({"name": "MemoryCompile", "arguments": {"path": path}, "_meta": {"progressToken": 7}}),
    );
    assert_eq!(client.line()["method"], "notifications/progress");
    let params = json!({"requestId": compile});
    client.send(
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            .to_string(),
    );
    let stats = client.call("MemoryStats", json!({})).result;
    assert_eq!(stats["structuredContent"]["head"], before);
    client.end();
    folder.assert_healthy("m.db");
    assert_eq!(folder.facts("m.db")["head"], before);
}

#[test]
fn the_source_is_compiled_behind_the_handshake() {
    let folder = Folder::new();
    many(&folder, 60);
    let mut client =
        Client::legacy(&folder, &["--db", "new.db", "--source", "notes", "--structured"]);
    let answer = client.logged("compiled: ");
    assert!(answer.contains("compiled: 4860 added, 0 modified, 0 removed (4860 ops)"), "{answer}");
    let stats = client.call("MemoryStats", json!({})).result["structuredContent"].clone();
    assert_eq!((&stats["nodes"], &stats["snapshots"]), (&json!(4860), &json!(1)));
    assert_eq!(stats["head"]["message"], "initial");
    client.end();
    let mut client = Client::modern(&folder, &["--db", "new.db", "--source", "notes"]);
    client.ask("server/discover", json!({}));
    let answer = client.logged("compiled: ");
    assert!(answer.contains("compiled: 0 added, 0 modified, 0 removed (0 ops)"), "{answer}");
    client.end();
}

#[test]
fn relative_paths_are_those_of_the_source() {
    let folder = compiled().file("notes/sub/new.md", "Something new.\n").file("secret.md", "No.\n");
    let mut client =
        Client::legacy(&folder, &["--db", "m.db", "--source", "notes", "--structured"]);
    client.logged("compiled: ");
    folder.write("notes/sub/new.md", "Something else, which is longer.\n");
    let answer = client.text("MemoryCompile", json!({"path": "sub/new.md", "message": "why"}));
    assert!(answer.starts_with("compiled: "), "{answer}");
    let stats = client.call("MemoryStats", json!({})).result["structuredContent"].clone();
    assert_eq!(stats["head"]["message"], "why");
    let outside = client.call("MemoryCompile", json!({"path": "../secret.md"}));
    assert!(outside.is_error, "{}", outside.text);
    client.end();
}

#[test]
fn the_end_of_input_ends_the_server_after_the_last_reply() {
    let folder = compiled();
    let mut client = Client::start(&folder, &["--db", "m.db"]);
    client.close();
    assert_eq!(client.wait().code(), Some(0));

    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let id = client.request("tools/call", json!({"name": "MemoryTree", "arguments": {}}));
    client.close();
    assert!(client.reply(id).get("result").is_some());
    assert_eq!(client.wait().code(), Some(0));

    // A last line without a line feed is a line.
    let mut command = folder.command(["serve", "--db", "m.db"]);
    let (stdin, mut input) = std::io::pipe().unwrap();
    let child = command.stdin(stdin).spawn().unwrap();
    drop(command);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list",
        "params": {"_meta": modern()}});
    std::io::Write::write_all(&mut input, request.to_string().as_bytes()).unwrap();
    drop(input);
    let output = finish(child);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(output.stdout.iter().filter(|it| **it == b'\n').count(), 1);
}

#[test]
fn signals_end_the_server_in_order() {
    let folder = compiled();
    for name in ["TERM", "INT"] {
        let mut client = Client::legacy(&folder, &["--db", "m.db"]);
        signal(client.pid(), name);
        assert_eq!(client.wait().code(), Some(0), "{name}");
        client.logged("stopped reason=Signal");
    }
    folder.assert_healthy("m.db");
}

#[test]
fn a_signal_in_the_middle_of_the_first_compile_leaves_no_trace() {
    let folder = Folder::new();
    many(&folder, 200);
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--source", "notes"]);
    signal(client.pid(), "TERM");
    assert_eq!(client.wait().code(), Some(0));
    folder.assert_healthy("m.db");
    let nodes = folder.facts("m.db")["nodes"].clone();
    assert!(nodes == 0 || nodes == 16_200, "{nodes}");
}

#[test]
fn a_client_that_stops_listening_ends_the_server() {
    let folder = compiled();
    let (stdin, mut input) = std::io::pipe().unwrap();
    let mut command = folder.command(["serve", "--db", "m.db"]);
    let mut child = command.stdin(stdin).spawn().unwrap();
    drop(command);
    drop(child.stdout.take());
    let line = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string() + "\n";
    std::io::Write::write_all(&mut input, line.as_bytes()).unwrap();
    // The input stays open: the end of the output ends the server.
    let output = finish(child);
    assert_eq!(output.status.code(), Some(0));
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(!log.contains("panicked"), "{log}");
}

#[test]
fn nothing_but_the_protocol_is_on_stdout_and_no_note_in_the_log() {
    let folder = compiled();
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--source", "notes", "--verbose"]);
    client.text("MemorySearch", json!({"query": "kilobytes"}));
    client.call("MemorySearch", json!({"query": "kilobytes", "nonsense": "kilobytes"}));
    client.send(b"kilobytes");
    assert_eq!(client.line()["error"]["code"], -32700);
    client.close();
    assert_eq!(client.wait().code(), Some(0));
    let mut log = String::new();
    while let Some(line) = client.log_line() {
        log.push_str(&line);
        log.push('\n');
    }
    assert!(log.contains("called name=MemorySearch"), "{log}");
    assert!(!log.to_lowercase().contains("kilobytes"), "{log}");
}

#[test]
fn no_word_of_a_page_is_in_the_log_of_what_reads_it() {
    for format in ["text", "json"] {
        let config = json!({"server": {"logging": {"level": "debug", "format": format}}});
        let folder = Folder::new().file("notes/.remindb/config.json", config.to_string());
        folder.write("notes/a.html", "<h1>Kilobytes</h1><p>&#71;igabytes <b>mega</b>bytes</p>");
        folder.write("notes/b.yaml", "a: gigabytes\nb: [megabytes\n");
        folder.write("notes/c.toml", "a = 'gigabytes'\nb = [megabytes\n");
        let mut client = Client::legacy(&folder, &["--db", "m.db", "--source", "notes"]);
        let path = folder.path("notes");
        client.text("MemoryCompile", json!({"path": path}));
        client.close();
        assert_eq!(client.wait().code(), Some(0));
        let mut log = String::new();
        while let Some(line) = client.log_line() {
            log.push_str(&line.to_lowercase());
            log.push('\n');
        }
        assert!(log.contains("called name=memorycompile"), "{log}");
        for word in ["kilobytes", "igabytes", "megabytes", "html5ever"] {
            assert!(!log.contains(word), "{word}: {log}");
        }
    }
}

/// Returns the temperature that the tree shows of the node with a label.
#[track_caller]
fn temperature(tree: &str, label: &str) -> f64 {
    let line = tree.lines().find(|it| it.contains(label)).unwrap_or_else(|| panic!("{tree}"));
    let (_, rest) = line.split_once("temp=").unwrap();
    rest.split_once(' ').unwrap().0.parse().unwrap()
}

/// Checks a temperature that is shown in hundredths.
#[track_caller]
fn assert_near(shown: f64, expected: f64) {
    assert!((shown - expected).abs() < 0.006, "{shown} is not {expected}");
}

#[test]
fn tools_warm_and_resources_do_not() {
    let folder = compiled();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    let warmth = |client: &mut Client| temperature(&client.text("MemoryTree", json!({})), "Five");
    assert_eq!(warmth(&mut client), 0.50);
    client.text("MemorySearch", json!({"query": "kilobytes"}));
    assert_near(warmth(&mut client), 0.515);
    let found = client.text("MemorySearch", json!({"query": "kilobytes"}));
    assert_near(warmth(&mut client), 0.53);
    let (_, id) = found.split_once("(id=").unwrap();
    let id = id[..11].to_owned();
    client.text("MemoryFetch", json!({"anchor": id}));
    assert_near(warmth(&mut client), 0.68);
    client.text("MemoryFetchBatch", json!({"node_ids": [id]}));
    assert_near(warmth(&mut client), 0.83);
    client.text("MemoryFetchBatch", json!({"node_ids": [id, id]}));
    assert_near(warmth(&mut client), 0.98);
    client.text("MemoryFetch", json!({"anchor": id}));
    assert_eq!(warmth(&mut client), 1.0);
    // Errors, the tree, statistics and compiles do not warm nodes, and neither does the command
    // line.
    client.call("MemoryFetch", json!({"anchor": "nonsense"}));
    client.text("MemoryStats", json!({}));
    let other = |client: &mut Client| temperature(&client.text("MemoryTree", json!({})), "One");
    let before = other(&mut client);
    folder.ok("search connection --db m.db".split(' '));
    folder.ok("inspect --tree --files --db m.db".split(' '));
    folder.ok("inspect --tree --json --db m.db".split(' '));
    folder.ok("compile notes --db m.db".split(' '));
    assert_eq!(other(&mut client), before);
    // Another process sees it, at once and later.
    let mut second = Client::modern(&folder, &["--db", "m.db"]);
    assert_eq!(warmth(&mut second), 1.0);
    second.text("MemorySearch", json!({"query": "connection"}));
    assert_near(other(&mut client), before + 0.015);
    second.end();
    client.end();
    let shown = folder.ok("inspect --tree --db m.db".split(' '));
    assert_eq!(temperature(&shown, "Five"), 1.0);
}

#[test]
fn a_fetch_warms_what_it_shows_and_not_what_it_leaves_out() {
    let folder = compiled();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    let found = client.text("MemorySearch", json!({"query": "kilobytes"}));
    let (_, id) = found.split_once("(id=").unwrap();
    client.text("MemoryFetch", json!({"anchor": &id[..11], "budget": 45}));
    let tree = client.text("MemoryTree", json!({}));
    assert_near(temperature(&tree, "Five"), 0.665);
    assert_eq!(temperature(&tree, "One"), 0.50, "{tree}");
    client.end();
}
