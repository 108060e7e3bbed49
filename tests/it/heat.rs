//! Tests the notifications of cold nodes, as a client gets them.

use serde_json::{Value, json};

use super::support::{Client, Folder};

/// Returns a memory attended for so long that everything in it is cold.
fn cold() -> Folder {
    let notes = "# Store\n\nOne connection writes.\n\n## Limits\n\nFive kilobytes.\n";
    let folder = Folder::new().file("notes/store.md", notes);
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let long = "UPDATE memory SET attended = 1000 * 3600 * 1000";
    folder.database("m.db").execute_batch(long).unwrap();
    folder
}

fn n_blocks(result: &Value) -> usize {
    result["content"].as_array().unwrap().len()
}

#[test]
fn a_modern_client_gets_a_cold_notice_once_across_restarts() {
    let folder = cold();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    // Half of the budget is too small for any note, and without room there is none.
    let short = client.call("MemoryTree", json!({"budget": 30})).result;
    assert_eq!(n_blocks(&short), 1, "{short}");
    let stats = client.call("MemoryStats", json!({})).result;
    assert_eq!(n_blocks(&stats), 2, "{stats}");
    let told = &stats["_meta"]["remindb.temperature"];
    assert_eq!(told["suggested_action"], "MemorySummarize");
    let labels: Vec<&str> =
        told["nodes"].as_array().unwrap().iter().map(|it| it["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["Store", "One connection writes.", "Limits", "Five kilobytes."]);
    let note = stats["content"][1]["text"].as_str().unwrap();
    assert!(labels.iter().all(|it| note.contains(it)), "{note}");
    assert_eq!(n_blocks(&client.call("MemoryStats", json!({})).result), 1);
    client.end();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    assert_eq!(n_blocks(&client.call("MemoryStats", json!({})).result), 1);
    client.end();
    folder.assert_healthy("m.db");
}

#[test]
fn a_note_keeps_the_budget_of_the_settings() {
    let folder = cold();
    folder.write("notes/.remindb/config.json", r#"{"budgets": {"search": 30}}"#);
    let mut client = Client::modern(&folder, &["--db", "m.db", "--source", "notes"]);
    let ask = |budget: u32| match budget {
        0 => json!({"query": "kilobytes"}),
        budget => json!({"query": "kilobytes", "budget": budget}),
    };
    let short = client.call("MemorySearch", ask(0)).result;
    assert_eq!(n_blocks(&short), 1, "{short}");
    let long = client.call("MemorySearch", ask(400)).result;
    assert_eq!(n_blocks(&long), 2, "{long}");
    client.end();
}

#[test]
fn a_session_client_gets_cold_notices_when_it_wants_warnings() {
    let folder = cold();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    assert_eq!(n_blocks(&client.call("MemoryStats", json!({})).result), 1);
    client.ask("logging/setLevel", json!({"level": "warning"}));
    let message = client.line();
    assert_eq!(message["method"], "notifications/message");
    let params = &message["params"];
    assert_eq!(
        (&params["level"], &params["logger"]),
        (&json!("warning"), &json!("remindb.temperature"))
    );
    assert_eq!(params["data"]["nodes"].as_array().unwrap().len(), 4);
    let node = &params["data"]["nodes"][0];
    let names: Vec<&String> = node.as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "label", "file", "temperature"]);
    assert_eq!((&node["label"], &node["file"]), (&json!("Store"), &json!("store.md")));
    client.end();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    client.ask("logging/setLevel", json!({"level": "warning"}));
    // The next line is the reply, not a notification.
    client.text("MemoryStats", json!({}));
    client.end();
}
