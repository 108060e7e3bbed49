//! Scrubs texts and updates the columns computed from them: hashes, labels, index terms, tokens.

use rusqlite::{Row, ToSql, params};

use super::{MemoryRedactor, RehashedText, SecretWithKind, text_columns};
use crate::model::identity::ContentHash;
use crate::store::node_columns::{ColumnRedaction, SqlTemplate};
use crate::store::{ErrorContext, OptionalColumnValues, PreparedStatements, StoreError};
use crate::text::supplementary_index_terms::index_terms;
use crate::text::tokens;

/// The texts of a node that can contain a secret.
struct NodeTexts {
    key: i64,
    content: String,
    content_hash: String,
    token_count: u32,
    label: String,
    breadcrumb: String,
    index_terms: Option<String>,
    attributes: OptionalColumnValues,
}

impl NodeTexts {
    fn read(row: &Row<'_>) -> rusqlite::Result<NodeTexts> {
        Ok(NodeTexts {
            key: row.get(0)?,
            content: row.get(1)?,
            content_hash: row.get(2)?,
            token_count: row.get(3)?,
            label: row.get(4)?,
            breadcrumb: row.get(5)?,
            index_terms: row.get(6)?,
            attributes: OptionalColumnValues::read(row, 7)?,
        })
    }
}

