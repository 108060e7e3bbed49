//! Tests of facts that are said again: with another time, and in place of others.

use super::*;

const FIRST: &str = "The gateway listens on port 1.";
const SECOND: &str = "The gateway listens on port 2.";

impl Case {
    fn ports_as_of(&self, day: &str) -> Vec<String> {
        self.facts_told(json!({"query": "which port does the gateway listen on", "as_of": day}))
    }

    #[track_caller]
    fn check_won(&self, winner: &str, loser: &str, conflict: &str) {
        assert_eq!(self.field(conflict, "conflict"), "resolved");
        assert_eq!(self.field(conflict, "winner"), winner);
        assert_eq!(self.field(loser, "superseded_by"), winner);
        assert_eq!(self.field(winner, "contested"), Value::Null);
        crate::maintenance::doctor::assert_healthy(&self.folder.path().join("memory.db"));
    }
}

#[test]
fn a_contested_fact_that_is_said_again_to_supersede_wins() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    let again = case.port(SECOND, json!({"supersede": true}));
    assert_eq!((&again["created"], &again["fact"]), (&json!(false), &json!(second)));
    case.check_won(&second, &first, &conflict);
}

#[test]
fn an_operation_says_a_fact_again_as_remembering_does() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    let answer = case.apply(json!([{
        "op": "fact", "text": FIRST, "subject": "gateway", "attribute": "port", "supersede": true,
    }]));
    assert_eq!(answer["results"][0]["id"], json!(first));
    case.check_won(&first, &second, &conflict);
}

#[test]
fn values_without_an_attribute_give_way_to_one_that_is_said_again() {
    let case = Case::new();
    let says = |text: &str, supersede: bool| {
        let args = json!({
            "content": text, "kind": "fact", "subject": "cache", "supersede": supersede,
        });
        case.remember(args)["results"][0].clone()
    };
    let first = says("The cache timeout is 30 s.", false);
    let second = says("The cache timeout is 45 s.", false);
    says("The cache timeout is 30 s.", true);
    let ids = [&first["fact"], &second["fact"], &second["conflict"]];
    let [winner, loser, conflict] = ids.map(|it| it.as_str().unwrap());
    case.check_won(winner, loser, conflict);
}

#[test]
fn a_current_fact_that_is_said_again_takes_the_end_that_is_given() {
    let case = Case::new();
    let known = case.port(FIRST, json!({}));
    let again = case.port(FIRST, json!({"valid_to": "2026-12-31"}));
    assert_eq!((&again["created"], &again["fact"]), (&json!(false), &known["fact"]));
    assert_eq!(case.ports_as_of("2026-12-30"), [format!("current {FIRST}")]);
    assert_eq!(case.ports_as_of("2027-01-01"), [] as [String; 0]);
    case.port(FIRST, json!({}));
    assert_eq!(case.ports_as_of("2027-01-01"), [] as [String; 0], "nothing else was said");
    case.port(FIRST, json!({"valid_to": "2027-12-31"}));
    assert_eq!(case.ports_as_of("2027-01-01"), [format!("current {FIRST}")]);
}

#[test]
fn a_fact_of_an_earlier_time_is_a_statement_of_its_own() {
    let case = Case::new();
    let known = case.port(FIRST, json!({}));
    let before = json!({"valid_from": "2026-01-01", "valid_to": "2026-06-01"});
    let earlier = case.port(FIRST, before);
    assert_eq!(earlier["created"], true);
    assert_ne!(earlier["fact"], known["fact"]);
    assert_eq!(case.ports_as_of("2026-03-01"), [format!("current {FIRST}")]);
    assert_eq!(case.ports_as_of("2026-08-01"), [] as [String; 0]);
}

#[test]
fn a_fact_begins_as_early_as_anybody_says() {
    let case = Case::new();
    let known = case.port(FIRST, json!({}));
    let again = case.port(FIRST, json!({"valid_from": "2026-01-01"}));
    assert_eq!(again["fact"], known["fact"]);
    assert_eq!(case.ports_as_of("2026-08-01"), [format!("current {FIRST}")]);
    case.port(FIRST, json!({"valid_from": "2026-11-01"}));
    assert_eq!(case.ports_as_of("2026-08-01"), [format!("current {FIRST}")]);
}

#[test]
fn a_fact_is_contested_once_it_is_said_again_for_the_time_of_another() {
    let case = Case::new();
    case.port(FIRST, json!({"valid_to": "2026-12-01"}));
    let later = case.port(SECOND, json!({"valid_from": "2026-12-01"}));
    assert_eq!(later["conflict"], Value::Null);
    case.port(FIRST, json!({"valid_to": "2026-12-31"}));
    assert_eq!(case.field(later["fact"].as_str().unwrap(), "contested"), true);
}

#[test]
fn a_subject_with_its_kind_says_the_same_again() {
    let case = Case::new();
    case.port(FIRST, json!({"subject": "tool:gateway"}));
    let again = case.port(FIRST, json!({"subject": "tool:gateway"}));
    assert_eq!(again["created"], false);
}

#[test]
fn an_update_bounds_a_fact_by_the_ids_of_what_states_it() {
    let case = Case::new();
    let known = case.port(FIRST, json!({}));
    for id in [&known["id"], &known["fact"]] {
        case.apply(json!([{"op": "update", "id": id, "valid_to": "2026-12-31"}]));
        assert_eq!(case.ports_as_of("2027-01-01"), [] as [String; 0]);
        case.apply(json!([{"op": "update", "id": id, "valid_to": ""}]));
        assert_eq!(case.ports_as_of("2027-01-01"), [format!("current {FIRST}")]);
    }
    let before = json!([{"op": "update", "id": known["fact"], "valid_to": "2025-01-01"}]);
    let refused = MemoryError::from(case.try_apply(json!({"operations": before})).unwrap_err());
    assert!(refused.message.contains("`valid_to` must be after `valid_from`"), "{refused:?}");
}

#[test]
fn an_end_that_an_update_gives_resolves_a_conflict() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    case.clock.advance(86_400_000);
    case.apply(json!([{"op": "update", "id": first, "valid_to": "2026-11-24"}]));
    assert_eq!(case.field(&conflict, "conflict"), "resolved");
    assert_eq!(case.field(&second, "contested"), Value::Null);
}

#[test]
fn a_statement_that_is_older_than_500_others_is_said_again() {
    let case = Case::new();
    let word = |nth: usize| format!("Worker {nth}: idle.");
    let specifics: Vec<String> = (0..501).map(word).collect();
    let cluster = json!({"id": "c2", "title": "Facts about worker", "concept_type": "fact_cluster",
        "entity_ids": ["tool:worker"], "specifics": specifics});
    case.import(&json!({"version": 3, "episodes": [], "concepts": [cluster]}).to_string());
    let oldest = word(0);
    case.remember(json!({"content": oldest, "kind": "fact", "subject": "worker"}));
    let found = case.memory.read(|reader| {
        let keys = reader.nodes_with(&[FieldFilter::text("type", "fact")])?;
        reader.knowledge(&keys)
    });
    assert_eq!(found.unwrap().iter().filter(|it| it.content == oldest).count(), 1);
}
