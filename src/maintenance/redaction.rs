//! Removes secrets from an existing memory: from its nodes, index, history and file.
//!
//! A memory may contain secrets that were stored before a detector for them existed. [`redact`]
//! scrubs every column of text, present and past, in one transaction: ids stay, no snapshot is
//! made, and hashes and fingerprints become those of the scrubbed texts, so that rollbacks work as
//! before. Compiling an unchanged file again changes nothing, since its base text is hashed anew,
//! too. Then the file is rewritten without the overwritten bytes and checked: the rows by the
//! detectors, the bytes for the secrets themselves.
//!
//! A kill leaves the memory of before or after; another run completes the work. No other connection
//! of this process may be open, since the file is read as bytes in the end.

pub(super) mod breadcrumbs;
pub(super) mod labels;
mod paths;
mod proof;
mod references;
#[cfg(test)]
mod tests;
mod text_columns;
mod texts;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, Transaction, params};

use labels::SecretWithKind;
use text_columns::TextColumn;

use crate::ingest::redact::Redactor;
use crate::model::node_fields;
use crate::store::commit_outcome::commit;
use crate::store::file_identity_check::OpenedFiles;
use crate::store::node_columns::ColumnRedaction;
use crate::store::replica_write_guard::mark_unpublished;
use crate::store::write_lock_and_holder::reader_name;
use crate::store::{
    ErrorContext, IfMissing, PreparedStatements, StoreError, busy_handler, checkpoint, connection,
    past_states, schema,
};

/// Longest wait for readers in other processes that keep the log from being emptied.
const READERS_WAIT: Duration = Duration::from_secs(15);

/// Whether the memory is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedactionMode {
    /// Computes everything and keeps nothing.
    DryRun,
    /// Rewrites the memory.
    Rewrite,
}

/// The secrets found, and the state of the file after their removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RedactionReport {
    /// Number of different secrets, by kind.
    pub(crate) kinds: BTreeMap<String, usize>,
    /// Number of nodes with a secret.
    pub(crate) n_nodes: usize,
    /// Number of changes in the history whose old version has a secret.
    pub(crate) n_versions: usize,
    /// Number of paths, messages, manual references and other texts with a secret.
    pub(crate) n_others: usize,
    /// Number of secrets whose text also occurs where no detector takes it for a secret.
    pub(crate) n_elsewhere: usize,
    /// The remaining faults; empty when the file is clean.
    pub(crate) left: Vec<String>,
}

impl RedactionReport {
    /// Returns the number of different secrets.
    pub(crate) fn n_secrets(&self) -> usize {
        self.kinds.values().sum()
    }
}

/// Replaces every secret in the memory at `path` by a marker.
pub(crate) fn redact(
    path: &Path,
    redactor: &Redactor,
    mode: RedactionMode,
) -> Result<RedactionReport, StoreError> {
    let conn = connection::open_writer(path, IfMissing::Refuse)?;
    let file_identity = OpenedFiles::of(path)?;
    conn.busy_timeout(busy_handler::LONG).doing("set the waiting time")?;
    let secure = |conn: &Connection| {
        conn.pragma_update_and_check(None, "secure_delete", true, |row| row.get::<_, i64>(0))
    };
    secure(&conn).doing("overwrite deleted text")?;
    let (mut redaction, secrets) = rewrite(&conn, &file_identity, redactor, mode)?;
    if mode == RedactionMode::DryRun {
        return Ok(redaction);
    }
    file_identity.confirm(&conn)?;
    // The rows are clean: a failure from here on leaves some bytes of the secrets in the file.
    if let Err(error) = compact(&conn, READERS_WAIT, &mut redaction) {
        redaction.left.push(format!(
            "what was replaced may be left in the file: {}; run this again",
            error.after_a_change()
        ));
    }
    conn.busy_timeout(READERS_WAIT).doing("set the waiting time")?;
    let mut needles = proof::SecretNeedles::new(&secrets);
    if let Err(error) = proof::examine_rows(&conn, redactor, &mut needles, &mut redaction) {
        redaction.left.push(format!(
            "something may be left in the file, which could not be looked at: {}; run this again",
            error.after_a_change()
        ));
    }
    file_identity.leave(&conn);
    // Closing another handle of the file would drop the locks of an open connection.
    drop(conn);
    proof::examine_bytes(path, &needles, &mut redaction);
    Ok(redaction)
}

/// Rewrites all rows in one transaction.
fn rewrite(
    conn: &Connection,
    opened_files: &OpenedFiles,
    redactor: &Redactor,
    mode: RedactionMode,
) -> Result<(RedactionReport, KindsBySecret), StoreError> {
    let tx = opened_files.begin_write(conn, "lock the database")?;
    let before = past_states::fingerprints(&tx)?;
    let mut work = MemoryRedactor {
        tx: &tx,
        redactor,
        secrets: KindsBySecret::default(),
        moved: HashMap::new(),
        relabelled: HashMap::new(),
        redaction: RedactionReport::default(),
    };
    work.prepare()?;
    let relabelled = work.scrub_nodes()?;
    work.scrub_blobs()?;
    work.scrub_old_labels()?;
    work.replace_hashes()?;
    let restemmed = work.scrub_all_paths()?;
    work.update_breadcrumbs(relabelled, &restemmed)?;
    work.scrub_references()?;
    work.words()?;
    past_states::seal_again(&tx, &before)?;
    let MemoryRedactor { secrets, mut redaction, .. } = work;
    for kind in secrets.0.values() {
        *redaction.kinds.entry(kind.clone()).or_default() += 1;
    }
    if mode == RedactionMode::Rewrite {
        const REBUILD: &str = "INSERT INTO node_fts (node_fts) VALUES ('rebuild')";
        tx.execute(REBUILD, []).doing("rebuild the index")?;
        schema::drop_statistics(&tx)?;
        tx.execute_batch("DROP TABLE moved; DROP TABLE clean").doing("drop the list of secrets")?;
        if !redaction.kinds.is_empty() {
            mark_unpublished(&tx, "redact")?;
        }
        commit(tx, "commit the scrubbed memory")?;
    }
    Ok((redaction, secrets))
}

