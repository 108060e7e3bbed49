//! Salvages the readable rows of a damaged database into a new memory.
//!
//! A private copy is read row by row, by key. After an unreadable page, reading continues from the
//! other end of the table, then in ever smaller pieces of the gap between. Dangling rows are
//! repaired as the doctor does, and everything computed from lost rows is computed anew. A missing
//! text stays missing; nothing is invented.

mod damaged_table_reader;
mod header_schema_transplant;
mod sqlite_schema_row_repair;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::Path;
use std::{fs, io};

use header_schema_transplant::TransplantedPart;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params, params_from_iter};

use super::atomic_file::{AtomicFile, IfExists};
use super::transferred_tables::{OnConflict, TRANSFERRED_TABLES, TableSchema};
use super::v03::copy_still;
use super::{FileErrorContext, ProgressFn, TransferError, check_there, complaint, with_suffix};
use crate::maintenance::doctor;
use crate::model::clock::UnixMillis;
use crate::model::identity::ContentHash;
use crate::store::unsafe_wal_open_refusal::is_log_of_another;
use crate::store::{
    ErrorContext, PreparedStatements, StoreError, connection, damaged_wal_replay, links,
};

/// Checks whose repairs have notes that salvage passes on.
const NOTED: [&str; 10] = [
    "dangling_diffs",
    "foreign_keys",
    "content_hashes",
    "fingerprint",
    "node_rows",
    "node_files",
    "stale_compile_root",
    "fields",
    "references",
    "history_rows",
];

/// Rounds of repairs; one can uncover a fault that another one repairs.
const ROUNDS_MAX: usize = 3;

/// Counts of the rows read, and the losses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SalvageReport {
    pub(crate) n_nodes: u64,
    pub(crate) fingerprint: ContentHash,
    /// Lost or repaired rows, a line each.
    pub(crate) losses: Vec<String>,
}

/// Creates a memory at `out`, where no file is, from the readable rows of `damaged`.
pub(crate) fn salvage(
    damaged: &Path,
    out: &Path,
    now: UnixMillis,
    progress: ProgressFn<'_>,
) -> Result<SalvageReport, TransferError> {
    match check_there(damaged, "database") {
        // All of a small memory can be in its log.
        Ok(()) | Err(TransferError::Store(StoreError::Vanished { .. })) => (),
        Err(error) => return Err(error),
    }
    let draft = AtomicFile::of(out, IfExists::Refuse)?;
    let copy = AtomicFile::of(&with_suffix(out, ".damaged"), IfExists::Refuse)?;
    copy_still(damaged, copy.path())?;
    let mut conn = draft.database()?;
    let mut losses = Vec::new();
    prepare_log(copy.path(), &mut losses).on("read", damaged)?;
    header_schema_transplant::graft(copy.path(), draft.path(), TransplantedPart::Head)
        .on("read", damaged)?;
    let from = match open_with_tables(copy.path(), damaged, &mut losses) {
        Ok(from) => from,
        Err(_) => {
            losses.push("the list of tables: that of a new memory was taken".to_owned());
            header_schema_transplant::graft(copy.path(), draft.path(), TransplantedPart::Schema)
                .on("read", damaged)?;
            open_with_tables(copy.path(), damaged, &mut losses)?
        }
    };
    let tx = conn.transaction().doing("begin to salvage")?;
    let n_read = read_all(&from, &tx, &mut losses, progress)?;
    copy_facets(&from, &tx)?;
    tx.commit().doing("commit the rescued rows")?;
    if n_read.get("node").is_none_or(|n| *n == 0) && n_read.get("blob").is_none_or(|n| *n == 0) {
        let what = format!(
            "nothing can be read of `{}`; restore a backup, or compile the notes anew",
            damaged.display()
        );
        return Err(TransferError::Refused(what));
    }
    losses.extend(repair_failed(&conn, &from, draft.path(), now)?);
    let n_nodes = count(&conn, "SELECT count(*) FROM node")?;
    let fingerprint = ContentHash(doctor::compute_state_fingerprint(&conn)?);
    drop(conn);
    if let Some(complaint) = complaint(draft.path())? {
        let what = format!(
            "what can be read of `{}` makes no sound memory: {complaint}",
            damaged.display()
        );
        return Err(TransferError::Refused(what));
    }
    draft.publish()?;
    Ok(SalvageReport { n_nodes, fingerprint, losses })
}

