//! Tests of facts that are corrected, deleted and replaced by the ids of what states them.

use super::*;

const FIRST: &str = "The gateway listens on port 1.";
const SECOND: &str = "The gateway listens on port 2.";

impl Case {
    /// States a value of the gateway's port; returns the ids of the episode and of the fact.
    fn states(&self, text: &str, more: Value) -> [String; 2] {
        let stated = self.port(text, more);
        [&stated["id"], &stated["fact"]].map(|it| it.as_str().unwrap().to_owned())
    }

    fn told(&self) -> Vec<String> {
        self.facts_told(json!({"query": "which port does the gateway listen on"}))
    }
}

#[test]
fn a_fact_says_what_its_episode_is_corrected_to() {
    let case = Case::new();
    let [episode, fact] = case.states(FIRST, json!({}));
    case.apply(json!([{"op": "update", "id": episode, "content": SECOND}]));
    assert_eq!(case.told(), [format!("current {SECOND}")]);
    assert!(case.field(&episode, "processed_in").is_i64(), "its fact has it");
    let again = case.port(SECOND, json!({}));
    assert_eq!((&again["id"], &again["fact"]), (&json!(episode), &json!(fact)));
}

#[test]
fn correcting_an_episode_to_what_another_one_says_ends_their_conflict() {
    let case = Case::new();
    case.states(FIRST, json!({}));
    let second = case.port(SECOND, json!({}));
    case.apply(json!([{"op": "update", "id": second["id"], "content": FIRST}]));
    let conflict = second["conflict"].as_str().unwrap();
    assert_eq!(case.field(conflict, "conflict"), "resolved");
}

#[test]
fn a_fact_is_deleted_and_restored_with_the_last_episode_that_states_it() {
    let case = Case::new();
    let [first, fact] = case.states(FIRST, json!({}));
    let [second, same] = case.states(FIRST, json!({"at": "2026-11-01T00:00:00Z"}));
    assert_eq!(fact, same);
    case.apply(json!([{"op": "delete", "id": first}]));
    assert_eq!(case.told(), [format!("current {FIRST}")], "the other one states it");
    case.clock.advance(1);
    case.apply(json!([{"op": "delete", "id": second}]));
    assert_eq!(case.told(), [] as [String; 0]);
    case.apply(json!([{"op": "restore", "id": second}]));
    assert_eq!(case.told(), [format!("current {FIRST}")]);
}

#[test]
fn facts_are_replaced_by_the_names_of_what_states_them() {
    let case = Case::new();
    let fact = |text: &str, name: &str| {
        json!({
            "op": "remember", "kind": "fact", "content": text, "as": name,
            "subject": "gateway", "attribute": "port",
        })
    };
    case.apply(json!([
        fact(FIRST, "a"), fact(SECOND, "b"), {"op": "supersede", "old": "$a", "new": "$b"},
    ]));
    assert_eq!(case.told(), [format!("current {SECOND}")]);
}

#[test]
fn a_conflict_is_won_by_the_episode_that_states_the_winner() {
    let case = Case::new();
    let [_, loser] = case.states(FIRST, json!({}));
    let winner = case.port(SECOND, json!({}));
    case.apply(json!([
        {"op": "resolve", "id": winner["conflict"], "winner": winner["id"]},
    ]));
    assert_eq!(case.field(&loser, "superseded_by"), winner["fact"]);
}

/// Words that the first value has more of than those that replaced it.
const OLD_WORDS: &str = "gateway listens on port 1";

impl Case {
    /// Three values one after another, told by episodes; returns those, the newest first.
    fn three_values(&self) -> [String; 3] {
        let texts = ["The gateway listens on port 1.", "Its port is 2.", "The port became 3."];
        let ids = texts.map(|text| {
            self.clock.advance(86_400_000);
            self.port(text, json!({"supersede": true}))["id"].as_str().unwrap().to_owned()
        });
        let [first, second, third] = ids;
        [third, second, first]
    }
}

/// Returns the ids of some in the order in which an answer has them.
fn order_in(answer: &str, ids: &[String]) -> Vec<String> {
    let mut found: Vec<(usize, &String)> =
        ids.iter().filter_map(|it| Some((answer.find(it.as_str())?, it))).collect();
    found.sort();
    found.into_iter().map(|it| it.1.clone()).collect()
}

