//! Files that readers leave closed: the open databases of this process, their logs and indexes.
//!
//! Where a process closes any descriptor of a file, POSIX drops all locks that the process has on
//! it, also those of another descriptor. SQLite's locks keep other processes from deleting or
//! overwriting a log that is in use. So whoever reads files by their names, such as links in a
//! folder of notes, looks before opening one, and never closes what was opened all the same.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::mem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

/// Device and inode number, which no two files have in common, and the time when the file was made,
/// where the system has it: the number of a deleted file may be that of another soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileIdentity {
    pub(crate) device: u64,
    pub(crate) number: u64,
    /// Since the Unix epoch.
    pub(crate) born: Option<Duration>,
}

impl FileIdentity {
    #[cfg(unix)]
    pub(crate) fn of(metadata: &Metadata) -> FileIdentity {
        use std::os::unix::fs::MetadataExt;
        let born = metadata.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        FileIdentity { device: metadata.dev(), number: metadata.ino(), born }
    }

    /// Returns the same for all files: on other systems, an open file is neither deleted nor
    /// replaced, and keeps its locks.
    #[cfg(not(unix))]
    pub(crate) fn of(_: &Metadata) -> FileIdentity {
        FileIdentity { device: 0, number: 0, born: None }
    }
}

/// How many times each file is open with locks.
static LOCKED: Mutex<BTreeMap<FileIdentity, usize>> = Mutex::new(BTreeMap::new());

fn locked() -> MutexGuard<'static, BTreeMap<FileIdentity, usize>> {
    // Each change is one step.
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps readers from opening database files of this process, as long as it lives.
#[derive(Debug)]
pub(crate) struct OwnOpenDatabaseFiles(Vec<FileIdentity>);

impl OwnOpenDatabaseFiles {
    pub(crate) fn new(files: impl IntoIterator<Item = FileIdentity>) -> OwnOpenDatabaseFiles {
        let files =
            OwnOpenDatabaseFiles(if cfg!(unix) { files.into_iter().collect() } else { Vec::new() });
        let mut locked = locked();
        files.0.iter().for_each(|it| *locked.entry(*it).or_default() += 1);
        files
    }
}

impl Drop for OwnOpenDatabaseFiles {
    fn drop(&mut self) {
        let mut locked = locked();
        for file in &self.0 {
            if let Some(n) = locked.get_mut(file) {
                *n -= 1;
            }
        }
        locked.retain(|_, n| 0 < *n);
    }
}

/// Refuses a file that must not be opened.
pub(super) fn check_before_opening(file: FileIdentity) -> io::Result<()> {
    check(file, 1)
}

/// Refuses a locked file that has so many descriptors. One without is another that got the number
/// of a log that SQLite deleted.
fn check(file: FileIdentity, n_descriptors: usize) -> io::Result<()> {
    let is_locked = locked().contains_key(&file);
    match is_locked && has_descriptors(file, n_descriptors) {
        true => Err(io::Error::other("it is a file of an open memory")),
        false => Ok(()),
    }
}

/// Returns whether this process has so many descriptors of a file; true where no system tells.
pub(super) fn has_descriptors(file: FileIdentity, n: usize) -> bool {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return true };
    let found = entries.filter_map(|it| fs::metadata(it.ok()?.path()).ok());
    n <= found.filter(|it| FileIdentity::of(it) == file).count()
}

/// Returns the metadata of an opened file. One that took the place of another since the look is
/// refused and stays open until the process ends.
pub(super) fn check_opened(file: File) -> io::Result<(File, Metadata)> {
    let metadata = file.metadata()?;
    match check(FileIdentity::of(&metadata), 2) {
        Ok(()) => Ok((file, metadata)),
        Err(error) => {
            mem::forget(file);
            Err(error)
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use super::super::{open_below, open_regular, read_root_file};
    use super::*;

    #[test]
    fn no_reader_opens_a_locked_file_by_any_of_its_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("database"), "text").unwrap();
        fs::hard_link(path("database"), path("other name")).unwrap();
        symlink("database", path("link")).unwrap();
        let openings: [(&str, &dyn Fn() -> bool); 4] = [
            ("hard link", &|| open_below(folder.path(), Path::new("other name")).is_ok()),
            ("by its name", &|| open_below(folder.path(), Path::new("database")).is_ok()),
            ("named by the user", &|| open_regular(&path("link")).is_ok()),
            ("file of the root", &|| read_root_file(folder.path(), "link", 9).is_ok()),
        ];
        let open = File::open(path("database")).unwrap();
        let found = FileIdentity::of(&fs::metadata(path("database")).unwrap());
        let [one, two] = [(); 2].map(|()| OwnOpenDatabaseFiles::new([found]));
        openings.iter().for_each(|(how, opens)| assert!(!opens(), "{how}"));
        drop(one);
        openings.iter().for_each(|(how, opens)| assert!(!opens(), "{how}: it is open twice"));
        drop(two);
        openings.iter().for_each(|(how, opens)| assert!(opens(), "{how}"));
        let _of_closed = OwnOpenDatabaseFiles::new([found]);
        drop(open);
        openings.iter().for_each(|(how, opens)| assert!(opens(), "{how}: nobody has it open"));
    }
}
