//! Reads snapshots, changes and earlier versions of nodes, on any connection.
//!
//! A row of `diff` holds the version before its change. So the state of a node at a snapshot is the
//! old version of the first change after it or, where nothing changed since, the node itself: one
//! index lookup, however long the history is.

use rusqlite::{Connection, Row, params};

use super::node_columns::{OptionalColumnValues, SqlTemplate};
use super::record::{read_id, read_name, read_optional_name};
use super::{ErrorContext, PreparedStatements, StoreError};
use crate::model::clock::UnixMillis;
use crate::model::tree::{ContentFormat, NodeType};
use crate::text::suggest::suggest;

/// A snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) id: i64,
    /// Fingerprint of the whole state.
    pub(crate) cursor_hash: String,
    pub(crate) message: String,
    pub(crate) created_at: UnixMillis,
}

/// A node's version without its text: everything else that the history keeps of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeVersionWithoutText {
    /// Hash of the text.
    pub(crate) hash: String,
    /// Id of the parent.
    pub(crate) parent: Option<String>,
    /// Number of the file's root.
    pub(crate) root: Option<i64>,
    /// Path of the file.
    pub(crate) path: Option<String>,
    pub(crate) position: i64,
    pub(crate) node_type: String,
    pub(crate) label: String,
    pub(crate) format: String,
    pub(crate) tokens: u32,
    pub(crate) attributes: OptionalColumnValues,
}

impl NodeVersionWithoutText {
    /// Returns whether its type and its format are ones that the program writes.
    fn has_known_names(&self) -> bool {
        NodeType::parse(&self.node_type).is_some() && ContentFormat::parse(&self.format).is_some()
    }
}

/// The position of a change in the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChangePosition {
    pub(crate) snapshot: i64,
    /// The number of the change within its snapshot.
    pub(crate) seq: i64,
}

/// One change of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HistoryChange {
    pub(crate) moment: ChangePosition,
    pub(crate) node_id: String,
    /// `add`, `mod` or `rem`.
    pub(crate) op: String,
    /// Whether a file's new text replaced an agent's overlay.
    pub(crate) is_conflict: bool,
    /// The version before; `None` where the node did not exist.
    pub(crate) old: Option<NodeVersionWithoutText>,
}

/// The extent of the history: its number of snapshots, the first and the newest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct HistoryExtent {
    pub(crate) n: i64,
    pub(crate) first: i64,
    /// The newest snapshot, which is HEAD.
    pub(crate) last: i64,
    /// Whether the history before the first one was trimmed.
    pub(crate) is_cut: bool,
}

/// Reads `{version}` or `{present}`, which begins at column `at`; `None` where the node did not
/// exist.
fn read_side(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<NodeVersionWithoutText>> {
    let Some(hash) = read_optional_name(row, at + 7)? else { return Ok(None) };
    Ok(Some(NodeVersionWithoutText {
        hash,
        root: row.get(at)?,
        path: row.get(at + 1)?,
        parent: read_optional_name(row, at + 2)?,
        position: row.get(at + 3)?,
        node_type: read_name(row, at + 4)?,
        format: read_name(row, at + 5)?,
        label: row.get(at + 6)?,
        tokens: row.get(at + 8)?,
        attributes: OptionalColumnValues::read(row, at + 9)?,
    }))
}

/// Reads the history on any connection.
#[derive(Clone, Copy)]
pub(crate) struct HistoryReader<'a> {
    conn: &'a Connection,
}

/// Returns the number of changes, and those whose earlier version cannot be read, as
/// `SNAPSHOT.SEQ`.
pub(crate) fn unreadable_changes(conn: &Connection) -> Result<(u64, Vec<String>), StoreError> {
    let (n, bad) = unreadable(conn)?;
    Ok((n, bad.iter().map(|(snapshot, seq)| format!("{snapshot}.{seq}")).collect()))
}

