use serde_json::json;

use super::*;

/// Returns how the topic of a title has a name, with the hashes that it is kept with.
fn matched(text: &str, title: &str) -> Option<TopicNameMatch> {
    let hashes = json!([name_key(title), name_key(&topic_slug(title))]);
    TopicNameOrSlug::of(text).match_with(title, Some(&hashes))
}

#[track_caller]
fn check_same(a: &str, b: &str) {
    for (text, title) in [(a, b), (b, a)] {
        assert_eq!(matched(text, title), Some(TopicNameMatch::Name), "{text:?} and {title:?}");
    }
    assert_eq!(topic_slug(a), topic_slug(b));
}

#[track_caller]
fn check_different(a: &str, b: &str) {
    for (text, title) in [(a, b), (b, a)] {
        assert_eq!(matched(text, title), None, "{text:?} and {title:?}");
    }
    assert_ne!(topic_slug(a), topic_slug(b));
}

#[test]
fn names_that_differ_in_case_separators_or_composition_are_one_topic() {
    check_same("Recall ranking", "recall-RANKING");
    check_same("  recall _ ranking", "recall_ranking");
    check_same("caf\u{e9}", "CAFE\u{301}");
}

#[test]
fn other_names_are_different_topics() {
    for (a, b) in [("C", "C++"), ("C", "C#"), ("C++", "C#"), ("C", "C--"), ("R&D", "R D")] {
        check_different(a, b);
    }
    check_different("x", "x\u{302}");
    check_different("cafe", "caf\u{e9}");
}

#[test]
fn slugs_are_letters_digits_and_hyphens() {
    assert_eq!(topic_slug("  Night  Work_2 "), "night-work-2");
    assert_eq!(topic_slug("Größe"), "größe");
    assert_eq!(topic_slug("हिन्दी"), "हिन्दी");
    assert_eq!(topic_slug("C++"), "c-6b2746");
}

#[test]
fn slugs_lead_to_their_topics() {
    for title in ["Night work", "C++", "Payments & Refunds!", "!", &"Ab+ ".repeat(60)] {
        let slug = topic_slug(title);
        assert!(slug.chars().count() <= SLUG_CHARS_MAX, "{slug}");
        assert_eq!(topic_slug(&slug), slug);
        assert!(matched(&slug, title).is_some_and(|it| it <= TopicNameMatch::Slug), "{slug}");
    }
}

#[test]
fn topics_of_earlier_builds_have_the_slugs_of_their_titles_and_no_names_of_others() {
    let hashes = json!([name_key("C++"), name_key("c")]);
    let slug = TopicNameOrSlug::of(&topic_slug("C++"));
    assert!(slug.keys().iter().any(|key| hashes.as_array().unwrap().contains(&json!(key))));
    assert_eq!(slug.match_with("C++", Some(&hashes)), Some(TopicNameMatch::Slug));
    assert_eq!(TopicNameOrSlug::of("C").match_with("C++", Some(&hashes)), None);
}

#[test]
fn former_names_go_on_leading_to_a_topic() {
    let hashes = json!([name_key("Refunds"), name_key("Money Back")]);
    let former = |text: &str| TopicNameOrSlug::of(text).match_with("Refunds", Some(&hashes));
    assert_eq!(former("money back"), Some(TopicNameMatch::Former));
    assert_eq!(former("money"), None);
}
