//! Records the shared rows that a transaction changes, by temporary triggers of its connection.
//!
//! A trigger notes the key of each row that is inserted, changed or deleted, once. At the end of
//! the transaction the rows as they are then become the entry. Between two transactions nothing is
//! noted, and a rollback takes its notes with it.

use rusqlite::{Connection, Row};

use super::log_entry::{LogEntryOperationWriter, LogHash, LogPartSink};
use super::table_scopes::{HEAT, SharedTable, shared_tables};
use crate::store::{ErrorContext, PreparedStatements, StoreError};

const DOING: &str = "record a write";

/// The statements that record one table.
struct TableRecorder {
    name: &'static str,
    key: &'static [&'static str],
    columns: Vec<String>,
    keys: String,
    rows: String,
    clear: String,
}

/// The tables whose changes a connection notes.
pub(super) struct ChangeRecorder {
    tables: Vec<TableRecorder>,
    /// A statement that says of each table whether it has notes.
    noted: String,
    /// The statements that make triggers, and the tables of their notes.
    triggers: String,
}

/// SQLite's table of the largest keys ever used.
pub(super) const SEQUENCE: &str = "sqlite_sequence";

/// The columns of a pin, in the order of [`PIN_ROWS`].
pub(super) const PIN_COLUMNS: [&str; 3] = ["node", "pinned", "temperature"];

/// Pinned nodes keep the same temperature everywhere; each machine has its own of all others.
const PIN_ROWS: &str = "
    SELECT heat.node, pinned, iif(pinned, temperature, NULL)
      FROM heat
      JOIN changed_heat AS changed ON changed.node = heat.node
     ORDER BY heat.node";

/// All pins, for an image.
const ALL_PINS: &str = "SELECT node, pinned, temperature FROM heat WHERE pinned ORDER BY node";

/// Triggers on the table of heat.
const PIN_TRIGGERS: &str = "
    CREATE TEMP TABLE changed_heat (node INTEGER, PRIMARY KEY (node)) WITHOUT ROWID;
    CREATE TEMP TRIGGER shared_heat_added AFTER INSERT ON main.heat WHEN new.pinned BEGIN
        INSERT INTO changed_heat
        SELECT new.node WHERE NOT EXISTS (SELECT 1 FROM changed_heat WHERE node = new.node);
    END;
    CREATE TEMP TRIGGER shared_heat_changed AFTER UPDATE OF pinned, temperature ON main.heat
    WHEN new.pinned IS NOT old.pinned OR new.pinned AND new.temperature IS NOT old.temperature BEGIN
        INSERT INTO changed_heat
        SELECT new.node WHERE NOT EXISTS (SELECT 1 FROM changed_heat WHERE node = new.node);
    END;";

impl ChangeRecorder {
    /// Makes the connection note changes.
    pub(super) fn attach(conn: &Connection) -> Result<ChangeRecorder, StoreError> {
        let mut tables = Vec::new();
        let mut all_triggers = PIN_TRIGGERS.to_owned();
        for table in shared_tables() {
            let columns = columns(conn, &table)?;
            all_triggers += &triggers(&table, &columns, &typed_key(conn, &table)?);
            tables.push(TableRecorder::new(&table, columns));
        }
        tables.push(TableRecorder {
            name: HEAT,
            key: &["node"],
            columns: PIN_COLUMNS.map(str::to_owned).to_vec(),
            keys: String::new(),
            rows: PIN_ROWS.to_owned(),
            clear: "DELETE FROM changed_heat".to_owned(),
        });
        let exists: Vec<String> =
            tables.iter().map(|it| format!("EXISTS (SELECT 1 FROM changed_{})", it.name)).collect();
        let noted = format!("SELECT {}", exists.join(", "));
        let recorder = ChangeRecorder { noted, tables, triggers: all_triggers };
        recorder.make_triggers(conn)?;
        Ok(recorder)
    }

