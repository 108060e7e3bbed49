//! What was, from the rows of `diff`, for whoever has a connection.
//!
//! A row holds the side before its change. So the state of a node at a snapshot is the old side of
//! the first change after it or, where nothing changed since, the node itself: one look into an
//! index, however long the history is.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Doing, StoreError};
use crate::model::clock::Millis;

/// A snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) id: i64,
    /// Fingerprint of the whole state.
    pub(crate) cursor_hash: String,
    pub(crate) message: String,
    pub(crate) created_at: Millis,
}

/// A node at some time: everything that its history keeps, but for the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    /// Of the text.
    pub(crate) hash: String,
    /// Id of the parent.
    pub(crate) parent: Option<String>,
    /// Number of the file's root.
    pub(crate) root: Option<i64>,
    /// Of the file.
    pub(crate) path: Option<String>,
    pub(crate) position: i64,
    pub(crate) node_type: String,
    pub(crate) level: Option<u8>,
    pub(crate) lang: Option<String>,
    pub(crate) key_path: Option<String>,
    pub(crate) label: String,
    pub(crate) format: String,
    pub(crate) tokens: u32,
}

/// Where a change stands in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) snapshot: i64,
    /// Its number among the changes of the snapshot.
    pub(crate) seq: i64,
}

/// One change of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) moment: Moment,
    pub(crate) node_id: String,
    /// `add`, `mod` or `rem`.
    pub(crate) op: String,
    /// Whether a file's new words replaced an agent's.
    pub(crate) is_conflict: bool,
    /// What the node was; `None` where it was not there.
    pub(crate) old: Option<Side>,
}

/// Which snapshots there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Snapshots {
    pub(crate) n: i64,
    pub(crate) first: i64,
    /// The newest, which is HEAD.
    pub(crate) last: i64,
    /// Whether what was before the first one is forgotten.
    pub(crate) is_cut: bool,
}

/// The columns of a row of `diff` that [`read_old`] expects.
macro_rules! old_columns {
    () => {
        "old_hash, old_parent, old_root, old_path, old_position, old_type, old_level, old_lang,
         old_key_path, old_label, old_format, old_tokens"
    };
}

fn read_old(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Side>> {
    let Some(hash) = row.get(at)? else { return Ok(None) };
    Ok(Some(Side {
        hash,
        parent: row.get(at + 1)?,
        root: row.get(at + 2)?,
        path: row.get(at + 3)?,
        position: row.get(at + 4)?,
        node_type: row.get(at + 5)?,
        level: row.get(at + 6)?,
        lang: row.get(at + 7)?,
        key_path: row.get(at + 8)?,
        label: row.get(at + 9)?,
        format: row.get(at + 10)?,
        tokens: row.get(at + 11)?,
    }))
}

/// The snapshot of that id.
pub(super) fn snapshot(conn: &Connection, id: i64) -> Result<Option<Snapshot>, StoreError> {
    const SNAPSHOT: &str = "
        SELECT id, cursor_hash, message, created_at FROM snapshot WHERE id = ?1";
    let read = |row: &Row<'_>| {
        Ok(Snapshot {
            id: row.get(0)?,
            cursor_hash: row.get(1)?,
            message: row.get(2)?,
            created_at: Millis(row.get(3)?),
        })
    };
    conn.prepare_cached(SNAPSHOT)
        .and_then(|mut it| it.query_row([id], read).optional())
        .doing("read a snapshot")
}

/// Which snapshots there are; all zero when there is none.
pub(super) fn snapshots(conn: &Connection) -> Result<Snapshots, StoreError> {
    // Whoever makes a snapshot records a change; one without is what was left of a longer history.
    const EXTENT: &str = "
        SELECT count(*), ifnull(min(id), 0),
               ifnull((SELECT snapshot FROM cursor WHERE name = 'HEAD'), 0),
               NOT EXISTS (SELECT 1 FROM diff WHERE snapshot = (SELECT min(id) FROM snapshot))
          FROM snapshot";
    let read = |row: &Row<'_>| {
        let (n, is_cut): (i64, bool) = (row.get(0)?, row.get(3)?);
        Ok(Snapshots { n, first: row.get(1)?, last: row.get(2)?, is_cut: is_cut && 0 < n })
    };
    conn.query_row(EXTENT, [], read).doing("measure the history")
}

