use super::*;

#[track_caller]
fn check(text: &str, plain: Option<&str>) {
    assert_eq!(plain_words(text).as_deref(), plain, "{text}");
}

#[test]
fn words_with_accents_that_the_index_keeps_have_plain_forms() {
    check("Καλημέρα, κόσμε! ΚΑΛΗΜΈΡΑ", Some("καλημερα κοσμε"));
    check("ἀρχὴ τοῦ λόγου", Some("αρχη του λογου"));
    check("Ещё один йогурт", Some("еще иогурт"));
    check("Її їжа", Some("іі іжа"));
    check("Đường phố", Some("dường"));
    check("Łódź, straße, œuvre", Some("lódź strasse oeuvre"));
}

#[test]
fn words_with_vowel_marks_have_plain_forms() {
    check("שָׁלוֹם, עוֹלָם", Some("שלום עולם"));
    check("السَّلَامُ عَلَيْكُمْ", Some("السلام عليكم"));
    check("سـلام", Some("سلام"));
    check("שלום السلام", None);
    check("ـ", None);
}

#[test]
fn letters_that_stand_for_others_have_plain_forms() {
    check("The eﬃcient workﬂow, ﬁrst", Some("efficient workflow first"));
    check("स\u{95c}क पर", Some("स\u{921}\u{93c}क"));
    check("Ｒｕｓｔ ２０２６", Some("rust 2026"));
    check("\u{fb2a}\u{5b8}ל\u{fb35}ם", Some("שלום"));
    check("\u{fefa}", Some("لإ"));
}

#[test]
fn other_words_have_none() {
    check("plain text, naïve café, ő", None);
    check("Ελλαδα один 日本語 हिन्दी", None);
    check("", None);
}

#[test]
fn the_letters_ascend() {
    assert!(LETTERS.iter().all(|(first, last, _)| first <= last));
    assert!(LETTERS.windows(2).all(|pair| pair[0].1 < pair[1].0));
    for (first, _, plain) in LETTERS {
        assert_eq!(plain_word(plain), None, "{first}");
    }
}
