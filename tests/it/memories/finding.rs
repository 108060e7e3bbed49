//! Typed memories among notes: found, narrowed, hidden while archived, and named by their UUIDs.

use serde_json::{Value, json};

use super::super::support::{Client, Folder, without_ages};
use super::{Door, NOBODY, OFFER};

/// The labels of the lines of a reply.
fn labels(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|it| it.trim_start().starts_with('['));
    lines.filter_map(|it| it.split_once("] ")?.1.split_once(" (id=")).map(|it| it.0).collect()
}

/// The id in the first line of a reply that has this label.
fn id_of(text: &str, label: &str) -> String {
    let line = text.lines().find(|it| it.contains(&format!("] {label} (id=")));
    let (_, after) = line.unwrap_or_else(|| panic!("{text}")).split_once("(id=").unwrap();
    after[..11].to_owned()
}

/// Stores three memories, an archived one and a note, all of them about a harbour.
fn harbour(door: &mut Door<'_>) -> [String; 4] {
    let mut store = |more: Value| door.store(more);
    let ids = [
        json!({"type": "core", "content": "Likes harbour tea", "tags": ["drink", "daily"],
               "importance": "high"}),
        json!({"type": "learning", "content": "The harbour freezes", "tags": ["sea"],
               "importance": "low"}),
        json!({"type": "task", "content": "Paint the harbour wall", "tags": ["sea", "daily"],
               "task_metadata": {"status": "blocked"}}),
        json!({"type": "task", "content": "Old harbour errand", "tags": ["sea"]}),
    ]
    .map(&mut store);
    door.ok("delete_memory", json!({"id": ids[3]}));
    let note = json!({"payload": "# Harbour\n\nThe harbour has two piers."});
    let (said, is_error) = door.text("MemoryWrite", note);
    assert!(!is_error, "{said}");
    ids
}

pub(super) fn searches_are_narrowed(door: &mut Door<'_>) {
    harbour(door);
    let notes = ["Harbour", "The harbour has two piers."];
    let (tea, ice) = ("Likes harbour tea", "The harbour freezes");
    let (wall, old) = ("Paint the harbour wall", "Old harbour errand");
    let rows: [(Value, &[&str]); 22] = [
        (json!({}), &[notes[0], notes[1], tea, ice, wall]),
        (json!({"archived": false}), &[notes[0], notes[1], tea, ice, wall]),
        (json!({"archived": true}), &[notes[0], notes[1], tea, ice, wall, old]),
        (json!({"type": "heading"}), &[notes[0]]),
        (json!({"type": "core"}), &[tea]),
        (json!({"type": "learning"}), &[ice]),
        (json!({"type": "task"}), &[wall]),
        (json!({"type": "task", "archived": true}), &[wall, old]),
        (json!({"tags": ["sea"]}), &[ice, wall]),
        (json!({"tags": ["daily", "sea"]}), &[wall]),
        (json!({"tags": ["sea"], "archived": true}), &[ice, wall, old]),
        (json!({"tags": []}), &[notes[0], notes[1], tea, ice, wall]),
        (json!({"status": "blocked"}), &[wall]),
        (json!({"status": "completed"}), &[]),
        (json!({"importance": "high"}), &[tea]),
        (json!({"importance": "low", "tags": ["sea"]}), &[ice]),
        (json!({"since": "2020-01-01"}), &[notes[0], notes[1], tea, ice, wall]),
        (json!({"since": "2020-01-01", "type": "heading"}), &[notes[0]]),
        (json!({"since": "2020-01-01", "tags": ["sea"]}), &[ice, wall]),
        (json!({"since": "2120-01-01"}), &[]),
        (json!({"until": "2020-01-01T10:00:00+02:00"}), &[]),
        (json!({"since": "", "status": "", "type": "task"}), &[wall]),
    ];
    // Words, and an expression, which the index ranks.
    for query in ["harbour", "harbour OR nowhere"] {
        for (more, expected) in &rows {
            let mut ask = more.clone();
            ask["query"] = query.into();
            let (text, is_error) = door.text("MemorySearch", ask.clone());
            assert!(!is_error, "{ask}: {text}");
            let (mut found, mut expected) = (labels(&text), expected.to_vec());
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{ask}");
        }
    }
}

