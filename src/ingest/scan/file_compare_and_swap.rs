//! Swaps, creates and removes files below a folder after comparing their bytes: whole, without
//! following a link, and never over bytes that nobody has seen.
//!
//! The new bytes are synced under another name in the same folder. On Linux the two names are then
//! exchanged in one step, and what came out is compared with what was expected: a file that a
//! person saved in between is put back. A kill leaves the old file or the new one, and perhaps a
//! draft, `.NAME.draft`. The next change of that file renames it to `.NAME.saved-N`, since it may
//! be such a version. No compile reads either; [`file_of_leftover`] finds them.

#[cfg(not(target_os = "linux"))]
#[path = "file_compare_and_swap/other_os.rs"]
mod system;
#[cfg(target_os = "linux")]
#[path = "file_compare_and_swap/linux.rs"]
mod system;

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::Path;

use super::open_nofollow;
use crate::model::file_stat::FileStat;

/// Bytes of a file that is changed, at most.
const CHANGED_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Returns the bytes of a file to be changed; the error says why it is left alone.
pub(crate) fn read_to_change(root: &Path, path: &str) -> Result<Vec<u8>, String> {
    let bad = |error: io::Error| match error.kind() {
        io::ErrorKind::NotADirectory => format!("{path} is behind a link"),
        _ => format!("{path} cannot be read: {error}"),
    };
    let opened = open_nofollow::open(root, Path::new(path)).map_err(bad)?;
    let file = opened.ok_or_else(|| format!("{path} is no regular file"))?;
    let mut bytes = Vec::new();
    file.take(CHANGED_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(bad)?;
    match bytes.len() as u64 <= CHANGED_BYTES_MAX {
        true => Ok(bytes),
        false => Err(format!("{path} is too large to be changed")),
    }
}

/// Replaces a file that still has the bytes `expected`; `None` if it has others by now.
pub(crate) fn replace_file(
    root: &Path,
    path: &str,
    (expected, bytes): (&[u8], &[u8]),
) -> io::Result<Option<FileStat>> {
    system::replace(root, path, (expected, bytes))
}

/// Creates a file, and the folder that it is in; `None` if there is something already.
pub(crate) fn create_file(root: &Path, path: &str, bytes: &[u8]) -> io::Result<Option<FileStat>> {
    system::create(root, path, bytes)
}

/// Removes a file that still has the bytes `expected`; returns whether it had.
pub(crate) fn remove_file(root: &Path, path: &str, expected: &[u8]) -> io::Result<bool> {
    system::remove(root, path, expected)
}

/// Returns the name of the file of which `full` is a draft or a saved version that a change left;
/// `None` where that is no such name, or a change in its folder is under way.
pub(super) fn file_of_leftover(full: &Path) -> Option<&str> {
    let (of, ending) = full.file_name()?.to_str()?.strip_prefix('.')?.rsplit_once('.')?;
    match ending.strip_prefix("saved-") {
        Some(nth) => nth.parse::<usize>().ok().map(|_| of),
        None if ending == "draft" => {
            let folder = File::open(full.parent()?).ok()?;
            let is_under_way = matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock));
            (!is_under_way && full.symlink_metadata().is_ok()).then_some(of)
        }
        None => None,
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_only_while_it_is_what_was_seen() {
        let dir = tempfile::tempdir().unwrap();
        let (root, full) = (dir.path(), dir.path().join("a.md"));
        fs::write(&full, "old").unwrap();
        fs::set_permissions(&full, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(replace_file(root, "a.md", (b"other", b"new")).unwrap().is_none());
        assert_eq!(fs::read(&full).unwrap(), b"old");
        let stat = replace_file(root, "a.md", (b"old", b"new")).unwrap();
        assert_eq!(stat, super::super::stat_file(&full).unwrap());
        assert_eq!(fs::read(&full).unwrap(), b"new");
        assert_eq!(fs::metadata(&full).unwrap().permissions().mode() & 0o777, 0o640);
        fs::hard_link(&full, root.join("b.md")).unwrap();
        replace_file(root, "a.md", (b"new", b"newer")).unwrap_err();
        assert!(replace_file(root, "none.md", (b"", b"new")).unwrap().is_none());
        fs::remove_file(root.join("a.md")).unwrap();
        assert!(replace_file(root, "b.md", (b"new", b"newer")).unwrap().is_some());
        let mut names: Vec<_> =
            fs::read_dir(root).unwrap().map(|it| it.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["b.md"]);
    }

    #[test]
    fn what_a_change_left_is_told_from_one_under_way() {
        let dir = tempfile::tempdir().unwrap();
        let beside = |name: &str| {
            let full = dir.path().join(name);
            fs::write(&full, "theirs").unwrap();
            file_of_leftover(&full).map(str::to_owned)
        };
        for name in [".a.md.draft", ".a.md.saved-1", ".a.md.saved-12"] {
            assert_eq!(beside(name).as_deref(), Some("a.md"), "{name}");
        }
        for name in ["a.md", ".a.md", "a.md.draft", ".draft", ".a.md.saved-", ".a.md.saved-x"] {
            assert_eq!(beside(name), None, "{name}");
        }
        let folder = File::open(dir.path()).unwrap();
        folder.lock().unwrap();
        assert_eq!(beside(".a.md.draft"), None);
        drop(folder);
        assert_eq!(file_of_leftover(&dir.path().join(".b.md.draft")), None);
    }

    #[test]
    fn nothing_is_written_through_a_link_or_over_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let [root, outside] = ["root", "outside"].map(|it| dir.path().join(it));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("a.md"), "outside").unwrap();
        symlink(&outside, root.join("agents")).unwrap();
        symlink(outside.join("a.md"), root.join("a.md")).unwrap();
        create_file(&root, "agents/b.md", b"new").unwrap_err();
        assert!(replace_file(&root, "a.md", (b"outside", b"new")).unwrap().is_none());
        replace_file(&root, "agents/a.md", (b"outside", b"new")).unwrap_err();
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        assert_eq!(fs::read(outside.join("a.md")).unwrap(), b"outside");
        fs::remove_file(root.join("agents")).unwrap();
        assert!(create_file(&root, "agents/b.md", b"new").unwrap().is_some());
        assert!(create_file(&root, "agents/b.md", b"newer").unwrap().is_none());
        assert_eq!(fs::read(root.join("agents/b.md")).unwrap(), b"new");
        assert_eq!(fs::read_dir(root.join("agents")).unwrap().count(), 1);
    }
}
