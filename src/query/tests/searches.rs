//! Tests for searches: hits and their layout.

use super::*;

#[test]
fn the_best_hit_is_the_first_line() {
    let reader = TestDatabaseBuilder::of(NOTES);
    check(
        &reader,
        &label("rate limit"),
        None,
        expect![[r#"
            [heading] Rate limits (id=H4p7DFee5JP file=docs/limits.md score=0.65 relevance=1.00 temp=0.50 tok=2)
            [text] Requests are limited: the rate-limit is 100 a minute. (id=H4p8qhvwfHc file=docs/limits.md score=0.55 relevance=1.00 temp=0.50 tok=13)
            [list] - C++ (id=H4p7H0TwKNz file=docs/limits.md score=0.44 relevance=1.00 temp=0.50 tok=6)
            [text] What's up? Not much. (id=H4p6lANpMOi file=docs/limits.md score=0.35 relevance=1.00 temp=0.50 tok=7)"#]],
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
    let reader = TestDatabaseBuilder::of(NOTES);
    for query in ["", " \n"] {
        let error = search(&reader, &label(query)).unwrap_err().to_string();
        assert!(error.starts_with("`query` is empty; give the words to look for"), "{error}");
    }
}

#[test]
fn every_odd_query_is_answered() {
    let reader = TestDatabaseBuilder::of(NOTES);
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
    let reader = TestDatabaseBuilder::of(NOTES);
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
    let reader = TestDatabaseBuilder::of(NOTES);
    let n_hits = |query: &SearchQuery<'_>| found(&reader, query)["matches"].clone();
    assert_eq!(n_hits(&label("heading")), 0);
    let filter = NodeFilter { node_type: Some(NodeType::Heading), ..NodeFilter::default() };
    let query = SearchQuery { filter, ..label("rate limits") };
    assert_eq!(n_hits(&query), 1);
}

#[test]
fn details_follow_their_hit() {
    let reader = TestDatabaseBuilder::of(NOTES);
    let query =
        SearchQuery { detail: HitDetail::Snippet, limit: Some(2), ..label("timeouts lease") };
    check(
        &reader,
        &query,
        None,
        expect![[r#"
            # a.md / Alpha / Beta
            KYaHanWW8HQ The timeout is thirty seconds. It never changes.
            # a.md / Alpha
            KYaInsirr0W One paragraph about the lease of a lock.
        "#]],
    );
    let query = SearchQuery { detail: HitDetail::Full, limit: Some(2), ..label("timeouts lease") };
    check(
        &reader,
        &query,
        None,
        expect![[r#"
            # a.md / Alpha / Beta
            KYaHanWW8HQ The timeout is thirty seconds.
             It never changes.
            # a.md / Alpha
            KYaInsirr0W One paragraph about the lease of a lock.
        "#]],
    );
}

#[test]
fn hits_beyond_the_budget_are_counted() {
    let reader = TestDatabaseBuilder::of(NOTES);
    check(
        &reader,
        &label("rate lease timeout"),
        Some(90),
        expect![[r#"
            [text] The timeout is thirty seconds. (id=KYaHanWW8HQ file=a.md score=0.65 relevance=0.41 temp=0.50 tok=10)
            … 6 more hits, 256 tokens"#]],
    );
    check(&reader, &label("rate lease timeout"), Some(12), expect!["… 7 more hits, 298 tokens"]);
    check(&reader, &label("rate lease timeout"), Some(1), expect!["…"]);
    let full = SearchQuery { detail: HitDetail::Full, ..label("timeout") };
    check(
        &reader,
        &full,
        Some(50),
        expect![[r#"
            # a.md / Alpha / Beta
            KYaHanWW8HQ The timeout is thirty seconds.
             It never changes.
        "#]],
    );
}

#[test]
fn hits_beyond_the_limit_are_counted() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    for nth in 10..35 {
        sketch.node(0, "text", &format!("The lease {nth} ends."));
    }
    let reader = sketch.done();
    let last_line = |query: SearchQuery<'_>| {
        search(&reader, &query).unwrap().text.lines().last().unwrap_or_default().to_owned()
    };
    assert_eq!(last_line(label("lease")), "… 5 more hits, 205 tokens");
    for detail in [HitDetail::Snippet, HitDetail::Full] {
        let query = SearchQuery { detail, ..label("lease") };
        assert_eq!(last_line(query), "… 5 more hits, 30 tokens", "{detail:?}");
        assert_eq!(found(&reader, &query)["left_out"], json!({"hits": 5, "tokens": 30}));
    }
    let query = SearchQuery { limit: Some(23), ..label("lease") };
    assert_eq!(last_line(query), "… 2 more hits, 82 tokens");
    assert_eq!(found(&reader, &query)["left_out"], json!({"hits": 2, "tokens": 82}));
    let query = SearchQuery { limit: Some(25), ..label("lease") };
    assert!(last_line(query).starts_with("[text] The lease "));
    assert_eq!(found(&reader, &query).get("left_out"), None);
}

#[test]
fn a_question_of_few_words_ranks_fewer_matches_unless_more_are_asked_for() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.file("a.md");
    for nth in 0..250 {
        sketch.node(
            0,
            "text",
            &format!("The lease of boat {nth} ends in the small northern harbour."),
        );
    }
    let reader = sketch.done();
    let ranked = |query: SearchQuery<'_>| {
        let found = found(&reader, &query);
        (found["matches"].clone(), found["more_matches"].clone())
    };
    assert_eq!(ranked(label("lease of a boat")), (json!(160), json!(true)));
    assert_eq!(ranked(label("lease ends small northern harbour")), (json!(200), json!(true)));
    assert_eq!(ranked(label("lease OR boat")), (json!(200), json!(true)));
    let query = SearchQuery { limit: Some(180), ..label("lease of a boat") };
    assert_eq!(ranked(query), (json!(200), json!(true)));
    assert_eq!(ranked(label("17")), (json!(1), json!(false)));
}

const TALK: &str = "
= talk.md
heading Session 1: 8 May, 2023
  text Ana: Shall we paint the harbour mill?
  text Ben: Yes, in blue.
  text Ana: Fine. I bought two buckets.
  text Ben: My mom has a ladder.
  text Ana: See you then.
  text Ben: Bye.
  text Ana: One more thing.
  text Ben: Which?
  text Ana: Bring a brush.
heading Session 2: 9 June, 2023
  text Ana: How was the concert by the harbour?
  text Ben: Loud, but good.
";

/// Returns the texts of the best hits, in the order of the ranking.
fn best(query: &str, n: usize) -> Vec<String> {
    let reader = TestDatabaseBuilder::of(TALK);
    let query = SearchQuery { limit: Some(n), ..label(query) };
    let hits = found(&reader, &query)["hits"].as_array().cloned().unwrap_or_default();
    hits.iter().map(|it| it["label"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn an_answer_without_the_words_is_found_beside_them() {
    let found = best("did Ben want to paint the harbour mill", 3);
    assert!(found.contains(&"Ben: Yes, in blue.".to_owned()), "{found:?}");
}

#[test]
fn irregular_forms_and_related_words_match() {
    assert_eq!(best("buy buckets", 1), ["Ana: Fine. I bought two buckets."]);
    assert_eq!(best("what does Ben's mother own", 1), ["Ben: My mom has a ladder."]);
    // Few words name a thing: nothing else is meant.
    assert_eq!(best("mother", 1), Vec::<String>::new());
}

#[test]
fn irregular_forms_of_words_that_questions_are_made_of_match() {
    const FORMS: [[&str; 2]; 9] = [
        ["go", "went"],
        ["do", "did"],
        ["feel", "felt"],
        ["get", "got"],
        ["give", "gave"],
        ["make", "made"],
        ["say", "said"],
        ["take", "took"],
        ["tell", "told"],
    ];
    for [base, past] in FORMS {
        for [asked, told] in [[base, past], [past, base]] {
            let reader = TestDatabaseBuilder::of(&format!("= a.md\ntext Zoe {told}\ntext Nothing"));
            let hit = &found(&reader, &label(asked))["hits"][0];
            assert_eq!(hit["label"], format!("Zoe {told}"), "{asked}");
            assert_eq!(hit["relevance"], 1.0, "{asked}");
            let hit = &found(&reader, &label(&format!("where Zoe {asked}")))["hits"][0];
            assert_eq!(hit["relevance"], 1.0, "where Zoe {asked}");
        }
    }
}

#[test]
fn accents_do_not_matter_in_any_script() {
    let pairs = [
        ["café", "cafe"],
        ["Καλημέρα", "καλημερα"],
        ["ἀρχὴ", "αρχη"],
        ["ещё", "еще"],
        ["Йогурт", "иогурт"],
        ["\u{438}\u{306}\u{43e}\u{433}\u{443}\u{440}\u{442}", "йогурт"],
        ["đường", "duong"],
        ["Việt", "viet"],
        ["Łódź", "lodz"],
        ["straße", "strasse"],
        ["œuvre", "oeuvre"],
    ];
    for [accented, plain] in pairs {
        for [told, asked] in
            [[accented, plain], [plain, accented], [accented, accented], [plain, plain]]
        {
            let reader =
                TestDatabaseBuilder::of(&format!("= a.md\ntext One {told}.\ntext Nothing"));
            let hits = &found(&reader, &label(asked))["hits"];
            assert_eq!(hits[0]["relevance"], 1.0, "{asked} in {told}: {hits}");
        }
    }
}

#[test]
fn words_of_a_kind_match_and_are_no_part_of_the_question() {
    let reader = TestDatabaseBuilder::of(
        "= talk.md
heading Talk
  text Ben: Hello.
  text Ana: Hello.
  text Ben: Bye.
  text Ana: One more thing.
  text Ana: Do you still play?
  text Ben: I am at the piano each morning.",
    );
    let first = |query: &str| found(&reader, &label(query))["hits"][0].clone();
    let hit = first("which instrument does Ben practise");
    assert_eq!(hit["label"], "Ben: I am at the piano each morning.");
    assert!(hit["relevance"].as_f64().unwrap() < 0.5, "{hit}");
    assert_eq!(first("what instrument has Ben")["label"], hit["label"]);
    // Few words name a thing: nothing else is meant.
    assert_ne!(first("instrument Ben")["label"], hit["label"]);
    assert_eq!(first("instrument"), Value::Null);
}

#[test]
fn a_date_in_the_question_prefers_texts_below_it() {
    assert!(best("what of the harbour on June 9, 2023", 1)[0].contains("concert"));
    assert!(best("what of the harbour on May 8, 2023", 1)[0].contains("mill"));
}

#[test]
fn words_are_found_with_and_without_their_vowel_marks() {
    for (pointed, plain) in [("שָׁלוֹם", "שלום"), ("السَّلَامُ", "السلام")]
    {
        for (text, asked) in [(pointed, plain), (plain, pointed), (pointed, pointed)] {
            let outline = format!("= a.md\ntext 1 {text} 2\ntext other");
            let hits = found(&TestDatabaseBuilder::of(&outline), &label(asked));
            assert_eq!(hits["matches"], 1, "{asked} in {text}: {hits}");
        }
    }
}

#[test]
fn a_word_of_an_indic_script_is_one_word() {
    let reader = TestDatabaseBuilder::of("= a.md\ntext यह हिन्दी भाषा है\ntext नमस्ते");
    let hits = found(&reader, &label("हिन्दी"));
    assert_eq!((&hits["matches"], &hits["hits"][0]["relevance"]), (&json!(1), &json!(1.0)));
    let none = search(&reader, &label("हिन्दी xenon zebra quartz")).unwrap().text;
    assert!(none.contains("हिन्दी"), "{none}");
}

#[test]
fn relevance_is_the_share_of_the_question_whatever_the_temperature() {
    let relevance = |temperature| {
        let mut sketch = TestDatabaseBuilder::new();
        sketch.add("= a.md\ntext the harbour mill\ntext a harbour");
        sketch.warm(temperature);
        let query = label("harbour mill");
        let hits = found(&sketch.done(), &query)["hits"].clone();
        [0, 1].map(|it| hits[it]["relevance"].as_f64().unwrap())
    };
    assert!((relevance(0.5)[0] - 1.0).abs() < 1e-9);
    assert!(relevance(0.5)[1] < 0.5);
    assert_eq!(relevance(0.5), relevance(0.0));
}

#[test]
fn a_question_that_nothing_answers_gets_the_nearest_words() {
    let mut sketch = TestDatabaseBuilder::new();
    sketch.add(TALK);
    sketch.file("more.md");
    for nth in 0..60 {
        sketch.node(0, "text", &format!("Ana: number {nth}"));
    }
    let reader = sketch.done();
    check(
        &reader,
        &label("which dentist repaired the sailing boat of Ana in Portugal"),
        None,
        expect!["nothing here answers that; nearest words: ana"],
    );
    // A mistyped word gets the one that is meant.
    check(
        &reader,
        &label("harbuor"),
        None,
        expect!["nothing here answers that; nearest words: harbour"],
    );
    let answer =
        found(&reader, &label("which dentist repaired the sailing boat of Ana in Portugal"));
    assert_eq!((&answer["hits"], &answer["matches"]), (&json!([]), &json!(0)));
    assert_eq!(best("did Ben want to paint the harbour mill", 2).len(), 2);
}

#[test]
fn conditions_do_not_hide_why_nothing_was_found() {
    let reader = TestDatabaseBuilder::of(TALK);
    let of = |query, node_type| {
        let filter = NodeFilter { node_type: Some(node_type), ..NodeFilter::default() };
        asked(&reader, Query::Search(SearchQuery { filter, ..label(query) }), None).unwrap().text
    };
    let missing = "nothing here answers that; nearest words: harbour";
    assert_eq!(of("harbuor", NodeType::Text), missing);
    assert_eq!(
        of("xqzzy", NodeType::Text),
        "no results: nothing has these words; try fewer or other ones, or MemoryTree for the \
         outline"
    );
    let unmet = "no results: no node meets all conditions; leave one out";
    assert_eq!(of("harbour", NodeType::Code), unmet);
    assert_eq!(of("harbour", NodeType::Task), unmet);
}

/// Beginnings and dates have no nearest words, and nodes outside of the conditions have them.
#[test]
fn what_only_other_nodes_have_is_missing_where_the_conditions_hold() {
    let reader = TestDatabaseBuilder::of("= a.md\nheading Places\ntext The harbour in March 2024.");
    for query in ["harb*", "March 2024", "harbour"] {
        let filter = NodeFilter { node_type: Some(NodeType::Heading), ..NodeFilter::default() };
        let asked = SearchQuery { filter, ..label(query) };
        assert_eq!(
            search(&reader, &asked).unwrap().text,
            "no results: no node that meets the conditions has these words; leave one out",
            "{query}"
        );
    }
}

#[test]
fn words_of_a_date_or_of_a_request_have_no_nearest_words() {
    let reader = TestDatabaseBuilder::of("= a.md\ntext Marsh 1923 plied Liszt.\ntext Harbour.");
    let text = search(&reader, &label("Please list notes of 3 March 1924, harbuor")).unwrap().text;
    assert_eq!(text, "nothing here answers that; nearest words: harbour");
}
