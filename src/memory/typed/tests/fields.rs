//! Every field, limit, enum, sort and error of the specification.

use super::*;

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

#[test]
fn a_memory_has_its_keys_in_order_and_its_defaults() {
    let world = World::new();
    let stored = world.ok("store_memory", json!({"type": "core", "content": "Likes tea."}));
    let id = stored["id"].as_str().unwrap();
    assert!(crate::model::typed_node_field_schemas::is_uuid(id) && &id[14..15] == "4", "{id}");
    let expected = format!(
        r#"{{"id":"{id}","created":true,"memory":{{"id":"{id}","type":"core","content":"Likes tea.","category":"other","created_at":"2026-01-01T10:00:00Z","updated_at":"2026-01-01T10:00:00Z","accessed_at":"2026-01-01T10:00:00Z","access_count":0,"tags":[],"importance":"medium","archived":false}}}}"#
    );
    assert_eq!(stored.to_string(), expected);
    let task = world.store(json!({"type": "task", "content": "Pay.", "task_metadata": {
        "outcome": "ok", "blockers": ["b"], "status": "completed"}}));
    assert_eq!(
        task["task_metadata"].to_string(),
        r#"{"status":"completed","completed_at":"2026-01-01T10:00:00Z","blockers":["b"],"outcome":"ok"}"#
    );
    assert_eq!(task["category"], "completed");
    let task = world.store(json!({"type": "task", "content": "Sleep.", "category": "home"}));
    assert_eq!(
        (&task["category"], &task["task_metadata"]),
        (&json!("home"), &json!({"status": "in-progress"}))
    );
}

#[test]
fn arguments_of_store_are_checked() {
    let world = World::new();
    let with = |key: &str, value: Value| {
        let mut args = json!({"type": "core", "content": "x"});
        args[key] = value;
        args
    };
    for (args, message) in [
        (json!({"content": "x"}), "`type` is missing"),
        (json!({"type": "core"}), "`content` is missing"),
        (with("type", json!("fact")), "`type` must be one of core, learning, task"),
        (with("type", json!(7)), "`type` must be a text"),
        (with("content", json!(7)), "`content` must be a text"),
        (with("content", json!(" \n")), "`content` is blank"),
        (with("content", json!("")), "`content` is blank"),
        (
            with("content", json!("ü".repeat(5_001))),
            "`content` has 5001 characters; at most 5000 fit",
        ),
        (with("category", json!("ü".repeat(51))), "`category` has 51 characters; at most 50 fit"),
        (with("category", json!("")), "`category` is blank"),
        (with("tags", json!("a")), "`tags` must be a list of texts"),
        (with("tags", json!([1])), "`tags` must be a list of texts"),
        (with("tags", json!([""])), "`tags` has an item that is blank"),
        (
            with("tags", json!(["ü".repeat(31)])),
            "`tags` has an item that has 31 characters; at most 30 fit",
        ),
        (
            with("tags", (0..11).map(|it| json!(it.to_string())).collect()),
            "`tags` has 11 items; at most 10 fit",
        ),
        (with("importance", json!("huge")), "`importance` must be one of high, medium, low"),
        (
            with("archived", json!(true)),
            "`archived` is no argument; known are type, content, category, tags, importance, task_metadata, id",
        ),
        (with("id", json!("7")), "`id` must be a UUID"),
        (
            with("task_metadata", json!({})),
            "`task_metadata` belongs to tasks, and the type is core",
        ),
    ] {
        world.assert_refused("store_memory", args, "INVALID_INPUT", message);
    }
    for (metadata, message) in [
        (json!("x"), "`task_metadata` must be an object"),
        (
            json!({"status": "done"}),
            "`task_metadata.status` must be one of completed, in-progress, blocked",
        ),
        (
            json!({"owner": "me"}),
            "`task_metadata.owner` is unknown; known are status, completed_at, blockers, outcome",
        ),
        (
            json!({"completed_at": "soon"}),
            "`task_metadata.completed_at` must be a time like 2026-01-01T10:00:00Z",
        ),
        (
            json!({"completed_at": 7}),
            "`task_metadata.completed_at` must be a time like 2026-01-01T10:00:00Z",
        ),
        (
            json!({"blockers": vec!["b"; 11]}),
            "`task_metadata.blockers` has 11 items; at most 10 fit",
        ),
        (
            json!({"blockers": ["b".repeat(201)]}),
            "`task_metadata.blockers` has an item that has 201 characters; at most 200 fit",
        ),
        (
            json!({"outcome": "o".repeat(1_001)}),
            "`task_metadata.outcome` has 1001 characters; at most 1000 fit",
        ),
    ] {
        let args = json!({"type": "task", "content": "x", "task_metadata": metadata});
        world.assert_refused("store_memory", args, "INVALID_INPUT", message);
    }
    assert_eq!(world.n_snapshots(), 0);
}