/// Rewrites the file without overwritten bytes, and empties the log.
fn compact(
    conn: &Connection,
    longest: Duration,
    redaction: &mut RedactionReport,
) -> Result<(), StoreError> {
    // From here on no temporary file can contain a secret.
    conn.pragma_update(None, "temp_store", "DEFAULT").doing("keep temporary tables in files")?;
    conn.flush_prepared_statement_cache();
    conn.execute_batch("VACUUM").doing("rewrite the file")?;
    if !checkpoint::empty(conn, longest)? {
        redaction.left.push(format!(
            "the write-ahead log could not be emptied, since {} reads the file; end it and run \
             this again",
            reader_name(conn)
        ));
    }
    Ok(())
}

/// The replaced secrets, with their kinds. They are never shown.
#[derive(Default)]
struct KindsBySecret(BTreeMap<String, String>);

/// A text that got another hash.
struct RehashedText {
    hash: String,
    tokens: u32,
    /// The secrets replaced in it.
    found: Vec<SecretWithKind>,
}

/// The rewriting in progress.
struct MemoryRedactor<'a> {
    tx: &'a Transaction<'a>,
    redactor: &'a Redactor,
    secrets: KindsBySecret,
    /// Rehashed texts, by their former hash.
    moved: HashMap<String, RehashedText>,
    /// New labels of nodes by their former ones, as references name them.
    relabelled: HashMap<String, String>,
    redaction: RedactionReport,
}

impl MemoryRedactor<'_> {
    fn prepare(&self) -> Result<(), StoreError> {
        // Temporary tables are in memory, so that their contents reach no disk.
        const TABLES: &str = "
            CREATE TEMP TABLE moved (old TEXT PRIMARY KEY, new TEXT, tokens INTEGER);
            CREATE TEMP TABLE clean (old TEXT PRIMARY KEY, new TEXT);";
        self.tx.execute_batch(TABLES).doing("make room for the work")
    }

    /// Returns the text without secrets, and the secrets; `None` when there was none.
    fn scrub(&mut self, text: &str) -> Option<(String, Vec<SecretWithKind>)> {
        let scrubbed = self.redactor.scrub(text);
        if scrubbed.hits.is_empty() {
            return None;
        }
        let found: Vec<SecretWithKind> = scrubbed
            .hits
            .iter()
            .map(|hit| (hit.kind.to_owned(), text[hit.range.clone()].to_owned()))
            .collect();
        for (kind, secret) in &found {
            self.secrets.0.entry(secret.clone()).or_insert_with(|| kind.clone());
        }
        Some((scrubbed.text.into_owned(), found))
    }

    /// Returns a value of a column without secrets; `None` when there was none.
    fn scrub_value(&mut self, holds: ColumnRedaction, value: &str) -> Option<String> {
        if holds != ColumnRedaction::Json {
            return self.scrub(value).map(|(scrubbed, _)| scrubbed);
        }
        node_fields::map_text(value, &mut |it| match self.scrub(it) {
            Some((scrubbed, _)) => scrubbed,
            None => it.to_owned(),
        })
    }

    /// Returns a label without its own secrets and those of its text.
    fn scrub_label(&mut self, label: &str, found: &[SecretWithKind]) -> Option<String> {
        labels::scrub_label(label, found, &mut |it| self.scrub(it).map(|(scrubbed, _)| scrubbed))
    }

    /// Scrubs columns that hold plain words, or JSON with words in it.
    fn words(&mut self) -> Result<(), StoreError> {
        let is_of_words = |it: &&TextColumn| match it.holds {
            ColumnRedaction::Words => true,
            // Nodes are scrubbed as a whole.
            ColumnRedaction::Json => it.table != "node",
            _ => false,
        };
        for column in text_columns::all().iter().filter(is_of_words) {
            let (table, name) = (column.table, column.name);
            let values = self.distinct(&format!(
                "SELECT DISTINCT {name} FROM {table} WHERE {name} IS NOT NULL"
            ))?;
            self.tx.execute("DELETE FROM clean", []).doing("begin a column")?;
            for value in values {
                if let Some(scrubbed) = self.scrub_value(column.holds, &value) {
                    const NOTE: &str = "INSERT INTO clean (old, new) VALUES (?1, ?2)";
                    self.tx.run(NOTE, params![value, scrubbed], "note a scrubbed text")?;
                }
            }
            let sql = format!(
                "UPDATE {table} SET {name} = (SELECT new FROM clean WHERE old = {name})
                  WHERE {name} IN (SELECT old FROM clean)"
            );
            self.redaction.n_others += self.tx.execute(&sql, []).doing("scrub a column")?;
        }
        Ok(())
    }

    fn distinct(&self, sql: &str) -> Result<Vec<String>, StoreError> {
        self.tx.rows(sql, [], |row| row.get(0), "read a column")
    }
}