/// The snapshots next to an id that is none: the one before and the one after.
pub(super) fn neighbours(
    conn: &Connection,
    id: i64,
) -> Result<(Option<i64>, Option<i64>), StoreError> {
    const AROUND: &str = "
        SELECT (SELECT max(id) FROM snapshot WHERE id < ?1),
               (SELECT min(id) FROM snapshot WHERE id > ?1)";
    conn.query_row(AROUND, [id], |row| Ok((row.get(0)?, row.get(1)?))).doing("list snapshots")
}

/// What a node was at a snapshot; `None` where it was not there.
pub(super) fn side_at(
    conn: &Connection,
    node_id: &str,
    snapshot: i64,
) -> Result<Option<Side>, StoreError> {
    side_after(conn, node_id, Moment { snapshot, seq: i64::MAX })
}

/// What a node was right after a change.
pub(super) fn side_after(
    conn: &Connection,
    node_id: &str,
    after: Moment,
) -> Result<Option<Side>, StoreError> {
    const NEXT: &str = concat!(
        "SELECT ",
        old_columns!(),
        " FROM diff WHERE node_id = ?1 AND (snapshot, seq) > (?2, ?3)
          ORDER BY snapshot, seq LIMIT 1"
    );
    const NOW: &str = "
        SELECT node.content_hash, parent.id, file.root, file.path, node.position, node.node_type,
               node.level, node.lang, node.key_path, node.label, node.format, node.token_count
          FROM node
          LEFT JOIN node AS parent ON parent.key = node.parent
          LEFT JOIN file ON file.id = node.file
         WHERE node.id = ?1";
    let doing = "look into the history";
    let next = conn
        .prepare_cached(NEXT)
        .and_then(|mut it| {
            let args = params![node_id, after.snapshot, after.seq];
            it.query_row(args, |row| read_old(row, 0)).optional()
        })
        .doing(doing)?;
    if let Some(side) = next {
        return Ok(side);
    }
    let now = conn
        .prepare_cached(NOW)
        .and_then(|mut it| it.query_row([node_id], |row| read_old(row, 0)).optional());
    Ok(now.doing(doing)?.flatten())
}

/// The text of that hash, which the node has or had.
pub(super) fn text(
    conn: &Connection,
    node_id: &str,
    hash: &str,
) -> Result<Option<String>, StoreError> {
    const TEXT: &str = "
        SELECT content FROM blob WHERE hash = ?2
         UNION ALL
        SELECT content FROM node WHERE id = ?1 AND content_hash = ?2
         LIMIT 1";
    conn.prepare_cached(TEXT)
        .and_then(|mut it| it.query_row([node_id, hash], |row| row.get(0)).optional())
        .doing("read a former text")
}

/// The changes of a node before that one, newest first.
pub(super) fn changes_of(
    conn: &Connection,
    node_id: &str,
    before: Moment,
    n_max: usize,
) -> Result<Vec<Change>, StoreError> {
    const CHANGES: &str = concat!(
        "SELECT snapshot, seq, op, conflict, ",
        old_columns!(),
        " FROM diff WHERE node_id = ?1 AND (snapshot, seq) < (?2, ?3) AND op <> 'rank'
          ORDER BY snapshot DESC, seq DESC LIMIT ?4"
    );
    let read = |row: &Row<'_>| {
        Ok(Change {
            moment: Moment { snapshot: row.get(0)?, seq: row.get(1)? },
            node_id: node_id.to_owned(),
            op: row.get(2)?,
            is_conflict: row.get(3)?,
            old: read_old(row, 4)?,
        })
    };
    let n_max = i64::try_from(n_max).unwrap_or(i64::MAX);
    let mut query = conn.prepare_cached(CHANGES).doing("read a node's history")?;
    let rows = query.query_map(params![node_id, before.snapshot, before.seq, n_max], read);
    rows.doing("read a node's history")?.collect::<Result<_, _>>().doing("read a node's history")
}
