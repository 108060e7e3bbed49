//! Tests of changesets that change what is there: merged, deleted, renamed, contested.

use super::*;
use crate::maintenance::doctor;

impl Case {
    #[track_caller]
    fn check_health(&self) {
        doctor::assert_healthy(&self.folder.path().join("memory.db"));
    }

    fn fact_of(&self, subject: &str, value: &str) -> Value {
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
        let (edited, again) = match edits_fact {
            true => (&first["fact"], "Port is 1"),
            false => (&first["id"], "Port is 2"),
        };
        case.apply(json!([{"op": "update", "id": edited, "content": "Port is 2"}]));
        let second = case.fact_of("gw", again);
        assert_eq!(second["created"], true);
        assert_eq!(case.said_of(second["fact"].as_str().unwrap()).0, again);
        assert!(second["conflict"].is_string(), "{second}");
        assert_eq!(case.fact_of("gw", again)["created"], false, "said twice");
    }
}
