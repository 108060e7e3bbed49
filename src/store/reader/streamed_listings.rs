//! Listings for `observe`: all rows of a kind, streamed one by one.
//!
//! No answer is held as a whole, and a query for a part reads only that part.

use rusqlite::{Params, Row, params};

use super::{Reader, limit, unsigned};
use crate::model::clock::UnixMillis;
use crate::model::heat::StoredHeat;
use crate::store::heat_rows::{self, heat_columns};
use crate::store::record::{read_id, read_name, read_optional_name, read_type};
use crate::store::{ErrorContext, PreparedStatements, StoreError};

/// A node with its depth in the tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TreeRow {
    pub(crate) id: String,
    pub(crate) node_type: String,
    pub(crate) label: String,
    /// Number of ancestors.
    pub(crate) depth: u64,
    pub(crate) tokens: u64,
    /// Path of its file, relative to the root.
    pub(crate) path: Option<String>,
    pub(crate) heat: StoredHeat,
}

/// A node with its heat.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NodeHeat {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) node_type: String,
    pub(crate) heat: StoredHeat,
}

/// A reference, resolved or pending.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LinkRow {
    /// Id of the source.
    pub(crate) source: String,
    /// Id of the target; `None` while pending.
    pub(crate) target: Option<String>,
    pub(crate) label: String,
    pub(crate) path: Option<String>,
    pub(crate) id_hint: Option<String>,
    pub(crate) weight: f64,
    pub(crate) origin: String,
}

/// A row of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SnapshotRow {
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    pub(crate) message: String,
    pub(crate) compile_root: String,
    pub(crate) created_at: UnixMillis,
    pub(crate) is_head: bool,
}

/// A change of a snapshot; a side where the node did not exist has neither hash nor text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChangeRow {
    pub(crate) op: String,
    pub(crate) node_id: String,
    pub(crate) old_hash: Option<String>,
    pub(crate) new_hash: Option<String>,
    pub(crate) old_content: Option<String>,
    pub(crate) new_content: Option<String>,
}

