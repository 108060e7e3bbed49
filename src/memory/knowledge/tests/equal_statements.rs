//! Tests of what is one statement and what is another: letter case, hidden clusters, equal texts
//! that come together, and times that one replaces.

use super::*;

const FIRST: &str = "The gateway listens on port 1.";
const SECOND: &str = "The gateway listens on port 2.";

impl Case {
    /// Has a concept replace the cluster of the gateway's facts.
    fn replace_cluster(&self, text: &str) {
        let cluster = self.cluster_of(text);
        self.apply(json!([
            {"op": "concept", "title": "Summary", "summary": "It listens.", "as": "c"},
            {"op": "supersede", "old": cluster, "new": "$c"},
        ]));
    }

    fn current(&self, query: &str) -> Vec<String> {
        self.facts_told(json!({"query": query}))
    }
}

#[test]
fn a_fact_that_is_gone_with_its_cluster_is_stated_when_it_is_said_again() {
    let case = Case::new();
    let hidden = case.port(FIRST, json!({}));
    case.replace_cluster(FIRST);
    let second = case.port(SECOND, json!({}));
    let again = case.port(FIRST, json!({}));
    assert_eq!(again["created"], true);
    assert_ne!(again["fact"], hidden["fact"]);
    assert_eq!(again["collisions"][0]["id"], second["fact"]);
    assert_eq!(case.field(again["fact"].as_str().unwrap(), "contested"), true);
}

#[test]
fn a_fact_that_is_gone_with_its_cluster_replaces_nothing() {
    for by_operation in [false, true] {
        let case = Case::new();
        case.port(FIRST, json!({}));
        case.replace_cluster(FIRST);
        case.port(SECOND, json!({}));
        match by_operation {
            false => drop(case.port(FIRST, json!({"supersede": true}))),
            true => drop(case.apply(json!([{
                "op": "fact", "text": FIRST, "subject": "gateway", "attribute": "port",
                "supersede": true,
            }]))),
        }
        assert_eq!(case.current("gateway port"), [format!("current {FIRST}")]);
    }
}

#[test]
fn a_value_gives_way_for_the_time_of_the_one_that_supersedes_it_though_it_has_ended() {
    let case = Case::new();
    let before = json!({"valid_from": "2020-01-01", "valid_to": "2022-01-01"});
    case.port(FIRST, before);
    case.port(SECOND, json!({"valid_from": "2021-01-01", "supersede": true}));
    let as_of = |day: &str| case.facts_told(json!({"query": "gateway port", "as_of": day}));
    assert_eq!(as_of("2020-06-01"), [format!("current {FIRST}")]);
    assert_eq!(as_of("2021-06-01"), [format!("current {SECOND}")]);
    assert_eq!(as_of("2022-06-01"), [format!("current {SECOND}")]);
}

#[test]
fn an_ended_value_without_an_attribute_gives_way_as_well() {
    let case = Case::new();
    let says = |text: &str, more: Value| {
        let mut args = json!({"content": text, "kind": "fact", "subject": "cache"});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        case.remember(args);
    };
    let before = json!({"valid_from": "2020-01-01", "valid_to": "2022-01-01"});
    says("The cache timeout is 30 s.", before);
    says("The cache timeout is 45 s.", json!({"valid_from": "2021-01-01", "supersede": true}));
    let told = case.facts_told(json!({"query": "cache timeout", "as_of": "2021-06-01"}));
    assert_eq!(told, ["current The cache timeout is 45 s."]);
}

#[test]
fn what_supersedes_from_an_unknown_time_leaves_what_has_ended() {
    let case = Case::new();
    let known = case.port(FIRST, json!({"valid_from": "2020-01-01", "valid_to": "2022-01-01"}));
    case.port(SECOND, json!({"valid_to": "2023-01-01", "supersede": true}));
    assert_eq!(case.field(known["fact"].as_str().unwrap(), "superseded_by"), Value::Null);
}

#[test]
fn what_supersedes_for_a_while_takes_no_more_than_that_from_what_has_ended() {
    let case = Case::new();
    case.port(FIRST, json!({"valid_from": "2020-01-01", "valid_to": "2021-01-01"}));
    let for_a_while = json!({
        "valid_from": "2020-03-01", "valid_to": "2020-06-01", "supersede": true,
    });
    case.port(SECOND, for_a_while);
    let told = case.facts_told(json!({"query": "gateway port", "as_of": "2020-10-01"}));
    assert_eq!(told, [format!("current {FIRST}")]);
}

