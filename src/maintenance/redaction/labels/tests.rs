//! Tests which beginnings of secrets in labels are recognized.

use super::*;

#[track_caller]
fn check(label: &str, expected: &str) {
    let found = [("token".to_owned(), "ghp_x9Kd72LmQpZr4TvWb81N".to_owned())];
    let scrubbed = scrub_label(label, &found, &mut |_| None);
    assert_eq!(scrubbed.as_deref().unwrap_or(label), expected);
}

#[test]
fn a_whole_secret_of_the_text_is_replaced() {
    check("Use ghp_x9Kd72LmQpZr4TvWb81N now", "Use «redacted:token» now");
    check("Use ghp_x9Kd72LmQpZr4TvWb81Nx now", "Use ghp_x9Kd72LmQpZr4TvWb81Nx now");
}

#[test]
fn the_beginning_of_one_is_replaced_where_the_label_was_cut() {
    check("Use ghp_x9K…", "Use «redacted:token»");
    check("Use ghp_x9K...", "Use «redacted:token»");
    check("Use ghp_x9Kd72Lm", "Use «redacted:token»");
}

#[test]
fn a_word_that_only_begins_like_one_stays() {
    check("Use gh…", "Use gh…");
    check("Use xghp_x9K…", "Use xghp_x9K…");
    check("Use ghp_", "Use ghp_");
}
