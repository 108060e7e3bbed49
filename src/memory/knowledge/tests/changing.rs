//! Tests of changesets that change what is there: merged, deleted, renamed, contested.

use super::*;
use crate::maintenance::doctor;

impl Case {
    #[track_caller]
    pub(super) fn check_health(&self) {
        doctor::assert_healthy(&self.folder.path().join("memory.db"));
    }

    pub(super) fn fact_of(&self, subject: &str, value: &str) -> Value {
        let answer = self.remember(json!({
            "content": value, "kind": "fact", "subject": subject, "attribute": "size",
        }));
        answer["results"][0].clone()
    }
}

#[test]
fn what_is_merged_into_leads_to_what_it_takes_in_no_more() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "concept", "as": "a", "title": "A", "summary": "One."},
        {"op": "concept", "as": "b", "title": "B", "summary": "Two."},
        {"op": "link", "from": "$b", "to": "$a", "type": "related_to"},
        {"op": "entity", "as": "c", "name": "tool:Cc"},
        {"op": "entity", "as": "d", "name": "tool:Dd"},
        {"op": "relate", "from": "$d", "to": "$c", "type": "related_to"},
        {"op": "merge", "from": ["$a"], "into": "$b"},
        {"op": "merge", "from": ["$c"], "into": "$d"},
    ]));
    for nth in [1, 4] {
        assert_eq!(case.linked(&id(&done, nth), "related_to"), [] as [String; 0]);
    }
    case.check_health();
}

#[test]
fn declared_names_are_topics_subjects_and_entities() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "topic", "as": "t", "name": "Pools"},
        {"op": "entity", "as": "n", "name": "tool:Foo"},
        {"op": "remember", "content": "It ran dry.", "topic": "$t", "entities": ["$n"]},
        {"op": "fact", "text": "It has 10.", "subject": "$n", "attribute": "size"},
        {"op": "concept", "title": "Dry", "summary": "At peaks.", "topic": "$t"},
    ]));
    let (topic, entity) = (id(&done, 0), id(&done, 1));
    assert_eq!(case.field(&id(&done, 2), "topic"), topic.as_str());
    assert_eq!(case.linked(&id(&done, 2), "mentions"), [entity.as_str()]);
    assert_eq!(case.field(&id(&done, 4), "topic"), topic.as_str());
    assert!(case.tree().contains("Foo"));
    assert!(!case.tree().contains('$') && !case.tree().contains(&format!("about {entity}")));
    assert_eq!(
        case.error(json!([{"op": "remember", "content": "x", "topic": "$other"}])),
        "`topic` names `$other`, which no earlier operation declares"
    );
}

#[test]
fn all_names_of_a_thing_have_one_set_of_facts() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "entity", "as": "e", "name": "tool:Postgres"},
        {"op": "alias", "id": "$e", "name": "pg"},
    ]));
    case.fact_of("Postgres", "It has 10.");
    let other = case.fact_of("pg", "It has 20.");
    assert!(other["conflict"].is_string(), "{other}");
    let third = case.fact_of(&id(&done, 0), "It has 30.");
    assert!(third["conflict"].is_string(), "{third}");
}

#[test]
fn what_is_deleted_is_restored_before_it_is_changed() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "concept", "as": "c", "title": "Dry", "summary": "At peaks."},
        {"op": "remember", "as": "e", "content": "It ran dry."},
        {"op": "topic", "as": "t", "name": "Pools"},
        {"op": "entity", "as": "n", "name": "tool:Foo"},
        {"op": "delete", "id": "$c"}, {"op": "delete", "id": "$e"},
        {"op": "delete", "id": "$t"}, {"op": "delete", "id": "$n"},
    ]));
    let [concept, episode, topic, entity] = [0, 1, 2, 3].map(|nth| id(&done, nth));
    for (key, operation) in [
        ("id", json!({"op": "update", "id": concept, "summary": "x"})),
        ("ids", json!({"op": "processed", "ids": [episode]})),
        ("id", json!({"op": "label", "id": concept, "key": "k", "value": "v"})),
        ("id", json!({"op": "alias", "id": entity, "name": "y"})),
        ("id", json!({"op": "pin", "id": concept})),
        ("id", json!({"op": "delete", "id": concept})),
    ] {
        let deleted = operation.get(key).unwrap();
        let deleted = deleted.as_str().or(deleted[0].as_str()).unwrap();
        let why = format!("`{key}` names `{deleted}`, which is deleted; `restore` brings it back");
        assert_eq!(case.error(json!([operation])), why);
    }
    for (key, id) in [("topic", json!(topic)), ("entities", json!([entity]))] {
        let error = case.error(json!([{"op": "remember", "content": "New.", (key): id}]));
        assert!(error.ends_with("which is deleted or replaced"), "{error}");
    }
    case.apply(json!([{"op": "restore", "id": concept}, {"op": "pin", "id": concept}]));
}

