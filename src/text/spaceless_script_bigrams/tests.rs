use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, pairs: Expect) {
    let found = bigrams(text);
    assert!(may_have_spaceless_run(text) || found.is_none());
    pairs.assert_eq(&found.unwrap_or_else(|| "(none)".to_owned()));
}

#[test]
fn a_run_is_its_pairs_and_its_last_character() {
    check("日本語", expect!["日本 本語 語"]);
    check("日 本", expect!["日 本"]);
    check("これはテスト。ﾃｽﾄ、コード", expect!["これ れは はテ テス スト ト ﾃｽ ｽﾄ ﾄ コー ード ド"]);
    check("데이터베이스", expect!["데이 이터 터베 베이 이스 스"]);
}

#[test]
fn marks_inside_a_run_are_left_out() {
    check("ที่นี่", expect!["ทน น"]);
    check("か\u{3099}き", expect!["がき き"]);
}

#[test]
fn a_run_in_parts_of_characters_has_the_pairs_of_a_composed_one() {
    check("\u{1109}\u{1165}\u{110b}\u{116e}\u{11af}", expect!["서울 울"]);
    check("カ\u{3099}イト\u{3099}", expect!["ガイ イド ド"]);
}

#[test]
fn words_beside_a_run_are_terms_of_their_own() {
    check("Rustの所有権 and Go", expect!["Rust の所 所有 有権 権"]);
    check("第3章", expect!["第 3 章"]);
}

#[test]
fn scripts_with_spaces_have_no_pairs() {
    check("plain text, naïve Ελληνικά हिन्दी עברית", expect!["(none)"]);
    check("", expect!["(none)"]);
    check("— … “”", expect!["(none)"]);
}

#[test]
fn a_query_is_a_prefix_a_pair_or_a_phrase() {
    assert_eq!(fts_pattern("本").as_deref(), Some("\"本\"*"));
    assert_eq!(fts_pattern("日本").as_deref(), Some("\"日本\""));
    assert_eq!(fts_pattern("日本語").as_deref(), Some("\"日本 本語\""));
    assert_eq!(fts_pattern(""), None);
}

#[test]
fn ranges_ascend() {
    assert!(SPACELESS.iter().all(|&(first, last)| first <= last));
    assert!(SPACELESS.windows(2).all(|pair| pair[0].1 < pair[1].0));
}

#[test]
fn a_word_keeps_its_marks() {
    let words = |text: &'static str| segments(text).map(|it| it.text).collect::<Vec<_>>();
    assert_eq!(words("हिन्दी भाषा"), ["हिन्दी", "भाषा"]);
    assert_eq!(words("שָׁלוֹם־עוֹלָם"), ["שָׁלוֹם", "עוֹלָם"]);
    assert_eq!(words("السَّلَامُ عَلَيْكُمْ"), ["السَّلَامُ", "عَلَيْكُمْ"]);
    assert_eq!(words("தமிழ் বাংলা ශ්‍රී"), ["தமிழ்", "বাংলা", "ශ්‍රී"]);
}

proptest! {
    #[test]
    fn segments_cover_every_letter(text in "\\PC{0,40}") {
        let covered: usize = segments(&text).map(|it| it.text.chars().count()).sum();
        let letters = text.chars().filter(|&it| matches!(class(it), BigramCharClass::Letter(_))).count();
        prop_assert!(letters <= covered);
        prop_assert!(covered <= text.chars().count());
    }
}
