//! Which entries of a root are let in: its own ignore file, and those of git by option.
//!
//! Nothing below an excluded folder is let in, whatever a pattern says about it, and of several
//! files that speak about an entry the nearest one decides. The root's own file speaks before
//! git's.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::{IGNORE_FILE, Oddity, own_file};
use crate::patterns::{Patterns, Verdict};

/// Bytes of an ignore file, at the most.
const IGNORE_BYTES_MAX: usize = 1024 * 1024;

/// Git's own ignore files, by which nothing is left out unless asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Gitignore {
    /// They mean nothing.
    #[default]
    Unread,
    /// Those in the root and in its folders are followed.
    Followed,
}

/// A root's ignore rules, with git's own semantics.
#[derive(Clone)]
pub(crate) struct Rules {
    pub(super) root: Arc<Path>,
    own: Patterns,
    git: Option<Arc<Nested>>,
}

/// Git's ignore files of the folders that were asked about.
#[derive(Default)]
struct Nested {
    folders: Mutex<HashMap<String, Patterns>>,
    oddities: Mutex<Vec<Oddity>>,
}

impl Rules {
    /// Reads the rules of a root. A line that is no rule is said and passed over; a file that
    /// cannot be read is an error, since following no rules would let in what it keeps out.
    pub(crate) fn load(root: &Path, git: Gitignore) -> Result<(Rules, Vec<Oddity>), String> {
        let mut oddities = Vec::new();
        let own = match own_file(root, IGNORE_FILE, IGNORE_BYTES_MAX)? {
            Some(bytes) => patterns(IGNORE_FILE, &bytes, &mut oddities),
            None => Patterns::default(),
        };
        let git = (git == Gitignore::Followed).then(Arc::default);
        Ok((Rules { root: root.into(), own, git }, oddities))
    }

    /// Whether `path` (relative to the root) or a folder above it is excluded.
    pub(crate) fn is_ignored(&self, path: &str, is_dir: bool) -> bool {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        !path.is_empty()
            && (above.into_iter().any(|folder| !self.admits(folder, true))
                || !self.admits(path, is_dir))
    }

    /// Whether an entry in a folder that was let in is, too.
    pub(super) fn admits(&self, path: &str, is_dir: bool) -> bool {
        let verdict = match self.own.verdict(path, is_dir) {
            Verdict::Silent => self.by_git(path, is_dir),
            verdict => verdict,
        };
        path.is_empty() || verdict != Verdict::Ignored
    }

    /// What was odd in git's files that were read so far.
    pub(super) fn take_oddities(&self) -> Vec<Oddity> {
        let Some(git) = &self.git else { return Vec::new() };
        std::mem::take(&mut *git.oddities.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn by_git(&self, path: &str, is_dir: bool) -> Verdict {
        let Some(git) = &self.git else { return Verdict::Silent };
        let mut folders = git.folders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        while let Some(end) = ends.pop() {
            let patterns = git.patterns(&mut folders, &self.root, &path[..end]);
            match patterns.verdict(&path[end + 1..], is_dir) {
                Verdict::Silent => (),
                verdict => return verdict,
            }
        }
        git.patterns(&mut folders, &self.root, "").verdict(path, is_dir)
    }
}

impl Nested {
    /// The patterns of git's file in a folder, read when it is first asked about.
    fn patterns<'a>(
        &self,
        folders: &'a mut HashMap<String, Patterns>,
        root: &Path,
        folder: &str,
    ) -> &'a Patterns {
        if !folders.contains_key(folder) {
            let mut oddities = self.oddities.lock().unwrap_or_else(PoisonError::into_inner);
            let name = if folder.is_empty() { String::new() } else { format!("{folder}/") };
            let name = format!("{name}.gitignore");
            let read = match own_file(root, &name, IGNORE_BYTES_MAX) {
                Ok(Some(bytes)) => patterns(&name, &bytes, &mut oddities),
                Ok(None) => Patterns::default(),
                Err(what) => {
                    let what = format!("{what}; it is passed over");
                    oddities.push(Oddity { path: name, line: None, what });
                    Patterns::default()
                }
            };
            folders.insert(folder.to_owned(), read);
        }
        &folders[folder]
    }
}

fn patterns(name: &str, bytes: &[u8], oddities: &mut Vec<Oddity>) -> Patterns {
    let (patterns, bad) = Patterns::parse(&String::from_utf8_lossy(bytes));
    oddities.extend(bad.into_iter().map(|it| Oddity {
        path: name.to_owned(),
        line: Some(it.number),
        what: it.what,
    }));
    patterns
}
