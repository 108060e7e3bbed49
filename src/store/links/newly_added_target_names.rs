//! Processes the rows that a write added, at its end.
//!
//! New rows have keys above those of the beginning, which identify them.

use rusqlite::{Connection, Row};

use super::resolution::WantedNameBloomFilter;
use super::stored_file_names::name_file;
use super::{NameKey, RefsAwaitingNameFinder, path_of};
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

/// Names the new files, and collects the references that wait for a new name.
pub(super) fn name_new_files(
    wanting: &mut RefsAwaitingNameFinder<'_>,
    newest: KeyWatermarks,
) -> Result<(), StoreError> {
    const FILES: &str = "SELECT id FROM file WHERE ?1 < id ORDER BY id LIMIT ?2";
    let conn = wanting.conn;
    let mut last = newest.file;
    loop {
        let after = [last, ROWS_MAX];
        let files: Vec<i64> = conn.rows(FILES, after, |row| row.get(0), "list the new files")?;
        for &file in &files {
            for name in name_file(conn, FileId(file))? {
                wanting.add(NameKey::of(&name))?;
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
    let n_asked = 3 * (KeyWatermarks::of(conn)?.node - newest.node);
    if newest.reference <= n_asked {
        wanting.filter = Some(WantedNameBloomFilter::of_wanted(conn)?);
    }
    of_nodes(wanting, newest.node)
}

fn of_nodes(wanting: &mut RefsAwaitingNameFinder<'_>, newest: i64) -> Result<(), StoreError> {
    const NODES: &str = "SELECT key, id, name, file FROM node WHERE ?1 < key ORDER BY key LIMIT ?2";
    let conn = wanting.conn;
    let mut last = newest;
    let mut file_name: Option<(i64, NameKey)> = None;
    loop {
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
        let nodes: Vec<(i64, String, Option<i64>, Option<i64>)> =
            conn.rows(NODES, [last, ROWS_MAX], read, "list the new nodes")?;
        for (_, id, name, file) in &nodes {
            wanting.add(NameKey::of_id(id))?;
            let Some(name) = name.map(NameKey) else { continue };
            wanting.add(name)?;
            if let Some(file) = *file {
                if file_name.is_none_or(|it| it.0 != file) {
                    let path = path_of(conn, FileId(file))?.unwrap_or_default();
                    file_name =
                        Some((file, NameKey::of(without_extension(last_path_segment(&path)))));
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
