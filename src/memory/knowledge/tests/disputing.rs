//! Tests of facts that contradict, replace and outlive each other, and of their conflicts.

use super::*;
use crate::memory::ForgetChildrenMode;

impl Case {
    /// Remembers a value of the gateway's port, and returns what became of it.
    pub(super) fn port(&self, text: &str, more: Value) -> Value {
        self.says(text, "gateway", more)
    }

    /// The same of another subject's port.
    pub(super) fn says(&self, text: &str, subject: &str, more: Value) -> Value {
        let mut args = json!({
            "content": text, "kind": "fact", "subject": subject, "attribute": "port",
        });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.remember(args)["results"][0].clone()
    }

    /// Two values of the gateway's port, which are contested, and their conflict.
    pub(super) fn disputed_ports(&self) -> [String; 3] {
        let first = self.port("The gateway listens on port 1.", json!({}));
        let second = self.port("The gateway listens on port 2.", json!({}));
        [&first["fact"], &second["fact"], &second["conflict"]]
            .map(|it| it.as_str().unwrap().to_owned())
    }

    /// The facts of an answer with their states.
    pub(super) fn facts_told(&self, args: Value) -> Vec<String> {
        let answer = self.recall(args);
        let items = answer["items"].as_array().unwrap().iter();
        let facts = items.flat_map(|it| it["facts"].as_array().cloned().unwrap_or_default());
        facts
            .map(|it| {
                format!("{} {}", it["status"].as_str().unwrap(), it["text"].as_str().unwrap())
            })
            .collect()
    }

    #[track_caller]
    fn check_settled(&self, conflict: &str, winner: Option<&str>, standing: &[&str]) {
        assert_eq!(self.field(conflict, "conflict"), "resolved");
        assert_eq!(self.field(conflict, "winner").as_str(), winner);
        for fact in standing {
            assert_eq!(self.field(fact, "contested"), Value::Null);
        }
        crate::maintenance::doctor::assert_healthy(&self.folder.path().join("memory.db"));
    }
}

const ASKED: &str = "which port does the gateway listen on";

#[test]
fn a_fact_that_is_replaced_as_of_a_later_day_is_current_until_then() {
    let case = Case::new();
    let first = case.port("The gateway listens on port 1.", json!({}));
    let later = json!({"valid_from": "2026-12-01", "supersede": true});
    let second = case.port("The gateway listens on port 2.", later);
    assert_eq!(second["conflict"], Value::Null);
    let old = first["fact"].as_str().unwrap();
    assert_eq!(
        case.field(old, "valid_to"),
        case.field(second["fact"].as_str().unwrap(), "valid_from")
    );
    assert_eq!(
        case.facts_told(json!({"query": ASKED})),
        ["future The gateway listens on port 2.", "current The gateway listens on port 1."]
    );
    let again = case.port("The gateway listens on port 1.", json!({}));
    assert_eq!(again["created"], false, "it still holds");
    let found = case.memory.search("gateway listens on port 1", Some(500)).unwrap().text;
    assert!(found.contains("port 1."), "{found}");
    case.clock.advance(10 * 86_400_000);
    assert_eq!(
        case.facts_told(json!({"query": ASKED})),
        ["current The gateway listens on port 2."]
    );
    let then = json!({"query": ASKED, "as_of": "2026-11-30"});
    assert_eq!(case.facts_told(then), ["current The gateway listens on port 1."]);
}

#[test]
fn a_value_with_an_end_to_come_contradicts_others_until_then() {
    let case = Case::new();
    let until = json!({"valid_to": "2026-12-24"});
    let first = case.port("The gateway listens on port 1.", until);
    let after = json!({"valid_from": "2026-12-24"});
    let after = case.port("The gateway listens on port 3.", after);
    assert_eq!(after["conflict"], Value::Null, "one begins when the other ends");
    let second = case.port("The gateway listens on port 2.", json!({"valid_to": "2026-12-20"}));
    assert!(second["conflict"].is_string(), "{second}");
    assert_eq!(second["collisions"][0]["id"], first["fact"]);
    case.clock.advance(40 * 86_400_000);
    let fourth = case.port("The gateway listens on port 4.", json!({}));
    assert_eq!(fourth["collisions"].as_array().unwrap().len(), 1, "what is over is no rival");
    assert_eq!(fourth["collisions"][0]["id"], after["fact"]);
}

