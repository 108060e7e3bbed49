//! Completes a history whose rows lack what this program keeps of a node.
//!
//! remindb 0.3 did not note where a node stood among its siblings, and in its first versions not
//! even what a node was. A missing place is put behind every sibling, the same in each state. A
//! missing type, label or format is taken from the node's next known version. In a history without
//! fingerprints, states with such a guess cannot be restored and get none; in one that has them,
//! they tell whether the guess is right.

use std::collections::HashMap;

use rusqlite::{Connection, Row, params};

use super::DatabaseStateAtSnapshot;
use crate::model::identity::ContentHash;
use crate::model::tree::{ContentFormat, NodeType};
use crate::store::{PreparedStatements, StoreError};
use crate::text::tokens;

/// Distance between two positions.
const GAP: i64 = 65_536;

/// A position that no program of ours gives.
const POSITION_MAX: i64 = 1 << 53;

/// Counts of the rows that were completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HistoryCompletionCounts {
    /// Changes that did not name a place among siblings.
    pub(crate) n_places: u64,
    /// Changes that did not say the type, label or format of the node.
    pub(crate) n_guesses: u64,
    /// Snapshots whose state cannot be restored.
    pub(crate) n_lost: u64,
    /// Snapshots that got a fingerprint.
    pub(crate) n_fingerprints: u64,
}

/// The fields of a node's version: everything besides its text and its language. A whole one has a
/// type, a label and a format.
#[derive(Clone, Debug, Default)]
struct NodeVersionFields {
    node_type: Option<String>,
    level: Option<i64>,
    label: Option<String>,
    format: Option<String>,
    parent: Option<String>,
    root: Option<i64>,
    path: Option<String>,
    position: Option<i64>,
}

impl NodeVersionFields {
    /// Reads the eight columns from `at` on.
    fn read(row: &Row<'_>, at: usize) -> rusqlite::Result<NodeVersionFields> {
        Ok(NodeVersionFields {
            node_type: row.get(at)?,
            format: row.get(at + 1)?,
            level: row.get(at + 2)?,
            label: row.get(at + 3)?,
            parent: row.get(at + 4)?,
            root: row.get(at + 5)?,
            path: row.get(at + 6)?,
            position: row.get(at + 7)?,
        })
    }

    /// Returns whether it says what the node was.
    fn is_described(&self) -> bool {
        self.node_type.is_some() && self.label.is_some() && self.format.is_some()
    }

    /// Fills in what is missing, from a later version where there is one. A version that says
    /// nothing of the node is the later one; what another one says stays.
    fn completed_from(self, later: Option<&NodeVersionFields>) -> NodeVersionFields {
        let says_nothing =
            self.node_type.is_none() && self.label.is_none() && self.format.is_none();
        let plain = || ContentFormat::Plain.as_str().to_owned();
        let from = later.cloned().unwrap_or_default();
        let it = if says_nothing { from.clone() } else { self };
        NodeVersionFields {
            node_type: it.node_type.or(from.node_type).or_else(|| Some(unknown_type(it.level))),
            label: it.label.or(from.label).or_else(|| Some(String::new())),
            format: it.format.or(from.format).or_else(|| Some(plain())),
            ..it
        }
    }

    /// Returns the parent or, for the root of a file, the file.
    fn family(&self) -> (Option<&str>, Option<i64>, Option<&str>) {
        match &self.parent {
            Some(parent) => (Some(parent), None, None),
            None => (None, self.root, self.path.as_deref()),
        }
    }
}

/// The old side of a change that lacks something.
struct IncompleteChange {
    snapshot: i64,
    seq: i64,
    node_id: String,
    old_hash: Option<String>,
    tokens: Option<i64>,
    version: NodeVersionFields,
}

/// Completes the rows of `diff`, and computes the fingerprints of all states before HEAD's. That is
/// for a history without any.
pub(crate) fn complete(conn: &Connection) -> Result<HistoryCompletionCounts, StoreError> {
    let (mut completed, guessed) = complete_rows(conn)?;
    set_fingerprints(conn, guessed, &mut completed)?;
    Ok(completed)
}

/// Completes the rows of `diff`, newest first, and leaves all fingerprints as they are; returns the
/// counts, and the newest snapshot with a guess.
pub(crate) fn complete_rows(
    conn: &Connection,
) -> Result<(HistoryCompletionCounts, Option<i64>), StoreError> {
    let mut completed = HistoryCompletionCounts::default();
    let mut last = last_position(conn)?;
    let mut known: HashMap<String, NodeVersionFields> = HashMap::new();
    let mut guessed = None;
    for change in changes(conn)? {
        let later = match known.remove(&change.node_id) {
            Some(it) => Some(it),
            None => present(conn, &change.node_id)?,
        };
        let is_guess = !change.version.is_described();
        let has_place = change.version.position.is_some();
        let mut version = change.version.clone().completed_from(later.as_ref());
        if !has_place {
            let stayed = later.filter(|it| it.family() == version.family());
            last += GAP;
            version.position = stayed.and_then(|it| it.position).or(Some(last));
        }
        if is_guess || !has_place || change.tokens.is_none() {
            change.write(conn, &version)?;
        }
        completed.n_places += u64::from(!has_place);
        completed.n_guesses += u64::from(is_guess);
        if is_guess {
            guessed = guessed.max(Some(change.snapshot));
        }
        known.insert(change.node_id, version);
    }
    Ok((completed, guessed))
}

