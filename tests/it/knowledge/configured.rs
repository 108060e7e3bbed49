//! Knowledge as settings make it, and a server that opens no socket.

use std::fs;

use serde_json::{Value, json};

use super::super::support::{Client, Folder};
use super::call;

#[test]
fn kinds_of_ones_own_come_from_the_environment_or_a_file() {
    let folder = Folder::new();
    let remember = |kind: &str, variable: &str| {
        let args = ["remember", "--type", kind, "We sang together.", "--db", "m.db"];
        let mut command = folder.command(args);
        command.env("HOME", folder.path("home")).env("REMIND_EPISODE_TYPES", variable);
        let ran = command.output().unwrap();
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap())
    };
    let (code, told) = remember("ritual", "");
    assert_eq!(code, Some(2));
    assert!(told.contains("`kind` must be core, learning, task or one of observation,"), "{told}");
    assert!(!folder.path("m.db").exists(), "a refusal makes no memory");
    let (code, told) = remember("ritual", "ritual,other");
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = remember("ritual", "Big Word");
    assert_eq!(code, Some(2));
    assert!(told.contains("`REMIND_EPISODE_TYPES` has `Big Word`"), "{told}");
    // A file of the home folder counts where nothing else says so.
    fs::create_dir_all(folder.path("home/.remind")).unwrap();
    let file = json!({"episode_types": ["chant"], "llm_provider": "anthropic"});
    fs::write(folder.path("home/.remind/remind.config.json"), file.to_string()).unwrap();
    assert_eq!(remember("chant", "").0, Some(0));
    assert_eq!(remember("chant", "ritual").0, Some(2), "the environment counts first");
    let recalled = folder.ok(["recall", "sang", "--json", "--db", "m.db"]);
    assert!(recalled.contains("\"ritual\"") && recalled.contains("\"chant\""), "{recalled}");
    folder.assert_healthy("m.db");
}

#[test]
fn a_folder_sets_kinds_and_the_size_of_chunks() {
    let config = json!({"knowledge": {"episode_types": ["ritual"], "ingest_buffer_size": 500}});
    let folder = Folder::new()
        .file("notes/a.md", "# A\n")
        .file("notes/.remindb/config.json", config.to_string());
    let mut client = Client::modern(&folder, &["--db", "m.db", "--source", "notes"]);
    let kept =
        call(&mut client, "MemoryRemember", json!({"content": "We sang.", "kind": "ritual"}));
    assert_eq!(kept["results"][0]["created"], true);
    let text = "The choir sang in the old mill. ".repeat(20);
    let chunks = call(&mut client, "MemoryIngest", json!({"content": text}));
    assert_eq!((&chunks["chunks"], &chunks["buffered"]), (&json!(2), &json!(0)), "{chunks}");
    let refused = client.call(
        "MemoryRemember",
        json!({"items": [
        {"content": "a"}, {"content": "b", "kind": "rumour"}]}),
    );
    assert!(
        refused.is_error && refused.text.contains("`items[1].kind` must be"),
        "{}",
        refused.text
    );
    client.end();
    folder.assert_healthy("m.db");
}

/// Calls every tool of knowledge and looks at what the process has open.
#[cfg(target_os = "linux")]
#[test]
fn no_socket_of_the_network_is_opened() {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &["--db", "m.db", "--tools", "all,memory,remind"]);
    let sockets = |client: &Client| -> Vec<String> {
        let open = fs::read_dir(format!("/proc/{}/fd", client.pid())).unwrap();
        let links = open.filter_map(|it| fs::read_link(it.unwrap().path()).ok());
        let names = links.map(|it| it.to_string_lossy().into_owned());
        let inodes = names.filter_map(|it| {
            it.strip_prefix("socket:[").and_then(|it| it.strip_suffix(']')).map(str::to_owned)
        });
        // Signals come by a pair of local sockets, which no table of the network has.
        let tables = ["tcp", "tcp6", "udp", "udp6", "raw", "raw6"].map(|name| {
            fs::read_to_string(format!("/proc/{}/net/{name}", client.pid())).unwrap_or_default()
        });
        let is_network = |it: &String| {
            tables.iter().any(|table| table.split_whitespace().any(|word| word == it))
        };
        inodes.filter(is_network).collect()
    };
    let items: Vec<Value> =
        (0..12).map(|nth| json!({"content": format!("Payment {nth} failed.")})).collect();
    for (tool, args) in [
        ("MemoryRemember", json!({"items": items})),
        ("MemoryRecall", json!({"query": "payment failed"})),
        ("MemoryIngest", json!({"content": "It was slow.", "flush": true})),
        ("MemoryReview", json!({"task": "triage"})),
        ("MemoryConsolidate", json!({"force": true})),
        ("MemoryApply", json!({"operations": [{"op": "topic", "name": "Speed"}]})),
        ("consolidate", json!({"force": true})),
        ("recall", json!({"query": "payment"})),
    ] {
        let reply = client.call(tool, args);
        assert!(!reply.is_error, "{tool}: {}", reply.text);
        assert_eq!(sockets(&client), [""; 0], "after {tool}");
    }
    client.end();
}

#[test]
fn remembering_takes_the_kinds_of_the_folder_as_applying_does() {
    let config = json!({"knowledge": {"episode_types": ["ritual"]}});
    let folder = Folder::new()
        .file("notes/a.md", "# A\n")
        .file("notes/.remindb/config.json", config.to_string());
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder.ok(["remember", "--type", "ritual", "We sang.", "--db", "m.db"]);
    let refused = folder.run(["remember", "--type", "rumour", "They sang.", "--db", "m.db"]);
    assert!(refused.stderr.contains("`kind` must be"), "{}", refused.stderr);
    folder.assert_healthy("m.db");
}

#[test]
fn an_error_in_json_has_the_number_of_its_operation() {
    let operations = json!([
        {"op": "topic", "name": "Speed"}, {"op": "delete", "id": "nobody"},
    ]);
    let folder = Folder::new().file("bad.json", operations.to_string());
    folder.ok(["remember", "We sang.", "--db", "m.db"]);
    let bad = folder.run(["apply", "-f", "bad.json", "--db", "m.db"]);
    assert_eq!(
        bad.stderr,
        "remindb: operation 1: `id` names `nobody`, which is no node; nothing was applied\n"
    );
}
