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

#[test]
fn searches_mark_episodes_whose_fact_was_replaced() {
    let case = Case::new();
    case.states(FIRST, json!({}));
    case.states(SECOND, json!({"supersede": true}));
    let found = case.memory.search("gateway port", Some(500)).unwrap().text;
    assert_eq!(found.matches("[episode superseded]").count(), 1, "{found}");
    assert_eq!(found.matches("[episode]").count(), 1, "{found}");
}
