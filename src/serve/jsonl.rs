//! A log in a file of its own: one JSON value a line, below `.remindb/` of the source folder.
//!
//! The folder may come from somebody else's repository, so nothing is written through a link that
//! leads out of it, nor into what is no regular file. The file is the user's alone. One that is
//! full becomes `NAME.1`, whatever was called that before.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The program's own folder in a source folder.
const OWN_FOLDER: &str = ".remindb";

/// A file that lines are added to.
#[derive(Clone, Debug)]
pub(crate) struct Sink {
    /// The source folder.
    home: PathBuf,
    /// Folders below it, and the name of the file.
    folders: Vec<String>,
    name: String,
}

impl Sink {
    /// The file `name`, which may have folders before it, in the own folder of `home`.
    pub(crate) fn new(home: &Path, name: &str) -> Sink {
        let mut folders: Vec<String> = vec![OWN_FOLDER.to_owned()];
        folders.extend(name.split('/').map(str::to_owned));
        let name = folders.pop().unwrap_or_default();
        Sink { home: home.to_owned(), folders, name }
    }

    /// Adds a line. A file that would be larger than `bytes_max` with it is set aside first.
    pub(crate) fn append(&self, line: &str, bytes_max: u64) -> io::Result<()> {
        let home = self.home.canonicalize()?;
        let mut folder = home.clone();
        for name in &self.folders {
            folder.push(name);
            if fs::symlink_metadata(&folder).is_err() {
                DirBuilder::new().create(&folder)?;
            }
            folder = inside(&home, &folder)?;
        }
        let mut path = folder.join(&self.name);
        if fs::symlink_metadata(&path).is_ok() {
            path = inside(&home, &path)?;
            let metadata = fs::metadata(&path)?;
            if !metadata.is_file() {
                return Err(refused(&path, "is no file"));
            }
            let is_full = bytes_max < metadata.len().saturating_add(line.len() as u64 + 1);
            if 0 < metadata.len() && is_full {
                let mut aside = path.clone().into_os_string();
                aside.push(".1");
                fs::rename(&path, aside)?;
            }
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        // One write for the whole line, so that two processes do not mix theirs.
        options.open(&path)?.write_all(format!("{line}\n").as_bytes())
    }
}

/// The path without links, if it still lies below `home`.
fn inside(home: &Path, path: &Path) -> io::Result<PathBuf> {
    let full = path.canonicalize()?;
    if full.starts_with(home) { Ok(full) } else { Err(refused(path, "leads out of the folder")) }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::other(format!("`{}` {why}", path.display()))
}

#[cfg(test)]
mod tests;
