//! The program's own folder `.remindb/`: only its user enters it, and git passes its memories over.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Git's rules for the folder. Settings can be committed; memories, backups and logs cannot by
/// accident, nor can this file, which each machine makes for itself.
const GIT_RULES: &str = "\
# Made by remindb: git passes over memories, backups and logs, but not over settings.
*
!config.json
!ignore
!temperatures.json
";

/// Creates the folder at `path`, if it is missing, and git's rules in it.
///
/// The folder above it must exist. Rules that exist are kept as they are.
pub(crate) fn make_own_folder(path: &Path) -> io::Result<()> {
    make_private_folder(path)?;
    let rules = path.join(".gitignore");
    if fs::symlink_metadata(&rules).is_ok() {
        return Ok(());
    }
    match OpenOptions::new().write(true).create_new(true).open(&rules) {
        Ok(mut file) => file.write_all(GIT_RULES.as_bytes()),
        // Another process was quicker.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates a folder that only its user can enter, unless it exists.
pub(crate) fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(path) {
        // Another process may have been quicker.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}
