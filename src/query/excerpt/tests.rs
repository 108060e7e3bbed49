use expect_test::{Expect, expect};

use super::*;

#[track_caller]
fn check(content: &str, marks: &[&str], shown: Expect) {
    let marks: Vec<String> = marks.iter().map(|&it| it.to_owned()).collect();
    shown.assert_eq(&make_snippet(content, &marks));
}

#[test]
fn the_words_stand_in_their_context() {
    let text =
        format!("{}The lease\nexpires after an hour. {}", "filler ".repeat(60), "end ".repeat(90));
    check(
        &text,
        &["leases", "hour"],
        expect![
            "…filler filler filler filler filler The lease expires after an hour. end end end end end end end end end end end end end end end end end end…"
        ],
    );
}

#[test]
fn a_text_without_the_words_shows_its_beginning() {
    check("Short text.", &["absent"], expect!["Short text."]);
    check("", &["absent"], expect![""]);
    check("日本語テキスト", &["本語"], expect!["日本語テキスト"]);
}

#[test]
fn the_place_with_most_words_wins() {
    let text = format!("alpha {} alpha beta", "x ".repeat(400));
    check(&text, &["alpha", "beta"], expect!["…x x x x x x x x x x x x x x x x x x x alpha beta"]);
}
