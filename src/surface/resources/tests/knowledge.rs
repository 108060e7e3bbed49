//! Tests of the resources of knowledge: events with their subjects, and bytes that stay.

use serde_json::json;

use super::*;
use crate::memory::knowledge::{ApplyRequest, RememberRequest};

impl ResourceFixture {
    fn remember(&self, args: Value) -> Value {
        let request = RememberRequest::parse(args.as_object().unwrap()).unwrap();
        self.memory.remember(request).unwrap()
    }

    fn apply(&self, operations: Value) -> Value {
        let args = json!({"operations": operations});
        let request = ApplyRequest::parse(args.as_object().unwrap()).unwrap();
        self.memory.apply(&request).unwrap()
    }

    /// The kinds and types of the events of a URI.
    fn events(&self, uri: &str) -> Vec<String> {
        let document = self.value(uri);
        let events = document["events"].as_array().unwrap().iter();
        events
            .map(|it| format!("{} {}", it["kind"].as_str().unwrap(), it["type"].as_str().unwrap()))
            .collect()
    }
}

fn fact(text: &str) -> Value {
    json!({"content": text, "kind": "fact", "subject": "pump", "attribute": "pressure"})
}

#[test]
fn events_name_what_happened_and_to_which_node() {
    let fixture = ResourceFixture::of(&[]);
    let first = fixture.remember(fact("It is 3 bar."));
    let second = fixture.remember(fact("It is 4 bar."));
    let (old, new) = (&first["results"][0]["fact"], &second["results"][0]["fact"]);
    let before = fixture.value("remindb://events")["next"].as_str().unwrap().to_owned();
    fixture.apply(json!([
        {"op": "resolve", "id": second["results"][0]["conflict"], "winner": new},
    ]));
    let uri = format!("remindb://events?since={before}");
    assert_eq!(fixture.events(&uri), ["superseded fact", "uncontested fact", "resolved conflict"]);
    let document = fixture.value(&uri);
    let event = &document["events"][0];
    assert_eq!((&event["id"], &event["snapshot"]), (old, &json!(3)));
    assert_eq!(event["title"], "pressure: It is 3 bar.");
    assert_eq!(event["at"], "2025-01-17T00:00:00Z");
    fixture.apply(json!([{"op": "delete", "id": first["results"][0]["id"]}]));
    fixture.apply(json!([{"op": "restore", "id": first["results"][0]["id"]}]));
    let events = fixture.events("remindb://events?since=3");
    let both = ["deleted episode", "deleted fact", "restored episode", "restored fact"];
    assert_eq!(events, both, "a fact goes and comes back with the episode that states it");
}

#[test]
fn events_are_read_on_without_a_gap() {
    let fixture = ResourceFixture::of(&[]);
    for nth in 0..4 {
        fixture.remember(json!({"content": format!("Event {nth} of `pump{nth}`.")}));
    }
    let all = fixture.events("remindb://events?limit=1000");
    let (mut read, mut next) = (Vec::new(), "0".to_owned());
    loop {
        let uri = format!("remindb://events?since={next}&limit=3");
        read.extend(fixture.events(&uri));
        let document = fixture.value(&uri);
        next = document["next"].as_str().unwrap().to_owned();
        if document["more"] == false {
            break;
        }
    }
    assert_eq!(read, all);
    assert_eq!(read.iter().filter(|it| *it == "added episode").count(), 4);
    assert_eq!((next.as_str(), read.len()), ("4", 8));
    let of_nothing = fixture.value("remindb://events?since=4");
    assert_eq!(of_nothing, json!({"events": [], "next": "4", "more": false, "reset": false}));
    assert_eq!(fixture.value("remindb://events?since=9")["reset"], true);
    for uri in
        ["remindb://events?since=x", "remindb://events?since=-1", "remindb://events?since=1.x"]
    {
        let error = fixture.try_read(uri).unwrap_err().to_string();
        assert!(error.contains("`since` must be a snapshot"), "{error}");
    }
}

