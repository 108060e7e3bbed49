//! Tests with the examples in the documentation of clients: equal keys, order and kinds.

use serde_json::json;

use super::golden::full;
use super::*;

const OVERVIEW: &str = r#"{
    "db_path": "/repo/.remindb/memory.db",
    "db_bytes": 196608,
    "nodes": { "total": 142, "by_type": { "heading": 38, "text": 96, "code": 8 }, "tokens": 18450 },
    "snapshots": {
        "count": 7, "head_id": 7, "cursor_hash": "9f3c1a7e",
        "latest_message": "write:aB3", "latest_age_s": 42
    },
    "temperature": { "avg": 0.37, "median": 0.31, "hot": 12, "cold": 48, "pinned": 3 },
    "relations": { "total": 27, "by_origin": { "parsed": 22, "manual": 5 }, "pending": 4 },
    "fts_rows": 142
}"#;

const FILES: &str = r#"{ "roots": [ {
    "root": "/repo/docs",
    "files": [ { "path": "docs/architecture.md", "nodes": 12, "tokens": 840 } ]
} ] }"#;

const TREE: &str = r#"{ "roots": [ {
    "id": "aB3", "type": "heading", "label": "Architecture", "depth": 0,
    "tokens": 120, "temperature": 0.42, "source": "docs/architecture.md",
    "children": [ {
        "id": "aB3-1", "type": "text", "label": "Overview", "depth": 1,
        "tokens": 80, "temperature": 0.31, "source": "docs/architecture.md", "children": []
    } ]
} ] }"#;

const GRAPH: &str = r#"{
    "nodes": [ { "id": "aB3", "label": "Architecture", "type": "heading", "temperature": 0.42 } ],
    "edges": [ { "source": "aB3", "target": "aB3-1", "weight": 4.2, "origin": "parsed" } ],
    "pending": [ {
        "source": "aB3", "target_label": "Roadmap", "target_source": "docs/roadmap.md",
        "target_id_hint": "", "weight": 1.0, "origin": "parsed"
    } ]
}"#;

const SNAPSHOTS: &str = r#"{ "snapshots": [ {
    "id": 3, "parent_id": 2, "message": "write:aB3", "compile_root": "/repo",
    "created_at": 1737072000, "is_head": true
} ] }"#;

const DIFFS: &str = r#"{ "snapshot_id": 3, "diffs": [ {
    "op": "mod", "node_id": "aB3", "old_hash": "h1", "new_hash": "h2",
    "old_content": "before", "new_content": "after"
} ] }"#;

const TEMPERATURE: &str = r#"{
    "summary": {
        "avg": 0.29, "median": 0.30, "hot": 1, "cold": 2, "pinned": 1,
        "cold_threshold": 0.1, "hot_threshold": 0.5
    },
    "nodes": [ { "id": "aB3", "label": "Auth design", "temperature": 0.8, "pinned": false } ]
}"#;

const DOCTOR: &str = r#"{ "status": "warn", "checks": [
    { "name": "fts5_sync", "status": "pass", "detail": "FTS5 index in sync with 12 nodes" }
] }"#;

/// Returns the keys and kinds: for a list those of its first member, for counts by name no names.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(map) if map.values().all(Value::is_u64) && !map.contains_key("total") => {
            json!("counts")
        }
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), shape(value))).collect(),
        Value::Array(list) => list.iter().take(1).map(shape).collect(),
        Value::String(_) => json!("text"),
        Value::Number(_) => json!("number"),
        Value::Bool(_) => json!("flag"),
        Value::Null => json!(null),
    }
}

#[test]
fn every_document_has_the_shape_of_its_example() {
    let fixture = full();
    for (uri, example) in [
        ("remindb://overview", OVERVIEW),
        ("remindb://files", FILES),
        ("remindb://tree", TREE),
        ("remindb://graph", GRAPH),
        ("remindb://snapshots", SNAPSHOTS),
        ("remindb://snapshots/2/diffs", DIFFS),
        ("remindb://temperature", TEMPERATURE),
        ("remindb://doctor", DOCTOR),
    ] {
        let example: Value = serde_json::from_str(example).unwrap();
        // Compared as text, since two maps are equal in any order of their keys.
        assert_eq!(shape(&fixture.value(uri)).to_string(), shape(&example).to_string(), "{uri}");
    }
}
