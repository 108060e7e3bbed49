//! Tests an agent's writes through the real server.
//!
//! They survive a recompile, a restart and a compile at the start, and later changes of the file
//! still count.

use serde_json::{Value, json};

use super::support::{Client, Folder, Reply};

const NOTES: &str = "# Deploy\n\nBy hand, on Fridays.\n\n## Roll back\n\nUndo it.\n\nTell all.\n";

fn notes() -> Folder {
    let folder = Folder::new().file("notes/deploy.md", NOTES);
    folder.date("notes/deploy.md", 0);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    folder
}

/// Starts a server of the notes that has compiled them.
#[track_caller]
fn served(folder: &Folder) -> Client {
    let client = Client::legacy(folder, &["--db", "m.db", "--source", "notes", "--structured"]);
    client.logged("compiled: ");
    client
}

fn search(client: &mut Client, words: &str) -> Vec<(String, String)> {
    let found = client.call("MemorySearch", json!({"query": words})).result;
    let hits = found["structuredContent"]["hits"].as_array().unwrap().clone();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    hits.iter().map(|it| (text(&it["id"]), text(&it["label"]))).collect()
}

#[track_caller]
fn id(client: &mut Client, label: &str) -> String {
    let hits = search(client, label);
    hits.iter().find(|it| it.1 == label).unwrap_or_else(|| panic!("{hits:?}")).0.clone()
}

fn head(client: &mut Client) -> Value {
    client.call("MemoryStats", json!({})).result["structuredContent"]["head"].clone()
}

/// Changes a note so that it looks changed, whatever the clock says.
fn edit(folder: &Folder, nth: u64, from: &str, to: &str) {
    let text = std::fs::read_to_string(folder.path("notes/deploy.md")).unwrap();
    assert!(text.contains(from));
    folder.write("notes/deploy.md", text.replacen(from, to, 1));
    folder.date("notes/deploy.md", nth);
}

#[test]
fn agent_text_survives_recompiles_and_restarts() {
    let folder = notes();
    let mut client = served(&folder);
    let by_hand = id(&mut client, "By hand, on Fridays.");
    let roll_back = id(&mut client, "Roll back");
    let tell = id(&mut client, "Tell all.");
    let answer = client.text("MemoryWrite", json!({"anchor": by_hand, "payload": "By robot."}));
    assert_eq!(answer, format!("wrote node {by_hand} (3 tokens)"));
    let written =
        client.text("MemoryWrite", json!({"anchor": roll_back, "payload": "Never at night."}));
    assert!(written.starts_with("wrote node ") && written.ends_with(" (4 tokens)"), "{written}");
    let forgotten = client.text("MemoryForget", json!({"node_id": tell}));
    assert_eq!(forgotten, format!("forgot node {tell} (mode=strict, 1 affected)"));
    let undo = id(&mut client, "Undo it.");
    let summed = client.text("MemorySummarize", json!({"node_id": undo, "summary": "Undo."}));
    assert_eq!(summed, format!("summarized node {undo} (3 → 2 tokens)"));
    let before = head(&mut client);
    assert_eq!(before["message"], format!("summarize:{undo}"));
    client.text("MemoryCompile", json!({"path": "."}));
    assert_eq!(head(&mut client), before);
    client.end();

    // The other paragraph of the file changes while no server runs.
    edit(&folder, 1, "# Deploy", "# Deploy\n\nNew on top.");
    for _ in 0..2 {
        let mut client = served(&folder);
        let tree = client.text("MemoryTree", json!({}));
        let labels: Vec<&str> = tree
            .lines()
            .map(|it| it.split_once("] ").unwrap().1.split(" (id=").next().unwrap())
            .collect();
        assert_eq!(
            labels,
            [
                "Deploy",
                "New on top.",
                "By robot.",
                "Roll back",
                "Summary: Undo.",
                "Never at night."
            ]
        );
        assert_eq!(id(&mut client, "By robot."), by_hand);
        client.end();
    }

    edit(&folder, 2, "on Fridays", "on Mondays");
    let mut client = served(&folder);
    assert_eq!(id(&mut client, "By hand, on Mondays."), by_hand);
    assert!(!client.text("MemoryTree", json!({})).contains("Tell all."));
    client.end();
    folder.assert_healthy("m.db");
    let conflicts: i64 = folder
        .database("m.db")
        .query_row("SELECT count(*) FROM diff WHERE conflict", [], |row| row.get(0))
        .unwrap();
    assert_eq!(conflicts, 1);
}