pub(super) fn conditions_that_nothing_meets_are_errors(door: &mut Door<'_>) {
    let time = "must be a day or a time, as 2026-01-31 or 2026-01-31T10:00:00Z, not `soon`";
    let tags: Vec<String> = (0..11).map(|it| format!("t{it}")).collect();
    let rows = [
        (json!({"since": "soon"}), format!("`since` {time}")),
        (json!({"until": "soon"}), format!("`until` {time}")),
        (json!({"since": 2026}), "`since` must be a day or a time".to_owned()),
        (json!({"since": "2026-02-30"}), "not `2026-02-30`".to_owned()),
        (json!({"since": "2026-02-02", "until": "2026-02-01"}), "swap them".to_owned()),
        (json!({"type": "memory"}), "`type` must be one of".to_owned()),
        (json!({"status": "open"}), "completed, in-progress, blocked, not `open`".to_owned()),
        (json!({"importance": "urgent"}), "high, medium, low, not `urgent`".to_owned()),
        (json!({"archived": "yes"}), "`archived` must be true or false".to_owned()),
        (json!({"tags": 7}), "`tags` must be a list of strings".to_owned()),
        (json!({"tags": [" "]}), "`tags` has an item that is blank".to_owned()),
        (json!({"tags": ["é".repeat(31)]}), "31 characters; at most 30 fit".to_owned()),
        (json!({"tags": tags}), "`tags` has 11 items; at most 10 fit".to_owned()),
        (
            json!({"type": "heading", "tags": ["sea"]}),
            "`tags` is of memories, and a heading is none".to_owned(),
        ),
        (
            json!({"type": "core", "status": "blocked"}),
            "`status` is of tasks, and the type is core".to_owned(),
        ),
        (json!({"tag": "sea"}), "did you mean `tags`?".to_owned()),
        (json!({"dates": "soon"}), "`dates` must be true or false".to_owned()),
        (json!({"date": true}), "did you mean `dates`?".to_owned()),
    ];
    for (mut ask, expected) in rows {
        ask["query"] = "harbour".into();
        let (text, is_error) = door.text("MemorySearch", ask.clone());
        assert!(is_error && text.contains(&expected), "{ask}: {text}");
    }
}