    /// Makes the triggers again, which a change of the place of temporary tables drops.
    pub(super) fn make_triggers(&self, conn: &Connection) -> Result<(), StoreError> {
        conn.execute_batch(&self.triggers).doing(DOING)
    }

    /// Writes the entry of the transaction, and forgets its notes; returns the body of the last
    /// part, `None` when no shared row changed.
    pub(super) fn take(
        &self,
        conn: &Connection,
        before: LogHash,
        sink: &mut LogPartSink<'_>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let noted = self.noted(conn)?;
        if noted.is_empty() {
            return Ok(None);
        }
        let mut entry = LogEntryOperationWriter::new(sink);
        entry.after(before);
        for table in noted.iter().rev().filter(|it| it.name != HEAT) {
            entry.table(table.name, table.key);
            write_all(conn, &table.keys, table.key.len(), |key| entry.delete(key))?;
        }
        for table in &noted {
            entry.table(table.name, &table.columns);
            write_all(conn, &table.rows, table.columns.len(), |row| entry.row(row))?;
        }
        if noted.iter().any(|it| it.name == "snapshot") {
            write_sequence(conn, &mut entry)?;
        }
        clear(conn, &noted)?;
        Ok(Some(entry.finish()))
    }

    /// Forgets what was noted, for a change that is no one else's.
    pub(super) fn forget(&self, conn: &Connection) -> Result<(), StoreError> {
        clear(conn, &self.noted(conn)?)
    }

    fn noted(&self, conn: &Connection) -> Result<Vec<&TableRecorder>, StoreError> {
        let read = |row: &Row<'_>| {
            let is_noted = |nth| row.get::<_, bool>(nth);
            (0..self.tables.len()).map(is_noted).collect::<Result<Vec<bool>, _>>()
        };
        let noted = conn.row(&self.noted, [], read, DOING)?;
        Ok(self.tables.iter().zip(noted).filter(|it| it.1).map(|it| it.0).collect())
    }
}

fn clear(conn: &Connection, noted: &[&TableRecorder]) -> Result<(), StoreError> {
    noted.iter().try_for_each(|it| conn.run(&it.clear, [], DOING).map(drop))
}

/// Writes every shared row as an entry that replaces all others; returns the body of the last part.
pub(super) fn write_image(
    conn: &Connection,
    sink: &mut LogPartSink<'_>,
) -> Result<Vec<u8>, StoreError> {
    let mut entry = LogEntryOperationWriter::new(sink);
    entry.wipe();
    for table in shared_tables() {
        let columns = columns(conn, &table)?;
        let rows = format!(
            "SELECT {} FROM {} ORDER BY {}",
            published(&table, &columns),
            table.name,
            table.key.join(", ")
        );
        entry.table(table.name, &columns);
        write_all(conn, &rows, columns.len(), |row| entry.row(row))?;
    }
    entry.table(HEAT, &PIN_COLUMNS);
    write_all(conn, ALL_PINS, PIN_COLUMNS.len(), |row| entry.row(row))?;
    write_sequence(conn, &mut entry)?;
    Ok(entry.finish())
}

/// Writes the number of the last snapshot ever made: none is used again.
fn write_sequence(
    conn: &Connection,
    entry: &mut LogEntryOperationWriter<'_, '_>,
) -> Result<(), StoreError> {
    const LAST: &str = "SELECT seq FROM sqlite_sequence WHERE name = 'snapshot'";
    entry.table(SEQUENCE, &["seq"]);
    write_all(conn, LAST, 1, |row| entry.row(row))
}

impl TableRecorder {
    fn new(table: &SharedTable, columns: Vec<String>) -> TableRecorder {
        let SharedTable { name, key, .. } = *table;
        let same: Vec<String> =
            key.iter().map(|it| format!("changed.{it} = {name}.{it}")).collect();
        let (same, by) = (same.join(" AND "), key.join(", "));
        let order: Vec<String> = key.iter().map(|it| format!("changed.{it}")).collect();
        TableRecorder {
            name,
            key,
            keys: format!("SELECT {by} FROM changed_{name} ORDER BY {by}"),
            rows: format!(
                "SELECT {} FROM changed_{name} AS changed CROSS JOIN {name} ON {same} ORDER BY {}",
                published(table, &columns),
                order.join(", ")
            ),
            clear: format!("DELETE FROM changed_{name}"),
            columns,
        }
    }
}

