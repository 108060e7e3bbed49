//! Schemas of the fields of typed nodes: a table of their keys, forms and limits.
//!
//! To add a kind is one row of [`NODE_KINDS`]; a key is one row of its list. Validation, facets and
//! documentation follow from the table.

pub(crate) mod knowledge;

use std::fmt;

use serde_json::{Map, Value};

use super::identity::NodeId;
use super::node_fields::CanonicalFields;
use super::tree::NodeType;

/// A type of node that has fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TypedNodeSchema {
    pub(crate) node_type: NodeType,
    /// The headings above its nodes, outermost first; they belong to no file.
    pub(crate) bucket: &'static [&'static str],
    pub(crate) keys: &'static [FieldSpec],
    /// Characters of its text, at most.
    pub(crate) content_chars_max: usize,
}

/// A key of the fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldSpec {
    pub(crate) name: &'static str,
    pub(crate) value_type: ValueType,
}

/// The type of a value, with its limits. Lengths count Unicode characters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueType {
    /// A UUID in lower case.
    Uuid,
    /// A text that is not blank.
    Text { chars_max: usize },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Different texts that are not blank.
    Texts { n_max: usize, chars_max: usize },
    /// Milliseconds since the Unix epoch.
    Time,
    /// `true`; `false` is left out.
    Flag,
    /// An object of these keys.
    Object(&'static [FieldSpec]),
    /// A number between 0 and 1.
    Share,
    /// A whole number.
    Whole,
    /// The id of a node.
    Id,
    /// Edges to other nodes: objects of `type`, `to`, `strength` and `context`.
    Links { n_max: usize },
    /// An object of any members.
    Free { bytes_max: usize },
}

/// The types of memories, by the names that clients use.
pub(crate) const MEMORY_TYPES: [NodeType; 3] = [NodeType::Core, NodeType::Learning, NodeType::Task];

/// The label of the root that typed memories live under, which belongs to no file.
pub(crate) const MEMORIES_ROOT: &str = "@memories";

/// Words for how much a memory matters, most first.
pub(crate) const IMPORTANCES: &[&str] = &["high", "medium", "low"];

/// Words for how far a task is.
pub(crate) const STATUSES: &[&str] = &["completed", "in-progress", "blocked"];

/// Characters of a memory's content, at most.
pub(crate) const CONTENT_CHARS_MAX: usize = 5_000;

/// The keys of `task_metadata`, in the order in which clients see them.
pub(crate) const TASK_METADATA: &[FieldSpec] = &[
    FieldSpec { name: "status", value_type: ValueType::Choice(STATUSES) },
    FieldSpec { name: "completed_at", value_type: ValueType::Time },
    FieldSpec { name: "blockers", value_type: ValueType::Texts { n_max: 10, chars_max: 200 } },
    FieldSpec { name: "outcome", value_type: ValueType::Text { chars_max: 1_000 } },
];

/// The keys of a task.
const TASK: &[FieldSpec] = &[
    FieldSpec { name: "uuid", value_type: ValueType::Uuid },
    FieldSpec { name: "category", value_type: ValueType::Text { chars_max: 50 } },
    FieldSpec { name: "created_at", value_type: ValueType::Time },
    FieldSpec { name: "updated_at", value_type: ValueType::Time },
    FieldSpec { name: "tags", value_type: ValueType::Texts { n_max: 10, chars_max: 30 } },
    FieldSpec { name: "importance", value_type: ValueType::Choice(IMPORTANCES) },
    FieldSpec { name: "archived", value_type: ValueType::Flag },
    FieldSpec { name: "task_metadata", value_type: ValueType::Object(TASK_METADATA) },
];

/// The keys of every other memory: those of a task without `task_metadata`.
const MEMORY: &[FieldSpec] = TASK.split_at(TASK.len() - 1).0;

