//! Says in the reply of a write which kinds of secrets were replaced in what the agent gave.
//!
//! A folder's settings may have kinds of their own, which match any text, so an agent must be told
//! when its text is changed.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::memory::{Answer, Memory};

/// The key of an answer for programs.
const KEY: &str = "redacted";

/// Adds the kinds in a text to the answer about it.
pub(super) fn tell(memory: &Memory, text: &str, mut answer: Answer) -> Answer {
    let kinds = kinds_in(memory, &Value::from(text));
    if !kinds.is_empty() {
        answer.text += &format!("\nsecrets were replaced by markers: {}", kinds.join(", "));
        if answer.structured.is_object() {
            answer.structured[KEY] = kinds.into();
        }
    }
    answer
}

/// Adds the kinds in the arguments to the document about them.
pub(super) fn tell_in_document(
    memory: &Memory,
    args: &Map<String, Value>,
    mut document: Value,
) -> Value {
    let kinds: BTreeSet<String> = args.values().flat_map(|it| kinds_in(memory, it)).collect();
    if !kinds.is_empty() {
        document[KEY] = kinds.into_iter().collect();
    }
    document
}

/// Returns the kinds of secrets in the strings of a value, in order.
fn kinds_in(memory: &Memory, value: &Value) -> Vec<String> {
    let workspace = memory.workspace();
    let mut kinds = BTreeSet::new();
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) => {
                let hits = workspace.redactor.scrub(text).hits;
                kinds.extend(hits.iter().map(|it| it.kind.to_owned()));
            }
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => (),
        }
    }
    kinds.into_iter().collect()
}
