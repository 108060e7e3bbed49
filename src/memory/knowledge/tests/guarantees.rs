//! Tests of what other memories of this kind got wrong: stale copies, events about nothing, hints
//! that lead nowhere, arguments that are dropped.

use super::*;
use crate::memory::knowledge::{concept_document, events_document};

/// The facts of a cluster as clients see them, with those that still hold first.
fn facts_of(case: &Case, cluster: &str) -> Vec<(String, bool)> {
    let document: Value = case.memory.read(|it| concept_document(it, cluster)).unwrap();
    let facts = document["facts"].as_array().unwrap().iter();
    facts
        .map(|it| (it["text"].as_str().unwrap().to_owned(), it["superseded_by"].is_null()))
        .collect()
}

#[test]
fn a_superseded_fact_holds_no_more_in_its_cluster_at_once() {
    let case = Case::new();
    let fact = |text: &str, attribute: &str| json!({"content": text, "kind": "fact", "subject": "pool", "attribute": attribute});
    let kept = case.remember(json!({"items": [
        fact("The pool has 10 places.", "size"), fact("The pool is in the north.", "side"),
    ]}));
    let old = kept["results"][0]["fact"].as_str().unwrap().to_owned();
    let cluster = case.recall(json!({"query": "pool"}))["items"][0]["id"].clone();
    let new = case.apply(json!([
        {"op": "fact", "as": "new", "text": "The pool has 40 places.", "subject": "pool",
         "attribute": "size", "supersede": true},
    ]));
    let new = new["results"][0]["id"].as_str().unwrap();
    assert_eq!(
        facts_of(&case, cluster.as_str().unwrap()),
        [
            ("The pool has 10 places.".to_owned(), false),
            ("The pool is in the north.".to_owned(), true),
            ("The pool has 40 places.".to_owned(), true),
        ]
    );
    let document: Value =
        case.memory.read(|it| concept_document(it, cluster.as_str().unwrap())).unwrap();
    let closed = document["facts"].as_array().unwrap().iter().find(|it| it["id"] == *old).unwrap();
    assert_eq!(closed["superseded_by"], new);
    let shown = case.recall(json!({"query": "how many places has the pool"}));
    let texts = shown["items"][0]["facts"].to_string();
    assert!(texts.contains("40 places") && !texts.contains("10 places"), "{shown}");
}

#[test]
fn every_event_names_its_node() {
    let case = Case::new();
    let kept = case.remember(json!({"items": [
        {"content": "The ferry was late."}, {"content": "The ferry was early.", "kind": "decision"},
    ]}));
    let (first, second) = (id(&kept, 0), id(&kept, 1));
    let made = case.apply(json!([
        {"op": "concept", "as": "a", "title": "Ferries vary", "summary": "By the tide.",
         "from": [first]},
        {"op": "concept", "as": "b", "title": "Ferries differ", "summary": "By the tide."},
        {"op": "evidence", "concept": "$a", "episode": second, "type": "contradicts"},
        {"op": "link", "from": "$a", "to": "$b", "type": "implies"},
        {"op": "merge", "from": ["$b"], "into": "$a"},
    ]));
    let (into, merged) = (id(&made, 0), id(&made, 1));
    case.apply(json!([{"op": "supersede", "old": first, "new": second}]));
    let events: Value = case.memory.read(|it| events_document(it, None, 100)).unwrap();
    let events = events["events"].as_array().unwrap();
    assert!(events.iter().all(|it| it["id"].as_str().is_some_and(|it| it.len() == 11)));
    assert!(events.iter().all(|it| !it["title"].as_str().unwrap().is_empty()));
    let ids_of = |kind: &str| -> Vec<&str> {
        let of_kind = events.iter().filter(|it| it["kind"] == kind);
        of_kind.map(|it| it["id"].as_str().unwrap()).collect()
    };
    assert_eq!(ids_of("superseded"), [first.as_str()]);
    assert_eq!(ids_of("processed"), [first.as_str()]);
    assert_eq!(ids_of("merged"), [merged.as_str()]);
    assert!(ids_of("added").contains(&into.as_str()));
}

#[test]
fn an_explained_answer_has_the_parts_of_its_scores() {
    let case = Case::new();
    case.remember(json!({"content": "The anchor chain is rusty."}));
    let asked = |explain: bool| case.recall(json!({"query": "anchor", "explain": explain}));
    assert!(asked(false)["items"][0]["explain"].is_null());
    let item = asked(true)["items"][0].clone();
    let part = |name: &str| item["explain"][name].as_f64().unwrap();
    assert!((part("fused") * part("quality") - item["score"].as_f64().unwrap()).abs() < 0.01);
    assert!(part("relevance") > 0.9, "{item}");
    assert_eq!(item["why"], "words: anchor");
}

#[test]
fn a_name_of_several_words_is_one_name() {
    let case = Case::new();
    case.remember(json!({"items": [
        {"content": "The night shift was short.", "topic": "Night Work"},
        {"content": "The day shift was long.", "topic": "Night"},
        {"content": "The crane stood still.", "entities": ["tool:harbour crane"]},
    ]}));
    let args = json!({"topic": "night work"});
    let request = WorksheetRequest::parse(args.as_object().unwrap()).unwrap();
    let sheet = case.memory.review(&request).unwrap();
    assert_eq!(sheet["pending"], json!({"total": 1, "shown": 1}));
    assert_eq!(case.titles(json!({"topic": "Night Work"})), ["The night shift was short."]);
    assert_eq!(case.titles(json!({"entity": "Harbour  Crane"})), ["The crane stood still."]);
}

#[test]
fn a_hint_names_tools_that_there_are() {
    let case = Case::new();
    let items: Vec<Value> =
        (0..6).map(|nth| json!({"content": format!("Lamp {nth} failed.")})).collect();
    let hint = case.remember(json!({"items": items}))["hint"].as_str().unwrap().to_owned();
    let named: Vec<&str> = hint
        .split(|it: char| !it.is_ascii_alphanumeric())
        .filter(|it| it.starts_with("Memory"))
        .collect();
    assert_eq!(named, ["MemoryReview", "MemoryApply"]);
}

#[test]
fn the_example_of_a_triage_is_applied_as_it_is_printed() {
    let case = Case::new();
    let ingest = json!({"content": "Ana: the cache times out.", "flush": true});
    case.memory.ingest(&MemoryIngestArgs::parse(ingest.as_object().unwrap()).unwrap()).unwrap();
    let triage = json!({"task": "triage"});
    let request = WorksheetRequest::parse(triage.as_object().unwrap()).unwrap();
    let sheet = case.memory.review(&request).unwrap();
    let mut example = sheet["example"].clone();
    for operation in example.as_array_mut().unwrap() {
        if operation["op"] == "ingested" {
            operation["chunk"] = sheet["chunk"]["id"].clone();
        }
    }
    case.apply(example);
    assert!(case.memory.review(&request).unwrap()["chunk"].is_null());
}

#[test]
fn a_call_with_a_kind_answers_with_what_it_kept() {
    let case = Case::new();
    for kind in ["observation", "decision", "question", "meta", "preference", "outcome", "fact"] {
        let answer = case.remember(json!({"content": format!("A {kind} of mine."), "kind": kind}));
        assert_eq!(answer["results"][0]["created"], true, "{kind}");
        let row = case.memory.read(|it| it.knowledge_by_id(&id(&answer, 0))).unwrap().unwrap();
        assert_eq!(row.text("kind"), Some(kind));
    }
}
