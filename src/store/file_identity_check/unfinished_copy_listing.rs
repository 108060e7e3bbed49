//! Lists the unfinished copies that killed commands left beside a memory. The next command of the
//! same kind uses them again or removes them; until then, they have what no redaction reaches.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::kept_wal_copy_listing::shown_names;

/// Returns the unfinished copies beside the memory at `path`, with their logs, in order: drafts of
/// the form `.NAME.….N.draft` that no process holds.
pub(crate) fn unfinished_copies(path: &Path) -> Vec<PathBuf> {
    let Ok(full) = path.canonicalize() else { return Vec::new() };
    let (Some(folder), Some(name)) = (full.parent(), full.file_name()) else { return Vec::new() };
    let beginning = format!(".{}.", name.to_string_lossy());
    let is_copy = |it: &PathBuf| it.is_file() && draft_of(it, &beginning).is_some_and(is_left);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|it| it.path()).filter(is_copy).collect();
    found.sort();
    found
}

/// Names unfinished copies in a sentence that says what to do with them; `None` where there are
/// none.
pub(crate) fn named_unfinished_copies(copies: &[PathBuf]) -> Option<String> {
    let (are, them) = match copies.len() {
        0 => return None,
        1 => ("is an unfinished copy", "it"),
        _ => ("are unfinished copies", "them"),
    };
    Some(format!(
        "beside the memory {are} that may have what was redacted or deleted: {}; delete {them}, \
         unless a command is at work on {them}",
        shown_names(copies)
    ))
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
