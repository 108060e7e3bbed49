use super::*;

#[track_caller]
fn check(text: &str, found: &[&str]) {
    let entities: Vec<String> =
        marked_entities(text).iter().map(|it| format!("{}:{}", it.kind, it.name)).collect();
    assert_eq!(entities, found);
}

#[test]
fn marks_name_entities() {
    check("`Redis` is slow, said @ana.", &["subject:Redis", "person:ana"]);
    check(
        "see src/main.rs and https://example.org/a/",
        &["file:src/main.rs", "other:example.org/a"],
    );
    check(
        "`parse()` of `RateLimiter` in `store::batch`",
        &["function:parse()", "class:RateLimiter", "module:store::batch"],
    );
    check("nothing is named here: and/or, 3.5, a@b", &[]);
}

#[test]
fn equal_names_are_one_entity() {
    check("`Redis`, `redis` and `tool: Redis `", &["subject:Redis"]);
}

#[test]
fn a_kind_before_a_colon_counts() {
    let parsed = |text: &str| NamedEntity::parse(text).map(|it| (it.kind, it.name));
    assert_eq!(parsed("tool: Redis"), Some(("tool", "Redis".to_owned())));
    assert_eq!(parsed("Role: person:  Ana  B"), Some(("person", "Ana B".to_owned())));
    assert_eq!(parsed("std::fs"), Some(("module", "std::fs".to_owned())));
    assert_eq!(parsed("  "), None);
}

#[test]
fn runs_of_words_are_possible_names() {
    let names: Vec<String> = possible_names("The Rate Limiter, v2").into_iter().collect();
    assert_eq!(
        names,
        [
            "limiter",
            "limiter v2",
            "rate",
            "rate limiter",
            "rate limiter v2",
            "the",
            "the rate",
            "the rate limiter",
        ]
    );
}

#[test]
fn possible_names_keep_the_signs_of_languages_and_marks_without_a_letter_of_their_own() {
    let names: Vec<String> = possible_names("C++ (F#), #tag: x\u{302}yz").into_iter().collect();
    assert_eq!(
        names,
        [
            "c++",
            "c++ f#",
            "c++ f# tag",
            "f# tag",
            "f# tag x\u{302}yz",
            "tag",
            "tag x\u{302}yz",
            "x\u{302}yz"
        ]
    );
}