/// Every kind.
pub(crate) const NODE_KINDS: &[TypedNodeSchema] = &[
    memory(NodeType::Core, &[MEMORIES_ROOT, "core"], MEMORY),
    memory(NodeType::Learning, &[MEMORIES_ROOT, "learnings"], MEMORY),
    memory(NodeType::Task, &[MEMORIES_ROOT, "tasks"], TASK),
    knowledge::EPISODE,
    knowledge::CONCEPT,
    knowledge::FACT,
    knowledge::TOPIC,
    knowledge::ENTITY,
    knowledge::CONFLICT,
    knowledge::CHUNK,
];

const fn memory(
    node_type: NodeType,
    bucket: &'static [&'static str],
    keys: &'static [FieldSpec],
) -> TypedNodeSchema {
    TypedNodeSchema { node_type, bucket, keys, content_chars_max: CONTENT_CHARS_MAX }
}

/// The reason why fields are refused: the key, the limit and the size of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidField {
    pub(crate) key: String,
    pub(crate) why: String,
}

impl fmt::Display for InvalidField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.key, self.why)
    }
}

impl TypedNodeSchema {
    /// Returns the kind of a type of node, if nodes of that type have fields.
    pub(crate) fn of(node_type: NodeType) -> Option<&'static TypedNodeSchema> {
        NODE_KINDS.iter().find(|it| it.node_type == node_type)
    }

    /// Checks every member of the fields.
    ///
    /// # Errors
    ///
    /// A key is unknown, or its value has another form or is beyond a limit.
    pub(crate) fn check(&self, fields: &CanonicalFields) -> Result<(), InvalidField> {
        check_members(self.keys, fields.object(), "")
    }
}

fn check_members(
    keys: &[FieldSpec],
    members: &Map<String, Value>,
    within: &str,
) -> Result<(), InvalidField> {
    for (name, value) in members {
        let path = format!("{within}{name}");
        let Some(key) = keys.iter().find(|it| it.name == name.as_str()) else {
            let known: Vec<&str> = keys.iter().map(|it| it.name).collect();
            let why = format!("is unknown; known are {}", known.join(", "));
            return Err(InvalidField { key: path, why });
        };
        match (key.value_type, value) {
            (ValueType::Object(keys), Value::Object(object)) => {
                check_members(keys, object, &format!("{path}."))?;
            }
            (form, value) => form.check(value).map_err(|why| InvalidField { key: path, why })?,
        }
    }
    Ok(())
}

/// Returns the form of a memory's field.
pub(crate) fn value_type_of(name: &str) -> ValueType {
    let key = TASK.iter().find(|it| it.name == name);
    key.map_or(ValueType::Text { chars_max: 0 }, |it| it.value_type)
}

impl ValueType {
    /// Checks a value that is no object. A marker that took the place of a secret counts as one
    /// character, so that redaction makes no text too long.
    ///
    /// # Errors
    ///
    /// The value has another form or is beyond a limit; the text goes on from the key's name.
    pub(crate) fn check(self, value: &Value) -> Result<(), String> {
        match (self, value) {
            (ValueType::Uuid, Value::String(it)) if is_uuid(it) => Ok(()),
            (ValueType::Uuid, _) => Err("must be a UUID".to_owned()),
            (ValueType::Text { chars_max }, Value::String(it)) => check_marked_text(it, chars_max),
            (ValueType::Text { .. }, _) => Err("must be a text".to_owned()),
            (ValueType::Choice(words), Value::String(it)) if words.contains(&it.as_str()) => Ok(()),
            (ValueType::Choice(words), _) => Err(format!("must be one of {}", words.join(", "))),
            (ValueType::Texts { n_max, .. }, Value::Array(items)) if n_max < items.len() => {
                Err(format!("has {} items; at most {n_max} fit", items.len()))
            }
            (ValueType::Texts { chars_max, .. }, Value::Array(items)) => {
                items.iter().try_for_each(|it| {
                    let text = it.as_str().ok_or("must be a list of texts")?;
                    check_marked_text(text, chars_max)
                        .map_err(|why| format!("has an item that {why}"))
                })
            }
            (ValueType::Texts { .. }, _) => Err("must be a list of texts".to_owned()),
            (ValueType::Time, Value::Number(it)) if it.is_i64() => Ok(()),
            (ValueType::Time, _) => Err("must be a time in milliseconds".to_owned()),
            (ValueType::Flag, Value::Bool(true)) => Ok(()),
            (ValueType::Flag, _) => Err("must be `true` or absent".to_owned()),
            (ValueType::Object(_), _) => Err("must be an object".to_owned()),
            (other, value) => other.check_of_knowledge(value),
        }
    }
}