/// Of notes and memories, which have a time alike.
pub(super) fn texts_show_when_they_changed(door: &mut Door<'_>) {
    harbour(door);
    let (stored, _) = door.text("query_memories", json!({"search": "likes"}));
    let (_, day) = stored.split_once(r#""updated_at":""#).unwrap();
    let day = &day[..10];
    let ask = |detail: &str, more: Value| {
        let mut ask = json!({"query": "harbour tea piers", "detail": detail});
        ask.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ask
    };
    for (more, is_dated) in [
        (json!({}), false),
        (json!({"dates": false}), false),
        (json!({"dates": "true"}), true),
        (json!({"with_dates": true}), true),
        (json!({"since": "2020-01-01"}), true),
        (json!({"until": "2120-01-01"}), true),
    ] {
        let (lines, _) = door.text("MemorySearch", ask("label", more.clone()));
        let n_dated = if is_dated { lines.lines().count() } else { 0 };
        assert_eq!(lines.matches(&format!(" changed={day} temp=")).count(), n_dated, "{lines}");
        for detail in ["snippet", "full"] {
            let (texts, _) = door.text("MemorySearch", ask(detail, more.clone()));
            let n_dated = if is_dated { 5 } else { 0 };
            assert_eq!(texts.matches(&format!("@{day}")).count(), n_dated, "{more}: {texts}");
        }
    }
    let (lines, _) = door.text("MemorySearch", ask("label", json!({})));
    let id = id_of(&lines, "The harbour has two piers.");
    let batch = json!({"node_ids": [id], "dates": true});
    for (tool, args) in
        [("MemoryFetch", json!({"anchor": id, "dates": true})), ("MemoryFetchBatch", batch)]
    {
        let (text, _) = door.text(tool, args);
        assert!(text.ends_with(&format!("{id}@{day} The harbour has two piers.\n")), "{text}");
        let names = if tool == "MemoryFetch" { json!({"id": id}) } else { json!({"ids": [id]}) };
        let (text, _) = door.text(tool, names);
        assert!(text.ends_with(&format!("{id} The harbour has two piers.\n")), "{text}");
    }
}

pub(super) fn archived_ones_are_shown_only_when_asked(door: &mut Door<'_>) {
    let [tea, _, wall, old] = harbour(door);
    for target in [&tea, &old] {
        let (said, is_error) =
            door.text("MemoryRelate", json!({"source_id": wall, "target_id": target}));
        assert!(!is_error, "{said}");
    }
    for (tool, args) in [
        ("MemoryTree", json!({})),
        ("MemoryRelated", json!({"anchor": wall, "depth": 2})),
        ("MemorySearch", json!({"query": "harbour errand tea"})),
    ] {
        let (hidden, _) = door.text(tool, args.clone());
        assert!(!hidden.contains("Old harbour errand"), "{hidden}");
        assert!(hidden.contains("Likes harbour tea"), "{hidden}");
        let mut args = args;
        args["archived"] = true.into();
        let (shown, _) = door.text(tool, args);
        assert!(shown.contains("Old harbour errand"), "{shown}");
    }
    // An archived memory still answers by its id.
    let (fetched, is_error) = door.text("MemoryFetch", json!({"anchor": old}));
    assert!(!is_error && fetched.contains("Old harbour errand"), "{fetched}");
}

/// Every tool of notes that takes a node's id, with that id in place of `ID`.
const TOOLS_WITH_IDS: [(&str, &str); 14] = [
    ("MemoryFetch", r#"{"anchor": "ID"}"#),
    ("MemoryFetchBatch", r#"{"node_ids": ["ID"]}"#),
    ("MemoryHistory", r#"{"anchor": "ID"}"#),
    ("MemoryPin", r#"{"node_id": "ID"}"#),
    ("MemoryUnpin", r#"{"node_id": "ID"}"#),
    ("MemoryRelate", r#"{"source_id": "ID", "target_id": "OTHER"}"#),
    ("MemoryRelate", r#"{"source_id": "OTHER", "target_id": "ID"}"#),
    ("MemoryRelated", r#"{"anchor": "ID"}"#),
    ("MemoryUnrelate", r#"{"source_id": "ID", "target_id": "OTHER"}"#),
    ("MemoryUnrelate", r#"{"source_id": "OTHER", "target_id": "ID"}"#),
    ("MemorySummarize", r#"{"node_id": "ID", "summary": "Ice."}"#),
    ("MemoryTree", r#"{"root": "ID"}"#),
    ("MemoryWrite", r#"{"anchor": "ID", "payload": "The harbour freezes"}"#),
    ("MemoryForget", r#"{"node_id": "ID"}"#),
];

pub(super) fn every_tool_takes_a_uuid(door: &mut Door<'_>) {
    let [uuid, other, ..] = harbour(door);
    let (found, _) = door.text("MemorySearch", json!({"query": "likes tea"}));
    let node = id_of(&found, "Likes harbour tea");
    let before = door.head();
    // Once by the node's id and once by the UUID, in any case: the same answer each time.
    for (tool, args) in TOOLS_WITH_IDS {
        let ask = |id: &str| -> Value {
            serde_json::from_str(&args.replace("ID", id).replace("OTHER", &other)).unwrap()
        };
        let (by_id, is_error) = door.text(tool, ask(&node));
        assert!(!is_error, "{tool} {args}: {by_id}");
        if tool == "MemoryForget" {
            let back = json!({"snapshot_id": door.head() - 1});
            let (said, _) = door.text("MemoryRollback", back);
            assert!(said.contains("rolled back"), "{said}");
        }
        let (by_uuid, is_error) = door.text(tool, ask(&uuid.to_uppercase()));
        // A second summary or removal of an edge meets another state; it still finds the node.
        let is_other = by_uuid.contains("no edge from");
        assert!(!is_error || is_other, "{tool} {args}: {by_uuid}");
        let (nobody, is_error) = door.text(tool, ask(NOBODY));
        let is_named = nobody.contains(NOBODY);
        assert!(
            is_named && (is_error || tool == "MemoryHistory" || tool == "MemoryFetchBatch"),
            "{tool} {args}: {nobody}"
        );
    }
    // The history of a memory outlives it, under both names.
    let (by_uuid, is_error) = door.text("MemoryHistory", json!({"anchor": uuid}));
    assert!(!is_error && by_uuid.contains(": rem ("), "{by_uuid}");
    let (by_id, _) = door.text("MemoryHistory", json!({"anchor": node}));
    assert_eq!(without_ages(&by_id), without_ages(&by_uuid));
    assert!(before < door.head());
}

#[test]
fn the_table_of_tools_with_ids_is_complete() {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &OFFER);
    let list = client.ask("tools/list", json!({}))["result"]["tools"].clone();
    let takes_id = |tool: &&Value| {
        let names = ["anchor", "node_id", "node_ids", "root", "source_id", "target_id"];
        names.iter().any(|it| tool["inputSchema"]["properties"].get(it).is_some())
    };
    let tools = list.as_array().unwrap().iter().filter(takes_id);
    let mut listed: Vec<&str> = tools.map(|it| it["name"].as_str().unwrap()).collect();
    let mut known = TOOLS_WITH_IDS.map(|it| it.0).to_vec();
    known.sort_unstable();
    known.dedup();
    listed.sort_unstable();
    assert_eq!(listed, known);
    // Of resources, one takes a node's id.
    let stored = client.call("store_memory", json!({"type": "core", "content": "Sails"})).result;
    let stored: Value =
        serde_json::from_str(stored["content"][0]["text"].as_str().unwrap()).unwrap();
    let uri = format!("remindb://tree/{}", stored["id"].as_str().unwrap());
    let read = client.ask("resources/read", json!({"uri": uri}))["result"].clone();
    assert!(read["contents"][0]["text"].as_str().unwrap().contains(r#""label":"Sails""#), "{read}");
    client.end();
}

#[test]
fn the_command_line_searches_as_the_tool_does() {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &OFFER);
    harbour(&mut Door(&mut |tool, args| client.call(tool, args).result));
    client.end();
    for (flags, expected) in [
        (&["--type", "task"][..], &["Paint the harbour wall"][..]),
        (&["--tag", "sea"], &["Paint the harbour wall", "The harbour freezes"]),
        (&["--tag", "sea", "--tag", "daily"], &["Paint the harbour wall"]),
        (&["--status", "blocked"], &["Paint the harbour wall"]),
        (&["--importance", "low"], &["The harbour freezes"]),
        (&["--since", "2020-01-01", "--type", "core"], &["Likes harbour tea"]),
        (&["--archived", "--type", "task"], &["Old harbour errand", "Paint the harbour wall"]),
        (&["--until", "2020-01-01"], &[]),
    ] {
        let args = [&["search", "harbour", "--db", "m.db"], flags].concat();
        let ran = folder.run(&args);
        let mut found = labels(&ran.stdout);
        found.sort_unstable();
        assert_eq!(found, expected, "{flags:?}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, Some(i32::from(expected.is_empty())));
    }
    for (flags, expected) in [
        (["--status", "open"], "no status `open`; there are completed, in-progress, blocked"),
        (["--importance", "urgent"], "no importance `urgent`; there are high, medium, low"),
        (["--since", "soon"], "`--since` needs a day or a time, as 2026-01-31"),
        (["--until", "soon"], "`--until` needs a day or a time, as 2026-01-31"),
        (["--tag", ""], "`tags` has an item that is blank"),
        (["--tags", "sea"], "did you mean `--tag`?"),
    ] {
        let ran = folder.run([&["search", "harbour", "--db", "m.db"][..], &flags].concat());
        assert!(ran.stderr.contains(expected), "{flags:?}: {}", ran.stderr);
        assert!(matches!(ran.code, Some(1 | 2)), "{flags:?}: {:?}", ran.code);
    }
    let tree = ["inspect", "--tree", "--db", "m.db"];
    assert!(!folder.ok(tree).contains("Old harbour errand"));
    assert!(folder.ok([&tree[..], &["--archived"]].concat()).contains("Old harbour errand"));
}
