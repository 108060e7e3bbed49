//! Restores fields that are no JSON object any more, from bytes that they may have had, from the
//! index of fields and from the history.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use serde_json::{Map, Value, json};

use super::typed_nodes::FIELDS;
use crate::model::node_fields::{CanonicalFields, CanonicalFieldsError};
use crate::store::{PreparedStatements, StoreError};
use crate::text::fold_whitespace;

/// Bytes before the first error of a text in which an altered byte is looked for.
const SEARCHED_BYTES_MAX: usize = 1_024;

/// The field of tasks that has fields of its own in the index.
pub(super) const TASK_METADATA: &str = "task_metadata";

/// Brings fields into canonical form. What is no object becomes what the index of fields or else
/// the history has; returns a note with the broken text of each.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const SET: &str = "UPDATE node SET fields = ?2 WHERE key = ?1";
    const LABEL: &str = "SELECT label FROM node WHERE key = ?1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(3)?));
    let all: Vec<(i64, String, String)> = conn.rows(FIELDS, [], read, "read the fields")?;
    let mut notes = Vec::new();
    for (key, id, text) in all {
        match CanonicalFields::parse(&text) {
            Ok(_) => continue,
            Err(CanonicalFieldsError::NotCanonical) => {
                let fields = CanonicalFields::parse_loosely(&text).ok().map(|it| it.to_string());
                conn.run(SET, params![key, fields], "rewrite fields")?;
                continue;
            }
            Err(_) => (),
        }
        let (fields, outcome) = match (indexed(conn, key)?, earlier(conn, &id)?) {
            (Some(it), _) => (Some(it), "they are now what the index of fields has"),
            (None, Some(it)) => (Some(it), "they are now the newest ones of the history"),
            (None, None) => (None, "they are lost"),
        };
        conn.run(SET, params![key, fields], "rewrite fields")?;
        let label: String = conn.row(LABEL, [key], |row| row.get(0), "read a label")?;
        let (label, text) = (fold_whitespace(&label), fold_whitespace(&text));
        notes.push(format!("`{id}` \"{label}\": its fields were damaged, {outcome}; were: {text}"));
    }
    Ok(notes)
}

/// Returns every canonical text that differs from a broken one in one byte.
pub(super) fn unbroken_versions(broken: &str) -> Vec<String> {
    let Err(error) = serde_json::from_str::<Value>(broken) else { return Vec::new() };
    // What is read before the error is read again, unless it changes.
    let n_read = error.column();
    if error.line() != 1 || SEARCHED_BYTES_MAX < n_read.min(broken.len()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    each_one_byte_version(broken, n_read, |it| {
        if CanonicalFields::parse(it).is_ok() {
            found.push(it.to_owned());
        }
    });
    found
}

/// Looks at every text that has another printable byte in one of its first places.
pub(super) fn each_one_byte_version(text: &str, n_bytes: usize, mut look: impl FnMut(&str)) {
    let mut bytes = text.as_bytes().to_vec();
    for at in 0..n_bytes.min(text.len()) {
        let byte = bytes[at];
        for other in b' '..=b'~' {
            bytes[at] = other;
            if let Ok(version) = str::from_utf8(&bytes) {
                look(version);
            }
        }
        bytes[at] = byte;
    }
}

/// Returns the entries of the index of fields of a node.
pub(super) fn facets(conn: &Connection, node: i64) -> Result<Vec<(String, Value)>, StoreError> {
    const FACETS: &str = "SELECT key, value FROM facet WHERE node = ?1";
    let read = |row: &Row<'_>| {
        let value = match row.get_ref(1)? {
            ValueRef::Integer(it) => json!(it),
            other => json!(other.as_str().ok()),
        };
        Ok((row.get(0)?, value))
    };
    conn.rows(FACETS, [node], read, "read the facets")
}

/// Returns the fields that the index has of a node.
pub(super) fn indexed(conn: &Connection, node: i64) -> Result<Option<String>, StoreError> {
    let (mut fields, mut metadata) = (Map::new(), Map::new());
    let (mut tags, mut names, mut category) = (Vec::new(), Vec::new(), None);
    for (key, value) in facets(conn, node)? {
        match key.as_str() {
            // What follows from others.
            "type" | "content_hash" | "archived" | "pending" | "statement" => (),
            "tag" => tags.push(value),
            "name" => names.push(value),
            "category" => category = Some(value),
            "status" | "completed_at" => drop(metadata.insert(key, value)),
            _ => drop(fields.insert(key, value)),
        }
    }
    // A memory without a category is found by its status, or as `other`.
    let is_own = |it: &Value| it != "other" && Some(it) != metadata.get("status");
    fields.extend(category.filter(is_own).map(|it| ("category".to_owned(), it)));
    for (key, values) in [("tags", tags), ("names", names)] {
        if !values.is_empty() {
            fields.insert(key.to_owned(), Value::Array(values));
        }
    }
    if !metadata.is_empty() {
        fields.insert(TASK_METADATA.to_owned(), Value::Object(metadata));
    }
    Ok(CanonicalFields::new(fields).ok().map(|it| it.to_string()))
}

/// Returns the newest sound fields that the history has of a node.
fn earlier(conn: &Connection, id: &str) -> Result<Option<String>, StoreError> {
    const EARLIER: &str = "
        SELECT old_fields
          FROM diff
         WHERE node_id = ?1 AND old_fields IS NOT NULL
         ORDER BY snapshot DESC";
    let all: Vec<String> = conn.rows(EARLIER, [id], |row| row.get(0), "read earlier fields")?;
    Ok(all.iter().find(|it| CanonicalFields::parse(it).is_ok()).cloned())
}