/// Returns every change with an old side, newest first.
fn changes(conn: &Connection) -> Result<Vec<IncompleteChange>, StoreError> {
    const CHANGES: &str = "
        SELECT snapshot, seq, node_id, old_hash, old_tokens,
               old_type, old_format, old_level, old_label, old_parent, old_root, old_path,
               old_position
          FROM diff
         WHERE op <> 'add'
         ORDER BY snapshot DESC, seq DESC";
    let read = |row: &Row<'_>| {
        Ok(IncompleteChange {
            snapshot: row.get(0)?,
            seq: row.get(1)?,
            node_id: row.get(2)?,
            old_hash: row.get(3)?,
            tokens: row.get(4)?,
            version: NodeVersionFields::read(row, 5)?,
        })
    };
    conn.rows(CHANGES, [], read, "read the history")
}

impl IncompleteChange {
    fn write(&self, conn: &Connection, version: &NodeVersionFields) -> Result<(), StoreError> {
        const SET: &str = "
            UPDATE diff
               SET old_type = ?3, old_format = ?4, old_level = ?5, old_label = ?6, old_parent = ?7,
                   old_root = ?8, old_path = ?9, old_position = ?10, old_tokens = ?11
             WHERE snapshot = ?1 AND seq = ?2";
        let tokens = match self.tokens {
            Some(tokens) => Some(tokens),
            None => count_tokens(conn, self.old_hash.as_deref())?,
        };
        let it = version;
        let row = params![
            self.snapshot,
            self.seq,
            it.node_type,
            it.format,
            it.level,
            it.label,
            it.parent,
            it.root,
            it.path,
            it.position,
            tokens.unwrap_or(0)
        ];
        conn.run(SET, row, "complete the history").map(drop)
    }
}

/// Returns the type of a node of which nothing is known but its level.
fn unknown_type(level: Option<i64>) -> String {
    let known = if level.is_some() { NodeType::Heading } else { NodeType::Text };
    known.as_str().to_owned()
}

fn present(conn: &Connection, node_id: &str) -> Result<Option<NodeVersionFields>, StoreError> {
    const NODE: &str = "
        SELECT node.node_type, node.format, node.level, node.label, parent.id,
               file.root, file.path, node.position
          FROM node
          LEFT JOIN node AS parent ON parent.key = node.parent
          LEFT JOIN file ON file.id = node.file
         WHERE node.id = ?1";
    conn.find(NODE, [node_id], |row| NodeVersionFields::read(row, 0), "look at a node")
}

fn last_position(conn: &Connection) -> Result<i64, StoreError> {
    const LAST: &str = "
        SELECT max((SELECT ifnull(max(position), 0) FROM node WHERE position < ?1),
                   (SELECT ifnull(max(old_position), 0) FROM diff WHERE old_position < ?1))";
    conn.row(LAST, [POSITION_MAX], |row| row.get(0), "find the last place")
}

fn count_tokens(conn: &Connection, hash: Option<&str>) -> Result<Option<i64>, StoreError> {
    const TEXT: &str = "
        SELECT content FROM blob WHERE hash = ?1
         UNION ALL
        SELECT content FROM node WHERE content_hash = ?1
         LIMIT 1";
    let read = |row: &Row<'_>| row.get::<_, String>(0);
    let text = conn.find(TEXT, [hash], read, "read a former text")?;
    Ok(text.map(|it| tokens::count(&it).into()))
}

/// Stores the fingerprint of every earlier state that can be restored, and none elsewhere.
fn set_fingerprints(
    conn: &Connection,
    guessed: Option<i64>,
    completed: &mut HistoryCompletionCounts,
) -> Result<(), StoreError> {
    const SNAPSHOTS: &str = "SELECT id FROM snapshot ORDER BY id DESC";
    const SET: &str = "UPDATE snapshot SET cursor_hash = ?2 WHERE id = ?1";
    let ids: Vec<i64> = conn.rows(SNAPSHOTS, [], |row| row.get(0), "list the snapshots")?;
    let mut past = DatabaseStateAtSnapshot::present(conn)?;
    let newest = ids.first().copied();
    for id in ids {
        if Some(id) != newest {
            let is_whole = guessed.is_none_or(|it| it <= id) && past.is_tree();
            let hash = is_whole.then(|| ContentHash(past.fingerprint()).to_string());
            completed.n_fingerprints += u64::from(is_whole);
            completed.n_lost += u64::from(!is_whole);
            conn.run(SET, params![id, hash.unwrap_or_default()], "note a fingerprint")?;
        }
        past.undo(conn, id)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
