//! Names of a file besides its path, stored so that references find it.

use std::collections::BTreeSet;

use rusqlite::{Connection, Row, params};

use crate::model::links::front_matter_names;
use crate::model::links::name::fold_name;
use crate::model::links::resolve::{last_path_segment, without_extension};
use crate::store::{ErrorContext, FileId, PreparedStatements, StoreError};

/// Updates the stored names of a file; returns those before and after.
pub(super) fn name_file(conn: &Connection, file: FileId) -> Result<Vec<String>, StoreError> {
    const FORGET: &str = "DELETE FROM file_name WHERE file = ?1";
    const ADD: &str = "INSERT INTO file_name (name, file) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    let had = file_names(conn, file)?;
    let has = names_now(conn, file)?;
    if had != has {
        if !had.is_empty() {
            let mut forget = conn.prepare_cached(FORGET).doing("name a file")?;
            forget.execute([file.0]).doing("name a file")?;
        }
        let mut add = conn.prepare_cached(ADD).doing("name a file")?;
        for name in &has {
            add.execute(params![name, file.0]).doing("name a file")?;
        }
    }
    Ok(had.union(&has).cloned().collect())
}

/// Returns the stored names of a file.
pub(crate) fn file_names(conn: &Connection, file: FileId) -> Result<BTreeSet<String>, StoreError> {
    const NAMES: &str = "SELECT name FROM file_name WHERE file = ?1";
    conn.rows(NAMES, [file.0], |row| row.get(0), "read a file's names")
}

/// Returns the path of a file below its root.
pub(super) fn path_of(conn: &Connection, file: FileId) -> Result<Option<String>, StoreError> {
    const PATH: &str = "SELECT path FROM file WHERE id = ?1";
    conn.find(PATH, [file.0], |row| row.get(0), "read a file's path")
}

/// Returns the names of a file by its path and its front matter.
pub(crate) fn names_now(conn: &Connection, file: FileId) -> Result<BTreeSet<String>, StoreError> {
    const FRONT: &str = "
        SELECT top.content, part.content, part.key_path
          FROM node AS top
          LEFT JOIN node AS part ON part.parent = top.key
         WHERE top.file = ?1
           AND top.parent IS NULL
           AND top.node_type = 'preamble'";
    let mut names = BTreeSet::new();
    let Some(path) = path_of(conn, file)? else { return Ok(names) };
    let file_name = fold_name(last_path_segment(&path));
    names.insert(fold_name(without_extension(&file_name)));
    names.insert(file_name);
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let rows: Vec<(String, Option<String>, Option<String>)> =
        conn.rows(FRONT, [file.0], read, "read front matter")?;
    for (top, part, key_path) in rows {
        let part =
            part.filter(|_| key_path.as_deref().is_some_and(front_matter_names::is_name_field));
        let front_names = front_matter_names::front_matter_names(&top)
            .into_iter()
            .chain(front_matter_names::front_matter_names(&part.unwrap_or_default()));
        names.extend(front_names.map(|it| fold_name(&it)).filter(|it| !it.is_empty()));
    }
    Ok(names)
}
