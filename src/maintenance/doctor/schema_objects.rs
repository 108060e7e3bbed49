//! Compares the schema with the migrations; drops foreign objects and makes missing ones again.
//!
//! An object without rows of its own is made again from its definition. So is a table whose rows
//! follow from others, or mean nothing once their process is gone: the checks behind find it empty,
//! and rebuild it. No other table is: an empty one would hide that its rows are lost.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::{Connection, Row, TransactionBehavior};

use super::CheckStatus;
use crate::store::commit_outcome::commit;
use crate::store::schema::comparison::{
    self, FULL_TEXT_INDEX, SchemaDifference, SchemaDifferenceKind, SchemaObject, SchemaRemedy,
    differences, is_behind_index, is_rebuilt, is_table_displaced, listed,
};
use crate::store::schema::{refuse_unrepaired, refuse_unrestorable, version};
use crate::store::{ErrorContext, PreparedStatements, StoreError, connection};

/// The check's name in reports.
pub(crate) const SCHEMA_OBJECTS: &str = "schema_objects";

/// Kinds of objects in the order of dropping: none acts on, or depends on, a later one. Views and
/// virtual tables go between the first two.
const KINDS: [&str; 3] = ["trigger", "index", "table"];

/// Times that what differs is listed and dropped.
const DROPS_MAX: usize = 3;

/// The note on vectors, which follow from texts by a model alone.
const VECTORS_GONE: &str = "vectors that texts had are gone; a server with `embeddings` makes new \
                            ones when it starts, or after the next change";

/// Checks that the database has the objects of its schema version and no others.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let number = version(conn)?;
    let found = differences(conn, number)?;
    Ok(match found.is_empty() {
        true => (CheckStatus::Pass, "every table, index, trigger and view is ours".to_owned()),
        false => {
            let remedy = comparison::remedy(conn, number, &found)?;
            (CheckStatus::Fail, comparison::named(number, &found, remedy))
        }
    })
}

/// Returns whether a table or a view of ours is another one, or which are ours is not known, so
/// that reading says nothing and may not end.
pub(super) fn spoil_reading(conn: &Connection) -> Result<bool, StoreError> {
    let number = version(conn)?;
    let found = differences(conn, number)?;
    let spoils = |it: &SchemaDifference| {
        it.difference != SchemaDifferenceKind::Foreign
            && matches!(it.object.kind.as_str(), "table" | "view")
    };
    Ok(!found.is_empty()
        && (number < 1
            || found.iter().any(spoils)
            || matches!(comparison::remedy(conn, number, &found)?, SchemaRemedy::Renumber(_))))
}

/// Returns why the schema of a memory is not restored, where rows would be lost.
pub(crate) fn why_unrestorable(path: &Path) -> Result<Option<String>, StoreError> {
    let conn = connection::open_to_examine(path)?;
    let number = version(&conn)?;
    let found = differences(&conn, number)?;
    if found.is_empty() || comparison::remedy(&conn, number, &found)? != SchemaRemedy::Nothing {
        return Ok(None);
    }
    let why = match is_table_displaced(&found) {
        true => "a foreign table may be the missing one with its rows",
        false => "that cannot be put right in place",
    };
    Ok(Some(format!("{}: {why}, so nothing was changed", listed(&found))))
}

/// Drops the foreign objects, and the altered ones that can be made again; makes missing ones.
///
/// Nothing of the schema runs meanwhile: dropping a table fires no trigger. Where another table is
/// altered or missing, nothing is changed; nor is it where the schema is not right in the end. A
/// number that alone is wrong is put right. Returns what a person should know of it.
pub(crate) fn restore_schema(path: &Path) -> Result<Vec<String>, StoreError> {
    const DOING: &str = "restore the schema";
    let mut conn = connection::open_existing(path, "open the database")?;
    conn.pragma_update(None, "foreign_keys", false).doing(DOING)?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate).doing(DOING)?;
    let notes = restore_within(&tx, path)?;
    commit(tx, DOING)?;
    Ok(notes)
}

