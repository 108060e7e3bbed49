use super::*;

#[test]
fn irregular_forms_are_one_word() {
    assert_eq!(other_forms("buy"), ["bought"]);
    assert_eq!(other_forms("bought"), ["buy"]);
    assert_eq!(other_forms("buying"), ["bought"]);
    assert_eq!(other_forms("written"), ["write", "wrote"]);
    assert_eq!(other_forms("children"), ["child"]);
    assert_eq!(other_forms("bus"), ["buses"]);
    assert_eq!(other_forms("viruses"), ["virus"]);
    assert_eq!(other_forms("zebra"), Vec::<&str>::new());
}

#[test]
fn related_words_are_found_both_ways() {
    assert_eq!(related_words("mother"), ["mom", "mum", "mommy", "parent"]);
    assert_eq!(related_words("mom"), ["mother", "parent"]);
    assert_eq!(related_words("movies"), ["film", "cinema"]);
    assert_eq!(related_words("stopped"), ["quit"]);
    assert_eq!(related_words(""), Vec::<&str>::new());
}

#[test]
fn words_are_of_the_kind_that_a_word_names() {
    assert_eq!(words_of_kind("siblings"), ["brother", "sister", "twin"]);
    assert_eq!(words_of_kind("brother"), Vec::<&str>::new());
}

#[test]
fn regular_inflections_are_those_of_nouns_and_verbs() {
    for (word, form) in [
        ("hike", "hiking"),
        ("hike", "hikes"),
        ("try", "tried"),
        ("play", "playing"),
        ("run", "running"),
        ("box", "boxes"),
    ] {
        assert!(inflections(word).iter().any(|it| it == form), "{word}: {:?}", inflections(word));
    }
    assert!(inflections("").len() < 6);
}

#[test]
fn tables_are_sorted_lower_case_and_without_repetition() {
    let tables =
        [include_str!("forms.txt"), include_str!("kinds.txt"), include_str!("related.txt")];
    for table in tables {
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines.is_sorted_by(|a, b| a < b), "a line is out of order or twice");
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            assert!(1 < words.len(), "`{line}` has one word");
            let is_plain = |it: &&str| it.bytes().all(|it| it.is_ascii_alphanumeric());
            assert!(words.iter().all(is_plain), "`{line}` has more than letters and digits");
            assert_eq!(line, line.to_lowercase());
            let once: std::collections::HashSet<&&str> = words.iter().collect();
            assert_eq!(once.len(), words.len(), "`{line}` repeats a word");
        }
    }
}
