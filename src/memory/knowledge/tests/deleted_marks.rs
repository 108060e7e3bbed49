//! Tests that what is deleted or archived says so wherever it is shown.

use super::*;
use crate::memory::ForgetChildrenMode;

fn limit(value: u32) -> Value {
    json!({"content": format!("The call limit is {value} MB."), "kind": "fact", "subject": "api",
        "attribute": "limit"})
}

/// The texts of nodes by their words, those that are deleted in brackets.
fn told(nodes: &Value) -> Vec<String> {
    let line = |it: &Value| {
        let text = it["text"].as_str().unwrap();
        if it["deleted"] == true { format!("[{text}]") } else { text.to_owned() }
    };
    let mut lines: Vec<String> = nodes.as_array().unwrap().iter().map(line).collect();
    lines.sort_by_key(|it| it.replace('[', ""));
    lines
}

#[test]
fn a_deleted_fact_is_marked_in_its_cluster_and_in_its_conflicts() {
    let case = Case::new();
    let facts = [10, 20, 30].map(|it| case.remember(limit(it))["results"][0]["fact"].clone());
    case.apply(json!([{"op": "delete", "id": facts[0]}]));
    let all =
        ["[The call limit is 10 MB.]", "The call limit is 20 MB.", "The call limit is 30 MB."];
    let cluster = case.cluster_of("The call limit is 20 MB.");
    let concept = case.memory.read(|it| concept_document(it, &cluster)).unwrap();
    assert_eq!(told(&concept["facts"]), all);
    let conflicts = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
    assert_eq!(told(&conflicts["conflicts"][0]["facts"]), all);
    let bootstrap = case.memory.read(|it| bootstrap_document(it, 1_000)).unwrap();
    assert_eq!(told(&bootstrap["conflicts"][0]["facts"]), all);
    let asked = json!({"task": "conflicts"});
    let asked = WorksheetRequest::parse(asked.as_object().unwrap()).unwrap();
    let sheet = case.memory.review(&asked).unwrap();
    assert_eq!(told(&sheet["conflicts"][0]["facts"]), all);
}

#[test]
fn recalled_items_say_that_they_are_deleted_or_archived() {
    let case = Case::new();
    let gone = case.apply(json!([
        {"op": "concept", "as": "a", "title": "Gate rules", "summary": "Ring twice."},
        {"op": "delete", "id": "$a"},
        {"op": "concept", "title": "Gate manners", "summary": "Ring once."},
    ]));
    assert_eq!(gone["error"], Value::Null);
    let learnt = case.remember(json!({"content": "The gate squeaks.", "kind": "learning"}));
    case.apply(json!([
        {"op": "update", "id": learnt["results"][0]["id"], "archived": true},
    ]));
    let items = case.recall(json!({"query": "gate", "include": ["deleted", "archived"], "k": 9}));
    let marks = |title: &str| {
        let items = items["items"].as_array().unwrap().iter();
        let item = items.clone().find(|it| it["title"] == title).unwrap();
        ["deleted", "archived"].map(|it| item[it] == true)
    };
    assert_eq!(marks("Gate rules"), [true, false]);
    assert_eq!(marks("Gate manners"), [false, false]);
    assert_eq!(marks("The gate squeaks."), [false, true]);
}

#[test]
fn forgetting_an_episode_forgets_the_fact_that_it_alone_states() {
    let case = Case::new();
    let said = json!({"content": "Ana has diabetes.", "kind": "fact", "subject": "Ana",
        "attribute": "health"});
    let first = case.remember(said);
    let forget = |id: &str| case.memory.forget(id, ForgetChildrenMode::Strict).unwrap();
    forget(first["results"][0]["id"].as_str().unwrap());
    let all = case.tree();
    assert!(!all.contains("diabetes"), "{all}");
    assert_eq!(case.facts_told(json!({"query": "Ana health", "episodes": 0})), [""; 0]);
    let said = |nth: u32| {
        json!({"content": "Ana leads the team.", "kind": "fact", "subject": "Ana",
            "attribute": "role", "topic": format!("Topic {nth}")})
    };
    let twice = [1, 2].map(|nth| case.remember(said(nth))["results"][0].clone());
    assert_eq!(twice[0]["fact"], twice[1]["fact"]);
    assert_ne!(twice[0]["id"], twice[1]["id"]);
    forget(twice[0]["id"].as_str().unwrap());
    assert_eq!(case.facts_told(json!({"query": "Ana role", "episodes": 0})).len(), 1);
    crate::maintenance::doctor::assert_healthy(&case.folder.path().join("memory.db"));
}

