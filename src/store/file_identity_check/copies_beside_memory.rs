//! Lists the copies beside a memory that nothing else tells of, and that have what no redaction and
//! no deletion reaches: logs that a server kept, and what killed commands had not finished.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Copies that are named in a message, at most.
const NAMED_MAX: usize = 5;

/// The copies beside a memory, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopiesBesideMemory {
    /// The kept logs, and the drafts of copies of logs.
    kept_logs: Vec<PathBuf>,
    /// The drafts of commands, of the form `.NAME.….N.draft`, that no process holds, with their
    /// logs. The next command of the same kind uses them again or removes them.
    unfinished: Vec<PathBuf>,
}

impl CopiesBesideMemory {
    /// Lists the copies beside the memory at `path`.
    pub(crate) fn of(path: &Path) -> CopiesBesideMemory {
        let Ok(full) = path.canonicalize() else { return CopiesBesideMemory::default() };
        let name = full.file_name().unwrap_or_default().to_string_lossy();
        let (log, draft) = (format!("{name}-wal."), format!(".{name}."));
        let is_unfinished = |it: &Path| draft_of(it, &draft).is_some_and(is_left);
        CopiesBesideMemory {
            kept_logs: files_beside(&full, |it| name_of(it).starts_with(&log)),
            unfinished: files_beside(&full, is_unfinished),
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

/// Returns the files in the folder of a file that are wanted, in order.
fn files_beside(full: &Path, is_wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = full.parent().and_then(|it| fs::read_dir(it).ok()).into_iter().flatten();
    let paths = entries.flatten().map(|it| it.path());
    let mut found: Vec<PathBuf> = paths.filter(|it| it.is_file() && is_wanted(it)).collect();
    found.sort();
    found
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the draft to which a file belongs by its name: itself, or the one whose log it is.
fn draft_of(path: &Path, beginning: &str) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (rest, _) = name.strip_prefix(beginning)?.rsplit_once(".draft")?;
    let number = rest.rsplit('.').next().filter(|it| !it.is_empty())?;
    let is_numbered = number.bytes().all(|it| it.is_ascii_digit());
    is_numbered.then(|| path.with_file_name(format!("{beginning}{rest}.draft")))
}

/// Returns whether no process holds the draft, as far as the system tells.
fn is_left(draft: PathBuf) -> bool {
    let locked = File::open(draft).map(|it| it.try_lock_shared());
    !matches!(locked, Ok(Err(TryLockError::WouldBlock)))
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
