//! The values that an altered node may have had: those of its history, of its text, of the index of
//! fields, and, where a column has few, all of them.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};
use serde_json::{Map, Value};

use crate::ingest::parse::label_of_code;
use crate::maintenance::doctor::broken_fields_repair::{self, TASK_METADATA};
use crate::model::node_fields::CanonicalFields;
use crate::model::tree::{ContentFormat, NodeType};
use crate::store::node_columns::{FIELDS, KEY_PATH, LANG, LEVEL};
use crate::store::{PreparedStatements, StoreError};
use crate::text::{
    LABEL_CHARS_MAX, first_sentence, fold_and_truncate, fold_whitespace, label_of_text,
};

/// Columns of a node that every state has.
pub(super) const LABEL: &str = "label";
pub(super) const NODE_TYPE: &str = "node_type";
pub(super) const FORMAT: &str = "format";
pub(super) const CONTENT_HASH: &str = "content_hash";

/// Earlier versions of a node that are tried, the newest ones.
const VERSIONS_MAX: u32 = 16;

/// Bytes of a language or a key path of which one is looked for that was altered.
const ALTERED_BYTES_MAX: usize = 64;

/// Languages of code that are tried.
const LANGS_MAX: u32 = 64;

/// A column and the value that a node had there.
pub(super) type ColumnValue = (&'static str, Option<String>);

/// The label, the fields and the text of a node as they are now.
#[derive(Clone, Copy, Debug)]
pub(super) struct PresentNodeTexts<'a> {
    pub(super) key: i64,
    pub(super) id: &'a str,
    pub(super) label: &'a str,
    pub(super) fields: Option<&'a str>,
    pub(super) content: &'a str,
    /// The language, or an empty one, where it is code.
    pub(super) lang_of_code: Option<&'a str>,
    /// Whether its label and its fields are contradicted by other rows.
    pub(super) is_contradicted: (bool, bool),
}

/// The other columns of a node as they are now.
#[derive(Clone, Copy, Debug)]
pub(super) struct PresentColumns<'a> {
    pub(super) id: &'a str,
    pub(super) label: &'a str,
    /// Whether it is of a type that has a level.
    pub(super) has_level: bool,
    pub(super) lang: Option<&'a str>,
    pub(super) key_path: Option<&'a str>,
}

/// Returns the labels and fields that a node may have had.
pub(super) fn labels_and_fields(
    conn: &Connection,
    now: PresentNodeTexts<'_>,
) -> Result<Vec<Vec<ColumnValue>>, StoreError> {
    let earlier = earlier_versions(conn, now.id)?;
    let mut fields = earlier_fields(now.fields, &earlier);
    fields.extend(match now.fields.map(|it| (it, object_of(it))) {
        Some((_, Some(object))) => {
            let mut fields = indexed_fields(conn, now.key, &object)?;
            fields.extend(titled_fields(now.label, &object));
            fields
        }
        Some((broken, None)) => unbroken_fields(conn, now.key, broken, &earlier)?,
        None => BTreeSet::new(),
    });
    let sentence =
        fold_and_truncate(first_sentence(&fold_whitespace(now.content)), LABEL_CHARS_MAX);
    let mut labels = BTreeSet::from([label_of_text(now.content), sentence]);
    labels.extend(now.lang_of_code.map(|lang| label_of_code(lang, now.content)));
    labels.extend(earlier.iter().map(|it| it.0.clone()));
    let mut states: BTreeSet<(String, Option<String>)> = earlier.into_iter().collect();
    if now.is_contradicted == (true, true) {
        for label in &labels {
            states.extend(fields.iter().map(|it| (label.clone(), it.clone())));
        }
    }
    let present = (now.label.to_owned(), now.fields.map(str::to_owned));
    states.extend(labels.into_iter().map(|it| (it, present.1.clone())));
    states.extend(fields.into_iter().map(|it| (present.0.clone(), it)));
    states.remove(&present);
    let values = |(label, fields)| vec![(LABEL, Some(label)), (FIELDS, fields)];
    Ok(states.into_iter().map(values).collect())
}

/// Returns the types that a node may have had: all of them.
pub(super) fn types() -> Vec<ColumnValue> {
    NodeType::NAMES.iter().map(|it| (NODE_TYPE, Some((*it).to_owned()))).collect()
}

