//! The least work that any program would have to do here.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::Outcome;

/// The rows of a memory, and the schema that they go into.
pub(crate) struct Rows {
    schema: Vec<String>,
    tables: Vec<(&'static str, Vec<Vec<Value>>)>,
}

impl Rows {
    pub(crate) fn read(db: &Path) -> Outcome<Rows> {
        let conn = Connection::open(db)?;
        let mut query = conn.prepare(
            "SELECT sql FROM sqlite_schema
              WHERE sql IS NOT NULL AND name NOT LIKE 'node_fts_%' AND name NOT LIKE 'sqlite_%'",
        )?;
        let schema = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let mut tables = Vec::new();
        for table in [
            "root",
            "file",
            "file_name",
            "node",
            "heat",
            "span",
            "reference",
            "wanted",
            "snapshot",
            "diff",
        ] {
            let mut query = conn.prepare(&format!("SELECT * FROM {table}"))?;
            let n_columns = query.column_count();
            let rows = query.query_map([], |row| (0..n_columns).map(|it| row.get(it)).collect())?;
            tables.push((table, rows.collect::<Result<_, _>>()?));
        }
        Ok(Rows { schema, tables })
    }

    /// Inserts all of them in one transaction, as the program's own settings have it, and indexes
    /// their text.
    pub(crate) fn write(&self, db: &Path) -> Outcome<()> {
        let mut conn = Connection::open(db)?;
        conn.pragma_update(None, "journal_mode", "WAL")?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.pragma_update(None, "cache_size", -8192)?;
        let tx = conn.transaction()?;
        for sql in &self.schema {
            tx.execute_batch(sql)?;
        }
        for (table, rows) in &self.tables {
            let Some(first) = rows.first() else { continue };
            let marks = vec!["?"; first.len()].join(", ");
            let mut insert = tx.prepare(&format!("INSERT INTO {table} VALUES ({marks})"))?;
            for row in rows {
                insert.execute(rusqlite::params_from_iter(row))?;
            }
        }
        tx.execute_batch(
            "INSERT INTO node_fts (rowid, label, content, trail, grams)
             SELECT key, label, content, trail, grams FROM node",
        )?;
        Ok(tx.commit()?)
    }
}

/// Walks a folder and looks at all of its files.
pub(crate) fn walk(notes: &Path) -> Outcome<()> {
    let mut folders = vec![notes.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let metadata = fs::metadata(&path)?;
            if metadata.is_dir() {
                folders.push(path);
            }
            black_box(metadata.len());
        }
    }
    Ok(())
}

/// Reads what a query gives.
pub(crate) fn query(conn: &Connection, sql: &str) -> Outcome<()> {
    let mut query = conn.prepare_cached(sql)?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        black_box(row.get::<_, Value>(0)?);
    }
    Ok(())
}
