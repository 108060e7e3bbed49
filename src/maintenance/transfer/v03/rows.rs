//! Reads rows of an old database without trust: columns may be missing, values of any type.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::maintenance::transfer::TransferError;
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// Reports a damaged file once, at the beginning, rather than during the import.
/// `tables` are names that this program knows.
pub(in crate::maintenance::transfer) fn check_readable(
    conn: &Connection,
    old: &str,
    tables: &[&str],
) -> Result<(), TransferError> {
    for table in tables {
        let found = conn
            .query_row(&format!("PRAGMA quick_check ({table})"), [], |row| row.get::<_, String>(0));
        let what = match found {
            Ok(found) if found == "ok" => continue,
            Ok(found) => found,
            Err(error) => error.to_string(),
        };
        let advice = "let its own program check it, or compile the notes anew";
        return Err(TransferError::Refused(format!("`{old}` is damaged: {what}; {advice}")));
    }
    Ok(())
}

/// Returns whether the table exists.
pub(in crate::maintenance::transfer) fn has_table(
    conn: &Connection,
    table: &str,
) -> Result<bool, StoreError> {
    const TABLE: &str = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    conn.has(TABLE, [table], "find a table")
}

/// Returns `columns` for a query of `table`, missing ones as their `DEFAULT`.
pub(super) fn columns(
    conn: &Connection,
    table: &str,
    columns: &[(&str, &str)],
) -> Result<String, StoreError> {
    const THERE: &str = "SELECT 1 FROM pragma_table_info (?1) WHERE name = ?2";
    let mut there = conn.prepare_cached(THERE).doing("read the old schema")?;
    let mut list: Vec<String> = Vec::new();
    for (column, default) in columns {
        let is_there = there.exists([table, column]).doing("read the old schema")?;
        list.push(match is_there {
            true => format!("{table}.{column}"),
            false => (*default).to_owned(),
        });
    }
    Ok(list.join(", "))
}

/// Returns a value as text; `None` for NULL.
pub(super) fn text(row: &Row<'_>, idx: usize) -> Result<Option<String>, StoreError> {
    Ok(match row.get_ref(idx).doing("read an old row")? {
        ValueRef::Null => None,
        ValueRef::Integer(it) => Some(it.to_string()),
        ValueRef::Real(it) => Some(it.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    })
}

/// Returns a value as text, NULL as an empty one.
pub(super) fn word(row: &Row<'_>, idx: usize) -> Result<String, StoreError> {
    Ok(text(row, idx)?.unwrap_or_default())
}

/// Returns a value as a number.
pub(super) fn real(row: &Row<'_>, idx: usize) -> Result<Option<f64>, StoreError> {
    Ok(match row.get_ref(idx).doing("read an old row")? {
        ValueRef::Integer(it) => Some(it as f64),
        ValueRef::Real(it) => Some(it),
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok().and_then(|it| it.parse().ok()),
        ValueRef::Null | ValueRef::Blob(_) => None,
    })
}

/// Returns a value as an integer.
pub(super) fn whole(row: &Row<'_>, idx: usize) -> Result<Option<i64>, StoreError> {
    match row.get_ref(idx).doing("read an old row")? {
        ValueRef::Integer(it) => Ok(Some(it)),
        _ => Ok(real(row, idx)?.map(|it| it as i64)),
    }
}

/// Converts seconds to milliseconds.
pub(super) fn millis(row: &Row<'_>, idx: usize) -> Result<Option<i64>, StoreError> {
    Ok(whole(row, idx)?.map(|it| it.saturating_mul(1000)))
}
