//! Checks that numbers are within the bounds of what they count, and brings the others there.
//!
//! These are the numbers that no other check reads: times, sizes, counters and weights. An answer
//! survives any of them, and says something untrue.

use std::path::Path;

use rusqlite::{Connection, params};

use super::rowid_overflow_and_singletons::NUMBER_MAX;
use super::{CheckStatus, first_few, verdict};
use crate::store::{PreparedStatements, StoreError};

/// The table and the column of numbers, the least and the largest of them.
const RANGES: &[(&str, &str, i64, i64)] = &[
    ("file", "size", 0, i64::MAX),
    ("file", "gone", 0, 1),
    ("heat", "at", -NUMBER_MAX, NUMBER_MAX),
    ("heat", "pinned", 0, 1),
    ("heat", "access_count", 0, NUMBER_MAX),
    ("heat", "accessed_at", -NUMBER_MAX, NUMBER_MAX),
    ("heat", "full_at", -NUMBER_MAX, NUMBER_MAX),
    ("heat", "announced", 0, 1),
    ("heat", "announced_at", -NUMBER_MAX, NUMBER_MAX),
    ("span", "start_byte", 0, NUMBER_MAX),
    ("span", "end_byte", 0, NUMBER_MAX),
    ("tombstone", "start_byte", 0, NUMBER_MAX),
    ("tombstone", "end_byte", 0, NUMBER_MAX),
    ("snapshot", "created_at", -NUMBER_MAX, NUMBER_MAX),
    ("cursor", "updated_at", -NUMBER_MAX, NUMBER_MAX),
    ("diff", "conflict", 0, 1),
    ("reference", "weight", 0, 1000),
    ("change_count", "added", 0, NUMBER_MAX),
    ("change_count", "modified", 0, NUMBER_MAX),
    ("change_count", "removed", 0, NUMBER_MAX),
];

/// Checks every number that has bounds.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let mut bad = Vec::new();
    for &(table, column, least, largest) in RANGES {
        if !has_column(conn, table, column)? {
            continue;
        }
        // The names are the schema's.
        let sql = format!("SELECT count(*) FROM {table} WHERE {column} NOT BETWEEN ?1 AND ?2");
        let n: i64 = conn.row(&sql, [least, largest], |row| row.get(0), "look at the numbers")?;
        if 0 < n {
            bad.push(format!("`{table}.{column}` of {n} rows"));
        }
    }
    let fine = "times, sizes and counters are within their bounds".to_owned();
    Ok(verdict(bad.is_empty(), fine, format!("beyond all bounds: {}", first_few(&bad))))
}

/// Brings numbers to the nearest bound.
pub(super) fn repair(conn: &Connection) -> Result<(), StoreError> {
    for &(table, column, least, largest) in RANGES {
        if has_column(conn, table, column)? {
            let sql = format!(
                "UPDATE {table} SET {column} = max(?1, min(?2, {column}))
                  WHERE {column} NOT BETWEEN ?1 AND ?2"
            );
            conn.run(&sql, params![least, largest], "bound numbers")?;
        }
    }
    Ok(())
}

/// Returns whether the schema, which may be an older one, has a column.
fn has_column(conn: &Connection, table: &str, column: &str) -> Result<bool, StoreError> {
    const COLUMN: &str = "SELECT 1 FROM pragma_table_info (?1) WHERE name = ?2";
    conn.has(COLUMN, [table, column], "look at the schema")
}
