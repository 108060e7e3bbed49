use serde_json::{Value, json};

use super::*;

/// Characters of every kind that others must not see raw.
const HIDDEN: &str = "\x1b\x7f\u{85}\u{9b}\u{ad}\u{61c}\u{200b}\u{202e}\u{2028}\u{2066}\u{e0041}";

#[test]
fn what_steers_or_hides_is_escaped_and_the_value_stays() {
    let value = json!({ HIDDEN: [HIDDEN, "a \"quoted\" \\ text\n", "ü 日本 🦀"] });
    for text in [json_text(&value), pretty_json_text(&value)] {
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert!(!text.contains(|it: char| it != '\n' && is_hidden(it)), "{text:?}");
    }
    assert_eq!(json_text(&"\u{202e}\u{9b}\u{e0041}"), r#""\u202e\u009b\udb40\udc41""#);
}

#[test]
fn scripts_and_emoji_stay_as_they_are_written() {
    let text = "نمی\u{200c}دانم 👩\u{200d}🚀 ü 日本";
    assert_eq!(json_text(&text), format!("\"{text}\""));
}
