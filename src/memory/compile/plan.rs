//! The plan of a compile: the root that owns the path, and the changed files.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ingest::markdown_export_format::RootWithinExport;
use crate::ingest::scan::{PassedOverSummary, ScannedFile, SkippedPath};
use crate::model::identity::ContentHash;
use crate::settings::root_settings::RootSettings;
use crate::store::{FileId, FileRow, Root};

/// The work of a compile.
#[derive(Debug, Default)]
pub(super) struct CompilePlan {
    /// The stored path of the root.
    pub(super) root: String,
    /// The roots that the memory had.
    pub(super) roots: Vec<Root>,
    /// The compiled part of the root.
    pub(super) scope: CompileScope,
    /// The part of an export that the root is.
    pub(super) exported: Option<RootWithinExport>,
    /// The settings of the root.
    pub(super) workspace: Arc<RootSettings>,
    /// Files to read: known ones first, then new ones, each by path.
    pub(super) changed: Vec<ScannedFile>,
    /// Number of new files, at the end of the list.
    pub(super) n_new: usize,
    /// Rows whose files are deleted, renamed or ignored now.
    pub(super) vanished: Vec<FileRow>,
    /// Files of nested roots that this root takes over, with their paths here.
    pub(super) adopted: Vec<(FileRow, String)>,
    /// Forgotten texts whose files are not on the disk.
    pub(super) forgotten_in_absent: AbsentFilesByForgottenText,
    pub(super) skipped: Vec<SkippedPath>,
    pub(super) passed_over: PassedOverSummary,
}

impl CompilePlan {
    pub(super) fn is_done(&self) -> bool {
        self.changed.is_empty() && self.vanished.is_empty() && self.adopted.is_empty()
    }

    /// Returns whether one of the present roots is new, and within this one or around it. A file
    /// belongs to one root, so that the plan has to be made again.
    pub(super) fn is_overtaken(&self, roots: &[Root]) -> bool {
        let own = Path::new(&self.root);
        let is_known = |it: &&Root| it.path == self.root || self.roots.contains(it);
        let mut new = roots.iter().filter(|it| !is_known(it)).map(|it| Path::new(&it.path));
        new.any(|it| it.starts_with(own) || own.starts_with(it))
    }
}

/// Files that are not on the disk, by the texts that were forgotten in them.
pub(super) type AbsentFilesByForgottenText = HashMap<ContentHash, Vec<FileId>>;

/// A root and a path in it.
#[derive(Clone, Debug, Default)]
pub(super) struct CompileScope {
    pub(super) root: PathBuf,
    /// The path of the root, redacted as it is stored.
    pub(super) root_text: String,
    /// The path relative to the root; empty for the whole root.
    pub(super) path: String,
}

impl CompileScope {
    pub(super) fn covers(&self, path: &str) -> bool {
        self.path.is_empty()
            || path == self.path
            || path.strip_prefix(&self.path).is_some_and(|rest| rest.starts_with('/'))
    }
}
