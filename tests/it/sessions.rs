//! Tests the ledgers of sessions beside the notes.
//!
//! No session is lost or counted twice, whatever happens to the server, and no ledger has any
//! content of the conversation.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::support::{Client, Folder};

const ARGS: [&str; 4] = ["--db", "m.db", "--source", "notes"];

const CONFIG: &str = r#"{"server": {
    "logging": {"level": "debug", "session_files": {"enabled": true, "max_file_size": "1MB"}},
    "rescan_files": {"enabled": true},
    "sessions": {"flush_interval": "50ms"}
}}"#;

fn folder() -> Folder {
    Folder::new().file("notes/.remindb/config.json", CONFIG).file("notes/a.md", "# Bees\n\nBuzz.\n")
}

/// Starts a server whose client introduces itself as `info`.
fn connect(folder: &Folder, info: Value) -> Client {
    let mut client = Client::start(folder, &ARGS);
    let hello = json!({"protocolVersion": "2025-11-25", "clientInfo": info});
    let hello = client.ask("initialize", hello);
    assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{hello}");
    client
}

fn desk() -> Value {
    json!({"name": "Desk App", "title": "Desk", "version": "1.2"})
}

/// Returns the files of a folder below `.remindb`, by name.
fn files(folder: &Folder, name: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.path("notes/.remindb").join(name)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter_map(|it| serde_json::from_str(it).ok()).collect()
}

/// Returns the last line about each session of the only client.
fn sessions(folder: &Folder) -> HashMap<String, Value> {
    let ledgers: Vec<PathBuf> = files(folder, "sessions");
    let ledgers: Vec<&PathBuf> =
        ledgers.iter().filter(|it| it.extension().is_some_and(|it| it == "jsonl")).collect();
    let [ledger] = ledgers[..] else { panic!("{ledgers:?}") };
    let name = ledger.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("desk-app-"), "{name}");
    let lines = lines(ledger).into_iter();
    lines.map(|it| (it["session_id"].as_str().unwrap().to_owned(), it)).collect()
}

#[test]
fn a_session_is_written_down_when_it_begins_and_when_it_ends() {
    let folder = folder();
    let mut client = connect(&folder, desk());
    client.logged("sessions written down n=1");
    let begun = sessions(&folder).into_values().next().unwrap();
    assert_eq!((&begun["disconnected_at"], &begun["tool_calls"]), (&Value::Null, &json!(0)));
    client.text("MemorySearch", json!({"query": "buzz"}));
    client.ask("ping", json!({}));
    client.end();
    let sessions = sessions(&folder);
    let ended = sessions.values().next().unwrap();
    assert_eq!((sessions.len(), &ended["tool_calls"]), (1, &json!(1)));
    assert!(ended["connected_at"].as_i64() <= ended["disconnected_at"].as_i64());
    let keys: Vec<&String> = ended.as_object().unwrap().keys().collect();
    let expected = "session_id client transport connected_at last_seen disconnected_at tool_calls";
    assert_eq!(keys, expected.split(' ').collect::<Vec<_>>());
}

#[test]
fn a_killed_server_costs_no_client_and_none_is_counted_twice() {
    let folder = folder();
    for n in 1..=6 {
        // The line is written before the first answer.
        let mut client = connect(&folder, desk());
        for _ in 0..n {
            client.request("tools/call", json!({"name": "MemoryStats", "arguments": {}}));
        }
        client.kill();
        // Whatever was being written, the next server finds a readable history.
        assert_eq!(sessions(&folder).len(), n);
        let ledger = &files(&folder, "sessions")[0];
        let mut text = fs::read(ledger).unwrap();
        text.extend(b"{\"session_id\":\"cut o");
        fs::write(ledger, text).unwrap();
    }
    connect(&folder, desk()).end();
    assert_eq!(sessions(&folder).len(), 7);
    assert_eq!(sessions(&folder).values().filter(|it| it["disconnected_at"].is_i64()).count(), 1);
}

#[test]
fn servers_share_a_ledger() {
    let folder = folder();
    let mut clients: Vec<Client> = (0..3).map(|_| connect(&folder, desk())).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        for _ in 0..=n {
            client.text("MemoryStats", json!({}));
        }
    }
    clients.into_iter().for_each(Client::end);
    let sessions = sessions(&folder);
    let mut calls: Vec<u64> =
        sessions.values().map(|it| it["tool_calls"].as_u64().unwrap()).collect();
    calls.sort_unstable();
    assert_eq!(calls, [1, 2, 3], "{sessions:?}");
    assert!(sessions.values().all(|it| it["disconnected_at"].is_i64()));
}

