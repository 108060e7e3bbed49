//! Typed memories through every door: each tool, each refusal, each order of a list.

use serde_json::{Value, json};

use super::support::{Client, Folder};

pub(crate) mod faults;
mod finding;
mod invariants;

/// A way to call a tool of a running server, for its result.
pub(crate) struct Door<'a>(pub(crate) &'a mut dyn FnMut(&str, Value) -> Value);

/// What holds for every transport in both eras, each with a memory of its own.
pub(crate) const SCENARIOS: &[fn(&mut Door<'_>)] = &[
    each_tool_answers,
    wrong_arguments_are_named,
    each_value_of_the_specification_is_kept,
    lists_have_their_order,
    rollback_undoes_one_call,
    finding::searches_are_narrowed,
    finding::conditions_that_nothing_meets_are_errors,
    finding::texts_show_when_they_changed,
    finding::archived_ones_are_shown_only_when_asked,
    finding::every_tool_takes_a_uuid,
];

/// Offers all tools.
pub(crate) const OFFER: [&str; 4] = ["--db", "m.db", "--tools", "all,memory"];

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

impl Door<'_> {
    fn text(&mut self, tool: &str, args: Value) -> (String, bool) {
        let result = (self.0)(tool, args);
        let content = result["content"].as_array().unwrap();
        assert_eq!(content.len(), 1, "{result}");
        let is_error = result["isError"] == json!(true);
        let structured = result.get("structuredContent").filter(|_| !tool.starts_with("Memory"));
        if let Some(structured) = structured {
            assert_eq!(structured.to_string(), content[0]["text"].as_str().unwrap());
        }
        (content[0]["text"].as_str().unwrap().to_owned(), is_error)
    }

    #[track_caller]
    fn ok(&mut self, tool: &str, args: Value) -> Value {
        let (text, is_error) = self.text(tool, args);
        assert!(!is_error, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    fn store(&mut self, args: Value) -> String {
        self.ok("store_memory", args)["id"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn error(&mut self, tool: &str, args: Value) -> Value {
        let (text, is_error) = self.text(tool, args.clone());
        assert!(is_error, "{tool} {args}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    #[track_caller]
    fn assert_refused(&mut self, tool: &str, args: Value, code: &str, what: &str) {
        let error = self.error(tool, args.clone());
        assert_eq!(keys(&error), ["error"], "{error}");
        assert_eq!(keys(&error["error"]), ["code", "message"], "{error}");
        assert_eq!(error["error"]["code"], code, "{tool} {args}: {error}");
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(what), "{tool} {args}: {message}");
    }

    /// The latest snapshot.
    fn head(&mut self) -> i64 {
        let (text, _) = self.text("MemoryStats", json!({}));
        let (_, after) = text.split_once("latest:        #").unwrap();
        after[..after.find(',').unwrap()].parse().unwrap()
    }

    /// Every memory, without what counts its accesses.
    fn state(&mut self) -> Vec<Value> {
        let mut state = Vec::new();
        for archived in [false, true] {
            let ask = json!({"archived": archived, "sort_by": "created_at", "limit": 100});
            let mut page = self.ok("query_memories", ask);
            for memory in page["memories"].as_array_mut().unwrap() {
                let object = memory.as_object_mut().unwrap();
                object.remove("accessed_at");
                object.remove("access_count");
                state.push(memory.take());
            }
        }
        state
    }
}

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

const MEMORY_KEYS: [&str; 11] = [
    "id",
    "type",
    "content",
    "category",
    "created_at",
    "updated_at",
    "accessed_at",
    "access_count",
    "tags",
    "importance",
    "archived",
];

fn each_tool_answers(door: &mut Door<'_>) {
    let stored = door.ok(
        "store_memory",
        json!({
            "type": "task", "content": "Ship the harbour release", "tags": ["ship", "ship", "v2"],
            "importance": "high",
            "task_metadata": {"outcome": "Half of it", "status": "blocked", "blockers": ["tide"]},
        }),
    );
    assert_eq!(keys(&stored), ["id", "created", "memory"]);
    assert_eq!(stored["created"], true);
    let task = &stored["memory"];
    assert_eq!(keys(task), [&MEMORY_KEYS[..], &["task_metadata"]].concat());
    assert_eq!((&task["category"], &task["tags"]), (&json!("blocked"), &json!(["ship", "v2"])));
    assert_eq!(
        task["task_metadata"].to_string(),
        r#"{"status":"blocked","blockers":["tide"],"outcome":"Half of it"}"#
    );
    let id = stored["id"].clone();
    let again = json!({"type": "task", "content": "Ship the harbour release"});
    let again = door.ok("store_memory", again);
    assert_eq!((&again["id"], &again["created"]), (&id, &json!(false)));
    let by_id = json!({"type": "task", "content": "Ship it", "id": id});
    let by_id = door.ok("store_memory", by_id);
    assert_eq!(
        (&by_id["created"], &by_id["memory"]["content"]),
        (&json!(false), &json!("Ship it"))
    );

    let done = json!({"id": id, "task_metadata": {"status": "completed"}, "importance": "high"});
    let updated = door.ok("update_memory", done);
    assert_eq!(keys(&updated), ["memory", "updated_fields"]);
    assert_eq!(updated["updated_fields"], json!(["task_metadata"]));
    assert!(updated["memory"]["task_metadata"]["completed_at"].is_string(), "{updated}");

    let core = door.ok("store_memory", json!({"type": "core", "content": "Likes tea"}));
    assert_eq!(keys(&core["memory"]), MEMORY_KEYS);
    let page = door.ok("query_memories", json!({"search": "TEA likes"}));
    assert_eq!(keys(&page), ["memories", "total", "limit", "offset", "has_more"]);
    assert_eq!(page["memories"][0]["id"], core["id"]);
    assert_eq!(
        [&page["total"], &page["limit"], &page["offset"], &page["has_more"]],
        [&json!(1), &json!(10), &json!(0), &json!(false)]
    );

    let archived = door.ok("delete_memory", json!({"id": id}));
    assert_eq!(archived, json!({"success": true, "action": "archived", "id": id}));
    let deleted = door.ok("delete_memory", json!({"id": core["id"], "permanent": true}));
    assert_eq!(deleted, json!({"success": true, "action": "deleted", "id": core["id"]}));
    let stats = door.ok("get_memory_stats", json!({}));
    assert_eq!(
        keys(&stats),
        [
            "total_memories",
            "by_type",
            "by_importance",
            "archived_count",
            "total_storage_kb",
            "oldest_memory",
            "newest_memory",
            "most_accessed",
            "top_tags"
        ]
    );
    assert_eq!((&stats["total_memories"], &stats["archived_count"]), (&json!(1), &json!(1)));
    assert_eq!(stats["by_type"], json!({"core": 0, "learning": 0, "task": 1}));
    assert_eq!(stats["top_tags"][0], json!({"tag": "ship", "count": 1}));
}

fn wrong_arguments_are_named(door: &mut Door<'_>) {
    let id = door.store(json!({"type": "core", "content": "Likes tea"}));
    let before = (door.head(), door.state());
    let long = |n: usize| "é".repeat(n);
    let many = |n: usize| (0..n).map(|it| format!("t{it}")).collect::<Vec<_>>();
    let core = |more: Value| {
        let mut args = json!({"type": "core", "content": "x"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    let task = |metadata: Value| json!({"type": "task", "content": "x", "task_metadata": metadata});
    let with_id = |more: Value| {
        let mut args = json!({"id": id});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    let rows = [
        ("store_memory", json!({}), "`type` is missing"),
        ("store_memory", json!({"type": "core"}), "`content` is missing"),
        ("store_memory", json!({"type": "fact", "content": "x"}), "`type`"),
        ("store_memory", core(json!({"content": " \n"})), "`content`"),
        ("store_memory", core(json!({"content": 5})), "`content`"),
        ("store_memory", core(json!({"content": long(5001)})), "5001"),
        ("store_memory", core(json!({"category": long(51)})), "51"),
        ("store_memory", core(json!({"tags": many(11)})), "11"),
        ("store_memory", core(json!({"tags": [long(31)]})), "31"),
        ("store_memory", core(json!({"tags": [""]})), "`tags`"),
        ("store_memory", core(json!({"tags": "a"})), "`tags`"),
        ("store_memory", core(json!({"importance": "urgent"})), "`importance`"),
        ("store_memory", core(json!({"task_metadata": {}})), "`task_metadata` belongs to tasks"),
        ("store_memory", core(json!({"colour": "red"})), "`colour` is no argument"),
        ("store_memory", core(json!({"id": "x"})), "`id`"),
        ("store_memory", core(json!({"id": 7})), "`id` must be a text"),
        ("store_memory", core(json!({"category": " "})), "`category` is blank"),
        ("store_memory", core(json!({"category": 7})), "`category` must be a text"),
        ("store_memory", core(json!({"tags": [7]})), "`tags` must be a list of texts"),
        ("store_memory", core(json!({"importance": 1})), "`importance`"),
        ("store_memory", core(json!({"content": ""})), "`content` is blank"),
        ("store_memory", core(json!({"archived": true})), "`archived` is no argument"),
        ("store_memory", core(json!({"type": 7})), "`type` must be a text"),
        ("store_memory", task(json!("done")), "`task_metadata` must be an object"),
        ("store_memory", task(json!({"status": 7})), "`task_metadata.status`"),
        ("store_memory", task(json!({"blockers": ""})), "`task_metadata.blockers`"),
        ("store_memory", task(json!({"blockers": [" "]})), "`task_metadata.blockers`"),
        ("store_memory", task(json!({"outcome": " "})), "`task_metadata.outcome` is blank"),
        ("store_memory", task(json!({"completed_at": 7})), "`task_metadata.completed_at`"),
        ("store_memory", task(json!({"status": "open"})), "`task_metadata.status`"),
        ("store_memory", task(json!({"blockers": many(11)})), "11"),
        ("store_memory", task(json!({"blockers": [long(201)]})), "201"),
        ("store_memory", task(json!({"outcome": long(1001)})), "1001"),
        ("store_memory", task(json!({"completed_at": "soon"})), "`task_metadata.completed_at`"),
        ("store_memory", task(json!({"owner": "me"})), "`task_metadata.owner` is unknown"),
        ("update_memory", json!({"importance": "low"}), "`id` is missing"),
        ("update_memory", with_id(json!({})), "nothing to update"),
        ("update_memory", with_id(json!({"archived": "yes"})), "`archived`"),
        ("update_memory", with_id(json!({"type": "task"})), "`type` is no argument"),
        ("update_memory", with_id(json!({"task_metadata": {}})), "belongs to tasks"),
        ("update_memory", with_id(json!({"content": long(5001)})), "5001"),
        ("update_memory", with_id(json!({"category": long(51)})), "51"),
        ("update_memory", with_id(json!({"tags": many(11)})), "11"),
        ("update_memory", with_id(json!({"tags": [long(31)]})), "31"),
        ("update_memory", with_id(json!({"importance": "urgent"})), "`importance`"),
        ("update_memory", with_id(json!({"created_at": "2026-01-01"})), "is no argument"),
        ("update_memory", json!({"id": "x", "importance": "low"}), "`id` must be a UUID"),
        ("delete_memory", json!({"id": "x"}), "`id` must be a UUID"),
        ("delete_memory", json!({}), "`id` is missing"),
        ("delete_memory", with_id(json!({"permanent": 1})), "`permanent`"),
        ("delete_memory", with_id(json!({"force": true})), "`force` is no argument"),
        ("query_memories", json!({"limit": 0}), "`limit`"),
        ("query_memories", json!({"limit": 101}), "101"),
        ("query_memories", json!({"limit": "5"}), "`limit`"),
        ("query_memories", json!({"limit": 1.5}), "`limit`"),
        ("query_memories", json!({"offset": -1}), "`offset`"),
        ("query_memories", json!({"offset": "0"}), "`offset`"),
        ("query_memories", json!({"tags": [long(31)]}), "31"),
        ("query_memories", json!({"tags": many(11)}), "11"),
        ("query_memories", json!({"category": long(51)}), "51"),
        ("query_memories", json!({"search": 7}), "`search` must be a text"),
        ("query_memories", json!({"search": long(201)}), "201"),
        ("query_memories", json!({"sort_by": "content"}), "`sort_by`"),
        ("query_memories", json!({"sort_order": "up"}), "`sort_order`"),
        ("query_memories", json!({"type": "note"}), "`type`"),
        ("query_memories", json!({"importance": "urgent"}), "`importance`"),
        ("query_memories", json!({"archived": 0}), "`archived`"),
        ("query_memories", json!({"status": "blocked"}), "`status` is no argument"),
        ("get_memory_stats", json!({"type": "core"}), "`type` is no argument"),
    ];
    for (tool, args, what) in rows {
        door.assert_refused(tool, args, "INVALID_INPUT", what);
    }
    let unknown = [
        ("store_memory", json!({"type": "core", "content": "x", "id": NOBODY})),
        ("update_memory", json!({"id": NOBODY, "importance": "low"})),
        ("delete_memory", json!({"id": NOBODY})),
        ("delete_memory", json!({"id": NOBODY, "permanent": true})),
    ];
    for (tool, args) in unknown {
        door.assert_refused(tool, args, "NOT_FOUND", NOBODY);
    }
    assert_eq!((door.head(), door.state()), before);
    // At the limits.
    let most = core(json!({"content": long(5000), "category": long(50), "tags": many(10)}));
    door.ok("store_memory", most);
    let most = json!({"blockers": vec![long(200)], "outcome": long(1000), "status": "completed"});
    door.ok("store_memory", task(most));
    door.ok("query_memories", json!({"limit": 100, "search": long(200), "type": null}));
}

fn each_value_of_the_specification_is_kept(door: &mut Door<'_>) {
    let long = |n: usize| "é".repeat(n);
    let tags: Vec<String> = (0..10).map(|nth| format!("{nth}{}", long(29))).collect();
    let fields = [
        json!({"content": "é"}),
        json!({"content": long(5_000)}),
        json!({"category": "é"}),
        json!({"category": long(50)}),
        json!({"tags": ["é"]}),
        json!({"tags": tags}),
        json!({"importance": "high"}),
        json!({"importance": "medium"}),
        json!({"importance": "low"}),
    ];
    let metadata = [
        json!({"status": "in-progress"}),
        json!({"status": "blocked"}),
        json!({"status": "completed", "completed_at": "2026-01-01T10:00:00Z"}),
        json!({"status": "blocked", "blockers": ["é"]}),
        json!({"status": "blocked", "blockers": vec![long(200); 10]}),
        json!({"status": "blocked", "outcome": "é"}),
        json!({"status": "blocked", "outcome": long(1_000)}),
    ];
    let of_tasks = metadata.iter().map(|it| json!({"task_metadata": it}));
    let mut rows: Vec<(&str, Value)> = of_tasks.map(|it| ("task", it)).collect();
    for memory_type in ["core", "learning", "task"] {
        rows.extend(fields.iter().map(|it| (memory_type, it.clone())));
    }
    // Each is stored, and given to another memory by an update.
    for (nth, (memory_type, given)) in rows.into_iter().enumerate() {
        let other = json!({"type": memory_type, "content": format!("Other {nth}")});
        let id = door.store(other);
        let mut stored = json!({"type": memory_type, "content": format!("Memory {nth}")});
        let mut update = json!({"id": id});
        for (key, value) in given.as_object().unwrap() {
            stored[key] = value.clone();
            update[key] = value.clone();
        }
        let answers = [door.ok("store_memory", stored), door.ok("update_memory", update)]
            .map(|mut it| it["memory"].take());
        for memory in answers {
            assert_eq!(memory["type"], memory_type);
            for (key, value) in given.as_object().unwrap() {
                assert_eq!(memory[key], *value, "{memory_type} {key}");
            }
        }
        door.ok("delete_memory", json!({"id": id}));
    }
}

fn lists_have_their_order(door: &mut Door<'_>) {
    for nth in 0..9_usize {
        let importance = ["low", "high", "medium"][nth % 3];
        let memory_type = ["core", "learning", "task"][nth / 3];
        let args = json!({
            "type": memory_type, "content": format!("Memory {nth}"),
            "importance": importance, "tags": [format!("t{}", nth % 2), "all"],
            "category": if nth < 2 { "fact" } else { "insight" },
        });
        let id = door.store(args);
        if nth % 4 == 0 {
            door.ok("update_memory", json!({"id": id, "content": format!("Memory {nth}, anew")}));
        }
    }
    let filters = [
        (json!({}), 9),
        (json!({"type": "learning"}), 3),
        (json!({"tags": ["t1"]}), 4),
        (json!({"tags": ["all", "t0"]}), 5),
        (json!({"tags": ["t0", "t1"]}), 0),
        (json!({"importance": "high"}), 3),
        (json!({"category": "fact"}), 2),
        (json!({"search": "ANEW memory"}), 3),
        (json!({"search": "nothing"}), 0),
        (json!({"archived": true}), 0),
        (json!({"type": "task", "importance": "medium", "tags": ["t0"]}), 1),
    ];
    for (ask, total) in filters {
        assert_eq!(door.ok("query_memories", ask.clone())["total"], total, "{ask}");
    }
    let rank = |it: &Value| ["low", "medium", "high"].iter().position(|word| it == word).unwrap();
    for key in ["created_at", "updated_at", "accessed_at", "importance", "access_count"] {
        for order in ["asc", "desc"] {
            let page = door.ok("query_memories", json!({"sort_by": key, "sort_order": order}));
            let memories = page["memories"].as_array().unwrap();
            let mut values: Vec<String> = memories
                .iter()
                .map(|it| match key {
                    "importance" => rank(&it[key]).to_string(),
                    "access_count" => format!("{:09}", it[key].as_u64().unwrap()),
                    _ => it[key].as_str().unwrap().to_owned(),
                })
                .collect();
            if order == "desc" {
                values.reverse();
            }
            assert!(values.is_sorted(), "{key} {order}: {values:?}");
        }
    }
    let all = door.state();
    let mut paged = Vec::new();
    for offset in [0, 4, 8, 12] {
        let ask = json!({"sort_by": "created_at", "limit": 4, "offset": offset});
        let page = door.ok("query_memories", ask);
        assert_eq!((&page["total"], &page["has_more"]), (&json!(9), &json!(offset < 8)));
        paged.extend(page["memories"].as_array().unwrap().iter().map(|it| it["id"].clone()));
    }
    assert_eq!(paged, all.iter().map(|it| it["id"].clone()).collect::<Vec<_>>());
}

fn rollback_undoes_one_call(door: &mut Door<'_>) {
    let id = door.store(json!({"type": "core", "content": "Likes green tea", "tags": ["drink"]}));
    let calls = [
        ("store_memory", json!({"type": "task", "content": "Buy a kettle"})),
        ("store_memory", json!({"type": "core", "content": "Likes coffee", "id": id})),
        ("update_memory", json!({"id": id, "tags": [], "importance": "low", "category": "fact"})),
        ("delete_memory", json!({"id": id})),
        ("delete_memory", json!({"id": id, "permanent": true})),
    ];
    for (tool, args) in calls {
        let before = (door.head(), door.state());
        door.ok(tool, args.clone());
        assert_eq!(door.head(), before.0 + 1, "{tool} {args}: one snapshot");
        assert_ne!(door.state(), before.1, "{tool} {args}");
        let (answer, is_error) = door.text("MemoryRollback", json!({"snapshot_id": before.0}));
        assert!(!is_error, "{answer}");
        assert_eq!(door.state(), before.1, "{tool} {args}: {answer}");
    }
    let (found, _) = door.text("MemorySearch", json!({"query": "green tea", "type": "core"}));
    assert!(found.contains("[core] Likes green tea (id="), "{found}");
    let (stats, _) = door.text("MemoryStats", json!({}));
    assert!(stats.contains("├─ core:          1"), "{stats}");
}

#[test]
fn typed_memories_over_stdio() {
    for scenario in SCENARIOS {
        for start in [Client::legacy, Client::modern] {
            for more in [&[][..], &["--structured"]] {
                let folder = Folder::new();
                let mut client = start(&folder, &[&OFFER[..], more].concat());
                scenario(&mut Door(&mut |tool, args| client.call(tool, args).result));
                client.end();
                folder.assert_healthy("m.db");
            }
        }
    }
}

#[test]
fn sets_of_tools_are_offered_alone_and_together() {
    let folder = Folder::new();
    let five =
        ["delete_memory", "get_memory_stats", "query_memories", "store_memory", "update_memory"];
    for (names, n_tools) in
        [("all", 24), ("core", 7), ("memory", 5), ("core,memory", 12), ("memory,all,core", 29)]
    {
        let mut client = Client::modern(&folder, &["--db", "m.db", "--tools", names]);
        let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
        let list = list.as_array().unwrap();
        assert_eq!(list.len(), n_tools, "{names}");
        let listed: Vec<&str> = list.iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert!(listed.is_sorted(), "{listed:?}");
        let has_five = five.iter().all(|it| listed.contains(it));
        assert_eq!(has_five, names.contains("memory"));
        let is_destructive = |it: &&Value| it["annotations"]["destructiveHint"] == json!(true);
        let destructive = list.iter().filter(is_destructive).map(|it| &it["name"]);
        assert!(destructive.eq(listed.iter().filter(|it| **it == "MemoryRollback")));
        let about = client.ask("server/discover", json!({}))["result"]["instructions"].clone();
        let is_of_memories = about.as_str().unwrap().contains("store_memory");
        assert_eq!(is_of_memories, names == "memory", "{about}");
        client.end();
    }
    for names in ["", "everything", "core,", "core, memory", "Memory"] {
        let ran = folder.run(["serve", "--db", "m.db", "--tools", names]);
        assert_eq!(ran.code, Some(2), "{names}: {}", ran.stderr);
        assert!(ran.stderr.contains("`all`, `core`, `memory`, `remind`"), "{}", ran.stderr);
    }
}

#[test]
fn the_list_of_memory_tools_is_cheap() {
    const TOKENS_MAX: usize = 950;
    let folder = Folder::new();
    let vocabulary = tiktoken_rs::cl100k_base().unwrap();
    let mut client = Client::modern(&folder, &["--db", "m.db", "--tools", "memory"]);
    let list = client.ask("tools/list", json!({}))["result"]["tools"].to_string();
    let n_tokens = vocabulary.encode_ordinary(&list).len();
    assert!(n_tokens <= TOKENS_MAX, "{n_tokens} tokens");
    client.end();
}

#[test]
fn collections_are_listed_and_read_in_both_eras() {
    let whole = ["recent", "core", "learnings", "tasks/active", "tasks/completed"];
    let narrowed = ["{?limit,tags}", "{?tags}", "{?since,tags}", "{?tags}", "{?tags}"];
    for (start, not_found) in
        [(Client::legacy as fn(&Folder, &[&str]) -> Client, -32002), (Client::modern, -32602)]
    {
        let folder = Folder::new();
        let mut client = start(&folder, &["--db", "m.db"]);
        let mut uris = |method: &str, key: &str, member: &str| -> Vec<String> {
            let list = client.ask(method, json!({}))["result"][key].clone();
            let uris = list.as_array().unwrap().iter().map(|it| it[member].as_str().unwrap());
            uris.filter(|it| it.starts_with("memory://")).map(str::to_owned).collect()
        };
        let listed = uris("resources/list", "resources", "uri");
        assert_eq!(listed, whole.map(|it| format!("memory://{it}")));
        let templates = uris("resources/templates/list", "resourceTemplates", "uriTemplate");
        let pairs = whole.iter().zip(narrowed);
        let mut expected: Vec<String> =
            pairs.map(|(it, of)| format!("memory://{it}{of}")).collect();
        expected.push("memory://custom/{name}".to_owned());
        assert_eq!(templates, expected);
        for uri in listed {
            let read = client.ask("resources/read", json!({"uri": uri}))["result"].clone();
            let contents = &read["contents"][0];
            assert_eq!(contents["mimeType"], "application/json", "{read}");
            assert_eq!(contents["uri"], uri);
            assert!(contents["text"].as_str().unwrap().starts_with(r#"{"memories":[],"count":0,"#));
        }
        let mut error =
            |uri: &str| client.ask("resources/read", json!({"uri": uri}))["error"].clone();
        assert_eq!(
            error("memory://invalid"),
            json!({
                "code": not_found,
                "message": "Resource URI not recognized: memory://invalid",
                "data": {"uri": "memory://invalid", "code": "RESOURCE_NOT_FOUND"},
            })
        );
        for uri in
            ["memory://recent?limit=0", "memory://core?limit=5", "memory://learnings?since=x"]
        {
            assert_eq!(error(uri)["code"], -32602, "{uri}");
        }
        client.end();
    }
}

#[test]
fn a_write_wakes_the_collections_that_show_it() {
    let folder = Folder::new();
    let mut client = Client::legacy(&folder, &OFFER);
    for name in ["core", "learnings", "tasks/active"] {
        let uri = format!("memory://{name}");
        assert_eq!(client.ask("resources/subscribe", json!({"uri": uri}))["result"], json!({}));
    }
    let stored = json!({"name": "store_memory", "arguments": {"type": "core", "content": "Sails"}});
    client.request("tools/call", stored);
    let lines = [client.line(), client.line()];
    let woken: Vec<&Value> = lines.iter().filter(|it| it.get("method").is_some()).collect();
    assert_eq!(woken.len(), 1, "{lines:?}");
    assert_eq!(woken[0]["params"]["uri"], "memory://core");
    client.end();
}
