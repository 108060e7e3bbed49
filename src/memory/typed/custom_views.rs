//! Custom views: conditions on memories under a name, read as one document by URI.
//!
//! A view shows at most [`SHOWN_MAX`] memories, and reading it counts no access. People write its
//! conditions as `type=task tags=python,web search="two words"`; they are stored as JSON with the
//! names and values of `query_memories`, and `status` besides.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value, json};

use super::collection_resources::SHOWN_MAX;
use super::query;
use super::request::{QueryRequest, VIEW_CONDITIONS};
use super::typed_memory::TypedMemory;
use super::{ErrorCode, MemoryError};
use crate::model::clock::UnixMillis;
use crate::model::typed_node_field_schemas::{VIEW_NAME_CHARS_MAX, is_view_name};
use crate::store::StoreError;
use crate::store::reader::{CustomViewRow, Reader};

/// Holds a custom view.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CustomView {
    pub(crate) name: String,
    /// The conditions, by name.
    pub(crate) conditions: Map<String, Value>,
}

/// Refuses a name with other characters than `a-z`, `0-9` and `-`, and one that is too long.
pub(crate) fn check_view_name(name: &str) -> Result<(), MemoryError> {
    if is_view_name(name) {
        return Ok(());
    }
    let name = crate::text::truncate_chars(name, VIEW_NAME_CHARS_MAX);
    let what = format!(
        "a view's name has 1 to {VIEW_NAME_CHARS_MAX} letters a-z, digits and hyphens, unlike \
         `{name}`"
    );
    Err(MemoryError::invalid(what))
}

/// Reads conditions as people write them, `name=value` each.
pub(crate) fn parse_conditions(words: &[String]) -> Result<Map<String, Value>, MemoryError> {
    let mut conditions = Map::new();
    for word in words {
        let Some((name, value)) = word.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            let what = format!(
                "`{word}` is no condition; write name=value, with quotes around several words: \
                 type=task search=\"two words\""
            );
            return Err(MemoryError::invalid(what));
        };
        let value = match (name, value.parse::<u64>(), value.parse::<bool>()) {
            ("tags", ..) => value.split(',').collect(),
            ("limit", Ok(number), _) => number.into(),
            ("archived", _, Ok(flag)) => flag.into(),
            _ => value.into(),
        };
        if conditions.insert(name.to_owned(), value).is_some() {
            return Err(MemoryError::invalid(format!("`{name}` is given twice; give it once")));
        }
    }
    request(&conditions).map(|_| conditions)
}

fn request(conditions: &Map<String, Value>) -> Result<QueryRequest, MemoryError> {
    QueryRequest::parse_view(conditions, SHOWN_MAX as u64)
}

impl CustomView {
    /// Returns the view of a stored row.
    fn of(row: CustomViewRow) -> Result<CustomView, MemoryError> {
        let CustomViewRow { name, query } = row;
        match serde_json::from_str(&query) {
            Ok(conditions) => Ok(CustomView { name, conditions }),
            Err(_) => Err(unreadable(&name, "its conditions are no JSON object")),
        }
    }

    /// Returns every view, by name; one that cannot be read has no conditions.
    pub(crate) fn all(reader: &Reader) -> Result<Vec<CustomView>, StoreError> {
        let rows = reader.custom_views()?.into_iter();
        Ok(rows
            .map(|row| {
                let name = row.name.clone();
                CustomView::of(row).unwrap_or(CustomView { name, conditions: Map::new() })
            })
            .collect())
    }

    /// Returns the view of that name.
    pub(crate) fn find(reader: &Reader, name: &str) -> Result<Option<CustomView>, MemoryError> {
        let Some(query) = reader.custom_view(name)? else { return Ok(None) };
        CustomView::of(CustomViewRow { name: name.to_owned(), query }).map(Some)
    }

    /// Returns the URI of the view.
    pub(crate) fn uri(&self) -> String {
        format!("memory://custom/{}", self.name)
    }

    /// Returns how many memories the view shows.
    pub(crate) fn count(&self, reader: &Reader) -> Result<usize, MemoryError> {
        Ok(self.memories(reader)?.len())
    }

    /// Returns the document of the view.
    pub(crate) fn read(&self, reader: &Reader, now: UnixMillis) -> Result<Value, MemoryError> {
        let memories = self.memories(reader)?;
        let shown: Vec<Value> = memories.iter().map(TypedMemory::to_json).collect();
        Ok(json!({
            "memories": shown,
            "count": memories.len(),
            "generated_at": now.to_second(),
        }))
    }

    /// Returns a number that is another one when the view shows something else; accesses do not
    /// count.
    pub(crate) fn digest(&self, reader: &Reader) -> Result<u64, MemoryError> {
        let mut shown: Vec<String> =
            self.memories(reader)?.iter().map(TypedMemory::without_accesses).collect();
        // The order may be that of accesses.
        shown.sort_unstable();
        let mut hasher = DefaultHasher::new();
        shown.hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn memories(&self, reader: &Reader) -> Result<Vec<TypedMemory>, MemoryError> {
        let request =
            request(&self.conditions).map_err(|it| unreadable(&self.name, &it.message))?;
        Ok(query::query(reader, &request)?.0.memories)
    }

    /// Returns the conditions as people write them.
    pub(crate) fn conditions_as_text(&self) -> String {
        let known = VIEW_CONDITIONS.iter().filter_map(|name| {
            let value = self.conditions.get(*name)?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Array(items) => {
                    items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(",")
                }
                other => other.to_string(),
            };
            Some(format!("{name}={}", quoted(text)))
        });
        known.collect::<Vec<_>>().join(" ")
    }
}

/// Puts quotes around a value of several words.
fn quoted(text: String) -> String {
    let needs_quotes =
        text.is_empty() || text.contains(|it: char| it.is_whitespace() || it == '\'');
    match (needs_quotes || text.contains('"'), text.contains('"')) {
        (false, _) => text,
        (true, false) => format!("\"{text}\""),
        (true, true) => format!("'{text}'"),
    }
}

fn unreadable(name: &str, why: &str) -> MemoryError {
    let what = format!("the view `{name}` cannot be read: {why}; define it anew");
    MemoryError::new(ErrorCode::CorruptedData, what)
}