#[test]
fn searches_have_what_replaced_a_value_ahead_of_it() {
    let case = Case::new();
    let ids = case.three_values();
    let found = case.memory.search(OLD_WORDS, Some(1_000)).unwrap().text;
    assert_eq!(order_in(&found, &ids), ids, "{found}");
    assert_eq!(found.matches("[episode superseded]").count(), 2, "{found}");
    assert_eq!(found.matches("[episode]").count(), 1, "{found}");
}

#[test]
fn fetches_mark_episodes_whose_fact_was_replaced() {
    let case = Case::new();
    let [now, _, before] = case.three_values();
    let text = |id: &str| case.memory.fetch(id, Some(1_000)).unwrap().text;
    assert!(text(&before).contains("[episode superseded]"), "{}", text(&before));
    let shown = text(&now);
    let own = shown.lines().find(|it| it.contains(&now)).unwrap();
    assert!(own.contains("[episode]"), "{shown}");
}

#[test]
fn every_way_of_recalling_has_what_replaced_a_value_ahead_of_it() {
    let case = Case::new();
    let ids = case.three_values();
    for id in &ids {
        case.apply(json!([{"op": "update", "id": id, "topic": "Net"}]));
    }
    for asked in [
        json!({"query": "gateway port"}),
        json!({"entity": "gateway"}),
        json!({"topic": "net"}),
        json!({"topic": "net", "entity": "gateway"}),
    ] {
        let mut asked = asked;
        asked["include"] = json!(["superseded"]);
        // Nothing but episodes, since one whose fact is shown is left out.
        asked["kinds"] = json!(["episode"]);
        let answer = case.recall(asked);
        assert_eq!(order_in(&answer.to_string(), &ids), ids, "{answer}");
        for item in answer["items"].as_array().unwrap() {
            let is_stale = ids[1..].iter().any(|it| item["id"] == it.as_str());
            assert_eq!(item["superseded_by"].is_string(), is_stale, "{item}");
        }
    }
}

#[test]
fn a_replacement_that_is_planned_comes_ahead_once_it_holds() {
    let case = Case::new();
    let first = case.port("The gateway listens on port 1.", json!({}));
    let later = json!({"valid_from": "2026-12-01", "supersede": true});
    let second = case.port("Its port is 2.", later);
    let ids = [&second["id"], &first["id"]].map(|it| it.as_str().unwrap().to_owned());
    let found = || case.memory.search(OLD_WORDS, Some(1_000)).unwrap().text;
    assert!(!found().contains("superseded]"), "{}", found());
    case.clock.advance(10 * 86_400_000);
    assert_eq!(order_in(&found(), &ids), ids, "{}", found());
    assert!(found().contains("[episode superseded]"), "{}", found());
}

#[test]
fn an_episode_that_also_supports_a_concept_is_marked_by_its_fact() {
    let case = Case::new();
    let [_, _, before] = case.three_values();
    case.apply(json!([
        {"op": "concept", "as": "c", "title": "Ports", "summary": "They change."},
        {"op": "evidence", "concept": "$c", "episode": before, "type": "supports"},
    ]));
    let text = case.memory.fetch(&before, Some(1_000)).unwrap().text;
    assert!(text.contains("[episode superseded]"), "{text}");
}

#[test]
fn searches_mark_episodes_whose_fact_was_replaced() {
    let case = Case::new();
    case.states(FIRST, json!({}));
    case.states(SECOND, json!({"supersede": true}));
    let found = case.memory.search("gateway port", Some(500)).unwrap().text;
    assert_eq!(found.matches("[episode superseded]").count(), 1, "{found}");
    assert_eq!(found.matches("[episode]").count(), 1, "{found}");
}

/// Each cluster counts its facts by itself.
#[test]
fn the_newest_facts_of_several_clusters_are_those_that_were_stated_last() {
    let case = Case::new();
    let subjects = ["door", "door", "door", "gateway"];
    for (nth, subject) in subjects.iter().enumerate() {
        let text = format!("The {subject} is {nth}.");
        case.remember(json!({"content": text, "kind": "fact", "subject": subject}));
    }
    let clusters = ["The door is 0.", "The gateway is 3."].map(|it| case.cluster_of(it));
    let newest = case.memory.writer.write("", "", START, |batch| {
        let mut keys = Vec::new();
        for cluster in &clusters {
            keys.extend(node_writes::find_node(batch, cluster)?.map(|it| it.record.key));
        }
        let facts = batch.living_facts_below(&keys, 2)?;
        Ok::<_, MemoryError>(facts.into_iter().map(|it| it.content).collect::<Vec<_>>())
    });
    assert_eq!(newest.unwrap().0, ["The gateway is 3.", "The door is 2."]);
}
