//! Checks the path of a database, and what has the names of its other files, before it is opened.

use std::io;
use std::path::Path;

use super::missing_path::is_missing;
use super::{IfMissing, StoreError, file_identity_check, unsafe_wal_open_refusal};
use crate::ingest::scan::open_unless_open;

/// The suffixes of a database's other files: its log, the log's index and a rollback journal.
pub(crate) const COMPANIONS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Checks the path before SQLite opens it.
///
/// A mistyped path creates nothing, and no log is made where others do not find it.
pub(crate) fn check_path(path: &Path, if_missing: IfMissing) -> Result<(), StoreError> {
    if path.as_os_str().is_empty() || path == Path::new(":memory:") {
        return Err(StoreError::Nowhere { path: path.to_owned() });
    }
    let found = std::fs::metadata(path);
    match (found, if_missing) {
        (Ok(it), _) if it.is_dir() => {
            Err(StoreError::Foreign { path: path.to_owned(), what: "a folder" })
        }
        (Ok(it), _) if !it.is_file() => {
            Err(StoreError::Foreign { path: path.to_owned(), what: "a pipe or a device" })
        }
        (Ok(it), _) => {
            check_companions(path)?;
            file_identity_check::check_links(path, &it)
        }
        (Err(error), IfMissing::Refuse) => {
            check_without_database(path, error)?;
            Err(StoreError::Missing { path: path.to_owned() })
        }
        (Err(error), IfMissing::Create) => {
            check_without_database(path, error)?;
            let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
            match folder {
                Some(folder) if !folder.is_dir() => {
                    Err(StoreError::NoFolder { path: folder.to_owned() })
                }
                _ => Ok(()),
            }
        }
    }
}

/// Checks the path of a database that is only read, as [`check_path`] does. One that has no log
/// may have several names.
pub(crate) fn check_path_to_read(path: &Path) -> Result<(), StoreError> {
    let is_single_file =
        || open_unless_open(path).and_then(|it| file_identity_check::is_of_no_log(&it));
    match check_path(path, IfMissing::Refuse) {
        Err(StoreError::Linked { .. }) if is_single_file().unwrap_or(false) => Ok(()),
        checked => checked,
    }
}

/// Refuses the path of no database where a log tells of one, or where one may be that cannot be
/// reached.
fn check_without_database(path: &Path, source: io::Error) -> Result<(), StoreError> {
    unsafe_wal_open_refusal::check_missing(path)?;
    // Another process may make it just now.
    if is_missing(path) || path.exists() {
        return Ok(());
    }
    let link = [Some(path), path.parent()].into_iter().flatten().find_map(|it| {
        let target = std::fs::read_link(it).ok()?;
        Some((it.to_owned(), target))
    });
    Err(StoreError::Unreachable { path: path.to_owned(), link, source })
}

/// Refuses what is no regular file under the names of a database's other files: to open a pipe
/// would wait without end, and SQLite follows no link.
fn check_companions(path: &Path) -> Result<(), StoreError> {
    let full = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    for suffix in COMPANIONS {
        let name = unsafe_wal_open_refusal::with_suffix(&full, suffix);
        if name.is_symlink() {
            return Err(StoreError::LinkedLog { name });
        }
        let what = match std::fs::metadata(&name) {
            Ok(it) if it.is_dir() => "a folder",
            Ok(it) if !it.is_file() => "a pipe or a device",
            _ => continue,
        };
        return Err(StoreError::StrangeLog { name, what });
    }
    Ok(())
}
