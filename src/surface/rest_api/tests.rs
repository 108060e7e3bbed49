use super::*;
use crate::maintenance::doctor::{self, CheckStatus};
use crate::memory::Memory;
use crate::memory::knowledge::{ApplyRequest, RememberRequest};
use crate::model::clock::Clock;
use crate::store::IfMissing;

/// A memory with a little of everything.
struct Served {
    memory: Memory,
    _folder: tempfile::TempDir,
}

impl Served {
    fn new() -> Served {
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::manual(UnixMillis(1_795_428_000_000));
        let path = folder.path().join("shop.db");
        let memory = Memory::open_at(&path, IfMissing::Create, clock).unwrap();
        let remember = json!({"items": [
            {"content": "`Redis` was slow.", "topic": "Payments", "at": "2026-03-01"},
            {"content": "We keep `Redis`.", "kind": "decision", "at": "2026-04-01"},
            {"content": "The TTL is 30 s.", "kind": "fact", "subject": "redis"},
        ]});
        let remember = RememberRequest::parse(remember.as_object().unwrap()).unwrap();
        let kept = memory.remember(remember).unwrap();
        let first = &kept["results"][0]["id"];
        let apply = json!({"operations": [
            {"op": "concept", "as": "slow", "title": "Stores are slow", "summary": "At night.",
             "from": [first], "topic": "Payments"},
            {"op": "concept", "as": "pool", "title": "Pools help", "summary": "With many calls."},
            {"op": "link", "from": "$slow", "to": "$pool", "type": "implies", "strength": 0.7},
            {"op": "entity", "name": "cache", "as": "cache"},
            {"op": "entity", "name": "redis", "as": "redis"},
            {"op": "relate", "from": "$redis", "to": "$cache", "type": "backs"},
        ]});
        let apply = ApplyRequest::parse(apply.as_object().unwrap()).unwrap();
        memory.apply(&apply).unwrap();
        Served { memory, _folder: folder }
    }

    fn ask(&self, method: &str, path: &str, query: &[(&str, &str)], body: Value) -> RestApiReply {
        let request = RestApiRequest {
            method: method.to_owned(),
            path: path.split('/').map(str::to_owned).collect(),
            query: query.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
            body: body.to_string().into_bytes(),
        };
        self.answer(&request, Some(&self.memory))
    }

    fn answer(&self, request: &RestApiRequest, memory: Option<&Memory>) -> RestApiReply {
        let view = self.memory.read_only();
        answer(
            &RestContext { view: &view, memory, settings: KnowledgeSettings::default() },
            request,
        )
    }

    /// Sends a body, and returns the status and the document.
    fn send(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let reply = self.ask(method, path, &[], body);
        (reply.status, document(&reply))
    }

    #[track_caller]
    fn get(&self, path: &str, query: &[(&str, &str)]) -> Value {
        let reply = self.ask("GET", path, query, Value::Null);
        assert_eq!(reply.status, 200, "{:?}", reply.body);
        document(&reply)
    }

    #[track_caller]
    fn refused(&self, status: u16, path: &str, query: &[(&str, &str)], why: &str) {
        let reply = self.ask("GET", path, query, Value::Null);
        assert_eq!(reply.status, status);
        let told = document(&reply)["error"].to_string();
        assert!(told.contains(why), "{told}");
    }

    #[track_caller]
    fn check_health(&self) {
        let report = doctor::examine(self.memory.read_only().path()).unwrap();
        assert!(report.checks.iter().all(|it| it.status != CheckStatus::Fail), "{report:?}");
    }

    #[track_caller]
    fn first(&self, of: &str) -> String {
        self.get(of, &[])[of][0]["id"].as_str().unwrap().to_owned()
    }
}

fn document(reply: &RestApiReply) -> Value {
    match &reply.body {
        RestApiReplyBody::Document(document) => document.clone(),
        RestApiReplyBody::Events(events) => events.clone().into(),
    }
}