#[test]
fn a_value_that_is_said_again_takes_nothing_from_what_has_ended() {
    let case = Case::new();
    case.port(FIRST, json!({"valid_from": "2020-01-01"}));
    let ended = case.port(SECOND, json!({"valid_from": "2023-01-01", "valid_to": "2024-06-01"}));
    let of_ended = |name: &str| case.field(ended["fact"].as_str().unwrap(), name);
    let before = (of_ended("valid_from"), of_ended("valid_to"));
    case.port(FIRST, json!({"valid_from": "2024-01-01", "supersede": true}));
    assert_eq!((of_ended("valid_from"), of_ended("valid_to")), before);
}

#[test]
fn values_that_differ_in_letter_case_are_contested() {
    let case = Case::new();
    let first = case.says("The unit is Mb", "link", json!({}));
    let second = case.says("The unit is MB", "link", json!({}));
    assert_ne!(first["fact"], second["fact"]);
    assert_eq!(second["collisions"][0]["text"], "The unit is Mb");
    let again = case.says("The  unit is MB ", "link", json!({}));
    assert_eq!(again["fact"], second["fact"], "white space tells nothing apart");
}

#[test]
fn a_correction_of_letter_case_supersedes() {
    for attribute in [Some("variable"), None] {
        let case = Case::new();
        for (text, supersede) in [("It is Db_Pass", false), ("It is DB_PASS", true)] {
            let mut args = json!({
                "content": text, "kind": "fact", "subject": "db", "supersede": supersede,
            });
            if let Some(attribute) = attribute {
                args["attribute"] = attribute.into();
            }
            case.remember(args);
        }
        assert_eq!(case.current("facts about db"), ["current It is DB_PASS"]);
    }
}

#[test]
fn statements_in_another_letter_case_stay_beside_each_other_without_an_attribute() {
    let case = Case::new();
    for text in ["It is Db_Pass", "It is DB_PASS"] {
        let args = json!({"content": text, "kind": "fact", "subject": "db"});
        assert_eq!(case.remember(args)["results"][0]["conflict"], Value::Null);
    }
    let mut told = case.current("facts about db");
    told.sort();
    assert_eq!(told, ["current It is DB_PASS", "current It is Db_Pass"]);
}

#[test]
fn equal_statements_that_a_merge_of_entities_brings_together_become_one() {
    let case = Case::new();
    let elder = case.says(FIRST, "gateway", json!({"valid_to": "2027-01-01"}));
    let younger = case.says(FIRST, "door", json!({}));
    let entity = |name: &str| {
        let answer = case.apply(json!([{"op": "entity", "name": name, "type": "subject"}]));
        answer["results"][0]["id"].clone()
    };
    let (gateway, door) = (entity("gateway"), entity("door"));
    case.apply(json!([{"op": "merge", "from": [gateway], "into": door}]));
    let [elder_id, younger_id] = [&elder, &younger].map(|it| it["fact"].as_str().unwrap());
    assert_eq!(case.field(younger_id, "merged_into"), elder_id);
    assert_ne!(case.field(elder_id, "valid_to"), Value::Null, "no other end was said");
    let second = case.says(SECOND, "door", json!({}));
    assert_eq!(second["collisions"], json!([{"id": elder_id, "text": FIRST}]));
    let conflict = second["conflict"].as_str().unwrap();
    case.apply(json!([{"op": "resolve", "id": conflict, "winner": elder_id}]));
    assert_eq!(case.current("door port"), [format!("current {FIRST}")]);
    case.apply(json!([{"op": "delete", "id": younger["id"]}]));
    assert_eq!(case.field(elder_id, "deleted"), Value::Null, "another episode states it");
    case.check_health();
}

#[test]
fn equal_statements_of_merged_clusters_become_one() {
    let case = Case::new();
    let elder = case.says(FIRST, "gateway", json!({}));
    case.says("The door listens on port 1.", "door", json!({}));
    let cluster = case.cluster_of("The door listens on port 1.");
    let younger = case.says(FIRST, "door", json!({"supersede": true}));
    let merge = json!([{"op": "merge", "from": [case.cluster_of(FIRST)], "into": cluster}]);
    case.apply(merge);
    let into = case.field(younger["fact"].as_str().unwrap(), "merged_into");
    assert_eq!(into, elder["fact"]);
    case.check_health();
}

