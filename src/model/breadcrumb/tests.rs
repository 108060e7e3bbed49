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