impl Reader {
    /// Streams every node of the tree, each before those below it, in document order.
    pub(crate) fn each_placed<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(TreeRow) -> Result<(), E>,
    ) -> Result<(), E> {
        const OF_FILES: &str = "
            SELECT n.key
              FROM file AS f
              CROSS JOIN node AS n ON n.file = f.id AND n.parent IS NULL
             ORDER BY f.root, f.path, n.position";
        const OF_NOBODY: &str = "
            SELECT key FROM node WHERE parent IS NULL AND file IS NULL ORDER BY position";
        for roots in [OF_FILES, OF_NOBODY] {
            self.stream(
                roots,
                [],
                "list the roots",
                |row| row.get(0),
                |root: i64| self.each_below(root, 0, u64::MAX, &mut each),
            )?;
        }
        Ok(())
    }

    /// Streams a node and those below it in document order, at most `levels` down.
    ///
    /// Returns false if there is no such node.
    pub(crate) fn each_placed_in<E: From<StoreError>>(
        &self,
        id: &str,
        levels: u64,
        mut each: impl FnMut(TreeRow) -> Result<(), E>,
    ) -> Result<bool, E> {
        // Each node once, so that even a cycle ends.
        const ABOVE: &str = "
            WITH RECURSIVE above (key) AS (
                SELECT parent FROM node WHERE id = ?1
                 UNION
                SELECT node.parent FROM above JOIN node ON node.key = above.key
            )
            SELECT node.key, (SELECT count(key) FROM above), node.key IN (SELECT key FROM above)
              FROM node
             WHERE node.id = ?1";
        let doing = "find a node";
        let read = |row: &Row<'_>| Ok((row.get(0)?, unsigned(row, 1)?, row.get(2)?));
        let found: Option<(i64, u64, Option<bool>)> = self.conn.find(ABOVE, [id], read, doing)?;
        match found {
            None => Ok(false),
            Some((_, _, Some(true))) => {
                let what = format!("node `{id}` stands below itself; see `remindb doctor`");
                Err(StoreError::Corrupt { what }.into())
            }
            Some((key, depth, _)) => {
                self.each_below(key, depth, levels, &mut each)?;
                Ok(true)
            }
        }
    }

    fn each_below<E: From<StoreError>>(
        &self,
        root: i64,
        depth: u64,
        levels: u64,
        each: impl FnMut(TreeRow) -> Result<(), E>,
    ) -> Result<(), E> {
        // The deepest waiting node comes next: everything below a node, before its next sibling.
        // Only the siblings along one path wait.
        const BELOW: &str = concat!(
            "
            WITH RECURSIVE below (key, depth, position) AS (
                VALUES (?1, ?2, 0)
                 UNION ALL
                SELECT node.key, below.depth + 1, node.position
                  FROM below
                  JOIN node ON node.parent = below.key
                 WHERE below.depth < ?3
                 ORDER BY 2 DESC, 3, 1
            )
            SELECT n.id, n.node_type, n.label, below.depth, n.token_count, f.path, ",
            heat_columns!(),
            "
              FROM below
             CROSS JOIN node AS n ON n.key = below.key
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key"
        );
        let deepest = i64::try_from(depth.saturating_add(levels)).unwrap_or(i64::MAX);
        let from = i64::try_from(depth).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| {
            Ok(TreeRow {
                id: read_id(row, 0)?,
                node_type: read_type(row, 1)?,
                label: row.get(2)?,
                depth: unsigned(row, 3)?,
                tokens: unsigned(row, 4)?,
                path: row.get(5)?,
                heat: heat_rows::read_heat(row, 6)?,
            })
        };
        self.stream(BELOW, params![root, from, deepest], "walk down the tree", read, each)
    }

    /// Streams every node, oldest first.
    pub(crate) fn each_heat<E: From<StoreError>>(
        &self,
        each: impl FnMut(NodeHeat) -> Result<(), E>,
    ) -> Result<(), E> {
        const WARM: &str = concat!(
            "SELECT n.id, n.label, n.node_type, ",
            heat_columns!(),
            "
              FROM node AS n
              LEFT JOIN heat AS h ON h.node = n.key
             ORDER BY n.key"
        );
        self.stream(WARM, [], "read the temperatures", read_warm, each)
    }

    /// Streams every node that is the source or the target of a reference, oldest first.
    pub(crate) fn each_linked<E: From<StoreError>>(
        &self,
        each: impl FnMut(NodeHeat) -> Result<(), E>,
    ) -> Result<(), E> {
        const LINKED: &str = concat!(
            "SELECT n.id, n.label, n.node_type, ",
            heat_columns!(),
            "
              FROM (SELECT source AS key FROM reference
                     UNION
                    SELECT target FROM reference WHERE target IS NOT NULL) AS linked
             CROSS JOIN node AS n ON n.key = linked.key
              LEFT JOIN heat AS h ON h.node = n.key
             ORDER BY linked.key"
        );
        self.stream(LINKED, [], "list what is related", read_warm, each)
    }

    /// Streams every resolved reference, or every pending one, oldest first.
    pub(crate) fn each_link<E: From<StoreError>>(
        &self,
        is_pending: bool,
        each: impl FnMut(LinkRow) -> Result<(), E>,
    ) -> Result<(), E> {
        const LINKS: &str = "
            SELECT s.id, t.id, r.label, r.path, r.id_hint, r.weight, r.origin
              FROM reference AS r
             CROSS JOIN node AS s ON s.key = r.source
              LEFT JOIN node AS t ON t.key = r.target
             WHERE (r.target IS NULL) = ?1
             ORDER BY r.id";
        let read = |row: &Row<'_>| {
            Ok(LinkRow {
                source: read_id(row, 0)?,
                target: read_optional_name(row, 1)?,
                label: row.get(2)?,
                path: row.get(3)?,
                id_hint: row.get(4)?,
                weight: row.get(5)?,
                origin: read_name(row, 6)?,
            })
        };
        self.stream(LINKS, [is_pending], "list references", read, each)
    }

    /// Streams the newest snapshots, newest first.
    pub(crate) fn each_snapshot<E: From<StoreError>>(
        &self,
        n_max: usize,
        each: impl FnMut(SnapshotRow) -> Result<(), E>,
    ) -> Result<(), E> {
        const SNAPSHOTS: &str = "
            SELECT s.id, s.parent, s.message, s.compile_root, s.created_at, s.id IS c.snapshot
              FROM snapshot AS s
              LEFT JOIN cursor AS c ON c.name = 'HEAD'
             ORDER BY s.id DESC
             LIMIT ?1";
        let read = |row: &Row<'_>| {
            Ok(SnapshotRow {
                id: row.get(0)?,
                parent: row.get(1)?,
                message: row.get(2)?,
                compile_root: row.get(3)?,
                created_at: UnixMillis(row.get(4)?),
                is_head: row.get(5)?,
            })
        };
        self.stream(SNAPSHOTS, [limit(n_max)], "list snapshots", read, each)
    }

    /// Streams the changes of a snapshot, in the order of their recording.
    pub(crate) fn each_edit<E: From<StoreError>>(
        &self,
        snapshot: i64,
        each: impl FnMut(ChangeRow) -> Result<(), E>,
    ) -> Result<(), E> {
        // A text that no node has any more is in `blob`; others are in their nodes.
        const EDITS: &str = "
            SELECT d.op, d.node_id, d.old_hash, d.new_hash,
                   ifnull(old.content, iif(n.content_hash = d.old_hash, n.content, NULL)),
                   ifnull(new.content, iif(n.content_hash = d.new_hash, n.content, NULL))
              FROM diff AS d
              LEFT JOIN blob AS old ON old.hash = d.old_hash
              LEFT JOIN blob AS new ON new.hash = d.new_hash
              LEFT JOIN node AS n ON n.id = d.node_id
             WHERE d.snapshot = ?1 AND d.op <> 'rank'
             ORDER BY d.seq";
        let read = |row: &Row<'_>| {
            Ok(ChangeRow {
                op: read_name(row, 0)?,
                node_id: read_id(row, 1)?,
                old_hash: read_optional_name(row, 2)?,
                new_hash: read_optional_name(row, 3)?,
                old_content: row.get(4)?,
                new_content: row.get(5)?,
            })
        };
        self.stream(EDITS, [snapshot], "list what a snapshot did", read, each)
    }

    /// Returns the ids of nodes that begin with `prefix`, in order.
    pub(crate) fn ids_from(&self, prefix: &str, n_max: usize) -> Result<Vec<String>, StoreError> {
        const FROM: &str = "
            SELECT id
              FROM node
             WHERE ?1 <= id AND id < ?1 || char(1114111)
             ORDER BY id
             LIMIT ?2";
        self.all(FROM, params![prefix, limit(n_max)], |row| read_id(row, 0)).doing("list ids")
    }

    /// Returns the ids of nodes whose label matches `expression`, oldest first.
    pub(crate) fn ids_matching(
        &self,
        expression: &str,
        n_max: usize,
    ) -> Result<Vec<String>, StoreError> {
        const MATCHING: &str = "
            SELECT n.id
              FROM node_fts
             CROSS JOIN node AS n ON n.key = node_fts.rowid
             WHERE node_fts MATCH ?1
             LIMIT ?2";
        self.all(MATCHING, params![expression, limit(n_max)], |row| read_id(row, 0))
            .doing("list ids")
    }

    /// Returns the numbers of snapshots that begin with `prefix`, newest first.
    pub(crate) fn snapshots_from(
        &self,
        prefix: &str,
        n_max: usize,
    ) -> Result<Vec<String>, StoreError> {
        const FROM: &str = "
            SELECT concat(id)
              FROM snapshot
             WHERE substr(id, 1, length(?1)) = ?1
             ORDER BY id DESC
             LIMIT ?2";
        self.all(FROM, params![prefix, limit(n_max)], |row| row.get(0)).doing("list snapshots")
    }

    /// Passes each row on as soon as it is read.
    pub(super) fn stream<T, P: Params, E: From<StoreError>>(
        &self,
        sql: &'static str,
        params: P,
        doing: &'static str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        mut each: impl FnMut(T) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut query = self.conn.prepare_cached(sql).doing(doing)?;
        let mut rows = query.query(params).doing(doing)?;
        while let Some(row) = rows.next().doing(doing)? {
            each(read(row).doing(doing)?)?;
        }
        drop(rows);
        #[cfg(test)]
        super::database_builder_testing::note_work(&mut query);
        Ok(())
    }
}

fn read_warm(row: &Row<'_>) -> rusqlite::Result<NodeHeat> {
    Ok(NodeHeat {
        id: read_id(row, 0)?,
        label: row.get(1)?,
        node_type: read_type(row, 2)?,
        heat: heat_rows::read_heat(row, 3)?,
    })
}
