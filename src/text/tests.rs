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