/// Writes the pages of a log whose beginning is damaged into the copy, and leaves out the log of
/// another file.
fn prepare_log(copy: &Path, losses: &mut Vec<String>) -> io::Result<()> {
    let log = with_suffix(copy, "-wal");
    if log.exists() && is_log_of_another(File::open(copy), &log) {
        losses.push("the log: it is that of another file, and was left out".to_owned());
        fs::remove_file(&log)?;
    }
    if log.exists() && damaged_wal_replay::has_unread_commits(&log, copy)? {
        let n = damaged_wal_replay::replay(&log, copy)?;
        losses.push(format!("the log: its beginning is damaged; {n} pages were taken as they are"));
        fs::remove_file(&log)?;
    }
    Ok(())
}

/// Opens the copy, after altered rows of its list of tables were put right.
fn open_with_tables(
    copy: &Path,
    damaged: &Path,
    losses: &mut Vec<String>,
) -> Result<Connection, TransferError> {
    let from = open(copy, damaged)?;
    let restored = sqlite_schema_row_repair::restore(&from)?;
    if restored.is_empty() {
        return Ok(from);
    }
    losses.extend(restored.iter().map(|it| format!("the list of tables: `{it}` was altered")));
    drop(from);
    open(copy, damaged)
}

/// Opens the copy without the checks that SQLite can skip, to read every table its schema still
/// has.
fn open(copy: &Path, damaged: &Path) -> Result<Connection, TransferError> {
    let conn = connection::open_existing(copy, "open the damaged database")?;
    // SQLite refuses a truncated file otherwise, and so it does a schema with one bad line.
    conn.pragma_update(None, "writable_schema", "ON").doing("open the damaged database")?;
    let n_tables: rusqlite::Result<i64> =
        conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0));
    match n_tables {
        Ok(n) if 0 < n => Ok(conn),
        Ok(_) => {
            let what = format!("`{}` is empty; there is nothing to salvage", damaged.display());
            Err(TransferError::Refused(what))
        }
        Err(error) => Err(TransferError::Refused(format!(
            "the beginning of `{}` is gone, without which nothing else can be found: {error}; \
             restore a backup, or compile the notes anew",
            damaged.display()
        ))),
    }
}

/// Reads every table; returns the rows read by table, and adds the losses.
fn read_all(
    from: &Connection,
    to: &Connection,
    losses: &mut Vec<String>,
    progress: ProgressFn<'_>,
) -> Result<BTreeMap<&'static str, u64>, TransferError> {
    let mut n_read = BTreeMap::new();
    for (nth, table) in (0..).zip(TableSchema::all(to)?) {
        progress(nth, TRANSFERRED_TABLES.len() as u64);
        // The schema's own rows would conflict with the salvaged ones.
        to.execute(&format!("DELETE FROM {}", table.name), []).doing("begin to salvage")?;
        let there = match table.in_database(from) {
            Ok(there) if !there.columns.is_empty() => there,
            Ok(_) | Err(_) => {
                losses.push(format!("{}: the table is gone", table.name));
                continue;
            }
        };
        let insert = there.insert(OnConflict::Ignore);
        let mut insert = to.prepare(&insert).doing("copy a row")?;
        let (mut n, mut n_bad) = (0, 0);
        let (gaps, has_replaced) =
            damaged_table_reader::read_with_gaps(from, &there, &mut |cells| {
                match insert.execute(params_from_iter(cells)) {
                    Ok(n_added) => n += n_added as u64,
                    // A row with invalid bytes.
                    Err(_) => n_bad += 1,
                }
            });
        if 0 < n_bad {
            losses.push(format!("{}: {n_bad} rows make no sense", table.name));
        }
        if has_replaced {
            losses.push(format!("{}: bytes that are no text became `�`", table.name));
        }
        for gap in gaps {
            losses.push(format!("{}: {n} rows read; unreadable {gap}", table.name));
        }
        n_read.insert(table.name, n);
    }
    Ok(n_read)
}

