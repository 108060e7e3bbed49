//! Looks up compiled files by their names among entities, and names them, in a write.

use rusqlite::{Row, params};
use serde_json::Value;

use super::Batch;
use crate::store::links::{entity_path, name_in_file, part_of_file, root_label};
use crate::store::node_columns::SqlTemplate;
use crate::store::reader::NODE_OF_FILE;
use crate::store::{NodeRecord, NodeRowId, PreparedStatements, RootId, StoreError};

/// The names of a node of a compiled file, the head of it or a part.
#[derive(Clone, Debug)]
pub(crate) struct FileNodeNames {
    pub(crate) root: RootId,
    /// Relative to its root.
    pub(crate) path: String,
    /// Its name among entities.
    pub(crate) own: String,
    /// Its path alone and with its root, and its line: names that others may have, too.
    pub(crate) further: Vec<String>,
    /// Whether there are other roots, which may have files of the same path.
    pub(crate) has_other_roots: bool,
}

impl Batch<'_> {
    /// Returns the node that represents the compiled file of that name among entities, and whether
    /// nothing else can have the name.
    pub(crate) fn node_of_file(
        &self,
        name: &str,
    ) -> Result<Option<(NodeRecord, bool)>, StoreError> {
        let read = |row: &Row<'_>| Ok((row.get::<_, Option<i64>>(0)?, row.get(1)?));
        match self.tx.find(NODE_OF_FILE, [name], read, "find a file's first node")? {
            Some((Some(key), is_own)) => Ok(self.at(NodeRowId(key))?.map(|it| (it, is_own))),
            _ => Ok(None),
        }
    }

    /// Returns the name of a node of a file among entities.
    pub(crate) fn name_in_file(&self, key: NodeRowId) -> Result<Option<String>, StoreError> {
        const NAME: &str =
            concat!("SELECT ", name_in_file!("n"), " FROM node AS n WHERE n.key = ?1");
        Ok(self.tx.find(NAME, [key.0], |row| row.get(0), "name a node of a file")?.flatten())
    }

    /// Returns all names of a node of a file.
    pub(crate) fn file_names(&self, key: NodeRowId) -> Result<Option<FileNodeNames>, StoreError> {
        const NAMES: &str = concat!(
            "
            SELECT root.id, file.path, ",
            entity_path!(),
            ", ",
            root_label!("root"),
            " || '/' || file.path, root.path || '/' || file.path, ",
            part_of_file!("n"),
            ", n.label, EXISTS (SELECT 1 FROM root AS other WHERE other.id <> root.id)
              FROM node AS n
              JOIN file ON file.id = n.file
              JOIN root ON root.id = file.root
             WHERE n.key = ?1"
        );
        let read = |row: &Row<'_>| {
            let text = |column: usize| row.get::<_, String>(column);
            let part = text(5)?;
            let own = text(2)? + &part;
            let mut further = vec![text(1)? + &part, text(3)? + &part, text(4)? + &part, text(6)?];
            further.retain(|it| *it != own);
            let (root, path) = (RootId(row.get(0)?), text(1)?);
            Ok(FileNodeNames { root, path, own, further, has_other_roots: row.get(7)? })
        };
        self.tx.find(NAMES, [key.0], read, "name a node of a file")
    }

    /// Returns those of some nodes that belong to compiled files.
    pub(crate) fn nodes_of_files(&self, ids: &[&str]) -> Result<Vec<NodeRecord>, StoreError> {
        static FIND: SqlTemplate = SqlTemplate::new(
            "
            SELECT {record}
              FROM json_each(?1) AS wanted
             CROSS JOIN node ON node.id = wanted.value
             WHERE node.file IS NOT NULL
             ORDER BY wanted.key",
        );
        self.records(&FIND, [Value::from(ids).to_string()], "look up nodes of files")
    }

    /// Returns the roots in which some nodes are in a file of that path, or were when they were
    /// removed.
    pub(crate) fn roots_of(&self, ids: &[&str], path: &str) -> Result<Vec<RootId>, StoreError> {
        const ROOTS: &str = "
            SELECT file.root
              FROM json_each(?1) AS wanted
             CROSS JOIN node ON node.id = wanted.value
             CROSS JOIN file ON file.id = node.file AND file.path = ?2
             UNION
            SELECT gone.old_root
              FROM json_each(?1) AS wanted
             CROSS JOIN diff AS gone ON gone.node_id = wanted.value
             WHERE gone.op = 'rem'
               AND gone.old_path = ?2
               AND NOT EXISTS (SELECT 1 FROM node WHERE node.id = wanted.value)";
        let params = params![Value::from(ids).to_string(), path];
        self.tx.rows(ROOTS, params, |row| row.get(0).map(RootId), "look up the roots of nodes")
    }
}
