use proptest::prelude::*;

use super::*;
use crate::fuzzing::random_cases::n_cases;

#[test]
fn a_typo_gets_a_suggestion_and_an_unknown_name_none() {
    let names = ["interval", "settle", "enabled"];
    assert_eq!(suggest("intervall", names), Some("interval"));
    assert_eq!(suggest("Enable", names), Some("enabled"));
    assert_eq!(suggest("frequency", names), None);
    assert_eq!(suggest("Set_Tle", names), Some("settle"));
    assert_eq!(suggest("", names), None);
    // Dashes are no letters: two edits of three letters make another word.
    assert_eq!(suggest("--foo", ["--root"]), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn swapped_and_dropped_letters_are_one_edit(word in "[a-zäöü]{2,8}", at in 0..7usize) {
        let letters: Vec<char> = word.chars().collect();
        let at = at % (letters.len() - 1);
        let (mut swapped, mut dropped) = (letters.clone(), letters.clone());
        swapped.swap(at, at + 1);
        dropped.remove(at);
        prop_assert!(distance(&letters, &swapped) <= 1);
        prop_assert_eq!(distance(&letters, &dropped), 1);
        prop_assert_eq!(distance(&letters, &letters), 0);
    }
}

proptest! {
    // A word has hundreds of misspellings, and each of them as many.
    #![proptest_config(ProptestConfig::with_cases(n_cases(40)))]

    #[test]
    fn a_word_is_at_one_edit_from_each_of_its_misspellings(word in "[a-z]{2,9}|[а-яё]{2,6}") {
        for misspelt in spellings_at_one_edit(&word) {
            let letters = |it: &str| it.chars().collect::<Vec<char>>();
            prop_assert!(distance(&letters(&word), &letters(&misspelt)) <= 1, "{misspelt}");
            if !misspelt.is_empty() {
                prop_assert!(spellings_at_one_edit(&misspelt).contains(&word), "{misspelt}");
            }
        }
    }
}
