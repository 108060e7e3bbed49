//! Pages for people who look around: nodes, references and changes, each after a position.

use std::collections::HashMap;

use rusqlite::{Row, params};

use super::{Reader, limit, list, unsigned};
use crate::model::clock::UnixMillis;
use crate::model::heat::StoredHeat;
use crate::store::heat_rows::{self, heat_columns};
use crate::store::record::{read_id, read_name, read_type};
use crate::store::{ErrorContext, NodeRowId, PreparedStatements, StoreError};

/// A node as a row of a page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BrowsedNode {
    pub(crate) key: NodeRowId,
    pub(crate) id: String,
    pub(crate) position: i64,
    /// The number of its file.
    pub(crate) file: Option<i64>,
    /// Path of its file, relative to the root.
    pub(crate) path: Option<String>,
    pub(crate) node_type: String,
    pub(crate) label: String,
    pub(crate) tokens: u64,
    pub(crate) n_children: u64,
    pub(crate) heat: StoredHeat,
}

/// The facts that only a page about one node shows of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowsedNodeDetails {
    pub(crate) content: String,
    /// The language of its text, as the format that a parser reads.
    pub(crate) format: String,
    /// The language of code.
    pub(crate) lang: Option<String>,
    pub(crate) access_count: u64,
    pub(crate) accessed_at: Option<UnixMillis>,
    /// The time of the oldest snapshot that the history has of it, if that added it.
    pub(crate) created_at: Option<UnixMillis>,
}

/// The position of a row among its siblings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SiblingCursor {
    pub(crate) position: i64,
    pub(crate) key: i64,
}

impl SiblingCursor {
    /// The position before every row.
    pub(crate) const FIRST: SiblingCursor = SiblingCursor { position: i64::MIN, key: 0 };
}

/// An edge between a node and another one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BrowsedLink {
    /// The number of a reference; 0 for an edge of knowledge.
    pub(crate) number: i64,
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) link_type: String,
    pub(crate) origin: String,
    pub(crate) weight: f64,
}

/// The edges of a node that one page lists together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkGroup {
    /// References of its text, and those made by hand.
    ReferencesOut,
    ReferencesIn,
    /// Edges of knowledge.
    TypedOut,
    TypedIn,
}

/// A reference without a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnresolvedLink {
    pub(crate) label: String,
    pub(crate) path: Option<String>,
    pub(crate) id_hint: Option<String>,
}

/// A change of a node with the beginnings of its texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowsedChange {
    pub(crate) snapshot: i64,
    pub(crate) seq: i64,
    pub(crate) op: String,
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) path: Option<String>,
    pub(crate) old: String,
    pub(crate) new: String,
    /// Whether a text is longer than its beginning.
    pub(crate) is_cut: bool,
    pub(crate) message: String,
    pub(crate) created_at: UnixMillis,
}

/// A snapshot with its numbers of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BrowsedSnapshot {
    pub(crate) id: i64,
    pub(crate) parent: Option<i64>,
    pub(crate) message: String,
    pub(crate) created_at: UnixMillis,
    pub(crate) is_head: bool,
    pub(crate) counts: ChangeCounts,
}

/// Numbers of changed nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChangeCounts {
    pub(crate) added: u64,
    pub(crate) modified: u64,
    pub(crate) removed: u64,
}

/// The columns of a [`BrowsedNode`]; `n` is the node, `f` its file, `h` its heat.
macro_rules! browsed {
    ($from:literal) => {
        concat!(
            "SELECT n.key, n.id, n.position, n.file, f.path, n.node_type, n.label, n.token_count,
                    (SELECT count(*) FROM node AS c WHERE c.parent = n.key), ",
            heat_columns!(),
            $from
        )
    };
}

/// A query of the columns of a [`BrowsedChange`]. A text that no node has any more is in `blob`.
macro_rules! changes {
    ($where:literal) => {
        concat!(
            "
            SELECT snapshot, seq, op, id, ifnull(label, ''), path, ifnull(substr(old, 1, ?4), ''),
                   ifnull(substr(new, 1, ?4), ''), ?4 < ifnull(length(old), 0) OR
                   ?4 < ifnull(length(new), 0), message, created_at
              FROM (SELECT d.snapshot, d.seq, d.op, d.node_id AS id,
                           ifnull(n.label, d.old_label) AS label,
                           ifnull(f.path, d.old_path) AS path,
                           ifnull(old.content, iif(n.content_hash = d.old_hash, n.content, NULL))
                           AS old,
                           ifnull(new.content, iif(n.content_hash = d.new_hash, n.content, NULL))
                           AS new,
                           s.message, s.created_at
                      FROM diff AS d
                     CROSS JOIN snapshot AS s ON s.id = d.snapshot
                      LEFT JOIN blob AS old ON old.hash = d.old_hash
                      LEFT JOIN blob AS new ON new.hash = d.new_hash
                      LEFT JOIN node AS n ON n.id = d.node_id
                      LEFT JOIN file AS f ON f.id = n.file
                     WHERE d.op <> 'rank' AND ",
            $where,
            "
                     LIMIT ?5)"
        )
    };
}