/// Mends what cannot be read of the earlier versions of nodes, or forgets it, so that it can be
/// completed, and drops the changes that are of no node; returns the number of these.
pub(crate) fn mend_unreadable(conn: &Connection) -> Result<usize, StoreError> {
    const OF_NO_NODE: &str = "
        DELETE FROM diff WHERE length(node_id) <> 11 OR node_id GLOB '*[^0-9A-Za-z]*'";
    const OPERATION: &str = "
        UPDATE diff
           SET op = iif(old_hash IS NULL, 'add', iif(new_hash IS NULL, 'rem', 'mod'))
         WHERE op NOT IN ('add', 'mod', 'rem', 'rank')
            OR (op = 'add' AND old_hash IS NOT NULL AND old_type IS NOT NULL)
            OR (op <> 'add' AND old_hash IS NULL AND old_type IS NULL AND old_label IS NULL)";
    // The text that a change found is the one that the change before it left.
    const HASHES: &str = "
        UPDATE diff AS later
           SET old_hash = ifnull((SELECT new_hash
                                    FROM diff
                                   WHERE node_id = later.node_id AND snapshot < later.snapshot
                                   ORDER BY snapshot DESC
                                   LIMIT 1), '0000000000000000')
         WHERE length(old_hash) <> 16 OR old_hash GLOB '*[^0-9a-f]*'
            OR (op <> 'add' AND old_hash IS NULL)";
    // Who stood above is not known any more; the fingerprints tell whether it matters.
    const PARENTS: &str = "
        UPDATE diff SET old_parent = NULL WHERE old_parent GLOB '*[^0-9A-Za-z]*'";
    const NOTHING_BEFORE: &str = "
        UPDATE diff SET old_hash = NULL WHERE op = 'add' AND old_hash IS NOT NULL";
    const TOKENS: &str = "
        UPDATE diff SET old_tokens = NULL WHERE old_tokens NOT BETWEEN 0 AND ?1";
    let n_dropped = conn.run(OF_NO_NODE, [], "mend the history")?;
    conn.run(OPERATION, [], "mend the history")?;
    conn.run(NOTHING_BEFORE, [], "mend the history")?;
    conn.run(HASHES, [], "mend the history")?;
    conn.run(PARENTS, [], "mend the history")?;
    conn.run(TOKENS, [u32::MAX], "mend the history")?;
    mend_types_and_formats(conn)?;
    Ok(n_dropped)
}

/// Replaces types and formats that no program of ours writes by the one that is spelled almost so.
/// Others are forgotten. The fingerprints tell which was the right one.
fn mend_types_and_formats(conn: &Connection) -> Result<(), StoreError> {
    const TYPES: (&str, &str) = (
        "SELECT DISTINCT old_type FROM diff WHERE old_type IS NOT NULL",
        "UPDATE diff SET old_type = ?2 WHERE old_type = ?1",
    );
    const FORMATS: (&str, &str) = (
        "SELECT DISTINCT old_format FROM diff WHERE old_format IS NOT NULL",
        "UPDATE diff SET old_format = ?2 WHERE old_format = ?1",
    );
    let formats = ContentFormat::ALL.map(ContentFormat::as_str);
    for ((list, set), known) in [(TYPES, &NodeType::NAMES[..]), (FORMATS, &formats[..])] {
        let names: Vec<String> = conn.rows(list, [], |row| row.get(0), "read the history")?;
        for name in names.into_iter().filter(|it| !known.contains(&it.as_str())) {
            let meant = suggest(&name, known.iter().copied());
            conn.run(set, params![name, meant], "mend the history")?;
        }
    }
    Ok(())
}

/// Returns the number of changes, and the snapshots and places of those that cannot be read.
fn unreadable(conn: &Connection) -> Result<(u64, Vec<(i64, i64)>), StoreError> {
    static CHANGES: SqlTemplate =
        SqlTemplate::new("SELECT snapshot, seq, op, node_id, {version} FROM diff");
    let (mut n, mut bad) = (0, Vec::new());
    let mut query = conn.prepare(CHANGES.text()).doing("read the history")?;
    let mut rows = query.query([]).doing("read the history")?;
    while let Some(row) = rows.next().doing("read the history")? {
        n += 1;
        let is_whole = match row.get_ref(2).ok().and_then(|it| it.as_str().ok()) {
            Some("add") => read_side(row, 4).is_ok_and(|it| it.is_none()),
            Some("mod" | "rem" | "rank") => {
                read_side(row, 4).is_ok_and(|it| it.is_some_and(|it| it.has_known_names()))
            }
            _ => false,
        } && read_id(row, 3).is_ok();
        if !is_whole {
            let read = |idx| row.get(idx).doing("read the history");
            bad.push((read(0)?, read(1)?));
        }
    }
    Ok((n, bad))
}

impl<'a> HistoryReader<'a> {
    pub(super) fn of(conn: &'a Connection) -> HistoryReader<'a> {
        HistoryReader { conn }
    }

    /// Returns the snapshot of an id.
    pub(crate) fn snapshot(&self, id: i64) -> Result<Option<Snapshot>, StoreError> {
        const SNAPSHOT: &str = "
            SELECT id, cursor_hash, message, created_at FROM snapshot WHERE id = ?1";
        let read = |row: &Row<'_>| {
            Ok(Snapshot {
                id: row.get(0)?,
                cursor_hash: read_name(row, 1)?,
                message: row.get(2)?,
                created_at: UnixMillis(row.get(3)?),
            })
        };
        self.conn.find(SNAPSHOT, [id], read, "read a snapshot")
    }

