//! The resources of typed memories through every transport: documents, lists, errors.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::memories::OFFER;
use super::support::{Client, Folder};

/// A way to send a request to a running server, for its reply.
pub(crate) struct Wire<'a>(pub(crate) &'a mut dyn FnMut(&str, Value) -> Value);

/// The memories of a scenario: a letter for the UUID, and the arguments of `store_memory`.
fn memories() -> [(&'static str, Value); 6] {
    [
        ("a", json!({"type": "core", "content": "Sails", "importance": "high", "tags": ["sea"]})),
        ("b", json!({"type": "core", "content": "Likes tea", "category": "preference"})),
        ("c", json!({"type": "learning", "content": "Retry with backoff", "tags": ["http"]})),
        (
            "d",
            json!({"type": "task", "content": "Wait for review", "tags": ["web", "api"],
                   "task_metadata": {"blockers": ["review"], "status": "blocked"}}),
        ),
        (
            "e",
            json!({"type": "task", "content": "Ship it", "importance": "low", "tags": ["done"],
                   "task_metadata": {"outcome": "Shipped", "status": "completed"}}),
        ),
        ("f", json!({"type": "core", "content": "Forgotten"})),
    ]
}

impl Wire<'_> {
    fn result(&mut self, method: &str, params: Value) -> Value {
        let reply = (self.0)(method, params);
        assert!(reply["error"].is_null(), "{reply}");
        reply["result"].clone()
    }

    fn tool(&mut self, name: &str, args: Value) -> Value {
        let result = self.result("tools/call", json!({"name": name, "arguments": args}));
        serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
    }

    fn read(&mut self, uri: &str) -> String {
        let contents = self.result("resources/read", json!({"uri": uri}))["contents"][0].clone();
        assert_eq!(contents["mimeType"], "application/json", "{uri}");
        assert_eq!(contents["uri"], uri);
        contents["text"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    fn refuses(&mut self, uri: &str, code: i64, message: &str) {
        let error = (self.0)("resources/read", json!({"uri": uri}))["error"].clone();
        assert_eq!(error["code"], code, "{uri}: {error}");
        assert!(error["message"].as_str().unwrap().contains(message), "{uri}: {error}");
    }

    fn listed(&mut self, method: &str, key: &str) -> Vec<Value> {
        let rows = self.result(method, json!({}))[key].as_array().unwrap().clone();
        rows.into_iter().filter(|it| it.to_string().contains("memory://")).collect()
    }
}

/// A document with letters for UUIDs and `T` for times, a memory a line.
struct Plain(Vec<(String, &'static str)>);

impl Plain {
    fn text(&self, document: &str) -> String {
        let time = regex::Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").unwrap();
        let mut text = time.replace_all(document, "T").into_owned();
        for (id, letter) in &self.0 {
            text = text.replace(id.as_str(), letter);
        }
        text.replace("{\"id\"", "\n{\"id\"").replace("],\"count", "\n],\"count")
    }

    #[track_caller]
    fn check(&self, document: &str, expected: Expect) {
        expected.assert_eq(&self.text(document));
    }

    fn letters(&self, document: &str) -> String {
        let document: Value = serde_json::from_str(document).unwrap();
        let ids = document["memories"].as_array().unwrap().iter().map(|it| it["id"].clone());
        let known = ids.map(|id| self.0.iter().find(|it| id == it.0.as_str()).unwrap().1);
        let mut letters: Vec<&str> = known.collect();
        letters.sort_unstable();
        letters.concat()
    }
}

/// What holds for every transport in both eras; an unknown resource has a code by the era.
pub(crate) fn play(folder: &Folder, wire: &mut Wire<'_>, not_found: i64) {
    let mut ids = Vec::new();
    for (letter, args) in memories() {
        ids.push((wire.tool("store_memory", args)["id"].as_str().unwrap().to_owned(), letter));
    }
    wire.tool("delete_memory", json!({"id": ids[5].0}));
    let plain = Plain(ids);
    documents(&plain, wire);
    views(folder, &plain, wire, not_found);
    for (uri, what) in [
        ("memory://recent?limit=0", "`limit`"),
        ("memory://recent?limit=1001", "`limit`"),
        ("memory://core?limit=5", "`limit`"),
        ("memory://core?tags=", "`tags`"),
        ("memory://learnings?since=soon", "`since`"),
        ("memory://tasks/active?status=blocked", "`status`"),
        ("memory://tasks/completed?tags=a&tags=b", "`tags`"),
    ] {
        wire.refuses(uri, -32602, what);
    }
    // Reading is no access.
    let accesses = |text: &str| plain.text(text).matches("\"access_count\":0").count();
    let recent = wire.read("memory://recent");
    assert_eq!(plain.letters(&recent), "abcde");
    assert_eq!(accesses(&recent), 5, "{recent}");
    let shown = |text: &str| text.split("\"generated_at\"").next().unwrap().to_owned();
    assert_eq!(shown(&wire.read("memory://recent")), shown(&recent));
}

fn documents(plain: &Plain, wire: &mut Wire<'_>) {
    plain.check(&wire.read("memory://core"), expect![[r#"
        {"memories":[
        {"id":"a","type":"core","content":"Sails","category":"other","created_at":"T","updated_at":"T","accessed_at":"T","access_count":0,"tags":["sea"],"importance":"high","archived":false},
        {"id":"b","type":"core","content":"Likes tea","category":"preference","created_at":"T","updated_at":"T","accessed_at":"T","access_count":0,"tags":[],"importance":"medium","archived":false}
        ],"count":2,"by_importance":{"high":1,"medium":1,"low":0},"by_category":{"preference":1,"other":1},"generated_at":"T"}"#]]);
    plain.check(&wire.read("memory://core?tags=nothing"), expect![[r#"
        {"memories":[
        ],"count":0,"by_importance":{"high":0,"medium":0,"low":0},"by_category":{},"generated_at":"T"}"#]]);
    plain.check(&wire.read("memory://recent?limit=5&tags=sea"), expect![[r#"
        {"memories":[
        {"id":"a","type":"core","content":"Sails","category":"other","created_at":"T","updated_at":"T","accessed_at":"T","access_count":0,"tags":["sea"],"importance":"high","archived":false}
        ],"count":1,"generated_at":"T"}"#]]);
    for uri in ["memory://learnings", "memory://learnings?tags=http&since=2026-01-01"] {
        plain.check(&wire.read(uri), expect![[r#"
            {"memories":[
            {"id":"c","type":"learning","content":"Retry with backoff","category":"other","created_at":"T","updated_at":"T","accessed_at":"T","access_count":0,"tags":["http"],"importance":"medium","archived":false}
            ],"count":1,"date_range":{"from":"T","to":"T"},"generated_at":"T"}"#]]);
    }
    assert_eq!(plain.letters(&wire.read("memory://tasks/active")), "de");
    let active = wire.read("memory://tasks/active");
    assert!(
        active.contains(
            r#""count":2,"by_status":{"completed":1,"in-progress":0,"blocked":1},"generated_at":"#
        ),
        "{active}"
    );
    plain.check(&wire.read("memory://tasks/active?tags=api,web"), expect![[r#"
        {"memories":[
        {"id":"d","type":"task","content":"Wait for review","category":"blocked","created_at":"T","updated_at":"T","accessed_at":"T","access_count":0,"tags":["web","api"],"importance":"medium","archived":false,"task_metadata":{"status":"blocked","blockers":["review"]}}
        ],"count":1,"by_status":{"completed":0,"in-progress":0,"blocked":1},"generated_at":"T"}"#]]);
    for uri in ["memory://tasks/completed", "memory://tasks/completed?tags=done"] {
        plain.check(&wire.read(uri), expect![[r#"
            {"memories":[
            {"id":"e","type":"task","content":"Ship it","category":"completed","created_at":"T","updated_at":"T","accessed_at":"T","access_count":0,"tags":["done"],"importance":"low","archived":false,"task_metadata":{"status":"completed","completed_at":"T","outcome":"Shipped"}}
            ],"count":1,"date_range":{"from":"T","to":"T"},"generated_at":"T"}"#]]);
    }
}

/// Custom views of a server that is running while they are defined and removed.
fn views(folder: &Folder, plain: &Plain, wire: &mut Wire<'_>, not_found: i64) {
    const URI: &str = "memory://custom/waiting";
    let unknown = json!({
        "code": not_found,
        "message": format!("Resource URI not recognized: {URI}"),
        "data": {"uri": URI, "code": "RESOURCE_NOT_FOUND"},
    });
    let is_unknown = |wire: &mut Wire<'_>| {
        let reply = (wire.0)("resources/read", json!({"uri": URI}));
        assert_eq!(reply["error"], unknown, "{reply}");
    };
    let n_listed = wire.listed("resources/list", "resources").len();
    is_unknown(wire);
    wire.refuses("memory://invalid", not_found, "Resource URI not recognized: memory://invalid");
    let define = ["view-query", "waiting", "type=task status=blocked", "--db", "m.db"];
    assert_eq!(folder.ok(define), format!("made: {URI}, which shows 1\n"));
    plain.check(&wire.read(URI), expect![[r#"
        {"memories":[
        {"id":"d","type":"task","content":"Wait for review","category":"blocked","created_at":"T","updated_at":"T","accessed_at":"T","access_count":0,"tags":["web","api"],"importance":"medium","archived":false,"task_metadata":{"status":"blocked","blockers":["review"]}}
        ],"count":1,"generated_at":"T"}"#]]);
    let listed = wire.listed("resources/list", "resources");
    assert_eq!(listed.len(), n_listed + 1);
    assert_eq!(
        listed[n_listed],
        json!({
            "uri": URI,
            "name": "waiting",
            "title": "waiting",
            "description": "A custom view of memories: type=task status=blocked.",
            "mimeType": "application/json",
        })
    );
    let templates = wire.listed("resources/templates/list", "resourceTemplates");
    assert!(templates.iter().any(|it| it["uriTemplate"] == "memory://custom/{name}"));
    let complete = json!({
        "ref": {"type": "ref/resource", "uri": "memory://custom/{name}"},
        "argument": {"name": "name", "value": "wa"},
    });
    let completed = wire.result("completion/complete", complete)["completion"]["values"].clone();
    assert_eq!(completed, json!(["waiting"]));
    assert_eq!(
        folder.ok(["view-query", "--remove", "waiting", "--db", "m.db"]),
        "removed: waiting\n"
    );
    is_unknown(wire);
    assert_eq!(wire.listed("resources/list", "resources").len(), n_listed);
}

/// A memory of more tasks than one document shows, with a view of all of them.
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "more clients come over HTTP"))]
pub(crate) fn crowd() -> Folder {
    let folder = Folder::new();
    let mut client = Client::modern(&folder, &OFFER);
    for nth in 0..=SHOWN_MAX {
        let done = json!({"status": "completed"});
        let args = json!({"type": "task", "content": format!("Task {nth}"), "task_metadata": done});
        client.text("store_memory", args);
    }
    client.end();
    folder.ok(["view-query", "all", "type=task", "--db", "m.db"]);
    folder
}

/// Memories of one document, at most.
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "more clients come over HTTP"))]
const SHOWN_MAX: usize = 1_000;

/// Of a [`crowd`], no resource shows all.
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "more clients come over HTTP"))]
pub(crate) fn check_crowd(wire: &mut Wire<'_>) {
    for uri in [
        "memory://recent?limit=1000",
        "memory://tasks/active",
        "memory://tasks/completed",
        "memory://custom/all",
    ] {
        let document: Value = serde_json::from_str(&wire.read(uri)).unwrap();
        let shown = document["memories"].as_array().unwrap().len();
        assert_eq!((&document["count"], shown), (&json!(SHOWN_MAX), SHOWN_MAX), "{uri}");
    }
}

#[test]
fn collections_over_stdio() {
    for (start, not_found) in
        [(Client::legacy as fn(&Folder, &[&str]) -> Client, -32002), (Client::modern, -32602)]
    {
        let folder = Folder::new();
        let mut client = start(&folder, &OFFER);
        let wire = &mut |method: &str, params| client.ask(method, params);
        play(&folder, &mut Wire(wire), not_found);
        client.end();
        folder.assert_healthy("m.db");
    }
}

/// Subscribes to a resource; returns the reply.
fn subscribe(client: &mut Client, uri: &str) -> Value {
    client.ask("resources/subscribe", json!({"uri": uri}))
}

/// Stores a memory, and returns the resources that are announced until its reply and one update
/// came.
#[track_caller]
fn woken_by(client: &mut Client, tool: &str, args: Value) -> String {
    let id = client.request("tools/call", json!({"name": tool, "arguments": args}));
    let (mut woken, mut is_answered) = (None, false);
    while woken.is_none() || !is_answered {
        let line = client.line();
        match line["method"].as_str() {
            Some(_) => woken = Some(line["params"]["uri"].as_str().unwrap().to_owned()),
            None => is_answered |= line["id"] == json!(id),
        }
    }
    woken.unwrap()
}

#[test]
fn a_custom_view_is_announced_while_it_is_there() {
    let folder = Folder::new();
    let mut client = Client::legacy(&folder, &OFFER);
    client.text("store_memory", json!({"type": "core", "content": "Sails", "tags": ["sea"]}));
    let view = |name: &str, conditions: &str| {
        folder.ok(["view-query", name, conditions, "--db", "m.db"]);
    };
    view("sea", "tags=sea");
    view("land", "tags=land");
    let refused = subscribe(&mut client, "memory://custom/nothing");
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    for name in ["sea", "land"] {
        let uri = format!("MEMORY://custom/{name}/");
        assert_eq!(subscribe(&mut client, &uri)["result"], json!({}));
    }
    let sea = json!({"type": "task", "content": "Fish", "tags": ["sea"]});
    assert_eq!(woken_by(&mut client, "store_memory", sea), "memory://custom/sea");
    let land = json!({"type": "task", "content": "Plough", "tags": ["land"]});
    assert_eq!(woken_by(&mut client, "store_memory", land), "memory://custom/land");
    // Another process defines it anew.
    view("land", "tags=land type=core");
    assert_eq!(client.line()["params"]["uri"], "memory://custom/land");
    folder.ok(["view-query", "--remove", "sea", "--db", "m.db"]);
    assert_eq!(client.line()["params"]["uri"], "memory://custom/sea");
    let reply = client.ask("resources/unsubscribe", json!({"uri": "memory://custom/sea"}));
    assert_eq!(reply["result"], json!({}), "also after it is gone");
    client.end();
}
