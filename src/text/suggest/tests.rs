use super::*;

#[test]
fn a_typo_gets_a_suggestion_and_an_unknown_name_none() {
    let names = ["interval", "settle", "enabled"];
    assert_eq!(suggest("intervall", names), Some("interval"));
    assert_eq!(suggest("Enable", names), Some("enabled"));
    assert_eq!(suggest("frequency", names), None);
    assert_eq!(suggest("", names), None);
}
