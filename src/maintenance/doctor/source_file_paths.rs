//! Checks the paths of files: each is relative to its root and leads to a place below it.
//!
//! A scan makes no other, but a database that somebody else made can have any. An export writes a
//! file under its path.

use std::path::Path;

use rusqlite::{Connection, params};

use super::{CheckStatus, first_few, verdict};
use crate::ingest::scan;
use crate::store::{PreparedStatements, StoreError};

/// The name of a file of whose path nothing is left.
const UNNAMED: &str = "unnamed";

struct SourceFilePathRow {
    id: i64,
    root: i64,
    path: String,
}

/// Checks the path of every file.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    const COUNT: &str = "SELECT count(*) FROM file";
    let n: i64 = conn.row(COUNT, [], |row| row.get(0), "count the files")?;
    let outside = outside(conn)?;
    let names: Vec<String> = outside.iter().map(|it| quoted(&it.path)).collect();
    let bad =
        format!("{} of {n} files are not below their root: {}", names.len(), first_few(&names));
    Ok(verdict(names.is_empty(), format!("{n} files are below their roots"), bad))
}

/// Gives files outside of their roots a path below: the names of the former one, in their order.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const TAKEN: &str = "SELECT 1 FROM file WHERE root = ?1 AND path = ?2";
    const RENAME: &str = "UPDATE file SET path = ?2, content_hash = NULL, mtime = 0 WHERE id = ?1";
    let mut notes = Vec::new();
    for SourceFilePathRow { id, root, path } in outside(conn)? {
        let below = path_below_root(&path);
        let mut free = below.clone();
        for nth in 2.. {
            if !conn.has(TAKEN, params![root, free], "look for a path")? {
                break;
            }
            free = format!("{below}-{nth}");
        }
        conn.run(RENAME, params![id, free], "rename a file")?;
        notes.push(format!("{} is {} now", quoted(&path), quoted(&free)));
    }
    Ok(notes)
}

fn outside(conn: &Connection) -> Result<Vec<SourceFilePathRow>, StoreError> {
    const FILES: &str = "SELECT id, root, path FROM file ORDER BY id";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(SourceFilePathRow { id: row.get(0)?, root: row.get(1)?, path: row.get(2)? })
    };
    let mut files: Vec<SourceFilePathRow> =
        conn.rows(FILES, [], read, "read the paths of files")?;
    files.retain(|it| !scan::is_below_root(&it.path));
    Ok(files)
}

fn path_below_root(path: &str) -> String {
    let path = path.replace('\0', "\u{fffd}");
    let names = path.split(std::path::is_separator).filter(|it| !matches!(*it, "" | "." | ".."));
    let below = names.collect::<Vec<_>>().join("/");
    if scan::is_below_root(&below) { below } else { UNNAMED.to_owned() }
}

fn quoted(path: &str) -> String {
    format!("`{}`", path.escape_debug())
}
