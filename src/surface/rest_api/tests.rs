use super::*;
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
        let clock = Clock::manual(Millis(1_795_428_000_000));
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

    fn ask(&self, method: &str, path: &str, query: &[(&str, &str)], body: Value) -> RestReply {
        let request = RestRequest {
            method: method.to_owned(),
            path: path.split('/').map(str::to_owned).collect(),
            query: query.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
            body: body.to_string().into_bytes(),
        };
        answer(&self.memory.read_only(), &request)
    }

    #[track_caller]
    fn get(&self, path: &str, query: &[(&str, &str)]) -> Value {
        let reply = self.ask("GET", path, query, Value::Null);
        assert_eq!(reply.status, 200, "{:?}", reply.document);
        reply.document
    }

    #[track_caller]
    fn refused(&self, status: u16, path: &str, query: &[(&str, &str)], why: &str) {
        let reply = self.ask("GET", path, query, Value::Null);
        assert_eq!(reply.status, status);
        let told = reply.document["error"].as_str().unwrap();
        assert!(told.contains(why), "{told}");
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
    assert_eq!(entities["entities"][0]["mention_count"], 4, "{entities}");
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
    let asked = served.ask("POST", "query", &[], json!({"query": "slow stores", "k": 2}));
    assert_eq!(asked.document["concepts"][0]["concept"]["title"], "Stores are slow");
    assert_eq!(asked.document["concepts"][1]["source"], "spread");
    assert!(asked.document["formatted"].as_str().unwrap().contains("Stores are slow: At night."));
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
    assert_eq!((reply.status, reply.allowed), (405, Some("GET")));
    let reply = served.ask("POST", "query", &[], json!([1]));
    assert_eq!(reply.status, 400);
    let reply = served.ask("POST", "query", &[], json!({"query": "a", "colour": 1}));
    assert_eq!(reply.status, 400);
}