#[test]
fn only_what_stands_wins_a_conflict() {
    let case = Case::new();
    case.fact_of("Pool", "It has 10.");
    let second = case.fact_of("Pool", "It has 20.")["fact"].clone();
    let conflict = case.fact_of("Pool", "It has 30.")["conflict"].clone();
    case.apply(json!([{"op": "delete", "id": second}]));
    let error = case.error(json!([{"op": "resolve", "id": conflict, "winner": second}]));
    assert!(error.ends_with("is deleted or replaced; `dismiss` ends the conflict"), "{error}");
}

#[test]
fn a_request_is_the_same_however_its_members_are_ordered() {
    let case = Case::new();
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let one =
        r#"{"key": "k", "operations": [{"op": "remember", "content": "x", "kind": "decision"}]}"#;
    let same =
        r#"{"operations": [{"kind": "decision", "content": "x", "op": "remember"}], "key": "k"}"#;
    let first = case.try_apply(parse(one)).unwrap();
    assert_eq!(case.try_apply(parse(same)), Ok(first));
    case.remember(json!({"key": "r", "content": "y", "kind": "decision"}));
    case.try_remember(parse(r#"{"kind": "decision", "content": "y", "key": "r"}"#)).unwrap();
}

#[test]
fn a_long_chain_of_replacements_leads_to_the_last() {
    let case = Case::new();
    let mut operations = vec![json!({
        "op": "concept", "as": "c0", "title": "Kestrel rota", "summary": "The first."
    })];
    for nth in 1..=40 {
        let (name, title) = (format!("c{nth}"), format!("Number {nth}"));
        operations
            .push(json!({"op": "concept", "as": name, "title": title, "summary": "Another."}));
        let (old, new) = (format!("$c{}", nth - 1), format!("$c{nth}"));
        operations.push(json!({"op": "supersede", "old": old, "new": new}));
    }
    case.apply(operations.into());
    assert_eq!(case.titles(json!({"query": "kestrel rota"}))[0], "Number 40");
}

#[test]
fn a_deleted_episode_leads_to_no_concept() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "entity", "name": "tool:gizmo"},
        {"op": "remember", "as": "e", "content": "It hums.", "entities": ["gizmo"]},
        {"op": "concept", "title": "Hum", "summary": "It does.", "from": ["$e"]},
    ]));
    let asked = json!({"entity": "gizmo"});
    assert_eq!(case.titles(asked.clone()).len(), 2);
    case.apply(json!([{"op": "delete", "id": id(&done, 1)}]));
    assert_eq!(case.titles(asked), [] as [String; 0]);
}

#[test]
fn secrets_are_taken_out_of_the_keys_of_metadata() {
    let case = Case::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let metadata = json!({(format!("token {secret}")): 1, "deep": [{(secret.clone()): "x"}]});
    let kept = case.remember(json!({"content": "One.", "metadata": metadata}));
    case.apply(json!([
        {"op": "remember", "content": "Two.", "metadata": metadata},
        {"op": "update", "id": id(&kept, 0), "metadata": metadata},
    ]));
    assert!(case.field(&id(&kept, 0), "metadata").is_object());
    for bytes in case.bytes() {
        assert!(!bytes.windows(secret.len()).any(|it| it == secret.as_bytes()));
    }
}

#[test]
fn a_value_that_was_edited_away_is_kept_when_it_is_said_again() {
    for edits_fact in [true, false] {
        let case = Case::new();
        let first = case.fact_of("gw", "Port is 1");
        let edited = if edits_fact { &first["fact"] } else { &first["id"] };
        case.apply(json!([{"op": "update", "id": edited, "content": "Port is 2"}]));
        let again = "Port is 1";
        let second = case.fact_of("gw", again);
        assert_eq!(second["created"], true);
        assert_eq!(case.said_of(second["fact"].as_str().unwrap()).0, again);
        assert!(second["conflict"].is_string(), "{second}");
        assert_eq!(case.fact_of("gw", again)["created"], false, "said twice");
    }
}

