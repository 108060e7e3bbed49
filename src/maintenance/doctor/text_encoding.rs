//! Finds text values whose bytes are no UTF-8, in any table, and replaces those bytes.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::{CheckStatus, first_few, verdict};
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Longest addition to a replaced value that has to differ from all others, in characters.
const ADDED_CHARS_MAX: usize = 100;

/// A column of texts.
struct TextColumn {
    table: String,
    name: String,
}

/// Checks that every text is UTF-8.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let (mut n, mut places) = (0, Vec::new());
    for column in text_columns(conn)? {
        match column.bad_values(conn)?.len() {
            0 => (),
            n_here => {
                n += n_here;
                places.push(format!("`{}.{}`", column.table, column.name));
            }
        }
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
    for column in text_columns(conn)? {
        let bad = column.bad_values(conn)?;
        for bytes in &bad {
            column.replace(conn, bytes)?;
        }
        if !bad.is_empty() {
            notes.push(format!("bytes that are no text became `�` in {}", column.table));
        }
    }
    notes.dedup();
    Ok(notes)
}

/// Returns the columns of texts of all tables, those behind the full-text index aside.
fn text_columns(conn: &Connection) -> Result<Vec<TextColumn>, StoreError> {
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
    let read = |row: &Row<'_>| Ok(TextColumn { table: row.get(0)?, name: row.get(1)? });
    conn.rows(COLUMNS, [], read, "list the columns")
}

impl TextColumn {
    /// Returns the different values that are no text.
    fn bad_values(&self, conn: &Connection) -> Result<BTreeSet<Vec<u8>>, StoreError> {
        const DOING: &str = "read texts";
        // The names are the schema's.
        let sql = format!("SELECT {} FROM main.{}", self.name, self.table);
        let mut query = conn.prepare(&sql).doing(DOING)?;
        let mut rows = query.query([]).doing(DOING)?;
        let mut bad = BTreeSet::new();
        while let Some(row) = rows.next().doing(DOING)? {
            if let ValueRef::Text(bytes) = row.get_ref(0).doing(DOING)?
                && std::str::from_utf8(bytes).is_err()
            {
                bad.insert(bytes.to_owned());
            }
        }
        Ok(bad)
    }

    /// Replaces a value by a text. It grows until it is no other row's, where that matters.
    fn replace(&self, conn: &Connection, bytes: &[u8]) -> Result<(), StoreError> {
        const DOING: &str = "replace bytes that are no text";
        let TextColumn { table, name } = self;
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
