//! Opens files that a user or another program names: regular ones, and nothing that must be waited
//! for.
//!
//! Opening a pipe waits for somebody who writes, and reading a device may never end. So a path is
//! looked at before it is opened, and what was opened is looked at again.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::path::Path;

use super::own_open_database_files::{
    FileIdentity, check_before_opening, check_opened, has_descriptors,
};

/// Opens a regular file; links are followed.
///
/// # Errors
///
/// There is none, it cannot be opened, it is something else, or a file of an open memory.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let irregular = || io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file");
    let looked = fs::metadata(path)?;
    if !looked.is_file() {
        return Err(irregular());
    }
    check_before_opening(FileIdentity::of(&looked))?;
    let mut options = File::options();
    options.read(true);
    // A pipe may have taken its place.
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let (file, metadata) = check_opened(options.open(path)?)?;
    if metadata.is_file() { Ok(file) } else { Err(irregular()) }
}

/// Opens a regular file of which this process has no descriptor: to close it drops no lock.
///
/// # Errors
///
/// It cannot be opened, it is open, or no system tells whether it is.
pub(crate) fn open_unless_open(path: &Path) -> io::Result<File> {
    match has_descriptors(FileIdentity::of(&fs::metadata(path)?), 1) {
        true => Err(io::Error::other("this process has it open")),
        false => open_regular(path),
    }
}

/// Opens a file that this program writes, trims or removes by itself: a regular one that has no
/// other name, so that it is no file of the user's.
///
/// # Errors
///
/// It cannot be opened, or it is a link, something else, or a file of an open memory.
pub(crate) fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match stat_own(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => (),
        found => check_before_opening(FileIdentity::of(&found?))?,
    }
    // A link or a pipe may have taken its place.
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::OpenOptionsExt;

        use rustix::fs::OFlags;
        options.custom_flags(OFlags::NONBLOCK.union(OFlags::NOFOLLOW).bits().cast_signed());
    }
    let (file, metadata) = check_opened(options.open(path)?)?;
    check_own(&metadata).map(|()| file)
}

/// Returns the metadata of such a file.
///
/// # Errors
///
/// There is none, or it is a link or something else.
pub(crate) fn stat_own(path: &Path) -> io::Result<Metadata> {
    let metadata = fs::symlink_metadata(path)?;
    check_own(&metadata).map(|()| metadata)
}

fn check_own(metadata: &Metadata) -> io::Result<()> {
    let refused = |why| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    #[cfg(unix)]
    let n_names = std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    let n_names = 1;
    match (metadata.is_file(), n_names) {
        (false, _) => refused("it is a link or no regular file"),
        (true, 0 | 1) => Ok(()),
        (true, _) => refused("it has other names (hard links)"),
    }
}

/// Returns the bytes of a regular file of at most `bytes_max`.
///
/// # Errors
///
/// It cannot be opened or read, or it is larger.
pub(crate) fn read_regular(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes_max < bytes.len() as u64 {
        let what = format!("it is larger than {bytes_max} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// Returns the text of a regular file of at most `bytes_max`.
///
/// # Errors
///
/// It cannot be opened or read, is larger, or is not UTF-8.
pub(crate) fn read_regular_text(path: &Path, bytes_max: u64) -> io::Result<String> {
    let bytes = read_regular(path, bytes_max)?;
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8"))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    #[test]
    fn only_regular_files_are_read_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, pipe] = ["file", "link", "pipe"].map(|it| dir.path().join(it));
        fs::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let read = |path: &Path, max| {
            read_regular_text(path, max).unwrap_or_else(|error| error.to_string())
        };
        assert_eq!(read(&file, 4), "text");
        assert_eq!(read(&link, 4), "text");
        assert_eq!(read(&file, 3), "it is larger than 3 bytes");
        for other in [pipe.as_path(), dir.path(), Path::new("/dev/zero")] {
            assert_eq!(read(other, 4), "it is no regular file", "{}", other.display());
        }
        fs::write(&file, b"\xff").unwrap();
        assert_eq!(read(&file, 4), "it is not UTF-8");
    }
}