/// Returns the columns of a table whose values are shared.
pub(super) fn columns(conn: &Connection, table: &SharedTable) -> Result<Vec<String>, StoreError> {
    const COLUMNS: &str = "SELECT name FROM pragma_table_info (?1) ORDER BY cid";
    let mut columns: Vec<String> = conn.rows(COLUMNS, [table.name], |row| row.get(0), DOING)?;
    columns.retain(|it| !table.is_local(it));
    Ok(columns)
}

/// Returns the columns of a key with their types, by which SQLite finds notes in their index.
fn typed_key(conn: &Connection, table: &SharedTable) -> Result<String, StoreError> {
    const TYPE: &str = "SELECT type FROM pragma_table_info (?1) WHERE name = ?2";
    let mut typed = Vec::new();
    for column in table.key {
        let of: String = conn.row(TYPE, [table.name, column], |row| row.get(0), DOING)?;
        typed.push(format!("{column} {of}"));
    }
    Ok(typed.join(", "))
}

/// Returns the published values of a row, as SQL.
fn published(table: &SharedTable, columns: &[String]) -> String {
    let value = |column: &String| match table.translated.iter().find(|it| it.name == *column) {
        Some(translated) => translated.out.to_owned(),
        None => format!("{}.{column}", table.name),
    };
    columns.iter().map(value).collect::<Vec<_>>().join(", ")
}

/// Returns the triggers that note changes of a table, and the table of their notes.
fn triggers(table: &SharedTable, columns: &[String], typed_key: &str) -> String {
    let SharedTable { name, key, local, .. } = table;
    // Not `INSERT OR IGNORE`: within an upsert, SQLite takes it for `INSERT OR ABORT`.
    let note = |of: &str| {
        let values: Vec<String> = key.iter().map(|it| format!("{of}.{it}")).collect();
        let is_it: Vec<String> = key.iter().map(|it| format!("{it} = {of}.{it}")).collect();
        format!(
            "INSERT INTO changed_{name}
             SELECT {} WHERE NOT EXISTS (SELECT 1 FROM changed_{name} WHERE {});",
            values.join(", "),
            is_it.join(" AND ")
        )
    };
    let (old, new, key) = (note("old"), note("new"), key.join(", "));
    let changed: Vec<String> =
        columns.iter().map(|it| format!("new.{it} IS NOT old.{it}")).collect();
    let condition = match local.is_empty() {
        true => String::new(),
        false => format!("WHEN {} ", changed.join(" OR ")),
    };
    format!(
        "CREATE TEMP TABLE changed_{name} ({typed_key}, PRIMARY KEY ({key})) WITHOUT ROWID;
         CREATE TEMP TRIGGER shared_{name}_added AFTER INSERT ON main.{name} BEGIN
             {new}
         END;
         CREATE TEMP TRIGGER shared_{name}_changed AFTER UPDATE ON main.{name} {condition}BEGIN
             {old}
             {new}
         END;
         CREATE TEMP TRIGGER shared_{name}_deleted AFTER DELETE ON main.{name} BEGIN
             {old}
         END;"
    )
}

/// Passes the values of each row on.
fn write_all(
    conn: &Connection,
    sql: &str,
    n_columns: usize,
    mut write: impl FnMut(
        &mut dyn Iterator<Item = rusqlite::types::ValueRef<'_>>,
    ) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut query = conn.prepared(sql, DOING)?;
    let mut rows = query.query([]).doing(DOING)?;
    while let Some(row) = rows.next().doing(DOING)? {
        let values: Vec<_> =
            (0..n_columns).map(|nth| row.get_ref(nth)).collect::<Result<_, _>>().doing(DOING)?;
        write(&mut values.into_iter())?;
    }
    Ok(())
}