#[test]
fn the_largest_values_fit() {
    let world = World::new();
    let tags: Vec<String> = (0..10).map(|it| format!("{it}{}", "ü".repeat(29))).collect();
    let memory = world.store(json!({
        "type": "task", "content": "ü".repeat(5_000), "category": "ü".repeat(50), "tags": tags,
        "task_metadata": {"outcome": "ü".repeat(1_000), "blockers": vec!["ü".repeat(200); 10]},
    }));
    assert_eq!(memory["tags"], json!(tags));
}

#[test]
fn repeated_tags_are_kept_once_in_order() {
    let world = World::new();
    let memory = world.store(json!({"type": "core", "content": "x", "tags": ["b", "a", "b"]}));
    assert_eq!(memory["tags"], json!(["b", "a"]));
}

#[test]
fn an_equal_memory_is_not_doubled_unless_the_other_is_archived() {
    let world = World::new();
    let first = world.store(json!({"type": "core", "content": "x", "tags": ["a"]}));
    let n = world.n_snapshots();
    let again = world.ok("store_memory", json!({"type": "core", "content": "x", "tags": ["b"]}));
    assert_eq!((&again["created"], &again["memory"]), (&json!(false), &first));
    assert_eq!(world.n_snapshots(), n);
    let other = world.ok("store_memory", json!({"type": "learning", "content": "x"}));
    assert_eq!(other["created"], true);
    world.ok("delete_memory", json!({"id": first["id"]}));
    let new = world.ok("store_memory", json!({"type": "core", "content": "x"}));
    assert_eq!(new["created"], true);
    assert_ne!(new["id"], first["id"]);
}

#[test]
fn store_with_an_id_updates() {
    let world = World::new();
    let first = world.store(json!({"type": "core", "content": "x", "tags": ["a"]}));
    world.clock.advance(5_000);
    let args = json!({"type": "core", "content": "y", "id": first["id"]});
    let stored = world.ok("store_memory", args);
    assert_eq!(stored["created"], false);
    assert_eq!(stored["memory"]["content"], "y");
    assert_eq!(stored["memory"]["tags"], json!(["a"]));
    assert_eq!(stored["memory"]["updated_at"], "2026-01-01T10:00:05Z");
    let id = first["id"].as_str().unwrap();
    let message = format!("`type` cannot change: memory `{id}` is a core, not a task");
    let args = json!({"type": "task", "content": "y", "id": id});
    world.assert_refused("store_memory", args, "INVALID_INPUT", &message);
    let message = format!("no memory has the id `{NOBODY}`");
    let args = json!({"type": "task", "content": "y", "id": NOBODY});
    world.assert_refused("store_memory", args, "NOT_FOUND", &message);
}

