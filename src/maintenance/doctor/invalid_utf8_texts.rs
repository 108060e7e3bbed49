//! Finds text values whose bytes are no UTF-8, in any table, and replaces those bytes.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::{CheckStatus, first_few, verdict};
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Longest addition to a replaced value that has to differ from all others, in characters.
const ADDED_CHARS_MAX: usize = 100;

/// A table with columns of texts, whose names are quoted for SQL.
struct TableWithTextColumns {
    name: String,
    columns: Vec<String>,
}

/// A column by its number, and a value of it that is no text.
type InvalidUtf8Value = (usize, Vec<u8>);

/// Checks that every text is UTF-8.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let (mut n, mut places) = (0, Vec::new());
    for table in text_tables(conn)? {
        let bad = table.bad_values(conn)?;
        n += bad.len();
        let columns: BTreeSet<usize> = bad.iter().map(|(column, _)| *column).collect();
        let name = |it: &usize| format!("`{}.{}`", table.name, table.columns[*it]).replace('"', "");
        places.extend(columns.iter().map(name));
    }
    let bad = format!("{n} values are no text, in {}", first_few(&places));
    Ok(verdict(places.is_empty(), "every text is UTF-8".to_owned(), bad))
}

/// Replaces the bytes that are no text. Rows that break a constraint then are left to later
/// repairs.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let check = |is_off: bool| {
        conn.pragma_update(None, "ignore_check_constraints", is_off).doing("begin a repair")
    };
    check(true)?;
    let notes = replace_all(conn);
    check(false)?;
    notes
}

fn replace_all(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let mut notes = Vec::new();
    for table in text_tables(conn)? {
        let bad = table.bad_values(conn)?;
        for value in &bad {
            table.replace(conn, value)?;
        }
        if !bad.is_empty() {
            let name = table.name.replace('"', "");
            notes.push(format!("bytes that are no text became `�` in {name}"));
        }
    }
    Ok(notes)
}

/// Returns the tables with texts, those behind the full-text index aside.
fn text_tables(conn: &Connection) -> Result<Vec<TableWithTextColumns>, StoreError> {
    const COLUMNS: &str = "
        SELECT found.name, info.name
          FROM main.sqlite_schema AS found
          JOIN pragma_table_info (found.name, 'main') AS info
         WHERE found.type = 'table'
           AND found.rootpage <> 0
           AND found.name NOT GLOB 'node_fts*'
           AND found.name NOT GLOB 'sqlite_*'
           AND info.type = 'TEXT'
         ORDER BY found.name, info.cid";
    let quoted = |row: &Row<'_>, idx| {
        row.get::<_, String>(idx).map(|it| format!("\"{}\"", it.replace('"', "\"\"")))
    };
    let read = |row: &Row<'_>| Ok((quoted(row, 0)?, quoted(row, 1)?));
    let columns: Vec<(String, String)> = conn.rows(COLUMNS, [], read, "list the columns")?;
    let mut tables: Vec<TableWithTextColumns> = Vec::new();
    for (name, column) in columns {
        match tables.last_mut() {
            Some(table) if table.name == name => table.columns.push(column),
            _ => tables.push(TableWithTextColumns { name, columns: vec![column] }),
        }
    }
    Ok(tables)
}

impl TableWithTextColumns {
    /// Returns the different values that are no text.
    fn bad_values(&self, conn: &Connection) -> Result<BTreeSet<InvalidUtf8Value>, StoreError> {
        const DOING: &str = "read texts";
        let sql = format!("SELECT {} FROM main.{}", self.columns.join(", "), self.name);
        let mut query = conn.prepare(&sql).doing(DOING)?;
        let mut rows = query.query([]).doing(DOING)?;
        let mut bad = BTreeSet::new();
        while let Some(row) = rows.next().doing(DOING)? {
            for column in 0..self.columns.len() {
                if let ValueRef::Text(bytes) = row.get_ref(column).doing(DOING)?
                    && std::str::from_utf8(bytes).is_err()
                {
                    bad.insert((column, bytes.to_owned()));
                }
            }
        }
        Ok(bad)
    }

    /// Replaces a value by a text. It grows until it is no other row's, where that matters.
    fn replace(
        &self,
        conn: &Connection,
        (column, bytes): &InvalidUtf8Value,
    ) -> Result<(), StoreError> {
        const DOING: &str = "replace bytes that are no text";
        let (table, name) = (&self.name, &self.columns[*column]);
        let set =
            format!("UPDATE OR IGNORE {table} SET {name} = ?2 WHERE {name} = CAST(?1 AS TEXT)");
        let left = format!("SELECT 1 FROM {table} WHERE {name} = CAST(?1 AS TEXT)");
        let mut left = conn.prepare(&left).doing(DOING)?;
        let mut text = String::from_utf8_lossy(bytes).into_owned();
        for _ in 0..ADDED_CHARS_MAX {
            conn.execute(&set, params![bytes, text]).doing(DOING)?;
            if !left.exists([bytes]).doing(DOING)? {
                break;
            }
            text.push(char::REPLACEMENT_CHARACTER);
        }
        Ok(())
    }
}
