use std::convert::Infallible;

use super::*;

#[test]
fn a_line_beyond_the_budget_is_skipped() {
    assert_eq!(choose_within(&[10, 10], 20), [0, 1]);
    assert_eq!(choose_within(&[30, 90, 20, 10], 80), [0, 2, 3]);
    assert_eq!(choose_within(&[30], 10), [] as [usize; 0]);
    assert_eq!(choose_within(&[u32::MAX, u32::MAX], u32::MAX), [] as [usize; 0]);
}

#[test]
fn the_reply_itself_is_measured() {
    let words = |chosen: &[usize]| Ok::<_, Infallible>("one two three ".repeat(chosen.len()));
    let (chosen, text) =
        render_within(Some(20), (0..100).collect(), |_| None, words).unwrap().unwrap();
    assert!(!chosen.is_empty());
    assert!(tokens::count(&text) <= 20);
    let stubborn = |_: &[usize]| Ok::<_, Infallible>("never short enough".repeat(10));
    assert_eq!(render_within(Some(3), (0..100).collect(), |_| None, stubborn).unwrap(), None);
}

#[test]
fn a_sign_of_more_is_one_token() {
    assert_eq!(first_fitting(1, ["too many tokens".to_owned()]), "…");
    assert_eq!(first_fitting(0, ["too many tokens".to_owned()]), "");
}

#[test]
fn cutting_fits_whatever_the_text() {
    for text in ["word ".repeat(500), "日本語".repeat(500), "𝔘".repeat(500), " ".repeat(5000)]
    {
        for max in [0, 1, 7, 100] {
            assert!(tokens::count(cut_to_tokens(&text, max)) <= max);
        }
    }
    assert!(50 < cut_to_tokens(&"word ".repeat(500), 100).len());
}