#[test]
fn a_restored_cluster_brings_no_statement_twice() {
    let case = Case::new();
    let first = case.port(FIRST, json!({}));
    let cluster = case.cluster_of(FIRST);
    case.apply(json!([{"op": "delete", "id": cluster}]));
    let again = case.port(FIRST, json!({}));
    case.apply(json!([{"op": "restore", "id": cluster}]));
    assert_eq!(case.field(again["fact"].as_str().unwrap(), "merged_into"), first["fact"]);
    assert_eq!(case.current("gateway port"), [format!("current {FIRST}")]);
    case.check_health();
}

#[test]
fn a_value_that_is_edited_into_another_one_joins_it() {
    let case = Case::new();
    let first = case.port(FIRST, json!({}));
    let second = case.port(SECOND, json!({}));
    case.apply(json!([{"op": "update", "id": second["fact"], "content": FIRST}]));
    let (first, second_id) = (first["fact"].as_str().unwrap(), second["fact"].as_str().unwrap());
    assert_eq!(case.field(second_id, "merged_into"), first);
    let conflict = second["conflict"].as_str().unwrap();
    assert_eq!(case.field(conflict, "winner"), first);
    assert_eq!(case.field(first, "contested"), Value::Null);
    assert_eq!(case.current("gateway port"), [format!("current {FIRST}")]);
    case.check_health();
}

#[test]
fn a_split_needs_no_part_for_a_fact_that_another_one_took_in() {
    let case = Case::new();
    let [first, second] = [FIRST, SECOND].map(|it| case.port(it, json!({}))["fact"].clone());
    case.apply(json!([{"op": "update", "id": second, "content": FIRST}]));
    let split = json!([{
        "op": "split", "id": case.cluster_of(FIRST), "assign": {first.as_str().unwrap(): "one"},
        "into": [
            {"as": "one", "title": "One", "summary": "1"},
            {"as": "two", "title": "Two", "summary": "2"},
        ],
    }]);
    case.apply(split);
    assert_eq!(case.field(&case.cluster_of(FIRST), "title"), "One");
    case.check_health();
}

#[test]
fn the_winner_of_a_conflict_is_the_fact_that_took_it_in() {
    let case = Case::new();
    let elder = case.says(FIRST, "gateway", json!({}));
    let winner = case.says(FIRST, "door", json!({}));
    let conflict = case.says(SECOND, "door", json!({}))["conflict"].clone();
    case.apply(json!([{"op": "resolve", "id": conflict, "winner": winner["fact"]}]));
    let ids = [&elder, &winner].map(|it| it["fact"].as_str().unwrap());
    let entities = ["gateway", "door"].map(|it| {
        let answer = case.apply(json!([{"op": "entity", "name": it, "type": "subject"}]));
        answer["results"][0]["id"].clone()
    });
    case.apply(json!([{"op": "merge", "from": [entities[1]], "into": entities[0]}]));
    assert_eq!(case.field(ids[1], "merged_into"), ids[0]);
    assert_eq!(case.field(conflict.as_str().unwrap(), "winner"), ids[0]);
    case.check_health();
}

#[test]
fn equal_statements_about_two_subjects_stay_two() {
    let case = Case::new();
    let first = case.says("It is up", "gateway", json!({}));
    let other = case.says("It is down", "door", json!({}));
    case.apply(json!([{"op": "update", "id": other["fact"], "content": "It is up"}]));
    for it in [first, other] {
        assert_eq!(case.field(it["fact"].as_str().unwrap(), "merged_into"), Value::Null);
    }
}

/// Spellings of one statement that differ in white space alone.
const SPACED: [&str; 3] = [
    "The cache timeout is 30 s.",
    "The cache  timeout\nis 30 s. ",
    "The cache\u{a0}timeout is 30 s.",
];

impl Case {
    fn n_living(&self, node_type: &str) -> usize {
        let found = self.memory.read(|reader| {
            let keys = reader.nodes_with(&[FieldFilter::text("type", node_type)])?;
            reader.knowledge(&keys)
        });
        found.unwrap().iter().filter(|it| !it.is_gone()).count()
    }
}

