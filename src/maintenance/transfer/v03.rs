//! Imports a database of remindb 0.3 into a new memory.
//!
//! The old file is never opened: a private copy of it and of its log is, so that nothing changes in
//! or around it. Nodes keep their ids and heat, agents' texts become overlays or agents' nodes, and
//! files become rows that a later compile of the same folder reads and aligns. The history keeps
//! its texts. What has no equivalent here is counted in [`V03ImportReport::notes`].

mod files;
mod history;
mod links;
mod nodes;
mod rows;

pub(super) use rows::{check_readable, has_table};

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::Connection;

use super::atomic_file::AtomicFile;
use super::row_redaction::ImportRedactor;
use super::{
    FileErrorContext, IfExists, ProgressFn, TransferError, check_there, complaint, restore,
    with_suffix,
};
use crate::ingest::redact::Redactor;
use crate::maintenance::doctor;
use crate::model::clock::UnixMillis;
use crate::model::identity::ContentHash;
use crate::store::past_states::legacy_history_completion;
use crate::store::unsafe_wal_open_refusal::{log_beside, log_left_out, log_of};
use crate::store::{self, ErrorContext, StoreError, connection, schema};

/// Copies attempted while another process writes to the file.
const TRIES_MAX: usize = 5;

/// Counts of the imported rows, and of those that were not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct V03ImportReport {
    pub(crate) n_nodes: u64,
    pub(crate) n_snapshots: u64,
    pub(crate) n_changes: u64,
    /// References, pending ones included.
    pub(crate) n_links: u64,
    /// Secrets that became markers.
    pub(crate) n_secrets: u64,
    pub(crate) fingerprint: ContentHash,
    /// Losses of the import, a line each.
    pub(crate) notes: Vec<String>,
}

