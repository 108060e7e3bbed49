//! Finds roots whose path somebody else altered: the snapshots of their compiles have it as it was.
//!
//! Every write keeps the two the same, so each snapshot of a compile names a root. Where one names
//! none, and there is a root a few characters apart, one of the two was altered: the root, if no
//! snapshot names it.

use rusqlite::{Connection, Row};

use super::{PreparedStatements, StoreError};

/// Most characters in which an altered path differs. Another folder differs in its length or in
/// more.
const ALTERED_CHARS_MAX: usize = 4;

/// A root, and another path that snapshots have of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AlteredRoot {
    pub(crate) id: i64,
    pub(crate) path: String,
    /// Whether other snapshots have the path of the root.
    pub(crate) is_named: bool,
    /// The folder that the snapshots are of.
    pub(crate) compiled: String,
    pub(crate) n_snapshots: i64,
}

/// Returns the roots with another path than snapshots of their compiles.
pub(crate) fn altered_roots(conn: &Connection) -> Result<Vec<AlteredRoot>, StoreError> {
    // With the sign, SQLite asks no index, which may be altered.
    const WITHOUT_ROOT: &str = "
        SELECT compile_root, count(*)
          FROM snapshot
         WHERE compile_root <> ''
           AND compile_root NOT IN (SELECT +path FROM root NOT INDEXED)
         GROUP BY compile_root";
    const ROOTS: &str = "
        SELECT id, path, path IN (SELECT compile_root FROM snapshot)
          FROM root NOT INDEXED
         ORDER BY id";
    let doing = "look for altered roots";
    let compiled: Vec<(String, i64)> =
        conn.rows(WITHOUT_ROOT, [], |row| Ok((row.get(0)?, row.get(1)?)), doing)?;
    if compiled.is_empty() {
        return Ok(Vec::new());
    }
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let roots: Vec<(i64, String, bool)> = conn.rows(ROOTS, [], read, doing)?;
    let mut altered = Vec::new();
    for (compiled, n_snapshots) in compiled {
        // A root that no snapshot names comes first.
        for is_named in [false, true] {
            let is_meant =
                |it: &&(i64, String, bool)| it.2 == is_named && is_like(&it.1, &compiled);
            let like: Vec<_> = roots.iter().filter(is_meant).collect();
            match &like[..] {
                [] => continue,
                [(id, path, _)] => {
                    let (id, path, compiled) = (*id, path.clone(), compiled.clone());
                    altered.push(AlteredRoot { id, path, is_named, compiled, n_snapshots });
                }
                // Nothing tells which one.
                _ => (),
            }
            break;
        }
    }
    Ok(altered)
}

/// Returns whether two paths differ in a few characters only.
fn is_like(one: &str, other: &str) -> bool {
    let n_chars = one.chars().count();
    let n_others = one.chars().zip(other.chars()).filter(|(a, b)| a != b).count();
    n_chars == other.chars().count() && n_others <= ALTERED_CHARS_MAX.min(n_chars / 2)
}
