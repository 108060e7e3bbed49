//! Says in the reply of a write which kinds of secrets were replaced in what the agent gave.
//!
//! A folder's settings may have kinds of their own, which match any text, so an agent must be told
//! when its text is changed.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::mcp::Args;
use crate::memory::{Answer, Memory};

/// The key of an answer for programs.
const KEY: &str = "redacted";

/// Adds the kinds in the arguments to the answer about them.
pub(in crate::surface) fn tell(memory: &Memory, args: &Args, mut answer: Answer) -> Answer {
    let kinds = kinds_in(memory, args);
    if !kinds.is_empty() {
        answer.text += &format!("\nsecrets were replaced by markers: {}", kinds.join(", "));
        if answer.structured.is_object() {
            answer.structured[KEY] = kinds.into();
        }
    }
    answer
}

/// Adds the kinds in the arguments to the document about them.
pub(in crate::surface) fn tell_in_document(memory: &Memory, args: &Args, document: Value) -> Value {
    with_kinds(kinds_in(memory, args), document)
}

/// Adds the kinds in arguments as they came to the document about them.
pub(in crate::surface) fn tell_of_given(
    memory: &Memory,
    given: &Map<String, Value>,
    document: Value,
) -> Value {
    with_kinds(kinds_in_given(memory, given), document)
}

fn with_kinds(kinds: Vec<String>, mut document: Value) -> Value {
    if !kinds.is_empty() && document.is_object() && document["dry_run"] != true {
        document[KEY] = kinds.into();
    }
    document
}

/// Returns the kinds of secrets in the arguments, in order.
fn kinds_in(memory: &Memory, args: &Args) -> Vec<String> {
    if let Some(given) = args.whole() {
        return kinds_in_given(memory, given);
    }
    let named = args.named_texts().filter(|(name, _)| !is_id(name));
    kinds(memory, named.flat_map(|it| it.1).map(String::as_str))
}

/// Returns the kinds of secrets in arguments as they came, in order.
pub(crate) fn kinds_in_given(memory: &Memory, given: &Map<String, Value>) -> Vec<String> {
    let given = given.iter().filter(|(name, _)| !is_id(name));
    kinds(memory, given.flat_map(|it| texts_in(it.1)))
}

fn kinds<'a>(memory: &Memory, texts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let workspace = memory.workspace();
    let mut kinds = BTreeSet::new();
    for text in texts {
        let hits = workspace.redactor.scrub(text).hits;
        kinds.extend(hits.iter().map(|it| it.kind.to_owned()));
    }
    kinds.into_iter().collect()
}

/// Returns the texts in a value but for ids.
fn texts_in(value: &Value) -> Vec<&str> {
    let (mut texts, mut rest) = (Vec::new(), vec![value]);
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => {
                rest.extend(fields.iter().filter(|it| !is_id(it.0)).map(|it| it.1));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => (),
        }
    }
    texts
}

/// Returns whether an argument names a node, which no write stores as a text.
fn is_id(name: &str) -> bool {
    name == "anchor" || name == "id" || name.ends_with("_id")
}
