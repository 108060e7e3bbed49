//! Knowledge of Remind: its exports, its database and its folder come in, and an export goes out.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Map, Value, json};

use super::super::support::{Client, Folder};
use super::call;

/// A statement that has to stay as it is.
const VERBATIM: &str = "TTL:  30 %,\t\"twice\" a day — двойной `x`\u{1f980}";

/// The data of a record and the columns that copy it.
fn with_data(columns: &[&str], data: Value) -> Value {
    let mut record: Map<String, Value> = Map::new();
    for name in columns {
        record.insert((*name).to_owned(), data[*name].clone());
    }
    record.insert("data".to_owned(), data);
    record.into()
}

fn episode(id: &str, kind: &str, content: &str, more: Value) -> Value {
    let mut data = json!({
        "id": id, "created_at": "2026-03-01T10:00:00.123456", "updated_at": "2026-03-01T10:00:00",
        "timestamp": "2026-03-01T10:00:00", "title": null, "content": content,
        "episode_type": kind, "summary": null, "entity_ids": [], "consolidated": false,
        "confidence": 1.0, "metadata": {"source_refs": []}, "labels": {}, "deleted_at": null,
    });
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    with_data(&["id", "content", "episode_type", "consolidated", "timestamp", "deleted_at"], data)
}

fn concept(id: &str, kind: &str, title: &str, more: Value) -> Value {
    let mut data = json!({
        "id": id, "title": title, "summary": "", "confidence": 0.7, "instance_count": 1,
        "created_at": "2026-03-02T10:00:00", "updated_at": "2026-03-02T10:00:00",
        "relations": [], "source_episodes": [], "conditions": null, "exceptions": [], "tags": [],
        "labels": {}, "concept_type": kind, "specifics": [], "evidence": [], "conflicts": [],
        "entity_ids": [], "deleted_at": null,
    });
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    with_data(&["id", "title", "summary", "created_at", "updated_at", "deleted_at"], data)
}

