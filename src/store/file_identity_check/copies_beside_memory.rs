//! Lists the copies beside a memory that nothing else tells of, and that have what no redaction and
//! no deletion reaches: logs that a server kept, and what killed commands had not finished.

use std::fs::{self, File, TryLockError};
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::ingest::scan::open_regular;
use crate::store::database_path_check::COMPANIONS;

/// Copies that are named in a message, at most.
const NAMED_MAX: usize = 5;

/// The copies beside a memory, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopiesBesideMemory {
    /// The kept logs, and the drafts of copies of logs.
    kept_logs: Vec<PathBuf>,
    /// The drafts of commands, of the form `.NAME.N.draft`, that no process holds, with their logs.
    /// NAME is what a file or a folder was to be called, such as that of an export. The next
    /// command of the same kind uses them again or removes them.
    unfinished: Vec<PathBuf>,
}

impl CopiesBesideMemory {
    /// Lists the copies beside the memory at `path`.
    pub(crate) fn of(path: &Path) -> CopiesBesideMemory {
        let Ok(full) = path.canonicalize() else { return CopiesBesideMemory::default() };
        let name = full.file_name().unwrap_or_default().to_string_lossy();
        let log = format!("{name}-wal.");
        let is_kept_log = |it: &Path| it.is_file() && name_of(it).starts_with(&log);
        // The memory itself may have such a name.
        let is_unfinished =
            |it: &Path| draft_of(it).is_some_and(|draft| draft != full && is_left(it, &draft));
        CopiesBesideMemory {
            kept_logs: entries_beside(&full, is_kept_log),
            unfinished: entries_beside(&full, is_unfinished),
        }
    }

    /// Names the copies of each kind in a sentence that says what to do with them.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        let logs = told(&self.kept_logs, ("is a kept log", "are kept logs"), |them| {
            format!(
                "look whether the memory lacks something that was written last, then delete {them}"
            )
        });
        let copies =
            told(&self.unfinished, ("is an unfinished copy", "are unfinished copies"), |them| {
                format!("delete {them}, unless a command is at work on {them}")
            });
        [logs, copies].into_iter().flatten()
    }

    /// Returns the paths of each kind, by its name in JSON.
    pub(crate) fn to_json(&self) -> [(&'static str, Value); 2] {
        let paths = |of: &[PathBuf]| of.iter().map(|it| it.to_string_lossy()).collect();
        [("kept_logs", paths(&self.kept_logs)), ("unfinished_copies", paths(&self.unfinished))]
    }
}

/// Returns what is wanted of the folder of a file, in order.
fn entries_beside(full: &Path, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = full.parent().and_then(|it| fs::read_dir(it).ok()).into_iter().flatten();
    let paths = entries.flatten().map(|it| it.path());
    let mut found: Vec<PathBuf> = paths.filter(|it| is_wanted(it)).collect();
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the draft to which an entry belongs by its name: itself, or the one whose log it is.
fn draft_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let draft = COMPANIONS.iter().find_map(|it| name.strip_suffix(it)).unwrap_or(name);
    let (of, number) = draft.strip_prefix('.')?.strip_suffix(".draft")?.rsplit_once('.')?;
    let is_numbered = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    (is_numbered && !of.is_empty()).then(|| path.with_file_name(draft))
}

/// Returns whether an entry is a file or a folder whose draft no process holds, as far as the
/// system tells.
fn is_left(entry: &Path, draft: &Path) -> bool {
    let kind = |it: &Path| it.symlink_metadata().map(|it| it.file_type());
    if !kind(entry).is_ok_and(|it| it.is_file() || it.is_dir()) {
        return false;
    }
    let opened = match kind(draft) {
        Ok(it) if it.is_dir() => File::open(draft),
        Ok(it) if !it.is_file() => return false,
        _ => open_regular(draft),
    };
    match opened {
        Ok(it) => !matches!(it.try_lock_shared(), Err(TryLockError::WouldBlock)),
        // Only its log is left, or it is another user's.
        Err(error) if matches!(error.kind(), NotFound | PermissionDenied) => true,
        // Such as an open memory of that name.
        Err(_) => false,
    }
}

/// Returns a sentence about some files, the first few of which it names; `None` where there are
/// none.
fn told(
    files: &[PathBuf],
    (is_one, are_several): (&str, &str),
    advice: impl Fn(&str) -> String,
) -> Option<String> {
    let (are, them) = match files.len() {
        0 => return None,
        1 => (is_one, "it"),
        _ => (are_several, "them"),
    };
    let mut names: Vec<String> =
        files.iter().take(NAMED_MAX).map(|it| format!("`{}`", it.display())).collect();
    if NAMED_MAX < files.len() {
        names.push(format!("{} more", files.len() - NAMED_MAX));
    }
    let (names, advice) = (names.join(", "), advice(them));
    Some(format!(
        "beside the memory {are} that may have what was redacted or deleted: {names}; {advice}"
    ))
}
