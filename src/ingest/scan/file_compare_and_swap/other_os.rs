//! Replaces, creates and removes files by their paths, which are checked before.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::super::stat_file;
use super::read_to_change;
use crate::model::file_stat::FileStat;

pub(super) fn replace(
    root: &Path,
    path: &str,
    (expected, bytes): (&[u8], &[u8]),
) -> io::Result<Option<FileStat>> {
    let (full, draft) = places(root, path)?;
    write(&draft, bytes)?;
    let replaced =
        replace_by(&draft, &full, || read_to_change(root, path).is_ok_and(|it| it == expected));
    if !matches!(replaced, Ok(true)) {
        fs::remove_file(&draft)?;
    }
    if replaced? { stat_file(&full) } else { Ok(None) }
}

/// Replaces a file by its draft if it is still what was seen; returns whether it was.
fn replace_by(draft: &Path, full: &Path, is_as_seen: impl Fn() -> bool) -> io::Result<bool> {
    fs::set_permissions(draft, fs::metadata(full)?.permissions())?;
    let is_as_seen = is_as_seen();
    if is_as_seen {
        fs::rename(draft, full)?;
    }
    Ok(is_as_seen)
}

pub(super) fn create(root: &Path, path: &str, bytes: &[u8]) -> io::Result<Option<FileStat>> {
    if let Some((folder, _)) = path.rsplit_once('/') {
        match fs::create_dir(root.join(folder)) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => (),
        }
    }
    let (full, draft) = places(root, path)?;
    write(&draft, bytes)?;
    let named = fs::hard_link(&draft, &full);
    fs::remove_file(&draft)?;
    match named {
        Ok(()) => stat_file(&full),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn remove(root: &Path, path: &str, expected: &[u8]) -> io::Result<bool> {
    let (full, _) = places(root, path)?;
    let is_it = read_to_change(root, path).is_ok_and(|it| it == expected);
    if is_it {
        fs::remove_file(full)?;
    }
    Ok(is_it)
}

/// Returns the full paths of a file and of its draft, in a folder that is behind no link.
fn places(root: &Path, path: &str) -> io::Result<(PathBuf, PathBuf)> {
    let root = root.canonicalize()?;
    let full = root.join(path);
    let folder = full.parent().unwrap_or(&root);
    if folder.canonicalize()? != folder {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let name = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let draft = full.with_file_name(format!(".{name}.draft"));
    Ok((full, draft))
}

fn write(draft: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(draft)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(draft);
    }
    written
}