#[test]
fn parts_of_a_concept_inherit_what_nobody_says_otherwise() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "concept", "as": "whole", "title": "Retries", "summary": "Both.", "topic": "Net",
         "tags": ["net"], "conditions": "Under load.", "exceptions": ["Writes."], "kind": "rule"},
        {"op": "concept", "as": "out", "title": "Backoff", "summary": "Wait."},
        {"op": "concept", "as": "in", "title": "Queues", "summary": "Hold."},
        {"op": "concept", "as": "mine", "title": "Jitter", "summary": "Randomize."},
        {"op": "concept", "as": "old", "title": "Give up", "summary": "At once."},
        {"op": "link", "from": "$whole", "to": "$out", "type": "implies", "strength": 0.7},
        {"op": "link", "from": "$in", "to": "$whole", "type": "causes"},
        {"op": "link", "from": "$whole", "to": "$mine", "type": "part_of"},
        {"op": "link", "from": "$mine", "to": "$whole", "type": "related_to"},
        {"op": "supersede", "old": "$old", "new": "$whole"},
        {"op": "label", "id": "$whole", "key": "team", "value": "a"},
        {"op": "split", "id": "$whole", "assign": {"$mine": "$one"}, "into": [
            {"as": "one", "title": "Retry reads", "summary": "Reads."},
            {"as": "two", "title": "Retry writes", "summary": "Writes."},
        ]},
        {"op": "update", "id": "$two", "tags": ["disk"]},
        {"op": "topic", "name": "Net"},
    ]));
    let [out, inward, mine, old] = [1, 2, 3, 4].map(|nth| id(&done, nth));
    let (two, topic) = (id(&done, 12), id(&done, 13));
    let parts = case.linked(&inward, "causes");
    assert_eq!(parts.len(), 2, "a relation to the whole leads to each part");
    assert_eq!(parts[1], two);
    for part in &parts {
        assert_eq!(case.linked(part, "implies"), [out.as_str()]);
        for (key, value) in [
            ("kind", json!("rule")),
            ("conditions", json!("Under load.")),
            ("exceptions", json!(["Writes."])),
            ("labels", json!({"team": ["a"]})),
            ("topic", json!(topic)),
        ] {
            assert_eq!(case.field(part, key), value, "{key}");
        }
    }
    assert_eq!(case.field(&parts[0], "tags"), json!(["net"]));
    assert_eq!(case.field(&two, "tags"), json!(["disk"]));
    assert_eq!(case.linked(&mine, "related_to"), [parts[0].as_str()], "it was given to one part");
    assert_eq!(case.linked(&parts[0], "part_of"), [mine.as_str()]);
    assert_eq!(case.linked(&two, "part_of"), [""; 0]);
    assert_eq!(case.field(&old, "superseded_by"), parts[0].as_str());
    assert_eq!(case.titles(json!({"query": "give up at once", "k": 1})), ["Retry reads"]);
    case.check_health();
}

#[test]
fn facts_of_a_cluster_that_was_split_stay_facts_of_the_subject() {
    let case = Case::new();
    let small = case.fact_of("Pool", "It has 10.");
    let more = case.remember(json!({
        "content": "Ana owns it.", "kind": "fact", "subject": "Pool", "attribute": "owner",
    }));
    let clusters = case.recall(json!({"query": "facts about pool"}));
    let cluster = clusters["items"][0]["id"].as_str().unwrap().to_owned();
    let assign = json!({
        small["fact"].as_str().unwrap(): "$size",
        more["results"][0]["fact"].as_str().unwrap(): "$owner",
    });
    case.apply(json!([{"op": "split", "id": cluster, "assign": assign, "into": [
        {"as": "owner", "title": "Who owns the pool", "summary": "Owners."},
        {"as": "size", "title": "How large the pool is", "summary": "Sizes."},
    ]}]));
    let found = case.recall(json!({"query": "how large the pool is", "k": 1}))["items"][0].clone();
    assert_eq!(case.field(found["id"].as_str().unwrap(), "confidence"), 1.0, "as the whole");
    let larger = case.fact_of("Pool", "It has 20.");
    assert!(larger["conflict"].is_string(), "{larger}");
    assert_eq!(larger["collisions"][0]["id"], small["fact"]);
}