impl Reader {
    /// Returns the children of a node after a position.
    pub(crate) fn children_after(
        &self,
        of: NodeRowId,
        after: SiblingCursor,
        n_max: usize,
    ) -> Result<Vec<BrowsedNode>, StoreError> {
        const CHILDREN: &str = browsed!(
            "
              FROM node AS n
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.parent = ?1 AND (n.position, n.key) > (?2, ?3)
             ORDER BY n.position, n.key
             LIMIT ?4"
        );
        let place = params![of.0, after.position, after.key, limit(n_max)];
        self.all(CHILDREN, place, read_browsed).doing("list children")
    }

    /// Returns the file at a path, of the first root that has one.
    pub(crate) fn file_at(&self, path: &str) -> Result<Option<i64>, StoreError> {
        const FILE: &str = "
            SELECT f.id
              FROM root AS r
             CROSS JOIN file AS f ON f.root = r.id AND f.path = ?1
             ORDER BY r.id
             LIMIT 1";
        self.conn.find(FILE, [path], |row| row.get(0), "find a file")
    }

    /// Returns the first nodes of files after a position in a file; `None`: from the first file on.
    pub(crate) fn roots_after(
        &self,
        after: Option<(i64, SiblingCursor)>,
        n_max: usize,
    ) -> Result<Vec<BrowsedNode>, StoreError> {
        const PLACE: &str = "SELECT root, path FROM file WHERE id = ?1";
        const ROOTS: &str = browsed!(
            "
              FROM file AS f
             CROSS JOIN node AS n ON n.file = f.id AND n.parent IS NULL
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE (f.root, f.path) >= (?1, ?2)
               AND ((f.root, f.path) > (?1, ?2) OR (n.position, n.key) > (?3, ?4))
             ORDER BY f.root, f.path, n.position, n.key
             LIMIT ?5"
        );
        let (place, after) = match after {
            None => (None, SiblingCursor::FIRST),
            Some((file, after)) => {
                let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
                (self.conn.find(PLACE, [file], read, "find a file")?, after)
            }
        };
        let (root, path): (i64, String) = place.unwrap_or_default();
        let from = params![root, path, after.position, after.key, limit(n_max)];
        self.all(ROOTS, from, read_browsed).doing("list the roots")
    }

    /// Returns the nodes without a parent and a file after a position.
    pub(crate) fn loose_roots_after(
        &self,
        after: SiblingCursor,
        n_max: usize,
    ) -> Result<Vec<BrowsedNode>, StoreError> {
        const ROOTS: &str = browsed!(
            "
              FROM node AS n
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.parent IS NULL AND n.file IS NULL AND (n.position, n.key) > (?1, ?2)
             ORDER BY n.position, n.key
             LIMIT ?3"
        );
        let place = params![after.position, after.key, limit(n_max)];
        self.all(ROOTS, place, read_browsed).doing("list the roots")
    }

    /// Returns nodes of keys, in no particular order.
    pub(crate) fn browsed(&self, keys: &[NodeRowId]) -> Result<Vec<BrowsedNode>, StoreError> {
        const NODES: &str = browsed!(
            "
              FROM json_each(?1) AS wanted
              JOIN node AS n ON n.key = wanted.value
              LEFT JOIN file AS f ON f.id = n.file
              LEFT JOIN heat AS h ON h.node = n.key"
        );
        self.all(NODES, [list(keys)], read_browsed).doing("read nodes")
    }

