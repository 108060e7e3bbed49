//! Memories as lines of files: out, in, out again.

mod damaged;

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::fuzzing::random_cases::n_cases;
use crate::maintenance::doctor::{self, CheckStatus};
use crate::memory::dry_run::WriteOrDryRun;
use crate::memory::typed::{
    FILES, LineDefaults, MemoryExportLayout, PlannedExportFile, read_lines,
};

/// Texts of files by their paths.
type Files = BTreeMap<String, String>;

const CORE: LineDefaults = LineDefaults { memory_type: NodeType::Core, archived: false };

const ID: &str = "11111111-2222-4333-8444-555555555555";

fn export(memory: &Memory) -> Files {
    let read = |reader: &crate::store::reader::Reader| -> Result<Files, MemoryError> {
        let export = MemoryExportLayout::plan(reader)?;
        let mut files = Files::new();
        for PlannedExportFile { path, memories } in &export.files {
            files.insert(path.clone(), PlannedExportFile::lines(reader, memories)?);
        }
        files.insert("index.json".to_owned(), export.index());
        Ok(files)
    };
    memory.read(|reader| reader.at_one_state(read)).unwrap()
}

fn import(memory: &Memory, files: &[(&str, LineDefaults, &[u8])]) -> MemoryImportReport {
    let mut lines = Vec::new();
    for (name, of, bytes) in files {
        read_lines(&mut &bytes[..], name, *of, &mut lines).unwrap();
    }
    memory.import_memories(lines, "import:x", WriteOrDryRun::Write, &mut |_, _| ()).unwrap()
}

fn import_all(memory: &Memory, files: &Files) -> MemoryImportReport {
    let lines = files.iter().filter(|(path, _)| path.ends_with(".jsonl")).map(|(path, text)| {
        let is_of = |(name, _): &&(&str, NodeType)| path.ends_with(name);
        let memory_type = FILES.iter().find(is_of).unwrap().1;
        let of = LineDefaults { memory_type, archived: path.starts_with("archive/") };
        (path.as_str(), of, text.as_bytes())
    });
    import(memory, &lines.collect::<Vec<_>>())
}

/// Imports one line into an empty memory; returns it, or the reason why it is none.
fn read(line: &str) -> Result<Value, String> {
    let world = World::new();
    let memory = world.memory();
    let done = import(memory, &[("f", CORE, line.as_bytes())]);
    match done.refused.first() {
        Some(why) => Err(why.strip_prefix("f:1: ").unwrap().to_owned()),
        None => {
            let files = export(memory);
            let text = files.iter().find(|(path, it)| *path != "index.json" && !it.is_empty());
            Ok(serde_json::from_str(text.unwrap().1).unwrap())
        }
    }
}

#[track_caller]
fn refuses(line: &str, why: &str) {
    assert_eq!(read(line), Err(why.to_owned()), "{line}");
}

fn line(more: Value) -> String {
    let mut line = json!({"id": ID, "content": "Likes tea"});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line.to_string()
}

fn text(chars_max: usize) -> impl Strategy<Value = String> {
    let any = vec(any::<char>(), 1..=chars_max.min(40)).prop_map(|it| it.into_iter().collect());
    let plain = prop::sample::select(vec![
        "a",
        "ß",
        "漢字",
        "🦀",
        "a\nb",
        "q\"\\",
        "x: y",
        "e\u{301}",
        "a\0b",
        "\u{1}\u{7f}",
    ]);
    let long = Just("ü".repeat(chars_max));
    let text = prop_oneof![4 => plain.prop_map(str::to_owned), 4 => any, 1 => long];
    text.prop_filter("not blank", |it: &String| !it.trim().is_empty())
}

fn time() -> impl Strategy<Value = i64> {
    // From 1990 on; several within a second.
    prop_oneof![631_152_000_000..4_102_444_800_000_i64, START.0..START.0 + 3_000]
}

fn metadata() -> impl Strategy<Value = Value> {
    let status = prop::sample::select(vec!["completed", "in-progress", "blocked"]);
    (status, option::of(time()), option::of(vec(text(200), 0..3)), option::of(text(1_000)))
        .prop_map(|(status, completed_at, blockers, outcome)| {
            let completed_at = completed_at.filter(|_| status == "completed");
            json!({
                "outcome": outcome, "blockers": blockers, "status": status,
                "completed_at": completed_at.map(|it| UnixMillis(it).rfc3339()),
            })
        })
}

