//! Holds the plan of a compile: the root that owns the path, and the files that differ from their
//! rows.

use std::path::PathBuf;
use std::sync::Arc;

use crate::ingest::scan::{ScannedFile, SkippedPath};
use crate::settings::workspace::Workspace;
use crate::store::FileRow;

/// The work to do.
#[derive(Debug, Default)]
pub(super) struct CompilePlan {
    /// Path of the root that owns what is compiled.
    pub(super) root: String,
    /// What is compiled, as it is stored.
    pub(super) scope: CompileScope,
    /// What the root says.
    pub(super) workspace: Arc<Workspace>,
    /// Files to read: those that have a row first, then the new ones, each by path.
    pub(super) changed: Vec<ScannedFile>,
    /// How many of them, from the end, are new.
    pub(super) n_new: usize,
    /// Rows whose files are gone, emptied of their names or ignored now.
    pub(super) vanished: Vec<FileRow>,
    /// Files of roots further down that this root takes over, with their path here.
    pub(super) adopted: Vec<(FileRow, String)>,
    pub(super) oddities: Vec<SkippedPath>,
}

impl CompilePlan {
    pub(super) fn is_done(&self) -> bool {
        self.changed.is_empty() && self.vanished.is_empty() && self.adopted.is_empty()
    }
}

/// Where a path stands.
#[derive(Clone, Debug, Default)]
pub(super) struct CompileScope {
    pub(super) root: PathBuf,
    /// As it is stored.
    pub(super) root_text: String,
    /// Relative to the root; empty for the whole of it.
    pub(super) path: String,
}

impl CompileScope {
    pub(super) fn covers(&self, path: &str) -> bool {
        self.path.is_empty()
            || path == self.path
            || path.strip_prefix(&self.path).is_some_and(|rest| rest.starts_with('/'))
    }
}
