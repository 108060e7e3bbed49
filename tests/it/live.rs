//! Tests live updates: subscribed clients are notified of changes by any process.

use std::collections::BTreeSet;

use expect_test::expect;
use serde_json::{Value, json};

use super::support::{Client, Folder};

const NOTES: &str = "# Store\n\nOne connection writes.\n\n## Limits\n\nFive kilobytes.\n";

const ALL: [&str; 7] = ["graph", "snapshots", "tree", "files", "rescan", "temperature", "logs"];

fn compiled() -> Folder {
    let folder = Folder::new().file("notes/store.md", NOTES);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

/// Starts a client that subscribes to resources.
#[track_caller]
fn subscriber(folder: &Folder, args: &[&str], names: &[&str]) -> Client {
    let mut client = Client::legacy(folder, args);
    for name in names {
        let uri = format!("remindb://{name}");
        let reply = client.ask("resources/subscribe", json!({"uri": uri}));
        assert_eq!(reply["result"], json!({}), "{reply}");
    }
    client
}

/// Reads updates until all of these have come; any other one fails the test. The reply to `request`
/// may come among them.
#[track_caller]
fn check_updates_beside(client: &Client, request: Option<u64>, names: &[&str]) {
    let mut missing: BTreeSet<&str> = names.iter().copied().collect();
    let mut is_answered = request.is_none();
    while !missing.is_empty() || !is_answered {
        let line = client.line();
        if line["id"] == json!(request) && line.get("result").is_some() {
            is_answered = true;
            continue;
        }
        assert_eq!(line["method"], "notifications/resources/updated", "{line}");
        let uri = line["params"]["uri"].as_str().unwrap();
        let name = uri.strip_prefix("remindb://").unwrap();
        assert!(missing.remove(name), "an update of {name} beside {missing:?}");
    }
}

#[track_caller]
fn check_updates(client: &Client, names: &[&str]) {
    check_updates_beside(client, None, names);
}

/// Calls a tool, and expects updates of these resources.
#[track_caller]
fn check_changes(client: &mut Client, tool: &str, arguments: &Value, names: &[&str]) {
    let id = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
    check_updates_beside(client, Some(id), names);
}

/// Asserts that no update comes before the reply to a `ping`.
#[track_caller]
fn check_quiet(client: &mut Client) {
    let id = client.request("ping", json!({}));
    assert_eq!(client.line()["id"], json!(id));
}

#[test]
fn a_write_notifies_subscribers_of_another_server() {
    let folder = compiled();
    let names = ["graph", "snapshots", "tree", "files", "temperature"];
    let mut watching = subscriber(&folder, &["--db", "m.db"], &names);
    let mut writing = Client::legacy(&folder, &["--db", "m.db"]);
    writing.text("MemoryWrite", json!({"payload": "A thought of no file."}));
    check_updates(&watching, &["graph", "snapshots", "tree"]);
    let found = writing.text("MemorySearch", json!({"query": "kilobytes"}));
    check_updates(&watching, &["temperature"]);
    let (_, id) = found.split_once("(id=").unwrap();
    let (id, name) = (&id[..11], "nowhere yet");
    writing.text("MemoryRelate", json!({"source_id": id, "target_label": name}));
    check_updates(&watching, &["graph"]);
    // The command line is another process.
    folder.write("notes/more.md", "# More\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    check_updates(&watching, &["graph", "snapshots", "tree", "files"]);
    check_quiet(&mut watching);
    watching.end();
    writing.end();
}

#[test]
fn a_restore_and_as_many_writes_are_noticed_by_a_server() {
    let folder = compiled();
    folder.ok(["backup", "b.db", "--db", "m.db"]);
    let names = ["snapshots", "tree", "heat"];
    let mut server = subscriber(&folder, &["--db", "m.db"], &names);
    let payload = json!({"payload": "# Lost\n\nBy the restore.\n\n- all of it"});
    check_changes(&mut server, "MemoryWrite", &payload, &names);
    let sums = |client: &mut Client| {
        ["map", "heat", "overview"].map(|name| {
            let uri = format!("remindb://{name}");
            let reply = client.ask("resources/read", json!({"uri": uri}));
            let text = reply["result"]["contents"][0]["text"].as_str().unwrap();
            let mut shown: Value = serde_json::from_str(text).unwrap();
            if name == "overview" {
                shown["snapshots"]["latest_age_s"] = Value::Null;
            }
            shown
        })
    };
    sums(&mut server);
    folder.ok(["restore", "b.db", "--db", "m.db"]);
    folder.ok(["write", "A text.", "--db", "m.db"]);
    check_updates(&server, &names);
    let mut fresh = Client::legacy(&folder, &["--db", "m.db"]);
    assert_eq!(sums(&mut server), sums(&mut fresh));
    fresh.end();
    server.end();
}

#[test]
fn an_own_write_notifies_only_when_it_changes_something() {
    let folder = compiled();
    let names = ["graph", "snapshots", "tree", "files"];
    let mut client = subscriber(&folder, &["--db", "m.db"], &names);
    let path = json!({"path": folder.path("notes")});
    check_changes(&mut client, "MemoryCompile", &path, &[]);
    check_quiet(&mut client);
    let thought = json!({"payload": "Written here."});
    check_changes(&mut client, "MemoryWrite", &thought, &["graph", "snapshots", "tree"]);
    client.ask("resources/unsubscribe", json!({"uri": "remindb://tree"}));
    folder.write("notes/more.md", "# More\n");
    check_changes(&mut client, "MemoryCompile", &path, &["graph", "snapshots", "files"]);
    client.end();
}

#[test]
fn a_scan_notifies_only_when_it_finds_something() {
    let folder = compiled();
    let args = ["--db", "m.db", "--source", "notes", "--rescan-interval", "100ms", "--verbose"];
    let mut client = subscriber(&folder, &args, &["rescan", "files"]);
    for _ in 0..3 {
        client.logged("0 added, 0 modified, 0 removed");
    }
    check_quiet(&mut client);
    folder.write("notes/more.md", "# More\n");
    check_updates(&client, &["rescan", "files"]);
    client.end();
}

#[test]
fn reading_the_log_is_no_news_of_the_log() {
    let folder = compiled();
    let config = r#"{
        "rescan": {"enabled": false},
        "server": {"resources": {"overrides": {"logs": "1ms"}}}
    }"#;
    folder.write("c/.remindb/config.json", config);
    let args = ["--db", "m.db", "--source", "c", "--verbose"];
    let mut client = subscriber(&folder, &args, &["logs", "files"]);
    client.ask("tools/call", json!({"name": "MemoryStats", "arguments": {}}));
    // Changes by other processes are noticed later than earlier messages of the log.
    let changes_elsewhere = |name: &str| {
        folder.write(format!("notes/{name}.md"), "# More\n");
        folder.ok(["compile", "notes", "--db", "m.db"]);
    };
    changes_elsewhere("one");
    while client.line()["params"]["uri"] != "remindb://files" {}
    for _ in 0..5 {
        let id = client.request("resources/read", json!({"uri": "remindb://logs"}));
        check_updates_beside(&client, Some(id), &[]);
    }
    changes_elsewhere("two");
    check_updates(&client, &["files"]);
    client.end();
}

#[test]
fn a_modern_client_listens_until_it_cancels_or_the_server_ends() {
    let folder = compiled();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let uris =
        |names: &[&str]| -> Value { names.iter().map(|it| format!("remindb://{it}")).collect() };
    let wanted = json!({"resourceSubscriptions": uris(&ALL), "toolsListChanged": true});
    let all = client.request("subscriptions/listen", json!({"notifications": wanted}));
    let acknowledged = client.line();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let agreed = &acknowledged["params"]["notifications"];
    let mut names = ALL;
    names.sort_unstable();
    assert_eq!(*agreed, json!({"resourceSubscriptions": uris(&names)}));
    let cancel = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": all},
    });
    client.send(cancel.to_string());
    let wanted = json!({"resourceSubscriptions": ["remindb://graph", "remindb://overview"]});
    let one = client.request("subscriptions/listen", json!({"notifications": wanted}));
    let acknowledged = client.line();
    assert_eq!(acknowledged["params"]["notifications"]["resourceSubscriptions"], uris(&["graph"]));
    let thought = json!({"name": "MemoryWrite", "arguments": {"payload": "Written here."}});
    client.request("tools/call", thought);
    let lines = [client.line(), client.line()];
    let update = lines.iter().find(|it| it.get("id").is_none()).unwrap();
    let meta = json!({"io.modelcontextprotocol/subscriptionId": one});
    assert_eq!(update["params"], json!({"_meta": meta, "uri": "remindb://graph"}));
    client.close();
    let ended = client.line();
    assert_eq!(ended["id"], json!(one));
    assert_eq!(ended["result"]["resultType"], "complete");
    let meta = &ended["result"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], json!(one));
    assert_eq!(meta["io.modelcontextprotocol/serverInfo"]["name"], "remindb");
    client.end();
}

#[test]
fn a_window_for_what_does_not_change_is_refused_at_start() {
    let folder = compiled();
    let bad = r#"{"server": {"resources": {"overrides": {"overview": "1s"}}}}"#;
    folder.write("notes/.remindb/config.json", bad);
    folder.check_session(expect![[r#"
        $ serve --db m.db --source notes
        ! remindb: `server.resources.overrides.overview` in .remindb/config.json names no resource that changes; these do: graph, snapshots, tree, files, rescan, temperature, logs
        = 2
    "#]]);
}