#[test]
fn white_space_makes_no_other_fact_when_remembered() {
    for attribute in [Value::Null, json!("timeout")] {
        let case = Case::new();
        for text in SPACED {
            let given = json!({"content": text, "kind": "fact", "subject": "cache",
                "attribute": attribute});
            case.remember(given);
        }
        let n_living = ["fact", "episode", "conflict"].map(|it| case.n_living(it));
        assert_eq!(n_living, [1, 1, 0], "{attribute}");
    }
}

#[test]
fn a_repeat_in_other_white_space_adds_what_it_mentions() {
    let [case, at_once] = [Case::new(), Case::new()];
    let said = |case: &Case, nth: usize, entities: Value| {
        case.remember(json!({"content": SPACED[nth], "kind": "fact", "subject": "cache",
            "entities": entities}))
    };
    said(&case, 0, json!([]));
    let again = said(&case, 1, json!(["person:Bob"]));
    assert_eq!(again["results"][0]["entities"], json!(["subject:cache", "person:Bob"]));
    said(&at_once, 0, json!(["person:Bob"]));
    for it in [&case, &at_once] {
        assert_eq!(it.titles(json!({"entity": "person:Bob"})), ["Facts about cache"]);
    }
    let third = said(&case, 2, json!(["person:Bob"]));
    assert_eq!(third["snapshot"], Value::Null, "it says nothing new");
}

#[test]
fn an_exact_repeat_adds_the_entities_that_are_given_with_it() {
    for kind in ["observation", "fact"] {
        let case = Case::new();
        let said = |entities: Value| {
            case.remember(json!({"content": "The gateway drops long requests.", "kind": kind,
                "entities": entities}))
        };
        let first = said(json!(["gateway"]));
        let again = said(json!(["person:Bob", "gateway"]));
        let expected = json!(["subject:gateway", "person:Bob"]);
        assert_eq!(again["results"][0]["entities"], expected, "{kind}");
        assert_eq!(again["results"][0]["created"], false);
        assert_eq!(id(&again, 0), id(&first, 0));
        assert_eq!(case.titles(json!({"entity": "person:Bob"})).len(), 1, "{kind}");
        for nothing_new in [json!(["person:Bob"]), json!([])] {
            assert_eq!(said(nothing_new)["snapshot"], Value::Null, "{kind}");
        }
    }
}

#[test]
fn a_repeat_adds_what_it_mentions_to_its_fact() {
    let given = |text: &str, entities: Value| json!({"content": text, "kind": "fact", "subject": "cache", "entities": entities});
    for (text, is_applied) in [(SPACED[0], false), (SPACED[1], false), (SPACED[0], true)] {
        let case = Case::new();
        let first = case.remember(given(SPACED[0], json!([])))["results"][0].clone();
        let fact = first["fact"].as_str().unwrap();
        let again = given(text, json!(["person:Bob"]));
        match is_applied {
            true => {
                let mut operation = again;
                operation["op"] = "remember".into();
                case.apply(json!([operation]));
            }
            false => drop(case.remember(again)),
        }
        let bob = case.apply(json!([{"op": "entity", "name": "person:Bob"}]));
        let mentions = case.linked(fact, "mentions");
        assert!(mentions.contains(&id(&bob, 0)), "{text:?}, {is_applied}: {mentions:?}");
        case.check_health();
    }
}

#[test]
fn white_space_and_another_entity_make_nothing_new() {
    for kind in ["fact", "decision"] {
        let case = Case::new();
        let said = |nth: usize, entity: &str| {
            case.remember(json!({"content": SPACED[nth], "kind": kind, "entities": [entity]}))
        };
        let first = id(&said(0, "cache"), 0);
        for nth in [1, 2] {
            assert_eq!(id(&said(nth, "person:Bob"), 0), first, "{kind}");
        }
        assert_eq!(case.n_living("episode"), 1, "{kind}");
        assert_eq!(case.n_living("fact"), usize::from(kind == "fact"));
    }
    let case = Case::new();
    for (text, entity) in [(SPACED[1], "cache"), (SPACED[2], "person:Bob")] {
        case.remember(json!({"content": text, "kind": "fact", "entities": [entity]}));
    }
    assert_eq!(["episode", "fact"].map(|it| case.n_living(it)), [1, 1]);
}

