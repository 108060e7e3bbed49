//! Changes of a typed memory's fields, in words: `importance: medium → high`.

use serde_json::{Map, Value};

use super::text_of_note;
use crate::model::clock::UnixMillis;
use crate::model::node_fields::CanonicalFields;
use crate::query::render::to_value;

/// Characters of a value that a note shows.
const VALUE_CHARS_MAX: usize = 60;

/// The field that every change of another one sets.
const UPDATED_AT: &str = "updated_at";

/// Describes what differs between two stored texts, a note for each key. Keys inside of an object
/// stand for themselves.
pub(super) fn field_notes(old: Option<&str>, new: Option<&str>) -> Vec<String> {
    let (old, new) = (members(old), members(new));
    let mut keys: Vec<&String> = old.keys().chain(new.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    let differs = |it: &&&String| old.get(**it) != new.get(**it) && **it != UPDATED_AT;
    let notes: Vec<String> = keys
        .iter()
        .filter(differs)
        .map(|it| {
            format!("{}: {} → {}", to_value(it), shown(it, old.get(*it)), shown(it, new.get(*it)))
        })
        .collect();
    if notes.is_empty() { vec!["fields changed".to_owned()] } else { notes }
}

fn members(text: Option<&str>) -> Map<String, Value> {
    let fields = text.and_then(|it| CanonicalFields::parse_loosely(it).ok());
    let object = fields.map(CanonicalFields::into_object).unwrap_or_default();
    let mut members = Map::new();
    for (key, value) in object {
        match value {
            Value::Object(inner) => members.extend(inner),
            value => drop(members.insert(key, value)),
        }
    }
    members
}

fn shown(key: &str, value: Option<&Value>) -> String {
    let text = match value {
        None => return "none".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let item = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
            items.iter().map(item).collect::<Vec<_>>().join(", ")
        }
        Some(Value::Number(at)) if key.ends_with("_at") => {
            UnixMillis(at.as_i64().unwrap_or_default()).to_second()
        }
        Some(other) => other.to_string(),
    };
    text_of_note(&text, VALUE_CHARS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, new: &str, notes: &[&str]) {
        assert_eq!(field_notes(Some(old), Some(new)), notes);
    }

    #[test]
    fn each_key_that_differs_is_told_with_its_values() {
        check(
            r#"{"importance":"medium","tags":["a","b"],"task_metadata":{"status":"blocked"},"updated_at":1}"#,
            r#"{"archived":true,"importance":"high","tags":["b"],"task_metadata":{"completed_at":1767261600000,"status":"completed"},"updated_at":2}"#,
            &[
                "archived: none → true",
                "completed_at: none → 2026-01-01T10:00:00Z",
                "importance: medium → high",
                "status: blocked → completed",
                "tags: a, b → b",
            ],
        );
        let long = format!(r#"{{"outcome":"{}\nend"}}"#, "é".repeat(99));
        let notes = field_notes(None, Some(&long));
        assert!(notes[0].starts_with("outcome: none → éé") && notes[0].len() < 150, "{notes:?}");
    }

    #[test]
    fn texts_that_cannot_be_read_differ_all_the_same() {
        check("nonsense", "other nonsense", &["fields changed"]);
        check(r#"{"updated_at":1}"#, r#"{"updated_at":2}"#, &["fields changed"]);
    }
}
