//! Processes the rows that a write added, at its end.
//!
//! New rows have keys above those of the beginning, which identify them. Where many nodes come,
//! their names are compared as they are added, since most of their pages have left the cache by
//! the end.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row};

use super::resolution::WantedNameBloomFilter;
use super::stored_file_names::name_file;
use super::{LinkNameHash, RefsAwaitingNameFinder, path_of};
use crate::model::links::resolve::{last_path_segment, without_extension};
use crate::store::{FileId, PreparedStatements, StoreError};

/// Rows that are read at once.
const ROWS_MAX: i64 = 1000;

/// The greatest keys at the beginning of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyWatermarks {
    pub(super) node: i64,
    pub(super) file: i64,
    pub(super) reference: i64,
}

impl KeyWatermarks {
    pub(super) fn of(conn: &Connection) -> Result<KeyWatermarks, StoreError> {
        const NEWEST: &str = "
            SELECT ifnull((SELECT max(key) FROM node), 0), ifnull((SELECT max(id) FROM file), 0),
                   ifnull((SELECT max(id) FROM reference), 0)";
        let read = |row: &Row<'_>| {
            Ok(KeyWatermarks { node: row.get(0)?, file: row.get(1)?, reference: row.get(2)? })
        };
        conn.row(NEWEST, [], read, "read the newest keys")
    }
}

/// Compares the names of new nodes with those that references wait for.
#[derive(Debug)]
pub(super) struct WantedNewNameFilter {
    wanted: WantedNameBloomFilter,
    /// The greatest key of the nodes that were there before.
    since: i64,
    /// The file of the last node, and its name.
    file: Option<(FileId, LinkNameHash)>,
}

impl WantedNewNameFilter {
    /// Returns the filter for all nodes that come from now on.
    pub(super) fn of(conn: &Connection) -> Result<WantedNewNameFilter, StoreError> {
        let since = KeyWatermarks::of(conn)?.node;
        Ok(WantedNewNameFilter {
            wanted: WantedNameBloomFilter::of_wanted(conn)?,
            since,
            file: None,
        })
    }

    /// Adds those names of a node that references may wait for.
    pub(super) fn wanted_of(
        &mut self,
        conn: &Connection,
        file: Option<FileId>,
        (id, name): (&str, Option<LinkNameHash>),
        names: &mut BTreeSet<LinkNameHash>,
    ) -> Result<(), StoreError> {
        let qualified = match (name, file) {
            (Some(name), Some(file)) => Some(name.qualified_by(self.name_of(conn, file)?)),
            _ => None,
        };
        let of_node = [Some(LinkNameHash::of_id(id)), name, qualified].into_iter().flatten();
        names.extend(of_node.filter(|it| self.wanted.may_have(*it)));
        Ok(())
    }

    /// Returns the filter alone, and the greatest key of the nodes that it was not asked for.
    pub(super) fn into_parts(self) -> (Option<WantedNameBloomFilter>, i64) {
        (Some(self.wanted), self.since)
    }

    fn name_of(&mut self, conn: &Connection, file: FileId) -> Result<LinkNameHash, StoreError> {
        match self.file {
            Some((known, name)) if known == file => Ok(name),
            _ => Ok(self.file.insert((file, name_of_file(conn, file)?)).1),
        }
    }
}

fn name_of_file(conn: &Connection, file: FileId) -> Result<LinkNameHash, StoreError> {
    let path = path_of(conn, file)?.unwrap_or_default();
    Ok(name_of_path(&path))
}

/// Returns the name by which links mean a file.
pub(super) fn name_of_path(path: &str) -> LinkNameHash {
    LinkNameHash::of(without_extension(last_path_segment(path)))
}

/// Names the new files, and collects the references that wait for a new name. The names of nodes
/// with keys above `noted_since` were noted before.
pub(super) fn name_new(
    wanting: &mut RefsAwaitingNameFinder<'_>,
    newest: KeyWatermarks,
    noted_since: i64,
) -> Result<(), StoreError> {
    const FILES: &str = "SELECT id FROM file WHERE ?1 < id ORDER BY id LIMIT ?2";
    let conn = wanting.conn;
    let mut last = newest.file;
    loop {
        let after = [last, ROWS_MAX];
        let files: Vec<i64> = conn.rows(FILES, after, |row| row.get(0), "list the new files")?;
        for &file in &files {
            for name in name_file(conn, FileId(file))? {
                wanting.add(LinkNameHash::of(&name))?;
            }
        }
        match files.last() {
            Some(&file) => last = file,
            None => break,
        }
    }
    // Without older references, none can wait.
    if wanting.newest == 0 {
        return Ok(());
    }
    // Each node is asked for by up to three names, and few have references.
    let last = noted_since.min(KeyWatermarks::of(conn)?.node);
    if wanting.filter.is_none() && newest.reference <= 3 * (last - newest.node) {
        wanting.filter = Some(WantedNameBloomFilter::of_wanted(conn)?);
    }
    of_nodes(wanting, newest.node, last)
}

/// Collects the references that wait for a name of the nodes behind one key up to another.
fn of_nodes(
    wanting: &mut RefsAwaitingNameFinder<'_>,
    newest: i64,
    last_key: i64,
) -> Result<(), StoreError> {
    const NODES: &str = "
        SELECT key, id, name, file
          FROM node
         WHERE ?1 < key AND key <= ?2
         ORDER BY key
         LIMIT ?3";
    let conn = wanting.conn;
    let mut last = newest;
    let mut file_name: Option<(i64, LinkNameHash)> = None;
    loop {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let nodes: Vec<(i64, String, Option<i64>, Option<i64>)> =
            conn.rows(NODES, [last, last_key, ROWS_MAX], read, "list the new nodes")?;
        for (_, id, name, file) in &nodes {
            wanting.add(LinkNameHash::of_id(id))?;
            let Some(name) = name.map(LinkNameHash) else { continue };
            wanting.add(name)?;
            if let Some(file) = *file {
                if file_name.is_none_or(|it| it.0 != file) {
                    file_name = Some((file, name_of_file(conn, FileId(file))?));
                }
                if let Some((_, file)) = file_name {
                    wanting.add(name.qualified_by(file))?;
                }
            }
        }
        match nodes.last() {
            Some(node) => last = node.0,
            None => return Ok(()),
        }
    }
}