/// Counts of what has no equivalent here, by kind.
#[derive(Debug, Default)]
struct SkippedCounts(BTreeMap<&'static str, u64>);

impl SkippedCounts {
    fn add(&mut self, what: &'static str) {
        self.add_many(what, 1);
    }

    fn add_many(&mut self, what: &'static str, n: u64) {
        if 0 < n {
            *self.0.entry(what).or_default() += n;
        }
    }
}

/// Imports the database at `old` into the memory at `db`, which must be missing or empty.
pub(crate) fn import_old(
    old: &Path,
    db: &Path,
    redactor: &Redactor,
    now: UnixMillis,
    progress: ProgressFn<'_>,
) -> Result<V03ImportReport, TransferError> {
    check_there(old, "database")?;
    restore::refuse_occupied(db)?;
    let copy = AtomicFile::of(&with_suffix(db, ".old"), IfExists::Refuse)?;
    copy_still(old, copy.path())?;
    let from = open(copy.path(), old)?;
    let draft = restore::draft_of(db)?;
    let mut conn = draft.database()?;
    let tx = conn.transaction().doing("begin an import")?;
    let mut cleaner = ImportRedactor::new(redactor);
    let mut notes = SkippedCounts::default();
    let mut files = files::V03FileImporter::read(&from, &tx)?;
    let nodes = nodes::import_nodes(&from, &tx, &mut files, &mut cleaner, &mut notes, progress)?;
    let history =
        history::import_history(&from, &tx, &nodes, &mut files, &mut cleaner, &mut notes)?;
    store::links::read_again(&tx)?;
    let n_links = links::import_links(&from, &tx, &nodes, &mut cleaner, &mut notes)?;
    files.note(&mut notes);
    note_times(&from, &mut notes)?;
    note_missing_values(&from, &mut notes)?;
    let name = old.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let mut message = format!("import:{name} of remindb 0.3");
    cleaner.scrub(&mut message);
    doctor::rewrite_fingerprint(&tx, &message, now)?;
    let n_lost = legacy_history_completion::complete(&tx)?.n_lost;
    notes.add_many("snapshots cannot be restored: 0.3 did not note what their nodes were", n_lost);
    tx.commit().doing("commit an import")?;
    let fingerprint = ContentHash(doctor::compute_state_fingerprint(&conn)?);
    drop(conn);
    if let Some(complaint) = complaint(draft.path())? {
        let what = format!("`{}` makes no sound memory: {complaint}", old.display());
        return Err(TransferError::Refused(what + "; nothing was imported"));
    }
    restore::install_draft(draft, db, progress)?;
    Ok(V03ImportReport {
        n_nodes: nodes.len() as u64,
        n_snapshots: history.n_snapshots,
        n_changes: history.n_changes,
        n_links,
        n_secrets: cleaner.n_secrets,
        fingerprint,
        notes: notes.0.iter().map(|(what, n)| format!("{n} {what}")).collect(),
    })
}

/// Counts the timestamps that have no equivalent here.
fn note_times(from: &Connection, notes: &mut SkippedCounts) -> Result<(), StoreError> {
    const TABLES: [(&str, &str); 3] = [
        ("nodes", "nodes no longer say when they were made; the history says when they changed"),
        ("relations", "links no longer say when they were made"),
        ("pending_relations", "links no longer say when they were made"),
    ];
    for (table, what) in TABLES {
        if !rows::has_table(from, table)? {
            continue;
        }
        let made = rows::columns(from, table, &[("created_at", "0")])?;
        let sql = format!("SELECT count(*) FROM {table} WHERE ifnull({made}, 0) <> 0");
        let n: u32 = from.query_row(&sql, [], |row| row.get(0)).doing("count old times")?;
        notes.add_many(what, n.into());
    }
    Ok(())
}

/// Counts the rows without a value that the old program always wrote.
fn note_missing_values(from: &Connection, notes: &mut SkippedCounts) -> Result<(), StoreError> {
    const TABLES: [(&str, &[&str], &[&str], &str); 2] = [
        (
            "nodes",
            &["source_file", "label", "content"],
            &["depth", "access_count", "pinned"],
            "nodes lacked a file, a label, a text or a number, which is empty or 0 now",
        ),
        ("snapshots", &["compile_root"], &["created_at"], "snapshots lacked their time or folder"),
    ];
    for (table, texts, numbers, what) in TABLES {
        let mut missing = Vec::new();
        for text in texts {
            missing.push(rows::columns(from, table, &[(text, "''")])? + " IS NULL");
        }
        for number in numbers {
            let number = rows::columns(from, table, &[(number, "0")])?;
            missing.push(format!("typeof({number}) NOT IN ('integer', 'real')"));
        }
        let sql = format!("SELECT count(*) FROM {table} WHERE {}", missing.join(" OR "));
        let n: u32 = from.query_row(&sql, [], |row| row.get(0)).doing("count missing values")?;
        notes.add_many(what, n.into());
    }
    Ok(())
}

/// Copies a database and its log as plain files, at a moment when no process writes to them.
pub(crate) fn copy_still(from: &Path, to: &Path) -> Result<(), TransferError> {
    const LOG: &str = "-wal";
    let log = log_beside(from).unwrap_or_else(|| log_of(from));
    if let Some(left) = log_left_out(from, &log) {
        return Err(TransferError::Refused(format!(
            "whether `{}`, beside a symbolic link, belongs to the database is not known; name the \
             database itself to read it without that log, or copy both into a folder, the log as \
             `NAME-wal`, and read the copy",
            left.display()
        )));
    }
    let stat = || {
        let one = |path: &Path| fs::metadata(path).ok().map(|it| (it.len(), it.modified().ok()));
        (one(from), one(&log))
    };
    for _ in 0..TRIES_MAX {
        let before = stat();
        match (before.0.is_none(), before.1.is_some()) {
            // Of a database that is gone, the log is read beside an empty file.
            (true, true) => fs::write(to, "").on("write", to)?,
            _ => fs::copy(from, to).map(drop).on("read", from)?,
        }
        match log.exists() {
            true => fs::copy(&log, with_suffix(to, LOG)).map(drop).on("read", &log)?,
            // Left by an earlier try.
            false => drop(fs::remove_file(with_suffix(to, LOG))),
        }
        if stat() == before {
            // The copy belongs to this user alone, whoever may read the original.
            return private(to).and_then(|()| private(&with_suffix(to, LOG)));
        }
    }
    let what = format!("`{}` is being written to; end what writes, then try again", from.display());
    Err(TransferError::Refused(what))
}

#[cfg(unix)]
fn private(path: &Path) -> Result<(), TransferError> {
    use std::os::unix::fs::PermissionsExt;
    match path.exists() {
        true => fs::set_permissions(path, fs::Permissions::from_mode(0o600)).on("protect", path),
        false => Ok(()),
    }
}

#[cfg(not(unix))]
fn private(_: &Path) -> Result<(), TransferError> {
    Ok(())
}

/// Tables whose damage is looked for.
const TABLES_READ: [&str; 3] = ["nodes", "snapshots", "diffs"];

/// Opens the copy; refuses other databases than those of remindb 0.3. `old` is the path in errors.
fn open(copy: &Path, old: &Path) -> Result<Connection, TransferError> {
    const TABLES: &str = "
        SELECT count(*)
          FROM sqlite_schema
         WHERE type = 'table'
           AND name IN ('nodes', 'snapshots', 'diffs')";
    let conn = connection::open_existing(copy, "open the old database")?;
    let old = old.display();
    let id: rusqlite::Result<i64> =
        conn.pragma_query_value(None, "application_id", |row| row.get(0));
    let n_tables: rusqlite::Result<i64> = conn.query_row(TABLES, [], |row| row.get(0));
    let what = match (id, n_tables) {
        (Ok(schema::APPLICATION_ID), _) => format!(
            "`{old}` is a memory of this program, not of remindb 0.3; copy it with `remindb backup`"
        ),
        (Ok(_), Ok(3)) => {
            rows::check_readable(&conn, &old.to_string(), &TABLES_READ)?;
            return Ok(conn);
        }
        (Ok(_), Ok(_)) => format!("`{old}` is no database of remindb 0.3: it has no table `nodes`"),
        (Err(error), _) | (_, Err(error)) => format!("`{old}` cannot be read: {error}"),
    };
    Err(TransferError::Refused(what))
}

#[cfg(test)]
mod tests;
