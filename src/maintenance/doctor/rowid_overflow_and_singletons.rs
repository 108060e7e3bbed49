//! Checks the keys that new rows continue from, and the tables that have one row.
//!
//! A key near the largest integer leaves no room for the next row: SQLite calls the disk full then.
//! The history notes ids of nodes and no keys, so that a row can get another key.

use std::path::Path;

use rusqlite::{Connection, Row, params};

use super::{CheckStatus, first_few, verdict};
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// The largest number that a key or a counter may have: no memory gets there, and programs without
/// integers still write it exactly.
pub(crate) const NUMBER_MAX: i64 = 1 << 53;

/// Tables whose new rows get the key after the largest, and their keys.
const KEYS: [(&str, &str); 4] =
    [("node", "key"), ("snapshot", "id"), ("file", "id"), ("reference", "id")];

/// Tables with one row for the whole memory.
const SINGLE_ROW_TABLES: [&str; 2] = ["memory", "pulse"];

/// Checks that there is room for the keys of new rows.
pub(super) fn keys(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let mut bad = Vec::new();
    for (table, key) in KEYS {
        let n = large_keys(conn, table, key)?.len();
        if 0 < n {
            bad.push(format!("{n} of `{table}` leave no room for others"));
        }
    }
    if !is_sequence_sound(conn)? {
        bad.push("the next snapshot's is not the one after the last".to_owned());
    }
    let fine = "there is room for the keys of new rows".to_owned();
    Ok(verdict(bad.is_empty(), fine, format!("keys: {}", first_few(&bad))))
}

/// Gives rows with a too large key the next free one, and has the ids of snapshots go on from
/// there.
pub(super) fn move_keys(conn: &Connection) -> Result<(), StoreError> {
    const DROP: &str = "DELETE FROM sqlite_sequence WHERE name = 'snapshot'";
    const CONTINUE: &str = "
        INSERT INTO sqlite_sequence (name, seq)
        SELECT 'snapshot', max(id)
          FROM snapshot
        HAVING max(id) IS NOT NULL";
    // Rows that refer to a moved one follow it.
    conn.pragma_update(None, "defer_foreign_keys", true).doing("begin a repair")?;
    for (table, key) in KEYS {
        for old in large_keys(conn, table, key)? {
            move_key(conn, table, key, old)?;
        }
    }
    if !is_sequence_sound(conn)? {
        conn.run(DROP, [], "number the next snapshot")?;
        conn.run(CONTINUE, [], "number the next snapshot")?;
    }
    Ok(())
}

/// Returns the keys beyond the largest allowed one, in their order.
fn large_keys(conn: &Connection, table: &str, key: &str) -> Result<Vec<i64>, StoreError> {
    // The names are the schema's.
    let sql = format!("SELECT {key} FROM {table} WHERE {NUMBER_MAX} < {key} ORDER BY {key}");
    conn.rows(&sql, [], |row| row.get(0), "look for large keys")
}

fn move_key(conn: &Connection, table: &str, key: &str, old: i64) -> Result<(), StoreError> {
    const REFERRING: &str = "
        SELECT found.name, other.\"from\"
          FROM sqlite_schema AS found
          JOIN pragma_foreign_key_list (found.name) AS other
         WHERE found.type = 'table' AND other.\"table\" = ?1";
    const DOING: &str = "move a row to another key";
    let next = format!("SELECT ifnull(max({key}), 0) + 1 FROM {table} WHERE {key} <= {NUMBER_MAX}");
    let new: i64 = conn.row(&next, [], |row| row.get(0), DOING)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let mut columns: Vec<(String, String)> = conn.rows(REFERRING, [table], read, DOING)?;
    columns.push((table.to_owned(), key.to_owned()));
    for (table, column) in columns {
        let sql = format!("UPDATE {table} SET {column} = ?2 WHERE {column} = ?1");
        conn.execute(&sql, params![old, new]).doing(DOING)?;
    }
    Ok(())
}

/// Returns whether SQLite gives the next snapshot an id after all that were given.
fn is_sequence_sound(conn: &Connection) -> Result<bool, StoreError> {
    const SOUND: &str = "
        SELECT CASE count(*)
                    WHEN 0 THEN NOT EXISTS (SELECT 1 FROM snapshot)
                    WHEN 1 THEN max(typeof(seq) = 'integer'
                                AND seq BETWEEN (SELECT ifnull(max(id), 0) FROM snapshot) AND ?1)
                    ELSE false
               END
          FROM sqlite_sequence
         WHERE name = 'snapshot'";
    conn.row(SOUND, [NUMBER_MAX], |row| row.get(0), "look at the ids of snapshots")
}

/// Checks the rows that are there once, and the counters in them.
pub(super) fn single_rows(
    conn: &Connection,
    _: &Path,
) -> Result<(CheckStatus, String), StoreError> {
    let mut bad = Vec::new();
    for table in SINGLE_ROW_TABLES {
        let counters = counters(conn, table)?;
        if counters.is_empty() {
            // The schema is an older one.
            continue;
        }
        if !conn.has(&format!("SELECT 1 FROM {table}"), [], "look at the counters")? {
            bad.push(format!("`{table}` has no row"));
        }
        for counter in counters {
            let sql = format!("SELECT 1 FROM {table} WHERE {}", is_beyond(&counter));
            if conn.has(&sql, [], "look at the counters")? {
                bad.push(format!("`{table}.{counter}` is beyond all bounds"));
            }
        }
    }
    let fine = "the memory's clock and counters are there".to_owned();
    Ok(verdict(bad.is_empty(), fine, first_few(&bad)))
}

/// Makes missing rows, and gives counters beyond all bounds other values.
///
/// The memory clock is at least where the last node was warmed.
pub(super) fn make_single_rows(conn: &Connection) -> Result<(), StoreError> {
    const MEMORY: &str =
        "INSERT OR IGNORE INTO memory (one, fingerprint, attended) VALUES (1, 0, ?1)";
    const PULSE: &str =
        "INSERT OR IGNORE INTO pulse (one, edges, files, heats) VALUES (1, 0, 0, 0)";
    const CLOCK: &str = "SELECT ifnull(max(at), 0) FROM heat WHERE at <= ?1";
    const DOING: &str = "count again";
    let clock: i64 = conn.row(CLOCK, [NUMBER_MAX], |row| row.get(0), DOING)?;
    conn.run(MEMORY, [clock], DOING)?;
    conn.run(PULSE, [], DOING)?;
    for table in SINGLE_ROW_TABLES {
        for counter in counters(conn, table)? {
            let value = if counter == "attended" { clock } else { 0 };
            let sql =
                format!("UPDATE {table} SET {counter} = {value} WHERE {}", is_beyond(&counter));
            conn.execute(&sql, []).doing(DOING)?;
        }
    }
    Ok(())
}

/// Returns the columns of a table whose numbers only grow.
fn counters(conn: &Connection, table: &str) -> Result<Vec<String>, StoreError> {
    const COUNTERS: &str = "
        SELECT name
          FROM pragma_table_info (?1)
         WHERE type = 'INTEGER' AND name NOT IN ('one', 'fingerprint')";
    conn.rows(COUNTERS, [table], |row| row.get(0), "list the counters")
}

fn is_beyond(counter: &str) -> String {
    format!("{counter} NOT BETWEEN -{NUMBER_MAX} AND {NUMBER_MAX}")
}
