//! A folder below `.remindb/`, entered with care.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The program's own folder in a source folder.
const OWN_FOLDER: &str = ".remindb";

/// Entries of a folder that are looked at.
const ENTRIES_MAX: usize = 100_000;

/// A folder that may not be there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LogFolder {
    /// The source folder.
    home: PathBuf,
    /// The way from there.
    names: Vec<String>,
}

impl LogFolder {
    /// The folder `name`, which may be several, in the own folder of `home`; the own folder itself
    /// is called nothing.
    pub(super) fn new(home: &Path, name: &str) -> LogFolder {
        let below = name.split('/').filter(|it| !it.is_empty());
        let names = [OWN_FOLDER].into_iter().chain(below).map(str::to_owned).collect();
        LogFolder { home: home.to_owned(), names }
    }

    /// Makes what is missing of it.
    pub(super) fn make(&self) -> io::Result<OpenFolder> {
        let home = self.home.canonicalize()?;
        let mut path = home.clone();
        for name in &self.names {
            path.push(name);
            if fs::symlink_metadata(&path).is_err() {
                let mut builder = DirBuilder::new();
                #[cfg(unix)]
                std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
                match builder.create(&path) {
                    // Another process may have been quicker.
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(error);
                    }
                    _ => (),
                }
            }
            path = inside(&home, &path)?;
        }
        Ok(OpenFolder { home, path })
    }

    /// Enters it, if it is there.
    pub(super) fn enter(&self) -> io::Result<Option<OpenFolder>> {
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
        Ok(Some(OpenFolder { home, path }))
    }
}

/// A folder that is there and lies where it should.
#[derive(Clone, Debug)]
pub(super) struct OpenFolder {
    home: PathBuf,
    path: PathBuf,
}

impl OpenFolder {
    /// Where a file of it is, links followed; `None` when it is not there.
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

    /// Opens a file to append to it, making it if need be.
    pub(super) fn append(&self, name: &str) -> io::Result<File> {
        let path = self.find(name)?.unwrap_or_else(|| self.path.join(name));
        private().append(true).create(true).read(true).open(path)
    }

    /// Opens a file to write it anew.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        let path = self.find(name)?.unwrap_or_else(|| self.path.join(name));
        private().write(true).create(true).truncate(true).open(path)
    }

    /// Gives a file another name; what was called so before is gone.
    pub(super) fn rename(&self, name: &str, new_name: &str) -> io::Result<()> {
        let Some(path) = self.find(name)? else {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        };
        let mut new_path = path.clone();
        new_path.set_file_name(new_name);
        fs::rename(path, new_path)
    }

    /// Removes a file, if it is there.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        self.find(name)?.map_or(Ok(()), fs::remove_file)
    }

    /// The names of its files that end in `ending`, without it, sorted.
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

/// Files that only the user can read.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// The path without links, if it still lies below `home`.
fn inside(home: &Path, path: &Path) -> io::Result<PathBuf> {
    let full = path.canonicalize()?;
    if full.starts_with(home) { Ok(full) } else { Err(refused(path, "leads out of the folder")) }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("`{}` {why}", path.display()))
}
