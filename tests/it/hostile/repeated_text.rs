//! Tests arguments of one short text, repeated very often.

use serde_json::{Value, json};

use crate::support::{Client, Folder};

/// Large enough to distinguish quadratic from linear time, small enough for every run.
const N_BYTES: usize = 400_000;

fn repeated(text: &str) -> String {
    text.repeat(N_BYTES / text.len())
}

#[test]
fn no_node_is_looked_for_below_each_slash() {
    let folder = Folder::new().file("notes/a.md", "# A\n\nA note.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    for name in ["/", "a/", "//a.md", "notes/"].map(repeated) {
        let calls: [(&str, Value); 5] = [
            ("MemoryFetch", json!({"anchor": name})),
            ("MemoryTree", json!({"root": name})),
            ("MemoryRelated", json!({"anchor": name})),
            ("MemoryPin", json!({"node_id": name})),
            ("MemoryForget", json!({"node_id": name})),
        ];
        for (tool, arguments) in calls {
            let reply = client.call(tool, arguments);
            assert!(reply.is_error && reply.text.starts_with("no node `"), "{}", reply.text);
        }
    }
    assert!(client.text("MemoryFetch", json!({"anchor": "notes/a.md"})).contains("A note."));
    client.end();
}

#[test]
fn no_separator_is_looked_for_in_all_that_follows() {
    let folder = Folder::new();
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    for text in ["1. ", ".. ", "# ", ", ", "x\r\n", " x"].map(repeated) {
        client.text("MemoryIngest", json!({"content": text, "flush": true}));
    }
    client.end();
}

#[test]
fn a_path_of_any_length_is_refused_without_harm() {
    let folder = Folder::new().file("notes/a.md", "# A\n\nA note.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let mut client = Client::legacy(&folder, &["--db", "m.db"]);
    for unit in ["a/", "../", "a/../", "a"] {
        for n_bytes in [4_000, 4_097, N_BYTES] {
            let path = unit.repeat(n_bytes / unit.len());
            let reply = client.call("MemoryCompile", json!({"path": path}));
            assert!(reply.is_error, "{}", reply.text);
        }
    }
    let reply = client.call("MemoryCompile", json!({"path": "a/".repeat(5_000)}));
    assert_eq!(reply.text, "`path` has 10000 bytes; no path has more than 4096");
    assert!(client.text("MemoryFetch", json!({"anchor": "notes/a.md"})).contains("A note."));
    client.end();
}
