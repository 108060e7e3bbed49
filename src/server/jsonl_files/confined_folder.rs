//! A folder below `.remindb/`, entered only if no link leads out of it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::server::remindb_folder::{OWN_FOLDER, make_own_folder, make_private_folder};

/// Maximum entries of a folder that are listed.
const ENTRIES_MAX: usize = 100_000;

/// A folder that may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogFolderPath {
    /// The source folder.
    home: PathBuf,
    /// Names of folders on the way from there.
    names: Vec<String>,
}

impl LogFolderPath {
    /// Returns the folder `name`, which may be several, in the own folder of `home`. An empty name
    /// is the own folder itself.
    pub(super) fn new(home: &Path, name: &str) -> LogFolderPath {
        let below = name.split('/').filter(|it| !it.is_empty());
        let names = [OWN_FOLDER].into_iter().chain(below).map(str::to_owned).collect();
        LogFolderPath { home: home.to_owned(), names }
    }

    /// Creates the missing folders.
    pub(super) fn make(&self) -> io::Result<ConfinedFolder> {
        let home = self.home.canonicalize()?;
        let mut path = home.clone();
        for name in &self.names {
            path.push(name);
            if fs::symlink_metadata(&path).is_err() {
                match name.as_str() {
                    OWN_FOLDER => make_own_folder(&path)?,
                    _ => make_private_folder(&path)?,
                }
            }
            path = inside(&home, &path)?;
        }
        Ok(ConfinedFolder { home, path })
    }

    /// Opens the folder, if it exists.
    pub(super) fn enter(&self) -> io::Result<Option<ConfinedFolder>> {
        let home = match self.home.canonicalize() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            home => home?,
        };
        let mut path = home.clone();
        for name in &self.names {
            path.push(name);
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                found => found?,
            };
            path = inside(&home, &path)?;
        }
        Ok(Some(ConfinedFolder { home, path }))
    }
}

/// An existing folder that is confined to its home.
#[derive(Clone, Debug)]
pub(super) struct ConfinedFolder {
    home: PathBuf,
    path: PathBuf,
}

impl ConfinedFolder {
    /// Returns the path of a file in it, links followed; `None` if it does not exist.
    pub(super) fn find(&self, name: &str) -> io::Result<Option<PathBuf>> {
        let path = self.path.join(name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            found => found?,
        };
        let path = inside(&self.home, &path)?;
        match fs::metadata(&path)?.is_file() {
            true => Ok(Some(path)),
            false => Err(refused(&path, "is no file")),
        }
    }

    /// Opens a file to append to it, creating it if need be.
    pub(super) fn append(&self, name: &str) -> io::Result<File> {
        let path = self.find(name)?.unwrap_or_else(|| self.path.join(name));
        private().append(true).create(true).read(true).open(path)
    }

    /// Opens a file to rewrite it.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let path = self.find(name)?.unwrap_or_else(|| self.path.join(name));
        private().write(true).create(true).truncate(true).open(path)
    }

    /// Renames a file, replacing another one.
    pub(super) fn rename(&self, name: &str, new_name: &str) -> io::Result<()> {
        let Some(path) = self.find(name)? else {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        };
        let mut new_path = path.clone();
        new_path.set_file_name(new_name);
        fs::rename(path, new_path)
    }

    /// Removes a file, if it exists.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        self.find(name)?.map_or(Ok(()), fs::remove_file)
    }

    /// Returns the sorted names of its files that end in `ending`, without it.
    pub(super) fn stems(&self, ending: &str) -> io::Result<Vec<String>> {
        let mut stems = Vec::new();
        for entry in fs::read_dir(&self.path)?.take(ENTRIES_MAX) {
            let name = entry?.file_name();
            let stem = name.to_str().and_then(|it| it.strip_suffix(ending));
            stems.extend(stem.map(str::to_owned));
        }
        stems.sort_unstable();
        Ok(stems)
    }
}

/// Returns options for files that only the user can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Returns the path without links, if it is still below `home`.
fn inside(home: &Path, path: &Path) -> io::Result<PathBuf> {
    let full = path.canonicalize()?;
    if full.starts_with(home) { Ok(full) } else { Err(refused(path, "leads out of the folder")) }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("`{}` {why}", path.display()))
}
