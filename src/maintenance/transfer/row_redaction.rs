//! Redacts imported rows: secrets that this build detects become markers.
//!
//! A changed text has another hash, so every column that names it by its hash is updated: of the
//! node, of the history, of the base text. So are its references. Columns computed from the old
//! text are computed anew, and so are the fingerprints of states that had theirs before. Texts and
//! states that were altered since they were exported get none, and the doctor finds them.

mod redacted_paths;
mod unredacted_state_fingerprints;

use std::collections::{BTreeMap, HashMap};
use std::mem;
use std::ops::Range;

pub(super) use redacted_paths::PathScope;
use redacted_paths::RedactedPaths;
use rusqlite::{Connection, Row, params};
use serde_json::{Map, Value};
use unredacted_state_fingerprints::ReplacedValuesForFingerprints;

use super::transferred_tables::TableSchema;
use crate::ingest::redact::Redactor;
use crate::maintenance::redaction::breadcrumbs;
use crate::maintenance::redaction::labels::{self, SecretWithKind};
use crate::model::identity::ContentHash;
use crate::model::links::name::fold_name;
use crate::model::node_fields;
use crate::store::node_columns::{ColumnRedaction, NodeColumn, columns};
use crate::store::{ErrorContext, PreparedStatements, StoreError, links, past_states};
use crate::text::supplementary_index_terms::index_terms;
use crate::text::{self, tokens};

/// Replaces secrets, and records the texts that changed.
pub(super) struct ImportRedactor<'a> {
    redactor: &'a Redactor,
    pub(super) n_secrets: u64,
    /// Changed texts, by their old hashes.
    texts: BTreeMap<String, RedactedText>,
    former: ReplacedValuesForFingerprints,
    /// New labels of nodes by their former ones, as references name them.
    relabelled: HashMap<String, String>,
    /// Keys of nodes with a new label.
    relabelled_keys: Vec<i64>,
    paths: RedactedPaths,
    /// Whether overwritten bytes of the database may show what a marker replaced.
    has_residue: bool,
}

