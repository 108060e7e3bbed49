//! A folder below another one that is reached without a link, and its regular files.
//!
//! The folders may come from a stranger: a link on the way, or in place of a file, would have this
//! program write to, trim or remove a file of its user. On Linux, each folder is looked up from the
//! descriptor of the one above it, so that no other can take its place.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ingest::scan::{self, OWN_FOLDER};
use crate::server::remindb_folder::{make_own_folder, make_private_folder};

/// Maximum entries of a folder that are listed.
const ENTRIES_MAX: usize = 100_000;

/// A folder that may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfinedFolderPath {
    /// The source folder.
    home: PathBuf,
    /// Names of folders on the way from there.
    names: Vec<String>,
}

impl ConfinedFolderPath {
    /// Returns the folder at `path`, whose segments are names, in `home`.
    pub(crate) fn new(home: &Path, path: &str) -> ConfinedFolderPath {
        let names = path.split('/').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        ConfinedFolderPath { home: home.to_owned(), names }
    }

    /// Returns the folder `name`, which may be several, in the own folder of `home`. An empty name
    /// is the own folder itself.
    pub(super) fn own(home: &Path, name: &str) -> ConfinedFolderPath {
        ConfinedFolderPath::new(home, &format!("{OWN_FOLDER}/{name}"))
    }

    /// Creates the missing folders.
    pub(crate) fn make(&self) -> io::Result<ConfinedFolder> {
        let mut folder = ConfinedFolder::of(&self.home)?;
        for name in &self.names {
            folder = match folder.enter(name)? {
                Some(folder) => folder,
                None => folder.make(name)?,
            };
        }
        Ok(folder)
    }

    /// Opens the folder, if it exists.
    pub(super) fn enter(&self) -> io::Result<Option<ConfinedFolder>> {
        let mut folder = match ConfinedFolder::of(&self.home) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            folder => folder?,
        };
        for name in &self.names {
            let Some(next) = folder.enter(name)? else { return Ok(None) };
            folder = next;
        }
        Ok(Some(folder))
    }
}

/// An existing folder that no link leads to.
#[derive(Clone, Debug)]
pub(crate) struct ConfinedFolder {
    /// Its path as it was found, for messages.
    path: PathBuf,
    /// A path that leads to this folder, whatever is renamed.
    open_path: PathBuf,
    /// Keeps the folder open.
    _folder: Option<Arc<File>>,
}

impl ConfinedFolder {
    fn of(home: &Path) -> io::Result<ConfinedFolder> {
        let home = home.canonicalize()?;
        ConfinedFolder::open(&home, &home)
    }

    /// Opens the folder that was found at `path`, by another path to it.
    #[cfg(target_os = "linux")]
    fn open(path: &Path, by: &Path) -> io::Result<ConfinedFolder> {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;

        const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW);
        let folder =
            File::options().read(true).custom_flags(FOLDER.bits().cast_signed()).open(by)?;
        let of_descriptor = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
        // A system that shows no descriptors leaves the path.
        let open_path = if of_descriptor.exists() { of_descriptor } else { path.to_owned() };
        Ok(ConfinedFolder { path: path.to_owned(), open_path, _folder: Some(Arc::new(folder)) })
    }

    #[cfg(not(target_os = "linux"))]
    fn open(path: &Path, _: &Path) -> io::Result<ConfinedFolder> {
        match fs::symlink_metadata(path)?.is_dir() {
            true => Ok(ConfinedFolder {
                path: path.to_owned(),
                open_path: path.to_owned(),
                _folder: None,
            }),
            false => Err(io::Error::from(io::ErrorKind::NotADirectory)),
        }
    }

    /// Opens a folder in it, if that exists.
    fn enter(&self, name: &str) -> io::Result<Option<ConfinedFolder>> {
        let path = self.path.join(name);
        match ConfinedFolder::open(&path, &self.open_path.join(name)) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(unused(&path, "it is a link or no folder"))
            }
            Err(error) => Err(unused(&path, error)),
        }
    }

    fn make(&self, name: &str) -> io::Result<ConfinedFolder> {
        match name {
            OWN_FOLDER => make_own_folder(&self.open_path.join(name))?,
            _ => make_private_folder(&self.open_path.join(name))?,
        }
        self.enter(name)?.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Returns the metadata of a file; `None` if it does not exist.
    pub(super) fn find(&self, name: &str) -> io::Result<Option<Metadata>> {
        match scan::stat_own(&self.open_path.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            found => found.map(Some).map_err(|error| unused(&self.path.join(name), error)),
        }
    }

    /// Opens a file to read it; `None` if it does not exist.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<File>> {
        match self.find(name)? {
            Some(_) => self.open_file(name, private().read(true)).map(Some),
            None => Ok(None),
        }
    }

    /// Opens a file to append to it, creating it if need be.
    pub(crate) fn append(&self, name: &str) -> io::Result<File> {
        self.open_file(name, private().append(true).create(true).read(true))
    }

    /// Creates a file, replacing another one.
    pub(super) fn create(&self, name: &str) -> io::Result<File> {
        self.remove(name)?;
        self.open_file(name, private().write(true).create_new(true))
    }

    fn open_file(&self, name: &str, options: &mut OpenOptions) -> io::Result<File> {
        scan::open_own(&self.open_path.join(name), options)
            .map_err(|error| unused(&self.path.join(name), error))
    }

    /// Renames a file, replacing another one.
    pub(super) fn rename(&self, name: &str, new_name: &str) -> io::Result<()> {
        if self.find(name)?.is_none() {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        self.find(new_name)?;
        fs::rename(self.open_path.join(name), self.open_path.join(new_name))
    }

    /// Removes a file, if it exists.
    pub(super) fn remove(&self, name: &str) -> io::Result<()> {
        self.find(name)?.map_or(Ok(()), |_| fs::remove_file(self.open_path.join(name)))
    }

    /// Returns the sorted names of its files that end in `ending`, without it.
    pub(super) fn stems(&self, ending: &str) -> io::Result<Vec<String>> {
        let mut stems = Vec::new();
        for entry in fs::read_dir(&self.open_path)?.take(ENTRIES_MAX) {
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

fn unused(path: &Path, why: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("`{}` is not used: {why}", path.display()))
}
