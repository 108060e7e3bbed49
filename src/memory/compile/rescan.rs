//! Rescan state: files still being written, and the identity of the folder, between compiles.
//!
//! A file is settled when its time is old enough, when it looked the same for long enough (its
//! time may lie in the future), or when it was deferred for long enough (some files never settle).
//! The first scan takes everything as it is.

use std::collections::BTreeMap;
use std::path::Path;

use super::CompileError;
use super::plan::CompilePlan;
use crate::ingest::scan;
use crate::model::clock::Millis;
use crate::model::file_stat::FileStat;

/// Settle times after which a file that never settles is compiled.
const TIMEOUT: i64 = 10;

/// The state of a watched folder between compiles.
#[derive(Debug, Default)]
pub(crate) struct RescanState {
    /// Least age in ms of a settled file.
    settle_ms: i64,
    is_started: bool,
    /// Deferred files, by path.
    unsettled: BTreeMap<String, UnsettledFile>,
    /// The time since which deletions and additions wait for new files to settle: they may be
    /// renames.
    vanished_since: Option<Millis>,
    /// The system's identity of the folder when it last had files.
    folder: Option<scan::FolderId>,
}

#[derive(Clone, Copy, Debug)]
struct UnsettledFile {
    stat: FileStat,
    /// When the file first looked like this.
    since: Millis,
    /// When the file was first deferred.
    first: Millis,
}

impl RescanState {
    /// Sets the least age of a settled file.
    pub(crate) fn set_settle_ms(&mut self, settle_ms: i64) {
        self.settle_ms = settle_ms.max(0);
    }

    /// Returns the number of deferred files.
    pub(crate) fn n_unsettled(&self) -> usize {
        self.unsettled.len()
    }

    /// Records that a scan is complete.
    pub(super) fn start(&mut self) {
        self.is_started = true;
    }

    /// Returns whether a scan was completed.
    pub(crate) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Refuses a folder that cannot be read, or that seems to be gone. It seems gone if it has no
    /// notes and another identity than before, or is empty and older than the known files: an
    /// unmounted volume looks like this. `newest` is the latest time of a known file.
    pub(super) fn check_folder(
        &mut self,
        folder: &Path,
        n_found: usize,
        newest: Option<i64>,
    ) -> Result<(), CompileError> {
        let unreadable = |source| CompileError::NoSource { path: folder.to_owned(), source };
        let emptied = || CompileError::Emptied { path: folder.to_owned() };
        let seen = scan::stat_folder(folder).map_err(unreadable)?;
        let is_other = self.folder.is_some_and(|it| it != seen.id);
        match newest {
            Some(_) if n_found == 0 && is_other => Err(emptied()),
            Some(newest) if seen.is_empty && seen.mtime < newest => Err(emptied()),
            _ => {
                if 0 < n_found {
                    self.folder = Some(seen.id);
                }
                Ok(())
            }
        }
    }

    /// Defers files that may still be written to: they stay as they are stored, neither changed
    /// nor deleted.
    pub(super) fn defer(&mut self, plan: &mut CompilePlan, now: Millis) {
        let n_known = plan.changed.len() - plan.n_new;
        let mut was_unsettled = std::mem::take(&mut self.unsettled);
        if !self.is_started || self.settle_ms == 0 {
            return;
        }
        let (mut nth, mut n_new_deferred) = (0, 0);
        plan.changed.retain(|file| {
            let is_new = n_known <= nth;
            nth += 1;
            let before = was_unsettled.remove(&file.path);
            let Some(unsettled) = self.wait(before, file.stat, now) else { return true };
            self.unsettled.insert(file.path.clone(), unsettled);
            n_new_deferred += usize::from(is_new);
            false
        });
        plan.n_new -= n_new_deferred;
        let waits = 0 < n_new_deferred && !plan.vanished.is_empty();
        let since = waits.then(|| self.vanished_since.unwrap_or(now).min(now));
        self.vanished_since = since;
        if since.is_some_and(|since| now.since(since) < TIMEOUT * self.settle_ms) {
            plan.vanished.clear();
            // Other new files wait, too: they may be renames.
            plan.changed.truncate(plan.changed.len() - plan.n_new);
            plan.n_new = 0;
        }
    }

    /// Returns the state of a file that is not settled; `None` when it is.
    fn wait(
        &self,
        before: Option<UnsettledFile>,
        stat: FileStat,
        now: Millis,
    ) -> Option<UnsettledFile> {
        let age_ms = now.0.saturating_sub(stat.mtime / 1_000_000);
        if self.settle_ms <= age_ms {
            return None;
        }
        let fresh = UnsettledFile { stat, since: now, first: now };
        let Some(before) = before else { return Some(fresh) };
        let since = if before.stat == stat { before.since.min(now) } else { now };
        let first = before.first.min(now);
        let is_settled = self.settle_ms <= now.since(since)
            || self.settle_ms.saturating_mul(TIMEOUT) <= now.since(first);
        (!is_settled).then_some(UnsettledFile { stat, since, first })
    }
}
