use super::*;

#[test]
fn a_slip_is_recognized_and_a_stranger_is_not() {
    let names = ["interval", "settle", "enabled"];
    assert_eq!(suggest("intervall", names), Some("interval"));
    assert_eq!(suggest("Enable", names), Some("enabled"));
    assert_eq!(suggest("frequency", names), None);
    assert_eq!(suggest("", names), None);
}
