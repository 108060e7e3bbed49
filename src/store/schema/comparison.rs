//! Compares the schema objects of a database with those that the migrations make.
//!
//! A trigger or a view is code that runs inside every program that opens the file. One that no
//! migration made can delete what was just written, copy it to where redaction does not look, or
//! never end.

use std::collections::BTreeMap;
use std::fmt;

use rusqlite::{Connection, Row};

use super::{apply, newest};
use crate::store::{ErrorContext, PreparedStatements, StoreError};
use crate::text;

/// The objects that all migrations make, in the order of [`OBJECTS`] with empty lines in between:
/// comparing with them takes microseconds, making them anew takes milliseconds.
const NEWEST_OBJECTS: &str = include_str!("../sql/newest_objects.txt");

/// The end of an object in [`NEWEST_OBJECTS`]; no definition contains it.
const SEPARATOR: &str = "\n\n";

/// Every object as kind, name and definition, in their order. The table of an object is a part of
/// its definition where it has another name.
///
/// The tables of statistics are SQLite's own, and so are the definitions of the full-text index's.
const OBJECTS: &str = "
    SELECT type, name,
           trim(iif(tbl_name IS name, '', tbl_name || char(10))
                || iif(name GLOB 'node_fts_*' AND type = 'table', '', ifnull(sql, '')), char(10))
      FROM sqlite_schema
     WHERE NOT (type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))
     ORDER BY type, name";

/// An object of a schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SchemaObject {
    /// `table`, `index`, `trigger` or `view`.
    pub(crate) kind: String,
    pub(crate) name: String,
}

impl fmt::Display for SchemaObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.kind, text::fold_whitespace(&self.name))
    }
}

/// A kind of difference from the expected schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaDifferenceKind {
    /// No migration makes the object.
    Foreign,
    /// The object has another definition.
    Altered,
    /// The object is not there.
    Missing,
}

impl SchemaDifferenceKind {
    /// Returns the word of messages.
    fn as_str(self) -> &'static str {
        match self {
            SchemaDifferenceKind::Foreign => "foreign",
            SchemaDifferenceKind::Altered => "altered",
            SchemaDifferenceKind::Missing => "missing",
        }
    }
}

/// An object that differs from the expected schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SchemaDifference {
    pub(crate) object: SchemaObject,
    pub(crate) difference: SchemaDifferenceKind,
}

impl SchemaDifference {
    /// Returns whether SQLite made the object along with a table, and drops it with the table.
    pub(crate) fn is_automatic(&self) -> bool {
        self.object.name.starts_with("sqlite_")
    }
}

impl fmt::Display for SchemaDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.difference.as_str(), self.object)
    }
}

/// Returns the differences for a message, and no more than fit into one.
pub(crate) fn listed(differences: &[SchemaDifference]) -> String {
    const LISTED_MAX: usize = 5;
    let mut shown: Vec<String> =
        differences.iter().take(LISTED_MAX).map(SchemaDifference::to_string).collect();
    if LISTED_MAX < differences.len() {
        shown.push(format!("{} more", differences.len() - LISTED_MAX));
    }
    shown.join(", ")
}

/// The objects of a schema and their definitions.
type SchemaDefinitions = BTreeMap<SchemaObject, String>;

/// Returns every object that differs from those of the schema version.
pub(crate) fn differences(
    conn: &Connection,
    version: i64,
) -> Result<Vec<SchemaDifference>, StoreError> {
    if version == newest() && are_newest(conn)? {
        return Ok(Vec::new());
    }
    let found = definitions(conn)?;
    let expected = expected(version)?;
    let differs = |(object, definition): (&SchemaObject, &String)| {
        let difference = match expected.get(object) {
            None => SchemaDifferenceKind::Foreign,
            Some(other) if other != definition => SchemaDifferenceKind::Altered,
            Some(_) => return None,
        };
        Some(SchemaDifference { object: object.clone(), difference })
    };
    let is_missing = |it: &&SchemaObject| !found.contains_key(*it);
    let missing = expected.keys().filter(is_missing).map(|it| SchemaDifference {
        object: it.clone(),
        difference: SchemaDifferenceKind::Missing,
    });
    Ok(found.iter().filter_map(differs).chain(missing).collect())
}

/// Returns the SQL that makes each object of a schema version.
pub(crate) fn statements(version: i64) -> Result<BTreeMap<SchemaObject, String>, StoreError> {
    const STATEMENTS: &str = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL";
    let read = |row: &Row<'_>| Ok((read_object(row)?, row.get(2)?));
    let rows: Vec<(SchemaObject, String)> =
        model_database(version)?.rows(STATEMENTS, [], read, "read the schema")?;
    Ok(rows.into_iter().collect())
}

/// Returns the table and the SQL of each object of a schema version.
pub(crate) fn tables_of_objects(
    version: i64,
) -> Result<Vec<(SchemaObject, String, Option<String>)>, StoreError> {
    const TABLES: &str = "SELECT type, name, tbl_name, sql FROM sqlite_schema";
    let read = |row: &Row<'_>| Ok((read_object(row)?, row.get(2)?, row.get(3)?));
    model_database(version)?.rows(TABLES, [], read, "read the schema")
}

fn expected(version: i64) -> Result<SchemaDefinitions, StoreError> {
    definitions(&model_database(version)?)
}

/// Returns an empty database of a schema version, in memory.
fn model_database(version: i64) -> Result<Connection, StoreError> {
    let conn = Connection::open_in_memory().doing("make an empty schema")?;
    apply(&conn, 0, version)?;
    Ok(conn)
}

fn read_object(row: &Row<'_>) -> rusqlite::Result<SchemaObject> {
    Ok(SchemaObject { kind: row.get(0)?, name: row.get(1)? })
}

/// Returns whether the objects are, letter for letter, those of [`NEWEST_OBJECTS`].
fn are_newest(conn: &Connection) -> Result<bool, StoreError> {
    const DOING: &str = "read the schema";
    let mut expected = NEWEST_OBJECTS.split_terminator(SEPARATOR);
    let mut statement = conn.prepare(OBJECTS).doing(DOING)?;
    let mut rows = statement.query([]).doing(DOING)?;
    while let Some(row) = rows.next().doing(DOING)? {
        let column = |nth| Ok::<_, rusqlite::Error>(row.get_ref(nth)?.as_str()?);
        let (kind, name, definition) =
            (column(0).doing(DOING)?, column(1).doing(DOING)?, column(2).doing(DOING)?);
        let rest = expected.next().and_then(|it| it.strip_prefix(kind)?.strip_prefix(' '));
        let rest = rest.and_then(|it| it.strip_prefix(name));
        if rest.map(|it| it.strip_prefix('\n').unwrap_or(it)) != Some(definition) {
            return Ok(false);
        }
    }
    Ok(expected.next().is_none())
}

/// Returns the objects of the database; whitespace within a definition is folded.
fn definitions(conn: &Connection) -> Result<SchemaDefinitions, StoreError> {
    let read = |row: &Row<'_>| {
        let definition: String = row.get(2)?;
        Ok((read_object(row)?, text::fold_whitespace(&definition)))
    };
    let rows: Vec<(SchemaObject, String)> = conn.rows(OBJECTS, [], read, "read the schema")?;
    Ok(rows.into_iter().collect())
}

#[cfg(test)]
mod tests;
