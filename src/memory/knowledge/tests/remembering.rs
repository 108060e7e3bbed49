use super::*;
use crate::memory::edits::ForgetChildrenMode;

#[test]
fn an_episode_is_a_node_of_the_log_with_what_it_mentions() {
    let case = Case::new();
    let answer = case.remember(json!({
        "content": "`Redis` timed out in src/cache.rs, says @ana",
        "kind": "decision",
        "topic": "Payments",
    }));
    assert_eq!(answer["results"][0]["created"], true);
    assert_eq!(
        answer["results"][0]["entities"],
        json!(["subject:Redis", "file:src/cache.rs", "person:ana"])
    );
    assert_eq!((&answer["snapshot"], &answer["pending"]), (&json!(1), &json!(1)));
    assert!(answer["hint"].is_null(), "{answer}");
    let tree = case.tree();
    for label in ["@log", "2026-11-23", "@topics", "Payments", "@entities", "person"] {
        assert!(tree.contains(label), "{label} is not in\n{tree}");
    }
}

#[test]
fn the_same_again_is_the_old_one() {
    let case = Case::new();
    let item = json!({"content": "Retries help.", "topic": "payments"});
    let first = case.remember(item.clone());
    let again = case.remember(item);
    assert_eq!(id(&first, 0), id(&again, 0));
    assert_eq!(again["results"][0]["created"], false);
    assert_eq!((&again["snapshot"], &again["pending"]), (&Value::Null, &json!(1)));
    let other = case.remember(json!({"content": "Retries help.", "kind": "decision"}));
    assert_ne!(id(&first, 0), id(&other, 0));
}

#[test]
fn several_things_are_one_snapshot() {
    let case = Case::new();
    let answer = case.remember(json!({"items": [
        {"content": "One.", "topic": "a"},
        {"content": "Two.", "kind": "question"},
        {"content": "I like tabs.", "kind": "core", "tags": ["style"], "importance": "high"},
        {"content": "One.", "topic": "A"},
    ]}));
    assert_eq!((&answer["snapshot"], &answer["pending"]), (&json!(1), &json!(2)));
    assert_eq!(id(&answer, 0), id(&answer, 3));
    let created: Vec<&Value> =
        answer["results"].as_array().unwrap().iter().map(|it| &it["created"]).collect();
    assert_eq!(created, [true, true, true, false]);
}

#[test]
fn a_key_replays_its_answer_and_refuses_another_request() {
    let case = Case::new();
    let item = json!({"content": "Deployed v2.", "key": "deploy-2"});
    let first = case.remember(item.clone());
    case.remember(json!({"content": "Something else."}));
    let again = case.remember(item);
    assert_eq!(again["results"], first["results"]);
    assert_eq!(again["snapshot"], first["snapshot"]);
    case.refused(
        json!({"content": "Deployed v3.", "key": "deploy-2"}),
        "`key` \"deploy-2\" was used for another request; take a new one",
    );
    case.memory.rollback(1, false).unwrap();
    assert_eq!(case.remember(json!({"content": "Deployed v2.", "key": "deploy-2"})), {
        let mut first = first;
        first["pending"] = 1.into();
        first
    });
}

#[test]
fn an_undone_request_can_be_made_again() {
    let case = Case::new();
    case.remember(json!({"content": "Before."}));
    let item = json!({"content": "Deployed v2.", "key": "deploy-2"});
    case.remember(item.clone());
    case.memory.rollback(1, false).unwrap();
    let again = case.remember(item);
    assert_eq!((&again["results"][0]["created"], &again["pending"]), (&json!(true), &json!(2)));
}

#[test]
fn pending_episodes_are_told_of() {
    let case = Case::new();
    let items: Vec<Value> = (0..5).map(|nth| json!({"content": format!("Event {nth}.")})).collect();
    let answer = case.remember(json!({"items": items}));
    assert_eq!(answer["pending"], 5);
    assert!(answer["hint"].as_str().unwrap().contains("MemoryReview"), "{answer}");
}

#[test]
fn refusals_name_the_argument() {
    let case = Case::new();
    case.remember(json!({"content": "Something."}));
    case.refused(json!({}), "`content` is missing");
    case.refused(json!({"content": " "}), "`content` is blank");
    case.refused(
        json!({"content": "a", "kind": "rumour"}),
        "`kind` must be core, learning, task or one of observation, decision, question, meta, \
         preference, outcome, fact",
    );
    case.refused(
        json!({"content": "a", "subject": "b"}),
        "`subject` belongs to the kinds fact, and the kind is observation",
    );
    case.refused(
        json!({"content": "a", "kind": "fact", "attribute": "b"}),
        "`attribute` needs a `subject`",
    );
    case.refused(
        json!({"items": [{"content": "a"}, {"content": "b", "confidence": 2}]}),
        "`items[1].confidence` must be a number from 0 to 1, not 2",
    );
    case.refused(
        json!({"items": [{"content": "a"}], "content": "b"}),
        "`content` belongs into `items`; give `content` or `items`, not both",
    );
    case.refused(
        json!({"content": "a", "kind": "core", "topic": "b"}),
        "`topic` belongs to episodes, and the kind is core",
    );
    case.refused(
        json!({"items": [{"content": "a"}, {"content": "b", "topic": "!!"}]}),
        "`topic` has neither letters nor digits",
    );
}

