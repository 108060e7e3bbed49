//! Checks the paths of compiled folders, and restores altered ones from the snapshots of their
//! compiles.

use std::path::Path;

use rusqlite::{Connection, params};

use super::CheckStatus;
use crate::store::altered_roots::{AlteredRoot, altered_roots};
use crate::store::record::Root;
use crate::store::{PreparedStatements, StoreError, source_files};

/// Checks that compiles are of the roots that there are, and that these are on the disk.
pub(super) fn examine(conn: &Connection, _: &Path) -> Result<(CheckStatus, String), StoreError> {
    let altered: Vec<String> = altered_roots(conn)?
        .iter()
        .map(|it| format!("{}, which was compiled as {}", quoted(&it.path), quoted(&it.compiled)))
        .collect();
    match altered.is_empty() {
        true => stale_roots(conn),
        false => Ok((
            CheckStatus::Fail,
            format!("{} compile roots were altered: {}", altered.len(), altered.join("; ")),
        )),
    }
}

/// Warns of roots that are not on the disk.
fn stale_roots(conn: &Connection) -> Result<(CheckStatus, String), StoreError> {
    let roots = source_files::roots(conn)?;
    // A root with a redacted path cannot be looked up; the path of one elsewhere is its name.
    let is_gone = |root: &&Root| {
        let path = Path::new(&root.path);
        path.is_absolute() && !root.path.contains("«redacted:") && !path.is_dir()
    };
    let gone: Vec<&str> = roots.iter().filter(is_gone).map(|it| it.path.as_str()).collect();
    Ok(match gone.len() {
        0 => (CheckStatus::Pass, format!("{} compile roots present", roots.len())),
        n => {
            let what =
                format!("{n}/{} compile roots no longer exist: [{}]", roots.len(), gone.join(" "));
            (CheckStatus::Warn, what)
        }
    })
}

/// Gives altered roots the paths that they were compiled as.
pub(super) fn repair(conn: &Connection) -> Result<Vec<String>, StoreError> {
    const RESTORE: &str = "UPDATE root SET path = ?2 WHERE id = ?1";
    const RENAME: &str = "UPDATE snapshot SET compile_root = ?1 WHERE compile_root = ?2";
    const DOING: &str = "restore the path of a root";
    let mut notes = Vec::new();
    for altered in altered_roots(conn)? {
        let AlteredRoot { id, path, compiled, .. } = &altered;
        if is_snapshot_altered(&altered) {
            conn.run(RENAME, [path, compiled], DOING)?;
            notes.push(format!("a compile of {} is of {} again", quoted(compiled), quoted(path)));
        } else {
            conn.run(RESTORE, params![id, compiled], DOING)?;
            notes.push(format!("the root {} is {} again", quoted(path), quoted(compiled)));
        }
    }
    Ok(notes)
}

/// Returns whether the snapshot was altered rather than the root: others name the root, or it is
/// the only one, and its folder is not there, while the root's is.
fn is_snapshot_altered(altered: &AlteredRoot) -> bool {
    let is_there = |path: &str| Path::new(path).is_dir();
    altered.is_named
        || altered.n_snapshots == 1 && is_there(&altered.path) && !is_there(&altered.compiled)
}

fn quoted(path: &str) -> String {
    format!("`{}`", path.escape_debug())
}