#[test]
fn a_merge_contests_the_values_that_it_brings_together() {
    for ends in [["Postgres", "pg"], ["pg", "Postgres"]] {
        for of_entities in [true, false] {
            let case = Case::new();
            let first = case.fact_of("Postgres", "It has 10.");
            let second = case.fact_of("pg", "It has 20.");
            assert_eq!(second["conflict"], Value::Null);
            let node = |name: &str| -> String {
                if of_entities {
                    return id(&case.apply(json!([{"op": "entity", "name": name}])), 0);
                }
                let found = case.recall(json!({"query": format!("facts about {name}")}));
                found["items"][0]["id"].as_str().unwrap().to_owned()
            };
            let [from, into] = ends.map(node);
            case.apply(json!([{"op": "merge", "from": [from], "into": into}]));
            for fact in [&first, &second] {
                assert_eq!(
                    case.field(fact["fact"].as_str().unwrap(), "contested"),
                    true,
                    "{ends:?}"
                );
            }
            for subject in ends {
                let again = case.fact_of(subject, &format!("It has 30, says {subject}."));
                assert!(again["conflict"].is_string(), "{ends:?} {again}");
            }
            assert_eq!(case.tree().matches("[conflict]").count(), 1, "{}", case.tree());
            let found = case.facts_told(json!({"query": "facts about postgres pg", "k": 1}));
            assert_eq!(found.len(), 4, "one cluster has all: {found:?}");
            case.check_health();
        }
    }
}

#[test]
fn a_renamed_subject_keeps_its_facts() {
    let case = Case::new();
    case.fact_of("Pool", "It has 10.");
    let entity = id(&case.apply(json!([{"op": "entity", "name": "Pool"}])), 0);
    case.apply(json!([{"op": "update", "id": entity, "title": "Connections"}]));
    for subject in ["Connections", "Pool"] {
        let other = case.fact_of(subject, &format!("It has 20, says {subject}."));
        assert!(other["conflict"].is_string(), "{subject}: {other}");
    }
}

#[test]
fn facts_go_and_come_back_with_their_cluster() {
    let case = Case::new();
    let first = case.fact_of("Pool", "It has 10.");
    let gone = case.fact_of("Pool", "It has 15.");
    case.apply(json!([{"op": "delete", "id": gone["fact"]}]));
    case.clock.advance(1_000);
    let found = case.recall(json!({"query": "facts about pool"}));
    let cluster = found["items"][0]["id"].as_str().unwrap();
    case.apply(json!([{"op": "delete", "id": cluster}]));
    let second = case.fact_of("Pool", "It has 20.");
    assert_eq!(second["conflict"], Value::Null, "the other value is gone");
    case.apply(json!([{"op": "restore", "id": cluster}]));
    for (fact, contested) in [(&first, json!(true)), (&second, json!(true)), (&gone, Value::Null)] {
        assert_eq!(case.field(fact["fact"].as_str().unwrap(), "contested"), contested);
    }
    assert_eq!(case.field(gone["fact"].as_str().unwrap(), "deleted"), true, "deleted by itself");
}

#[test]
fn what_is_restored_joins_the_entity_that_has_its_name_by_now() {
    let case = Case::new();
    let first = case.remember(json!({"content": "`Redis` was slow."}));
    let old = case.linked(&id(&first, 0), "mentions")[0].clone();
    case.apply(json!([{"op": "delete", "id": old}]));
    let second = case.remember(json!({"content": "`Redis` was restarted."}));
    let new = case.linked(&id(&second, 0), "mentions")[0].clone();
    assert_ne!(old, new);
    let done = case.apply(json!([{"op": "restore", "id": old}]));
    assert_eq!(id(&done, 0), new);
    assert_eq!(case.field(&old, "merged_into"), new.as_str());
    assert_eq!(case.titles(json!({"entity": "redis"})).len(), 2);
}

#[test]
fn a_topic_is_not_restored_beside_one_of_its_name() {
    let case = Case::new();
    let old = id(&case.apply(json!([{"op": "topic", "name": "Pools"}])), 0);
    case.apply(json!([{"op": "delete", "id": old}]));
    let new = id(&case.apply(json!([{"op": "topic", "name": "pools"}])), 0);
    assert_ne!(old, new);
    assert_eq!(
        case.error(json!([{"op": "restore", "id": old}])),
        format!("`id` names `{old}`, whose name is that of `{new}` by now; go on with that")
    );
    case.apply(json!([{"op": "delete", "id": new}, {"op": "restore", "id": old}]));
}

