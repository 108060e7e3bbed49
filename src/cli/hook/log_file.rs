//! The log of hooks: a line for each error, in the user's state folder.
//!
//! Only its owner can read it. It holds no prompt and no text of the memory. At its maximum size it
//! becomes the former log, in place of the one before.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::model::clock::UnixMillis;
use crate::text;

/// Bytes of the log.
const LOG_BYTES_MAX: u64 = 128 * 1024;

/// Characters of a line.
const LINE_CHARS_MAX: usize = 500;

/// The log, if there is a place for it.
pub(super) struct HookLog {
    path: Option<PathBuf>,
    now: UnixMillis,
}

impl HookLog {
    /// Returns the log below the state folder.
    pub(super) fn new(state: Option<&Path>, now: UnixMillis) -> HookLog {
        HookLog { path: state.map(|it| it.join("hook.log")), now }
    }

    /// Adds a line. A log that cannot be written is given up.
    pub(super) fn add(&self, line: &str) {
        let Some(path) = &self.path else { return };
        if let Some(folder) = path.parent() {
            make_private_folder(folder);
        }
        if fs::metadata(path).is_ok_and(|it| LOG_BYTES_MAX < it.len()) {
            let _ = fs::rename(path, path.with_extension("log.1"));
        }
        let line = text::fold_and_truncate(line, LINE_CHARS_MAX);
        let line = format!("{} {line}\n", self.now.to_second());
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        options.mode(0o600);
        let _ = options.open(path).and_then(|mut it| it.write_all(line.as_bytes()));
    }
}

/// Makes a folder that only its owner can read, unless it is there.
pub(super) fn make_private_folder(folder: &Path) {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    let _ = builder.create(folder);
}