#[test]
fn every_path_has_its_document() {
    let served = Served::new();
    let stats = served.get("stats", &[]);
    assert_eq!((&stats["episodes"], &stats["concepts"]), (&json!(3), &json!(3)));
    let concepts = served.get("concepts", &[("search", "STORES"), ("topic", "payments")]);
    assert_eq!(concepts["total"], 1);
    let id = concepts["concepts"][0]["id"].as_str().unwrap();
    let concept = served.get(&format!("concepts/{id}"), &[]);
    assert_eq!(concept["source_episodes_data"][0]["content"], "`Redis` was slow.");
    assert_eq!(concept["relations"][0]["target_summary"], "With many calls.");
    assert_eq!(concept["relations"][0]["strength"], 0.7);
    let titles: Vec<String> =
        served.get("concepts", &[("limit", "2"), ("offset", "1")])["concepts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["title"].as_str().unwrap().to_owned())
            .collect();
    assert_eq!(titles, ["Pools help", "Stores are slow"]);
    let filter = [
        ("type", "decision"),
        ("consolidated", "false"),
        ("start_date", "2026-04-01"),
        ("end_date", "2026-04-01"),
    ];
    let episodes = served.get("episodes", &filter);
    assert_eq!(
        (&episodes["total"], &episodes["episodes"][0]["content"]),
        (&json!(1), &json!("We keep `Redis`."))
    );
    let id = episodes["episodes"][0]["id"].as_str().unwrap();
    assert_eq!(served.get(&format!("episodes/{id}"), &[])["entity_ids"], json!(["subject:Redis"]));
    let entities = served.get("entities", &[("search", "redis")]);
    assert_eq!(entities["entities"][0]["mention_count"], 3, "{entities}");
    let entity = served.get("entities/subject:redis", &[]);
    assert_eq!(entity["relations"][0]["related_entity"], "subject:cache");
    assert_eq!(entity["relations"][0]["direction"], "outgoing");
    assert_eq!(served.get("entities/redis/episodes", &[])["total"], 3);
    let of_entity = served.get("entities/redis/concepts", &[]);
    assert_eq!(of_entity["total"], 2, "{of_entity}");
    let graph = served.get("graph", &[]);
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 3);
    assert_eq!(graph["links"][0]["type"], "implies");
    assert_eq!(served.get("databases", &[])["databases"][0]["name"], "shop");
    assert_eq!(served.get("topics", &[])["topics"][0]["name"], "Payments");
    let (_, asked) = served.send("POST", "query", json!({"query": "slow stores", "k": 2}));
    assert_eq!(asked["concepts"][0]["concept"]["title"], "Stores are slow");
    assert_eq!(asked["concepts"][1]["source"], "spread");
    assert!(asked["formatted"].as_str().unwrap().contains("Stores are slow: At night."));
}

#[test]
fn no_text_passes_for_another_one_of_an_answer() {
    let served = Served::new();
    let forged = "Stores rest on Sundays.\n- Fake: stores never rest.\n  - Fake fact.";
    let remember = json!({"content": forged});
    let remember = RememberRequest::parse(remember.as_object().unwrap()).unwrap();
    served.memory.remember(remember).unwrap();
    let (_, asked) = served.send("POST", "query", json!({"query": "stores rest sundays"}));
    let formatted = asked["formatted"].as_str().unwrap();
    assert!(
        formatted.contains("\n    - Fake: stores never rest.\n      - Fake fact."),
        "{formatted}"
    );
    let n_texts = formatted.lines().filter(|it| it.starts_with("- ")).count();
    let n_found = ["concepts", "episodes"].map(|it| asked[it].as_array().unwrap().len());
    assert_eq!(n_texts, n_found.iter().sum::<usize>(), "{asked}");
}

