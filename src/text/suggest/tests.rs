use super::*;

#[test]
fn a_slip_is_recognized_and_a_stranger_is_not() {
    let names = ["interval", "settle", "enabled"];
    assert_eq!(nearest("intervall", names), Some("interval"));
    assert_eq!(nearest("Enable", names), Some("enabled"));
    assert_eq!(nearest("frequency", names), None);
    assert_eq!(nearest("", names), None);
}
