//! Custom views: their envelope, their conditions, their place in the lists, and what wakes them.

use expect_test::expect;
use serde_json::{Value, json};

use super::ResourceFixture;
use super::memories::{check, filled, letters, object, store};
use crate::memory::Error;
use crate::memory::typed::{QueryRequest, UpdateRequest, parse_conditions};
use crate::surface::changed_resources::ChangeWatch;
use crate::surface::resources::custom_views;

/// Defines a view by words between `|`.
fn define(fixture: &ResourceFixture, name: &str, conditions: &str) {
    let words: Vec<String> =
        conditions.split('|').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    fixture.memory.define_view(name, &parse_conditions(&words).unwrap()).unwrap();
}

#[test]
fn a_view_is_read_as_one_document() {
    let (fixture, ids) = filled();
    define(&fixture, "reviews", "type=task|tags=tag1|sort_by=created_at|sort_order=asc");
    check(
        &fixture,
        &ids,
        "memory://custom/reviews",
        expect![[r#"
        {"memories":[
        {"id":"c","type":"task","content":"Done","category":"completed","created_at":"2025-12-20T10:00:00Z","updated_at":"2025-12-20T10:00:00Z","accessed_at":"2025-12-20T10:00:00Z","access_count":0,"tags":["tag1","tag2"],"importance":"high","archived":false,"task_metadata":{"status":"completed","completed_at":"2025-12-20T10:00:00Z","outcome":"Success - Feature implemented and tested"}},
        {"id":"j","type":"task","content":"Wait for review","category":"blocked","created_at":"2025-12-28T10:00:00Z","updated_at":"2025-12-28T10:00:00Z","accessed_at":"2025-12-28T10:00:00Z","access_count":0,"tags":["tag1"],"importance":"medium","archived":false,"task_metadata":{"status":"blocked","blockers":["reason1","reason2"]}}
        ],"count":2,"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
    define(&fixture, "none", "search=nowhere");
    check(
        &fixture,
        &ids,
        "memory://custom/none",
        expect![[r#"
        {"memories":[
        ],"count":0,"generated_at":"2026-01-01T10:00:00Z"}"#]],
    );
}

#[test]
fn each_condition_narrows_a_view() {
    let (fixture, ids) = filled();
    for (conditions, shown) in [
        ("", "jigfedcba"),
        ("type=core", "gfed"),
        ("type=core|sort_by=importance", "gefd"),
        ("type=core|sort_by=importance|sort_order=asc", "dfeg"),
        ("tags=tag1", "jic"),
        ("tags=tag1,tag2", "c"),
        ("status=blocked", "j"),
        ("type=task|status=completed", "cb"),
        ("importance=high", "gec"),
        ("category=insight", "a"),
        ("search=NEW solution", "i"),
        ("archived=true", "h"),
        ("limit=2", "ji"),
        ("limit=1|sort_by=created_at|sort_order=asc", "a"),
    ] {
        define(&fixture, "v", conditions);
        assert_eq!(letters(&fixture, &ids, "memory://custom/v"), shown, "{conditions}");
    }
}

#[test]
fn a_bad_condition_is_named() {
    for (words, why) in [
        ("type=note", "`type` must be one of core, learning, task"),
        ("colour=red", "`colour` is no argument"),
        ("offset=1", "`offset` is no argument"),
        ("type", "`type` is no condition; write name=value"),
        ("=task", "`=task` is no condition"),
        ("tags=", "`tags`"),
        ("tags=a,,b", "`tags`"),
        ("status=open", "`status`"),
        ("status=blocked|type=core", "`status` belongs to tasks, and the type is core"),
        ("type=task|type=core", "`type` is given twice"),
        ("archived=yes", "`archived` must be true or false"),
        ("limit=0", "`limit` must be a whole number from 1 to 1000"),
        ("limit=1001", "`limit` must be a whole number from 1 to 1000"),
        ("limit=many", "`limit` must be a whole number from 1 to 1000"),
        ("sort_by=content", "`sort_by` must be one of created_at"),
        ("sort_order=up", "`sort_order` must be one of asc, desc"),
    ] {
        let words: Vec<String> = words.split('|').map(str::to_owned).collect();
        let error = parse_conditions(&words).unwrap_err();
        assert!(error.message.contains(why), "{words:?}: {}", error.message);
    }
    let fixture = ResourceFixture::of(&[]);
    let secret = json!({"search": "ghp_a8Zk3LmQ0pXr7VtYb2NcW5dEf9GhJ4sKu1Ti"});
    let error = fixture.memory.define_view("v", &object(secret)).unwrap_err();
    assert!(error.message.starts_with("`search` has a secret in it ("), "{}", error.message);
    assert_eq!(custom_views(&fixture.view), []);
}

#[test]
fn a_view_that_no_build_knows_is_an_error_of_its_own() {
    let fixture = ResourceFixture::of(&[]);
    define(&fixture, "later", "type=task");
    define(&fixture, "known", "type=task");
    let conn = rusqlite::Connection::open(fixture.folder.join("memory.db")).unwrap();
    conn.execute_batch("UPDATE custom_view SET query = '{\"colour\":1}' WHERE name = 'later'")
        .unwrap();
    match fixture.view.resource("memory://custom/later") {
        Err(Error::Unavailable(why)) => assert!(
            why.starts_with("the view `later` cannot be read: `colour` is no argument")
                && why.ends_with("; define it anew"),
            "{why}"
        ),
        other => panic!("{other:?}"),
    }
    fixture.view.resource("memory://custom/known").unwrap();
    assert_eq!(custom_views(&fixture.view).len(), 2);
    let watch = ChangeWatch::default();
    watch.begin(&fixture.view).unwrap();
    store(&fixture.memory, json!({"type": "task", "content": "Watched."}));
    let changed = watch.changed_resources(&fixture.view).unwrap();
    assert!(changed.iter().any(|it| it == "memory://custom/known"), "{changed:?}");
}

#[test]
fn a_name_is_small_letters_digits_and_hyphens() {
    let fixture = ResourceFixture::of(&[]);
    let longest = "a".repeat(64);
    for name in ["a", "my-view-2", "-", longest.as_str()] {
        define(&fixture, name, "");
        fixture.view.resource(&format!("memory://custom/{name}")).unwrap();
    }
    let too_long = "a".repeat(65);
    for name in ["", "A", "my_view", "a b", "a/b", "é", "a.b", too_long.as_str()] {
        assert!(fixture.memory.define_view(name, &object(json!({}))).is_err(), "{name}");
        assert!(fixture.memory.remove_view(name).is_err(), "{name}");
    }
}

#[test]
fn views_are_listed_while_they_are_there() {
    let (fixture, ids) = filled();
    let listed = || {
        let views = custom_views(&fixture.view).into_iter();
        views.map(|it| format!("{} {}\n", it.uri, it.description)).collect::<String>()
    };
    let unknown = |uri: &str| match fixture.view.resource(uri) {
        Err(Error::UnknownUri(known)) => assert_eq!(known, uri),
        other => panic!("{uri}: {other:?}"),
    };
    assert_eq!(listed(), "");
    unknown("memory://custom/b");
    let n = fixture.value("remindb://overview")["snapshots"]["count"].clone();
    define(&fixture, "b", "type=core|search=two words");
    define(&fixture, "a", "limit=5|tags=x,y");
    define(&fixture, "c", "");
    expect![[r#"
        memory://custom/a A custom view of memories: tags=x,y limit=5.
        memory://custom/b A custom view of memories: type=core search="two words".
        memory://custom/c A custom view of all memories.
    "#]]
    .assert_eq(&listed());
    define(&fixture, "a", "type=learning");
    assert_eq!(letters(&fixture, &ids, "memory://custom/a"), "ia");
    assert!(fixture.memory.remove_view("b").unwrap());
    assert!(!fixture.memory.remove_view("b").unwrap());
    unknown("memory://custom/b");
    assert_eq!(listed().lines().count(), 2);
    // They are settings of the memory, and no change of it.
    assert_eq!(fixture.value("remindb://overview")["snapshots"]["count"], n);
}

#[test]
fn there_are_a_hundred_views_at_most() {
    let fixture = ResourceFixture::of(&[]);
    (0..100).for_each(|nth| define(&fixture, &format!("v{nth}"), ""));
    let error = fixture.memory.define_view("one-more", &object(json!({}))).unwrap_err();
    assert!(error.message.starts_with("there are 100 views"), "{}", error.message);
    define(&fixture, "v7", "type=core");
}

#[test]
fn a_view_shows_a_thousand_at_most_and_reading_it_is_no_access() {
    let fixture = ResourceFixture::of(&[]);
    for nth in 0..1_001 {
        store(&fixture.memory, json!({"type": "task", "content": format!("Task {nth}")}));
    }
    define(&fixture, "all", "");
    let read = || fixture.value("memory://custom/all");
    let first = read();
    assert_eq!(first["count"], 1_000);
    assert_eq!(first["memories"].as_array().unwrap().len(), 1_000);
    assert_eq!(read(), first);
}

#[test]
fn writes_wake_the_views_that_show_them() {
    let (fixture, ids) = filled();
    let memory = &fixture.memory;
    define(&fixture, "blocked", "status=blocked");
    define(&fixture, "sea", "tags=sea");
    define(&fixture, "last", "limit=1");
    let watch = ChangeWatch::default();
    watch.begin(&memory.read_only()).unwrap();
    let woken = || {
        let changed = watch.changed_resources(&memory.read_only()).unwrap();
        let names = changed.iter().filter_map(|it| it.strip_prefix("memory://custom/"));
        names.collect::<Vec<_>>().join(" ")
    };
    let update = |letter: &str, mut args: Value| {
        let (id, _) = ids.iter().find(|it| it.1 == letter).unwrap();
        args["id"] = id.as_str().into();
        memory.update_memory(UpdateRequest::parse(&object(args)).unwrap()).unwrap();
        woken()
    };
    assert_eq!(woken(), "");
    memory.query_memories(&QueryRequest::default()).unwrap();
    assert_eq!(woken(), "", "an access alone");
    let sails = QueryRequest::parse(&object(json!({"search": "sails"}))).unwrap();
    fixture.clock.advance(1_000);
    memory.query_memories(&sails).unwrap();
    assert_eq!(letters(&fixture, &ids, "memory://custom/last"), "e");
    assert_eq!(woken(), "", "an access that brings another one into a view");
    memory.query_memories(&QueryRequest::default()).unwrap();
    let other = json!({"importance": "low"});
    assert_eq!(update("a", other), "last", "an access of what is shown, and a write to another");
    memory.remove_view("last").unwrap();
    assert_eq!(woken(), "last");
    assert_eq!(update("j", json!({"importance": "low"})), "blocked");
    assert_eq!(update("e", json!({"category": "sport"})), "sea");
    assert_eq!(update("f", json!({"tags": ["sea"]})), "sea", "it is shown from here on");
    assert_eq!(update("c", json!({"tags": ["land"]})), "", "shown by neither");
    let done = json!({"task_metadata": {"status": "completed"}});
    assert_eq!(update("j", done), "blocked", "it was shown");
    define(&fixture, "new", "type=core");
    assert_eq!(woken(), "new");
    define(&fixture, "new", "type=core|limit=1000");
    assert_eq!(woken(), "", "it shows the same");
    define(&fixture, "new", "type=core|limit=1");
    assert_eq!(woken(), "new");
    memory.remove_view("sea").unwrap();
    assert_eq!(woken(), "sea");
    assert_eq!(update("e", json!({"category": "hobby"})), "", "the view is gone");
}