/// A text that got another hash.
struct RedactedText {
    hash: String,
    tokens: u32,
    /// The secrets replaced in it.
    found: Vec<SecretWithKind>,
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
        ImportRedactor {
            redactor,
            n_secrets: 0,
            texts: BTreeMap::new(),
            former: ReplacedValuesForFingerprints::default(),
            relabelled: HashMap::new(),
            relabelled_keys: Vec::new(),
            paths: RedactedPaths::default(),
            has_residue: false,
        }
    }

    /// Replaces the secrets in a text; returns the text before if there were any.
    pub(super) fn scrub(&mut self, text: &mut String) -> Option<String> {
        self.scrub_text(text).map(|(before, _)| before)
    }

    /// Replaces the secrets in a text; returns the text before, and the secrets, if there were any.
    pub(super) fn scrub_text(
        &mut self,
        text: &mut String,
    ) -> Option<(String, Vec<SecretWithKind>)> {
        let scrubbed = self.redactor.scrub(text);
        if scrubbed.hits.is_empty() {
            return None;
        }
        self.n_secrets += scrubbed.hits.len() as u64;
        let secret = |kind: &str, range: Range<usize>| (kind.to_owned(), text[range].to_owned());
        let found = scrubbed.hits.iter().map(|it| secret(it.kind, it.range.clone())).collect();
        let scrubbed = scrubbed.text.into_owned();
        Some((mem::replace(text, scrubbed), found))
    }

    /// Replaces the secrets in a label, those found in its text included; returns the label before
    /// if there were any.
    pub(super) fn scrub_label(
        &mut self,
        label: &mut String,
        found: &[SecretWithKind],
    ) -> Option<String> {
        let n_before = self.n_secrets;
        let scrubbed = labels::scrub_label(label, found, &mut |it| {
            let mut it = it.to_owned();
            self.scrub(&mut it).map(|_| it)
        })?;
        // One that only the text proves to be one counts, too.
        self.n_secrets += u64::from(self.n_secrets == n_before);
        Some(mem::replace(label, scrubbed))
    }

    /// Replaces the secrets in a path, and tells it from others; returns the path before if it
    /// changed.
    pub(super) fn scrub_path(&mut self, scope: PathScope, path: &mut String) -> Option<String> {
        let old = path.clone();
        self.scrub(path);
        *path = self.paths.name(scope, &old, path);
        (*path != old).then_some(old)
    }

    /// Notes a node's new label, for the references that name it.
    pub(super) fn note_label(&mut self, before: &str, now: &str) {
        self.relabelled.insert(fold_name(before), now.to_owned());
    }

    /// Replaces a reference's name by the new label of the node that it names, or the secrets in
    /// it; returns the name before if it changed.
    pub(super) fn scrub_name(&mut self, name: &mut String) -> Option<String> {
        match self.relabelled.get(&fold_name(name)) {
            Some(label) if label != name => Some(mem::replace(name, label.clone())),
            _ => self.scrub(name),
        }
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
        let (former, found) = self.scrub_columns(table, row, conn)?;
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
        let text = RedactedText { hash: hash.clone(), tokens: tokens::count(&content), found };
        self.texts.insert(old, text);
        let is_there = table == "blob" && conn.has(IS_THERE, [hash], "find a text")?;
        Ok(if is_there { RowInTarget::Present } else { RowInTarget::Missing })
    }

    /// Scrubs every text of a row; returns the values before, and the secrets of the row's text.
    fn scrub_columns(
        &mut self,
        table: &str,
        row: &mut Map<String, Value>,
        conn: &Connection,
    ) -> Result<(BTreeMap<String, String>, Vec<SecretWithKind>), StoreError> {
        let mut former: BTreeMap<String, String> = BTreeMap::new();
        let mut found = Vec::new();
        let number = |row: &Map<String, Value>, name| row.get(name).and_then(Value::as_i64);
        let scope = match table {
            "root" => PathScope::Roots,
            "file" => PathScope::Files(number(row, "root")),
            _ => PathScope::Files(number(row, "old_root")),
        };
        for (name, value) in row.iter_mut() {
            let Value::String(text) = value else { continue };
            let before = match (table, name.as_str()) {
                ("node" | "blob", "content") => self.scrub_text(text).map(|(before, secrets)| {
                    found = secrets;
                    before
                }),
                ("root" | "file", "path") | ("diff", "old_path") => self.scrub_path(scope, text),
                // After its text.
                ("node", "label") => None,
                ("reference", "label" | "path" | "id_hint" | "heading" | "alias") => {
                    self.scrub_name(text)
                }
                _ => self.scrub_value(table, name, text),
            };
            if let Some(before) = before {
                former.insert(name.clone(), before);
            }
        }
        if table == "reference" && !former.is_empty() {
            keep_target(row, conn)?;
        }
        let key = number(row, "key");
        if table == "node"
            && let Some(Value::String(label)) = row.get_mut("label")
            && let Some(before) = self.scrub_label(label, &found)
        {
            self.note_label(&before, label);
            self.relabelled_keys.extend(key);
            former.insert("label".to_owned(), before);
        }
        Ok((former, found))
    }

    /// Updates every row that names a changed text by its old hash, and what follows from labels.
    pub(super) fn settle(&mut self, conn: &Connection) -> Result<(), StoreError> {
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
        self.scrub_old_labels(conn)?;
        let before = self.former.fingerprints(conn)?;
        conn.execute_batch(MAKE).doing("list scrubbed texts")?;
        let mut add = conn.prepare(ADD).doing("list scrubbed texts")?;
        for (old, RedactedText { hash, tokens, .. }) in &self.texts {
            add.execute(params![old, hash, tokens]).doing("list scrubbed texts")?;
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
        let relabelled = mem::take(&mut self.relabelled_keys);
        let scrub = |it: &str| {
            let scrubbed = self.redactor.scrub(it);
            (!scrubbed.hits.is_empty()).then(|| scrubbed.text.into_owned())
        };
        self.has_residue |= breadcrumbs::update(conn, relabelled, &[], &mut { scrub })?;
        links::read_again(conn)?;
        past_states::seal_again(conn, &before)
    }

    /// Scrubs the labels of the history by the secrets of their texts, which came after them.
    fn scrub_old_labels(&mut self, conn: &Connection) -> Result<(), StoreError> {
        const LABELS: &str = "
            SELECT snapshot, seq, old_hash, old_label
              FROM diff
             WHERE old_hash IS NOT NULL
               AND old_label IS NOT NULL";
        const SET: &str = "UPDATE diff SET old_label = ?3 WHERE snapshot = ?1 AND seq = ?2";
        let texts = mem::take(&mut self.texts);
        let mut changed = Vec::new();
        let read = |row: &Row<'_>| Ok(([row.get(0)?, row.get(1)?], row.get(2)?, row.get(3)?));
        let scrub = |(key, hash, mut label): ([i64; 2], String, String)| {
            if let Some(text) = texts.get(&hash)
                && let Some(before) = self.scrub_label(&mut label, &text.found)
            {
                self.former.note_at("diff", key, ("old_label", &before));
                changed.push((key, label));
            }
            Ok::<_, StoreError>(())
        };
        conn.each(LABELS, [], read, "read old labels", scrub)?;
        for ([snapshot, seq], label) in changed {
            conn.run(SET, params![snapshot, seq, label], "scrub an old label")?;
            self.has_residue = true;
        }
        self.texts = texts;
        Ok(())
    }

    /// Rewrites the database without overwritten bytes, where these may show a secret.
    pub(super) fn compact(&self, conn: &Connection) -> Result<(), StoreError> {
        const REBUILD: &str = "INSERT INTO node_fts (node_fts) VALUES ('rebuild')";
        if !self.has_residue {
            return Ok(());
        }
        conn.execute(REBUILD, []).doing("rebuild the index")?;
        conn.flush_prepared_statement_cache();
        conn.execute_batch("VACUUM").doing("rewrite the file")
    }
}

/// Gives a manual reference the id of its target, which words that became markers may not tell from
/// another node.
fn keep_target(row: &mut Map<String, Value>, conn: &Connection) -> Result<(), StoreError> {
    const ID: &str = "SELECT id FROM node WHERE key = ?1";
    let is_manual = row.get("origin").and_then(Value::as_str) == Some("manual");
    if is_manual
        && row.get("id_hint").is_none_or(Value::is_null)
        && let Some(target) = row.get("target").and_then(Value::as_i64)
        && let Some(id) = conn.find(ID, [target], |it| it.get::<_, String>(0), "find a target")?
    {
        row.insert("id_hint".to_owned(), id.into());
    }
    Ok(())
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
