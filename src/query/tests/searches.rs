//! Tests for searches: hits and their layout.

use super::*;

#[test]
fn the_best_hit_is_the_first_line() {
    let reader = Sketch::of(NOTES);
    check(
        &reader,
        &label("rate limit"),
        None,
        expect![[r#"
            [heading] Rate limits (id=6l9WlgUKpM7 file=docs/limits.md score=0.65 temp=0.50 tok=2)
            [text] Requests are limited: the rate-limit is 100 a minute. (id=HoIgyuTwbmK file=docs/limits.md score=0.55 temp=0.50 tok=13)
            [list] - C++ (id=84AoZaPAU3j file=docs/limits.md score=0.44 temp=0.50 tok=6)
            [text] What's up? Not much. (id=3rjw82xWzLo file=docs/limits.md score=0.35 temp=0.50 tok=7)"#]],
    );
    check(
        &reader,
        &label("zebra"),
        None,
        expect![
            "no results: nothing has these words; try fewer or other ones, or MemoryTree for the outline"
        ],
    );
}

#[test]
fn a_blank_query_is_an_error_that_says_what_to_give() {
    let reader = Sketch::of(NOTES);
    for query in ["", " \n"] {
        let error = search(&reader, &label(query)).unwrap_err().to_string();
        assert!(error.starts_with("`query` is empty; give the words to look for"), "{error}");
    }
}

#[test]
fn every_odd_query_is_answered() {
    let reader = Sketch::of(NOTES);
    for query in [
        "what's up?",
        "rate-limit",
        "C++",
        "C",
        "NOT NULL",
        "a/b",
        "\"",
        "\0",
        "lease\0lock",
        "日本語",
        "本",
        "検索",
        "AND",
        "OR OR",
        "NEAR(",
        "NEAR(a b",
        "(lease",
        "lease)",
        "label:",
        "label:rate",
        "-label:rate",
        "{label trail} : rate",
        "^lease",
        "lease*",
        "*",
        "''",
        "; DROP",
        "rate AND",
        "lease AND (lock OR",
        "a:b:c",
        "\u{fffd}",
        "\u{10ffff}",
        "--",
        "/*",
    ] {
        let answer = search(&reader, &label(query)).unwrap();
        assert!(!answer.text.is_empty());
    }
    let found = |query| search(&reader, &label(query)).unwrap().text;
    assert!(found("what's up?").contains("[text] What's up? Not much. (id="));
    for query in ["日本語", "本語", "語", "テキスト", "日本語 zebra"] {
        assert!(found(query).contains("日本語テキスト"), "{query}");
    }
    for query in ["C++", "a/b", "C#"] {
        assert!(found(query).contains("C++"), "{query}: {}", found(query));
    }
}

#[test]
fn operators_are_honoured_where_they_parse() {
    let reader = Sketch::of(NOTES);
    let n_hits = |query| found(&reader, &label(query))["matches"].clone();
    assert_eq!(n_hits("lease AND lock"), 1);
    assert_eq!(n_hits("lease AND timeout"), 0);
    assert_eq!(n_hits("lease OR timeout"), 2);
    assert_eq!(n_hits("paragraph NOT lease"), 0);
    assert_eq!(n_hits("label : never"), 0);
    assert_eq!(n_hits("NEAR(lease lock, 3)"), 1);
    // An expression that does not parse is read as words.
    assert_eq!(n_hits("(lease AND timeout"), 2);
}

#[test]
fn a_type_is_a_filter_and_no_text() {
    let reader = Sketch::of(NOTES);
    let n_hits = |query: &SearchQuery<'_>| found(&reader, query)["matches"].clone();
    assert_eq!(n_hits(&label("heading")), 0);
    let filter = NodeFilter { node_type: Some(NodeType::Heading), ..NodeFilter::default() };
    let query = SearchQuery { filter, ..label("rate limits") };
    assert_eq!(n_hits(&query), 1);
}

#[test]
fn details_follow_their_hit() {
    let reader = Sketch::of(NOTES);
    let query = SearchQuery { detail: Detail::Snippet, limit: Some(2), ..label("timeouts lease") };
    check(
        &reader,
        &query,
        None,
        expect![[r#"
            # a.md / Alpha / Beta
            5N109tgyWXQ The timeout is thirty seconds. It never changes.
            # a.md / Alpha
            EKqTrLiHoYm One paragraph about the lease of a lock.
        "#]],
    );
    let query = SearchQuery { detail: Detail::Full, limit: Some(2), ..label("timeouts lease") };
    check(
        &reader,
        &query,
        None,
        expect![[r#"
            # a.md / Alpha / Beta
            5N109tgyWXQ The timeout is thirty seconds.
             It never changes.
            # a.md / Alpha
            EKqTrLiHoYm One paragraph about the lease of a lock.
        "#]],
    );
}

#[test]
fn hits_beyond_the_budget_are_counted() {
    let reader = Sketch::of(NOTES);
    check(
        &reader,
        &label("rate lease timeout"),
        Some(90),
        expect![[r#"
            [text] The timeout is thirty seconds. (id=5N109tgyWXQ file=a.md score=0.65 temp=0.50 tok=10)
            [text] One paragraph about the lease of a lock. (id=EKqTrLiHoYm file=a.md score=0.63 temp=0.50 tok=9)
            … 5 more hits, 206 tokens"#]],
    );
    check(&reader, &label("rate lease timeout"), Some(12), expect!["… 7 more hits, 245 tokens"]);
    check(&reader, &label("rate lease timeout"), Some(1), expect!["…"]);
    let full = SearchQuery { detail: Detail::Full, ..label("timeout") };
    check(
        &reader,
        &full,
        Some(50),
        expect![[r#"
            # a.md / Alpha / Beta
            5N109tgyWXQ The timeout is thirty seconds.
             It never changes.
        "#]],
    );
}