#[test]
fn an_update_names_what_differs() {
    let world = World::new();
    let task = world.store(json!({"type": "task", "content": "x"}));
    let id = &task["id"];
    let update = |changes: Value| {
        let mut args = changes;
        args["id"] = id.clone();
        world.clock.advance(60_000);
        world.ok("update_memory", args)
    };
    let n = world.n_snapshots();
    let same = update(json!({"content": "x", "importance": "medium", "archived": false}));
    assert_eq!((world.n_snapshots(), &same["updated_fields"]), (n, &json!([])));
    assert_eq!(same["memory"]["updated_at"], "2026-01-01T10:00:00Z");
    let all = update(json!({
        "task_metadata": {"status": "completed"}, "archived": true, "importance": "high",
        "tags": ["t"], "category": "c", "content": "y",
    }));
    let names = json!(["content", "category", "tags", "importance", "archived", "task_metadata"]);
    assert_eq!((world.n_snapshots(), &all["updated_fields"]), (n + 1, &names));
    let memory = &all["memory"];
    assert_eq!(memory["updated_at"], "2026-01-01T10:02:00Z");
    assert_eq!(memory["task_metadata"]["completed_at"], "2026-01-01T10:02:00Z");
    // Merged key by key; the time of completion stays until it is open again.
    let merged = update(json!({"task_metadata": {"outcome": "done", "blockers": ["b"]}}));
    assert_eq!(
        merged["memory"]["task_metadata"].to_string(),
        r#"{"status":"completed","completed_at":"2026-01-01T10:02:00Z","blockers":["b"],"outcome":"done"}"#
    );
    let open = update(json!({"task_metadata": {"status": "blocked"}, "tags": []}));
    assert_eq!(
        open["memory"]["task_metadata"].to_string(),
        r#"{"status":"blocked","blockers":["b"],"outcome":"done"}"#
    );
    assert_eq!(open["memory"]["tags"], json!([]));
    let at = "2025-12-24T20:00:00+01:00";
    let closed = update(json!({"task_metadata": {"status": "completed", "completed_at": at}}));
    assert_eq!(closed["memory"]["task_metadata"]["completed_at"], "2025-12-24T19:00:00Z");
}

#[test]
fn arguments_of_update_and_delete_are_checked() {
    let world = World::new();
    let core = world.store(json!({"type": "core", "content": "x"}));
    let id = &core["id"];
    let message = "nothing to update; give at least one of content, category, tags, importance, \
                   archived, task_metadata";
    for (args, message) in [
        (json!({"content": "x"}), "`id` is missing"),
        (json!({"id": id}), message),
        (json!({"id": id, "content": null}), message),
        (json!({"id": id, "archived": "yes"}), "`archived` must be true or false"),
        (
            json!({"id": id, "type": "core"}),
            "`type` is no argument; known are id, content, category, tags, importance, archived, task_metadata",
        ),
        (
            json!({"id": id, "task_metadata": {}}),
            "`task_metadata` belongs to tasks, and the type is core",
        ),
        (json!({"id": "x", "content": "y"}), "`id` must be a UUID"),
    ] {
        world.assert_refused("update_memory", args, "INVALID_INPUT", message);
    }
    let message = format!("no memory has the id `{NOBODY}`");
    world.assert_refused(
        "update_memory",
        json!({"id": NOBODY, "content": "x"}),
        "NOT_FOUND",
        &message,
    );
    world.assert_refused("delete_memory", json!({"id": NOBODY}), "NOT_FOUND", &message);
    world.assert_refused("delete_memory", json!({}), "INVALID_INPUT", "`id` is missing");
    let args = json!({"id": id, "permanent": 1});
    world.assert_refused(
        "delete_memory",
        args,
        "INVALID_INPUT",
        "`permanent` must be true or false",
    );
}

#[test]
fn deleting_archives_and_for_good_is_for_good() {
    let world = World::new();
    let id = world.store(json!({"type": "core", "content": "x"}))["id"].clone();
    let expected = json!({"success": true, "action": "archived", "id": id});
    assert_eq!(world.ok("delete_memory", json!({"id": id})), expected);
    let n = world.n_snapshots();
    assert_eq!(world.ok("delete_memory", json!({"id": id})), expected);
    assert_eq!(world.n_snapshots(), n);
    assert_eq!(world.ok("query_memories", json!({}))["total"], 0);
    assert_eq!(world.ok("query_memories", json!({"archived": true}))["total"], 1);
    let deleted = world.ok("delete_memory", json!({"id": id, "permanent": true}));
    assert_eq!(deleted, json!({"success": true, "action": "deleted", "id": id}));
    assert_eq!(world.ok("query_memories", json!({"archived": true}))["total"], 0);
}