#[test]
fn what_supersedes_a_value_with_an_end_ends_it_earlier() {
    let case = Case::new();
    let first = case.port("The gateway listens on port 1.", json!({"valid_to": "2027-01-01"}));
    let earlier = json!({"valid_from": "2026-12-01", "supersede": true});
    let second = case.port("The gateway listens on port 2.", earlier);
    let (first, second) = (first["fact"].as_str().unwrap(), second["fact"].as_str().unwrap());
    assert_eq!(case.field(first, "valid_to"), case.field(second, "valid_from"));
}

#[test]
fn a_value_that_supersedes_holds_until_the_one_that_is_planned() {
    let case = Case::new();
    let from = |day: &str| json!({"valid_from": day, "supersede": true});
    case.port("The gateway listens on port 1.", from("2026-01-01"));
    let planned = case.port("The gateway listens on port 3.", from("2027-01-01"));
    let step = case.port("The gateway listens on port 2.", from("2026-12-01"));
    let [planned, step] = [planned, step].map(|it| it["fact"].as_str().unwrap().to_owned());
    assert_eq!(case.field(&step, "valid_to"), case.field(&planned, "valid_from"));
    for (as_of, port) in [("2026-11-30", 1), ("2026-12-31", 2), ("2027-06-01", 3)] {
        let then = json!({"query": ASKED, "as_of": as_of});
        let told = format!("current The gateway listens on port {port}.");
        assert_eq!(case.facts_told(then), [told], "{as_of}");
    }
}

#[test]
fn a_value_without_an_attribute_supersedes_other_values_of_its_subject() {
    let case = Case::new();
    let fact = |text: &str, more: bool| json!({"content": text, "kind": "fact", "subject": "relay", "supersede": more});
    let first = case.remember(fact("The relay timeout is 30 s.", false))["results"][0].clone();
    let second = case.remember(fact("The relay timeout is 60 s.", true))["results"][0].clone();
    assert_eq!(second["conflict"], Value::Null);
    assert_eq!(case.field(first["fact"].as_str().unwrap(), "superseded_by"), second["fact"]);
}

#[test]
fn a_value_that_is_over_began_at_a_time_that_nobody_told() {
    let case = Case::new();
    let over = case.port("The gateway listens on port 1.", json!({"valid_to": "2026-06-01"}));
    assert_eq!(case.field(over["fact"].as_str().unwrap(), "valid_from"), Value::Null);
    let then = |day: &str| case.facts_told(json!({"query": ASKED, "as_of": day}));
    assert_eq!(then("2026-05-01"), ["current The gateway listens on port 1."]);
    assert_eq!(then("2026-07-01"), [] as [String; 0]);
}

#[test]
fn a_value_that_lost_a_conflict_to_an_older_one_never_held() {
    let case = Case::new();
    let from = |day: &str| json!({"valid_from": day});
    let right = case.port("The gateway listens on port 1.", from("2026-01-01"));
    let wrong = case.port("The gateway listens on port 2.", from("2026-06-01"));
    case.apply(json!([
        {"op": "resolve", "id": wrong["conflict"], "winner": right["fact"]},
    ]));
    for as_of in ["2026-03-01", "2026-07-01", "2026-11-23"] {
        let then = json!({"query": ASKED, "as_of": as_of});
        assert_eq!(case.facts_told(then), ["current The gateway listens on port 1."], "{as_of}");
    }
}

#[test]
fn a_newer_value_that_wins_leaves_the_older_one_its_time() {
    let case = Case::new();
    let from = |day: &str| json!({"valid_from": day});
    case.port("The gateway listens on port 1.", from("2026-01-01"));
    let newer = case.port("The gateway listens on port 2.", from("2026-06-01"));
    case.apply(json!([
        {"op": "resolve", "id": newer["conflict"], "winner": newer["fact"]},
    ]));
    let then = json!({"query": ASKED, "as_of": "2026-03-01"});
    assert_eq!(case.facts_told(then), ["current The gateway listens on port 1."]);
}

#[test]
fn a_conflict_ends_when_one_statement_is_left() {
    let ways: [fn(&Case, &[String; 3]); 4] = [
        |case, [first, second, _]| {
            case.apply(json!([{"op": "supersede", "old": first, "new": second}]));
        },
        |case, [first, ..]| drop(case.apply(json!([{"op": "delete", "id": first}]))),
        |case, [first, ..]| drop(case.memory.forget(first, ForgetChildrenMode::Strict).unwrap()),
        |case, [first, second, _]| {
            case.apply(json!([{"op": "fact", "text": "x", "subject": "other", "as": "o"},
                {"op": "supersede", "old": first, "new": "$o"}, {"op": "pin", "id": second}]));
        },
    ];
    for way in ways {
        let case = Case::new();
        let ids = case.disputed_ports();
        way(&case, &ids);
        case.check_settled(&ids[2], Some(&ids[1]), &[&ids[1]]);
        case.memory.rollback(2, false).unwrap();
        assert_eq!(case.field(&ids[2], "conflict"), "open", "undone");
        assert_eq!(case.field(&ids[1], "contested"), true);
    }
}