/// Restores the schema in a transaction of the caller's.
fn restore_within(tx: &Connection, path: &Path) -> Result<Vec<String>, StoreError> {
    if let Some(SchemaRemedy::Renumber(version)) = refuse_unrestorable(tx, path)? {
        tx.pragma_update(None, "user_version", version).doing("restore the schema's number")?;
        return Ok(Vec::new());
    }
    restore_table_names(tx)?;
    let found = differences(tx, version(tx)?)?;
    // One drop suffices, unless an object is left that SQLite knows by another name.
    for _ in 0..DROPS_MAX {
        let mut dropped = differences(tx, version(tx)?)?;
        dropped.retain(is_dropped);
        if dropped.is_empty() {
            break;
        }
        drop_objects(tx, &dropped.iter().map(|it| &it.object).collect::<Vec<_>>())?;
    }
    drop_broken_index(tx)?;
    make_missing(tx)?;
    let are_vectors_gone = drop_vectors(tx, &found)?;
    refuse_unrepaired(tx, path)?;
    Ok(are_vectors_gone.then(|| VECTORS_GONE.to_owned()).into_iter().collect())
}

/// Drops all vectors where a trigger was not ours that removes those of old texts: nothing says
/// which these are. Returns whether there are none left, or their table was made again.
fn drop_vectors(conn: &Connection, found: &[SchemaDifference]) -> Result<bool, StoreError> {
    const DROP: &str = "DELETE FROM vector";
    let differs = |kind, names: &[&str]| {
        found.iter().any(|SchemaDifference { object, difference }| {
            *difference != SchemaDifferenceKind::Foreign
                && object.kind == kind
                && names.contains(&object.name.as_str())
        })
    };
    Ok(differs("table", &["vector"])
        || (differs("trigger", &["vector_of_old_text", "vector_of_no_text"])
            && 0 < conn.run(DROP, [], "drop the vectors")?))
}

/// Drops objects, each one of which is there.
fn drop_objects(conn: &Connection, objects: &[&SchemaObject]) -> Result<(), StoreError> {
    let unpaged = unpaged(conn, objects)?;
    for kind in KINDS {
        for object in objects.iter().filter(|it| it.kind == kind && !unpaged.contains(*it)) {
            let name = object.name.replace('"', "\"\"");
            conn.execute_batch(&format!("DROP {kind} \"{name}\""))
                .doing("drop a foreign object")?;
        }
        if kind == "trigger" && !unpaged.is_empty() {
            forget(conn, &unpaged)?;
        }
    }
    Ok(())
}

