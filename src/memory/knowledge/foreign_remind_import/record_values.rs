//! Values of the records of Remind, which may be missing or of other types than they should be.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::maintenance::transfer::RemindRecord;
use crate::model::clock::UnixMillis;
use crate::model::entity_extraction::NamedEntity;
use crate::model::node_fields;
use crate::model::typed_node_field_schemas::knowledge::ENTITY_KINDS;

/// Reads the members of a record.
pub(super) trait RecordValues {
    /// Returns a text that is not blank.
    fn text(&self, name: &str) -> Option<&str>;
    fn number(&self, name: &str) -> Option<f64>;
    /// Returns a time; the reader of the records gave it a zone.
    fn time(&self, name: &str) -> Option<UnixMillis>;
    /// Returns whether a flag is set: `true`, or a number that is not 0.
    fn is_set(&self, name: &str) -> bool;
    /// Returns a list of texts: a list, the JSON of one, or lines.
    fn texts(&self, name: &str) -> Vec<String>;
    /// Returns a list of objects.
    fn objects(&self, name: &str) -> Vec<&RemindRecord>;
}

impl RecordValues for RemindRecord {
    fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|it| !it.trim().is_empty())
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    fn time(&self, name: &str) -> Option<UnixMillis> {
        let text = self.text(name)?.trim();
        // SQLite and Python put a blank where the standard has a `T`.
        UnixMillis::parse_rfc3339(text)
            .or_else(|| UnixMillis::parse_rfc3339(&text.replacen(' ', "T", 1)))
    }

    fn is_set(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(it)) => *it,
            Some(Value::Number(it)) => it.as_f64() != Some(0.0),
            _ => false,
        }
    }

    fn texts(&self, name: &str) -> Vec<String> {
        let of_list = |items: &[Value]| -> Vec<String> {
            items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let found = match self.get(name) {
            Some(Value::Array(items)) => of_list(items),
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(Value::Array(items)) => of_list(&items),
                _ => text.lines().map(str::to_owned).collect(),
            },
            _ => Vec::new(),
        };
        found.into_iter().filter(|it| !it.trim().is_empty()).collect()
    }

    fn objects(&self, name: &str) -> Vec<&RemindRecord> {
        let items = self.get(name).and_then(Value::as_array);
        items.into_iter().flatten().filter_map(Value::as_object).collect()
    }
}

/// Returns records by the text of a member.
pub(super) fn by<'a>(
    records: &'a [RemindRecord],
    name: &str,
) -> HashMap<&'a str, Vec<&'a RemindRecord>> {
    let mut by: HashMap<&str, Vec<&RemindRecord>> = HashMap::new();
    for record in records {
        if let Some(text) = record.text(name) {
            by.entry(text).or_default().push(record);
        }
    }
    by
}

/// Returns whether a node has a field as a record has it; a flag that is not set is none.
pub(super) fn is_same_field(name: &str, here: Option<&Value>, there: Option<&Value>) -> bool {
    let set = |it: Option<&Value>| it.filter(|it| **it != Value::Bool(false)).cloned();
    match there {
        Some(Value::Object(there)) if name == "metadata" => is_same_metadata(here, there),
        _ => set(here) == set(there),
    }
}

/// Returns whether metadata are here as a record has them, or as earlier versions kept them:
/// without empty lists and `null`.
fn is_same_metadata(here: Option<&Value>, there: &Map<String, Value>) -> bool {
    let mut kept = there.clone();
    kept.retain(|_, it| it.as_array().is_none_or(|it| !it.is_empty()));
    let kept = node_fields::without_nulls(kept.into());
    let none = Value::Object(Map::new());
    let here = here.unwrap_or(&none);
    here.as_object() == Some(there) || *here == kept
}

/// Labels by the id of their owner: lists of values by key.
pub(super) type LabelsByOwnerId<'a> = HashMap<&'a str, Map<String, Value>>;

/// Returns the labels of rows.
pub(super) fn labels(rows: &[RemindRecord]) -> LabelsByOwnerId<'_> {
    let mut labels = LabelsByOwnerId::new();
    for row in rows {
        let (id, key, value) = (row.text("subject_id"), row.text("key"), row.text("value"));
        if let (Some(id), Some(key), Some(value)) = (id, key, value) {
            add_label(labels.entry(id).or_default(), key, value);
        }
    }
    labels
}

fn add_label(labels: &mut Map<String, Value>, key: &str, value: &str) {
    let values = labels.entry(key.to_owned()).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(values) = values
        && !values.iter().any(|it| it == value)
    {
        values.push(value.into());
    }
}

/// Returns the labels of a record: its own, and those of rows.
pub(super) fn labels_of(record: &RemindRecord, rows: &LabelsByOwnerId<'_>) -> Map<String, Value> {
    let mut labels = record.text("id").and_then(|it| rows.get(it)).cloned().unwrap_or_default();
    for (key, values) in record.get("labels").and_then(Value::as_object).into_iter().flatten() {
        let values = values.as_array().map_or(std::slice::from_ref(values), Vec::as_slice);
        values.iter().filter_map(Value::as_str).for_each(|it| add_label(&mut labels, key, it));
    }
    labels
}

/// Returns the entity of `type:name`; an unknown type is `other`, none is `subject`.
pub(super) fn named_entity(id: &str, shown: Option<&str>) -> Option<NamedEntity> {
    let (kind, name) = match id.split_once(':') {
        Some((kind, name)) => (kind.trim().to_lowercase(), name),
        None => ("subject".to_owned(), id),
    };
    let name = shown.filter(|it| it.to_lowercase() == name.to_lowercase()).unwrap_or(name).trim();
    let kind = ENTITY_KINDS.iter().find(|it| **it == kind).copied().unwrap_or("other");
    (!name.is_empty()).then(|| NamedEntity { kind, name: name.to_owned() })
}