#[test]
fn two_values_for_one_key_open_exactly_one_conflict() {
    let case = Case::new();
    let fact = |text: &str| {
        case.remember(json!({
            "content": text, "kind": "fact", "subject": "Cache", "attribute": "timeout",
        }))
    };
    let first = fact("The cache timeout is 30 s.");
    assert!(first["results"][0]["conflict"].is_null(), "{first}");
    assert_eq!(first["pending"], 0, "a fact needs no consolidation");
    let second = fact("The cache timeout is 45 s.");
    let conflict = &second["results"][0]["conflict"];
    assert!(conflict.is_string(), "{second}");
    assert_eq!(
        second["results"][0]["collisions"],
        json!([{
            "id": first["results"][0]["fact"], "text": "The cache timeout is 30 s.",
        }])
    );
    let third = fact("The cache timeout is 60 s.");
    assert_eq!(&third["results"][0]["conflict"], conflict);
    let again = fact("The cache timeout is 45 s.");
    assert_eq!(again["results"][0]["fact"], second["results"][0]["fact"]);
    assert_eq!(again["results"][0]["created"], false);
    assert_eq!(case.tree().matches("[conflict]").count(), 1, "{}", case.tree());
}

#[test]
fn a_fact_that_supersedes_opens_no_conflict() {
    let case = Case::new();
    let fact = |text: &str, supersede: bool| {
        case.remember(json!({
            "content": text, "kind": "fact", "subject": "Cache", "attribute": "timeout",
            "supersede": supersede,
        }))
    };
    let first = fact("It is 30 s.", false);
    let second = fact("It is 45 s.", true);
    assert!(second["results"][0]["conflict"].is_null(), "{second}");
    let third = fact("It is 30 s.", true);
    assert_eq!(third["results"][0]["created"], true, "it holds again");
    assert_ne!(third["results"][0]["fact"], first["results"][0]["fact"]);
}

#[test]
fn other_values_without_an_attribute_are_a_conflict_of_low_severity() {
    let case = Case::new();
    let fact = |text: &str| case.remember(json!({"content": text, "kind": "fact"}));
    fact("The request timeout of `gateway` is 30 s.");
    let second = fact("Request timeout of `gateway`: 45 s.");
    assert!(second["results"][0]["conflict"].is_string(), "{second}");
    let third = fact("`gateway` was written by @ana.");
    assert!(third["results"][0]["conflict"].is_null(), "{third}");
    assert!(third["results"][0]["fact"].is_string(), "{third}");
}

#[test]
fn secrets_are_replaced_before_anything_is_derived() {
    let case = Case::new();
    const SECRET: &str = "AKIAQ7RM2XNVT5WZ3KLD";
    case.remember(json!({
        "content": format!("the key `{SECRET}` leaked"), "title": SECRET, "topic": SECRET,
        "entities": [SECRET], "metadata": {"key": [SECRET]}, "asserted_by": SECRET,
        "source_ref": SECRET,
    }));
    let bytes = std::fs::read(case.folder.path().join("memory.db")).unwrap();
    let log = std::fs::read(case.folder.path().join("memory.db-wal")).unwrap();
    let has = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes());
    assert!(!has(&bytes) && !has(&log));
}

#[test]
fn undoing_takes_everything_back() {
    let case = Case::new();
    case.remember(json!({"content": "Before.", "topic": "a"}));
    let before = case.tree();
    case.remember(
        json!({"content": "`X` is 3 s", "kind": "fact", "subject": "X", "attribute": "t"}),
    );
    case.remember(
        json!({"content": "`X` is 4 s", "kind": "fact", "subject": "X", "attribute": "t"}),
    );
    case.memory.rollback(1, false).unwrap();
    assert_eq!(case.tree(), before);
}

#[test]
fn a_fact_that_was_forgotten_is_stated_when_it_is_said_again() {
    let case = Case::new();
    let jug = |text: &str| {
        let item = json!({"content": text, "kind": "fact", "subject": "jug", "attribute": "size"});
        case.remember(item)["results"][0].clone()
    };
    let first = jug("The jug holds one litre.");
    let forgotten = first["fact"].as_str().unwrap();
    case.memory.forget(forgotten, ForgetChildrenMode::Strict).unwrap();
    let again = jug("The jug holds one litre.");
    assert!(again["fact"].is_string(), "{again}");
    assert_eq!(jug("The jug holds one litre.")["created"], false);
    assert!(jug("The jug holds two litres.")["conflict"].is_string());
}

#[test]
fn mentions_are_the_episodes_that_mention_an_entity() {
    let case = Case::new();
    let n_mentions = || {
        let entities = case.memory.read(entities_document).unwrap();
        entities["entities"][0]["mentions"].clone()
    };
    case.remember(json!({"content": "`Redis` is slow.", "kind": "fact", "subject": "Redis"}));
    assert_eq!(n_mentions(), 1, "the fact is what the episode states");
    let other = id(&case.remember(json!({"content": "`Redis` was restarted."})), 0);
    assert_eq!(n_mentions(), 2);
    case.apply(json!([{"op": "delete", "id": other}]));
    assert_eq!(n_mentions(), 1);
}