/// Drops the full-text index with the tables behind it, where one of them is missing or altered:
/// none works without the others, and all are made along with it.
fn drop_broken_index(conn: &Connection) -> Result<(), StoreError> {
    const TABLES: &str = "
        SELECT type, name
          FROM sqlite_schema
         WHERE type = 'table' AND (name = ?1 OR name GLOB ?1 || '_*')
         ORDER BY name";
    let is_broken =
        |it: &SchemaDifference| it.object.name == FULL_TEXT_INDEX || is_behind_index(&it.object);
    if differences(conn, version(conn)?)?.iter().any(is_broken) {
        let read = |row: &Row<'_>| Ok(SchemaObject { kind: row.get(0)?, name: row.get(1)? });
        let tables: Vec<SchemaObject> =
            conn.rows(TABLES, [FULL_TEXT_INDEX], read, "list the tables")?;
        drop_objects(conn, &tables.iter().collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Gives objects whose definition is ours the table that they belong to, which is stored beside it.
fn restore_table_names(conn: &Connection) -> Result<(), StoreError> {
    const SET: &str = "
        UPDATE sqlite_schema
           SET tbl_name = ?3
         WHERE type = ?1 AND name = ?2 AND tbl_name IS NOT ?3 AND sql IS ?4";
    const DOING: &str = "restore the list of tables";
    let objects = comparison::tables_of_objects(version(conn)?)?;
    let mut n_set = 0;
    conn.pragma_update(None, "writable_schema", true).doing(DOING)?;
    let set = objects.into_iter().try_for_each(|(object, table, sql)| {
        n_set += conn.run(SET, (object.kind, object.name, table, sql), DOING)?;
        Ok(())
    });
    conn.pragma_update(None, "writable_schema", false).doing(DOING)?;
    set.and_then(|()| if 0 < n_set { read_schema_again(conn) } else { Ok(()) })
}

/// Has all connections read the schema again.
fn read_schema_again(conn: &Connection) -> Result<(), StoreError> {
    const DOING: &str = "change the list of tables";
    let version: i64 =
        conn.pragma_query_value(None, "schema_version", |row| row.get(0)).doing(DOING)?;
    conn.pragma_update(None, "schema_version", version.wrapping_add(1)).doing(DOING)
}

/// Returns those of the objects that have no pages of their own: views, and virtual tables.
fn unpaged(
    conn: &Connection,
    objects: &[&SchemaObject],
) -> Result<BTreeSet<SchemaObject>, StoreError> {
    const UNPAGED: &str = "
        SELECT type, name
          FROM sqlite_schema
         WHERE type = 'view' OR (type = 'table' AND rootpage = 0)";
    let read = |row: &Row<'_>| Ok(SchemaObject { kind: row.get(0)?, name: row.get(1)? });
    let all: Vec<SchemaObject> = conn.rows(UNPAGED, [], read, "look at the foreign objects")?;
    let wanted: BTreeSet<&SchemaObject> = objects.iter().copied().collect();
    Ok(all.into_iter().filter(|it| wanted.contains(it)).collect())
}

/// Takes objects without pages out of the schema, and the triggers of the views.
///
/// No module is called, which this program may not have: the tables behind a virtual one are plain
/// ones from then on. All go at once, since SQLite reads the whole schema for each view that it
/// drops; and it drops none whose name it keeps for itself.
fn forget(conn: &Connection, objects: &BTreeSet<SchemaObject>) -> Result<(), StoreError> {
    const FORGET: &str = "
        DELETE FROM sqlite_schema
         WHERE (type = 'table' AND name IN (SELECT value FROM json_each(?1)))
            OR (type = 'view' AND name IN (SELECT value FROM json_each(?2)))
            OR (type = 'trigger'
                AND lower(tbl_name) IN (SELECT lower(value) FROM json_each(?2)))";
    const DOING: &str = "drop the foreign objects";
    let names = |kind| {
        let of = objects.iter().filter(|it| it.kind == kind);
        serde_json::Value::from_iter(of.map(|it| it.name.as_str())).to_string()
    };
    conn.pragma_update(None, "writable_schema", true).doing(DOING)?;
    let forgotten = conn.run(FORGET, [names("table"), names("view")], DOING);
    conn.pragma_update(None, "writable_schema", false).doing(DOING)?;
    forgotten?;
    read_schema_again(conn)
}

/// Returns whether a repair drops an object, to make it again or not.
fn is_dropped(it: &SchemaDifference) -> bool {
    !it.is_reserved()
        && match it.difference {
            SchemaDifferenceKind::Foreign => true,
            SchemaDifferenceKind::Altered | SchemaDifferenceKind::Misplaced => {
                it.object.kind != "table" || is_rebuilt(&it.object.name)
            }
            SchemaDifferenceKind::Missing => false,
        }
}

/// Makes the missing objects of the schema's version.
fn make_missing(conn: &Connection) -> Result<(), StoreError> {
    let statements = comparison::statements(version(conn)?)?;
    let is_table = |it: &SchemaObject| it.kind == "table";
    let mut missing = differences(conn, version(conn)?)?;
    missing.retain(|it| !is_behind_index(&it.object));
    // Indexes and triggers are of tables, and a trigger may use a view.
    missing.sort_by_key(|it| (!is_table(&it.object), it.object.kind == "trigger"));
    for statement in missing.iter().filter_map(|it| statements.get(&it.object)) {
        conn.execute_batch(statement).doing("make a missing object")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
