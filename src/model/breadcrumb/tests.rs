use super::*;

#[test]
fn the_stem_is_the_name_alone() {
    assert_eq!(stem("a/b.c/notes.v2.md"), "notes.v2");
    assert_eq!(stem(".md"), ".md");
}

#[test]
fn a_deep_trail_stays_short() {
    let mut trail = "file".to_owned();
    for nth in 0..10_000 {
        trail = under(&trail, &format!("heading {nth}"));
    }
    assert!(trail.chars().count() <= TRAIL_CHARS_MAX);
    assert!(trail.starts_with("file / ") && trail.ends_with("heading 9999"));
}
