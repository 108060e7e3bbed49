//! Ignore rules of a root: its own ignore file, and those of git by option.
//!
//! Nothing below an excluded folder is admitted, whatever a pattern says about it, and of several
//! files with a verdict on an entry the nearest one decides. The root's own file takes precedence
//! over git's.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{IGNORE_FILE, SkippedPath, read_root_file};
use crate::ingest::ignore_patterns::{Patterns, Verdict};

/// Maximum bytes of a root's own ignore file: each kilobyte takes some milliseconds to compile.
const OWN_BYTES_MAX: usize = 256 * 1024;

/// Maximum bytes of each of git's ignore files.
const GIT_BYTES_MAX: usize = 64 * 1024;

/// Whether git's own ignore files are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GitignoreMode {
    /// They are not read.
    #[default]
    Unread,
    /// The files in the root and in its folders are followed.
    Followed,
}

/// Whether files of source code are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CodeFiles {
    /// They are passed over.
    #[default]
    PassedOver,
    Read,
}

/// A root's ignore rules, with git's own semantics.
#[derive(Clone)]
pub(crate) struct IgnoreRules {
    pub(super) root: Arc<Path>,
    pub(super) code: CodeFiles,
    own: Patterns,
    git: Option<Arc<GitignoreFiles>>,
}

/// Git's ignore files.
#[derive(Default)]
struct GitignoreFiles {
    /// The files of the folders above the path that was asked about last, from the root down. A
    /// walk goes down before it goes on, so each is read once, and only a few are held.
    open: Mutex<Vec<GitignoreFile>>,
    skipped: Mutex<Vec<SkippedPath>>,
}

/// Git's ignore file of a folder.
struct GitignoreFile {
    /// The folder, relative to the root, with a `/` at its end unless it is empty.
    folder: String,
    patterns: Patterns,
}

impl IgnoreRules {
    /// Reads the rules of a root. A line that is no rule is reported and skipped; a file that
    /// cannot be read is an error, since following no rules would admit what it excludes.
    pub(crate) fn load(
        root: &Path,
        git: GitignoreMode,
    ) -> Result<(IgnoreRules, Vec<SkippedPath>), String> {
        let mut skipped = Vec::new();
        let own = match read_root_file(root, IGNORE_FILE, OWN_BYTES_MAX)? {
            Some(bytes) => patterns(IGNORE_FILE, &bytes, &mut skipped),
            None => Patterns::default(),
        };
        let git = (git == GitignoreMode::Followed).then(Arc::default);
        Ok((IgnoreRules { root: root.into(), code: CodeFiles::PassedOver, own, git }, skipped))
    }

    /// Returns the same rules for a folder whose source code is read, or is not.
    pub(crate) fn with_code(self, code: CodeFiles) -> IgnoreRules {
        IgnoreRules { code, ..self }
    }

    /// Returns whether `path` (relative to the root) or a folder above it is excluded.
    pub(crate) fn is_ignored(&self, path: &str, is_dir: bool) -> bool {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        !path.is_empty()
            && (above.into_iter().any(|folder| !self.admits(folder, true))
                || !self.admits(path, is_dir))
    }

    /// Returns whether an entry in an admitted folder is admitted, too.
    pub(super) fn admits(&self, path: &str, is_dir: bool) -> bool {
        let verdict = match self.own.verdict(path, is_dir) {
            Verdict::NoMatch => self.by_git(path, is_dir),
            verdict => verdict,
        };
        path.is_empty() || verdict != Verdict::Ignored
    }

    /// Returns the skipped lines of the ignore files of git that were read so far.
    pub(super) fn take_skipped_lines(&self) -> Vec<SkippedPath> {
        let Some(git) = &self.git else { return Vec::new() };
        std::mem::take(&mut *git.skipped.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn by_git(&self, path: &str, is_dir: bool) -> Verdict {
        let Some(git) = &self.git else { return Verdict::NoMatch };
        let mut open = git.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|it| path.starts_with(&it.folder));
        let n_known = open.len();
        let ends = path.match_indices('/').map(|(at, _)| at + 1);
        for end in std::iter::once(0).chain(ends).skip(n_known) {
            let folder = path[..end].to_owned();
            open.push(GitignoreFile { patterns: git.read(&self.root, &folder), folder });
        }
        let verdicts = open.iter().rev().map(|it| {
            let below = path.strip_prefix(it.folder.as_str()).unwrap_or(path);
            it.patterns.verdict(below, is_dir)
        });
        verdicts.into_iter().find(|it| *it != Verdict::NoMatch).unwrap_or(Verdict::NoMatch)
    }
}

impl GitignoreFiles {
    /// Returns the patterns of git's file in a folder.
    fn read(&self, root: &Path, folder: &str) -> Patterns {
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("{folder}.gitignore");
        match read_root_file(root, &name, GIT_BYTES_MAX) {
            Ok(Some(bytes)) => patterns(&name, &bytes, &mut skipped),
            Ok(None) => Patterns::default(),
            Err(what) => {
                let what = format!("{what}; it is passed over");
                skipped.push(SkippedPath { path: name, line: None, what });
                Patterns::default()
            }
        }
    }
}

fn patterns(name: &str, bytes: &[u8], skipped: &mut Vec<SkippedPath>) -> Patterns {
    let (patterns, bad) = Patterns::parse(&String::from_utf8_lossy(bytes));
    skipped.extend(bad.into_iter().map(|it| SkippedPath {
        path: name.to_owned(),
        line: Some(it.number),
        what: it.what,
    }));
    patterns
}
