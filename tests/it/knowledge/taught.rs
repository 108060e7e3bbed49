//! The tools of knowledge by the names that agents were taught elsewhere.

use serde_json::{Value, json};

use super::call;
use crate::support::{Client, Folder};

const NAMES: [&str; 22] = [
    "consolidate",
    "create_topic",
    "delete_concept",
    "delete_episode",
    "delete_topic",
    "entities",
    "episode_types",
    "flush_ingest",
    "ingest",
    "inspect",
    "inspect_entity",
    "list_deleted",
    "list_topics",
    "recall",
    "remember",
    "restore_concept",
    "restore_episode",
    "stats",
    "topic_overview",
    "update_concept",
    "update_episode",
    "update_topic",
];

/// A client to which these tools alone are offered.
fn client(folder: &Folder) -> Client {
    Client::modern(folder, &["--db", "m.db", "--tools", "remind"])
}

/// Returns the message of the refusal of a call.
#[track_caller]
fn refusal(client: &mut Client, tool: &str, args: Value) -> String {
    let reply = client.call(tool, args);
    assert!(reply.is_error, "{}", reply.text);
    reply.text
}

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[test]
fn the_names_are_offered_alone_for_few_tokens() {
    const TOKENS_MAX: usize = 2_000;
    let folder = Folder::new();
    let mut client = client(&folder);
    let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let listed: Vec<&str> =
        list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(listed, NAMES);
    let vocabulary = tiktoken_rs::cl100k_base().unwrap();
    let n_tokens = vocabulary.encode_ordinary(&list.to_string()).len();
    assert!(n_tokens <= TOKENS_MAX, "{n_tokens} tokens");
    let about = client.ask("server/discover", json!({}))["result"]["instructions"].to_string();
    for name in ["recall", "remember", "consolidate"] {
        assert!(about.contains(name), "{about}");
    }
    assert!(!about.contains("Memory"), "a tool that is not offered is named: {about}");
    client.end();
}

