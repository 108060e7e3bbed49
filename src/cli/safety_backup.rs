//! Backups that commands make before they remove something for good.

use std::fs;
use std::path::{Path, PathBuf};

use super::user_settings::memory_settings_of_user;
use super::{CommandError, CommandStreamsAndClock};
use crate::maintenance::transfer::{self, DestructiveOperation};
use crate::store::StoreError;
use crate::store::reader::Reader;

/// Whether the person at the command line wants a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BackupChoice {
    /// As the settings say; where they say nothing, none before secrets are removed.
    #[default]
    Settings,
    Always,
    Never,
}

/// A backup before a removal, which stays if something was removed.
pub(super) struct SafetyBackup {
    path: Option<PathBuf>,
    /// A snapshot that it has, after which only others can have written; without a backup, the last
    /// that there can be.
    pub(super) newest: i64,
    n_max: usize,
}

impl SafetyBackup {
    /// Copies the memory at `db`, unless the settings or the person refuse it.
    pub(super) fn make(
        db: &Path,
        of: DestructiveOperation,
        wish: BackupChoice,
        context: &CommandStreamsAndClock<'_>,
    ) -> Result<SafetyBackup, CommandError> {
        let settings = memory_settings_of_user()?;
        let n_max = settings.n_backups();
        let is_wanted = match (wish, settings.backup) {
            (BackupChoice::Always, _) => true,
            (BackupChoice::Never, _) => false,
            (BackupChoice::Settings, Some(set)) => set,
            (BackupChoice::Settings, None) => of == DestructiveOperation::Gc,
        };
        if !is_wanted {
            return Ok(SafetyBackup { path: None, newest: i64::MAX, n_max });
        }
        let newest = Reader::open(db)?.versions().snapshots()?.last;
        let path = transfer::backup_before(db, of, &context.clock.now().stamp());
        let path = path.map_err(|error| {
            let why = error.without_claim();
            CommandError::Because(format!(
                "no backup could be made: {why}; nothing was changed; --no-backup goes on \
                 without one"
            ))
        })?;
        Ok(SafetyBackup { path: Some(path), newest, n_max })
    }

    /// Returns the outcome of the removal and the backup, which goes where the removal was refused
    /// before it changed anything.
    pub(super) fn after<T>(
        self,
        removal: Result<T, StoreError>,
    ) -> Result<(T, SafetyBackup), CommandError> {
        match removal {
            Ok(done) => Ok((done, self)),
            Err(error) if error.is_in_doubt() || matches!(error, StoreError::Unkept { .. }) => {
                let backup = self.path.map(|it| format!("; backup: {}", it.display()));
                Err(CommandError::Because(format!("{error}{}", backup.unwrap_or_default())))
            }
            Err(error @ (StoreError::Sqlite { .. } | StoreError::Locked { .. })) => {
                self.drop_unneeded();
                let why = error.after_a_change();
                Err(CommandError::Because(format!("{why}; nothing was changed")))
            }
            Err(error) => {
                self.drop_unneeded();
                Err(error.into())
            }
        }
    }

    /// Names the backup, and what is in it, on standard error; deletes the oldest ones.
    pub(super) fn keep(self, db: &Path, holds: &str, context: &mut CommandStreamsAndClock<'_>) {
        let Some(path) = self.path else {
            // It would keep what was just removed.
            if let Err(error) = transfer::drop_unfinished_backup(db) {
                let _ = writeln!(context.err, "remindb: warning: {error}");
            }
            return;
        };
        let shown = path.display();
        // The work is done, even if this cannot be written.
        let _ = writeln!(context.err, "remindb: backup: {shown}; it holds {holds}");
        prune(db, &path, self.n_max, context);
    }

    /// Deletes the backup, since nothing was removed.
    pub(super) fn drop_unneeded(self) {
        if let Some(path) = self.path {
            // A copy too many does no harm.
            let _ = fs::remove_file(path);
        }
    }
}

/// Deletes the oldest backups beyond those that are kept; `made`, of this command, stays.
pub(super) fn prune(
    db: &Path,
    made: &Path,
    n_max: usize,
    context: &mut CommandStreamsAndClock<'_>,
) {
    if let Err(error) = transfer::prune_backups(db, made, n_max) {
        let _ = writeln!(context.err, "remindb: warning: old backups are left: {error}");
    }
}

#[cfg(test)]
mod tests;
