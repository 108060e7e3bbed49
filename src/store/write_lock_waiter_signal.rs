//! Tells whoever holds a memory's write lock that others wait for it.
//!
//! SQLite does not know who waits. So a writer that waits locks the memory's folder, shared, by the
//! system's advisory lock, which SQLite does not use and which ends with the process. Nobody waits
//! as long as that lock can be had exclusively. Where the system has no such locks, someone may
//! always wait.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Signals that one connection waits to write.
#[derive(Debug)]
pub(super) struct WriteLockWaiterSignal {
    folder: PathBuf,
    /// Whether the connection is about to begin a write.
    is_wanted: AtomicBool,
    made: Mutex<Option<File>>,
}

impl WriteLockWaiterSignal {
    /// Returns the signal of a connection to the memory at `path`, which is not given yet.
    pub(super) fn of(path: &Path) -> WriteLockWaiterSignal {
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        WriteLockWaiterSignal {
            folder: folder.to_owned(),
            is_wanted: AtomicBool::new(false),
            made: Mutex::new(None),
        }
    }

    /// Lets the connection give its signal while it waits.
    pub(super) fn allow(&self) {
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// Gives the signal if it is allowed. Without success, the next try gives it.
    pub(super) fn make(&self) {
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if made.is_none() {
            *made = File::open(&self.folder).ok().filter(|it| it.try_lock_shared().is_ok());
        }
    }

    /// Takes the signal back: the connection has the lock or does not wait any more.
    pub(super) fn withdraw(&self) {
        self.is_wanted.store(false, Ordering::Relaxed);
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns whether any connection may have made one.
    pub(super) fn is_made(&self) -> bool {
        let Ok(folder) = File::open(&self.folder) else { return true };
        match folder.try_lock() {
            Ok(()) => false,
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_waiting_writer_is_seen_until_it_has_its_turn() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        let [holder, one, other] = [(); 3].map(|()| WriteLockWaiterSignal::of(&path));
        one.make();
        assert!(!holder.is_made(), "it is not about to write");
        for it in [&one, &other] {
            it.allow();
            it.make();
        }
        assert!(holder.is_made());
        one.withdraw();
        assert!(holder.is_made(), "the other still waits");
        other.withdraw();
        assert!(!holder.is_made());
    }
}
