//! Safe edits of users' files: read whole, replaced whole, links followed only if safe.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh64::xxh64;

use crate::cli::CommandError;
use crate::ingest::scan;

/// Bytes of a settings file.
const FILE_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Copies of one file within one second.
const COPIES_MAX: usize = 100;

/// The readers of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NewFileMode {
    /// Everybody whom the user's mask allows.
    Usual,
    Owner,
}

/// The present state of a file.
#[derive(Clone, Debug)]
pub(super) struct CurrentFile {
    /// Its path, with links resolved.
    pub(super) path: PathBuf,
    /// Its text; `None` when it does not exist.
    pub(super) text: Option<String>,
}

pub(super) fn hash(text: &str) -> String {
    format!("{:016x}", xxh64(text.as_bytes(), 0))
}

/// Reads a file that may not exist. A link out of `inside` is refused.
pub(super) fn read(path: &Path, inside: Option<&Path>) -> Result<CurrentFile, CommandError> {
    let real = resolve(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => refused("follow", path, "it is a link that leads nowhere"),
        _ => failed("find", path, &error),
    })?;
    if let Some(inside) = inside {
        let inside = inside.canonicalize().map_err(|error| failed("find", inside, &error))?;
        if !real.starts_with(&inside) {
            let what = "it is a link that leads out of the project";
            return Err(refused("follow", path, what));
        }
    }
    let meta = match fs::metadata(&real) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(CurrentFile { path: real, text: None });
        }
        Err(error) => return Err(failed("read", path, &error)),
    };
    if !meta.is_file() {
        return Err(refused("read", path, "it is not a file"));
    }
    let mut bytes = Vec::new();
    let file = scan::open_regular(&real).map_err(|error| failed("read", path, &error))?;
    let read = file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed("read", path, &error))?;
    if FILE_BYTES_MAX < bytes.len() as u64 {
        return Err(refused("read", path, "it is larger than 32 MiB"));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(CurrentFile { path: real, text: Some(text) }),
        Err(_) => Err(refused("read", path, "it is not UTF-8")),
    }
}

/// Resolves links in the existing part of a path.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    let mut at = path;
    // A dangling link exists here, and is an error when it is resolved.
    while fs::symlink_metadata(at).is_err_and(|it| it.kind() == io::ErrorKind::NotFound) {
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else { break };
        missing.push(name);
        at = parent;
    }
    let mut real = at.canonicalize()?;
    real.extend(missing.iter().rev());
    Ok(real)
}

/// Fails when the file is read-only.
pub(super) fn check_writable(path: &Path) -> Result<(), CommandError> {
    match fs::metadata(path) {
        Ok(meta) if meta.permissions().readonly() => {
            Err(refused("change", path, "it is read-only; make it writable first"))
        }
        _ => Ok(()),
    }
}

/// Creates a folder and its parents; returns those created, outermost first.
pub(super) fn make_folders(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let missing = missing_folders(folder);
    fs::create_dir_all(folder).map_err(|error| failed("make", folder, &error))?;
    Ok(missing)
}

/// Returns the folders that [`make_folders`] would create.
pub(super) fn missing_folders(folder: &Path) -> Vec<PathBuf> {
    let missing = folder.ancestors().take_while(|it| fs::symlink_metadata(it).is_err());
    let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Copies a file beside itself under an unused name; returns the path.
pub(super) fn copy(path: &Path, text: &str, stamp: &str) -> Result<PathBuf, CommandError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for nth in 1..=COPIES_MAX {
        let nth = if nth == 1 { String::new() } else { format!("-{nth}") };
        let copy = path.with_file_name(format!("{name}.{stamp}{nth}.backup"));
        let opened = OpenOptions::new().write(true).create_new(true).open(&copy);
        match opened {
            Ok(file) => {
                fill(file, &copy, text, mode_of(path))?;
                return Ok(copy);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err(failed("write", &copy, &error)),
        }
    }
    Err(refused("copy", path, "too many copies of it are there"))
}

/// Replaces a file by `new` in one step, if its text is still `old`; it keeps its mode.
pub(super) fn replace(
    path: &Path,
    old: Option<&str>,
    new: &str,
    readers: NewFileMode,
) -> Result<(), CommandError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(format!(".{name}.{}.draft", std::process::id()));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if readers == NewFileMode::Owner {
        options.mode(0o600);
    }
    let file = options.open(&draft);
    let file = file.map_err(|error| failed("write beside", path, &error))?;
    let done = fill(file, path, new, mode_of(path))
        .and_then(|()| check_same(path, old))
        .and_then(|()| fs::rename(&draft, path).map_err(|error| failed("write", path, &error)));
    if done.is_err() {
        // The draft is ours, and useless from here on.
        let _ = fs::remove_file(&draft);
    }
    done
}

/// Removes a file, if its text is still `old`.
pub(super) fn remove(path: &Path, old: &str) -> Result<(), CommandError> {
    check_same(path, Some(old))?;
    fs::remove_file(path).map_err(|error| failed("remove", path, &error))
}

fn check_same(path: &Path, old: Option<&str>) -> Result<(), CommandError> {
    let now = match scan::read_regular(path, FILE_BYTES_MAX) {
        Ok(bytes) => Some(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read", path, &error)),
    };
    if now.as_deref() == old.map(str::as_bytes) {
        Ok(())
    } else {
        Err(refused("change", path, "somebody else just did; try again"))
    }
}

fn mode_of(path: &Path) -> Option<Permissions> {
    fs::metadata(path).ok().map(|it| it.permissions())
}

fn fill(
    mut file: File,
    path: &Path,
    text: &str,
    mode: Option<Permissions>,
) -> Result<(), CommandError> {
    let filled = match mode {
        // Set before the file has any content.
        Some(mode) => file.set_permissions(mode),
        None => Ok(()),
    };
    filled
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_all())
        .map_err(|error| failed("write", path, &error))
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> CommandError {
    CommandError::Because(format!("cannot {doing} `{}`: {error}", path.display()))
}

pub(super) fn refused(doing: &str, path: &Path, what: &str) -> CommandError {
    CommandError::Because(format!("cannot {doing} `{}`: {what}", path.display()))
}
