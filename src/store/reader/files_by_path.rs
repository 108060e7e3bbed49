//! Files by their path, as outputs show it.

use rusqlite::{Row, params};

use super::Reader;
use crate::store::links::{entity_path, file_head, root_label};
use crate::store::{ErrorContext, NodeRowId, Root, StoreError, source_files};

/// Finds the node that represents the file of a name among entities: a path relative to a root, the
/// eldest that has it, or one that begins with the name or the last folder of a root, or with its
/// whole path. Says also whether the name is a path below a root or the file's own.
pub(in crate::store) const NODE_OF_FILE: &str = concat!(
    "SELECT ",
    file_head!(),
    ", ?1 IN (file.path, ",
    entity_path!(),
    ")
      FROM root
     CROSS JOIN file ON file.root = root.id
                    AND file.path IN (?1, substr(?1, length(root.path) + 2),
                                      substr(?1, length(",
    root_label!("root"),
    ") + 2))
     WHERE file.gone = 0
       AND ?1 IN (file.path, root.path || '/' || file.path, ",
    root_label!("root"),
    " || '/' || file.path)
     ORDER BY file.path <> ?1, root.id
     LIMIT 1"
);

impl Reader {
    /// Returns the node that represents the file of that name among entities, and whether nothing
    /// else can have the name.
    pub(crate) fn node_of_file(&self, name: &str) -> Result<Option<(NodeRowId, bool)>, StoreError> {
        let read = |row: &Row<'_>| {
            let key = row.get::<_, Option<i64>>(0)?;
            Ok(key.map(NodeRowId).zip(row.get(1)?))
        };
        Ok(self.all(NODE_OF_FILE, [name], read).doing("find a file")?.pop().flatten())
    }

    /// Returns the nodes that represent the files with a path, and their absolute paths.
    ///
    /// The path is relative to a root, absolute, or else begins with the last folders of a root, as
    /// paths in a workspace do: `notes/a.md` for `a.md` of the root `/home/you/notes`.
    pub(crate) fn files_at(&self, path: &str) -> Result<Vec<(NodeRowId, String)>, StoreError> {
        let exact = self.files_below("", path)?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        let roots = source_files::roots(&self.conn)?;
        let is_end = |folders: &str| {
            let above = |it: &Root| it.path.strip_suffix(folders).map(|it| it.ends_with('/'));
            roots.iter().any(|it| above(it) == Some(true))
        };
        let longest = roots.iter().map(|it| it.path.len()).max().unwrap_or(0);
        let slashes = path.match_indices('/').map(|it| it.0).take_while(|it| *it < longest);
        for slash in slashes.filter(|it| 0 < *it && is_end(&path[..*it])) {
            let found = self.files_below(&path[..slash], &path[slash + 1..])?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        Ok(Vec::new())
    }

    /// Returns the files at `path` of the roots whose own path ends in `folders`; without folders,
    /// of every root, and the file with that absolute path.
    fn files_below(
        &self,
        folders: &str,
        path: &str,
    ) -> Result<Vec<(NodeRowId, String)>, StoreError> {
        const AT: &str = concat!(
            "
            SELECT ",
            file_head!(),
            " AS first, root.path || '/' || file.path
              FROM root
             CROSS JOIN file ON file.root = root.id
                            AND file.path IN (?2, substr(?2, length(root.path) + 2))
             WHERE CASE ?1 WHEN ''
                   THEN file.path = ?2 OR root.path || '/' || file.path = ?2
                   ELSE file.path = ?2 AND substr(root.path, -length(?1) - 1) = '/' || ?1 END
               AND first IS NOT NULL
             ORDER BY root.path"
        );
        let read = |row: &Row<'_>| Ok((NodeRowId(row.get(0)?), row.get(1)?));
        self.all(AT, params![folders, path], read).doing("find a file")
    }
}