    /// Returns what only a page about a node shows of it.
    pub(crate) fn details(&self, of: NodeRowId) -> Result<Option<BrowsedNodeDetails>, StoreError> {
        const DETAILS: &str = "
            SELECT n.content, n.format, n.lang, ifnull(h.access_count, 0), h.accessed_at,
                   (SELECT iif(d.op = 'add', s.created_at, NULL)
                      FROM diff AS d
                      JOIN snapshot AS s ON s.id = d.snapshot
                     WHERE d.node_id = n.id
                     ORDER BY d.snapshot
                     LIMIT 1)
              FROM node AS n
              LEFT JOIN heat AS h ON h.node = n.key
             WHERE n.key = ?1";
        let read = |row: &Row<'_>| {
            Ok(BrowsedNodeDetails {
                content: row.get(0)?,
                format: row.get(1)?,
                lang: row.get(2)?,
                access_count: unsigned(row, 3)?,
                accessed_at: row.get::<_, Option<i64>>(4)?.map(UnixMillis),
                created_at: row.get::<_, Option<i64>>(5)?.map(UnixMillis),
            })
        };
        self.conn.find(DETAILS, [of.0], read, "read a node")
    }

    /// Returns the texts of the children of a node that have its type: the parts of a large block.
    pub(crate) fn parts_of(&self, of: NodeRowId, n_max: usize) -> Result<Vec<String>, StoreError> {
        const PARTS: &str = "
            SELECT c.content
              FROM node AS n
              JOIN node AS c ON c.parent = n.key AND c.node_type = n.node_type
             WHERE n.key = ?1
             ORDER BY c.position, c.key
             LIMIT ?2";
        self.all(PARTS, params![of.0, limit(n_max)], |row| row.get(0)).doing("read parts")
    }

    /// Returns edges of one kind after a reference's number, or after so many edges of knowledge.
    pub(crate) fn links_after(
        &self,
        of: &BrowsedNode,
        kind: LinkGroup,
        after: i64,
        n_max: usize,
    ) -> Result<Vec<BrowsedLink>, StoreError> {
        const OUT: &str = "
            SELECT r.id, t.id, t.label, r.form, r.origin, r.weight
              FROM reference AS r
              JOIN node AS t ON t.key = r.target
             WHERE r.source = ?1 AND ?2 < r.id
             ORDER BY r.id
             LIMIT ?3";
        const IN: &str = "
            SELECT r.id, s.id, s.label, r.form, r.origin, r.weight
              FROM reference AS r
              JOIN node AS s ON s.key = r.source
             WHERE r.target = ?1 AND ?2 < r.id
             ORDER BY r.id
             LIMIT ?3";
        const TYPED_OUT: &str = "
            SELECT 0, t.id, t.label, e.type, 'knowledge', e.strength
              FROM typed_edge AS e
              JOIN node AS t ON t.id = e.target
             WHERE e.source = ?1
             ORDER BY e.type, e.target
             LIMIT ?3 OFFSET ?2";
        const TYPED_IN: &str = "
            SELECT 0, s.id, s.label, e.type, 'knowledge', e.strength
              FROM typed_edge AS e
              JOIN node AS s ON s.key = e.source
             WHERE e.target = ?1
             ORDER BY e.type, e.source
             LIMIT ?3 OFFSET ?2";
        let read = |row: &Row<'_>| {
            Ok(BrowsedLink {
                number: row.get(0)?,
                id: read_id(row, 1)?,
                label: row.get(2)?,
                link_type: row.get(3)?,
                origin: read_name(row, 4)?,
                weight: row.get(5)?,
            })
        };
        let (key, n_max) = (of.key.0, limit(n_max));
        let links = match kind {
            LinkGroup::ReferencesOut => self.all(OUT, params![key, after, n_max], read),
            LinkGroup::ReferencesIn => self.all(IN, params![key, after, n_max], read),
            LinkGroup::TypedOut => self.all(TYPED_OUT, params![key, after, n_max], read),
            LinkGroup::TypedIn => self.all(TYPED_IN, params![of.id, after, n_max], read),
        };
        links.doing("list references")
    }

    /// Returns the names by which the text of a node refers to others, with the ids of these.
    pub(crate) fn link_targets(
        &self,
        of: NodeRowId,
    ) -> Result<HashMap<String, String>, StoreError> {
        const TARGETS: &str = "
            SELECT r.label, r.path, r.alias, t.id
              FROM reference AS r
              JOIN node AS t ON t.key = r.target
             WHERE r.source = ?1
             ORDER BY r.id
             LIMIT 1000";
        let read = |row: &Row<'_>| {
            let names: [Option<String>; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
            Ok((names, read_id(row, 3)?))
        };
        let rows = self.all(TARGETS, [of.0], read).doing("list references")?;
        let named = |(names, id): ([Option<String>; 3], String)| {
            let names = names.into_iter().flatten().filter(|it| !it.is_empty());
            names.map(|it| (it, id.clone())).collect::<Vec<_>>()
        };
        Ok(rows.into_iter().flat_map(named).collect())
    }

    /// Returns the references of a node that wait for their targets.
    pub(crate) fn pending_links(
        &self,
        of: NodeRowId,
        n_max: usize,
    ) -> Result<Vec<UnresolvedLink>, StoreError> {
        const PENDING: &str = "
            SELECT label, path, id_hint
              FROM reference
             WHERE source = ?1 AND target IS NULL
             ORDER BY id
             LIMIT ?2";
        let read = |row: &Row<'_>| {
            Ok(UnresolvedLink { label: row.get(0)?, path: row.get(1)?, id_hint: row.get(2)? })
        };
        self.all(PENDING, params![of.0, limit(n_max)], read).doing("list references")
    }

    /// Returns changes of a snapshot after a number, with `n_chars` characters of each text.
    pub(crate) fn changes_after(
        &self,
        snapshot: i64,
        seq: i64,
        (n_chars, n_max): (usize, usize),
    ) -> Result<Vec<BrowsedChange>, StoreError> {
        const CHANGES: &str = changes!("d.snapshot = ?1 AND ?2 < d.seq AND ?3 ORDER BY d.seq");
        let place = params![snapshot, seq, true, limit(n_chars), limit(n_max)];
        self.all(CHANGES, place, read_change).doing("list changes")
    }

    /// Returns changes of a node before a moment, newest first.
    pub(crate) fn changes_before(
        &self,
        id: &str,
        (snapshot, seq): (i64, i64),
        (n_chars, n_max): (usize, usize),
    ) -> Result<Vec<BrowsedChange>, StoreError> {
        const CHANGES: &str = changes!(
            "d.node_id = ?1 AND (d.snapshot, d.seq) < (?2, ?3) ORDER BY d.snapshot DESC, d.seq DESC"
        );
        let place = params![id, snapshot, seq, limit(n_chars), limit(n_max)];
        self.all(CHANGES, place, read_change).doing("list changes")
    }

    /// Returns whether the history knows a snapshot.
    pub(crate) fn has_snapshot(&self, id: i64) -> Result<bool, StoreError> {
        self.conn.has("SELECT 1 FROM snapshot WHERE id = ?1", [id], "find a snapshot")
    }

    /// Returns snapshots before a number, newest first.
    pub(crate) fn snapshots_before(
        &self,
        before: i64,
        n_max: usize,
    ) -> Result<Vec<BrowsedSnapshot>, StoreError> {
        const SNAPSHOTS: &str = "
            SELECT s.id, s.parent, s.message, s.created_at, s.id IS c.snapshot
              FROM snapshot AS s
              LEFT JOIN cursor AS c ON c.name = 'HEAD'
             WHERE s.id < ?1
             ORDER BY s.id DESC
             LIMIT ?2";
        let read = |row: &Row<'_>| {
            Ok(BrowsedSnapshot {
                id: row.get(0)?,
                parent: row.get(1)?,
                message: row.get(2)?,
                created_at: UnixMillis(row.get(3)?),
                is_head: row.get(4)?,
                counts: ChangeCounts::default(),
            })
        };
        let args = params![before, limit(n_max)];
        let mut snapshots = self.all(SNAPSHOTS, args, read).doing("list snapshots")?;
        for snapshot in &mut snapshots {
            snapshot.counts = self.change_counts(snapshot.id)?;
        }
        Ok(snapshots)
    }
}

fn read_browsed(row: &Row<'_>) -> rusqlite::Result<BrowsedNode> {
    Ok(BrowsedNode {
        key: NodeRowId(row.get(0)?),
        id: read_id(row, 1)?,
        position: row.get(2)?,
        file: row.get(3)?,
        path: row.get(4)?,
        node_type: read_type(row, 5)?,
        label: row.get(6)?,
        tokens: unsigned(row, 7)?,
        n_children: unsigned(row, 8)?,
        heat: heat_rows::read_heat(row, 9)?,
    })
}

fn read_change(row: &Row<'_>) -> rusqlite::Result<BrowsedChange> {
    Ok(BrowsedChange {
        snapshot: row.get(0)?,
        seq: row.get(1)?,
        op: read_name(row, 2)?,
        id: read_id(row, 3)?,
        label: row.get(4)?,
        path: row.get(5)?,
        old: row.get(6)?,
        new: row.get(7)?,
        is_cut: row.get(8)?,
        message: row.get(9)?,
        created_at: UnixMillis(row.get(10)?),
    })
}