#[test]
fn episodes_are_kept_changed_hidden_and_shown_again() {
    let folder = Folder::new();
    let mut client = client(&folder);
    let kept = call(
        &mut client,
        "remember",
        json!({
            "content": "The cache timed out.",
            "metadata": r#"{"ticket": 7}"#,
            "episode_type": "outcome",
            "entities": "tool:redis, person:ana",
            "topic": "Payments",
            "source_type": "agent",
        }),
    );
    let id = kept["results"][0]["id"].as_str().unwrap().to_owned();
    let topics = call(&mut client, "list_topics", json!({}));
    assert_eq!(
        (&topics["topics"][0]["name"], &topics["topics"][0]["episodes"]),
        (&json!("Payments"), &json!(1))
    );
    let entities = call(&mut client, "entities", json!({"entity_type": "tool"}));
    assert_eq!(
        (&entities["entities"][0]["name"], &entities["total"]),
        (&json!("redis"), &json!(1))
    );
    let redis = call(&mut client, "inspect_entity", json!({"entity_id": "tool:redis"}));
    assert_eq!(ids(&redis["episodes"]), [id.as_str()]);
    assert!(redis["relations"].is_array(), "{redis}");
    let bare = json!({"entity_id": "tool:redis", "show_relations": false});
    assert_eq!(call(&mut client, "inspect_entity", bare)["relations"], Value::Null);

    call(
        &mut client,
        "update_episode",
        json!({"episode_id": id, "content": "The cache timed out twice.", "episode_type": "fact",
               "entities": "tool:redis", "topic": "", "priority": "high", "spec_ids": "a,b"}),
    );
    let by_entity = call(&mut client, "recall", json!({"query": "", "entity": "tool:redis"}));
    let found = &by_entity["items"][0];
    assert_eq!(
        (&found["id"], &found["kind"], &found["text"]),
        (&json!(id), &json!("fact"), &json!("The cache timed out twice.")),
        "{by_entity}"
    );
    let fetched: Value = {
        let reply = client.ask("resources/read", json!({"uri": "remindb://episodes"}));
        let text = reply["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(fetched["episodes"][0]["topic"], Value::Null, "{fetched}");

    call(&mut client, "delete_episode", json!({"episode_id": id}));
    let gone = call(&mut client, "recall", json!({"query": "cache timed out"}));
    assert_eq!(gone["items"], json!([]));
    assert!(!gone.to_string().contains("Memory"), "a tool that is not offered is named: {gone}");
    let deleted = call(&mut client, "list_deleted", json!({"item_type": "episode"}));
    assert_eq!((ids(&deleted["deleted"]), &deleted["total"]), (vec![id.as_str()], &json!(1)));
    assert_eq!(call(&mut client, "list_deleted", json!({"item_type": "concept"}))["total"], 0);
    call(&mut client, "restore_episode", json!({"episode_id": id}));
    let back = call(&mut client, "recall", json!({"query": "timed out", "context": "cache"}));
    assert_eq!(ids(&back["items"]), [id.as_str()]);
    client.end();
    let kept = folder.ok(["export", "--db", "m.db"]).replace('\\', "");
    for metadata in [r#""ticket":7"#, r#""priority":"high""#, r#""spec_ids":"a,b""#] {
        assert!(kept.contains(metadata), "{metadata} in {kept}");
    }
    folder.assert_healthy("m.db");
}

#[test]
fn episodes_become_concepts_that_are_looked_at_changed_and_linked() {
    let folder = Folder::new();
    let mut client = client(&folder);
    let few = call(&mut client, "consolidate", json!({}));
    assert!(few["note"].as_str().unwrap().contains("`force`"), "{few}");
    let mut hint = Value::Null;
    for nth in 0..5 {
        let content = format!("Payment {nth} failed at night.");
        let kept = call(&mut client, "remember", json!({"content": content, "topic": "Payments"}));
        hint = kept["hint"].clone();
    }
    let hint = hint.as_str().unwrap();
    assert!(hint.contains("consolidate hands out") && !hint.contains("Memory"), "{hint}");
    let sheet = call(&mut client, "consolidate", json!({"force": true}));
    let from = ids(&sheet["episodes"]);
    let operations = json!([
        {"op": "concept", "as": "night", "title": "Night failures", "summary": "Payments fail at \
         night.", "from": from, "topic": "payments"},
        {"op": "concept", "as": "batch", "title": "Batch window", "summary": "Batches run at two.",
         "topic": "payments"},
    ]);
    let dry = json!({"operations": operations, "base": sheet["base"], "dry_run": true});
    call(&mut client, "consolidate", dry);
    assert_eq!(call(&mut client, "stats", json!({}))["concepts"], 0);
    // A list as a text of JSON does as well.
    let text = json!({"operations": operations.to_string(), "base": sheet["base"]});
    let done = call(&mut client, "consolidate", text);
    let (night, batch) = (
        done["results"][0]["id"].as_str().unwrap().to_owned(),
        done["results"][1]["id"].as_str().unwrap().to_owned(),
    );
    let stats = call(&mut client, "stats", json!({}));
    assert_eq!(
        ["episodes", "pending", "concepts", "topics"].map(|it| stats[it].as_i64().unwrap()),
        [5, 0, 2, 1]
    );
    assert_eq!(stats["episode_types"]["observation"], 5);

    let overview = json!({"topic_id": "Payments", "k": 1});
    let overview = call(&mut client, "topic_overview", overview);
    assert_eq!(ids(&overview["concepts"]), [night.as_str()], "the better supported one is first");
    assert_eq!(overview["total"], 2);

    let relations = json!([{"type": "causes", "target_id": night, "strength": 0.7}]).to_string();
    let change = json!({"concept_id": batch, "title": "Batch at two", "tags": "ops, night",
                        "confidence": 0.9, "relations": relations});
    call(&mut client, "update_concept", change);
    let concept = call(&mut client, "inspect", json!({"concept_id": batch}));
    assert_eq!(
        (&concept["title"], &concept["tags"], &concept["confidence"]),
        (&json!("Batch at two"), &json!(["ops", "night"]), &json!(0.9))
    );
    assert!(concept.to_string().contains("causes"), "{concept}");
    let shown = json!({"concept_id": night, "show_episodes": true, "limit": 3});
    let shown = call(&mut client, "inspect", shown);
    assert_eq!((ids(&shown["sources"]).len(), &shown["total_sources"]), (3, &json!(5)));
    let past = json!({"concept_id": night, "show_episodes": true, "end_date": "1999-12-31"});
    assert_eq!(call(&mut client, "inspect", past)["total_sources"], 0);
    assert_eq!(call(&mut client, "inspect", json!({"limit": 1}))["total"], 2);

    call(&mut client, "delete_concept", json!({"concept_id": night}));
    assert_eq!(call(&mut client, "inspect", json!({}))["total"], 1);
    call(&mut client, "restore_concept", json!({"concept_id": night}));
    assert_eq!(call(&mut client, "inspect", json!({}))["total"], 2);
    client.end();
    folder.assert_healthy("m.db");
}

#[test]
fn topics_are_made_renamed_and_deleted_when_empty() {
    let folder = Folder::new();
    let mut client = client(&folder);
    call(&mut client, "create_topic", json!({"name": "Ops", "description": "Running it"}));
    let new = json!({"topic_id": "ops", "name": "Operations", "description": "Keeping it up"});
    call(&mut client, "update_topic", new);
    let topics = call(&mut client, "list_topics", json!({}))["topics"].clone();
    assert_eq!(
        (&topics[0]["name"], &topics[0]["description"], topics.as_array().unwrap().len()),
        (&json!("Operations"), &json!("Keeping it up"), 1)
    );
    call(&mut client, "remember", json!({"content": "The host is up.", "topic": "Operations"}));
    let used = refusal(&mut client, "delete_topic", json!({"topic_id": "Operations"}));
    assert!(used.contains("INVALID_INPUT"), "{used}");
    let id = topics[0]["id"].as_str().unwrap();
    let episode = call(&mut client, "recall", json!({"topic": "Operations"}));
    let episode = episode["items"][0]["id"].clone();
    call(&mut client, "update_episode", json!({"episode_id": episode, "topic": ""}));
    call(&mut client, "delete_topic", json!({"topic_id": id}));
    assert_eq!(call(&mut client, "list_topics", json!({}))["topics"], json!([]));
    client.end();
}

#[test]
fn raw_text_is_kept_until_its_episodes_are_drawn_from_it() {
    let folder = Folder::new();
    let mut client = client(&folder);
    let text = json!({"content": "Ana: the deploy failed.", "source": "chat", "topic": "Deploys",
                      "instructions": "Keep outcomes."});
    assert_eq!(call(&mut client, "ingest", text)["chunks"], 0);
    let flushed = call(&mut client, "flush_ingest", json!({}));
    assert_eq!(flushed["chunks"], 1);
    assert!(flushed["hint"].as_str().unwrap().contains("consolidate with `task` triage"));
    let sheet = call(&mut client, "consolidate", json!({"task": "triage"}));
    assert!(sheet.to_string().contains("the deploy failed"), "{sheet}");
    assert!(sheet.to_string().contains("Keep outcomes."), "{sheet}");
    client.end();
}

#[test]
fn wrong_arguments_are_named_and_change_nothing() {
    let folder = Folder::new();
    let mut client = client(&folder);
    for (tool, args, said) in [
        ("remember", json!({}), "content"),
        ("remember", json!({"content": "x", "episode_type": "opinion"}), "`episode_type`"),
        ("remember", json!({"content": "x", "metadata": "{broken"}), "metadata"),
        ("remember", json!({"content": "x", "metadata": "[1]"}), "metadata"),
        ("remember", json!({"content": "x", "weight": 1}), "weight"),
        ("ingest", json!({}), "content"),
        ("create_topic", json!({}), "name"),
        ("update_topic", json!({"topic_id": "Ops", "name": "x"}), "Ops"),
        ("delete_topic", json!({}), "topic_id"),
        ("topic_overview", json!({"topic_id": "Ops"}), "Ops"),
        ("topic_overview", json!({"topic_id": "Ops", "k": 0}), "k"),
        ("inspect", json!({"concept_id": "nothing"}), "nothing"),
        ("inspect_entity", json!({}), "entity_id"),
        ("inspect_entity", json!({"entity_id": "tool:nothing"}), "tool:nothing"),
        ("update_episode", json!({"content": "x"}), "`episode_id`"),
        ("update_episode", json!({"episode_id": "nothing", "content": "x"}), "nothing"),
        ("update_concept", json!({"concept_id": "a", "relations": "[7]"}), "relations"),
        ("update_concept", json!({"concept_id": "a", "relations": "{"}), "relations"),
        ("delete_episode", json!({"episode_id": "nothing"}), "nothing"),
        ("restore_concept", json!({}), "`concept_id`"),
        ("list_deleted", json!({"item_type": "topic"}), "item_type"),
        ("recall", json!({"query": "x", "episode_k": -1}), "`episode_k`"),
        ("recall", json!({"query": "", "topic": ""}), "query"),
        ("consolidate", json!({"task": "all"}), "task"),
        ("consolidate", json!({"operations": "nothing"}), "operations"),
        ("consolidate", json!({"operations": []}), "operations"),
    ] {
        let said_of = refusal(&mut client, tool, args.clone());
        assert!(said_of.contains(said), "{tool} {args}: {said_of}");
    }
    let stats = call(&mut client, "stats", json!({}));
    assert_eq!((&stats["episodes"], &stats["topics"]), (&json!(0), &json!(0)));
    client.end();
}

#[test]
fn advice_names_only_what_is_offered() {
    let folder = Folder::new().file("notes/people.md", "# People\n\nAna is on call.\n");
    folder.ok(["compile", "notes", "--db", "m.db"]);
    let tree = folder.ok(["tree", "--db", "m.db"]);
    let note = tree.split_once("(id=").unwrap().1[..11].to_owned();
    let mut client = client(&folder);
    let nothing = call(&mut client, "recall", json!({"query": "volcanoes"}));
    let told = "nothing relevant is remembered; other words or no filter may find more";
    assert_eq!(nothing["note"], told);
    let long = format!("The lynx hunts. {}", "It waits for hours. ".repeat(400));
    call(&mut client, "remember", json!({"content": long}));
    let cut = call(&mut client, "recall", json!({"query": "lynx"}))["items"][0].clone();
    assert_eq!(cut["cut"], "a larger `budget` shows more");
    let whole = call(&mut client, "recall", json!({"query": "lynx", "budget": 9_000}));
    assert!(whole["items"][0]["text"] == long.as_str() && whole["items"][0]["cut"].is_null());
    for nth in 0..4 {
        call(&mut client, "remember", json!({"content": format!("It rained {nth} times.")}));
    }
    let kept = call(&mut client, "remember", json!({"content": "The wind turned."}));
    let told = "6 episodes wait to be consolidated: consolidate hands out a worksheet, consolidate \
                with `operations` takes the answer";
    assert_eq!(kept["hint"], told);
    call(&mut client, "ingest", json!({"content": "Ana: hi"}));
    let flushed = call(&mut client, "flush_ingest", json!({}));
    let told = "consolidate with `task` triage hands out a chunk, and consolidate with \
                `operations` takes its episodes with the operation `ingested`";
    assert_eq!(flushed["hint"], told);
    let operations = [
        json!({"op": "update", "id": note, "content": "Ana is away."}),
        json!({"op": "delete", "id": note}),
        json!({"op": "link", "from": note, "to": note, "type": "related_to"}),
    ];
    for operation in operations {
        let why = refusal(&mut client, "consolidate", json!({"operations": [operation]}));
        assert!(why.contains("names ") && !why.contains("Memory"), "{why}");
    }
    client.end();
}

#[test]
fn advice_names_tools_of_every_set_that_is_offered() {
    let folder = Folder::new();
    let of = |sets: &str| Client::modern(&folder, &["--db", "m.db", "--tools", sets]);
    let mut both = of("core,remind");
    let empty = both.text("MemorySearch", json!({"query": "zebra"}));
    assert_eq!(empty, "no results: the memory is empty; MemoryWrite keeps a text");
    let nothing = call(&mut both, "recall", json!({"query": "volcanoes"}));
    assert!(nothing["note"].as_str().unwrap().ends_with("MemorySearch looks in notes, too"));
    both.end();
    let mut all = of("all");
    let nothing = call(&mut all, "MemoryRecall", json!({"query": "volcanoes"}));
    assert!(nothing["note"].as_str().unwrap().ends_with("MemorySearch looks in notes, too"));
    all.end();
}

#[test]
fn what_a_caller_writes_is_told_as_it_is() {
    let folder = Folder::new();
    let mut client = client(&folder);
    let why = refusal(&mut client, "recall", json!({"query": "lynx", "topic": "it`s MemoryFetch"}));
    assert!(why.contains("no topic") && why.contains("it`s MemoryFetch"), "{why}");
    let of_nothing = json!({"op": "concept", "title": "A", "summary": "B", "topic": "c",
        "from": ["a` MemoryFetch"]});
    let why = refusal(&mut client, "consolidate", json!({"operations": [of_nothing]}));
    assert!(why.contains("a` MemoryFetch"), "{why}");
    client.end();
    let mut core = Client::modern(&folder, &["--db", "m.db", "--tools", "core"]);
    let why = refusal(&mut core, "MemoryFetch", json!({"anchor": "a` MemoryRelate"}));
    assert!(why.contains("a` MemoryRelate"), "{why}");
    core.end();
    let ran = folder.run(["recall", "--db", "m.db", "--topic", "a` MemoryFetch; b", "x"]);
    assert!(ran.stderr.contains("a` MemoryFetch; b"), "{}", ran.stderr);
}
