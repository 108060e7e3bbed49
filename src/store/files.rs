//! Questions about roots and files, for whoever has a connection.

use rusqlite::Connection;

use super::record::{FileRow, Root, RootId};
use super::{Prepared, StoreError};

/// Every compiled folder that has files, by path. Others are remembered, since the history and the
/// fingerprint name a root by its number.
pub(crate) fn roots(conn: &Connection) -> Result<Vec<Root>, StoreError> {
    const ROOTS: &str = "
        SELECT id, path
          FROM root
         WHERE EXISTS (SELECT 1 FROM file WHERE file.root = root.id AND NOT file.gone)
         ORDER BY path";
    conn.rows(
        ROOTS,
        [],
        |row| Ok(Root { id: RootId(row.get(0)?), path: row.get(1)? }),
        "list the roots",
    )
}

/// The files of a root, by path.
pub(super) fn files(conn: &Connection, root: RootId) -> Result<Vec<FileRow>, StoreError> {
    const FILES: &str = "
        SELECT id, root, path, size, mtime, content_hash, error, gone
          FROM file
         WHERE root = ?1
         ORDER BY path";
    conn.rows(FILES, [root.0], FileRow::read, "list the files")
}

/// The files of the root at that path, whether any of them is there or not.
pub(super) fn files_at(conn: &Connection, root: &str) -> Result<Vec<FileRow>, StoreError> {
    const FIND: &str = "SELECT id FROM root WHERE path = ?1";
    let found = conn.find(FIND, [root], |row| row.get(0), "find a root")?;
    found.map_or(Ok(Vec::new()), |id| files(conn, RootId(id)))
}
