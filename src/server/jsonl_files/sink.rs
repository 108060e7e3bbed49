//! A log file of one JSON value a line; a full one becomes `NAME.1`, replacing an older one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::symlink_free_subfolder::ConfinedFolderPath;

/// A file that lines are appended to.
#[derive(Clone, Debug)]
pub(crate) struct JsonlSink {
    folder: ConfinedFolderPath,
    name: String,
}

impl JsonlSink {
    /// Returns the file `name`, which may have folders before it, in the own folder of `home`.
    pub(crate) fn new(home: &Path, name: &str) -> JsonlSink {
        let (folder, name) = name.rsplit_once('/').unwrap_or(("", name));
        JsonlSink { folder: ConfinedFolderPath::own(home, folder), name: name.to_owned() }
    }

    /// Appends a line. The file is rotated first if it would exceed `bytes_max`.
    pub(crate) fn append(&self, line: &str, bytes_max: u64) -> io::Result<()> {
        let folder = self.folder.make()?;
        if let Some(metadata) = folder.find(&self.name)? {
            let n_bytes = metadata.len();
            let is_full = bytes_max < n_bytes.saturating_add(line.len() as u64 + 1);
            if 0 < n_bytes && is_full {
                folder.rename(&self.name, &format!("{}.1", self.name))?;
            }
        }
        add(&mut folder.append(&self.name)?, &format!("{line}\n"))
    }
}

/// Appends whole lines, also after a torn one. All of them are one write, so that two processes do
/// not mix theirs.
pub(super) fn add(file: &mut File, lines: &str) -> io::Result<()> {
    let mut last = [b'\n'];
    if 0 < file.seek(SeekFrom::End(0))? {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    match last {
        [b'\n'] => file.write_all(lines.as_bytes()),
        _ => file.write_all(format!("\n{lines}").as_bytes()),
    }
}

#[cfg(test)]
mod tests;
