use serde_json::{Value, json};

use super::support::{Client, Folder};

const NOTES: &str =
    "# Store\n\n## Writer\n\nOne connection writes.\n\n## Reader\n\nAny number reads.\n";

/// Returns a folder with two files, and the ids of the first file's nodes by their labels.
fn compiled() -> (Folder, impl Fn(&str) -> String) {
    let folder = Folder::new()
        .file("notes/store.md", NOTES)
        .file("notes/deep/people.md", "# People\n\nAna is on call.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let db = folder.database("m.db");
    let id = move |label: &str| {
        db.query_row("SELECT id FROM node WHERE label = ?1", [label], |row| row.get(0)).unwrap()
    };
    (folder, id)
}

/// Calls a tool that has to fail, and returns the error.
#[track_caller]
fn failure(client: &mut Client, tool: &str, args: Value) -> String {
    let reply = client.call(tool, args);
    assert!(reply.is_error, "{}", reply.text);
    reply.text
}

/// Calls a tool with its own arguments, then with other ones: the answer is the same.
#[track_caller]
fn same(client: &mut Client, tool: &str, own: Value, others: &[Value]) {
    let expected = facts(&client.text(tool, own));
    for other in others {
        assert_eq!(facts(&client.text(tool, other.clone())), expected, "{tool} {other}");
    }
}

/// Returns a reply without scores and temperatures, which rise with each reading.
fn facts(reply: &str) -> String {
    let is_heat = |it: &&str| it.starts_with("score=") || it.starts_with("temp=");
    reply.split_inclusive([' ', ')']).filter(|it| !is_heat(it)).collect()
}

#[test]
fn every_tool_takes_a_node_by_any_name_and_by_its_file() {
    let (folder, id) = compiled();
    let (store, people) = (id("Store"), id("People"));
    let mut client = Client::modern(&folder, &["--db", "m.db", "--source", "notes"]);
    let tools = [
        ("MemoryFetch", "anchor", json!({})),
        ("MemoryHistory", "anchor", json!({})),
        ("MemoryPin", "node_id", json!({"temperature": 0.5})),
        ("MemoryRelate", "source_id", json!({"target_id": people})),
        ("MemoryRelated", "anchor", json!({})),
        ("MemorySummarize", "node_id", json!({"summary": "Store"})),
        ("MemoryTree", "root", json!({})),
        ("MemoryUnpin", "node_id", json!({})),
        ("MemoryWrite", "anchor", json!({"payload": "New."})),
    ];
    for (tool, own, rest) in tools {
        let with = |name: &str, value: &str| {
            let mut args = rest.clone();
            args[name] = value.into();
            args
        };
        let names = ["anchor", "id", "node_id", "root", "source_id"];
        let mut others: Vec<Value> = names.iter().map(|it| with(it, &store)).collect();
        others.push(with(own, "store.md"));
        others.push(with("id", "./store.md"));
        let absolute = folder.path("notes/store.md");
        others.push(with("id", absolute.to_str().unwrap()));
        if tool == "MemoryRelate" {
            // The reply repeats the id as it was given.
            others.truncate(names.len());
        }
        same(&mut client, tool, with(own, &store), &others);
        let twice = json!({"id": store, "node_id": people});
        let mut args = rest.clone();
        args.as_object_mut().unwrap().extend(twice.as_object().unwrap().clone());
        let why = failure(&mut client, tool, args);
        assert!(why.contains("mean the same here, and differ"), "{tool}: {why}");
    }
    let batch = json!({"node_ids": [people]});
    let others = [
        json!({"node_ids": people}),
        json!({"node_ids": format!("[\"{people}\"]")}),
        json!({"ids": [people]}),
        json!({"id": people}),
        json!({"anchor": "deep/people.md"}),
    ];
    same(&mut client, "MemoryFetchBatch", batch, &others);
    let edge = json!({"source_id": "store.md", "target_id": "deep/people.md"});
    assert!(client.text("MemoryRelate", edge.clone()).ends_with(&format!("-> {people}")));
    assert!(client.text("MemoryUnrelate", edge).ends_with(&format!("-> {people}")));
    for name in ["anchor", "id", "node_id", "root", "source_id"] {
        let wrote = client.text("MemoryWrite", json!({"payload": format!("For {name}.")}));
        let id = &wrote["wrote node ".len()..][..11];
        assert!(client.text("MemoryForget", json!({name: id})).starts_with("forgot node"));
    }
    client.end();
}

#[test]
fn a_path_of_two_files_is_an_error_that_names_both() {
    let (folder, _) = compiled();
    folder.write("other/store.md", "# Shop\n");
    folder.ok(["compile", "other", "--db", "m.db"]);
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let why = failure(&mut client, "MemoryFetch", json!({"anchor": "store.md"}));
    let (notes, other) = (folder.path("notes/store.md"), folder.path("other/store.md"));
    let (notes, other) = (notes.display(), other.display());
    assert_eq!(why, format!("2 files are called `store.md`; name one: `{notes}`, `{other}`"));
    let fetched = client.text("MemoryFetch", json!({"anchor": other.to_string()}));
    assert!(fetched.contains("Shop"), "{fetched}");
    client.end();
}

#[test]
fn a_path_as_the_workspace_has_it_names_its_file() {
    let (folder, _) = compiled();
    folder.write("other/notes/store.md", "# Shop\n");
    folder.ok(["compile", "other/notes", "--db", "m.db"]);
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let below = client.text("MemoryFetch", json!({"anchor": "./notes/deep/people.md"}));
    assert_eq!(below, client.text("MemoryFetch", json!({"anchor": "deep/people.md"})));
    let shop = client.text("MemoryFetch", json!({"anchor": "other/notes/store.md"}));
    assert!(shop.contains("Shop"), "{shop}");
    // Folders that end two roots name two files; a part of a folder's name is no folder.
    let why = failure(&mut client, "MemoryFetch", json!({"anchor": "notes/store.md"}));
    assert!(why.starts_with("2 files are called `notes/store.md`; name one: "), "{why}");
    let why = failure(&mut client, "MemoryFetch", json!({"anchor": "otes/store.md"}));
    assert!(why.starts_with("no node `otes/store.md`"), "{why}");
    client.end();
}

#[test]
fn everything_that_clients_of_the_old_server_send_is_taken() {
    let (folder, id) = compiled();
    let (store, writer) = (id("Store"), id("Writer"));
    let mut client = Client::modern(&folder, &["--db", "m.db", "--source", "notes"]);
    // A client that fills in every field sends zeros, empty strings and nulls.
    let calls = [
        ("MemoryTree", json!({"root": "", "depth": 0})),
        ("MemoryTree", json!({"root": store, "depth": 500})),
        ("MemorySearch", json!({"query": "writes", "budget": -1})),
        ("MemorySearch", json!({"query": "writes", "budget": null})),
        ("MemoryFetch", json!({"anchor": store, "budget": 0, "depth": -1})),
        ("MemoryFetchBatch", json!({"node_ids": [store, "unknown"], "budget": null})),
        ("MemoryRelated", json!({"anchor": store, "direction": "", "depth": 99, "weight_min": 0})),
        ("MemoryRelated", json!({"anchor": store, "direction": "in", "budget": 0})),
        ("MemoryDelta", json!({"since_snapshot": 0})),
        ("MemoryDelta", json!({})),
        ("MemoryDiff", json!({"from_snapshot_id": 0, "to_snapshot_id": 1})),
        ("MemoryHistory", json!({"anchor": store, "depth": 0})),
        ("MemoryStats", json!({})),
        ("MemoryWrite", json!({"payload": "New.", "anchor": ""})),
        ("MemoryWrite", json!({"payload": "Newer.", "anchor": store})),
        ("MemorySummarize", json!({"node_id": writer, "summary": "It.", "temperature": null})),
        ("MemoryCompile", json!({"path": ".", "message": ""})),
        (
            "MemoryRelate",
            json!({
                "source_id": store, "target_id": "", "target_label": "Later", "target_source": "",
                "weight": 0,
            }),
        ),
        ("MemoryRelate", json!({"source_id": store, "target_id": writer})),
        ("MemoryPin", json!({"node_id": writer, "temperature": null})),
        ("MemoryUnpin", json!({"node_id": writer})),
        ("MemoryForget", json!({"node_id": writer, "mode": "cascade"})),
        ("MemoryForget", json!({"node_id": id("Any number reads."), "mode": ""})),
        ("MemoryRollback", json!({"snapshot_id": 1, "drop_after": false})),
    ];
    for (tool, args) in calls {
        client.text(tool, args);
    }
    client.end();
}

#[test]
fn numbers_and_limits_are_understood() {
    let (folder, _) = compiled();
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let one = client.text("MemorySearch", json!({"query": "connection writes", "limit": 1}));
    assert_eq!(one.lines().count(), 1, "{one}");
    let search = json!({"query": "one writes", "budget": 500, "limit": 2});
    let others = [
        json!({"q": "one writes", "max_tokens": "500", "k": "2"}),
        json!({"query": "one writes", "budget": 500.0, "max_results": 2, "detail": "Label"}),
    ];
    same(&mut client, "MemorySearch", search, &others);
    let delta = json!({"since_snapshot": 0, "detail": true});
    same(&mut client, "MemoryDelta", delta, &[json!({"since": "0", "detail": "True"})]);
    let why = failure(&mut client, "MemoryTree", json!({"limit": 5}));
    assert!(why.contains("unknown argument `limit`") && why.contains("`budget`"), "{why}");
    let why = failure(&mut client, "MemoryTree", json!({"dept": 5}));
    assert!(why.contains("did you mean `depth`?"), "{why}");
    client.end();
}
