use super::*;

#[test]
fn the_stem_is_the_name_alone() {
    assert_eq!(file_stem("a/b.c/notes.v2.md"), "notes.v2");
    assert_eq!(file_stem(".md"), ".md");
}

#[test]
fn a_deep_breadcrumb_stays_short() {
    let mut breadcrumb = "file".to_owned();
    for nth in 0..10_000 {
        breadcrumb = child_breadcrumb(&breadcrumb, &format!("heading {nth}"));
    }
    assert!(breadcrumb.chars().count() <= BREADCRUMB_CHARS_MAX);
    assert!(breadcrumb.starts_with("file / ") && breadcrumb.ends_with("heading 9999"));
}

#[test]
fn a_slash_between_spaces_is_no_separator_within_a_title() {
    let titles = [
        ("TCP / IP", "TCP/IP"),
        ("people.md /\u{a0}Ana Lima", "people.md/Ana Lima"),
        ("a \u{200b}/\u{200b} b", "a\u{200b}/\u{200b}b"),
        ("GET / / x /", "GET//x/"),
        ("/ x", "/x"),
        ("/", "/"),
        ("and/or  1/2", "and/or  1/2"),
    ];
    for (label, title) in titles {
        assert_eq!(to_title(label), title);
    }
}
