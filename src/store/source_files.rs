//! Queries of roots and files, on any connection.

use rusqlite::{Connection, Row};

use super::record::{FileId, FileRow, NodeRowId, Root, RootId};
use super::{PreparedStatements, StoreError, hashes_before_repairs};
use crate::model::identity::ContentHash;

/// Returns every compiled folder that has files, by path. Other roots keep their rows, since the
/// history and the fingerprint name a root by its number.
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

/// Returns the files of a root, by path.
pub(super) fn files(conn: &Connection, root: RootId) -> Result<Vec<FileRow>, StoreError> {
    const FILES: &str = "
        SELECT id, root, path, size, mtime, content_hash, error, gone
          FROM file
         WHERE root = ?1
         ORDER BY path";
    conn.rows(FILES, [root.0], FileRow::read, "list the files")
}

/// Returns the files of the root at a path, present or gone.
pub(super) fn files_at(conn: &Connection, root: &str) -> Result<Vec<FileRow>, StoreError> {
    const FIND: &str = "SELECT id FROM root WHERE path = ?1";
    let found = conn.find(FIND, [root], |row| row.get(0), "find a root")?;
    found.map_or(Ok(Vec::new()), |id| files(conn, RootId(id)))
}

/// Returns the row of a path in the root at a path.
pub(super) fn file_at(
    conn: &Connection,
    root: &str,
    path: &str,
) -> Result<Option<FileRow>, StoreError> {
    const FILE: &str = "
        SELECT file.id, root, file.path, size, mtime, content_hash, error, gone
          FROM root
          JOIN file ON file.root = root.id
         WHERE root.path = ?1 AND file.path = ?2";
    conn.find(FILE, [root, path], FileRow::read, "read a file's row")
}

/// The keys of a file's nodes, as the table `inside`.
macro_rules! nodes_of_file {
    () => {
        "
        WITH RECURSIVE inside (key) AS (
            SELECT key FROM node WHERE parent IS NULL AND file = ?1
            UNION ALL
            SELECT node.key FROM inside JOIN node ON node.parent = inside.key
        )"
    };
}

pub(super) use nodes_of_file;

/// Returns the hashes and bytes of the base texts of a file's nodes.
pub(super) fn file_texts(
    conn: &Connection,
    row: &FileRow,
) -> Result<Vec<(ContentHash, usize)>, StoreError> {
    const TEXTS: &str = concat!(
        nodes_of_file!(),
        "
        SELECT node.key, source_hash,
               CASE source_hash
                   WHEN content_hash THEN octet_length(content)
                   ELSE ifnull((SELECT octet_length(content) FROM blob WHERE hash = source_hash), 0)
               END
          FROM inside
         CROSS JOIN node ON node.key = inside.key
         WHERE source_hash IS NOT NULL"
    );
    let before = hashes_before_repairs::of_file(conn, row)?;
    let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get(1)?, row.get(2)?));
    let texts: Vec<(NodeRowId, String, i64)> =
        conn.rows(TEXTS, [row.id.0], read, "read the hashes of a file's texts")?;
    let known = texts.into_iter().filter_map(|(key, hash, n_bytes)| {
        let hash = before.get(&key).copied().or_else(|| ContentHash::parse(&hash))?;
        Some((hash, usize::try_from(n_bytes).unwrap_or(0)))
    });
    Ok(known.collect())
}

/// Returns the hashes of a file's texts that an agent forgot.
pub(super) fn forgotten_texts(
    conn: &Connection,
    file: FileId,
) -> Result<Vec<ContentHash>, StoreError> {
    const FORGOTTEN: &str = "SELECT source_hash FROM tombstone WHERE file = ?1";
    let read = |row: &Row<'_>| row.get::<_, String>(0);
    let hashes: Vec<String> = conn.rows(FORGOTTEN, [file.0], read, "read what was forgotten")?;
    Ok(hashes.iter().filter_map(|it| ContentHash::parse(it)).collect())
}

/// Returns the files in which an agent forgot something.
pub(super) fn files_with_forgotten(conn: &Connection) -> Result<Vec<FileId>, StoreError> {
    const FILES: &str = "SELECT DISTINCT file FROM tombstone";
    conn.rows(FILES, [], |row| row.get(0).map(FileId), "read what was forgotten")
}

/// A query of the files that no node lies in, to which conditions are added.
macro_rules! files_without_nodes {
    () => {
        "
            SELECT file.id
              FROM file
             WHERE NOT EXISTS (
                   SELECT 1 FROM node WHERE node.parent IS NULL AND node.file = file.id)"
    };
}

pub(super) use files_without_nodes;

/// Deletes a file without nodes, its names and what was forgotten of it.
pub(super) fn forget(conn: &Connection, file: FileId) -> Result<(), StoreError> {
    const DROP_TOMBSTONES: &str = "DELETE FROM tombstone WHERE file = ?1";
    const DROP: &str = "DELETE FROM file WHERE id = ?1";
    conn.run(DROP_TOMBSTONES, [file.0], "forget a file")?;
    conn.run(DROP, [file.0], "forget a file").map(drop)
}

/// The condition of a file whose row says nothing by itself: it was gone at the last look, or it
/// was read and has nothing that could be forgotten.
macro_rules! says_nothing {
    () => {
        "(gone OR error IS NULL
                  AND NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.file = file.id))"
    };
}

/// Deletes every file that is gone or empty and that no snapshot knows any more. One that is still
/// on the disk is new to the next compile.
pub(crate) fn forget_lost(conn: &Connection) -> Result<(), StoreError> {
    const LOST: &str = concat!(
        files_without_nodes!(),
        " AND ",
        says_nothing!(),
        "
               AND NOT EXISTS (
                   SELECT 1 FROM diff WHERE old_root = file.root AND old_path = file.path)"
    );
    let lost: Vec<FileId> = conn.rows(LOST, [], |row| row.get(0).map(FileId), "find lost files")?;
    lost.into_iter().try_for_each(|file| forget(conn, file))?;
    forget_lost_roots(conn)
}

/// Deletes every root without files that no snapshot knows.
pub(super) fn forget_lost_roots(conn: &Connection) -> Result<(), StoreError> {
    const DROP: &str = "
        DELETE FROM root
         WHERE NOT EXISTS (SELECT 1 FROM file WHERE file.root = root.id)
           AND NOT EXISTS (SELECT 1 FROM diff WHERE diff.old_root = root.id)
           AND NOT EXISTS (SELECT 1 FROM snapshot WHERE snapshot.compile_root = root.path)";
    conn.run(DROP, [], "forget roots").map(drop)
}

/// Returns the files that [`forget_lost`] may delete, as `root:path`.
#[cfg(test)]
pub(crate) fn gone_files(conn: &Connection) -> Vec<String> {
    const GONE: &str = concat!("SELECT root || ':' || path FROM file WHERE ", says_nothing!());
    conn.rows(GONE, [], |row| row.get(0), "list lost files").expect("it is sound")
}
