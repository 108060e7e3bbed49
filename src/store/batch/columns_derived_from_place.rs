//! Derived columns of a node: its file, its breadcrumb, and whether it belongs to the file. These
//! follow from its place and are no changes of their own, so nothing here is recorded.

use std::collections::HashSet;

use rusqlite::{Row, params};

use super::{Batch, SiblingGroup};
use crate::model::breadcrumb;
use crate::model::identity::ContentHash;
use crate::store::{
    ErrorContext, FileId, NodePlace, NodeRecord, NodeRowId, PreparedStatements, StoreError,
};

/// The columns that a node passes on to its children.
struct ColumnsForChildren {
    key: NodeRowId,
    file: Option<FileId>,
    breadcrumb: String,
    label: String,
}

impl ColumnsForChildren {
    /// Reads `key, file, trail, label`.
    fn read(row: &Row<'_>) -> rusqlite::Result<ColumnsForChildren> {
        Ok(ColumnsForChildren {
            key: NodeRowId(row.get(0)?),
            file: row.get::<_, Option<i64>>(1)?.map(FileId),
            breadcrumb: row.get(2)?,
            label: row.get(3)?,
        })
    }
}

impl Batch<'_> {
    /// Returns the breadcrumb of a node at a place.
    pub(super) fn breadcrumb_at(&self, place: NodePlace) -> Result<String, StoreError> {
        const PARENT: &str = "SELECT trail, label FROM node WHERE key = ?1";
        const FILE: &str = "SELECT path FROM file WHERE id = ?1";
        let breadcrumb = match SiblingGroup::from(place) {
            SiblingGroup::Node(key) => self.tx.prepare_cached(PARENT).and_then(|mut it| {
                it.query_row([key.0], |row| {
                    let (breadcrumb, label): (String, String) = (row.get(0)?, row.get(1)?);
                    Ok(breadcrumb::child_breadcrumb(&breadcrumb, &label))
                })
            }),
            SiblingGroup::File(file) => self.tx.prepare_cached(FILE).and_then(|mut it| {
                it.query_row([file.0], |row| {
                    Ok(breadcrumb::file_stem(&row.get::<_, String>(0)?).to_owned())
                })
            }),
            SiblingGroup::Nobody => Ok(String::new()),
        };
        breadcrumb.doing("read a node's breadcrumb")
    }

    /// Moves a node to a place; everything below it moves along.
    pub(super) fn set_place(
        &mut self,
        old: &NodeRecord,
        place: NodePlace,
    ) -> Result<(), StoreError> {
        const SET: &str = "UPDATE node SET parent = ?2, position = ?3 WHERE key = ?1";
        // Before the move, since the tombstone records the former parent.
        if place.file != old.place.file {
            self.set_file(old.key, place.file)?;
        }
        self.dirty_refs.node_moved(old.place.file, place.file);
        let parent = place.parent.map(|it| it.0);
        self.tx.run(SET, params![old.key.0, parent, place.position], "move a node")?;
        self.refresh_derived(old.key)?;
        if place.file != old.place.file { self.refresh_derived_below(old.key) } else { Ok(()) }
    }

    /// Updates file and breadcrumb of a node and of everything below it.
    pub(crate) fn refresh_derived(&mut self, key: NodeRowId) -> Result<(), StoreError> {
        const OLD: &str = "
            SELECT node.file, node.trail, node.parent, parent.file
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
             WHERE node.key = ?1";
        let read = |row: &Row<'_>| {
            let parent = row.get::<_, Option<i64>>(2)?.map(NodeRowId);
            let own = row.get::<_, Option<i64>>(0)?.map(FileId);
            let file = match parent {
                Some(_) => row.get::<_, Option<i64>>(3)?.map(FileId),
                None => own,
            };
            Ok((own, row.get::<_, String>(1)?, NodePlace { file, parent, position: 0 }))
        };
        let (old_file, old_breadcrumb, place) = self.tx.row(OLD, [key.0], read, "read a parent")?;
        let breadcrumb = self.breadcrumb_at(place)?;
        if place.file != old_file {
            self.set_file(key, place.file)?;
        }
        if breadcrumb != old_breadcrumb {
            self.set_breadcrumb(key, &breadcrumb)?;
        }
        match place.file != old_file || breadcrumb != old_breadcrumb {
            true => self.refresh_derived_below(key),
            false => Ok(()),
        }
    }

    /// Updates file and breadcrumb of everything below a node.
    pub(super) fn refresh_derived_below(&mut self, key: NodeRowId) -> Result<(), StoreError> {
        const SELF: &str = "SELECT key, file, trail, label FROM node WHERE key = ?1";
        const CHILDREN: &str = "SELECT key, file, trail, label FROM node WHERE parent = ?1";
        let tx = self.tx;
        let mut open: Vec<ColumnsForChildren> =
            tx.rows(SELF, [key.0], ColumnsForChildren::read, "read a parent")?;
        // While several nodes move, one may be below itself for a moment.
        let mut seen = HashSet::from([key]);
        while let Some(parent) = open.pop() {
            let below = breadcrumb::child_breadcrumb(&parent.breadcrumb, &parent.label);
            let children: Vec<ColumnsForChildren> =
                tx.rows(CHILDREN, [parent.key.0], ColumnsForChildren::read, "read children")?;
            for child in children {
                if child.file != parent.file {
                    self.set_file(child.key, parent.file)?;
                }
                if child.breadcrumb != below {
                    self.set_breadcrumb(child.key, &below)?;
                }
                let is_changed = child.file != parent.file || child.breadcrumb != below;
                if is_changed && seen.insert(child.key) {
                    open.push(ColumnsForChildren {
                        file: parent.file,
                        breadcrumb: below.clone(),
                        ..child
                    });
                }
            }
        }
        Ok(())
    }

    /// Returns a replaced or removed text, as long as the history has it.
    pub(crate) fn stored_text(&self, hash: ContentHash) -> Result<Option<String>, StoreError> {
        const KEPT: &str = "SELECT content FROM blob WHERE hash = ?1";
        self.tx.find(KEPT, [hash.to_string()], |row| row.get(0), "look up a replaced text")
    }

    /// Returns the byte offset of a node in its file, at the last compile.
    pub(crate) fn span_start(&self, key: NodeRowId) -> Result<usize, StoreError> {
        const START: &str = "SELECT start_byte FROM span WHERE node = ?1";
        let start: Option<i64> =
            self.tx.find(START, [key.0], |row| row.get(0), "find a node's place in its file")?;
        Ok(start.and_then(|it| usize::try_from(it).ok()).unwrap_or(0))
    }

    fn set_breadcrumb(&mut self, key: NodeRowId, breadcrumb: &str) -> Result<(), StoreError> {
        const SET: &str = "UPDATE node SET trail = ?2 WHERE key = ?1";
        self.index_before(key)?;
        self.tx.run(SET, params![key.0, breadcrumb], "change a node's trail").map(drop)
    }

    /// Moves a node to another file, and leaves a tombstone in the old one.
    fn set_file(&mut self, key: NodeRowId, file: Option<FileId>) -> Result<(), StoreError> {
        const SET: &str = "UPDATE node SET file = ?2, source_hash = NULL WHERE key = ?1";
        const UNPLACE: &str = "DELETE FROM span WHERE node = ?1";
        self.add_tombstone(key)?;
        self.dirty_refs.file_changed(self.tx, key)?;
        self.tx.run(SET, params![key.0, file.map(|it| it.0)], "move a node to another file")?;
        self.tx.run(UNPLACE, [key.0], "move a node to another file")?;
        self.remove_tombstone(key)
    }

    /// Leaves a tombstone of a node that is about to leave its file.
    pub(super) fn add_tombstone(&mut self, key: NodeRowId) -> Result<(), StoreError> {
        const BURY: &str = "
            INSERT OR REPLACE INTO tombstone
                   (node_id, file, parent, node_type, level, source_hash, start_byte, end_byte)
            SELECT node.id, node.file, parent.id, node.node_type, node.level, node.source_hash,
                   ifnull(span.start_byte, 0), ifnull(span.end_byte, 0)
              FROM node
              LEFT JOIN node AS parent ON parent.key = node.parent
              LEFT JOIN span ON span.node = node.key
             WHERE node.key = ?1
               AND node.file IS NOT NULL
               AND node.source_hash IS NOT NULL";
        self.has_tombstones = true;
        self.restore_accepted_base(key)?;
        self.tx.run(BURY, [key.0], "add a tombstone").map(drop)
    }

    /// Removes a node's tombstone if it is back in its file, to which it belongs again.
    pub(super) fn remove_tombstone(&self, key: NodeRowId) -> Result<(), StoreError> {
        const CLAIM: &str = "
            UPDATE node
               SET source_hash = tombstone.source_hash
              FROM tombstone
             WHERE node.key = ?1
               AND tombstone.node_id = node.id
               AND tombstone.file = node.file";
        const PLACE: &str = "
            INSERT INTO span (node, start_byte, end_byte)
            SELECT node.key, tombstone.start_byte, tombstone.end_byte
              FROM node
              JOIN tombstone ON tombstone.node_id = node.id AND tombstone.file = node.file
             WHERE node.key = ?1
            ON CONFLICT (node) DO NOTHING";
        const DROP: &str = "
            DELETE FROM tombstone
             WHERE node_id = (SELECT id FROM node WHERE key = ?1)
               AND file = (SELECT file FROM node WHERE key = ?1)";
        for sql in [CLAIM, PLACE, DROP] {
            self.tx.run(sql, [key.0], "restore a node's base text")?;
        }
        Ok(())
    }
}
