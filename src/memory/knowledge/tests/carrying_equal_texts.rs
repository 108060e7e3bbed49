//! Tests of statements with equal texts: they are told apart by what they are about.

use super::*;

fn fact(text: &str, subject: &str, attribute: &str) -> Value {
    json!({"content": text, "kind": "fact", "subject": subject, "attribute": attribute})
}

impl Case {
    /// Every fact: its subject, its attribute, its text and its end, in order.
    fn statements(&self) -> Vec<String> {
        let found = self.memory.read(|reader| {
            let keys = reader.nodes_with(&[FieldFilter::text("type", "fact")])?;
            reader.knowledge(&keys)
        });
        let shown = |it: crate::store::reader::KnowledgeRow| {
            let [subject, attribute] =
                ["subject", "attribute"].map(|key| it.text(key).unwrap_or("-").to_owned());
            let end = it.time("valid_to").map_or("now".to_owned(), UnixMillis::day);
            format!("{subject} / {attribute}: {} until {end}", it.content)
        };
        let mut statements: Vec<String> = found.unwrap().into_iter().map(shown).collect();
        statements.sort();
        statements
    }
}

#[track_caller]
fn check_carried(case: &Case) {
    let carried = case.carried();
    for there in [&carried, &carried.carried()] {
        assert_eq!(there.statements(), case.statements());
        for file in [case, there] {
            let again = there.import(&file.export());
            assert_eq!((again.snapshot, &again.kept[..]), (None, &[][..]));
        }
        crate::maintenance::doctor::assert_healthy(&there.folder.path().join("memory.db"));
    }
}

#[test]
fn equal_texts_about_several_things_are_carried() {
    let case = Case::new();
    for (subject, attribute) in [
        ("door", "colour"),
        ("wall", "colour"),
        ("floor", "colour"),
        ("door", "paint"),
        ("wall", "paint"),
    ] {
        case.remember(fact("It is red", subject, attribute));
    }
    let mut of_june = fact("It is green", "door", "colour");
    of_june["valid_from"] = "2026-05-01".into();
    of_june["valid_to"] = "2026-06-01".into();
    case.remember(of_june.clone());
    of_june["valid_from"] = "2025-05-01".into();
    of_june["valid_to"] = "2025-06-01".into();
    case.apply(json!([{"op": "fact", "text": "It is green", "subject": "gate",
        "attribute": "colour", "valid_from": "2025-05-01", "valid_to": "2025-06-01"}]));
    assert_eq!(case.statements().len(), 7);
    check_carried(&case);
}

#[test]
fn an_equal_text_of_another_memory_is_a_statement_of_its_own() {
    let case = Case::new();
    case.remember(fact("30 s", "bank", "timeout"));
    let other = Case::new();
    other.clock.advance(1_000);
    other.remember(fact("30 s", "cache", "ttl"));
    let file = other.export();
    case.import(&file);
    let both = ["bank / timeout: 30 s until now", "cache / ttl: 30 s until now"];
    assert_eq!(case.statements(), both);
    assert_eq!(case.import(&file).snapshot, None);
    assert_eq!(case.import(&case.export()).snapshot, None);
    check_carried(&case);
}

#[test]
fn what_two_memories_say_alike_is_one_statement() {
    let [case, other] = [0, 1_000].map(|later| {
        let case = Case::new();
        case.clock.advance(later);
        case.remember(fact("30 s", "bank", "timeout"));
        case
    });
    case.import(&other.export());
    assert_eq!(case.statements(), ["bank / timeout: 30 s until now"]);
}

#[test]
fn equal_texts_of_several_topics_and_kinds_are_carried() {
    let case = Case::new();
    for (topic, kind) in [("A", "observation"), ("B", "observation"), ("A", "decision")] {
        case.remember(json!({"content": "Went well", "topic": topic, "kind": kind}));
    }
    let told = |case: &Case| {
        let topics = case.memory.read(topics_document).unwrap()["topics"].clone();
        let topics = topics.as_array().unwrap().iter();
        let mut told: Vec<Value> = topics.map(|it| json!([it["name"], it["episodes"]])).collect();
        told.sort_by_key(Value::to_string);
        told
    };
    assert_eq!(told(&case), [json!(["A", 2]), json!(["B", 1])]);
    assert_eq!(told(&case.carried()), told(&case));
}
