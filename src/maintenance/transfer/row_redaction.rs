//! Redacts imported rows: secrets that this build detects become markers.
//!
//! A changed text has another hash, so every column that names it by its hash is updated: of the
//! node, of the history, of the base text. So are its references. Columns computed from the old
//! text are computed anew, and so are the fingerprints of states that had theirs before. Texts and
//! states that were altered since they were exported get none, and the doctor finds them.

mod unredacted_state_fingerprints;

use std::collections::BTreeMap;
use std::mem;

use rusqlite::{Connection, params};
use serde_json::{Map, Value};
use unredacted_state_fingerprints::ReplacedValuesForFingerprints;

use super::transferred_tables::TableSchema;
use crate::ingest::redact::Redactor;
use crate::model::identity::ContentHash;
use crate::model::node_fields;
use crate::store::node_columns::{ColumnRedaction, NodeColumn, columns};
use crate::store::{ErrorContext, PreparedStatements, StoreError, links, past_states};
use crate::text::supplementary_index_terms::index_terms;
use crate::text::{self, tokens};

/// Replaces secrets, and records the texts that changed.
pub(super) struct ImportRedactor<'a> {
    redactor: &'a Redactor,
    pub(super) n_secrets: u64,
    /// New hashes and tokens of changed texts, by the old hashes.
    hashes: BTreeMap<String, (String, u32)>,
    former: ReplacedValuesForFingerprints,
}

/// Whether a row must still be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowInTarget {
    Missing,
    /// Its redacted text equals one that exists already.
    Present,
}

impl<'a> ImportRedactor<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> ImportRedactor<'a> {
        let (hashes, former) = (BTreeMap::new(), ReplacedValuesForFingerprints::default());
        ImportRedactor { redactor, n_secrets: 0, hashes, former }
    }

    /// Replaces the secrets in a text; returns the text before if there were any.
    pub(super) fn scrub(&mut self, text: &mut String) -> Option<String> {
        let scrubbed = self.redactor.scrub(text);
        if scrubbed.hits.is_empty() {
            return None;
        }
        self.n_secrets += scrubbed.hits.len() as u64;
        let scrubbed = scrubbed.text.into_owned();
        Some(mem::replace(text, scrubbed))
    }

    /// Replaces what is secret in a value of a column; returns the value before if anything was.
    fn scrub_value(&mut self, table: &str, column: &str, value: &mut String) -> Option<String> {
        if !is_json(table, column) {
            return self.scrub(value);
        }
        let mapped = node_fields::map_text(value, &mut |it| {
            let mut it = it.to_owned();
            self.scrub(&mut it);
            it
        });
        mapped.map(|it| mem::replace(value, it))
    }

    /// Redacts every text of a row.
    pub(super) fn redact_row(
        &mut self,
        table: &str,
        row: &mut Map<String, Value>,
        conn: &Connection,
    ) -> Result<RowInTarget, StoreError> {
        const IS_THERE: &str = "SELECT 1 FROM blob WHERE hash = ?1";
        let mut former: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in row.iter_mut() {
            if let Value::String(text) = value
                && let Some(before) = self.scrub_value(table, name, text)
            {
                former.insert(name.clone(), before);
            }
        }
        former.iter().for_each(|(name, before)| self.former.note(table, row, (name, before)));
        if !["content", "label", "old_label"].into_iter().any(|it| former.contains_key(it)) {
            return Ok(RowInTarget::Missing);
        }
        for name in ["label", "old_label"] {
            if let Some(Value::String(label)) = row.get_mut(name) {
                *label = text::truncate_chars(label, text::LABEL_CHARS_MAX);
            }
        }
        let of = |row: &Map<String, Value>, name: &str| -> String {
            row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let content = of(row, "content");
        if table == "node" {
            let label = of(row, "label");
            row.insert("token_count".to_owned(), tokens::count(&content).into());
            row.insert("grams".to_owned(), index_terms(&label, &content).into());
        }
        let hash_column = if table == "blob" { "hash" } else { "content_hash" };
        let (old, hash) = (of(row, hash_column), ContentHash::of(&content).to_string());
        let is_genuine = |before: &String| ContentHash::of(before).to_string() == old;
        if !former.get("content").is_some_and(is_genuine) {
            return Ok(RowInTarget::Missing);
        }
        if table == "blob" {
            row.insert("hash".to_owned(), hash.clone().into());
        }
        self.hashes.insert(old, (hash.clone(), tokens::count(&content)));
        let is_there = table == "blob" && conn.has(IS_THERE, [hash], "find a text")?;
        Ok(if is_there { RowInTarget::Present } else { RowInTarget::Missing })
    }

    /// Updates every row that names a changed text by its old hash.
    pub(super) fn settle(&self, conn: &Connection) -> Result<(), StoreError> {
        const MAKE: &str = "
            CREATE TEMP TABLE cleaned (
                old TEXT PRIMARY KEY, new TEXT NOT NULL, tokens INTEGER NOT NULL)";
        const ADD: &str = "INSERT INTO cleaned (old, new, tokens) VALUES (?1, ?2, ?3)";
        const COUNT: &str = "
            UPDATE diff
               SET old_tokens = (SELECT tokens FROM cleaned WHERE old = old_hash)
             WHERE old_hash IN (SELECT old FROM cleaned)";
        if self.n_secrets == 0 {
            return Ok(());
        }
        let before = self.former.fingerprints(conn)?;
        conn.execute_batch(MAKE).doing("list scrubbed texts")?;
        let mut add = conn.prepare(ADD).doing("list scrubbed texts")?;
        for (old, (new, n_tokens)) in &self.hashes {
            add.execute(params![old, new, n_tokens]).doing("list scrubbed texts")?;
        }
        drop(add);
        conn.execute(COUNT, []).doing("count the tokens of scrubbed texts")?;
        for table in TableSchema::all(conn)? {
            let hashes = table.columns.iter().filter(|it| it.name.ends_with("_hash"));
            for column in hashes {
                // Tables and columns are names of the schema.
                let sql = format!(
                    "UPDATE {0}
                        SET {1} = (SELECT new FROM cleaned WHERE old = {1})
                      WHERE {1} IN (SELECT old FROM cleaned)",
                    table.name, column.name
                );
                conn.execute(&sql, []).doing("update references to scrubbed texts")?;
            }
        }
        conn.execute_batch("DROP TABLE cleaned").doing("drop the list of scrubbed texts")?;
        links::read_again(conn)?;
        past_states::seal_again(conn, &before)
    }
}

/// Returns whether a column of a table holds JSON.
fn is_json(table: &str, name: &str) -> bool {
    if table == "custom_view" {
        return name == "query";
    }
    let json = |it: &&NodeColumn| it.holds == ColumnRedaction::Json;
    columns()
        .iter()
        .filter(json)
        .any(|it| it.name == name || it.old.iter().any(|it| it.name == name))
}
