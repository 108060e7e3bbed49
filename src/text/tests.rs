use super::*;

#[test]
fn a_label_is_the_first_line_that_is_not_blank() {
    assert_eq!(label_of_text("\n \n  a \t b \nc"), "a b");
}

#[test]
fn a_sentence_ends_where_a_reader_would_end_it() {
    let check = |line: &str, first: &str| assert_eq!(first_sentence(line), first);
    check("Run it. Then stop.", "Run it.");
    check("Why? Because.", "Why?");
    check("one sentence", "one sentence");
    check("ends here.", "ends here.");
    check("Use e.g. this. And that.", "Use e.g. this.");
    check("Dr. Who came at 3. Nobody J. R. knew.", "Dr. Who came at 3. Nobody J. R. knew.");
    check("1. First of all. Second.", "1. First of all.");
    check("Version 1.2 is out. Get it.", "Version 1.2 is out.");
    check("見よ。次。", "見よ。");
    check("वह चतुर है। वह तैरता है।", "वह चतुर है।");
    check("هل تعلم؟ إنه ذكي.", "هل تعلم؟");
    check("", "");
}

#[test]
fn cutting_counts_characters_not_bytes() {
    assert_eq!(truncate_chars("äöü", 3), "äöü");
    assert_eq!(truncate_chars("äöüß", 3), "äö…");
    assert_eq!(label_of_text(&"語".repeat(100)).chars().count(), LABEL_CHARS_MAX);
}

proptest::proptest! {
    #[test]
    fn fold_and_truncate_equals_the_two_steps(
        text in r"( |\t|\u{3000}|\u{85}|a|bc|語|……){0,30}",
        max_chars in 1..20_usize,
    ) {
        let words: Vec<&str> = text.split_whitespace().collect();
        proptest::prop_assert_eq!(fold_whitespace(&text), words.join(" "));
        proptest::prop_assert_eq!(fold_and_truncate(&text, max_chars), truncate_chars(&fold_whitespace(&text), max_chars));
    }
}

#[test]
fn lines_are_counted_from_one() {
    assert_eq!(line_number_at("a\nb", 0), 1);
    assert_eq!(line_number_at("a\nb", 2), 2);
    assert_eq!(line_number_at("a\nb", 99), 2);
}

#[test]
fn what_a_reader_may_ignore_is_hidden_and_what_shapes_emoji_and_scripts_stays() {
    let ignored = "\u{34f}\u{115f}\u{1160}\u{17b4}\u{180b}\u{180f}\u{206a}\u{206f}\u{3164}\u{ffa0}\
                   \u{fff0}\u{fff8}\u{1bca0}\u{1d173}\u{e0000}\u{e0100}\u{e01ef}\u{e0fff}";
    for it in ignored.chars() {
        assert!(is_invisible(it) && is_hidden(it), "{it:?}");
    }
    assert_eq!(make_visible("Ana\u{e0169}\u{3164}"), "Ana\\u{e0169}\\u{3164}");
    for shown in
        ["❤\u{fe0f}", "葛\u{fe00}", "👩\u{200d}🚀", "نمی\u{200c}دانم", "\u{600}", "한글", "ᄒ"]
    {
        assert_eq!(make_visible(shown), shown);
    }
}