#[test]
fn a_conflict_ends_when_a_third_value_supersedes_both() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    let third = case.port("The gateway listens on port 3.", json!({"supersede": true}));
    let third = third["fact"].as_str().unwrap();
    case.check_settled(&conflict, Some(third), &[&first, &second, third]);
    assert_eq!(case.field(&first, "superseded_by"), third);
}

#[test]
fn a_conflict_ends_when_no_statement_is_left() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    case.apply(json!([{"op": "delete", "id": first}, {"op": "delete", "id": second}]));
    case.check_settled(&conflict, None, &[&first, &second]);
}

#[test]
fn a_conflict_of_three_goes_on_between_the_two_that_are_left() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    let third = case.port("The gateway listens on port 3.", json!({}));
    let third = third["fact"].as_str().unwrap();
    case.apply(json!([{"op": "supersede", "old": first, "new": second}]));
    assert_eq!(case.field(&conflict, "conflict"), "open");
    assert_eq!(case.field(&second, "contested"), true);
    case.apply(json!([{"op": "resolve", "id": conflict, "winner": third}]));
    assert_eq!(case.field(&first, "superseded_by"), second.as_str(), "it was replaced before");
    assert_eq!(case.field(&second, "superseded_by"), third);
}

#[test]
fn a_conflict_ends_when_an_edit_has_both_say_the_same() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    let text = "The gateway listens on port 1.";
    case.apply(json!([{"op": "update", "id": second, "content": text}]));
    case.check_settled(&conflict, Some(&first), &[&first, &second]);
}

#[test]
fn a_conflict_of_concepts_and_episodes_ends_with_them_too() {
    for make in [
        json!({"op": "concept", "as": "a", "title": "A", "summary": "One."}),
        json!({"op": "remember", "as": "a", "content": "One."}),
    ] {
        let case = Case::new();
        let mut other = make.clone();
        other["as"] = "b".into();
        let text = if make["op"] == "concept" { "summary" } else { "content" };
        other[text] = "Two.".into();
        let done = case.apply(json!([
            make, other, {"op": "conflict", "a": "$a", "b": "$b"},
        ]));
        let [a, b, conflict] = [0, 1, 2].map(|nth| id(&done, nth));
        case.apply(json!([{"op": "resolve", "id": conflict, "winner": b}]));
        assert_eq!(case.field(&a, "superseded_by"), b.as_str());
        case.memory.rollback(1, false).unwrap();
        case.apply(json!([{"op": "supersede", "old": a, "new": b}]));
        case.check_settled(&conflict, Some(&b), &[]);
    }
}

#[test]
fn a_restored_fact_is_contested_by_what_stands_now() {
    let case = Case::new();
    let first = case.port("The gateway listens on port 1.", json!({}));
    case.apply(json!([{"op": "delete", "id": first["fact"]}]));
    let second = case.port("The gateway listens on port 2.", json!({}));
    assert_eq!(second["conflict"], Value::Null);
    case.apply(json!([{"op": "restore", "id": first["fact"]}]));
    for fact in [&first, &second] {
        assert_eq!(case.field(fact["fact"].as_str().unwrap(), "contested"), true);
    }
}

#[test]
fn a_dismissed_contradiction_is_not_raised_again() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    case.apply(json!([{"op": "dismiss", "id": conflict}]));
    case.apply(json!([{"op": "label", "id": first, "key": "host", "value": "a"}]));
    assert_eq!(case.field(&first, "contested"), Value::Null);
    assert_eq!(case.field(&second, "contested"), Value::Null);
    assert_eq!(case.tree().matches("[conflict]").count(), 1);
}

#[test]
fn what_was_dismissed_is_raised_by_no_third_value_that_is_gone() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    case.apply(json!([{"op": "dismiss", "id": conflict}]));
    let third = case.port("The gateway listens on port 3.", json!({}));
    case.apply(json!([{"op": "delete", "id": third["fact"]}]));
    case.check_settled(third["conflict"].as_str().unwrap(), None, &[&first, &second]);
    let done = case.apply(json!([{"op": "conflict", "a": first, "b": second}]));
    assert_eq!(case.field(&id(&done, 0), "conflict"), "open", "somebody says so");
}

