use proptest::prelude::*;

use super::*;

#[test]
fn endings_are_cut() {
    assert_eq!(StemHash::of("Compiling"), StemHash::of("compiled"));
    assert_eq!(StemHash::of("leases"), StemHash::of("lease"));
    assert_eq!(StemHash::of("Ärger"), StemHash::of("ärger"));
    assert_ne!(StemHash::of("bus"), StemHash::of("bu"));
    assert_ne!(StemHash::of(""), StemHash::of("s"));
}

#[test]
fn scripts_without_spaces_have_their_pairs() {
    assert_eq!(
        StemmedText::of(&["Rust"], "日本語").text_stems(),
        [StemHash::of("日本"), StemHash::of("本語")]
    );
}

#[test]
fn the_longest_ending_is_cut_that_leaves_four_letters() {
    assert_eq!(StemHash::of("migrations"), StemHash::of("migr"));
    assert_eq!(StemHash::of("sections"), StemHash::of("sect"));
    assert_eq!(StemHash::of("rations"), StemHash::of("ration"));
}

#[test]
fn all_letters_of_a_long_word_count() {
    let (one, other) = ("x".repeat(500) + "a", "x".repeat(500) + "b");
    assert_ne!(StemHash::of(&one), StemHash::of(&other));
    assert_eq!(StemHash::of(&(one.clone() + "ing")), StemHash::of(&(one.clone() + "ed")));
    assert_ne!(StemHash::of(&format!("a{one}")), StemHash::of(&format!("b{one}")));
}

#[test]
fn a_name_before_a_colon_leads_a_text() {
    let lead = |text: &str| StemmedText::of(&["label"], text).lead_stems().to_vec();
    let ana = vec![StemHash::of("Ana")];
    assert_eq!(lead("Ana: see you at 10:30"), ana);
    assert_eq!(lead("**Ana:** hello"), ana);
    assert_eq!(lead("Ana Maria: hello"), [ana[0], StemHash::of("Maria")]);
    for text in
        ["hello Ana", "see https://ana: 1", "one two three four: five", "10:30", "Ana, you: go"]
    {
        assert_eq!(lead(text), Vec::<StemHash>::new(), "{text}");
    }
}

#[test]
fn a_text_that_ends_in_a_question_is_one() {
    let is_question = |text: &str| StemmedText::of(&[], text).is_question();
    for text in ["Ana: where?", "**where?**", "\"Where?\" ", "where? (a picture)", "どこ？"] {
        assert!(is_question(text), "{text}");
    }
    for text in ["", "?!", "where? There.", "there (where?)", ")", "(?)", "? (a) b"] {
        assert!(!is_question(text), "{text}");
    }
}

proptest! {
    #[test]
    fn the_words_of_a_text_are_those_of_its_segments(text in "[a-zA-Z0-9 ,.é—日本語́\\PC]{0,60}") {
        let mut segments = StemmedText::default();
        segments.add_any(&text);
        let whole = StemmedText::of(&[], &text);
        prop_assert_eq!(whole.stems(), segments.stems());
    }
}