#[test]
fn queries_filter_sort_and_page() {
    let world = World::new();
    for (content, importance, tags) in [
        ("Ärger one", "low", json!(["a"])),
        ("two", "high", json!(["a", "b"])),
        ("three", "medium", json!([])),
    ] {
        let args =
            json!({"type": "learning", "content": content, "importance": importance, "tags": tags});
        world.store(args);
        world.clock.advance(1);
    }
    world.store(
        json!({"type": "task", "content": "four one", "task_metadata": {"status": "blocked"}}),
    );
    let ask = |args: Value| {
        let page = world.ok("query_memories", args);
        contents(&page).join(", ")
    };
    assert_eq!(ask(json!({"sort_by": "created_at"})), "four one, three, two, Ärger one");
    assert_eq!(
        ask(json!({"sort_by": "created_at", "sort_order": "asc"})),
        "Ärger one, two, three, four one"
    );
    assert_eq!(ask(json!({"sort_by": "importance", "type": "learning"})), "two, three, Ärger one");
    assert_eq!(ask(json!({"search": "ONE ärg"})), "Ärger one");
    assert_eq!(ask(json!({"tags": ["b", "a"]})), "two");
    assert_eq!(ask(json!({"category": "blocked"})), "four one");
    assert_eq!(ask(json!({"importance": "low"})), "Ärger one");
    // `two` was returned four times so far, the others less.
    assert_eq!(ask(json!({"sort_by": "access_count", "limit": 1})), "Ärger one");
    let page =
        world.ok("query_memories", json!({"limit": 3, "offset": 1, "sort_by": "updated_at"}));
    let facts = ["total", "limit", "offset", "has_more"].map(|it| page[it].clone());
    assert_eq!(facts, [json!(4), json!(3), json!(1), json!(false)]);
    assert_eq!(contents(&page), ["three", "two", "Ärger one"]);
    assert_eq!(world.ok("query_memories", json!({"limit": 3}))["has_more"], true);
    assert_eq!(world.ok("query_memories", json!({"offset": 9}))["memories"], json!([]));
}

#[test]
fn arguments_of_queries_are_checked() {
    let world = World::new();
    let number = "must be a whole number";
    for (args, message) in [
        (json!({"limit": 0}), format!("`limit` {number} from 1 to 100, not 0")),
        (json!({"limit": 101}), format!("`limit` {number} from 1 to 100, not 101")),
        (json!({"limit": "3"}), format!("`limit` {number} from 1 to 100, not \"3\"")),
        (json!({"limit": 1.5}), format!("`limit` {number} from 1 to 100, not 1.5")),
        (json!({"offset": -1}), format!("`offset` {number}, 0 or more, not -1")),
        (json!({"type": "x"}), "`type` must be one of core, learning, task".to_owned()),
        (json!({"importance": "x"}), "`importance` must be one of high, medium, low".to_owned()),
        (json!({"sort_by": "x"}), "`sort_by` must be one of created_at, updated_at, accessed_at, importance, access_count".to_owned()),
        (json!({"sort_order": "up"}), "`sort_order` must be one of asc, desc".to_owned()),
        (json!({"archived": 0}), "`archived` must be true or false".to_owned()),
        (json!({"search": "x".repeat(201)}), "`search` has 201 characters; at most 200 fit".to_owned()),
        (json!({"tags": "x"}), "`tags` must be a list of texts".to_owned()),
        (json!({"query": "x"}), "`query` is no argument; known are type, tags, search, importance, category, archived, limit, offset, sort_by, sort_order".to_owned()),
    ] {
        world.assert_refused("query_memories", args, "INVALID_INPUT", &message);
    }
}

#[test]
fn reads_count_without_a_snapshot() {
    let world = World::new();
    let id = world.store(json!({"type": "core", "content": "x"}))["id"].clone();
    let n = world.n_snapshots();
    world.clock.advance(7_000);
    world.ok("query_memories", json!({}));
    world.ok("update_memory", json!({"id": id, "content": "x"}));
    assert_eq!(world.n_snapshots(), n);
    let memory = world.memory().typed_memory(id.as_str().unwrap());
    let memory = memory.unwrap().unwrap();
    assert_eq!((memory.access_count, memory.accessed_at), (2, UnixMillis(START.0 + 7_000)));
}

