//! Compares every text with its hash, and repairs those that somebody else altered.
//!
//! A text of a file comes back: the file's hash is forgotten, so that the next compile reads it
//! again. An agent's text is nowhere else; its history has the earlier ones.

use std::collections::BTreeSet;
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::repair_history_recorder::RepairHistoryRecorder;
use super::{CheckStatus, first_few, shown, verdict};
use crate::model::clock::UnixMillis;
use crate::model::identity::ContentHash;
use crate::store::{PreparedStatements, StoreError};
use crate::text::{LABEL_CHARS_MAX, fold_and_truncate, tokens};

/// A node whose text differs from its hash.
struct AlteredText {
    key: i64,
    id: String,
    file: Option<i64>,
    /// Path of the file, empty without one.
    path: String,
    label: String,
    /// The text, with replacement characters for bytes that are none.
    content: String,
    /// The hash that the text had.
    hash: String,
    /// The hash of what the file said, empty for an agent's node.
    source_hash: String,
    /// Whether the text was that of a file: as the kept hashes say, and then as the history does.
    is_of_file: bool,
    /// Whether the text is what the file said, so that only the hash was altered; likewise.
    is_sound: bool,
}

/// Checks the hash of every text.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    const COUNT: &str = "SELECT (SELECT count(*) FROM node) + (SELECT count(*) FROM blob)";
    let (altered, history) = (altered_texts(conn)?, altered_history(conn)?);
    let n: i64 = conn.row(COUNT, [], |row| row.get(0), "count texts")?;
    let names: Vec<String> = altered.iter().map(AlteredText::name).collect();
    let mut bad = format!("{} of {n} texts differ from their hash", altered.len() + history.len());
    if !names.is_empty() {
        bad.push_str(&format!(": {}", first_few(&names)));
    }
    let is_fine = altered.is_empty() && history.is_empty();
    Ok(verdict(is_fine, format!("{n} texts match their hashes"), bad))
}

/// Takes the texts as they are, and has the next compile read the files of altered ones again.
pub(super) fn repair(conn: &Connection, now: UnixMillis) -> Result<Vec<String>, StoreError> {
    const SET: &str = "
        UPDATE node
           SET content = ?2, content_hash = ?3, token_count = ?4,
               source_hash = nullif(?5, '')
         WHERE key = ?1";
    let (mut files, mut names, mut notes) = (BTreeSet::new(), Vec::new(), Vec::new());
    let altered = altered_texts(conn)?;
    let mut snapshot = match altered.is_empty() {
        true => None,
        false => RepairHistoryRecorder::begin(conn, now)?,
    };
    for mut it in altered {
        it.find_author(conn)?;
        let hash = ContentHash::of(&it.content).to_string();
        let n_tokens = tokens::count(&it.content);
        if let Some(snapshot) = &mut snapshot {
            snapshot.record_text(conn, it.key, &hash)?;
        }
        let source_hash = if it.is_of_file { &hash } else { &it.source_hash };
        conn.run(SET, params![it.key, it.content, hash, n_tokens, source_hash], "mend a text")?;
        match it.file {
            Some(file) if it.is_of_file => {
                forget_hash(conn, file)?;
                names.push(it.name());
                files.insert(it.path);
            }
            _ if it.is_sound => (),
            _ => notes.push(format!("{}: {}", it.name(), earlier_texts(conn, &it.id)?)),
        }
    }
    if !files.is_empty() {
        let files: Vec<String> = files.into_iter().collect();
        notes.insert(0, format!("the next compile reads {} again", first_few(&files)));
        notes.insert(1, format!("altered: {}", first_few(&names)));
    }
    if let Some(snapshot) = snapshot {
        snapshot.end(conn, now)?;
    }
    let n_lost = move_history(conn)?;
    if 0 < n_lost {
        notes.push(format!("{n_lost} earlier texts were altered and cannot be restored"));
    }
    Ok(notes)
}

/// Forgets the hashes of all files, so that the next compile reads them again.
pub(super) fn forget_hashes(conn: &Connection) -> Result<(), StoreError> {
    const FORGET: &str = "UPDATE file SET content_hash = NULL, mtime = 0 WHERE NOT gone";
    conn.run(FORGET, [], "have files read again").map(drop)
}

fn forget_hash(conn: &Connection, file: i64) -> Result<(), StoreError> {
    const FORGET: &str = "UPDATE file SET content_hash = NULL, mtime = 0 WHERE id = ?1";
    conn.run(FORGET, [file], "have a file read again").map(drop)
}

/// Names a node by its id and its label, for a message.
pub(super) fn node_name(id: &str, label: &str) -> String {
    format!("`{}` \"{}\"", shown(id), fold_and_truncate(label, LABEL_CHARS_MAX))
}

/// Names a node of the memory, as [`node_name`] does.
pub(super) fn name_of_node(conn: &Connection, key: i64) -> Result<String, StoreError> {
    const NAME: &str = "SELECT id, label FROM node WHERE key = ?1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (id, label): (String, String) = conn.row(NAME, [key], read, "name a node")?;
    Ok(node_name(&id, &label))
}

impl AlteredText {
    fn name(&self) -> String {
        let node = node_name(&self.id, &self.label);
        match self.path.is_empty() {
            true => node,
            false => format!("{node} of {}", shown(&self.path)),
        }
    }