#[test]
fn a_heading_that_is_forgotten_takes_the_facts_below_it_along_and_releases_the_rest() {
    let case = Case::new();
    let value = |text: &str| json!({"content": text, "kind": "fact", "subject": "pump", "attribute": "load"});
    let first = case.remember(value("The pump bears 5 t."))["results"][0].clone();
    case.remember(value("The pump bears 7 t."));
    let cascade = |id: &str| case.memory.forget(id, ForgetChildrenMode::Cascade).unwrap();
    let above = |id: &Value| {
        const ABOVE: &str = "
            SELECT above.id FROM node JOIN node AS above ON above.key = node.parent
             WHERE node.id = ?1";
        let conn = rusqlite::Connection::open(case.folder.path().join("memory.db")).unwrap();
        conn.query_row(ABOVE, [id.as_str()], |row| row.get::<_, String>(0)).unwrap()
    };
    let conflicts = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
    cascade(&above(&conflicts["conflicts"][0]["id"]));
    let facts = case.facts_told(json!({"query": "pump load", "episodes": 0}));
    assert_eq!(facts.len(), 2, "{facts:?}");
    cascade(&above(&first["id"]));
    assert!(!case.tree().contains("bears"), "{}", case.tree());
    crate::maintenance::doctor::assert_healthy(&case.folder.path().join("memory.db"));
}

#[test]
fn an_episode_whose_fact_is_deleted_says_so_in_searches_and_recalls() {
    let case = Case::new();
    let said = case.remember(limit(10))["results"][0].clone();
    case.apply(json!([{"op": "delete", "id": said["fact"]}]));
    let found = case.memory.search("call limit", Some(500)).unwrap().text;
    assert!(found.contains("[episode deleted] The call limit is 10 MB."), "{found}");
    let asked = json!({"query": "call limit", "include": ["deleted"]});
    let recalled = case.recall(asked);
    let episode = recalled["items"].as_array().unwrap().iter().find(|it| it["id"] == said["id"]);
    assert!(episode.is_none_or(|it| it["deleted"] == true), "{recalled}");
    assert_eq!(case.titles(json!({"query": "call limit"})), [""; 0]);
    case.apply(json!([{"op": "restore", "id": said["fact"]}]));
    let found = case.memory.search("call limit", Some(500)).unwrap().text;
    assert!(found.contains("[episode] The call limit is 10 MB."), "{found}");
}

#[test]
fn an_episode_is_hidden_with_its_fact_that_is_forgotten() {
    let case = Case::new();
    let said = case.remember(limit(10))["results"][0].clone();
    let told = json!({"content": "The call limit was raised.", "entities": ["api"]});
    let beside = case.remember(told)["results"][0].clone();
    let forgot = case.memory.forget(said["fact"].as_str().unwrap(), ForgetChildrenMode::Strict);
    forgot.unwrap();
    let episode = said["id"].as_str().unwrap();
    assert_eq!(case.field(episode, "deleted"), true);
    assert_eq!(case.field(beside["id"].as_str().unwrap(), "deleted"), Value::Null);
    assert!(!case.memory.search("call limit", Some(500)).unwrap().text.contains("10 MB"));
    let asked = json!({"query": "call limit", "include": ["deleted"]});
    let recalled = case.recall(asked);
    let items = recalled["items"].as_array().unwrap();
    assert!(items.iter().any(|it| it["id"] == episode && it["deleted"] == true), "{recalled}");
    // What is undone is as it was, and what is said again is kept again.
    case.memory.rollback(2, false).unwrap();
    assert_eq!(case.field(episode, "deleted"), Value::Null);
    case.memory.rollback(3, false).unwrap();
    let again = case.remember(limit(10))["results"][0].clone();
    assert_ne!((&again["id"], &again["created"]), (&said["id"], &json!(false)));
    crate::maintenance::doctor::assert_healthy(&case.folder.path().join("memory.db"));
}

#[test]
fn episodes_are_hidden_with_a_cluster_that_is_forgotten() {
    let case = Case::new();
    let said = case.remember(limit(10))["results"][0].clone();
    let cluster = case.cluster_of("The call limit is 10 MB.");
    case.memory.forget(&cluster, ForgetChildrenMode::Cascade).unwrap();
    assert_eq!(case.field(said["id"].as_str().unwrap(), "deleted"), true);
    let said = case.remember(limit(20))["results"][0].clone();
    let cluster = case.cluster_of("The call limit is 20 MB.");
    case.memory.purge(&cluster, crate::model::tree::NodeType::Concept).unwrap();
    assert_eq!(case.field(said["id"].as_str().unwrap(), "deleted"), true);
}
