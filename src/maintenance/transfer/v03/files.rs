//! Imports the source files of an old database as rows with a root and a path below it.
//!
//! The old program stored a path for each node, and a root for each snapshot; a file's root is that
//! of the latest snapshot that touched one of its nodes. The rows have no content hash, so that the
//! next compile reads each file and aligns it with the nodes.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, params};

use super::SkippedCounts;
use super::rows;
use crate::maintenance::transfer::row_redaction::{ImportRedactor, PathScope};
use crate::store::{ErrorContext, FileId, RootId, StoreError};

/// The inserted row of a file of version 0.3, and its name in diffs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct V03InsertedFile {
    pub(super) id: FileId,
    pub(super) root: RootId,
    pub(super) path: String,
}

/// Imports the files of version 0.3 as they are asked for, each once.
pub(super) struct V03FileImporter<'a> {
    to: &'a Connection,
    /// The root of the latest snapshot that touched a file, by the stored path.
    roots: HashMap<String, String>,
    /// The root of the latest compile.
    latest: Option<String>,
    /// Files by stored path; `None` for a path that is no file.
    known: HashMap<String, Option<V03InsertedFile>>,
    n_rootless: u64,
}

impl<'a> V03FileImporter<'a> {
    pub(super) fn read(
        from: &Connection,
        to: &'a Connection,
    ) -> Result<V03FileImporter<'a>, StoreError> {
        let root = rows::columns(from, "snapshots", &[("compile_root", "''")])?;
        // For bare columns beside `max`, SQLite takes the row that has the maximum.
        let by_file = format!(
            "SELECT nodes.source_file, {root}, max(snapshots.id)
               FROM diffs
               JOIN snapshots ON snapshots.id = diffs.snapshot_id
               JOIN nodes ON nodes.id = diffs.node_id
              WHERE {root} <> ''
              GROUP BY nodes.source_file"
        );
        let latest = format!("SELECT {root} FROM snapshots WHERE {root} <> '' ORDER BY id DESC");
        let mut roots = HashMap::new();
        let mut query = from.prepare(&by_file).doing("read the old roots")?;
        let mut found = query.query([]).doing("read the old roots")?;
        while let Some(row) = found.next().doing("read the old roots")? {
            roots.insert(rows::word(row, 0)?, rows::word(row, 1)?);
        }
        let latest = from
            .query_row(&latest, [], |row| row.get::<_, String>(0))
            .optional()
            .doing("read the old roots")?;
        Ok(V03FileImporter { to, roots, latest, known: HashMap::new(), n_rootless: 0 })
    }

    /// Returns the row of a node's file; `None` for a node of an agent.
    pub(super) fn of(
        &mut self,
        source_file: &str,
        cleaner: &mut ImportRedactor<'_>,
    ) -> Result<Option<V03InsertedFile>, StoreError> {
        if let Some(known) = self.known.get(source_file) {
            return Ok(known.clone());
        }
        let file = self.find(source_file, cleaner)?;
        self.known.insert(source_file.to_owned(), file.clone());
        Ok(file)
    }

    fn find(
        &mut self,
        source_file: &str,
        cleaner: &mut ImportRedactor<'_>,
    ) -> Result<Option<V03InsertedFile>, StoreError> {
        const ROOT: &str = "
            INSERT INTO root (path) VALUES (?1)
            ON CONFLICT (path) DO UPDATE SET path = path
            RETURNING id";
        const FILE: &str = "
            INSERT INTO file (root, path, size, mtime) VALUES (?1, ?2, 0, 0)
            ON CONFLICT (root, path) DO UPDATE SET path = path
            RETURNING id";
        if source_file.is_empty() || source_file.starts_with("mcp:") {
            return Ok(None);
        }
        let Some(root) = self.roots.get(source_file).or(self.latest.as_ref()) else {
            self.n_rootless += 1;
            return Ok(None);
        };
        let (mut root, mut path) = place(root, source_file);
        cleaner.scrub_path(PathScope::Roots, &mut root);
        let root = self.to.query_row(ROOT, [root], |row| row.get(0).map(RootId));
        let root = root.doing("note a root")?;
        cleaner.scrub_path(PathScope::Files(Some(root.0)), &mut path);
        let id = self.to.query_row(FILE, params![root.0, path], |row| row.get(0).map(FileId));
        Ok(Some(V03InsertedFile { id: id.doing("note a file")?, root, path }))
    }

    /// Adds a note about paths that are no files.
    pub(super) fn note(&self, notes: &mut SkippedCounts) {
        for _ in 0..self.n_rootless {
            notes.add("files of no known folder: their nodes are kept as an agent's");
        }
    }
}

/// Returns a file's place: an absolute root, and a path below it.
fn place(root: &str, source_file: &str) -> (String, String) {
    let root = Path::new(root);
    let root = root.canonicalize().unwrap_or_else(|_| plain(root));
    let noted = source_file.replace('\\', "/");
    let full = plain(&root.join(&noted));
    // A single file was stored as it was typed, which is not always below its root.
    let name = Path::new(&noted).file_name();
    let typed = name.map(|name| root.join(name)).filter(|it| !full.exists() && it.is_file());
    let full = typed.unwrap_or(full);
    let (root, path) = match full.strip_prefix(&root) {
        Ok(path) if !path.as_os_str().is_empty() => (root.as_path(), path),
        _ => match (full.parent(), full.file_name()) {
            (Some(folder), Some(name)) => (folder, Path::new(name)),
            _ => (root.as_path(), Path::new(&noted)),
        },
    };
    (root.to_string_lossy().into_owned(), path.to_string_lossy().into_owned())
}

/// Returns a path without `.` and `..`, independently of the disk.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => (),
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests;