#[test]
fn white_space_makes_no_other_fact_when_applied() {
    for attribute in [Value::Null, json!("timeout")] {
        let case = Case::new();
        let fact = |text: &str, name: &str| {
            json!({"op": "fact", "text": text, "subject": "cache", "attribute": attribute,
                "as": name})
        };
        case.apply(json!([fact(SPACED[0], "a"), fact(SPACED[1], "b")]));
        assert_eq!(case.n_living("fact"), 1, "{attribute}");
        let other = case.apply(json!([fact("The cache timeout is 45 s.", "c")]));
        let id = other["results"][0]["id"].as_str().unwrap();
        case.apply(json!([{"op": "update", "id": id, "content": SPACED[2]}]));
        assert_eq!(case.n_living("fact"), 1, "{attribute}: edited to the same");
    }
}

#[test]
fn a_statement_that_is_older_than_500_others_is_said_again_in_whatever_white_space() {
    let case = Case::new();
    let mut specifics = vec!["Worker 0: idle.".to_owned()];
    specifics.extend((1..=500).map(|nth| format!("Worker {nth}: idle.")));
    let cluster = json!({"id": "c2", "title": "Facts about worker", "concept_type": "fact_cluster",
        "entity_ids": ["tool:worker"], "specifics": specifics});
    case.import(&json!({"version": 3, "episodes": [], "concepts": [cluster]}).to_string());
    for text in ["Worker 0: idle.", "Worker  0:\nidle. "] {
        case.remember(json!({"content": text, "kind": "fact", "subject": "worker"}));
        assert_eq!(case.n_living("fact"), 501, "{text:?}");
    }
}

/// Its own text is in no index as it is said again.
#[test]
fn odd_white_space_of_a_statement_hides_it_behind_no_500_others() {
    let case = Case::new();
    let odd = ["Worker  0:\n idle.", "Worker 1: idle. "];
    let mut specifics: Vec<String> = odd.iter().map(|it| (*it).to_owned()).collect();
    specifics.extend((2..=502).map(|nth| format!("Worker {nth}: idle.")));
    let cluster = json!({"id": "c2", "title": "Facts about worker", "concept_type": "fact_cluster",
        "entity_ids": ["tool:worker"], "specifics": specifics});
    case.import(&json!({"version": 3, "episodes": [], "concepts": [cluster]}).to_string());
    for text in ["Worker 0: idle.", "Worker 1: idle.", "Worker\t0: idle."] {
        case.remember(json!({"content": text, "kind": "fact", "subject": "worker"}));
        assert_eq!(case.n_living("fact"), 503, "{text:?}");
    }
}

#[test]
fn a_conflict_of_values_ends_with_the_edit_that_makes_them_equal() {
    let case = Case::new();
    let said = |text: &str| {
        let given = json!({"content": text, "kind": "fact", "subject": "cache"});
        case.remember(given)["results"][0].clone()
    };
    said("The cache timeout is 30 s.");
    let second = said("The cache timeout is 45 s.");
    let state = || case.field(second["conflict"].as_str().unwrap(), "conflict");
    let update = |text: &str| {
        case.apply(json!([{"op": "update", "id": second["fact"], "content": text}]));
    };
    update("The cache timeout is now 50 s.");
    assert_eq!(state(), "open");
    update("The timeout of the cache is half a minute, 30 seconds.");
    assert_eq!(state(), "resolved");
}

/// Statements without values tell nothing of a contradiction that somebody saw.
#[test]
fn a_conflict_that_somebody_opened_outlives_other_edits() {
    let case = Case::new();
    let said = |text: &str| {
        let given = json!({"content": text, "kind": "fact", "subject": "Bob"});
        case.remember(given)["results"][0]["fact"].clone()
    };
    let (a, b) = (said("Bob likes tea very much."), said("Bob hates all hot drinks."));
    let opened = case.apply(json!([{"op": "conflict", "a": a, "b": b, "severity": "low"}]));
    let conflict = opened["results"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(case.field(&conflict, "conflict"), "open");
    case.apply(json!([{"op": "update", "id": b, "valid_from": "2020-01-01"}]));
    assert_eq!(case.field(&conflict, "conflict"), "open");
}