/// Takes over the index of fields, which has values of fields that were altered.
fn copy_facets(from: &Connection, to: &Connection) -> Result<(), StoreError> {
    const FACETS: &str = "SELECT key, value, node FROM facet";
    const DROP: &str = "DELETE FROM facet WHERE node = ?1";
    const ADD: &str = "
        INSERT OR IGNORE INTO facet (key, value, node)
        SELECT ?1, ?2, key FROM node WHERE key = ?3";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    // An older memory has none, and those of a damaged one are made anew.
    let facets: Vec<(String, Value, i64)> =
        from.rows(FACETS, [], read, "read the facets").unwrap_or_default();
    let nodes: BTreeSet<i64> = facets.iter().map(|it| it.2).collect();
    for node in nodes {
        to.run(DROP, [node], "copy a facet")?;
    }
    for (key, value, node) in facets {
        to.run(ADD, params![key, value, node], "copy a facet")?;
    }
    Ok(())
}

/// Makes the salvaged rows consistent; returns what was lost or changed.
fn repair_failed(
    conn: &Connection,
    from: &Connection,
    path: &Path,
    now: UnixMillis,
) -> Result<Vec<String>, TransferError> {
    const NO_TEXT: &str = "
        SELECT count(*)
          FROM diff
         WHERE old_hash IS NOT NULL
           AND old_hash IS NOT new_hash
           AND old_hash NOT IN (SELECT hash FROM blob)";
    const NO_PARENT: &str = "SELECT count(*) FROM node WHERE parent NOT IN (SELECT key FROM node)";
    let counts = [
        (lost_nodes(conn, from)?, "nodes are lost"),
        (count(conn, NO_PARENT)?, "nodes lost their parent and are roots now"),
        (count(conn, NO_TEXT)?, "changes of the history lost their text"),
    ];
    let counts = counts.into_iter().filter(|(n, _)| 0 < *n);
    let mut lost: Vec<String> = counts.map(|(n, what)| format!("{n} {what}")).collect();
    // Files whose text may be missing are read again by the next compile.
    conn.execute("UPDATE file SET content_hash = NULL, mtime = 0", []).doing("mend files")?;
    for _ in 0..ROUNDS_MAX {
        let mut repairs = doctor::repair_failed(conn, path, now);
        if repairs.is_empty() {
            break;
        }
        for check in NOTED {
            let notes = repairs.remove(check).and_then(Result::ok).unwrap_or_default();
            // Every salvage has the files read again.
            lost.extend(notes.into_iter().filter(|it| it != doctor::READ_AGAIN));
        }
    }
    links::read_again(conn)?;
    Ok(lost)
}

/// Returns the number of nodes of which only other rows are left: temperatures, places in files,
/// children, references, and those of the full-text index, which has every node.
fn lost_nodes(conn: &Connection, from: &Connection) -> Result<u64, StoreError> {
    const INDEXED: &str = "SELECT id FROM node_fts_docsize";
    const LOST: &str = "
        SELECT count(*)
          FROM (SELECT node AS key FROM heat
                UNION SELECT node FROM span
                UNION SELECT parent FROM node WHERE parent IS NOT NULL
                UNION SELECT source FROM reference
                UNION SELECT value FROM json_each(?1))
         WHERE key NOT IN (SELECT key FROM node)";
    // The index may be damaged, too.
    let indexed: Vec<i64> =
        from.rows(INDEXED, [], |row| row.get(0), "read the index").unwrap_or_default();
    let indexed = serde_json::json!(indexed).to_string();
    conn.row(LOST, [indexed], |row| row.get::<_, i64>(0), "count rows").map(i64::cast_unsigned)
}

fn count(conn: &Connection, sql: &'static str) -> Result<u64, StoreError> {
    conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned).doing("count rows")
}
