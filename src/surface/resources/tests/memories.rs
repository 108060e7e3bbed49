//! Collections of typed memories: their envelopes, their filters, and what wakes nobody.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::ResourceFixture;
use crate::memory::typed::{DeleteRequest, QueryRequest, StoreRequest, UpdateRequest};
use crate::memory::{Error, Memory};
use crate::model::clock::UnixMillis;
use crate::surface::changed_resources::ChangeWatch;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// 2026-01-01T10:00:00Z.
const NOW: UnixMillis = UnixMillis(1_767_261_600_000);

fn set(fixture: &ResourceFixture, at: UnixMillis) {
    fixture.clock.advance(at.since(fixture.clock.now()));
}

pub(super) fn object(args: Value) -> serde_json::Map<String, Value> {
    serde_json::from_value(args).unwrap()
}

pub(super) fn store(memory: &Memory, args: Value) -> String {
    memory.store_memory(StoreRequest::parse(&object(args)).unwrap()).unwrap().memory.id
}

/// Memories of each type, with their ids by their contents.
pub(super) fn filled() -> (ResourceFixture, Vec<(String, &'static str)>) {
    let fixture = ResourceFixture::of(&[]);
    let mut ids = Vec::new();
    let rows = [
        (-50, "a", json!({"type": "learning", "content": "Old insight", "category": "insight"})),
        (
            -40,
            "b",
            json!({"type": "task", "content": "Long done",
            "task_metadata": {"status": "completed"}}),
        ),
        (
            -12,
            "c",
            json!({"type": "task", "content": "Done", "importance": "high",
            "tags": ["tag1", "tag2"], "task_metadata": {"status": "completed",
            "outcome": "Success - Feature implemented and tested"}}),
        ),
        (
            -10,
            "d",
            json!({"type": "core", "content": "Likes tea", "category": "preference",
            "importance": "low"}),
        ),
        (
            -9,
            "e",
            json!({"type": "core", "content": "Sails", "category": "hobby",
            "importance": "high", "tags": ["sea"]}),
        ),
        (-8, "f", json!({"type": "core", "content": "Has a dog"})),
        (
            -7,
            "g",
            json!({"type": "core", "content": "Reads at night", "category": "pattern",
            "importance": "high"}),
        ),
        (-6, "h", json!({"type": "core", "content": "Forgotten"})),
        (-5, "i", json!({"type": "learning", "content": "New solution", "tags": ["tag1"]})),
        (
            -4,
            "j",
            json!({"type": "task", "content": "Wait for review", "tags": ["tag1"],
            "task_metadata": {"blockers": ["reason1", "reason2"], "status": "blocked"}}),
        ),
    ];
    for (days, letter, args) in rows {
        set(&fixture, UnixMillis(NOW.0 + days * DAY_MS));
        ids.push((store(&fixture.memory, args), letter));
    }
    let archive = DeleteRequest::parse(&object(json!({"id": ids[7].0}))).unwrap();
    fixture.memory.delete_memory(&archive).unwrap();
    set(&fixture, NOW);
    (fixture, ids)
}

fn read(fixture: &ResourceFixture, ids: &[(String, &str)], uri: &str) -> String {
    let mut text = fixture.view.resource(uri).unwrap();
    for (id, letter) in ids {
        text = text.replace(id.as_str(), letter);
    }
    text
}

/// The letters of the memories that a document shows, in order.
pub(super) fn letters(fixture: &ResourceFixture, ids: &[(String, &str)], uri: &str) -> String {
    let document: Value = serde_json::from_str(&read(fixture, ids, uri)).unwrap();
    let memories = document["memories"].as_array().unwrap();
    assert_eq!(document["count"], memories.len(), "{uri}");
    memories.iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[track_caller]
pub(super) fn check(
    fixture: &ResourceFixture,
    ids: &[(String, &str)],
    uri: &str,
    expected: Expect,
) {
    let text = read(fixture, ids, uri);
    expected.assert_eq(&text.replace("{\"id\"", "\n{\"id\"").replace("],\"count", "\n],\"count"));
}

#[test]
fn envelopes_have_their_keys_in_order() {
    let (fixture, ids) = filled();
    check(
        &fixture,
        &ids,
        "memory://recent?limit=2",
        expect![[r#"
        {"memories":[
        {"id":"j","type":"task","content":"Wait for review","category":"blocked","created_at":"2025-12-28T10:00:00Z","updated_at":"2025-12-28T10:00:00Z","accessed_at":"2025-12-28T10:00:00Z","access_count":0,"tags":["tag1"],"importance":"medium","archived":false,"task_metadata":{"status":"blocked","blockers":["reason1","reason2"]}},
        {"id":"i","type":"learning","content":"New solution","category":"other","created_at":"2025-12-27T10:00:00Z","updated_at":"2025-12-27T10:00:00Z","accessed_at":"2025-12-27T10:00:00Z","access_count":0,"tags":["tag1"],"importance":"medium","archived":false}
        ],"count":2,"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    check(
        &fixture,
        &ids,
        "memory://core",
        expect![[r#"
        {"memories":[
        {"id":"g","type":"core","content":"Reads at night","category":"pattern","created_at":"2025-12-25T10:00:00Z","updated_at":"2025-12-25T10:00:00Z","accessed_at":"2025-12-25T10:00:00Z","access_count":0,"tags":[],"importance":"high","archived":false},
        {"id":"e","type":"core","content":"Sails","category":"hobby","created_at":"2025-12-23T10:00:00Z","updated_at":"2025-12-23T10:00:00Z","accessed_at":"2025-12-23T10:00:00Z","access_count":0,"tags":["sea"],"importance":"high","archived":false},
        {"id":"f","type":"core","content":"Has a dog","category":"other","created_at":"2025-12-24T10:00:00Z","updated_at":"2025-12-24T10:00:00Z","accessed_at":"2025-12-24T10:00:00Z","access_count":0,"tags":[],"importance":"medium","archived":false},
        {"id":"d","type":"core","content":"Likes tea","category":"preference","created_at":"2025-12-22T10:00:00Z","updated_at":"2025-12-22T10:00:00Z","accessed_at":"2025-12-22T10:00:00Z","access_count":0,"tags":[],"importance":"low","archived":false}
        ],"count":4,"by_importance":{"high":2,"medium":1,"low":1},"by_category":{"preference":1,"pattern":1,"hobby":1,"other":1},"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    check(
        &fixture,
        &ids,
        "memory://learnings",
        expect![[r#"
        {"memories":[
        {"id":"i","type":"learning","content":"New solution","category":"other","created_at":"2025-12-27T10:00:00Z","updated_at":"2025-12-27T10:00:00Z","accessed_at":"2025-12-27T10:00:00Z","access_count":0,"tags":["tag1"],"importance":"medium","archived":false}
        ],"count":1,"date_range":{"from":"2025-12-02T00:00:00Z","to":"2026-01-01T10:00:00Z"},"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    check(
        &fixture,
        &ids,
        "memory://tasks/active",
        expect![[r#"
        {"memories":[
        {"id":"j","type":"task","content":"Wait for review","category":"blocked","created_at":"2025-12-28T10:00:00Z","updated_at":"2025-12-28T10:00:00Z","accessed_at":"2025-12-28T10:00:00Z","access_count":0,"tags":["tag1"],"importance":"medium","archived":false,"task_metadata":{"status":"blocked","blockers":["reason1","reason2"]}},
        {"id":"c","type":"task","content":"Done","category":"completed","created_at":"2025-12-20T10:00:00Z","updated_at":"2025-12-20T10:00:00Z","accessed_at":"2025-12-20T10:00:00Z","access_count":0,"tags":["tag1","tag2"],"importance":"high","archived":false,"task_metadata":{"status":"completed","completed_at":"2025-12-20T10:00:00Z","outcome":"Success - Feature implemented and tested"}},
        {"id":"b","type":"task","content":"Long done","category":"completed","created_at":"2025-11-22T10:00:00Z","updated_at":"2025-11-22T10:00:00Z","accessed_at":"2025-11-22T10:00:00Z","access_count":0,"tags":[],"importance":"medium","archived":false,"task_metadata":{"status":"completed","completed_at":"2025-11-22T10:00:00Z"}}
        ],"count":3,"by_status":{"completed":2,"in-progress":0,"blocked":1},"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    check(
        &fixture,
        &ids,
        "memory://tasks/completed",
        expect![[r#"
        {"memories":[
        {"id":"c","type":"task","content":"Done","category":"completed","created_at":"2025-12-20T10:00:00Z","updated_at":"2025-12-20T10:00:00Z","accessed_at":"2025-12-20T10:00:00Z","access_count":0,"tags":["tag1","tag2"],"importance":"high","archived":false,"task_metadata":{"status":"completed","completed_at":"2025-12-20T10:00:00Z","outcome":"Success - Feature implemented and tested"}}
        ],"count":1,"date_range":{"from":"2025-12-02T00:00:00Z","to":"2026-01-01T10:00:00Z"},"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
}

#[test]
fn an_empty_memory_has_every_envelope() {
    let fixture = ResourceFixture::of(&[]);
    set(&fixture, NOW);
    check(
        &fixture,
        &[],
        "memory://recent",
        expect![[r#"
        {"memories":[
        ],"count":0,"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    check(
        &fixture,
        &[],
        "memory://core",
        expect![[r#"
        {"memories":[
        ],"count":0,"by_importance":{"high":0,"medium":0,"low":0},"by_category":{},"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    check(
        &fixture,
        &[],
        "memory://learnings",
        expect![[r#"
        {"memories":[
        ],"count":0,"date_range":{"from":"2025-12-02T00:00:00Z","to":"2026-01-01T10:00:00Z"},"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    check(
        &fixture,
        &[],
        "memory://tasks/active",
        expect![[r#"
        {"memories":[
        ],"count":0,"by_status":{"completed":0,"in-progress":0,"blocked":0},"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    check(
        &fixture,
        &[],
        "memory://tasks/completed",
        expect![[r#"
        {"memories":[
        ],"count":0,"date_range":{"from":"2025-12-02T00:00:00Z","to":"2026-01-01T10:00:00Z"},"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
}

#[test]
fn parameters_narrow_a_collection() {
    let (fixture, ids) = filled();
    for (uri, shown) in [
        ("memory://recent", "jigfedcba"),
        ("memory://recent?limit=1", "j"),
        ("memory://recent?limit=1000", "jigfedcba"),
        ("memory://recent?tags=tag1", "jic"),
        ("memory://recent?tags=tag1&limit=2", "ji"),
        ("memory://recent?tags=tag1,tag2", "c"),
        ("memory://recent?tags=t%61g1,tag2", "c"),
        // Clients that know no lists encode the comma, too.
        ("memory://recent?tags=tag1%2Ctag2", "c"),
        ("memory://recent?tags=nothing", ""),
        ("memory://core", "gefd"),
        ("memory://core?tags=sea", "e"),
        ("memory://learnings", "i"),
        ("memory://learnings?since=2025-11-01", "ia"),
        ("memory://learnings?since=2025-12-27T10:00:00Z", "i"),
        ("memory://learnings?since=2025-12-27T10:00:01Z", ""),
        ("memory://learnings?since=2025-11-01&tags=tag1", "i"),
        ("memory://tasks/active", "jcb"),
        ("memory://tasks/active?tags=tag1,tag2", "c"),
        ("memory://tasks/completed", "c"),
        ("memory://tasks/completed?tags=none", ""),
        ("MEMORY://recent/", "jigfedcba"),
    ] {
        assert_eq!(letters(&fixture, &ids, uri), shown, "{uri}");
    }
    for (uri, why) in [
        ("memory://recent?limit=0", "`limit`"),
        ("memory://recent?limit=1001", "`limit`"),
        ("memory://recent?limit=-1", "`limit`"),
        ("memory://recent?limit=many", "`limit`"),
        ("memory://recent?limit=1&limit=2", "`limit`"),
        ("memory://recent?tags=a,,b", "`tags`"),
        ("memory://recent?tags=", "`tags`"),
        ("memory://recent?since=2025-11-01", "`since`"),
        ("memory://core?limit=5", "`limit`"),
        ("memory://learnings?since=yesterday", "`since`"),
        ("memory://learnings?since=2025-02-30", "`since`"),
        ("memory://tasks/active?status=blocked", "`status`"),
    ] {
        match fixture.view.resource(uri) {
            Err(Error::BadArgument(text)) => assert!(text.contains(why), "{uri}: {text}"),
            other => panic!("{uri}: {other:?}"),
        }
    }
    for uri in ["memory://invalid", "memory://tasks", "memory://tasks/open", "memory://custom/x"] {
        assert!(matches!(fixture.view.resource(uri), Err(Error::UnknownUri(_))), "{uri}");
    }
}

#[test]
fn tags_may_have_any_character() {
    let fixture = ResourceFixture::of(&[]);
    let tagged = |content, tags| json!({"type": "core", "content": content, "tags": tags});
    let ids = [
        (store(&fixture.memory, tagged("One", json!(["a,b", "a/b"]))), "x"),
        (store(&fixture.memory, tagged("Other", json!(["c", "d", "é%&"]))), "y"),
    ];
    for (tags, shown) in [
        ("a%2Cb", "x"),
        ("a/b", "x"),
        ("a%2Fb,a%2Cb", "x"),
        ("a,b", ""),
        ("c%2Cd", "y"),
        ("%C3%A9%25%26,d", "y"),
        ("%C3%A9%25%26%2Cd", "y"),
        ("c%2Ca", ""),
    ] {
        let uri = format!("memory://core?tags={tags}");
        assert_eq!(letters(&fixture, &ids, &uri), shown, "{tags}");
    }
}

#[test]
fn an_old_learning_that_is_read_comes_back() {
    let (fixture, ids) = filled();
    let query = QueryRequest::parse(&object(json!({"search": "old insight"}))).unwrap();
    fixture.memory.query_memories(&query).unwrap();
    assert_eq!(letters(&fixture, &ids, "memory://learnings"), "ia");
    assert_eq!(letters(&fixture, &ids, "memory://recent?limit=1"), "a");
}

#[test]
fn a_document_shows_a_thousand_at_most() {
    let fixture = ResourceFixture::of(&[]);
    set(&fixture, NOW);
    for nth in 0..1_001 {
        store(&fixture.memory, json!({"type": "task", "content": format!("Task {nth}")}));
    }
    for uri in ["memory://tasks/active", "memory://recent?limit=1000"] {
        let document: Value = serde_json::from_str(&fixture.view.resource(uri).unwrap()).unwrap();
        assert_eq!(document["count"], 1_000, "{uri}");
        assert_eq!(document["memories"].as_array().unwrap().len(), 1_000, "{uri}");
    }
}

#[test]
fn reading_a_collection_is_no_access() {
    let (fixture, ids) = filled();
    let uris = ["memory://recent", "memory://core", "memory://learnings", "memory://tasks/active"];
    let before = uris.map(|it| read(&fixture, &ids, it));
    assert_eq!(uris.map(|it| read(&fixture, &ids, it)), before);
    assert!(before.iter().all(|it| !it.contains(r#""access_count":1"#)), "{before:?}");
}

#[test]
fn writes_wake_the_collections_that_show_them() {
    let (fixture, ids) = filled();
    let memory = &fixture.memory;
    let watch = ChangeWatch::default();
    watch.begin(&memory.read_only()).unwrap();
    let woken = || {
        let changed = watch.changed_resources(&memory.read_only()).unwrap();
        let names = changed.iter().filter_map(|it| it.strip_prefix("memory://"));
        names.collect::<Vec<_>>().join(" ")
    };
    let id = |letter: &str| ids.iter().find(|it| it.1 == letter).unwrap().0.clone();
    let update = |letter: &str, mut args: Value| {
        args["id"] = id(letter).into();
        memory.update_memory(UpdateRequest::parse(&object(args)).unwrap()).unwrap();
        woken()
    };
    let archive = |letter: &str| {
        let args = object(json!({"id": id(letter)}));
        memory.delete_memory(&DeleteRequest::parse(&args).unwrap()).unwrap();
        woken()
    };
    assert_eq!(woken(), "");
    memory.query_memories(&QueryRequest::default()).unwrap();
    assert_eq!(woken(), "recent");
    for uri in ["memory://recent", "memory://core"] {
        fixture.view.resource(uri).unwrap();
    }
    assert_eq!(woken(), "");
    store(memory, json!({"type": "core", "content": "Likes tea"}));
    assert_eq!(woken(), "", "it is there");
    memory.write("# A note\n", None, crate::memory::AppendOrReplaceMode::Append).unwrap();
    assert_eq!(woken(), "");
    store(memory, json!({"type": "core", "content": "Likes rum"}));
    assert_eq!(woken(), "recent core");
    assert_eq!(update("i", json!({"importance": "high"})), "recent learnings");
    assert_eq!(update("j", json!({"tags": ["tag3"]})), "recent tasks/active");
    assert_eq!(update("j", json!({"tags": ["tag3"]})), "recent", "an access alone");
    let done = json!({"task_metadata": {"status": "completed"}});
    assert_eq!(update("j", done), "recent tasks/active tasks/completed");
    assert_eq!(update("h", json!({"tags": ["gone"]})), "", "archived before and after");
    assert_eq!(archive("b"), "recent tasks/active", "completed long ago");
    assert_eq!(archive("c"), "recent tasks/active tasks/completed");
    assert_eq!(archive("c"), "", "archived again");
    assert_eq!(update("c", json!({"archived": false})), "recent tasks/active tasks/completed");
}
