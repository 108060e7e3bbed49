//! Renames files without replacing any.

use std::io;
use std::path::Path;

/// Renames a file; fails where the new name is taken. Where the file system supports it, the file
/// never has two names, so that a kill leaves no link behind.
#[cfg(target_os = "linux")]
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems cannot.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => link_new(from, to),
        renamed => Ok(renamed?),
    }
}

/// Renames a file by linking and unlinking it.
#[cfg(not(target_os = "linux"))]
pub(super) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    link_new(from, to)
}

fn link_new(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no links.
        Err(_) => std::fs::rename(from, to),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_existing_file_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|it| dir.path().join(it));
        for rename in [rename_new, link_new] {
            fs::write(&one, "1").unwrap();
            rename(&one, &two).unwrap();
            assert!(!one.exists());
            fs::write(&one, "2").unwrap();
            let error = rename(&one, &two).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            assert_eq!(fs::read_to_string(&two).unwrap(), "1");
            fs::remove_file(&two).unwrap();
        }
    }
}
