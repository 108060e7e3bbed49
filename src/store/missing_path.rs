//! Decides whether a path surely has nothing, so that a new file may be made there.

use std::io::ErrorKind;
use std::path::Path;

/// Returns whether nothing has this name, which the system has to say: a link to nothing is
/// something, and so may be what this user cannot look at.
pub(crate) fn is_missing(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            // Behind a folder that is a link to nothing, nothing can be looked up.
            path.parent().is_none_or(|it| !it.is_symlink() || it.exists())
        }
        _ => false,
    }
}