/// Returns the values that a node may have had in the columns besides its label, its fields and its
/// type.
///
/// A language is one of `langs`, that of the label, one of its history or, like a key path, another
/// one of one byte.
pub(super) fn others(
    conn: &Connection,
    langs: &[String],
    now: PresentColumns<'_>,
) -> Result<Vec<ColumnValue>, StoreError> {
    const EARLIER: &str = "
        SELECT old_lang, old_key_path
          FROM diff
         WHERE node_id = ?1
         GROUP BY old_lang, old_key_path
         ORDER BY max(snapshot) DESC
         LIMIT ?2";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let earlier: Vec<(Option<String>, Option<String>)> =
        conn.rows(EARLIER, params![now.id, VERSIONS_MAX], read, "read earlier versions")?;
    let mut values: Vec<ColumnValue> =
        [LEVEL, LANG, KEY_PATH].into_iter().map(|it| (it, None)).collect();
    if now.has_level {
        values.extend((1..=6).map(|it| (LEVEL, Some(it.to_string()))));
    }
    values.extend(ContentFormat::ALL.iter().map(|it| (FORMAT, Some(it.as_str().to_owned()))));
    values.extend(langs.iter().map(|it| (LANG, Some(it.clone()))));
    values.extend(lang_in_label(now.label).map(|it| (LANG, Some(it.to_owned()))));
    for (lang, key_path) in earlier {
        values.extend([(LANG, lang), (KEY_PATH, key_path)]);
    }
    for (column, now) in [(LANG, now.lang), (KEY_PATH, now.key_path)] {
        let now = now.unwrap_or_default();
        broken_fields_repair::each_one_byte_version(now, ALTERED_BYTES_MAX, |it| {
            values.push((column, Some(it.to_owned())));
        });
    }
    Ok(values)
}

/// Returns the language that the label of code names, as `Code (sh): make` does.
fn lang_in_label(label: &str) -> Option<&str> {
    label.strip_prefix("Code (")?.split_once(')')?.0.split_whitespace().next()
}

/// Returns the languages of the memory's code.
pub(super) fn langs(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const LANGS: &str = "SELECT DISTINCT lang FROM node WHERE lang IS NOT NULL LIMIT ?1";
    conn.rows(LANGS, [LANGS_MAX], |row| row.get(0), "list the languages")
}

/// Returns the newest labels and fields that the history has of a node.
fn earlier_versions(
    conn: &Connection,
    id: &str,
) -> Result<Vec<(String, Option<String>)>, StoreError> {
    const EARLIER: &str = "
        SELECT old_label, old_fields
          FROM diff
         WHERE node_id = ?1 AND old_label IS NOT NULL
         GROUP BY old_label, old_fields
         ORDER BY max(snapshot) DESC
         LIMIT ?2";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    conn.rows(EARLIER, params![id, VERSIONS_MAX], read, "read earlier labels")
}

/// Returns the fields with one value of an earlier version, or without one.
fn earlier_fields(
    now: Option<&str>,
    earlier: &[(String, Option<String>)],
) -> BTreeSet<Option<String>> {
    let mut fields = BTreeSet::new();
    let Some(present) = &now.and_then(object_of) else { return fields };
    for (_, old) in earlier {
        let old = old.as_deref().and_then(object_of).unwrap_or_default();
        for key in present.keys().chain(old.keys()) {
            fields.insert(with_value(present, key, old.get(key)));
        }
    }
    fields
}

/// Returns the fields with one value that the index of fields has: bytes of it are elsewhere in the
/// file.
fn indexed_fields(
    conn: &Connection,
    node: i64,
    present: &Map<String, Value>,
) -> Result<BTreeSet<Option<String>>, StoreError> {
    let mut fields = BTreeSet::new();
    for (key, value) in broken_fields_repair::facets(conn, node)? {
        fields.insert(with_value(present, &key, Some(&value)));
        if let Some(within) = present.get(TASK_METADATA).and_then(Value::as_object) {
            let within = with_value(within, &key, Some(&value)).as_deref().and_then(object_of);
            let within = within.map(Value::Object);
            fields.insert(with_value(present, TASK_METADATA, within.as_ref()));
        }
    }
    // A key that was altered is one value too many, and one too few.
    fields.extend(broken_fields_repair::indexed(conn, node)?.map(Some));
    Ok(fields)
}

/// Returns the fields with the label as their title, which it is of most nodes that have one.
fn titled_fields(label: &str, present: &Map<String, Value>) -> Option<Option<String>> {
    const TITLE: &str = "title";
    present.contains_key(TITLE).then(|| with_value(present, TITLE, Some(&Value::from(label))))
}

/// Returns what fields may have been that are no object any more.
fn unbroken_fields(
    conn: &Connection,
    node: i64,
    broken: &str,
    earlier: &[(String, Option<String>)],
) -> Result<BTreeSet<Option<String>>, StoreError> {
    let mut fields: BTreeSet<Option<String>> = earlier.iter().map(|it| it.1.clone()).collect();
    fields.extend(broken_fields_repair::unbroken_versions(broken).into_iter().map(Some));
    fields.extend(broken_fields_repair::indexed(conn, node)?.map(Some));
    Ok(fields)
}

/// Returns canonical fields with a value, or without one.
fn with_value(object: &Map<String, Value>, key: &str, value: Option<&Value>) -> Option<String> {
    let mut object = object.clone();
    match value {
        Some(value) => drop(object.insert(key.to_owned(), value.clone())),
        None => drop(object.remove(key)),
    }
    CanonicalFields::new(object).ok().map(|it| it.to_string())
}

fn object_of(fields: &str) -> Option<Map<String, Value>> {
    CanonicalFields::parse_loosely(fields).ok().map(CanonicalFields::into_object)
}
