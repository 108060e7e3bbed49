//! Values in another type's form, as models send them: `"2"` for 2, `"true"` for true, one text for
//! a list of one. A value is read so where its form leaves no doubt.

use serde_json::{Number, Value};

/// Returns a number, which may be given as text.
pub(crate) fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => match parsed(text) {
            Some(Value::Number(number)) => Some(number),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the whole number that a number is in any notation; none for a fraction.
pub(crate) fn whole(number: &Number) -> Option<i128> {
    if let Some(value) = number.as_i128() {
        return Some(value);
    }
    let value = number.as_f64()?;
    // The cast saturates, which is far outside of every range.
    (value.fract() == 0.0).then_some(value as i128)
}

/// Returns a flag, which may be given as text of any case.
pub(crate) fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => parsed(&text.to_ascii_lowercase())?.as_bool(),
        _ => None,
    }
}

/// Returns the one of some words that a text is in any case.
pub(crate) fn word(value: &Value, words: &[&'static str]) -> Option<&'static str> {
    let text = value.as_str()?.trim();
    words.iter().find(|it| it.eq_ignore_ascii_case(text)).copied()
}

/// Returns the text of a whole number: `404` is a word to look for, and an id may have digits only.
pub(crate) fn text_of_number(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the list that a text is: its own, written as JSON, or one of that text.
pub(crate) fn list_of_text(value: &Value) -> Option<Vec<Value>> {
    match parsed(value.as_str()?) {
        Some(Value::Array(items)) => Some(items),
        _ => Some(vec![value.clone()]),
    }
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text.trim()).ok()
}
