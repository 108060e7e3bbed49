//! Tests for pseudo-relevance feedback.

use super::*;

/// Returns ten sections about nothing in particular, worth little.
fn strangers() -> Vec<(String, f64)> {
    (0..10)
        .map(|nth| (format!("Filler number{nth} about things{nth} and more{nth}."), 0.2))
        .collect()
}

/// Checks the similarity of each of `told` to the best sections, two digits each.
#[track_caller]
fn check(told: &[(&str, f64)], alike: expect_test::Expect) {
    let strangers = strangers();
    let all: Vec<(&str, f64)> = told
        .iter()
        .copied()
        .chain(strangers.iter().map(|(text, worth)| (&**text, *worth)))
        .collect();
    let bags: Vec<StemmedText> = all.iter().map(|(text, _)| StemmedText::of(&[], text)).collect();
    let texts: Vec<Vec<&StemmedText>> = bags.iter().map(|it| vec![it]).collect();
    let worth: Vec<f64> = all.iter().map(|(_, worth)| *worth).collect();
    let found = expansion_scores(&texts, &worth).expect("there are enough sections");
    let found = crate::query::rank::normalized(found);
    let shown: Vec<String> = found.iter().take(told.len()).map(|it| format!("{it:.2}")).collect();
    alike.assert_eq(&shown.join(" "));
}

#[test]
fn a_section_that_shares_words_with_the_best_gains() {
    check(
        &[
            ("The lease of a lock expires after thirty seconds.", 1.0),
            ("A lock whose lease expired is taken over.", 0.9),
            ("Expired leases are taken over by another holder.", 0.3),
            ("The garden needs water.", 0.3),
        ],
        expect_test::expect!["0.97 1.00 0.75 0.20"],
    );
}

#[test]
fn scripts_without_spaces_have_words_too() {
    check(
        &[("日本語の検索について。", 1.0), ("検索の方法。", 0.3), ("天気がいい。", 0.3)],
        expect_test::expect!["1.00 0.32 0.23"],
    );
}

#[test]
fn few_sections_expand_no_query() {
    let (lease, nothing) = (StemmedText::of(&[], "The lease of a lock."), StemmedText::default());
    let texts = vec![vec![&lease]; SECTIONS_MIN - 1];
    assert_eq!(expansion_scores(&texts, &[1.0; SECTIONS_MIN - 1]), None);
    assert_eq!(expansion_scores(&vec![vec![&nothing]; 50], &[1.0; 50]), None);
    assert_eq!(expansion_scores(&[], &[]), None);
}
