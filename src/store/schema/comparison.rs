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

/// The full-text index. The names of the tables behind it begin with its own.
pub(crate) const FULL_TEXT_INDEX: &str = "node_fts";

/// The beginning of the names that SQLite keeps for itself.
const RESERVED: &str = "sqlite_";

/// Tables that are made again: their rows follow from others, or mean nothing elsewhere.
const REBUILT_TABLES: [&str; 11] = [
    FULL_TEXT_INDEX,
    "change_count",
    "facet",
    "facet_program",
    "file_name",
    "lease",
    "pulse",
    "running_total",
    "typed_edge",
    "vector",
    "wanted",
];

/// Every object as kind, name and definition, in their order. The table of an object is a part of
/// its definition where it has another name.
///
/// The tables of statistics are SQLite's own. So are those behind the full-text index, but their
/// definitions are known, and another one may have a check that runs on each write.
const OBJECTS: &str = "
    SELECT type, name,
           trim(iif(tbl_name IS name, '', tbl_name || char(10)) || ifnull(sql, ''), char(10))
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
    /// The object has its definition, and is listed as one of another table.
    Misplaced,
    /// The object is not there.
    Missing,
}

impl SchemaDifferenceKind {
    /// Returns the word of messages.
    fn as_str(self) -> &'static str {
        match self {
            SchemaDifferenceKind::Foreign => "foreign",
            SchemaDifferenceKind::Altered | SchemaDifferenceKind::Misplaced => "altered",
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
    /// Returns whether SQLite keeps the object for itself, and refuses to drop it.
    pub(crate) fn is_reserved(&self) -> bool {
        let SchemaObject { kind, name } = &self.object;
        matches!(kind.as_str(), "table" | "index")
            && name.get(..RESERVED.len()).is_some_and(|it| it.eq_ignore_ascii_case(RESERVED))
    }

    /// Returns whether the object is foreign and cannot be dropped, not even along with a table.
    fn stays(&self) -> bool {
        self.difference == SchemaDifferenceKind::Foreign
            && self.is_reserved()
            && !self.object.name.starts_with("sqlite_autoindex_")
    }

    /// Returns whether rows are lost or cannot be read, which follow from no others.
    fn loses_rows(&self) -> bool {
        let SchemaDifference { object, difference } = self;
        object.kind == "table"
            && !is_rebuilt(&object.name)
            && !is_behind_index(object)
            && matches!(difference, SchemaDifferenceKind::Altered | SchemaDifferenceKind::Missing)
    }
}

impl fmt::Display for SchemaDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.difference.as_str(), self.object)
    }
}

/// Returns whether the rows of a table follow from others, or mean nothing elsewhere.
pub(crate) fn is_rebuilt(table: &str) -> bool {
    REBUILT_TABLES.contains(&table)
}

/// Returns whether SQLite keeps the full-text index in the table, and makes it along with it.
pub(crate) fn is_behind_index(object: &SchemaObject) -> bool {
    let rest = object.name.strip_prefix(FULL_TEXT_INDEX);
    object.kind == "table" && rest.is_some_and(|it| it.starts_with('_'))
}

/// Returns whether a table is missing and a foreign one is there, which may be the missing one with
/// its rows: one altered bit of its name suffices.
pub(crate) fn is_table_displaced(differences: &[SchemaDifference]) -> bool {
    let has = |difference, is_kind: fn(&str) -> bool| {
        differences.iter().any(|it| it.difference == difference && is_kind(&it.object.kind))
    };
    has(SchemaDifferenceKind::Missing, |kind| kind == "table")
        && has(SchemaDifferenceKind::Foreign, |kind| !matches!(kind, "index" | "trigger" | "view"))
}

/// Returns whether the schema can be made right in place without a loss of rows.
pub(crate) fn are_restorable(differences: &[SchemaDifference]) -> bool {
    let is_in_the_way = |it: &SchemaDifference| it.loses_rows() || it.stays();
    !is_table_displaced(differences) && !differences.iter().any(is_in_the_way)
}

/// A way to make a schema that differs right in place, without a loss of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SchemaRemedy {
    /// The objects are those of this version, and the number is another's.
    Renumber(i64),
    /// Foreign objects are dropped, and missing ones made.
    DropAndMake,
    /// There is none.
    Nothing,
}

/// Returns the remedy for the differences from the schema that the number of the database says.
pub(crate) fn remedy(
    conn: &Connection,
    number: i64,
    differences: &[SchemaDifference],
) -> Result<SchemaRemedy, StoreError> {
    Ok(match version_of_objects(conn)? {
        Some(version) if version != number => SchemaRemedy::Renumber(version),
        // No migration made the number: all is foreign to it, and nothing would be left.
        _ if number < 1 => SchemaRemedy::Nothing,
        _ if are_restorable(differences) => SchemaRemedy::DropAndMake,
        _ => SchemaRemedy::Nothing,
    })
}

/// Returns the newest schema version that has just the objects of the database.
fn version_of_objects(conn: &Connection) -> Result<Option<i64>, StoreError> {
    let (found, model) = (definitions(conn)?, model_database(0)?);
    let mut of = None;
    for version in 1..=newest() {
        apply(&model, version - 1, version)?;
        if definitions(&model)? == found {
            of = Some(version);
        }
    }
    Ok(of)
}

/// Returns the differences for a message, or that the number alone is wrong.
pub(crate) fn named(number: i64, differences: &[SchemaDifference], by: SchemaRemedy) -> String {
    match by {
        SchemaRemedy::Renumber(version) => {
            format!("number {number} on the objects of schema {version}")
        }
        SchemaRemedy::DropAndMake | SchemaRemedy::Nothing => listed(differences),
    }
}

/// Returns the differences for a message, and no more than fit into one: tables first, since their
/// indexes and triggers are missing with them.
pub(crate) fn listed(differences: &[SchemaDifference]) -> String {
    const LISTED_MAX: usize = 5;
    let mut listed: Vec<&SchemaDifference> = differences.iter().collect();
    listed.sort_by_key(|it| it.object.kind != "table");
    let mut shown: Vec<String> =
        listed.into_iter().take(LISTED_MAX).map(SchemaDifference::to_string).collect();
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
            Some(other) if other == definition => return None,
            // The name of the table is in front.
            Some(other) if definition.ends_with(other) => SchemaDifferenceKind::Misplaced,
            Some(_) => SchemaDifferenceKind::Altered,
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