#[test]
fn core_memories_have_a_limit_with_suggestions() {
    let mut world = World::new();
    world.reopen(TypedMemorySettings { max_core: Some(3), ..TypedMemorySettings::default() });
    let mut ids = Vec::new();
    for (content, importance) in [("a", "high"), ("b", "low"), ("c", "medium")] {
        ids.push(world.store(json!({"type": "core", "content": content, "importance": importance}))["id"].clone());
        world.clock.advance(1_000);
    }
    let error = world.call("store_memory", json!({"type": "core", "content": "d"})).unwrap_err();
    assert_eq!(
        error,
        json!({"error": {
            "code": "LIMIT_EXCEEDED",
            "message": "there are 3 core memories, the most there may be; archive one first",
            "suggestions": [ids[1], ids[2], ids[0]],
        }})
    );
    // An equal one and other types are no further ones.
    assert_eq!(world.ok("store_memory", json!({"type": "core", "content": "a"}))["created"], false);
    world.store(json!({"type": "task", "content": "d"}));
    world.ok("delete_memory", json!({"id": ids[0]}));
    world.store(json!({"type": "core", "content": "d"}));
    let back = world.call("update_memory", json!({"id": ids[0], "archived": false})).unwrap_err();
    assert_eq!(back["error"]["code"], "LIMIT_EXCEEDED");
}

#[test]
fn stats_count_everything() {
    let world = World::new();
    let empty = world.ok("get_memory_stats", json!({}));
    assert_eq!(
        empty.to_string(),
        r#"{"total_memories":0,"by_type":{"core":0,"learning":0,"task":0},"by_importance":{"high":0,"medium":0,"low":0},"archived_count":0,"total_storage_kb":0.0,"oldest_memory":null,"newest_memory":null,"most_accessed":null,"top_tags":[]}"#
    );
    let id = world.store(json!({"type": "core", "content": "a", "tags": ["x", "y"]}))["id"].clone();
    world.clock.advance(1_000);
    let read =
        world.store(json!({"type": "task", "content": "b", "importance": "high", "tags": ["y"]}));
    world.ok("delete_memory", json!({"id": id}));
    world.ok("query_memories", json!({}));
    let mut stats = world.ok("get_memory_stats", json!({}));
    assert!(0.0 < stats["total_storage_kb"].as_f64().unwrap());
    stats["total_storage_kb"] = Value::Null;
    assert_eq!(
        stats,
        json!({
            "total_memories": 2,
            "by_type": {"core": 1, "learning": 0, "task": 1},
            "by_importance": {"high": 1, "medium": 1, "low": 0},
            "archived_count": 1,
            "total_storage_kb": null,
            "oldest_memory": "2026-01-01T10:00:00Z",
            "newest_memory": "2026-01-01T10:00:01Z",
            "most_accessed": {"id": read["id"], "access_count": 1},
            "top_tags": [{"tag": "y", "count": 2}, {"tag": "x", "count": 1}],
        })
    );
}

#[test]
fn writing_and_summarizing_keep_type_and_fields() {
    let world = World::new();
    let stored = world.store(json!({"type": "learning", "content": "x", "tags": ["a"]}));
    let memory = world.memory();
    let uuid = stored["id"].as_str().unwrap();
    let node = memory.read::<_, StoreError>(|it| it.typed_by_uuid(uuid)).unwrap().unwrap().id;
    let fetched = memory.fetch(uuid, None).unwrap();
    assert!(fetched.text.contains(&node), "{}", fetched.text);
    memory
        .write("# Another\n\ntext", Some(&node), crate::memory::AppendOrReplaceMode::Replace)
        .unwrap();
    memory.summarize(&node, "Short.", None).unwrap();
    let now = memory.typed_memory(uuid).unwrap().unwrap();
    assert_eq!((now.memory_type, now.content.as_str()), (NodeType::Learning, "Short."));
    assert_eq!(now.tags, ["a"]);
}

#[test]
fn secrets_are_stored_as_markers() {
    const SECRET: &str = "AKIAQ7RM2XNVT5WZ3KLD";
    let world = World::new();
    let memory = world.store(json!({
        "type": "task", "content": format!("key {SECRET}"), "category": SECRET, "tags": [SECRET],
        "task_metadata": {"outcome": SECRET, "blockers": [SECRET]},
    }));
    assert!(!memory.to_string().contains(SECRET), "{memory}");
    let db = std::fs::read(world.dir.path().join("memory.db-wal")).unwrap();
    assert!(!db.windows(SECRET.len()).any(|it| it == SECRET.as_bytes()));
    let report = crate::maintenance::doctor::examine(&world.dir.path().join("memory.db")).unwrap();
    assert_eq!(report.status(), crate::maintenance::doctor::CheckStatus::Pass, "{report:#?}");
}