#[test]
fn facts_whose_conflict_is_forgotten_are_in_one_that_is_there() {
    let case = Case::new();
    let [first, second, conflict] = case.disputed_ports();
    case.memory.forget(&conflict, ForgetChildrenMode::Strict).unwrap();
    let open = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
    assert_eq!(open["conflicts"].as_array().unwrap().len(), 1, "they contradict each other still");
    case.apply(json!([{"op": "dismiss", "id": open["conflicts"][0]["id"]}]));
    for fact in [&first, &second] {
        assert_eq!(case.field(fact, "contested"), Value::Null);
    }
    let done = case.apply(json!([
        {"op": "fact", "as": "a", "text": "One.", "subject": "a", "attribute": "x"},
        {"op": "fact", "as": "b", "text": "Two.", "subject": "b", "attribute": "y"},
        {"op": "conflict", "a": "$a", "b": "$b"},
    ]));
    case.memory.forget(&id(&done, 2), ForgetChildrenMode::Strict).unwrap();
    assert_eq!(case.field(&id(&done, 0), "contested"), Value::Null, "nobody says so any more");
    crate::maintenance::doctor::assert_healthy(&case.folder.path().join("memory.db"));
}

#[test]
fn a_conflict_that_somebody_opened_between_subjects_is_joined_by_no_other_statement() {
    let case = Case::new();
    let fact = |subject: &str, text: &str, name: &str| {
        json!({
            "op": "fact", "text": text, "subject": subject, "attribute": "port", "as": name,
        })
    };
    let made = case.apply(json!([
        fact("cache", "The cache has port 1.", "a"),
        fact("gateway", "The gateway has port 2.", "b"),
        {"op": "conflict", "a": "$a", "b": "$b", "note": "One host, one range."},
    ]));
    let [cache, gateway, by_hand] = [0, 1, 2].map(|nth| id(&made, nth));
    let later = case.apply(json!([fact("cache", "The cache has port 9.", "c")]));
    let (winner, conflict) = (id(&later, 0), &later["results"][0]["conflict"]);
    assert_ne!(*conflict, json!(by_hand));
    case.apply(json!([{"op": "resolve", "id": conflict, "winner": winner}]));
    assert_eq!(case.field(&cache, "superseded_by"), json!(winner));
    assert_eq!(case.field(&gateway, "superseded_by"), Value::Null);
    case.check_settled(&by_hand, Some(&gateway), &[&gateway]);
}

/// A conflict has as many statements as a node has edges; a value more is none too many.
#[test]
fn any_number_of_values_is_kept_though_conflicts_are_bounded() {
    let case = Case::new();
    let value = |nth: usize, attribute: Option<&str>| {
        json!({"content": format!("The queue depth is {nth} jobs."), "kind": "fact",
            "subject": "queue", "attribute": attribute})
    };
    for attribute in [Some("depth"), None] {
        let case = Case::new();
        let mut facts = Vec::new();
        for nth in 0..4 {
            let items: Vec<Value> = (1..=60).map(|it| value(60 * nth + it, attribute)).collect();
            let answer = case.remember(json!({"items": items}));
            for result in answer["results"].as_array().unwrap() {
                let is_first = facts.is_empty();
                assert_eq!(result["conflict"].is_null(), is_first, "{result}");
                facts.push(result["fact"].as_str().unwrap().to_owned());
            }
        }
        let conflicts = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
        let conflicts = conflicts["conflicts"].as_array().unwrap();
        let disputed = |id: &String| {
            let is_in =
                |it: &Value| it["facts"].as_array().unwrap().iter().any(|it| it["id"] == *id);
            conflicts.iter().any(is_in)
        };
        assert!(facts.iter().all(disputed), "each value is disputed");
        assert_eq!(conflicts.len(), 2);
    }
    case.remember(value(0, Some("depth")));
    let items: Vec<Value> = (1..=100).map(|it| value(it, Some("depth"))).collect();
    for part in items.chunks(50) {
        case.remember(json!({"items": part}));
    }
    let mut right = value(900, Some("depth"));
    right["supersede"] = true.into();
    case.remember(right);
    let conflicts = case.memory.read(|it| conflicts_document(it, ("open", START), 9)).unwrap();
    assert_eq!(conflicts["conflicts"], json!([]));
}
