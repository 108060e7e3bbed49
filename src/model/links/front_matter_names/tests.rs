use super::*;

#[track_caller]
fn check(content: &str, expected: &[&str]) {
    assert_eq!(front_matter_names(content), expected, "{content}");
}

#[test]
fn titles_and_aliases_are_read_in_every_notation() {
    check("title: \"Quoted: title\"\ntags:\n- x", &["Quoted: title"]);
    check("aliases:\n- One\n- 'T w o'\ndate: 2024", &["One", "T w o"]);
    check("aliases: [One, \"Two\"]\nalias: Three", &["One", "Two", "Three"]);
    check("aliases[2]: One,Two", &["One", "Two"]);
    check("subtitle: no\nauthor:\n  - no\ntitle:", &[]);
}
