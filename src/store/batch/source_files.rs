//! Adds, updates, moves and removes the rows of roots and files in a write.

use rusqlite::params;

use super::{AgentEditOverwritten, Batch, DiffOp, SiblingGroup};
use crate::model::file_stat::FileStat;
use crate::model::identity::ContentHash;
#[cfg(feature = "shared")]
use crate::store::portable_root_names;
use crate::store::{ErrorContext, FileId, FileRow, PreparedStatements, Root, RootId, StoreError};

impl Batch<'_> {
    /// Returns the root of a path, added if there is none.
    #[cfg(test)]
    pub(crate) fn root(&self, path: &str) -> Result<RootId, StoreError> {
        self.root_with(path, None)
    }

    /// Returns the root of a path, added under a number if that is free.
    pub(crate) fn root_with(&self, path: &str, number: Option<i64>) -> Result<RootId, StoreError> {
        const ADD: &str = "
            INSERT INTO root (id, path)
            SELECT (SELECT ?2 WHERE NOT EXISTS (SELECT 1 FROM root WHERE id = ?2)), ?1
            WHERE true
            ON CONFLICT (path) DO NOTHING";
        const FIND: &str = "SELECT id FROM root WHERE path = ?1";
        self.tx.run(ADD, params![path, number], "note a root")?;
        #[cfg(feature = "shared")]
        if let Some(name) = self.root_name.as_ref().filter(|_| path == self.compile_root) {
            portable_root_names::name_root(self.tx, path, name)?;
        }
        self.tx.query_row(FIND, [path], |row| row.get(0)).map(RootId).doing("find a root")
    }

    /// Returns the roots that have files, by path.
    pub(crate) fn roots(&self) -> Result<Vec<Root>, StoreError> {
        crate::store::source_files::roots(self.tx)
    }

    /// Sets the name of the root that is compiled.
    #[cfg(feature = "shared")]
    pub(in crate::store) fn name_root(&mut self, name: Option<String>) {
        self.root_name = name;
    }

    /// Returns the files of a root, by path.
    #[cfg(test)]
    pub(crate) fn files(&self, root: RootId) -> Result<Vec<FileRow>, StoreError> {
        crate::store::source_files::files(self.tx, root)
    }

    /// Returns the row of a path in a root.
    pub(crate) fn file_row(&self, root: RootId, path: &str) -> Result<Option<FileRow>, StoreError> {
        const FILE: &str = "
            SELECT id, root, path, size, mtime, content_hash, error, gone
              FROM file
             WHERE root = ?1 AND path = ?2";
        self.tx.find(FILE, params![root.0, path], FileRow::read, "read a file's row")
    }

    /// Returns a file's row and the path of its root.
    pub(crate) fn file_and_root(
        &self,
        id: FileId,
    ) -> Result<Option<(FileRow, String)>, StoreError> {
        const FILE: &str = "
            SELECT file.id, root, file.path, size, mtime, content_hash, error, gone, root.path
              FROM file
              JOIN root ON root.id = file.root
             WHERE file.id = ?1";
        let read = |row: &rusqlite::Row<'_>| Ok((FileRow::read(row)?, row.get(8)?));
        self.tx.find(FILE, [id.0], read, "read a file's row")
    }

    /// Returns whether a file's row equals one read earlier, outside of this write.
    pub(crate) fn is_unchanged_file(&self, row: &FileRow) -> Result<bool, StoreError> {
        const FILE: &str = "
            SELECT id, root, path, size, mtime, content_hash, error, gone
              FROM file
             WHERE id = ?1";
        let found = self.tx.find(FILE, [row.id.0], FileRow::read, "read a file's row")?;
        Ok(found.as_ref() == Some(row))
    }

    /// Returns the rows that equal those read earlier, outside of this write.
    pub(crate) fn unchanged_files(&self, rows: &[FileRow]) -> Result<Vec<FileRow>, StoreError> {
        let mut unchanged = Vec::with_capacity(rows.len());
        for row in rows {
            if self.is_unchanged_file(row)? {
                unchanged.push(row.clone());
            }
        }
        Ok(unchanged)
    }

    /// Adds a file.
    pub(crate) fn add_file(
        &mut self,
        root: RootId,
        path: &str,
        stat: FileStat,
    ) -> Result<FileId, StoreError> {
        const ADD: &str = "INSERT INTO file (root, path, size, mtime) VALUES (?1, ?2, ?3, ?4)";
        let file = self
            .tx
            .prepare_cached(ADD)
            .and_then(|mut it| it.insert(params![root.0, path, stat.size, stat.mtime]))
            .map(FileId)
            .doing("note a file")?;
        self.dirty_refs.file_added(file);
        Ok(file)
    }

    /// Records a file's size and time, and the hash of its bytes or its error.
    pub(crate) fn note_stat(
        &self,
        file: FileId,
        stat: FileStat,
        outcome: Result<ContentHash, &str>,
    ) -> Result<(), StoreError> {
        const SEEN: &str = "
            UPDATE file
               SET size = ?2, mtime = ?3, content_hash = ifnull(?4, content_hash), error = ?5,
                   gone = 0
             WHERE id = ?1";
        let hash = outcome.ok().map(|it| it.to_string());
        self.tx
            .run(
                SEEN,
                params![file.0, stat.size, stat.mtime, hash, outcome.err()],
                "note a look at a file",
            )
            .map(drop)
    }

    /// Changes a file's root or path. Its top nodes have another parent then, which is a change.
    pub(crate) fn move_file(
        &mut self,
        file: &FileRow,
        root: RootId,
        path: &str,
    ) -> Result<(), StoreError> {
        const MOVE: &str = "UPDATE file SET root = ?2, path = ?3 WHERE id = ?1";
        let group = SiblingGroup::File(file.id);
        self.touch(group)?;
        for node in self.children(group)? {
            self.record(DiffOp::Mod, &node, Some(node.content_hash), AgentEditOverwritten::No)?;
            self.counts.modified += 1;
        }
        self.dirty_refs.file_renamed(file.id);
        self.tx.execute(MOVE, params![file.id.0, root.0, path]).map(drop).doing("move a file")
    }

    /// Moves all nodes and tombstones of a file to another one in which the same text reappeared.
    /// Its row stays until the file is marked as gone.
    pub(crate) fn merge_file(&mut self, from: FileId, into: FileId) -> Result<(), StoreError> {
        // What a rollback restored in the one is nothing that the other has, though it had it once.
        const RESTORED: &str = "
            DELETE FROM tombstone
             WHERE file = ?2
               AND node_id IN (SELECT id FROM node WHERE file = ?1 AND source_hash IS NULL)";
        const MOVE: &str = "UPDATE OR IGNORE tombstone SET file = ?2 WHERE file = ?1";
        const DROP: &str = "DELETE FROM tombstone WHERE file = ?1";
        self.tx.execute(RESTORED, [from.0, into.0]).doing("move a file's tombstones")?;
        for node in self.children(SiblingGroup::File(from))? {
            let place = self.last_place(Some(into), None)?;
            self.move_to(&node, place)?;
        }
        self.tx.execute(MOVE, [from.0, into.0]).doing("move a file's tombstones")?;
        self.tx.execute(DROP, [from.0]).doing("move a file's tombstones")?;
        // A node that exists needs no tombstone.
        for node in self.file_nodes(into)? {
            self.remove_tombstone(node.key)?;
        }
        Ok(())
    }

    /// Returns the file of a path, added as gone if it was unknown.
    pub(crate) fn file_at(&mut self, root: RootId, path: &str) -> Result<FileId, StoreError> {
        const ADD: &str = "
            INSERT INTO file (root, path, size, mtime, gone)
            VALUES (?1, ?2, 0, 0, 1)
            ON CONFLICT (root, path) DO NOTHING";
        const FIND: &str = "SELECT id FROM file WHERE root = ?1 AND path = ?2";
        let named = params![root.0, path];
        self.tx.run(ADD, named, "note a file")?;
        let file = self.tx.query_row(FIND, named, |row| row.get(0)).map(FileId);
        let file = file.doing("find a file")?;
        self.dirty_refs.file_renamed(file);
        Ok(file)
    }

    /// Returns whether a file was missing at the last compile.
    pub(super) fn is_gone(&self, file: FileId) -> Result<bool, StoreError> {
        const IS_GONE: &str = "SELECT gone FROM file WHERE id = ?1";
        self.tx.row(IS_GONE, [file.0], |row| row.get(0), "check whether a file is gone")
    }

    /// Marks a file as gone, and deletes its row unless nodes or tombstones refer to it.
    pub(crate) fn mark_file_gone(&mut self, file: FileId) -> Result<(), StoreError> {
        const LOSE: &str = "
            UPDATE file SET gone = 1, content_hash = NULL, error = NULL WHERE id = ?1";
        self.tx.execute(LOSE, [file.0]).doing("note that a file is gone")?;
        self.drop_file_if_gone(file)
    }

    pub(super) fn drop_file_if_gone(&mut self, file: FileId) -> Result<(), StoreError> {
        const IS_IDLE: &str = "
            SELECT 1
              FROM file
             WHERE id = ?1
               AND gone
               AND NOT EXISTS (
                   SELECT 1 FROM node WHERE node.parent IS NULL AND node.file = file.id)
               AND NOT EXISTS (SELECT 1 FROM tombstone WHERE tombstone.file = file.id)";
        const DROP: &str = "DELETE FROM file WHERE id = ?1";
        let is_idle = self.tx.has(IS_IDLE, [file.0], "find a file's nodes")?;
        if !is_idle {
            return Ok(());
        }
        self.dirty_refs.file_removed(self.tx, file)?;
        self.tx.execute(DROP, [file.0]).map(drop).doing("forget a file")
    }
}
