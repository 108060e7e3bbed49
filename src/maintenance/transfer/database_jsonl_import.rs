//! Imports an export into a new memory, completely or not at all.
//!
//! The rows go into a draft that no other process sees. It gets its name once the doctor has found
//! nothing wrong with it, so that no file, whatever it contains, makes an inconsistent memory.
//! Secrets that this build detects become markers on the way in.

use std::io::{BufRead, Read};
use std::path::Path;

use rusqlite::types::Value as Cell;
use rusqlite::{CachedStatement, Connection, params_from_iter};
use serde_json::{Map, Value};

use super::database_jsonl_export::FORMAT;
use super::row_redaction::{ImportRedactor, RowInTarget};
use super::transferred_tables::{OnConflict, TRANSFERRED_TABLES, TableSchema};
use super::{ProgressFn, TransferError, complaint, restore};
use crate::ingest::redact::Redactor;
use crate::maintenance::doctor;
use crate::model::identity::ContentHash;
use crate::store::{ErrorContext, links, schema};

/// Bytes of one line; a text of the largest note, every character escaped, is below that.
const LINE_BYTES_MAX: u64 = 1 << 30;

/// Lines between two reports of progress.
const STEP_LINES: u64 = 1000;

/// Counts of the imported rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportReport {
    pub(crate) n_rows: u64,
    pub(crate) n_nodes: u64,
    /// Secrets that became markers.
    pub(crate) n_secrets: u64,
    /// Fingerprint of the state.
    pub(crate) fingerprint: ContentHash,
}

/// The input of an import.
pub(crate) struct ImportInput<'a> {
    /// The name of the input in messages.
    pub(crate) name: &'a str,
    pub(crate) input: &'a mut dyn BufRead,
    /// Size of the input; 0 when unknown.
    pub(crate) n_bytes: u64,
}

/// Imports the lines into the memory at `db`, which must be missing or empty.
pub(crate) fn import(
    lines: ImportInput<'_>,
    db: &Path,
    redactor: &Redactor,
    progress: ProgressFn<'_>,
) -> Result<ImportReport, TransferError> {
    restore::refuse_occupied(db)?;
    let draft = restore::draft_of(db)?;
    let name = lines.name.to_owned();
    let mut conn = draft.database()?;
    let tx = conn.transaction().doing("begin an import")?;
    for table in TRANSFERRED_TABLES {
        // `table` is from the list in `tables`. The schema comes with rows of its own.
        tx.execute(&format!("DELETE FROM {table}"), []).doing("begin an import")?;
    }
    let mut cleaner = ImportRedactor::new(redactor);
    let n_rows = RowImporter { lines, at: 0, n_bytes: 0 }.read(&tx, &mut cleaner, progress)?;
    cleaner.settle(&tx)?;
    tx.commit().doing("commit an import")?;
    cleaner.compact(&conn)?;
    let fingerprint = ContentHash(doctor::compute_state_fingerprint(&conn)?);
    let n_nodes = conn.query_row("SELECT count(*) FROM node", [], |row| row.get::<_, i64>(0));
    let n_nodes = n_nodes.doing("count the nodes")?.cast_unsigned();
    drop(conn);
    if let Some(complaint) = complaint(draft.path())? {
        let what = format!(
            "`{name}` makes no sound memory: {complaint}; it was altered, or the memory was before \
             it was exported: run `remindb doctor --fix` there, and export again; nothing was \
             imported"
        );
        return Err(TransferError::Refused(what));
    }
    restore::install_draft(draft, db, progress)?;
    Ok(ImportReport { n_rows, n_nodes, n_secrets: cleaner.n_secrets, fingerprint })
}

/// The import in progress.
struct RowImporter<'a> {
    lines: ImportInput<'a>,
    /// The number of the line being read, counted from 1.
    at: u64,
    n_bytes: u64,
}

/// A statement that adds a row of a table.
struct RowInsert<'a> {
    table: &'a TableSchema,
    statement: CachedStatement<'a>,
}

