//! JSON as text: characters that steer a terminal or hide are escaped, so that the value stays.
//!
//! A reader that shows the text sees `\u202e` and obeys nothing; a parser gets the same value.

use serde::Serialize;

use super::is_hidden;

/// Appends a character as `\u202e`, beyond 16 bits as two of them.
pub(crate) fn push_escape(out: &mut String, it: char) {
    for unit in it.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// Returns the JSON of a value on one line.
pub(crate) fn json_text(value: &impl Serialize) -> String {
    escaped(serde_json::to_string(value).expect("keys are texts and writing is to memory"))
}

/// Returns the JSON of a value in lines, for people.
pub(crate) fn pretty_json_text(value: &impl Serialize) -> String {
    escaped(serde_json::to_string_pretty(value).expect("keys are texts and writing is to memory"))
}

/// Outside of strings JSON has no such characters but line breaks.
fn escaped(json: String) -> String {
    let is_escaped = |it: char| it != '\n' && is_hidden(it);
    let is_plain = |it: u8| it.is_ascii() && it != b'\x7f';
    if json.bytes().all(is_plain) || !json.contains(is_escaped) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + json.len() / 8);
    for it in json.chars() {
        match is_escaped(it) {
            true => push_escape(&mut out, it),
            false => out.push(it),
        }
    }
    out
}

#[cfg(test)]
mod tests;