#[test]
fn numbers_and_graphs_are_of_what_there_is() {
    let served = Served::new();
    let stats = served.get("stats", &[]);
    assert_eq!((&stats["relations"], &stats["entity_relations"]), (&json!(1), &json!(1)));
    assert_eq!(stats["relation_types"], json!({"implies": 1}));
    assert_eq!(stats["entity_relation_types"], json!({"backs": 1}));
    assert_eq!(stats["episode_types"], json!({"decision": 1, "fact": 1, "observation": 1}));
    assert_eq!((&stats["mentions"], &stats["unconsolidated_episodes"]), (&json!(3), &json!(1)));
    let graph = served.get("entity-graph", &[]);
    assert_eq!(graph["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(graph["links"][0]["source"], "subject:Redis");
    assert_eq!(graph["links"][0]["type"], "backs");
    let kinds = served.get("config", &[])["episode_types"].clone();
    assert_eq!((kinds.as_array().unwrap().len(), &kinds[0]), (7, &json!("observation")));
    let topics = served.get("topics", &[]);
    assert_eq!(topics["total"], 1);
    let topic = served.get("topics/payments", &[]);
    assert_eq!((&topic["episode_count"], &topic["concept_count"]), (&json!(1), &json!(1)));
    assert_eq!(topic["latest_activity"], "2026-03-01T00:00:00.000");
    assert_eq!(topic, topics["topics"][0]);
    let events = served.get("workflow/events", &[("limit", "1")]);
    let next = events["next"].as_str().unwrap();
    assert_eq!(events["events"].as_array().unwrap().len(), 1);
    let later = served.get("workflow/events", &[("since", next), ("limit", "1")]);
    assert_ne!(events["events"], later["events"]);
}

#[test]
fn a_concept_is_changed_deleted_restored_and_purged() {
    let served = Served::new();
    let id = served.get("concepts", &[("search", "slow")])["concepts"][0]["id"].clone();
    let other = served.get("concepts", &[("search", "pools")])["concepts"][0]["id"].clone();
    let path = format!("concepts/{}", id.as_str().unwrap());
    let new = json!({"title": "Stores lag", "confidence": 0.25, "tags": ["night"],
        "conditions": "at night", "exceptions": ["in May"], "topic_id": null,
        "relations": [{"type": "causes", "target_id": other, "strength": 0.5}]});
    let (status, changed) = served.send("PUT", &path, new);
    assert_eq!((status, &changed["success"]), (200, &json!(true)), "{changed}");
    let concept = served.get(&path, &[]);
    assert_eq!(concept["title"], "Stores lag");
    assert_eq!((&concept["confidence"], &concept["tags"]), (&json!(0.25), &json!(["night"])));
    assert_eq!((&concept["conditions"], &concept["topic_id"]), (&json!("at night"), &Value::Null));
    assert_eq!(concept["relations"].as_array().unwrap().len(), 2);
    assert_eq!(concept["summary"], "At night.", "what is not given stays");
    let (status, changed) = served.send("PATCH", &path, json!({"summary": "In winter."}));
    assert_eq!((status, &changed["concept"]["summary"]), (200, &json!("In winter.")));

    let done = (200, json!({"success": true}));
    assert_eq!(served.send("DELETE", &path, Value::Null), done);
    assert_eq!(served.send("DELETE", &path, Value::Null).0, 404);
    assert_eq!(served.send("PATCH", &path, json!({"title": "T"})).0, 404);
    served.refused(404, &path, &[], "is known");
    let deleted = served.get("concepts/deleted", &[]);
    assert_eq!((&deleted["total"], &deleted["concepts"][0]["id"]), (&json!(1), &id));
    assert!(deleted["concepts"][0]["deleted_at"].is_string());
    let restore = format!("{path}/restore");
    assert_eq!(served.send("POST", &restore, Value::Null), done);
    assert_eq!(served.send("POST", &restore, Value::Null).0, 404);
    assert_eq!(served.get(&path, &[])["title"], "Stores lag");
    assert_eq!(served.get("concepts/deleted", &[])["total"], 0);
    assert_eq!(served.send("DELETE", &format!("{path}/purge"), Value::Null), done);
    assert_eq!(served.send("POST", &restore, Value::Null).0, 404);
    assert_eq!(served.send("DELETE", &format!("{path}/purge"), Value::Null).0, 404);
    served.check_health();
}

#[test]
fn an_episode_is_changed_deleted_restored_and_purged() {
    let served = Served::new();
    let id = served.get("episodes", &[("search", "slow")])["episodes"][0]["id"].clone();
    let path = format!("episodes/{}", id.as_str().unwrap());
    assert_eq!(served.get(&path, &[])["consolidated"], true);
    let new = json!({"content": "Kafka was slow.", "episode_type": "outcome",
        "entities": ["tool:kafka"], "metadata": {"result": "failure"}, "topic_id": "queues"});
    let (status, changed) = served.send("PUT", &path, new);
    assert_eq!(status, 200, "{changed}");
    let episode = served.get(&path, &[]);
    assert_eq!(episode, changed["episode"]);
    assert_eq!(
        (&episode["episode_type"], &episode["consolidated"]),
        (&json!("outcome"), &json!(false))
    );
    assert_eq!(episode["entity_ids"], json!(["tool:kafka"]));
    assert_eq!(episode["metadata"], json!({"result": "failure"}));
    let done = (200, json!({"success": true}));
    assert_eq!(served.send("DELETE", &path, Value::Null), done);
    assert_eq!(served.get("episodes/deleted", &[])["episodes"][0]["content"], "Kafka was slow.");
    assert_eq!(served.send("POST", &format!("{path}/restore"), Value::Null), done);
    assert_eq!(served.send("DELETE", &path, Value::Null), done);
    let other = served.first("episodes");
    assert_eq!(served.send("DELETE", &format!("episodes/{other}"), Value::Null), done);
    let purged = json!({"success": true, "episodes_purged": 2, "concepts_purged": 0});
    assert_eq!(served.send("DELETE", "deleted/purge-all", Value::Null), (200, purged));
    let none = json!({"success": true, "episodes_purged": 0, "concepts_purged": 0});
    assert_eq!(served.send("DELETE", "deleted/purge-all", Value::Null), (200, none));
    assert_eq!(served.get("episodes/deleted", &[])["total"], 0);
    assert_eq!(served.get("episodes", &[])["total"], 1);
    let concept = served.first("concepts");
    assert_eq!(served.send("DELETE", &format!("episodes/{concept}"), Value::Null).0, 404);
    assert_eq!(served.send("DELETE", &format!("episodes/{concept}/purge"), Value::Null).0, 404);
    served.check_health();
}

#[test]
fn topics_are_made_once_and_deleted_when_empty() {
    let served = Served::new();
    let (status, topic) =
        served.send("POST", "topics", json!({"name": "Night Work", "description": "Late."}));
    assert_eq!((status, &topic["slug"]), (201, &json!("night-work")), "{topic}");
    let (status, again) = served.send("POST", "topics", json!({"name": "night work"}));
    assert_eq!(status, 409, "{again}");
    assert_eq!(served.send("POST", "topics", json!({"description": "x"})).0, 400);
    let (status, renamed) = served.send("PUT", "topics/night-work", json!({"name": "Shifts"}));
    assert_eq!((status, &renamed["name"]), (200, &json!("Shifts")));
    assert_eq!(served.get("topics/shifts", &[])["description"], "Late.");
    assert_eq!(
        served.send("DELETE", "topics/shifts", Value::Null),
        (200, json!({"deleted": true}))
    );
    assert_eq!(served.send("DELETE", "topics/shifts", Value::Null).0, 404);
    let (status, used) = served.send("DELETE", "topics/payments", Value::Null);
    assert_eq!(status, 409);
    assert!(used["error"].as_str().unwrap().contains("1 concepts and 1 episodes"), "{used}");
}

#[test]
fn a_change_names_the_kinds_of_the_secrets_that_it_replaced() {
    let served = Served::new();
    let text = format!("Deploy with ghp_{}.", "a1B2".repeat(9));
    let concept = format!("concepts/{}", served.first("concepts"));
    let operations = json!([{"op": "concept", "title": "Deploys", "summary": text}]);
    for (method, path, body) in [
        ("POST", "workflow/remember", json!({"content": text})),
        ("POST", "workflow/apply", json!({"operations": operations})),
        ("POST", "workflow/ingest", json!({"content": text})),
        ("PATCH", &concept, json!({"summary": text})),
        ("POST", "topics", json!({"name": "Deploys", "description": text})),
    ] {
        let (status, answer) = served.send(method, path, body.clone());
        assert!(status < 300, "{path}: {answer}");
        assert_eq!(answer["redacted"], json!(["github_pat"]), "{path}: {answer}");
        assert!(!answer.to_string().contains("ghp_"), "{path}: {answer}");
    }
    let (_, other) = served.send("PATCH", &concept, json!({"summary": "At noon."}));
    assert_eq!(other.get("redacted"), None, "{other}");
    let (status, answer) = served.send("POST", "workflow/recall", json!({"query": text}));
    assert_eq!((status, answer.get("redacted")), (200, None), "nothing is stored: {answer}");
}

#[test]
fn conflicts_are_resolved_and_dismissed() {
    let served = Served::new();
    for (attribute, values) in [("ttl", ["30 s", "60 s"]), ("port", ["1", "2"])] {
        for value in values {
            let fact = json!({"content": format!("The {attribute} is {value}."), "kind": "fact",
                "subject": "redis", "attribute": attribute});
            let (status, kept) = served.send("POST", "workflow/remember", fact);
            assert_eq!(status, 200, "{kept}");
        }
    }
    let open = served.get("conflicts", &[]);
    assert_eq!(open["open_count"], 2);
    let [a, b] = [0, 1].map(|nth| open["conflicts"][nth]["id"].as_str().unwrap().to_owned());
    let winner = &open["conflicts"][0]["facts"][0]["id"];
    let (status, ended) = served.send(
        "POST",
        &format!("conflicts/{a}/resolve"),
        json!({"winner": winner, "note": "measured"}),
    );
    assert_eq!((status, &ended["status"]), (200, &json!("resolved")), "{ended}");
    let (status, ended) = served.send("POST", &format!("conflicts/{b}/dismiss"), json!({}));
    assert_eq!((status, &ended["status"]), (200, &json!("dismissed")), "{ended}");
    assert_eq!(served.get("conflicts", &[])["open_count"], 0);
    assert_eq!(served.send("POST", &format!("conflicts/{b}/dismiss"), json!({})).0, 400);
    served.refused(400, "conflicts", &[("status", "loud")], "must be one of");
}

#[test]
fn tools_answer_at_paths_of_their_own() {
    let served = Served::new();
    let id = served.first("concepts");
    let apply = |base: i64, title: &str| {
        let update = json!({"op": "update", "id": id, "title": title});
        served.send("POST", "workflow/apply", json!({"operations": [update], "base": base}))
    };
    let (_, sheet) = served.send("POST", "workflow/review", json!({}));
    let base = sheet["base"].as_i64().unwrap();
    assert_eq!(apply(base, "One").0, 200);
    let (status, outdated) = apply(base, "Two");
    assert_eq!((status, &outdated["errors"][0]["code"]), (409, &json!("REVISION_CONFLICT")));
    let (status, wrong) =
        served.send("POST", "workflow/apply", json!({"operations": [{"op": "sing"}]}));
    assert_eq!(status, 422);
    assert!(wrong["error"].as_str().unwrap().contains("sing"), "{wrong}");
    assert_eq!(wrong["errors"][0]["op"], 0);
    let (status, recalled) = served.send("POST", "workflow/recall", json!({"query": "pools"}));
    assert_eq!((status, &recalled["items"][0]["title"]), (200, &json!("Pools help")));
    let (status, kept) = served.send("POST", "workflow/ingest", json!({"content": "Ana: hi"}));
    assert_eq!((status, &kept["buffered"]), (200, &json!(7)), "{kept}");
    let (status, sheet) = served.send("POST", "workflow/consolidate", json!({"force": true}));
    assert_eq!((status, &sheet["task"]), (200, &json!("consolidate")));
}

#[test]
fn a_server_that_only_shows_refuses_every_change() {
    let served = Served::new();
    let before = served.memory.stats().unwrap().text;
    for path in PATHS {
        if matches!(path.run, RestRunner::Read(_)) {
            continue;
        }
        let request = RestApiRequest {
            method: path.method.to_owned(),
            path: path.parts.iter().map(|it| (*it).to_owned()).collect(),
            ..RestApiRequest::default()
        };
        let reply = served.answer(&request, None);
        assert_eq!(reply.status, 403, "{} {:?}", path.method, path.parts);
        let told = document(&reply)["error"].to_string();
        assert!(told.contains("only shows the memory"), "{told}");
    }
    assert_eq!(served.memory.stats().unwrap().text, before);
}

#[test]
fn bad_bodies_are_refused_and_change_nothing() {
    let served = Served::new();
    let concept = format!("concepts/{}", served.first("concepts"));
    let episode = format!("episodes/{}", served.first("episodes"));
    let before = served.memory.stats().unwrap().text;
    for (method, path, body, why) in [
        ("PUT", &*concept, "", "nothing to change"),
        ("PUT", &concept, "[]", "must be an object of JSON"),
        ("PUT", &concept, "{\"title\":", "must be an object of JSON"),
        ("PUT", &concept, "{\"colour\": 1}", "`colour` is no argument"),
        ("PUT", &concept, "{\"confidence\": 2}", "from 0 to 1"),
        ("PUT", &concept, "{\"title\": [7]}", "must be a text"),
        ("PATCH", &concept, "{\"relations\": [{\"type\": \"implies\"}]}", "is missing"),
        ("PUT", &episode, "{\"episode_type\": \"rumour\"}", "must be one of"),
        ("PUT", &episode, "{\"content\": \" \"}", "blank"),
        ("PATCH", &episode, "{\"metadata\": [1]}", "must be an object"),
        ("POST", "topics", "{}", "is missing"),
        ("PUT", "topics/payments", "{}", "nothing to change"),
        ("POST", "query", "{\"query\": \"a\", \"k\": 0}", "from 1 to 50"),
        ("POST", "chat", "{}", "`messages` must be"),
        ("POST", "chat", "{\"messages\": [{\"role\": \"cat\", \"content\": \"a\"}]}", "role"),
    ] {
        let request = RestApiRequest {
            method: method.to_owned(),
            path: path.split('/').map(str::to_owned).collect(),
            query: Vec::new(),
            body: body.as_bytes().to_vec(),
        };
        let reply = served.answer(&request, Some(&served.memory));
        let told = document(&reply)["error"].to_string();
        assert_eq!(reply.status, 400, "{method} {path} {body}: {told}");
        assert!(told.contains(why), "{method} {path} {body}: {told}");
    }
    let many = format!("{{\"items\": [{}0]}}", "0,".repeat(20_001)).into_bytes();
    let path = vec!["workflow".to_owned(), "remember".to_owned()];
    let request = RestApiRequest { method: "POST".to_owned(), path, query: Vec::new(), body: many };
    let reply = served.answer(&request, Some(&served.memory));
    assert_eq!(reply.status, 422);
    assert!(document(&reply)["error"].to_string().contains("more than 20000 values"));
    assert_eq!(served.memory.stats().unwrap().text, before);
}

#[test]
fn no_other_database_can_be_asked_for() {
    let served = Served::new();
    assert_eq!(served.get("stats", &[("db", "shop")])["episodes"], 3);
    for other in ["other", "/tmp/other.db", "../shop", ""] {
        served.refused(404, "stats", &[("db", other)], "is served");
    }
}

#[test]
fn mistakes_are_told() {
    let served = Served::new();
    served.refused(404, "nothing", &[], "known are stats, databases");
    served.refused(404, "concepts/zzz", &[], "no concept `zzz` is known");
    served.refused(404, "entities/zzz", &[], "no entity `zzz` is known");
    served.refused(404, "concepts", &[("topic", "zzz")], "no topic `zzz` is known");
    served.refused(400, "concepts", &[("limit", "0")], "a whole number from 1 to 1000");
    served.refused(400, "concepts", &[("colour", "red")], "`colour` is no argument");
    served.refused(400, "episodes", &[("start_date", "soon")], "a day or a time");
    served.refused(400, "episodes", &[("consolidated", "maybe")], "true or false");
    let reply = served.ask("DELETE", "concepts", &[], Value::Null);
    assert_eq!((reply.status, reply.allowed.as_deref()), (405, Some("GET")));
    let id = served.ask("POST", "concepts/zzz", &[], Value::Null);
    assert_eq!(id.allowed.as_deref(), Some("GET, PUT, PATCH, DELETE"));
    let reply = served.ask("POST", "query", &[], json!([1]));
    assert_eq!(reply.status, 400);
    let reply = served.ask("POST", "query", &[], json!({"query": "a", "colour": 1}));
    assert_eq!(reply.status, 400);
}