#[test]
fn each_call_is_in_the_log_of_its_session() {
    let folder = folder();
    let mut client = connect(&folder, desk());
    client.text("MemoryWrite", json!({"payload": "# Wasps\n"}));
    client.call("MemoryFetch", json!({"anchor": "nowhere"}));
    client.call("MemoryFetch", json!({"anchors": 7}));
    client.end();
    let (id, _) = sessions(&folder).into_iter().next().unwrap();
    let logs = files(&folder, "logs");
    assert_eq!(logs, [folder.path("notes/.remindb/logs").join(format!("{id}.log"))]);
    let records: Vec<String> = lines(&logs[0])
        .into_iter()
        .map(|mut it| {
            assert!(it["time"].as_str().unwrap().ends_with('Z'));
            it["time"] = json!("");
            it["fields"]["elapsed_ms"] = json!(0);
            it.to_string()
        })
        .collect();
    expect_test::expect![[r#"
        {"time":"","level":"DEBUG","msg":"mcp call","fields":{"tool":"MemoryWrite","elapsed_ms":0,"payload_bytes":8}}
        {"time":"","level":"ERROR","msg":"mcp call failed","fields":{"tool":"MemoryFetch","elapsed_ms":0,"payload_bytes":7,"kind":"not_found"}}
        {"time":"","level":"ERROR","msg":"mcp call failed","fields":{"tool":"MemoryFetch","elapsed_ms":0,"payload_bytes":0,"kind":"bad_argument"}}"#]]
    .assert_eq(&records.join("\n"));
}

/// Collects every file below a folder.
fn all_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all_files(&path, found),
            false => found.push(path),
        }
    }
}

/// Sends requests with made-up names, ids and URIs.
fn make_things_up(client: &mut Client) {
    client.ask("tools/call", json!({"name": "toolmark", "arguments": {}}));
    client.ask("methodmark", json!({}));
    for method in ["resources/read", "resources/subscribe"] {
        client.ask(method, json!({"uri": "remindb://urimark"}));
        client.ask(method, json!({"uri": "remindb://tree/urimark?depth=1"}));
    }
    for line in [
        r#"{"jsonrpc":"2.0","id":"idmark","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":"idmark","method":"tools/call","params":{"name":"MemoryStats"}}"#,
        r#"{"jsonrpc":"2.0","id":"idmark","method":"methodmark"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"idmark"}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/mark","params":{"mark":"mark"}}"#,
        "brokenmark",
    ] {
        client.send(line);
    }
}

#[test]
fn no_log_holds_any_content() {
    let folder = folder();
    // Assembled here, so that scanners do not take them for real ones.
    let secrets = [format!("ghp_{}", "a1B2".repeat(9)), format!("AKIA{}", "Q7Z3".repeat(4))];
    let info = json!({
        "name": format!("Desk {}", secrets[0]),
        "title": format!("Desk {}", secrets[1]),
        "version": format!("1 {}", secrets[0]),
    });
    let mut client = connect(&folder, info);
    let calls = [
        ("MemoryWrite", json!({"payload": format!("# payloadmark\n\nkey {}\n", secrets[1])})),
        ("MemorySearch", json!({"query": "querymark"})),
        ("MemorySearch", json!({"query": "\"querymark AND ("})),
        ("MemoryFetch", json!({"anchor": "anchormark"})),
        ("MemoryCompile", json!({"path": "/pathmark/nowhere.md", "message": "messagemark"})),
        ("MemorySummarize", json!({"node_id": "idmark", "summary": "summarymark"})),
        ("MemoryRelate", json!({"source_id": "idmark", "target_label": "labelmark"})),
        ("MemoryTree", json!({"keymark": "valuemark"})),
        ("MemoryForget", json!({"node_id": "idmark", "mode": "modemark"})),
        ("MemoryRollback", json!({"snapshot_id": "snapmark"})),
    ];
    for (tool, arguments) in calls {
        client.call(tool, arguments);
    }
    make_things_up(&mut client);
    let logs = client.ask("resources/read", json!({"uri": "remindb://logs"}));
    let mut texts = vec![("remindb://logs".to_owned(), logs.to_string())];
    client.close();
    assert_eq!(client.wait().code(), Some(0));
    let mut log = String::new();
    while let Some(line) = client.log_line() {
        log += &line;
        log.push('\n');
    }
    assert!(log.contains("mcp call failed tool=MemoryFetch"), "{log}");
    texts.push(("stderr".to_owned(), log));
    let mut paths = Vec::new();
    all_files(&folder.path("notes/.remindb"), &mut paths);
    for path in paths.iter().filter(|it| !it.ends_with("config.json")) {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{path:?}");
        texts.push((path.display().to_string(), fs::read_to_string(path).unwrap()));
    }
    assert!(4 <= texts.len(), "{texts:?}");
    for (whose, text) in texts {
        let whole = format!("{whose}\n{text}");
        assert!(!whole.contains("mark"), "{whole}");
        assert!(secrets.iter().all(|it| !whole.contains(it.as_str())), "{whole}");
        assert!(secrets.iter().all(|it| !whole.contains(&it.to_lowercase())), "{whole}");
    }
    for name in ["sessions", "logs"] {
        let mode = fs::metadata(folder.path("notes/.remindb").join(name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
    }
}