    /// Finds out whose text it was that had the hash. The latest change tells, if the history still
    /// has it, unless the kept hashes say that it was the file's, which may have taken over what an
    /// agent wrote.
    fn find_author(&mut self, conn: &Connection) -> Result<(), StoreError> {
        const LATEST: &str = "
            SELECT new_hash, compile_root <> ''
              FROM diff
              JOIN snapshot ON snapshot.id = diff.snapshot
             WHERE node_id = ?1 AND old_hash IS NOT new_hash
             ORDER BY diff.snapshot DESC, seq DESC
             LIMIT 1";
        // The base of an overlay is kept in the history.
        const IS_BASE_KEPT: &str = "SELECT ?1 IN (SELECT hash FROM blob)";
        if self.is_of_file || self.source_hash.is_empty() {
            return Ok(());
        }
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let latest: Option<(Option<String>, bool)> =
            conn.find(LATEST, [&self.id], read, "look for an author")?;
        let (hash, is_compiled) = latest.unwrap_or_default();
        let is_base_kept: bool =
            conn.row(IS_BASE_KEPT, [&self.source_hash], |row| row.get(0), "look for a base")?;
        if hash.as_ref() == Some(&self.hash) {
            self.is_of_file = is_compiled && self.file.is_some();
            if !is_compiled && (self.is_sound || !is_base_kept) {
                self.source_hash = self.compiled_hash(conn)?.unwrap_or_default();
            }
            self.is_sound = false;
        } else if !self.is_sound && self.file.is_some() {
            self.is_of_file = !is_base_kept || hash.as_ref() == Some(&self.source_hash);
        }
        Ok(())
    }

    /// Returns the hash of the last text that a compile gave the node; none if it was born or
    /// restored otherwise since then.
    fn compiled_hash(&self, conn: &Connection) -> Result<Option<String>, StoreError> {
        const COMPILED: &str = "
            SELECT iif(compile_root <> '', new_hash, NULL)
              FROM diff
              JOIN snapshot ON snapshot.id = diff.snapshot
             WHERE node_id = ?1
               AND (op = 'add' OR compile_root <> '' AND old_hash <> new_hash)
             ORDER BY diff.snapshot DESC, seq DESC
             LIMIT 1";
        Ok(conn.find(COMPILED, [&self.id], |row| row.get(0), "look for a base")?.flatten())
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Option<AlteredText>> {
        let text = |idx| row.get_ref(idx).map(lossy);
        let (content, hash, source_hash) = (text(4)?, text(5)?, text(6)?);
        let found = ContentHash::of(&content).to_string();
        let is_text = row.get_ref(4)?.as_str().is_ok();
        if is_text && found == hash {
            return Ok(None);
        }
        Ok(Some(AlteredText {
            key: row.get(0)?,
            id: text(1)?,
            file: row.get(2)?,
            path: text(3)?,
            label: text(7)?,
            is_of_file: source_hash == hash,
            is_sound: is_text && found == source_hash,
            source_hash,
            content,
            hash,
        }))
    }
}

fn altered_texts(conn: &Connection) -> Result<Vec<AlteredText>, StoreError> {
    const TEXTS: &str = "
        SELECT node.key, node.id, node.file, file.path, content, node.content_hash, source_hash,
               label
          FROM node
          LEFT JOIN file ON file.id = node.file";
    let texts: Vec<Option<AlteredText>> = conn.rows(TEXTS, [], AlteredText::read, "read texts")?;
    Ok(texts.into_iter().flatten().collect())
}

/// Returns the hashes and texts of the history that differ.
fn altered_history(conn: &Connection) -> Result<Vec<(String, String)>, StoreError> {
    const TEXTS: &str = "SELECT hash, content FROM blob";
    let read = |row: &Row<'_>| {
        let (hash, content) = (lossy(row.get_ref(0)?), lossy(row.get_ref(1)?));
        Ok((ContentHash::of(&content).to_string() != hash).then_some((hash, content)))
    };
    let texts: Vec<Option<(String, String)>> =
        conn.rows(TEXTS, [], read, "read the history's texts")?;
    Ok(texts.into_iter().flatten().collect())
}

/// Moves altered texts of the history to their own hashes; returns their number.
fn move_history(conn: &Connection) -> Result<usize, StoreError> {
    const KEEP: &str = "INSERT OR IGNORE INTO blob (hash, content) VALUES (?1, ?2)";
    const DROP: &str = "DELETE FROM blob WHERE hash = ?1";
    let altered = altered_history(conn)?;
    for (hash, content) in &altered {
        let right = ContentHash::of(content).to_string();
        conn.run(DROP, [hash], "drop a text with another hash")?;
        conn.run(KEEP, [&right, content], "keep a text under its hash")?;
    }
    Ok(altered.len())
}

/// Returns a note on the earlier texts of an agent's node.
fn earlier_texts(conn: &Connection, id: &str) -> Result<String, StoreError> {
    const EARLIER: &str = "
        SELECT count(*)
          FROM diff
          JOIN blob ON blob.hash = diff.old_hash
         WHERE diff.node_id = ?1";
    let n: i64 = conn.row(EARLIER, [id], |row| row.get(0), "look for earlier texts")?;
    Ok(match n {
        0 => "an agent's words, kept as they are now; no earlier text is known".to_owned(),
        _ => "an agent's words, kept as they are now; the history has the earlier ones".to_owned(),
    })
}

fn lossy(value: ValueRef<'_>) -> String {
    value.as_bytes().map(|it| String::from_utf8_lossy(it).into_owned()).unwrap_or_default()
}
