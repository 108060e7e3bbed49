//! Files by their path, as outputs show it.

use rusqlite::{Row, params};

use super::Reader;
use crate::store::links::file_head;
use crate::store::{ErrorStep, NodeKey, StoreError};

impl Reader {
    /// Returns the nodes that represent the files with a path, which is relative to their root or
    /// absolute, and their absolute paths.
    pub(crate) fn files_at(&self, path: &str) -> Result<Vec<(NodeKey, String)>, StoreError> {
        const AT: &str = concat!(
            "
            SELECT ",
            file_head!(),
            " AS first, root.path || '/' || file.path
              FROM root
             CROSS JOIN file ON file.root = root.id
                            AND file.path IN (?1, substr(?1, length(root.path) + 2))
             WHERE (file.path = ?1 OR root.path || '/' || file.path = ?1)
               AND first IS NOT NULL
             ORDER BY root.path"
        );
        let read = |row: &Row<'_>| Ok((NodeKey(row.get(0)?), row.get(1)?));
        self.all(AT, params![path], read).doing("find a file")
    }
}