impl ValueType {
    fn check_of_knowledge(self, value: &Value) -> Result<(), String> {
        let is_share = |it: &Value| it.as_f64().is_some_and(|it| (0.0..=1.0).contains(&it));
        let is_id = |it: &Value| it.as_str().and_then(NodeId::parse).is_some();
        let is_link = |it: &Value| {
            is_id(&it["to"])
                && it["type"].as_str().is_some_and(|it| !it.trim().is_empty())
                && (it["strength"].is_null() || is_share(&it["strength"]))
        };
        let ok = |is_ok: bool, what: &str| match is_ok {
            true => Ok(()),
            false => Err(format!("must be {what}")),
        };
        match (self, value) {
            (ValueType::Share, it) => ok(is_share(it), "a number from 0 to 1"),
            (ValueType::Whole, it) => ok(it.is_i64(), "a whole number"),
            (ValueType::Id, it) => ok(is_id(it), "the id of a node"),
            (ValueType::Links { n_max }, Value::Array(items)) if n_max < items.len() => {
                Err(format!("has {} items; at most {n_max} fit", items.len()))
            }
            (ValueType::Links { .. }, Value::Array(items)) => {
                ok(items.iter().all(is_link), "a list of edges, each with `type` and `to`")
            }
            (ValueType::Links { .. }, _) => Err("must be a list".to_owned()),
            (ValueType::Free { bytes_max }, it @ Value::Object(_)) => {
                let n_bytes = it.to_string().len();
                match n_bytes <= bytes_max {
                    true => Ok(()),
                    false => Err(format!("has {n_bytes} bytes; at most {bytes_max} fit")),
                }
            }
            _ => Err("must be an object".to_owned()),
        }
    }
}

/// Checks the length of a text in characters; a marker of a secret counts as one.
pub(crate) fn check_marked_text(text: &str, chars_max: usize) -> Result<(), String> {
    check_text(&shorten_markers(text), chars_max)
}

/// Replaces each marker of a secret by one character.
fn shorten_markers(text: &str) -> String {
    const MARKER: &str = "«redacted:";
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, (_, after))) =
        rest.split_once(MARKER).and_then(|(before, it)| Some((before, it.split_once('»')?)))
    {
        out.push_str(before);
        out.push('…');
        rest = after;
    }
    out + rest
}

/// Checks the length of a text in characters.
pub(crate) fn check_text(text: &str, chars_max: usize) -> Result<(), String> {
    match text.chars().count() {
        _ if text.trim().is_empty() => Err("is blank".to_owned()),
        n_chars if chars_max < n_chars => {
            Err(format!("has {n_chars} characters; at most {chars_max} fit"))
        }
        _ => Ok(()),
    }
}

/// Returns whether a text is a UUID in lower case, of any version.
pub(crate) fn is_uuid(text: &str) -> bool {
    let is_hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    text.len() == 36
        && text.bytes().enumerate().all(|(at, it)| match at {
            8 | 13 | 18 | 23 => it == b'-',
            _ => is_hex(it),
        })
}

/// Characters of the name of a custom view, at most.
pub(crate) const VIEW_NAME_CHARS_MAX: usize = 64;

/// Returns whether a text can name a custom view: `a-z`, `0-9` and `-`.
pub(crate) fn is_view_name(text: &str) -> bool {
    let is_allowed = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    (1..=VIEW_NAME_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests;