#[test]
fn a_server_without_notes_begins_a_memory() {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &["--db", "new.db", "--structured"]);
    client.logged("a new memory was made at `");
    let written = client.call("MemoryWrite", json!({"payload": "# Plan\n\nFirst this."})).result;
    let facts = written["structuredContent"].clone();
    assert_eq!((&facts["n_nodes"], &facts["snapshot"]), (&json!(2), &json!(1)));
    let again = client.call("MemoryWrite", json!({"payload": "# Plan\n\nFirst this."})).result;
    assert_eq!(again["structuredContent"]["node_id"], facts["node_id"]);
    assert_eq!(again["structuredContent"]["snapshot"], Value::Null);
    client.end();
    folder.assert_healthy("new.db");
}

#[test]
fn a_senseless_call_is_an_error_and_changes_nothing() {
    let folder = notes();
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--structured"]);
    let deploy = id(&mut client, "Deploy");
    let before = head(&mut client);
    let near = format!("{}zzz", &deploy[..8]);
    for (tool, arguments, why) in [
        ("MemoryWrite", json!({"payload": ""}), "`payload` is blank"),
        ("MemoryWrite", json!({"payload": "x", "anchor": near}), &*format!("nearest: `{deploy}`")),
        ("MemoryWrite", json!({"payload": "x", "anchor": "x".repeat(99_999)}), "no node `xxx"),
        ("MemoryWrite", json!({"anchor": deploy}), "missing argument `payload`"),
        ("MemorySummarize", json!({"node_id": "", "summary": "x"}), "no node ``"),
        ("MemorySummarize", json!({"node_id": deploy, "summary": "\n"}), "`summary` is blank"),
        (
            "MemorySummarize",
            json!({"node_id": deploy, "summary": "x", "temperature": 1.5}),
            "`temperature` must be between 0 and 1",
        ),
        ("MemoryForget", json!({"node_id": deploy}), "has 2 children"),
        ("MemoryForget", json!({"node_id": deploy, "mode": "all"}), "`mode` must be one of"),
        ("MemoryPin", json!({"node_id": "nobody"}), "no node `nobody`"),
        ("MemoryUnpin", json!({}), "missing argument `node_id`"),
    ] {
        let Reply { text, is_error, .. } = client.call(tool, arguments.clone());
        assert!(is_error && text.contains(why), "{tool} {arguments}: {text}");
        assert!(text.len() < 500, "{tool}: {text}");
    }
    assert_eq!(head(&mut client), before);
    client.end();
}

#[test]
fn pins_differ_and_make_no_snapshot() {
    let folder = notes();
    let mut client = Client::legacy(&folder, &["--db", "m.db", "--structured"]);
    let deploy = id(&mut client, "Deploy");
    let before = head(&mut client);
    let pinned = client.text("MemoryPin", json!({"node_id": deploy, "temperature": 0.9}));
    assert_eq!(pinned, format!("pinned node {deploy} at temperature 0.9"));
    let stats = client.call("MemoryStats", json!({})).result["structuredContent"].clone();
    assert_eq!(stats["temperature"]["pinned"], 1, "{stats}");
    let unpinned = client.text("MemoryUnpin", json!({"node_id": deploy}));
    assert_eq!(unpinned, format!("unpinned node {deploy}"));
    assert_eq!(head(&mut client), before);
    client.end();
}
