//! Opens files below a folder without following a link, whatever is renamed meanwhile.
//!
//! On Linux, each folder on the way is opened from the descriptor of the one above it, so that no
//! other can take its place. Elsewhere the path is checked after opening.

use std::fs::File;
use std::io;
use std::path::Path;

use super::own_open_database_files;

/// Opens the regular file at `path`, relative to `root`; `None` if there is something else, such as
/// a link. A link in place of a folder on the way is an error, and so is a file of an open memory.
#[cfg(target_os = "linux")]
pub(super) fn open(root: &Path, path: &Path) -> io::Result<Option<File>> {
    let Some(name) = path.file_name() else { return Err(leaves(path)) };
    open_in(&open_folder(root, path.parent().unwrap_or(Path::new("")))?, name)
}

/// Opens a folder at `path`, relative to `root`, to reach the files in it.
#[cfg(target_os = "linux")]
pub(super) fn open_folder(root: &Path, path: &Path) -> io::Result<rustix::fd::OwnedFd> {
    use std::path::Component;

    use rustix::fs::{CWD, Mode, OFlags, openat};

    const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
    let mut above = openat(CWD, root, FOLDER, Mode::empty())?;
    for segment in path.components() {
        let Component::Normal(name) = segment else { return Err(leaves(path)) };
        above = openat(&above, name, FOLDER.union(OFlags::NOFOLLOW), Mode::empty())?;
    }
    Ok(above)
}

/// Opens the regular file of a name in a folder; `None` if there is something else.
#[cfg(target_os = "linux")]
pub(super) fn open_in(
    folder: &rustix::fd::OwnedFd,
    name: &std::ffi::OsStr,
) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, openat};
    use rustix::io::Errno;

    use super::own_open_database_files::{FileIdentity, check_before_opening};

    // Such a descriptor reaches no content, and closing it drops no lock.
    const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
    let looked = File::from(openat(folder, name, LOOK, Mode::empty())?).metadata()?;
    check_before_opening(FileIdentity::of(&looked))?;
    // A pipe must not keep the caller waiting.
    const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);
    match openat(folder, name, FILE, Mode::empty()) {
        // A link, or a socket.
        Err(Errno::LOOP | Errno::NXIO) => Ok(None),
        opened => regular(File::from(opened?)),
    }
}

/// Opens the regular file at `path`, relative to `root`; `None` if there is something else.
#[cfg(not(target_os = "linux"))]
pub(super) fn open(root: &Path, path: &Path) -> io::Result<Option<File>> {
    let full = root.join(path);
    let looked = full.symlink_metadata()?;
    if !looked.is_file() {
        return Ok(None);
    }
    own_open_database_files::check_before_opening(own_open_database_files::FileIdentity::of(
        &looked,
    ))?;
    let file = File::open(&full)?;
    match full.canonicalize()? == root.canonicalize()?.join(path) {
        true => regular(file),
        false => Err(leaves(path)),
    }
}

fn regular(file: File) -> io::Result<Option<File>> {
    let (file, metadata) = own_open_database_files::check_opened(file)?;
    Ok(metadata.is_file().then_some(file))
}

fn leaves(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::NotADirectory, format!("`{}` leaves the folder", path.display()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns the text of a file, `none` where there is no regular one, or the kind of the error.
    fn text(root: &Path, path: &str) -> String {
        match open(root, Path::new(path)) {
            Ok(None) => "none".to_owned(),
            Ok(Some(mut file)) => {
                let mut text = String::new();
                file.read_to_string(&mut text).unwrap();
                text
            }
            Err(error) => format!("{:?}", error.kind()),
        }
    }

    #[test]
    fn no_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [root, outside] = ["root", "outside"].map(|it| folder.path().join(it));
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(outside.join("b")).unwrap();
        fs::write(root.join("a/b/note.md"), "inside").unwrap();
        fs::write(outside.join("b/note.md"), "outside").unwrap();
        assert_eq!(text(&root, "a/b/note.md"), "inside");
        symlink("b/note.md", root.join("a/link.md")).unwrap();
        assert_eq!(text(&root, "a/link.md"), "none");
        assert_eq!(text(&root, "a/b"), "none");
        assert_eq!(text(&root, "a/none.md"), "NotFound");
        assert_eq!(text(&root, "../outside/b/note.md"), "NotADirectory");
        assert_eq!(text(&root, outside.join("b/note.md").to_str().unwrap()), "NotADirectory");
        // The folder is swapped for a link.
        fs::rename(root.join("a"), root.join("old")).unwrap();
        symlink(&outside, root.join("a")).unwrap();
        assert_eq!(text(&root, "a/b/note.md"), "NotADirectory");
        symlink(outside.join("b"), root.join("old/c")).unwrap();
        assert_eq!(text(&root, "old/c/note.md"), "NotADirectory");
    }
}