#[test]
fn a_name_that_another_has_is_not_given_twice() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "topic", "name": "Pools"}, {"op": "topic", "name": "Other"},
        {"op": "entity", "name": "Redis"}, {"op": "entity", "name": "Kafka"},
    ]));
    let [pools, other, redis, kafka] = [0, 1, 2, 3].map(|nth| id(&done, nth));
    let rename = |id: &str, title: &str| json!([{"op": "update", "id": id, "title": title}]);
    assert_eq!(
        case.error(rename(&other, "POOLS")),
        format!("`title` is the name of `{pools}` already; move what it has there with `update`")
    );
    assert_eq!(
        case.error(rename(&kafka, "redis")),
        format!("`title` is the name of `{redis}` already; `merge` makes them one")
    );
    case.apply(rename(&other, "Wide Nets"));
    let same = case.apply(json!([{"op": "topic", "name": "wide-nets"}]));
    assert_eq!(id(&same, 0), other, "the short name is that of the new title");
}

#[test]
fn accents_are_one_name_however_they_are_encoded() {
    let case = Case::new();
    let (composed, decomposed) = ("Caf\u{e9} M\u{fc}ller", "Cafe\u{301} Mu\u{308}ller");
    let make = |name: &str| {
        let done = case.apply(json!([
            {"op": "topic", "name": name}, {"op": "entity", "name": name},
        ]));
        [id(&done, 0), id(&done, 1)]
    };
    assert_eq!(make(composed), make(decomposed));
    case.remember(json!({"content": format!("`{decomposed}` was slow."), "topic": decomposed}));
    case.remember(json!({"content": format!("Today {decomposed} was open.")}));
    assert_eq!(case.titles(json!({"entity": composed})).len(), 2);
    assert_eq!(case.titles(json!({"topic": composed})).len(), 1);
    let fact = |subject: &str, attribute: &str, text: &str| {
        case.remember(json!({
            "content": text, "kind": "fact", "subject": subject, "attribute": attribute,
        }))["results"][0]
            .clone()
    };
    fact(composed, "gr\u{f6}\u{df}e", "It has 10 seats.");
    let second = fact(decomposed, "gro\u{308}\u{df}e", "It has 20 seats.");
    assert!(second["conflict"].is_string(), "{second}");
}

#[test]
fn what_a_former_text_named_is_not_made_again() {
    let case = Case::new();
    let said = case.remember(json!({"content": "`redis` is slow."}));
    let entities = || case.memory.read(entities_document).unwrap()["entities"].clone();
    case.apply(json!([{"op": "delete", "id": entities()[0]["id"]}]));
    assert_eq!(entities(), json!([]));
    case.apply(json!([
        {"op": "update", "id": said["results"][0]["id"], "content": "It is slow."},
    ]));
    assert_eq!(entities(), json!([]));
}

#[test]
fn a_split_answers_with_the_ids_of_its_parts() {
    let case = Case::new();
    let operations = json!([
        {"op": "concept", "as": "whole", "title": "Retries", "summary": "Both."},
        {"op": "split", "id": "$whole", "assign": {}, "into": [
            {"as": "one", "title": "Retry reads", "summary": "Reads."},
            {"as": "two", "title": "Retry writes", "summary": "Writes."},
        ]},
    ]);
    let request = json!({"operations": operations, "key": "split-1"});
    let done = case.try_apply(request.clone()).unwrap();
    let parts = done["results"][1]["parts"].as_array().unwrap();
    let titles: Vec<Value> =
        parts.iter().map(|it| case.field(it["id"].as_str().unwrap(), "title")).collect();
    assert_eq!(titles, [json!("Retry reads"), json!("Retry writes")]);
    assert_eq!((&parts[0]["as"], &parts[1]["as"]), (&json!("one"), &json!("two")));
    let again = case.try_apply(request).unwrap();
    assert_eq!(again["results"], done["results"], "a receipt keeps them");
}

#[test]
fn no_part_took_in_what_was_merged_before_the_split() {
    let case = Case::new();
    case.apply(json!([
        {"op": "concept", "as": "from", "title": "Boats sink", "summary": "In storms."},
        {"op": "concept", "as": "into", "title": "Ships", "summary": "They go down."},
        {"op": "merge", "from": ["$from"], "into": "$into"},
        {"op": "split", "id": "$into", "assign": {}, "into": [
            {"as": "one", "title": "Ferries", "summary": "F."},
            {"as": "two", "title": "Tankers", "summary": "T."},
        ]},
    ]));
    let why = case.recall(json!({"query": "boats sink in storms"}))["items"][0]["why"].clone();
    assert!(why.as_str().unwrap().starts_with("has a part of \"Boats sink\""), "{why}");
}
