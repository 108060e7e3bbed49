//! Proves that no secret is left, in any row or any byte of the file.
//!
//! The detectors examine the rows; the bytes are searched for the secrets themselves. The index
//! holds words in lower case without punctuation, so the search covers that form, too. A secret
//! whose text also occurs where no detector takes it for one proves nothing and is only counted.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::text_columns;
use super::{KindsBySecret, RedactionReport};
use crate::ingest::redact::Redactor;
use crate::model::node_fields;
use crate::store::node_columns::ColumnRedaction;
use crate::store::{ErrorContext, StoreError};

/// Shortest text that is searched for, in bytes: shorter ones occur by chance.
const SECRET_BYTES_MIN: usize = 6;

/// Shortest word of the index that is searched for, in bytes.
const WORD_BYTES_MIN: usize = 8;

/// Bytes of a secret that are searched for: the beginning of a long one is enough.
const SECRET_BYTES_MAX: usize = 256;

/// Bytes of a file that are read at once.
const CHUNK_BYTES: usize = 1024 * 1024;

/// The texts that the file must not contain.
pub(super) struct SecretNeedles {
    texts: Vec<String>,
    /// The kind of each, and whether it is the whole secret.
    kinds: Vec<(String, bool)>,
    /// Whether each occurs in the memory as ordinary text.
    is_live: Vec<bool>,
    automaton: Option<AhoCorasick>,
}

impl SecretNeedles {
    pub(super) fn new(secrets: &KindsBySecret) -> SecretNeedles {
        let (mut texts, mut kinds) = (Vec::new(), Vec::new());
        for (secret, kind) in &secrets.0 {
            let head = &secret[..secret.floor_char_boundary(SECRET_BYTES_MAX)];
            if SECRET_BYTES_MIN <= head.len() {
                texts.push(head.to_owned());
                kinds.push((kind.clone(), true));
            }
            for word in head.split(|at: char| !at.is_alphanumeric()) {
                if WORD_BYTES_MIN <= word.len() && word.len() < head.len() {
                    texts.push(word.to_lowercase());
                    kinds.push((kind.clone(), false));
                }
            }
        }
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(&texts).ok();
        let is_live = vec![false; texts.len()];
        SecretNeedles { texts, kinds, is_live, automaton }
    }

    fn note_live(&mut self, text: &str) {
        let Some(automaton) = &self.automaton else { return };
        for at in automaton.find_overlapping_iter(text) {
            self.is_live[at.pattern().as_usize()] = true;
        }
    }

    /// Marks those that occur in `bytes`.
    fn search(&self, bytes: &[u8], is_found: &mut [bool]) {
        let Some(automaton) = &self.automaton else { return };
        for at in automaton.find_overlapping_iter(bytes) {
            is_found[at.pattern().as_usize()] = true;
        }
    }
}

/// Examines every column of text, and compares the index with the text.
pub(super) fn examine_rows(
    conn: &Connection,
    redactor: &Redactor,
    needles: &mut SecretNeedles,
    redaction: &mut RedactionReport,
) -> Result<(), StoreError> {
    const COMPARE: &str = "INSERT INTO node_fts (node_fts, rank) VALUES ('integrity-check', 1)";
    // The comparison takes the write lock, which SQLite refuses to a reader of an outdated state.
    let tx = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)
        .doing("begin to examine the result")?;
    for column in text_columns::all() {
        let (table, name) = (column.table, column.name);
        let sql = format!("SELECT {name} FROM {table} WHERE typeof({name}) = 'text'");
        let mut query = tx.prepare(&sql).doing("examine the result")?;
        let mut rows = query.query([]).doing("examine the result")?;
        let mut n_left = 0;
        while let Some(row) = rows.next().doing("examine the result")? {
            let value = row.get_ref(0).doing("examine the result")?;
            let value =
                value.as_str().map_err(rusqlite::Error::from).doing("examine the result")?;
            let mut has_secret = false;
            let mut look = |it: &str| has_secret |= redactor.has_secret(it);
            match column.holds {
                ColumnRedaction::Json => node_fields::each_text(value, &mut look),
                _ => look(value),
            }
            n_left += usize::from(has_secret);
            needles.note_live(value);
        }
        if 0 < n_left {
            let advice = match (table, name) {
                ("custom_view", "name") => {
                    ", the name of a view: `remindb view-query` lists them; \
                                            make it under another name and remove it"
                }
                _ => "",
            };
            redaction.left.push(format!("{n_left} secrets in `{table}.{name}`{advice}"));
        }
    }
    let compared = tx.execute(COMPARE, []);
    tx.rollback().doing("end the examination of the result")?;
    if let Err(error) = compared {
        redaction.left.push(format!("the index is not that of the text: {error}"));
    }
    let live = needles.kinds.iter().zip(&needles.is_live);
    redaction.n_elsewhere = live.filter(|((_, is_whole), is_live)| *is_whole && **is_live).count();
    Ok(())
}

/// Searches every byte of the database, its log and the log's index.
pub(super) fn examine_bytes(path: &Path, needles: &SecretNeedles, redaction: &mut RedactionReport) {
    for ending in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        let file = PathBuf::from(name);
        let mut is_found = vec![false; needles.texts.len()];
        match look_into(&file, needles, &mut is_found) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                redaction.left.push(format!("cannot look into `{}`: {error}", file.display()));
            }
            Ok(()) => (),
        }
        let mut left: Vec<&str> = (0..is_found.len())
            .filter(|&nth| is_found[nth] && !needles.is_live[nth])
            .map(|nth| needles.kinds[nth].0.as_str())
            .collect();
        left.dedup();
        if !left.is_empty() {
            let what = format!("bytes of {} in `{}`", left.join(", "), file.display());
            redaction.left.push(what);
        }
    }
}

fn look_into(file: &Path, needles: &SecretNeedles, is_found: &mut [bool]) -> io::Result<()> {
    let mut file = File::open(file)?;
    let mut bytes = Vec::with_capacity(CHUNK_BYTES + SECRET_BYTES_MAX);
    loop {
        // The end may be the beginning of a match, so it is searched again with the next chunk.
        let kept = bytes.len().saturating_sub(SECRET_BYTES_MAX * 2);
        bytes.drain(..kept);
        let n_bytes = file.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut bytes)?;
        needles.search(&bytes, is_found);
        if n_bytes == 0 {
            return Ok(());
        }
    }
}
