//! Opens a file of an open database once more, to read what SQLite does not show.
//!
//! Closing it would drop the locks that SQLite has on it. So it stays open until the process ends.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

#[cfg(target_os = "linux")]
use super::unlinked_wal_rescue::descriptor_of;
use super::{OpenedFiles, lock};
use crate::ingest::scan::FileIdentity;

static LEFT_OPEN: Mutex<BTreeMap<FileIdentity, Arc<File>>> = Mutex::new(BTreeMap::new());

impl OpenedFiles {
    /// Returns the open database, log or index, whatever its name leads to by now (on Linux).
    pub(super) fn open_again(&self, nth: usize) -> io::Result<Arc<File>> {
        let gone = || io::Error::from(io::ErrorKind::NotFound);
        let file = self.opened[nth].ok_or_else(gone)?;
        let mut left_open = lock(&LEFT_OPEN);
        if let Some(known) = left_open.get(&file) {
            return Ok(Arc::clone(known));
        }
        #[cfg(target_os = "linux")]
        let path = descriptor_of(file)?.ok_or_else(gone)?;
        #[cfg(not(target_os = "linux"))]
        let path = self.name(nth);
        let opened = Arc::new(File::open(path)?);
        let found = FileIdentity::of(&opened.metadata()?);
        left_open.insert(found, Arc::clone(&opened));
        if found == file { Ok(opened) } else { Err(gone()) }
    }
}
