use expect_test::{Expect, expect};

use super::*;
use crate::query::function_words::FUNCTION_WORDS;

fn ored(asked: &ParsedQuery) -> String {
    let terms: Vec<&str> = asked.terms.iter().map(|it| it.text.as_str()).collect();
    if terms.is_empty() { "(none)".to_owned() } else { terms.join(" OR ") }
}

#[track_caller]
fn check(query: &str, read: Expect) {
    let asked = parse_query(query);
    let mut text = format!("words: {}", ored(&asked));
    if let Some(expression) = &asked.expression {
        text.push_str(&format!("\nexpression: {expression}"));
    }
    read.assert_eq(&text);
}

#[test]
fn words_are_quoted_and_ored() {
    check("rate limit", expect![[r#"words: "rate" OR "limit""#]]);
    check("Rate rate RATE", expect![[r#"words: "Rate""#]]);
    check("how do I set the timeout?", expect![[r#"words: "set" OR "timeout""#]]);
}

#[test]
fn a_word_of_several_parts_is_a_phrase_and_its_parts() {
    check("rate-limit", expect![[r#"words: "rate limit" OR "rate" OR "limit""#]]);
    check("api.v2", expect![[r#"words: "api v2" OR "api" OR "v2""#]]);
    check("user@host", expect![[r#"words: "user host" OR "user" OR "host""#]]);
    check("a/b", expect![[r#"words: "a b""#]]);
    check("C++", expect![[r#"words: "C""#]]);
    check("don't panic", expect![[r#"words: "don t" OR "don" OR "panic""#]]);
}

#[test]
fn function_words_count_when_nothing_else_is_left() {
    check("what's up?", expect![[r#"words: "what" OR "s" OR "up""#]]);
    check("to be or not to be", expect![[r#"words: "to" OR "be" OR "or" OR "not""#]]);
}

#[test]
fn a_query_of_signs_has_no_words() {
    for query in ["", " ", "\"", "\"\"", "?!", "\0", "((((", "*", "…", "AND ("] {
        let asked = parse_query(query);
        assert_eq!(asked.expression, None, "{query:?}");
        assert!(asked.terms.is_empty() || query == "AND (", "{query:?}");
    }
}

#[test]
fn phrases_and_prefixes_need_no_expression() {
    check("\"rate limit\"", expect![[r#"words: "rate limit""#]]);
    check(
        "say \"hello world\" twice",
        expect![[r#"words: ("say" OR "said") OR "hello world" OR "twice""#]],
    );
    check("conf* file", expect![[r#"words: "conf"* OR "file""#]]);
    check("half a \"quote", expect![[r#"words: ("half" OR "halves") OR "quote""#]]);
}

#[test]
fn operators_between_all_operands_make_an_expression() {
    check(
        "alpha AND beta",
        expect![[r#"
            words: "alpha" OR "beta"
            expression: "alpha" AND "beta""#]],
    );
    check(
        "(rate-limit OR quota) NOT user*",
        expect![[r#"
            words: "rate limit" OR "rate" OR "limit" OR "quota" OR "user"*
            expression: ("rate limit" OR "quota") NOT "user"*"#]],
    );
    check(
        "NEAR(alpha \"b c\", 5) AND label:d",
        expect![[r#"
            words: "alpha" OR "b c" OR "5" OR "label" OR "d"
            expression: NEAR("alpha" "b c" , 5) AND {label} : "d""#]],
    );
    check(
        "-{trail label} : alpha",
        expect![[r#"
            words: "trail label" OR "trail" OR "label" OR "alpha"
            expression: - {trail label} : "alpha""#]],
    );
    check(
        "日本語 AND rust",
        expect![[r#"
            words: (grams : "日本 本語" OR trail : ("日本語"*)) OR "rust"
            expression: grams : "日本 本語" AND "rust""#]],
    );
}

#[test]
fn capitals_in_prose_are_no_operators() {
    check("NOT NULL", expect![[r#"words: "NULL""#]]);
    check("email NOT NULL", expect![[r#"words: "email" OR "NULL""#]]);
    check("why is the column NOT null here", expect![[r#"words: "column" OR "null" OR "here""#]]);
    check("DO NOT EDIT", expect![[r#"words: "EDIT""#]]);
    check("alpha AND", expect![[r#"words: "alpha""#]]);
    check(
        "content://authority",
        expect![[r#"words: "content authority" OR "content" OR "authority""#]],
    );
    check(
        "\"HTTP\" NOT \"HTTPS\"",
        expect![[r#"
            words: "HTTP" OR "HTTPS"
            expression: "HTTP" NOT "HTTPS""#]],
    );
}

#[test]
fn scripts_without_spaces_go_through_their_pairs() {
    check("本", expect![[r#"words: (grams : "本"* OR trail : ("本"*))"#]]);
    check("日本", expect![[r#"words: (grams : "日本" OR trail : ("日本"*))"#]]);
    check("日本語", expect![[r#"words: (grams : "日本 本語" OR trail : ("日本語"*))"#]]);
    check(
        "Rustの所有",
        expect![[r#"words: "Rust" OR (grams : "の所 所有" OR trail : ("の所有"*))"#]],
    );
    let terms = parse_query("什么是所有权").terms;
    let units: Vec<&TermUnitKind> = terms.iter().map(|it| &it.unit).collect();
    let pairs = [['什', '么'], ['么', '是'], ['是', '所'], ['所', '有'], ['有', '权']];
    assert_eq!(*units[0], TermUnitKind::Adjacency);
    assert!(units[1..].iter().copied().eq(&pairs.map(TermUnitKind::Bigram)));
    let is_asking: Vec<bool> = terms.iter().map(Term::is_asking).collect();
    assert_eq!(is_asking, [false, true, true, true, false, false]);
}

#[test]
fn a_run_in_parts_of_characters_is_the_same() {
    let in_parts = "\u{1109}\u{1165}\u{110b}\u{116e}\u{11af}";
    let text = |query: &str| ored(&parse_query(query));
    assert_eq!(text(in_parts), text("서울"));
    assert!(text("서울").contains(&format!("trail : (\"서울\"* OR \"{in_parts}\"*)")));
}

#[test]
fn a_script_without_spaces_has_two_characters_a_word() {
    for (query, n_words) in
        [("上海", 1), ("上海会议", 2), ("上海会议 rust", 3), ("什么是所有权", 3), ("rust rust", 1)]
    {
        assert_eq!(parse_query(query).n_words, n_words, "{query}");
    }
}

#[test]
fn a_query_of_a_megabyte_is_bounded() {
    let words: String = (0..200_000).map(|it| format!("w{it} ")).collect();
    let n_terms = parse_query(&words).terms.len();
    assert_eq!(n_terms, TERMS_MAX);
    for query in
        ["(".repeat(1 << 16), "{".repeat(1 << 20), "\"a".repeat(1 << 19), "a-".repeat(1 << 19)]
    {
        let length = ored(&parse_query(&query)).len();
        assert!(length < 64 * 1024);
    }
    assert_eq!(ored(&parse_query(&format!("{} needle", "(".repeat(1 << 15)))), "\"needle\"");
}

/// Reading the rest of the query again for each of its parts takes the square of its length.
#[test]
fn a_query_of_one_part_many_times_over_is_read_once() {
    let parts = [
        " ", "\"", "\" ", "a ", "-", "- ", "{", "}", "{ ", "(", ")", "*", "a", "label ", "label:",
        ":", "NEAR(", "AND ", "a OR ", ",", "'s ", "日", "日 ", "e\u{301}", "\0", "\n",
    ];
    for part in parts {
        let query = format!("harbour {} storm", part.repeat(QUERY_BYTES_MAX / part.len()));
        assert!(parse_query(&query).terms.len() <= TERMS_MAX, "{part:?}");
    }
}

#[test]
fn the_list_of_function_words_ascends() {
    assert!(FUNCTION_WORDS.is_sorted());
}

/// Returns the terms that count, with the number of words that they count as.
fn counted(query: &str) -> Vec<(String, u32)> {
    let n_words = |it: &Term| match it.unit {
        TermUnitKind::Phrase { n_words } => n_words,
        TermUnitKind::Adjacency => 0,
        TermUnitKind::Word | TermUnitKind::ShortRun(_) | TermUnitKind::Bigram(_) => 1,
    };
    let terms = parse_query(query).terms.into_iter();
    terms.map(|it| (it.text.replace('"', ""), n_words(&it))).filter(|it| 0 < it.1).collect()
}

#[test]
fn a_phrase_counts_as_its_words_unless_they_are_terms() {
    let check = |query: &str, terms: &[(&str, u32)]| {
        let found = counted(query);
        let found: Vec<(&str, u32)> = found.iter().map(|it| (it.0.as_str(), it.1)).collect();
        assert_eq!(found, terms, "{query}");
    };
    check("\"grey whale\" zebra", &[("grey whale", 2), ("zebra", 1)]);
    check("\"the grey whale of the north sea\"", &[("the grey whale of the north sea", 3)]);
    check("\"Bluebird\"", &[("Bluebird", 1)]);
    check("\"to be or not to be\"", &[("to be or not to be", 1)]);
    check("zebr* sea", &[("zebr*", 1), ("sea", 1)]);
    check("rate-limit", &[("rate", 1), ("limit", 1)]);
    check("python 3.9", &[("python", 1), ("3 9", 1)]);
    check("plan-b 3.12", &[("plan b", 1), ("plan", 1), ("3 12", 1), ("12", 1)]);
    check("Ana's boat isn't blue", &[("Ana", 1), ("boat", 1), ("isn", 1), ("blue", 1)]);
    check("'3.9'", &[("3 9", 1)]);
}

#[test]
fn a_function_word_that_is_written_as_a_noun_is_one() {
    check("the IT budget", expect![[r#"words: "IT" OR "budget""#]]);
    check("is it in the budget", expect![[r#"words: "budget""#]]);
    check("IS IT IN THE BUDGET", expect![[r#"words: "BUDGET""#]]);
    check("Will's phone number", expect![[r#"words: "Will" OR "phone" OR "number""#]]);
    check("where does Will work", expect![[r#"words: "Will" OR "work""#]]);
    check("Will it rain", expect![[r#"words: "rain""#]]);
    let roles = |query: &str| parse_query(query).terms.iter().map(|it| it.role).collect::<Vec<_>>();
    assert_eq!(roles("offices in the US"), [QuestionTermRole::Subject; 2]);
    assert_eq!(roles("told us"), [QuestionTermRole::Asking; 2]);
}
