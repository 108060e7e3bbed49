//! Lists the copies of logs that were kept beside a memory. Nothing else tells of them later, and
//! they have what no redaction and no deletion reaches.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the kept logs of the memory at `path` and the drafts of copies, in order.
pub(crate) fn kept_logs(path: &Path) -> Vec<PathBuf> {
    let Ok(full) = path.canonicalize() else { return Vec::new() };
    let (Some(folder), Some(name)) = (full.parent(), full.file_name()) else { return Vec::new() };
    let mut beginning = name.to_owned();
    beginning.push("-wal.");
    let is_of_log =
        |it: &PathBuf| it.file_name().is_some_and(|it| starts_with(it, &beginning)) && it.is_file();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|it| it.path()).filter(is_of_log).collect();
    found.sort();
    found
}

/// Names kept logs in a sentence that says what to do with them; `None` where there are none.
pub(crate) fn named_kept_logs(logs: &[PathBuf]) -> Option<String> {
    let (are, them) = match logs.len() {
        0 => return None,
        1 => ("is a kept log", "it"),
        _ => ("are kept logs", "them"),
    };
    let names = shown_names(logs);
    Some(format!(
        "beside the memory {are} that may have what was redacted or deleted: {names}; look whether \
         the memory lacks something that was written last, then delete {them}"
    ))
}

/// Returns the first few of some files as a list for a message.
pub(super) fn shown_names(files: &[PathBuf]) -> String {
    const NAMED_MAX: usize = 5;
    let mut names: Vec<String> =
        files.iter().take(NAMED_MAX).map(|it| format!("`{}`", it.display())).collect();
    if NAMED_MAX < files.len() {
        names.push(format!("{} more", files.len() - NAMED_MAX));
    }
    names.join(", ")
}

fn starts_with(name: &std::ffi::OsStr, beginning: &std::ffi::OsStr) -> bool {
    name.as_encoded_bytes().starts_with(beginning.as_encoded_bytes())
}
