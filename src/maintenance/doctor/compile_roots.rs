//! Checks that the compiled folders are there, and gives a root the path back that was altered.
//!
//! The snapshots of compiles have the paths of their folders. A folder that is there, has most
//! files of the root and is no other root is the one of the altered root. Without its path, the
//! next compile would add all of its files again.

use std::path::Path;

use rusqlite::{Connection, Row, params};

use super::CheckStatus;
use crate::ingest::redact::MARKER;
use crate::store::{PreparedStatements, StoreError, source_files};

/// A root whose folder never was compiled, and the folder that was.
struct AlteredRoot {
    id: i64,
    path: String,
    compiled: String,
}

/// Checks the folder of every root.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let roots = source_files::roots(conn)?;
    if let Some(AlteredRoot { path, compiled, .. }) = altered(conn)? {
        let bad = format!("the compile root `{path}` was altered; its files are in `{compiled}`");
        return Ok((CheckStatus::Fail, bad));
    }
    let gone: Vec<&str> =
        roots.iter().map(|it| it.path.as_str()).filter(|it| is_gone(it)).collect();
    Ok(match gone.len() {
        0 => (CheckStatus::Pass, format!("{} compile roots present", roots.len())),
        n => {
            let what =
                format!("{n}/{} compile roots no longer exist: [{}]", roots.len(), gone.join(" "));
            (CheckStatus::Warn, what)
        }
    })
}

/// Gives a root its path back.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const SET: &str = "UPDATE root SET path = ?2 WHERE id = ?1";
    let Some(AlteredRoot { id, compiled, .. }) = altered(conn)? else { return Ok(Vec::new()) };
    conn.run(SET, params![id, compiled], "give a root its path back")?;
    Ok(vec![format!("a compile root is again `{compiled}`")])
}

/// Returns the one root that was altered.
fn altered(conn: &Connection) -> Result<Option<AlteredRoot>, StoreError> {
    const NEVER_COMPILED: &str = "
        SELECT id, path
          FROM root
         WHERE path NOT IN (SELECT compile_root FROM snapshot)";
    const COMPILED: &str = "
        SELECT DISTINCT compile_root
          FROM snapshot
         WHERE compile_root NOT IN (SELECT path FROM root) AND compile_root <> ''";
    const FILES: &str = "SELECT path FROM file WHERE root = ?1 AND NOT gone ORDER BY id";
    let doing = "look for an altered root";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let roots: Vec<(i64, String)> = conn.rows(NEVER_COMPILED, [], read, doing)?;
    let mut lost: Vec<(i64, String, Vec<String>)> = Vec::new();
    for (id, path) in roots {
        let files: Vec<String> = conn.rows(FILES, [id], |row| row.get(0), doing)?;
        // A redacted path cannot be looked up.
        if !path.contains(MARKER) && !has_most(&path, &files) {
            lost.push((id, path, files));
        }
    }
    let mut compiled: Vec<String> = conn.rows(COMPILED, [], |row| row.get(0), doing)?;
    compiled.retain(|it| is_folder(it));
    let ([(id, path, files)], [compiled]) = (&lost[..], &compiled[..]) else { return Ok(None) };
    Ok(has_most(compiled, files).then(|| AlteredRoot {
        id: *id,
        path: path.clone(),
        compiled: compiled.clone(),
    }))
}

/// Returns whether most of some files are in a folder.
fn has_most(folder: &str, files: &[String]) -> bool {
    let n_there = files.iter().filter(|it| Path::new(folder).join(it).is_file()).count();
    is_folder(folder) && files.len() < 2 * n_there
}

/// Returns whether a folder is gone. The path of a root that lies elsewhere is its name.
fn is_gone(path: &str) -> bool {
    Path::new(path).is_absolute() && !path.contains(MARKER) && !Path::new(path).is_dir()
}

fn is_folder(path: &str) -> bool {
    Path::new(path).is_absolute() && Path::new(path).is_dir()
}
