//! Names of roots, by which a root is the same one on every machine, and their places on this one.
//!
//! The path of a root that does not lie on this machine is its name.

use rusqlite::Connection;

use super::{PreparedStatements, StoreError};

/// Gives the root at a path a name, unless it has one; a name that is taken gets a number.
pub(super) fn name_root(conn: &Connection, path: &str, name: &str) -> Result<(), StoreError> {
    const NAME: &str = "
        UPDATE root
           SET name = iif(EXISTS (SELECT 1 FROM root WHERE name = ?2), ?2 || '-' || id, ?2)
         WHERE path = ?1 AND name IS NULL";
    conn.run(NAME, [path, name], "name a root").map(drop)
}

/// Names the roots that have no name yet, since no path is published.
pub(super) fn name_other_roots(conn: &Connection) -> Result<(), StoreError> {
    const NAME: &str = "UPDATE root SET name = 'root-' || id WHERE name IS NULL";
    conn.run(NAME, [], "name the roots").map(drop)
}

/// Returns the name of the root at a path.
pub(super) fn root_name_at(conn: &Connection, path: &str) -> Result<Option<String>, StoreError> {
    const NAME: &str = "SELECT name FROM root WHERE path = ?1 AND name IS NOT NULL";
    conn.find(NAME, [path], |row| row.get(0), "read a root's name")
}

/// Returns whether some root lies on other machines only.
pub(super) fn has_unplaced(conn: &Connection) -> Result<bool, StoreError> {
    conn.has("SELECT 1 FROM root WHERE path = name", [], "look for roots elsewhere")
}

/// Notes where a root of other machines lies on this one.
pub(super) fn place_root(conn: &Connection, path: &str, name: &str) -> Result<(), StoreError> {
    const PLACE: &str = "
        UPDATE root
           SET path = ?1
         WHERE name = ?2 AND path = ?2 AND NOT EXISTS (SELECT 1 FROM root WHERE path = ?1)";
    const RENAME: &str = "UPDATE snapshot SET compile_root = ?1 WHERE compile_root = ?2";
    if 0 < conn.run(PLACE, [path, name], "place a root")? {
        conn.run(RENAME, [path, name], "place a root")?;
    }
    Ok(())
}
