//! Changesets as lines: one operation a line, for people and scripts.
//!
//! ```text
//! # two episodes say the same
//! concept as=backoff title="Retries need pauses" from=7Fq2…,kX91… "Retrying at once fails."
//! link from=$backoff to=p0Zr… type=implies strength=0.7
//! ```
//!
//! A value is a word or a text in double quotes, in which `\"`, `\\`, `\n`, `\r` and `\t` are
//! escapes. Keys that hold a list take words with commas. `key:=JSON` gives any other value. A
//! quoted text at the end is what the operation is about: its content, text, summary, description
//! or note.

#[cfg(any(test, fuzzing))]
use std::fmt::Write;

use serde_json::{Map, Value};

/// Keys that hold a list of texts.
const LISTS: &[&str] = &["entities", "exceptions", "from", "ids", "tags"];

/// Keys that hold a number.
const NUMBERS: &[&str] = &["confidence", "density", "strength"];

/// Keys that are true or false.
const FLAGS: &[&str] = &["archived", "supersede"];

/// The reason why a line is no operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineError {
    /// From 1.
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// An operation with the number of its line.
pub(crate) type NumberedOperation = (usize, Map<String, Value>);

/// Reads operations, one a line.
///
/// # Errors
///
/// Some lines are no operations; all of them are told.
pub(crate) fn parse_changeset(text: &str) -> Result<Vec<NumberedOperation>, Vec<LineError>> {
    let (mut operations, mut errors) = (Vec::new(), Vec::new());
    for (line, text) in (1..).zip(text.lines()) {
        match parse_line(text) {
            Ok(None) => (),
            Ok(Some(operation)) => operations.push((line, operation)),
            Err(message) => errors.push(LineError { line, message }),
        }
    }
    if errors.is_empty() { Ok(operations) } else { Err(errors) }
}

/// Writes operations, one a line; what is read of them is equal.
#[cfg(any(test, fuzzing))]
pub(crate) fn print_changeset<'a>(
    operations: impl IntoIterator<Item = &'a Map<String, Value>>,
) -> String {
    let mut out = String::new();
    for operation in operations {
        print_line(operation, &mut out);
        out.push('\n');
    }
    out
}

/// Returns the key of an operation that a text at the end of its line belongs to.
fn text_key(op: &str) -> &'static str {
    match op {
        "remember" | "update" => "content",
        "fact" => "text",
        "concept" => "summary",
        "topic" => "description",
        _ => "note",
    }
}

fn parse_line(line: &str) -> Result<Option<Map<String, Value>>, String> {
    let mut rest = line.trim();
    if rest.is_empty() || rest.starts_with('#') {
        return Ok(None);
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let op = &rest[..end];
    if !is_key(op) {
        return Err(format!("begins with `{}`, not with the name of an operation", cut(op)));
    }
    let mut operation = Map::new();
    operation.insert("op".to_owned(), op.into());
    rest = rest[end..].trim_start();
    while !rest.is_empty() && !rest.starts_with('#') {
        let (key, value, after) = argument(op, rest)?;
        if !after.is_empty() && !after.starts_with(char::is_whitespace) {
            return Err(format!("has no space after `{key}`"));
        }
        if operation.insert(key.to_owned(), value).is_some() {
            return Err(format!("gives `{key}` twice"));
        }
        rest = after.trim_start();
    }
    Ok(Some(operation))
}

/// Reads one argument at the beginning of a text; returns what follows.
fn argument<'t>(op: &str, text: &'t str) -> Result<(&'t str, Value, &'t str), String> {
    if text.starts_with('"') {
        let (value, after) = quoted(text)?;
        return Ok((text_key(op), value.into(), after));
    }
    let end = text.find(|it: char| !is_key_char(it)).unwrap_or(text.len());
    let (key, after) = text.split_at(end);
    if !is_key(key) {
        return Err(format!("has `{}` where `key=value` belongs", cut(text)));
    }
    if let Some(json) = after.strip_prefix(":=") {
        let mut values = serde_json::Deserializer::from_str(json).into_iter::<Value>();
        return match values.next() {
            Some(Ok(value)) => {
                let n_read = values.byte_offset();
                Ok((key, value, &json[n_read..]))
            }
            _ => Err(format!("has no JSON after `{key}:=`")),
        };
    }
    let Some(after) = after.strip_prefix('=') else {
        return Err(format!("has `{key}` without a value; write `{key}=…`"));
    };
    if after.starts_with('"') {
        let (text, after) = quoted(after)?;
        return Ok((key, typed(op, key, &text)?, after));
    }
    let end = after.find(char::is_whitespace).unwrap_or(after.len());
    Ok((key, typed(op, key, &after[..end])?, &after[end..]))
}