impl RowImporter<'_> {
    fn read(
        &mut self,
        conn: &Connection,
        cleaner: &mut ImportRedactor<'_>,
        progress: ProgressFn<'_>,
    ) -> Result<u64, TransferError> {
        let tables = TableSchema::all(conn)?;
        let mut inserting: Vec<RowInsert<'_>> = Vec::new();
        for table in &tables {
            let statement = conn.prepare_cached(&table.insert(OnConflict::Fail));
            let statement = statement.doing("begin an import")?;
            inserting.push(RowInsert { table, statement });
        }
        let header = self.next()?.ok_or_else(|| self.bad("the file is empty"))?;
        let schema = self.header(conn, &header)?;
        let mut n_rows = 0;
        loop {
            let Some(line) = self.next()? else {
                let what = "the file ends before its end; part of it is missing";
                return Err(self.bad(what));
            };
            let mut entries = line.into_iter();
            let (Some((name, value)), None) = (entries.next(), entries.next()) else {
                return Err(self.bad("a line names one table"));
            };
            let Value::Object(mut row) = value else {
                return Err(self.bad(&format!("what `{name}` has is no row")));
            };
            if name == "end" {
                self.end(&row, n_rows)?;
                if schema < schema::newest() {
                    // References are younger than this export, and follow from the texts.
                    links::read_again(conn)?;
                }
                return Ok(n_rows);
            }
            let Some(into) = inserting.iter_mut().find(|it| it.table.name == name) else {
                let what = format!("no table `{name}` is exported");
                return Err(self.bad(&what));
            };
            if cleaner.redact_row(&name, &mut row, conn)? == RowInTarget::Present {
                n_rows += 1;
                continue;
            }
            let cells = self.cells(into.table, row)?;
            into.statement
                .execute(params_from_iter(cells))
                .map_err(|error| self.bad(&error.to_string()))?;
            n_rows += 1;
            if n_rows % STEP_LINES == 0 {
                progress(self.n_bytes, self.lines.n_bytes);
            }
        }
    }

    /// Returns the next line as an object; `None` at the end of the file.
    fn next(&mut self) -> Result<Option<Map<String, Value>>, TransferError> {
        let mut line = Vec::new();
        let mut part = (&mut *self.lines.input).take(LINE_BYTES_MAX);
        self.at += 1;
        part.read_until(b'\n', &mut line)
            .map_err(|error| self.bad(&format!("it cannot be read: {error}")))?;
        if line.is_empty() {
            return Ok(None);
        }
        self.n_bytes += line.len() as u64;
        if line.last() != Some(&b'\n') {
            return Err(self.bad("the line has no end; part of the file is missing"));
        }
        match serde_json::from_slice(&line) {
            Ok(Value::Object(object)) => Ok(Some(object)),
            Ok(_) => Err(self.bad("the line is no JSON object")),
            Err(error) => {
                let what = error.to_string().replace(" at line 1 column", " at column");
                Err(self.bad(&format!("the line is no JSON: {what}")))
            }
        }
    }

    /// Checks the header and sets the sequences; returns the schema version.
    fn header(&self, conn: &Connection, header: &Map<String, Value>) -> Result<i64, TransferError> {
        const ADD: &str = "INSERT INTO sqlite_sequence (name, seq) VALUES (?1, ?2)";
        if header.get("remindb").and_then(Value::as_str) != Some("export") {
            return Err(self.bad("this is not what `remindb export` writes"));
        }
        let number = |name: &str| header.get(name).and_then(Value::as_i64);
        let (format, schema) = (number("format"), number("schema"));
        let is_known =
            format == Some(FORMAT) && schema.is_some_and(|it| 0 < it && it <= schema::newest());
        if !is_known {
            return Err(self.bad(&format!(
                "format {} and schema {} are not known to this build, which writes {FORMAT} and \
                 {}; update the program",
                format.unwrap_or(0),
                schema.unwrap_or(0),
                schema::newest()
            )));
        }
        let none = Map::new();
        let sequence = match header.get("sequence") {
            None => &none,
            Some(Value::Object(sequence)) => sequence,
            Some(_) => return Err(self.bad("`sequence` is no object")),
        };
        conn.execute("DELETE FROM sqlite_sequence", []).doing("begin an import")?;
        for (name, highest) in sequence {
            let highest = highest.as_i64().filter(|it| 0 <= *it);
            let (true, Some(highest)) = (TRANSFERRED_TABLES.contains(&name.as_str()), highest)
            else {
                return Err(self.bad(&format!("`sequence` of `{name}` is none")));
            };
            conn.execute(ADD, (name, highest)).doing("note a sequence")?;
        }
        Ok(schema.unwrap_or(0))
    }

    fn cells(
        &self,
        table: &TableSchema,
        mut row: Map<String, Value>,
    ) -> Result<Vec<Cell>, TransferError> {
        let mut cells = Vec::with_capacity(table.columns.len());
        for column in &table.columns {
            cells.push(match row.swap_remove(&column.name) {
                None | Some(Value::Null) => Cell::Null,
                Some(Value::String(text)) => Cell::Text(text),
                Some(Value::Number(it)) => match (it.as_i64(), it.as_f64()) {
                    (Some(it), _) => Cell::Integer(it),
                    (None, Some(it)) => Cell::Real(it),
                    (None, None) => return Err(self.bad(&format!("{it} is too large"))),
                },
                Some(_) => {
                    let what = format!("`{}` of `{}` has no simple value", column.name, table.name);
                    return Err(self.bad(&what));
                }
            });
        }
        match row.keys().next() {
            None => Ok(cells),
            Some(name) => {
                let what = format!("`{}` has no column `{name}`", table.name);
                Err(self.bad(&what))
            }
        }
    }

    fn end(&mut self, end: &Map<String, Value>, n_rows: u64) -> Result<(), TransferError> {
        match end.get("rows").and_then(Value::as_u64) {
            Some(n) if n == n_rows => (),
            Some(n) => {
                let what = format!("{n} rows were exported, and {n_rows} are there");
                return Err(self.bad(&what));
            }
            None => return Err(self.bad("the end names no number of rows")),
        }
        match self.next()? {
            None => Ok(()),
            Some(_) => Err(self.bad("there is more after the end")),
        }
    }

    fn bad(&self, what: &str) -> TransferError {
        let RowImporter { lines, at, .. } = self;
        let name = lines.name;
        TransferError::Refused(format!(
            "cannot import `{name}`: line {at}: {what}; nothing was imported"
        ))
    }
}