fn fact(id: &str, statement: &str, more: Value) -> Value {
    let mut record = json!({
        "id": id, "cluster_id": "c-cache", "statement": statement, "attribute": null,
        "entity_ids": "[\"subject:cache\"]", "valid_from": "2026-03-01T00:00:00",
        "valid_to": null, "superseded_by": null, "asserted_by": null, "source_ref": null,
        "source_episode_id": "e-2", "created_at": "2026-03-01T00:00:00",
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

/// Records of every kind.
fn records() -> Map<String, Value> {
    let entity = |id: &str, kind: &str, name: &str| {
        let data = json!({"id": id, "type": kind, "display_name": name,
                          "created_at": "2026-03-01T00:00:00", "metadata": {}});
        with_data(&["id", "type", "display_name", "created_at"], data)
    };
    let implies = json!([{"type": "implies", "target_id": "c-pools", "strength": 0.7,
                          "context": "at night"}]);
    let records = json!({
        "entities": [entity("tool:redis", "tool", "Redis"), entity("subject:cache", "subject", "cache"),
                     entity("concept:aging", "other", "aging")],
        "episodes": [
            episode("e-1", "observation", "Redis timed out twice.", json!({
                "entity_ids": ["tool:redis"], "consolidated": true})),
            episode("e-2", "fact", "The TTL is 45 s.", json!({
                "entity_ids": ["subject:cache"], "consolidated": true})),
            episode("e-3", "decision", "We keep Redis.", json!({
                "title": "Keep it", "confidence": 0.8, "asserted_by": "ana",
                "source_ref": "https://example.org/1", "source_type": "chat",
                "metadata": {"why": "speed"}, "labels": {"topic": ["Storage"], "area": ["infra"]}})),
            episode("e-4", "observation", "A wrong note.", json!({
                "deleted_at": "2026-03-03T00:00:00"})),
            episode("e-5", "observation", "Redis timed out twice.", json!({})),
            episode("e-6", "ritual", "We sang.", json!({})),
        ],
        "concepts": [
            concept("c-cache", "fact_cluster", "Facts about cache", json!({
                "specifics": "The TTL is 45 s.", "entity_ids": ["subject:cache"],
                "confidence": 1.0})),
            concept("c-slow", "pattern", "Redis is slow at night", json!({
                "summary": "Nightly jobs load it.", "relations": implies,
                "source_episodes": ["e-1"], "tags": ["ops"], "conditions": "with jobs",
                "exceptions": ["Sundays"], "labels": {"topic": ["Storage"]}})),
            concept("c-pools", "procedure", "Pools", json!({"summary": "They help."})),
            concept("c-gone", "pattern", "Gone", json!({
                "summary": "It was wrong.", "deleted_at": "2026-03-03T00:00:00"})),
        ],
        "facts": [
            fact("f-1", "The TTL is 30 s.", json!({
                "valid_to": "2026-03-05T00:00:00", "superseded_by": "f-2"})),
            fact("f-2", "The TTL is 45 s.", json!({"valid_from": "2026-03-05T00:00:00"})),
            fact("f-3", VERBATIM, json!({"source_episode_id": null})),
        ],
        "conflicts": [
            {"id": "k-1", "kind": "fact", "fact_a_id": "f-1", "fact_b_id": "f-2",
             "concept_ids": "[\"c-cache\"]", "description": "two values", "severity": "medium",
             "status": "resolved", "created_at": "2026-03-04T00:00:00",
             "resolved_at": "2026-03-05T00:00:00", "resolution_note": "raised",
             "winning_fact_id": "f-2"},
            {"id": "k-2", "kind": "fact", "fact_a_id": "f-2", "fact_b_id": "f-3",
             "concept_ids": "[]", "description": "which one", "severity": "high",
             "status": "open", "created_at": "2026-03-06T00:00:00"},
        ],
        "evidence": [
            {"id": "v-1", "episode_id": "e-1", "concept_id": "c-slow", "link_type": "supports",
             "strength": 0.5, "note": null, "created_at": "2026-03-02T00:00:00"},
            {"id": "v-2", "episode_id": "e-1", "concept_id": "c-pools",
             "link_type": "exemplifies", "strength": 0.4, "note": "peaks",
             "created_at": "2026-03-02T00:00:00"},
        ],
        "relations": [
            {"source_id": "c-slow", "target_id": "c-pools", "type": "implies", "strength": 0.7,
             "context": "at night"},
            {"source_id": "c-slow", "target_id": "c-purged", "type": "causes", "strength": 0.5,
             "context": null},
        ],
        "mentions": [{"episode_id": "e-1", "entity_id": "tool:redis"},
                     {"episode_id": "e-2", "entity_id": "subject:cache"},
                     {"episode_id": "e-3", "entity_id": "tool:redis"}],
        "entity_relations": [
            {"source_id": "tool:redis", "target_id": "subject:cache", "relation_type": "backs",
             "strength": 0.9, "context": "prod", "episode_count": 1,
             "source_episode_ids": "[]", "created_at": "2026-03-01T00:00:00"},
        ],
        "labels": [{"subject_type": "episode", "subject_id": "e-3", "key": "area", "value": "infra"}],
        "events": [{"seq": 1, "kind": "remembered", "subject_id": "e-1"}],
        "metadata": [],
    });
    records.as_object().unwrap().clone()
}

/// Writes the records as the export of version 4.
fn export(folder: &Folder) {
    let export = json!({"version": 4, "mode": "portable", "records": records(), "concepts": [],
                        "episodes": [], "entities": []});
    fs::write(folder.path("v4.json"), export.to_string()).unwrap();
}

/// Writes the records as a database.
fn database(folder: &Folder) {
    let conn = Connection::open(folder.path("their.db")).unwrap();
    for (name, rows) in records() {
        let Some(first) = rows[0].as_object() else { continue };
        let mut columns: Vec<&str> = first.keys().map(String::as_str).collect();
        let all = rows.as_array().unwrap();
        for row in all {
            for key in row.as_object().unwrap().keys() {
                if !columns.contains(&key.as_str()) {
                    columns.push(key);
                }
            }
        }
        let quoted: Vec<String> = columns.iter().map(|it| format!("\"{it}\"")).collect();
        let table = format!("CREATE TABLE {name} ({}, embedding BLOB)", quoted.join(", "));
        conn.execute_batch(&table).unwrap();
        for row in all {
            let values: Vec<rusqlite::types::Value> = columns
                .iter()
                .map(|it| match &row[*it] {
                    Value::Null => rusqlite::types::Value::Null,
                    Value::Bool(it) => i64::from(*it).into(),
                    Value::String(it) => it.clone().into(),
                    Value::Number(it) => it.as_f64().unwrap().into(),
                    other => other.to_string().into(),
                })
                .collect();
            let marks = vec!["?"; columns.len()].join(", ");
            let sql = format!("INSERT INTO {name} ({}) VALUES ({marks})", quoted.join(", "));
            conn.execute(&sql, rusqlite::params_from_iter(values)).unwrap();
        }
    }
}

/// Writes the records as a folder, a file each; labels and edges are within them.
fn files(folder: &Folder) {
    for (name, rows) in records() {
        if ["relations", "mentions", "labels", "metadata"].contains(&name.as_str()) {
            continue;
        }
        let list = folder.path("project/.remind/memory").join(&name);
        fs::create_dir_all(&list).unwrap();
        for (nth, row) in rows.as_array().unwrap().iter().enumerate() {
            let record = if row["data"].is_object() { &row["data"] } else { row };
            let file = json!({"kind": name, "version": 4, "record": record});
            fs::write(list.join(format!("{nth}.json")), file.to_string()).unwrap();
        }
    }
}

/// Everything below a path, with the times of its last changes.
fn state(path: &Path) -> Vec<(String, std::time::SystemTime, Vec<u8>)> {
    let mut all = Vec::new();
    let meta = fs::metadata(path).unwrap();
    if meta.is_file() {
        all.push((path.display().to_string(), meta.modified().unwrap(), fs::read(path).unwrap()));
    } else {
        for entry in fs::read_dir(path).unwrap() {
            all.extend(state(&entry.unwrap().path()));
        }
    }
    all.sort();
    all
}

const COUNTS: &str = "6 episodes, 4 concepts, 3 facts, 1 topic, 3 entities, 2 conflicts";

#[test]
fn every_form_is_imported_with_equal_counts_and_stays_as_it_is() {
    let folder = Folder::new();
    export(&folder);
    database(&folder);
    files(&folder);
    let forms = [
        ("v4.json", "export v4"),
        ("their.db", "database"),
        ("project", "folder"),
        ("project/.remind", "folder"),
        ("project/.remind/memory", "folder"),
    ];
    let mut exports = Vec::new();
    for (nth, (source, form)) in forms.into_iter().enumerate() {
        let before = state(&folder.path(source));
        let db = format!("{nth}.db");
        let args = ["import", "--from", "remind", source, "--db", &db];
        let first = folder.ok(args);
        let counts = format!("imported ({form}): {COUNTS}, ");
        assert!(first.starts_with(&counts), "{first}");
        assert!(first.contains("left out: 1 edges to what is not there\n") == (nth < 2), "{first}");
        let again = folder.ok(args);
        assert!(again.starts_with(&format!("imported ({form}): nothing, no snapshot")), "{again}");
        assert!(again.contains("already there: 6 episodes, 4 concepts, 3 facts, "), "{again}");
        assert_eq!(state(&folder.path(source)), before, "{source} was changed");
        folder.assert_healthy(&db);
        let exported = format!("{nth}.json");
        let told = folder.ok(["export", &exported, "--format", "remind", "--db", &db]);
        assert_eq!(told, format!("exported: {COUNTS}, to {exported}\n"));
        exports.push(fs::read_to_string(folder.path(&exported)).unwrap());
        assert!(!folder.names().iter().any(|it| it.contains(".db.remind")), "a copy is left");
    }
    assert_eq!(exports[1], exports[0], "the database says what the export says");
}

#[test]
fn what_was_imported_is_exported_word_for_word() {
    let folder = Folder::new();
    export(&folder);
    folder.ok(["import", "--from", "remind", "v4.json", "--db", "a.db"]);
    folder.ok(["export", "a.json", "--format", "remind", "--db", "a.db"]);
    folder.ok(["import", "--from", "remind", "a.json", "--db", "b.db"]);
    let again = folder.ok(["export", "-", "--format", "remind", "--db", "b.db"]);
    let first = fs::read_to_string(folder.path("a.json")).unwrap();
    assert_eq!(again, first);
    let exported: Value = serde_json::from_str(&first).unwrap();
    let of = |list: &str, id: &str| -> Value {
        let list = exported["records"][list].as_array().unwrap();
        list.iter().find(|it| it["id"] == id).unwrap().clone()
    };
    assert_eq!(of("facts", "f-3")["statement"], VERBATIM);
    let old = of("facts", "f-1");
    assert_eq!(
        (&old["superseded_by"], &old["valid_to"]),
        (&json!("f-2"), &json!("2026-03-05T00:00:00.000"))
    );
    assert_eq!(of("facts", "f-2")["source_episode_id"], "e-2");
    let episode = of("episodes", "e-3")["data"].clone();
    for (key, value) in [
        ("episode_type", json!("decision")),
        ("title", json!("Keep it")),
        ("confidence", json!(0.8)),
        ("metadata", json!({"why": "speed"})),
        ("labels", json!({"area": ["infra"], "topic": ["Storage"]})),
        ("created_at", json!("2026-03-01T10:00:00.123")),
        ("consolidated", json!(false)),
    ] {
        assert_eq!(episode[key], value, "{key}");
    }
    assert_eq!(of("episodes", "e-6")["data"]["episode_type"], "ritual");
    let concept = of("concepts", "c-slow")["data"].clone();
    assert_eq!(
        concept["relations"],
        json!([
        {"type": "implies", "target_id": "c-pools", "strength": 0.7, "context": "at night"}])
    );
    assert_eq!(concept["source_episodes"], json!(["e-1"]));
    assert_eq!(of("conflicts", "k-1")["winning_fact_id"], "f-2");
    // Into the memory that it came from, it changes nothing.
    let into = folder.ok(["import", "--from", "remind", "a.json", "--db", "a.db"]);
    assert!(into.starts_with("imported (export v4): nothing, no snapshot"), "{into}");
}

#[test]
fn what_was_imported_is_recalled_at_once() {
    let folder = Folder::new();
    export(&folder);
    folder.ok(["remember", "Before it all.", "--db", "m.db"]);
    folder.ok(["import", "--from", "remind", "v4.json", "--db", "m.db"]);
    let mut client = Client::modern(&folder, &["--db", "m.db"]);
    let facts = call(
        &mut client,
        "MemoryRecall",
        json!({"query": "what is the TTL", "k": 1, "episodes": 0}),
    );
    let facts = facts["items"][0]["facts"].as_array().unwrap();
    let shown: Vec<(&str, &str)> = facts
        .iter()
        .map(|it| (it["status"].as_str().unwrap(), it["text"].as_str().unwrap()))
        .collect();
    assert!(shown.contains(&("contested", "The TTL is 45 s.")), "{shown:?}");
    assert!(!shown.iter().any(|it| it.1 == "The TTL is 30 s."), "{shown:?}");
    let near = call(&mut client, "MemoryRecall", json!({"query": "Redis slow at night", "k": 3}));
    let titles: Vec<&str> =
        near["items"].as_array().unwrap().iter().map(|it| it["title"].as_str().unwrap()).collect();
    assert!(titles.contains(&"Pools") && !titles.contains(&"Gone"), "{titles:?}");
    let sheet = call(&mut client, "MemoryReview", json!({}));
    assert_eq!(sheet["pending"]["total"], 4, "{sheet}");
    client.end();
    // One undo takes all of it back.
    folder.ok(["undo", "--db", "m.db"]);
    let nothing = folder.run(["recall", "TTL", "--db", "m.db"]);
    assert_eq!(nothing.code, Some(1));
}

#[test]
fn an_export_of_version_three_is_imported() {
    let folder = Folder::new();
    let data = |record: Value| record["data"].clone();
    let of_topic = json!({"topic_id": "payments", "consolidated": true});
    let cluster = json!({
        "specifics": ["The TTL is 30 s.", "The TTL is 45 s."], "evidence": ["quote"],
        "entity_ids": ["subject:cache"], "topic_id": "payments", "actionable": false,
        "relations": [{"type": "implies", "target_id": "00000000", "strength": 0.5}],
        "conflicts": [{"fact_a": "The TTL is 30 s.", "fact_b": "The TTL is 45 s.",
                       "reason": "values", "detected_at": "2026-03-01T00:00:00",
                       "entity_id": "subject:cache"}],
        "source_episodes": ["aaaaaaaa"], "summary": "Facts about cache",
    });
    let export = json!({
        "version": 3,
        "concepts": [data(concept("cccccccc", "fact_cluster", "Cache Facts", cluster))],
        "episodes": [data(episode("aaaaaaaa", "fact", "The TTL is 30 s.", of_topic)),
                     data(episode("bbbbbbbb", "decision", "We pay.", json!({})))],
        "entities": [{"id": "subject:cache", "type": "subject", "display_name": "cache"}],
        "mentions": [{"episode_id": "aaaaaaaa", "entity_id": "subject:cache"}],
        "entity_relations": [], "exported_at": "2026-04-01T00:00:00", "stats": {},
    });
    let folder = folder.file("v3.json", export.to_string());
    let args = ["import", "--from", "remind", "v3.json", "--db", "m.db"];
    let told = folder.ok(args);
    let counts = "2 episodes, 1 concept, 2 facts, 1 topic, 1 entity, 1 conflict, ";
    assert!(told.starts_with(&format!("imported (export v3): {counts}")), "{told}");
    assert!(told.contains("left out: 1 edges to what is not there\n"), "{told}");
    assert!(folder.ok(args).starts_with("imported (export v3): nothing, no snapshot"));
    assert!(folder.ok(["topics", "--db", "m.db"]).starts_with("payments (id="));
    assert!(folder.ok(["conflicts", "--db", "m.db"]).contains("The TTL is 45 s."));
    let recalled = folder.ok(["recall", "TTL", "--json", "--db", "m.db"]);
    assert!(recalled.contains("contested"), "{recalled}");
    folder.assert_healthy("m.db");
}

#[test]
fn what_is_none_of_it_is_refused_and_makes_no_memory() {
    let folder = Folder::new()
        .file("broken.json", "{\"version\": 4")
        .file("other.json", "{\"version\": 4, \"nodes\": []}")
        .file("newer.json", "{\"version\": 5, \"records\": {}}")
        .file("empty/readme.txt", "nothing")
        .file(
            "odd.json",
            json!({"version": 4, "records": {"episodes": [
                7, {"id": "x"}, {"content": "no id"}, {"id": "y", "content": "x".repeat(100_001)},
                {"id": "z", "content": "kept", "timestamp": "yesterday", "confidence": "much"},
            ]}})
            .to_string(),
        );
    Connection::open(folder.path("other.db")).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    for (source, why) in [
        ("missing.json", "no export, database or folder at `missing.json`"),
        ("broken.json", "`broken.json` is no export of Remind: EOF"),
        ("other.json", "it has neither `records` nor `concepts`"),
        ("newer.json", "version 5 is newer than 4, the newest this build knows"),
        ("empty", "`empty` has no records of Remind"),
        ("other.db", "it has no table `episodes`"),
    ] {
        let run = folder.run(["import", "--from", "remind", source, "--db", "new.db"]);
        assert_eq!(run.code, Some(2), "{source}: {}", run.stderr);
        assert!(run.stderr.contains(why), "{source}: {}", run.stderr);
        assert!(!folder.path("new.db").exists(), "{source}");
    }
    let run = folder.run(["import", "--from", "remind", "odd.json", "--db", "new.db"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(
        run.stdout.starts_with("imported (export v4): 1 episode, snapshot 1"),
        "{}",
        run.stdout
    );
    assert_eq!(run.stderr, "episodes/y: its text has 100001 characters; 1 to 100000 fit\n");
    assert!(
        run.stdout.contains("left out: 2 episodes without an id or a text\n"),
        "{}",
        run.stdout
    );
    let twice = folder.run(["export", "odd.json", "--format", "remind", "--db", "new.db"]);
    assert_eq!(twice.code, Some(2), "an existing file is not overwritten: {}", twice.stderr);
    folder.assert_healthy("new.db");
}

#[test]
fn times_without_a_zone_are_local_ones() {
    let folder = Folder::new();
    export(&folder);
    database(&folder);
    files(&folder);
    let in_tokyo = |args: &[&str]| {
        let ran = folder.command(args).env("TZ", "JST-9").output().unwrap();
        assert!(ran.status.success(), "{args:?}");
        String::from_utf8(ran.stdout).unwrap()
    };
    for source in ["v4.json", "their.db", "project"] {
        let db = format!("{source}.m");
        in_tokyo(&["import", "--from", "remind", source, "--db", &db]);
        let export = in_tokyo(&["export", "-", "--format", "remind", "--db", &db]);
        let told: Value = serde_json::from_str(&export).unwrap();
        let facts = told["records"]["facts"].as_array().unwrap();
        let fact = facts.iter().find(|it| it["id"] == "f-1").unwrap();
        assert_eq!(fact["valid_to"], "2026-03-04T15:00:00.000", "{source}");
        fs::write(folder.path("again.json"), export).unwrap();
        let again = in_tokyo(&["import", "--from", "remind", "again.json", "--db", &db]);
        assert!(again.contains(": nothing, no snapshot"), "{source}: {again}");
        assert!(!again.contains("different"), "an export of this program is in UTC: {again}");
    }
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let folder = Folder::new().file(
        "in/core_memories.jsonl",
        "{\"id\": \"11111111-1111-4111-8111-111111111111\", \"content\": \"Tests come first\"}\n",
    );
    export(&folder);
    for (source, path) in [("remind", "v4.json"), ("agent-memory", "in")] {
        let db = format!("{source}.db");
        let import = ["import", "--from", source, path, "--db", &db];
        let dry = || folder.ok([&import[..], &["--dry-run"]].concat());
        let names = folder.names();
        let would = dry();
        assert_eq!(folder.names(), names, "{source}: a dry run makes no database");
        let done = folder.ok(import);
        let told_of = |told: &str| told.lines().next().unwrap().to_owned();
        let expected =
            told_of(&done).replace("imported", "would import").replace(", snapshot 1, to", ", to");
        assert_eq!(told_of(&would), expected + "; nothing was written");
        let export = || folder.ok(["export", "-", "--db", &db]);
        let before = export();
        assert!(dry().contains("; nothing was written\n"), "{source}");
        assert_eq!(export(), before, "{source}");
    }
    let refused = folder.run(["import", "v4.json", "--db", "m.db", "--dry-run"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("agent-memory, remind"), "{}", refused.stderr);
}

#[cfg(unix)]
#[test]
fn a_dry_run_needs_no_folder_that_can_be_written_to() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    export(&folder);
    database(&folder);
    fs::create_dir(folder.path("kept")).unwrap();
    folder.ok(["remember", "Before it all.", "--db", "kept/m.db"]);
    let set = |mode: u32| {
        fs::set_permissions(folder.path("kept"), fs::Permissions::from_mode(mode)).unwrap();
    };
    set(0o555);
    let before = state(&folder.path("kept"));
    for db in ["kept/m.db", "kept/new.db", "missing/new.db"] {
        for source in ["v4.json", "their.db"] {
            let told = folder.ok(["import", "--from", "remind", source, "--db", db, "--dry-run"]);
            assert!(told.contains(COUNTS) && told.contains("nothing was written"), "{told}");
        }
    }
    assert_eq!(state(&folder.path("kept")), before);
    assert!(!folder.path("missing").exists());
    set(0o755);
}