    /// Returns the snapshot before a snapshot, as its write found it.
    pub(crate) fn parent_of(&self, id: i64) -> Result<Option<i64>, StoreError> {
        const PARENT: &str = "SELECT parent FROM snapshot WHERE id = ?1";
        Ok(self.conn.find(PARENT, [id], |row| row.get(0), "read a snapshot")?.flatten())
    }

    /// Returns the extent of the history; all zero when there are no snapshots.
    pub(crate) fn snapshots(&self) -> Result<HistoryExtent, StoreError> {
        // Each snapshot records a change; one without changes is the beginning of a trimmed
        // history.
        const EXTENT: &str = "
            SELECT count(*), ifnull(min(id), 0),
                   ifnull((SELECT snapshot FROM cursor WHERE name = 'HEAD'), 0),
                   NOT EXISTS (SELECT 1 FROM diff WHERE snapshot = (SELECT min(id) FROM snapshot))
              FROM snapshot";
        let read = |row: &Row<'_>| {
            let (n, is_cut): (i64, bool) = (row.get(0)?, row.get(3)?);
            Ok(HistoryExtent { n, first: row.get(1)?, last: row.get(2)?, is_cut: is_cut && 0 < n })
        };
        self.conn.query_row(EXTENT, [], read).doing("measure the history")
    }

    /// Returns the neighbours of an id without a snapshot: the one before and the one after.
    pub(crate) fn snapshots_beside(
        &self,
        id: i64,
    ) -> Result<(Option<i64>, Option<i64>), StoreError> {
        const AROUND: &str = "
            SELECT (SELECT max(id) FROM snapshot WHERE id < ?1),
                   (SELECT min(id) FROM snapshot WHERE id > ?1)";
        self.conn
            .query_row(AROUND, [id], |row| Ok((row.get(0)?, row.get(1)?)))
            .doing("list snapshots")
    }

    /// Returns a node's version at a snapshot; `None` where it did not exist.
    pub(crate) fn version_at(
        &self,
        node_id: &str,
        snapshot: i64,
    ) -> Result<Option<NodeVersionWithoutText>, StoreError> {
        self.version_after(node_id, ChangePosition { snapshot, seq: i64::MAX })
    }

    /// Returns a node's version right after a change.
    pub(crate) fn version_after(
        &self,
        node_id: &str,
        after: ChangePosition,
    ) -> Result<Option<NodeVersionWithoutText>, StoreError> {
        static NEXT: SqlTemplate = SqlTemplate::new(
            "
            SELECT {version}
              FROM diff
             WHERE node_id = ?1 AND (snapshot, seq) > (?2, ?3)
             ORDER BY snapshot, seq
             LIMIT 1",
        );
        static NOW: SqlTemplate = SqlTemplate::new(
            "
            SELECT {present}
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN file ON file.id = node.file
             WHERE node.id = ?1",
        );
        let doing = "search the history";
        let args = params![node_id, after.snapshot, after.seq];
        if let Some(side) = self.conn.find(NEXT.text(), args, |row| read_side(row, 0), doing)? {
            return Ok(side);
        }
        Ok(self.conn.find(NOW.text(), [node_id], |row| read_side(row, 0), doing)?.flatten())
    }

    /// Returns the text of a hash, which the node has or had.
    pub(crate) fn former_text(
        &self,
        node_id: &str,
        hash: &str,
    ) -> Result<Option<String>, StoreError> {
        const TEXT: &str = "
            SELECT content FROM blob WHERE hash = ?2
             UNION ALL
            SELECT content FROM node WHERE id = ?1 AND content_hash = ?2
             LIMIT 1";
        self.conn.find(TEXT, [node_id, hash], |row| row.get(0), "read a former text")
    }

    /// Returns the changes of a node before a moment, newest first.
    pub(crate) fn changes_of(
        &self,
        node_id: &str,
        before: ChangePosition,
        n_max: usize,
    ) -> Result<Vec<HistoryChange>, StoreError> {
        static CHANGES: SqlTemplate = SqlTemplate::new(
            "
            SELECT snapshot, seq, op, conflict, {version}
              FROM diff
             WHERE node_id = ?1 AND (snapshot, seq) < (?2, ?3) AND op <> 'rank'
             ORDER BY snapshot DESC, seq DESC
             LIMIT ?4",
        );
        let read = |row: &Row<'_>| {
            Ok(HistoryChange {
                moment: ChangePosition { snapshot: row.get(0)?, seq: row.get(1)? },
                node_id: node_id.to_owned(),
                op: read_name(row, 2)?,
                is_conflict: row.get(3)?,
                old: read_side(row, 4)?,
            })
        };
        let n_max = i64::try_from(n_max).unwrap_or(i64::MAX);
        self.conn.rows(
            CHANGES.text(),
            params![node_id, before.snapshot, before.seq, n_max],
            read,
            "read a node's history",
        )
    }
}