impl MemoryRedactor<'_> {
    /// Scrubs the nodes. Returns the keys of those with a new label.
    pub(super) fn scrub_nodes(&mut self) -> Result<Vec<i64>, StoreError> {
        static NODES: SqlTemplate = SqlTemplate::new(
            "
            SELECT key, content, content_hash, token_count, label, trail, grams, {attributes}
              FROM node
             ORDER BY key",
        );
        let mut relabelled = Vec::new();
        let mut changed = Vec::new();
        let tx = self.tx;
        let scrub = |old: NodeTexts| {
            let label = old.label.clone();
            if let Some(new) = self.scrub_node(old) {
                if new.label != label {
                    self.relabel(&label, &new.label);
                    relabelled.push(new.key);
                }
                changed.push(new);
            }
            Ok::<_, StoreError>(())
        };
        tx.each(NODES.text(), [], NodeTexts::read, "read the nodes", scrub)?;
        self.redaction.n_nodes = changed.len();
        for node in changed {
            self.set_node(&node)?;
        }
        Ok(relabelled)
    }

    fn scrub_node(&mut self, mut node: NodeTexts) -> Option<NodeTexts> {
        let mut is_changed = false;
        let mut found = Vec::new();
        if let Some((content, secrets)) = self.scrub(&node.content) {
            found = secrets;
            let moved = self.text_moved(node.content_hash, &content, found.clone());
            node.content_hash = moved.0;
            node.token_count = moved.1;
            node.content = content;
            is_changed = true;
        }
        if let Some(label) = self.scrub_label(&node.label, &found) {
            node.label = label;
            is_changed = true;
        }
        if is_changed {
            node.index_terms = index_terms(&node.label, &node.content);
        }
        for (column, part) in node.attributes.texts_mut() {
            if let Some(scrubbed) = self.scrub_value(column.holds, part) {
                *part = scrubbed;
                is_changed = true;
            }
        }
        if let Some((scrubbed, _)) = self.scrub(&node.breadcrumb) {
            node.breadcrumb = scrubbed;
            is_changed = true;
        }
        is_changed.then_some(node)
    }

    fn set_node(&self, node: &NodeTexts) -> Result<(), StoreError> {
        static SET: SqlTemplate = SqlTemplate::new(
            "
            UPDATE node
               SET content = ?2, content_hash = ?3, token_count = ?4, label = ?5, trail = ?6,
                   grams = ?7, {set_attributes}
             WHERE key = ?1",
        );
        let own: [&dyn ToSql; 7] = [
            &node.key,
            &node.content,
            &node.content_hash,
            &node.token_count,
            &node.label,
            &node.breadcrumb,
            &node.index_terms,
        ];
        let row: Vec<&dyn ToSql> = own.into_iter().chain(node.attributes.params()).collect();
        self.tx.run(SET.text(), &row[..], "scrub a node").map(drop)
    }

    /// Notes a text's new content; returns its hash and number of tokens.
    fn text_moved(
        &mut self,
        old: String,
        content: &str,
        found: Vec<SecretWithKind>,
    ) -> (String, u32) {
        let moved = self.moved.entry(old).or_insert_with(|| RehashedText {
            hash: ContentHash::of(content).to_string(),
            tokens: tokens::count(content),
            found,
        });
        (moved.hash.clone(), moved.tokens)
    }

    /// Scrubs the texts of earlier versions.
    pub(super) fn scrub_blobs(&mut self) -> Result<(), StoreError> {
        const BLOBS: &str = "SELECT hash, content FROM blob";
        const FORGET: &str = "DELETE FROM blob WHERE hash = ?1";
        const KEEP: &str = "
            INSERT INTO blob (hash, content) VALUES (?1, ?2) ON CONFLICT (hash) DO NOTHING";
        let mut changed = Vec::new();
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let tx = self.tx;
        let scrub = |(old, content): (String, String)| {
            if let Some((scrubbed, found)) = self.scrub(&content) {
                let (new, _) = self.text_moved(old.clone(), &scrubbed, found);
                changed.push((old, new, scrubbed));
            }
            Ok::<_, StoreError>(())
        };
        tx.each(BLOBS, [], read, "read replaced texts", scrub)?;
        for (old, new, content) in changed {
            let doing = "scrub a replaced text";
            self.tx.run(FORGET, [&old], doing)?;
            let row = params![new, content];
            self.tx.run(KEEP, row, doing)?;
        }
        Ok(())
    }

    /// Scrubs the labels of the history, each by the secrets found in its text.
    pub(super) fn scrub_old_labels(&mut self) -> Result<(), StoreError> {
        const LABELS: &str = "
            SELECT DISTINCT old_hash, old_label
              FROM diff
             WHERE old_hash IS NOT NULL
               AND old_label IS NOT NULL";
        const SET: &str = "
            UPDATE diff SET old_label = ?3 WHERE old_hash = ?1 AND old_label = ?2";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let labels: Vec<(String, String)> = self.tx.rows(LABELS, [], read, "read old labels")?;
        for (hash, label) in labels {
            let found = self.moved.get(&hash).map(|it| it.found.clone());
            let Some(new) = self.scrub_label(&label, found.as_deref().unwrap_or_default()) else {
                continue;
            };
            let n_rows = self.tx.run(SET, params![hash, label, new], "scrub an old label")?;
            // The others are counted with their texts.
            self.redaction.n_versions += if found.is_none() { n_rows } else { 0 };
        }
        Ok(())
    }

    /// Replaces former hashes by those of the scrubbed texts wherever they occur.
    pub(super) fn replace_hashes(&mut self) -> Result<(), StoreError> {
        const NOTE: &str = "INSERT INTO moved (old, new, tokens) VALUES (?1, ?2, ?3)";
        const VERSIONS: &str = "
            SELECT count(*) FROM diff WHERE old_hash IN (SELECT old FROM moved)";
        const TOKENS: &str = "
            UPDATE diff
               SET old_tokens = (SELECT tokens FROM moved WHERE old = old_hash)
             WHERE old_hash IN (SELECT old FROM moved)";
        let mut moved: Vec<(&String, &RehashedText)> = self.moved.iter().collect();
        moved.sort_by_key(|(old, _)| *old);
        for (old, RehashedText { hash, tokens, .. }) in moved {
            self.tx.run(NOTE, params![old, hash, tokens], "note a changed hash")?;
        }
        let n_versions: i64 =
            self.tx.query_row(VERSIONS, [], |row| row.get(0)).doing("count the history")?;
        self.redaction.n_versions += usize::try_from(n_versions).unwrap_or(0);
        self.tx.execute(TOKENS, []).doing("count tokens of old texts")?;
        for column in text_columns::all().iter().filter(|it| it.holds == ColumnRedaction::Hash) {
            let (table, name) = (column.table, column.name);
            let sql = format!(
                "UPDATE {table} SET {name} = (SELECT new FROM moved WHERE old = {name})
                  WHERE {name} IN (SELECT old FROM moved)"
            );
            self.tx.execute(&sql, []).doing("update changed hashes")?;
        }
        Ok(())
    }
}
