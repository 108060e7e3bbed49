//! Measures floors: the least work of any program for each task.

use std::fs::{self, File};
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, Transaction};

use crate::Outcome;
use crate::process::program;

/// Columns that full-text search needs for an expression.
pub(crate) const MATCHES: &str = "
    SELECT rowid, bm25(node_fts)
      FROM node_fts
     WHERE node_fts MATCH ?1
     ORDER BY 2
     LIMIT 200";

/// Columns for a node's line.
pub(crate) const LINE: &str = "
    SELECT n.label, n.node_type, n.token_count, f.path, h.temperature
      FROM node AS n
      LEFT JOIN file AS f ON f.id = n.file
      LEFT JOIN heat AS h ON h.node = n.key
     WHERE n.id = ?1";

/// Columns for a node's line and text.
pub(crate) const TEXT: &str = "
    SELECT n.content, n.node_type, n.token_count, f.path, h.temperature
      FROM node AS n
      LEFT JOIN file AS f ON f.id = n.file
      LEFT JOIN heat AS h ON h.node = n.key
     WHERE n.id = ?1";

/// Opens a connection that only reads, as a program would.
pub(crate) fn reader(db: &Path) -> Outcome<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(db, flags)?)
}

/// Runs a query once for each argument and reads its rows.
pub(crate) fn read(conn: &Connection, sql: &str, each: &[&str]) -> Outcome<()> {
    let mut query = conn.prepare_cached(sql)?;
    for it in each {
        let mut rows = query.query([it])?;
        while let Some(row) = rows.next()? {
            black_box(row.get::<_, Value>(0)?);
        }
    }
    Ok(())
}

type Row = Vec<Value>;

/// The rows of a memory, and their schema.
pub(crate) struct Rows {
    schema: Vec<String>,
    tables: Vec<(&'static str, Vec<Row>)>,
}

impl Rows {
    pub(crate) fn read(db: &Path) -> Outcome<Rows> {
        const TABLES: [&str; 10] = [
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
        ];
        let conn = Connection::open(db)?;
        let mut query = conn.prepare(
            "SELECT sql FROM sqlite_schema
              WHERE sql IS NOT NULL AND name NOT LIKE 'node_fts_%' AND name NOT LIKE 'sqlite_%'",
        )?;
        let schema = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        let all = |table| Ok((table, rows(&conn, &format!("SELECT * FROM {table}"), 0)?));
        let tables = TABLES.into_iter().map(all).collect::<Outcome<_>>()?;
        Ok(Rows { schema, tables })
    }

    /// Inserts all rows in one transaction, with the program's own settings, and indexes their
    /// text.
    pub(crate) fn write(&self, db: &Path) -> Outcome<()> {
        let mut conn = writer(db)?;
        let tx = conn.transaction()?;
        for sql in &self.schema {
            tx.execute_batch(sql)?;
        }
        for (table, rows) in &self.tables {
            insert(&tx, table, rows)?;
        }
        tx.execute_batch(
            "INSERT INTO node_fts (rowid, label, content, trail, grams)
             SELECT key, label, content, trail, grams FROM node",
        )?;
        Ok(tx.commit()?)
    }
}

/// A copy of a memory, kept equal with the fewest statements.
pub(crate) struct Mirror {
    to: Connection,
    node: i64,
    snapshot: i64,
}

impl Mirror {
    pub(crate) fn of(db: &Path, copy: &Path) -> Outcome<Mirror> {
        fs::copy(db, copy)?;
        // Neither of the two should wait for earlier writes.
        for path in [db, copy] {
            File::open(path)?.sync_all()?;
        }
        let to = writer(copy)?;
        to.pragma_update(None, "foreign_keys", true)?;
        let mut mirror = Mirror { to, node: 0, snapshot: 0 };
        let of = reader(db)?;
        mirror.node = latest(&of, "SELECT max(key) FROM node")?;
        mirror.snapshot = latest(&of, "SELECT max(id) FROM snapshot")?;
        Ok(mirror)
    }

    /// Returns the rows written to `of` since the last call.
    pub(crate) fn news(&mut self, of: &Connection) -> Outcome<Vec<(&'static str, Vec<Row>)>> {
        let news = vec![
            ("node", rows(of, "SELECT * FROM node WHERE key > ?1", self.node)?),
            ("heat", rows(of, "SELECT * FROM heat WHERE node > ?1", self.node)?),
            ("snapshot", rows(of, "SELECT * FROM snapshot WHERE id > ?1", self.snapshot)?),
            ("diff", rows(of, "SELECT * FROM diff WHERE snapshot > ?1", self.snapshot)?),
        ];
        self.node = latest(of, "SELECT max(key) FROM node")?;
        self.snapshot = latest(of, "SELECT max(id) FROM snapshot")?;
        Ok(news)
    }

    /// Writes rows to the copy, in one transaction that waits for the disk; triggers index the
    /// text.
    pub(crate) fn write(&mut self, news: &[(&'static str, Vec<Row>)]) -> Outcome<()> {
        let tx = self.to.transaction()?;
        for (table, rows) in news {
            insert(&tx, table, rows)?;
        }
        tx.prepare_cached("UPDATE cursor SET snapshot = ?1")?.execute([self.snapshot])?;
        tx.prepare_cached("UPDATE memory SET fingerprint = fingerprint + 1")?.execute([])?;
        Ok(tx.commit()?)
    }
}

/// Opens a connection with the program's own durability.
fn writer(db: &Path) -> Outcome<Connection> {
    let conn = Connection::open(db)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "cache_size", -8192)?;
    Ok(conn)
}

fn rows(conn: &Connection, sql: &str, behind: i64) -> Outcome<Vec<Row>> {
    let mut query = conn.prepare_cached(sql)?;
    let n_columns = query.column_count();
    let read = |row: &rusqlite::Row<'_>| (0..n_columns).map(|it| row.get(it)).collect();
    let rows = match query.parameter_count() {
        0 => query.query_map([], read)?.collect::<Result<_, _>>(),
        _ => query.query_map([behind], read)?.collect::<Result<_, _>>(),
    };
    Ok(rows?)
}

fn insert(tx: &Transaction<'_>, table: &str, rows: &[Row]) -> Outcome<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let marks = vec!["?"; first.len()].join(", ");
    let mut insert = tx.prepare_cached(&format!("INSERT INTO {table} VALUES ({marks})"))?;
    for row in rows {
        insert.execute(rusqlite::params_from_iter(row))?;
    }
    Ok(())
}

fn latest(conn: &Connection, sql: &str) -> Outcome<i64> {
    Ok(conn.query_row(sql, [], |row| row.get::<_, Option<i64>>(0))?.unwrap_or(0))
}

/// Moves the memory clock `n` times.
pub(crate) fn tick(db: &Path, n: usize) -> Outcome<()> {
    let conn = writer(db)?;
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    let mut update = conn.prepare("UPDATE memory SET attended = attended + 1")?;
    for _ in 0..n {
        update.execute([])?;
    }
    Ok(())
}

/// Starts and ends a process that opens a file with SQLite.
pub(crate) fn process(db: &Path) -> Outcome<()> {
    Command::new(program()).arg("--version").output()?;
    let n: i64 = reader(db)?.query_row("SELECT count(*) FROM root", [], |row| row.get(0))?;
    black_box(n);
    Ok(())
}

/// Walks a folder and reads the metadata of all of its files.
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
