//! Exports a memory as JSON Lines: a header, one line for each row, an end.
//!
//! ```text
//! {"remindb":"export","format":1,"schema":6,"sequence":{"snapshot":2}}
//! {"memory":{"one":1,"fingerprint":-77,"attended":0}}
//! {"node":{"key":1,"id":"AcTRirZSwQh", …}}
//! {"end":{"rows":41}}
//! ```
//!
//! A row's line names its table and has its columns by name, those without a value left out. Rows
//! are sorted by table, then by key, so that equal memories have equal exports. The export is one
//! state of the memory, read row by row with a bounded use of RAM.

use std::io::{self, Write};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde_json::{Map, Value, json};

use super::transferred_tables::TableSchema;
use super::{ProgressFn, TransferError};
use crate::store::{ErrorContext, PreparedStatements, StoreError, connection, schema};

/// The version of the format of the lines, not of the schema.
pub(super) const FORMAT: i64 = 1;

/// Rows between two reports of progress.
const STEP_ROWS: u64 = 1000;

/// Writes the memory at `db` to `out`; returns the number of rows.
pub(crate) fn export(
    db: &Path,
    out: &mut dyn Write,
    progress: ProgressFn<'_>,
) -> Result<u64, TransferError> {
    let conn = connection::open_reader(db)?;
    let state = connection::begin_read(&conn, "begin an export")?;
    let tables = TableSchema::all(&state)?;
    let mut n_all = 0;
    for table in &tables {
        // `table.name` is from the list in `tables`.
        let sql = format!("SELECT count(*) FROM {}", table.name);
        let n: i64 = state.query_row(&sql, [], |row| row.get(0)).doing("count rows")?;
        n_all += n.cast_unsigned();
    }
    let header = json!({
        "remindb": "export",
        "format": FORMAT,
        "schema": schema::newest(),
        "sequence": sequence(&state)?,
    });
    written(writeln!(out, "{header}"))?;
    let mut n_rows = 0;
    for table in &tables {
        let mut query = state.prepare(&table.select()).doing("read the rows")?;
        let mut rows = query.query([]).doing("read the rows")?;
        while let Some(row) = rows.next().doing("read the rows")? {
            let mut line = Map::new();
            line.insert(table.name.to_owned(), Value::Object(as_json(table, row)?));
            written(writeln!(out, "{}", Value::Object(line)))?;
            n_rows += 1;
            if n_rows % STEP_ROWS == 0 {
                progress(n_rows, n_all);
            }
        }
    }
    written(writeln!(out, "{}", json!({"end": {"rows": n_rows}})))?;
    written(out.flush())?;
    Ok(n_rows)
}

fn written(result: io::Result<()>) -> Result<(), TransferError> {
    result.map_err(TransferError::Output)
}

/// Returns the highest number that each table has given out, so that an import gives none twice.
fn sequence(conn: &Connection) -> Result<Map<String, Value>, StoreError> {
    const SEQUENCE: &str = "SELECT name, seq FROM sqlite_sequence ORDER BY name";
    let read = |row: &Row<'_>| Ok((row.get(0)?, Value::from(row.get::<_, i64>(1)?)));
    conn.rows(SEQUENCE, [], read, "read the sequences")
}

fn as_json(table: &TableSchema, row: &Row<'_>) -> Result<Map<String, Value>, StoreError> {
    let mut values = Map::new();
    for (idx, column) in table.columns.iter().enumerate() {
        let bad = |what: &str| StoreError::Corrupt {
            what: format!("`{}` of a row of `{}` is {what}", column.name, table.name),
        };
        let value = match row.get_ref(idx).doing("read the rows")? {
            ValueRef::Null => continue,
            ValueRef::Integer(it) => Value::from(it),
            ValueRef::Real(it) => serde_json::Number::from_f64(it)
                .map(Value::Number)
                .ok_or_else(|| bad("not finite"))?,
            ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Value::from(text),
                Err(_) => return Err(bad("no UTF-8")),
            },
            ValueRef::Blob(_) => return Err(bad("no text")),
        };
        values.insert(column.name.clone(), value);
    }
    Ok(values)
}