/// Returns a value as its key holds it.
fn typed(op: &str, key: &str, text: &str) -> Result<Value, String> {
    // An edge begins at one node.
    let is_list = LISTS.contains(&key) && (key != "from" || ["concept", "merge"].contains(&op));
    if is_list {
        let items = text.split(',').map(str::trim).filter(|it| !it.is_empty());
        return Ok(items.collect());
    }
    if NUMBERS.contains(&key) {
        let number: Option<f64> = text.parse().ok().filter(|it: &f64| it.is_finite());
        let number = number.and_then(serde_json::Number::from_f64);
        return number
            .map(Value::Number)
            .ok_or_else(|| format!("gives `{key}` as `{}`, which is no number", cut(text)));
    }
    if FLAGS.contains(&key) {
        return match text {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err(format!("gives `{key}` as `{}`; it is true or false", cut(text))),
        };
    }
    Ok(text.into())
}

/// Reads a text in quotes; returns what follows.
fn quoted(text: &str) -> Result<(String, &str), String> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Ok((out, &text[at + 1..])),
            '\\' => match chars.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, 't')) => out.push('\t'),
                Some((_, other @ ('"' | '\\'))) => out.push(other),
                _ => return Err("has a `\\` before no `\"`, `\\`, `n`, `r` or `t`".to_owned()),
            },
            other => out.push(other),
        }
    }
    Err("has a text without its closing `\"`".to_owned())
}

#[cfg(any(test, fuzzing))]
fn print_line(operation: &Map<String, Value>, out: &mut String) {
    let op = operation.get("op").and_then(Value::as_str).unwrap_or_default();
    out.push_str(op);
    let last = text_key(op);
    for (key, value) in operation.iter().filter(|(key, _)| *key != "op" && *key != last) {
        let written = plain(op, key, value).unwrap_or_else(|| format!("{key}:={value}"));
        let _ = write!(out, " {written}");
    }
    match operation.get(last) {
        None => (),
        Some(Value::String(text)) => {
            let _ = write!(out, " {}", quote(text));
        }
        Some(value) => {
            let _ = write!(out, " {last}:={value}");
        }
    }
}

/// Returns `key=value` where that reads as the value; otherwise JSON has to say it.
#[cfg(any(test, fuzzing))]
fn plain(op: &str, key: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            items?.join(",")
        }
        Value::Bool(it) => it.to_string(),
        Value::Number(it) => it.to_string(),
        _ => return None,
    };
    let is_word = !text.is_empty()
        && !text.starts_with('"')
        && !text.chars().any(|it| it.is_whitespace() || it.is_control());
    let written = if is_word { text.clone() } else { quote(&text) };
    // Only what reads as the same is written so.
    (typed(op, key, &text).ok().as_ref() == Some(value)).then(|| format!("{key}={written}"))
}

#[cfg(any(test, fuzzing))]
fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            other => out.push(other),
        }
    }
    out + "\""
}

fn is_key(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic()) && text.chars().all(is_key_char)
}

fn is_key_char(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

fn cut(text: &str) -> String {
    crate::text::truncate_chars(text, 20)
}

#[cfg(test)]
mod tests;
