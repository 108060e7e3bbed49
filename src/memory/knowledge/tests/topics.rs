//! Tests of topics: which names are one topic, wherever a name is given.

use super::*;

/// Names that have one run of letters and are different topics.
const NAMES: [&str; 4] = ["C++", "C", "C#", "C\u{302}"];

impl Case {
    /// A memory with an episode of each of [`NAMES`].
    fn of_languages() -> Case {
        let case = Case::new();
        for name in NAMES {
            case.remember(json!({"content": format!("Kestrels compile {name}."), "topic": name}));
        }
        case
    }

    fn topics(&self) -> Vec<(String, String)> {
        let topics = self.memory.read(topics_document).unwrap();
        let text = |it: &Value| it.as_str().unwrap().to_owned();
        let topics = topics["topics"].as_array().unwrap().iter();
        topics.map(|it| (text(&it["name"]), text(&it["slug"]))).collect()
    }

    /// The texts of what a topic has.
    fn texts_of(&self, topic: &str) -> Vec<String> {
        let items = self.recall(json!({"topic": topic}))["items"].clone();
        let items = items.as_array().unwrap().iter();
        items.map(|it| it["text"].as_str().unwrap().to_owned()).collect()
    }

    #[track_caller]
    fn check_languages(&self) {
        let topics = self.topics();
        assert_eq!(topics.len(), NAMES.len(), "{topics:?}");
        for (name, slug) in topics {
            for given in [name.as_str(), &slug, &name.to_lowercase()] {
                assert_eq!(self.texts_of(given), [format!("Kestrels compile {name}.")], "{given}");
            }
        }
    }
}

#[test]
fn names_that_differ_in_signs_or_marks_are_different_topics() {
    let case = Case::of_languages();
    case.check_languages();
    let slugs = case.topics();
    let carried = case.carried();
    carried.check_languages();
    assert_eq!(carried.topics(), slugs, "slugs are the same in every memory");
}

#[test]
fn a_name_means_one_topic_in_every_operation() {
    let case = Case::of_languages();
    let topics = || case.topics().len();
    case.apply(json!([{"op": "topic", "name": "c#", "description": "Not C."}]));
    case.apply(json!([{"op": "concept", "title": "Sharp", "summary": "S.", "topic": "C#"}]));
    case.apply(json!([{"op": "fact", "text": "It has 4.", "subject": "keys", "topic": "c++"}]));
    assert_eq!(topics(), NAMES.len());
    let sheet = case.review(json!({"task": "consolidate", "topic": "C#"}));
    assert_eq!(sheet["topic"]["name"], "C#");
    assert_eq!(sheet["pending"]["total"], 1);
}

#[test]
fn a_topic_can_have_a_name_whose_letters_are_those_of_another() {
    let case = Case::new();
    let done = case.apply(json!([
        {"op": "topic", "name": "C"}, {"op": "topic", "name": "Rust"},
    ]));
    let (first, second) = (id(&done, 0), id(&done, 1));
    case.apply(json!([{"op": "update", "id": second, "title": "C++"}]));
    assert!(case.error(json!([{"op": "update", "id": second, "title": "c"}])).contains(&first));
    case.apply(json!([{"op": "update", "id": second, "title": "Cpp"}]));
    case.apply(json!([{"op": "delete", "id": first}]));
    let made = id(&case.apply(json!([{"op": "topic", "name": "C"}])), 0);
    assert!(![first, second.clone()].contains(&made));
    for former in ["Rust", "C++"] {
        assert_eq!(id(&case.apply(json!([{"op": "topic", "name": former}])), 0), second);
    }
}

#[test]
fn spellings_of_a_name_are_one_topic() {
    let case = Case::new();
    for name in
        ["Night work", "night-work", "NIGHT_work", " night  work ", "Cafe\u{301}", "caf\u{e9}"]
    {
        case.apply(json!([{"op": "topic", "name": name}]));
    }
    let topics = [("Night work", "night-work"), ("Cafe\u{301}", "caf\u{e9}")];
    assert_eq!(case.topics(), topics.map(|(name, slug)| (name.to_owned(), slug.to_owned())));
}

impl Case {
    /// A topic with a concept; returns their ids.
    fn topic_with_concept(&self) -> [String; 2] {
        let made = self.apply(json!([
            {"op": "topic", "name": "Pay", "as": "t"},
            {"op": "concept", "title": "Old way", "summary": "Cash is paid.", "topic": "$t"},
        ]));
        [0, 1].map(|nth| id(&made, nth))
    }
}

#[test]
fn a_topic_keeps_its_superseded_concepts_from_being_deleted_with_it() {
    let case = Case::new();
    let [topic, old] = case.topic_with_concept();
    case.apply(json!([
        {"op": "concept", "title": "New way", "summary": "Cards pay.", "as": "new"},
        {"op": "supersede", "old": old, "new": "$new"},
    ]));
    let delete = json!({"operations": [{"op": "delete", "id": topic}]});
    let refused = MemoryError::from(case.try_apply(delete.clone()).unwrap_err());
    assert!(refused.message.contains("1 concepts and 0 episodes"), "{refused:?}");
    case.apply(json!([{"op": "update", "id": old, "topic": ""}]));
    case.try_apply(delete).unwrap();
}

#[test]
fn a_deleted_topic_comes_back_with_what_was_in_it() {
    let case = Case::new();
    let [topic, concept] = case.topic_with_concept();
    case.apply(json!([{"op": "delete", "id": concept}, {"op": "delete", "id": topic}]));
    assert_eq!(case.topics(), []);
    case.apply(json!([{"op": "restore", "id": concept}]));
    assert_eq!(case.topics(), [("Pay".to_owned(), "pay".to_owned())]);
    assert_eq!(case.texts_of("Pay"), ["Cash is paid."]);
}

#[test]
fn a_restored_concept_goes_to_the_topic_that_has_the_name_by_now() {
    let case = Case::new();
    let [topic, concept] = case.topic_with_concept();
    case.apply(json!([
        {"op": "delete", "id": concept}, {"op": "delete", "id": topic},
        {"op": "topic", "name": "Pay"},
    ]));
    case.apply(json!([{"op": "restore", "id": concept}]));
    assert_eq!(case.topics().len(), 1);
    assert_eq!(case.texts_of("Pay"), ["Cash is paid."]);
    let deleted = case.field(&topic, "deleted");
    assert_eq!(deleted, true);
    crate::maintenance::doctor::assert_healthy(&case.folder.path().join("memory.db"));
}
