//! A folder for files of one input, gone at its end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The folder.
pub(super) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    pub(super) fn new() -> ScratchFolder {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("remindb-fuzz-{}-{nth}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("there is room for a folder");
        ScratchFolder(folder)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

fn remove(folder: &Path) {
    // What stays is in the folder of temporary files.
    let _ = fs::remove_dir_all(folder);
}