fn memory() -> impl Strategy<Value = Value> {
    let memory_type = prop::sample::select(vec!["core", "learning", "task"]);
    let times = (time(), option::of(time()), option::of(time()));
    let importance = option::of(prop::sample::select(vec!["high", "medium", "low"]));
    let words = (option::of(text(50)), vec(text(30), 0..5), importance);
    let rest = (any::<[u8; 16]>(), 0..1_000_u64, any::<bool>(), metadata());
    (memory_type, text(5_000), times, words, rest).prop_map(
        |(memory_type, content, (created, updated, accessed), words, rest)| {
            let (category, tags, importance) = words;
            let (id, access_count, archived, metadata) = rest;
            let id = u128::from_be_bytes(id) & !(0xf << 76) | 4 << 76;
            let hex = format!("{id:032x}");
            let id = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-");
            let at = |it: i64| UnixMillis(it).rfc3339();
            json!({
                "task_metadata": Some(metadata).filter(|_| memory_type == "task"),
                "archived": archived, "importance": importance, "tags": tags,
                "access_count": access_count, "accessed_at": accessed.map(at),
                "updated_at": updated.map(at), "created_at": at(created),
                "category": category, "content": content, "type": memory_type, "id": id,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(n_cases(32)))]

    #[test]
    fn an_export_of_an_import_is_the_same_bytes(memories in vec(memory(), 0..12)) {
        let worlds = [World::new(), World::new(), World::new()];
        let [first, second, third] = worlds.each_ref().map(|it| it.memory());
        let lines: String = memories.iter().map(|it| format!("{it}\r\n")).collect();
        let done = import(first, &[("f", CORE, lines.as_bytes())]);
        prop_assert_eq!(&done.refused, &[] as &[String]);
        prop_assert_eq!(done.n_added, memories.len());
        let out = export(first);
        let done = import_all(second, &out);
        prop_assert_eq!((done.n_added, done.refused), (memories.len(), vec![]));
        prop_assert_eq!(&export(second), &out);
        // Times are rounded to seconds on the way out, so that none of these lines is newer.
        let again = import_all(first, &out);
        prop_assert_eq!((again.n_unchanged, again.snapshot), (memories.len(), None));
        prop_assert_eq!(&export(first), &out);
        import_all(third, &export(second));
        prop_assert_eq!(&export(third), &out);

        // Every value is there, as it was given.
        let all: String = out.iter().filter(|(path, _)| *path != "index.json").map(|it| it.1.as_str()).collect();
        let all: Vec<Value> = all.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        for given in &memories {
            let found = all.iter().find(|it| it["id"] == given["id"]).unwrap();
            for key in ["type", "content", "access_count", "archived"] {
                prop_assert_eq!(&found[key], &given[key]);
            }
            for key in ["category", "importance"].iter().filter(|it| !given[**it].is_null()) {
                prop_assert_eq!(&found[*key], &given[*key]);
            }
            let accessed = if given["accessed_at"].is_null() { "created_at" } else { "accessed_at" };
            let second = |it: &Value| it.as_str().unwrap()[..19].to_owned();
            prop_assert_eq!(second(&found["accessed_at"]), second(&given[accessed]));
            let outcome = found["task_metadata"].get("outcome").unwrap_or(&Value::Null);
            prop_assert_eq!(outcome, &given["task_metadata"]["outcome"]);
        }
        for world in &worlds {
            world.assert_sound();
        }
    }
}

impl World {
    #[track_caller]
    fn assert_sound(&self) {
        let report = doctor::examine(&self.dir.path().join("memory.db")).unwrap();
        let failed = report.checks.into_iter().find(|it| it.status == CheckStatus::Fail);
        assert_eq!(failed.map(|it| it.detail), None);
    }
}

#[test]
fn what_a_line_leaves_out_has_a_default() {
    assert_eq!(
        read(&line(json!({"created_at": "2026-01-02T01:00:00.75+02:00"}))).unwrap(),
        json!({
            "id": ID, "type": "core", "content": "Likes tea", "category": "other",
            "created_at": "2026-01-01T23:00:00Z", "updated_at": "2026-01-01T23:00:00Z",
            "accessed_at": "2026-01-01T23:00:00Z", "access_count": 0, "tags": [],
            "importance": "medium", "archived": false,
        })
    );
    let task =
        read(&line(json!({"type": "task", "tags": null, "created_at": "2026-01-02 01:00:00"})));
    let task = task.unwrap();
    assert_eq!(task["task_metadata"], json!({"status": "in-progress"}));
    assert_eq!(
        (&task["category"], &task["created_at"]),
        (&json!("in-progress"), &json!("2026-01-02T01:00:00Z"))
    );
    // Without any time, it was made now.
    assert_eq!(read(&line(json!({}))).unwrap()["updated_at"], START.to_second());
    let done = json!({"type": "task", "updated_at": "2026-01-02", "task_metadata": {"status": "completed"}});
    let done = read(&line(done)).unwrap();
    assert_eq!(done["task_metadata"]["completed_at"], "2026-01-02T00:00:00Z");
    assert_eq!(read(&format!("\u{feff}{}\r\n", line(json!({})))).unwrap()["id"], ID);
}

#[test]
fn a_category_that_was_shown_for_none_goes_on_following_the_status() {
    let world = World::new();
    let memory = world.memory();
    let given =
        json!({"type": "task", "category": "blocked", "task_metadata": {"status": "blocked"}});
    import(memory, &[("f", CORE, line(given).as_bytes())]);
    let done =
        world.ok("update_memory", json!({"id": ID, "task_metadata": {"status": "completed"}}));
    assert_eq!(done["memory"]["category"], "completed");
}

#[test]
fn a_file_says_what_its_lines_leave_out() {
    let world = World::new();
    let memory = world.memory();
    let of = LineDefaults { memory_type: NodeType::Learning, archived: true };
    let done = import(memory, &[("f", of, line(json!({"created_at": "2024-05-06"})).as_bytes())]);
    assert_eq!(done.n_added, 1);
    let files = export(memory);
    assert!(files["archive/2024/learnings.jsonl"].contains(r#""archived":true"#), "{files:?}");
    assert_eq!(files["learnings.jsonl"], "");
    let index = format!(
        r#"{{"version":1,"memories":[{{"id":"{ID}","type":"learning","file":"archive/2024/learnings.jsonl","archived":true}}]}}"#
    );
    assert_eq!(files["index.json"], index + "\n");
}

#[test]
fn a_bad_line_is_refused_with_its_reason() {
    let metadata = |it: Value| line(json!({"type": "task", "task_metadata": it}));
    let long = |n: usize| "x".repeat(n);
    let rows = [
        ("{".to_owned(), "is no JSON: EOF while parsing an object, at column 1"),
        ("[1]".to_owned(), "is no JSON object"),
        ("nothing".to_owned(), "is no JSON: expected ident, at column 2"),
        (line(json!({})) + "x", "is no JSON: trailing characters, at column 68"),
        (json!({"content": "x"}).to_string(), "`id` is missing"),
        (json!({"id": ID}).to_string(), "`content` is missing"),
        (line(json!({"id": "7"})), "`id` must be a UUID"),
        (line(json!({"content": " "})), "`content` is blank"),
        (line(json!({"content": 7})), "`content` must be a text"),
        (line(json!({"content": long(5001)})), "`content` has 5001 characters; at most 5000 fit"),
        (line(json!({"type": "fact"})), "`type` must be one of core, learning, task"),
        (line(json!({"category": long(51)})), "`category` has 51 characters; at most 50 fit"),
        (
            line(json!({"tags": vec!["a"; 3]})).replace("\"a\",", "1,"),
            "`tags` must be a list of texts",
        ),
        (
            line(json!({"tags": (0..11).map(|it| it.to_string()).collect::<Vec<_>>()})),
            "`tags` has 11 items; at most 10 fit",
        ),
        (line(json!({"importance": "urgent"})), "`importance` must be one of high, medium, low"),
        (line(json!({"archived": "yes"})), "`archived` must be true or false"),
        (
            line(json!({"access_count": -1})),
            "`access_count` must be a whole number from 0 to 9007199254740991, not -1",
        ),
        (
            line(json!({"access_count": u64::MAX})),
            "`access_count` must be a whole number from 0 to 9007199254740991, not 18446744073709551615",
        ),
        (
            line(json!({"created_at": "soon"})),
            "`created_at` must be a time like 2026-01-01T10:00:00Z",
        ),
        (line(json!({"updated_at": 5})), "`updated_at` must be a text"),
        (
            line(json!({"accessed_at": "9999-12-31T23:59:59-01:00"})),
            "`accessed_at` must be a time like 2026-01-01T10:00:00Z",
        ),
        (
            line(json!({"task_metadata": {}})),
            "`task_metadata` belongs to tasks, and the type is core",
        ),
        (
            metadata(json!({"status": "open"})),
            "`task_metadata.status` must be one of completed, in-progress, blocked",
        ),
        (
            metadata(json!({"owner": "me"})),
            "`task_metadata.owner` is unknown; known are status, completed_at, blockers, outcome",
        ),
        (
            line(json!({"colour": "red"})),
            "`colour` is no field of a memory; known are id, type, content, category, created_at, updated_at, accessed_at, access_count, tags, importance, archived, task_metadata",
        ),
        (
            line(json!({"content": "x".repeat(1024 * 1024)})),
            "is longer than 1048576 bytes, and no memory is",
        ),
    ];
    for (line, why) in rows {
        refuses(&line, why);
    }
    // A name is shown on one line, without the secret that it is.
    let odd = line(json!({"AKIAIOSFODNN7EXAMPLE\n": 1}));
    assert!(read(&odd).unwrap_err().starts_with("`«redacted:aws_access_key» ` is no field"));
}

#[test]
fn the_newer_of_two_memories_wins_as_a_whole() {
    let world = World::new();
    let memory = world.memory();
    let put = |more: Value| {
        let done = import(memory, &[("f", CORE, line(more).as_bytes())]);
        (done.n_added, done.n_updated, done.n_unchanged, done.refused)
    };
    let day = |nth: u32| format!("2026-01-{nth:02}T00:00:00Z");
    let first = json!({
        "created_at": day(1), "updated_at": day(5), "tags": ["a"], "access_count": 9,
        "category": "fact", "accessed_at": day(6),
    });
    assert_eq!(put(first), (1, 0, 0, vec![]));
    let before = (export(memory), world.n_snapshots());
    for more in [
        json!({"updated_at": day(5), "content": "Equal"}),
        json!({"updated_at": day(4), "content": "Older"}),
        json!({"content": "Without a time"}),
    ] {
        assert_eq!(put(more), (0, 0, 1, vec![]));
    }
    assert_eq!((export(memory), world.n_snapshots()), before);
    let newer =
        json!({"created_at": day(2), "updated_at": "2026-01-05T01:00:01+01:00", "archived": true});
    assert_eq!(put(newer), (0, 1, 0, vec![]));
    let files = export(memory);
    let found: Value = serde_json::from_str(&files["archive/2026/core_memories.jsonl"]).unwrap();
    assert_eq!(
        found,
        json!({
            "id": ID, "type": "core", "content": "Likes tea", "category": "other",
            "created_at": day(2), "updated_at": "2026-01-05T00:00:01Z", "accessed_at": day(2),
            "access_count": 0, "tags": [], "importance": "medium", "archived": true,
        })
    );
    let why = format!("f:1: `type` cannot change: memory `{ID}` is a core, not a task");
    assert_eq!(put(json!({"updated_at": day(9), "type": "task"})), (0, 0, 0, vec![why]));
    world.assert_sound();
}

#[test]
fn a_core_memory_beyond_the_limit_is_a_bad_line() {
    let mut world = World::new();
    world.reopen(TypedMemorySettings { max_core: Some(2), ..Default::default() });
    let memory = world.memory();
    let id = |nth: u32| format!("00000000-0000-4000-8000-{nth:012}");
    let core = |nth: u32, more: Value| {
        let own = json!({"id": id(nth), "content": format!("Fact {nth}")});
        let mut own = own.as_object().unwrap().clone();
        own.extend(more.as_object().unwrap().clone());
        line(Value::Object(own)) + "\n"
    };
    let (plain, archived) =
        (|nth| core(nth, json!({})), |nth| core(nth, json!({"archived": true})));
    let lines = [plain(1), archived(2), plain(3), plain(4), archived(5)].concat()
        // Archived by a newer line, which makes room for the next.
        + &core(1, json!({"updated_at": "2027-01-01", "archived": true})) + &plain(6)
        + &core(5, json!({"updated_at": "2027-01-01", "archived": false}));
    let done = import(memory, &[("f", CORE, lines.as_bytes())]);
    let why = "there are 2 core memories, the most there may be; archive one first";
    assert_eq!(done.refused, [format!("f:4: {why}"), format!("f:8: {why}")]);
    assert_eq!((done.n_added, done.n_updated), (5, 1));
    assert_eq!(world.ok("query_memories", json!({}))["total"], 2);
}

#[test]
fn an_import_is_one_snapshot_that_a_rollback_undoes() {
    let world = World::new();
    let memory = world.memory();
    world.store(json!({"type": "core", "content": "Before"}));
    let before = export(memory);
    let many: String = (0..50)
        .map(|nth| {
            let id = format!("00000000-0000-4000-8000-{nth:012}");
            line(json!({"id": id, "content": format!("{nth}"), "created_at": "2024-01-01"})) + "\n"
        })
        .collect();
    let done = import(memory, &[("f", CORE, many.as_bytes())]);
    assert_eq!((done.n_added, done.snapshot), (50, Some(2)));
    assert_eq!(world.n_snapshots(), 2);
    memory.rollback(1, false).unwrap();
    assert_eq!(export(memory), before);
    // What was undone comes again.
    assert_eq!(import(memory, &[("f", CORE, many.as_bytes())]).n_added, 50);
    world.assert_sound();
}

#[test]
fn secrets_become_markers_and_come_back_as_they_are() {
    let [world, other] = [World::new(), World::new()];
    let memory = world.memory();
    let (key, second) = ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLF");
    let given = json!({
        "type": "task", "content": format!("{key} {}", "x".repeat(4_979)), "category": key,
        "tags": [key, second], "created_at": "2024-01-01",
        "task_metadata": {"blockers": [key], "outcome": key},
    });
    let done = import(memory, &[("f", CORE, line(given).as_bytes())]);
    assert_eq!((done.n_added, done.n_secrets, &done.refused), (1, 6, &vec![]));
    let out = export(memory);
    let text: String = out.values().map(String::as_str).collect();
    assert!(!text.contains("AKIA"), "{text}");
    assert!(text.contains(r#""tags":["«redacted:aws_access_key»"]"#), "{text}");
    // A marker is longer than the secret was, and counts as one character.
    let other = other.memory.as_ref().unwrap();
    assert_eq!(import_all(other, &out).refused, [] as [String; 0]);
    assert_eq!(export(other), out);
}

#[test]
fn no_tool_makes_a_memory_that_an_import_would_refuse() {
    let world = World::new();
    let memory = world.memory();
    let stored = world.store(json!({"type": "core", "content": "Short"}));
    let node = memory.read(|it| it.typed_by_uuid(stored["id"].as_str().unwrap())).unwrap();
    let node = node.unwrap().id;
    let long = "x".repeat(5_001);
    let refused = [
        memory.write(&long, Some(&node), crate::memory::AppendOrReplaceMode::Replace),
        memory.summarize(&node, &long, None),
    ];
    for (refused, name) in refused.into_iter().zip(["payload", "summary"]) {
        let why = format!("`{name}` has 5001 characters; at most 5000 fit into a memory");
        assert_eq!(refused.err().map(|it| it.to_string()), Some(why));
    }
    memory.summarize(&node, &long[..5_000], None).unwrap();
    let other = World::new();
    let other = other.memory.as_ref().unwrap();
    assert_eq!(import_all(other, &export(memory)).refused, [] as [String; 0]);
    assert_eq!(export(other), export(memory));
}