#[test]
fn conflicts_are_as_many_as_are_asked_for_and_their_number_is_told() {
    let fixture = ResourceFixture::of(&[]);
    for nth in 0..52 {
        for bar in [3, 4] {
            fixture.remember(json!({"content": format!("It is {bar} bar."), "kind": "fact",
                "subject": format!("pump {nth}"), "attribute": "pressure"}));
        }
    }
    for (query, n_shown) in [("", 50), ("?limit=2", 2), ("?status=all&limit=1000", 52)] {
        let document = fixture.value(&format!("remindb://conflicts{query}"));
        let conflicts = document["conflicts"].as_array().unwrap();
        assert_eq!((conflicts.len(), &document["total"]), (n_shown, &json!(52)), "{query}");
        assert_eq!(conflicts[0]["about"], "pump 51 / pressure", "the newest first");
    }
    let none = fixture.value("remindb://conflicts?status=dismissed&limit=5");
    assert_eq!(none, json!({"conflicts": [], "total": 0}));
    for limit in ["0", "1001"] {
        let error = fixture.try_read(&format!("remindb://conflicts?limit={limit}")).unwrap_err();
        assert!(error.to_string().contains("`limit` must be from 1 to 1000"), "{error}");
    }
}

#[test]
fn a_prompt_may_begin_with_bytes_that_only_a_snapshot_changes() {
    let fixture = ResourceFixture::of(&[]);
    fixture.remember(fact("It is 3 bar."));
    fixture.apply(json!([
        {"op": "concept", "title": "Valves stick", "summary": "In the cold.", "confidence": 0.6},
        {"op": "concept", "title": "Pumps leak", "summary": "At the seal.", "confidence": 0.9},
    ]));
    let before = fixture.read("remindb://bootstrap");
    let document: Value = serde_json::from_str(&before).unwrap();
    let titles: Vec<&str> = document["concepts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["title"].as_str().unwrap())
        .collect();
    assert_eq!(titles, ["Facts about pump", "Pumps leak", "Valves stick"]);
    assert_eq!(document["concepts"][0]["facts"], json!(["It is 3 bar."]));
    assert_eq!((&document["snapshot"], &document["left_out"]), (&json!(2), &json!(0)));
    let coldest = document["concepts"][2]["id"].as_str().unwrap();
    fixture.memory.pin(coldest, Some(1.0)).unwrap();
    fixture.memory.attend(3_600_000).unwrap();
    fixture.clock.advance(86_400_000);
    assert_eq!(fixture.read("remindb://bootstrap"), before, "heat and time change nothing");
    for budget in [200, 300, 1_000] {
        let text = fixture.read(&format!("remindb://bootstrap?budget={budget}"));
        assert!(crate::text::tokens::count(&text) <= budget, "{text}");
    }
    fixture.apply(json!([{"op": "concept", "title": "Seals age", "summary": "In years."}]));
    assert_ne!(fixture.read("remindb://bootstrap"), before);
    let error = fixture.try_read("remindb://bootstrap?budget=7").unwrap_err().to_string();
    assert!(error.contains("`budget` must be from 200 to 100000"), "{error}");
}

#[test]
fn a_concept_always_has_labels() {
    let fixture = ResourceFixture::of(&[]);
    let made = fixture.apply(json!([
        {"op": "concept", "as": "a", "title": "Pumps leak", "summary": "At the seal."},
        {"op": "concept", "title": "Valves stick", "summary": "In the cold."},
        {"op": "label", "id": "$a", "key": "area", "value": "water"},
    ]));
    let labels = |nth: usize| {
        let id = made["results"][nth]["id"].as_str().unwrap();
        fixture.value(&format!("remindb://concepts/{id}"))["labels"].clone()
    };
    assert_eq!((labels(0), labels(1)), (json!({"area": ["water"]}), json!({})));
}
