//! Keeps, between compiles, the files still being written and the identity of the folder.
//!
//! A file is settled when its time is old enough, when it looked the same for long enough (its
//! time may lie in the future), or when it was deferred for long enough (some files never settle).
//! The first scan takes everything as it is.

use std::collections::BTreeMap;
use std::path::Path;

use super::CompileError;
use super::plan::CompilePlan;
use crate::ingest::scan;
use crate::model::clock::{Stopwatch, UnixMillis};
use crate::model::file_stat::FileStat;

/// Settle times after which a file that never settles is compiled.
const TIMEOUT: i64 = 10;

/// Defers the files of a watched folder that are still being written.
#[derive(Debug, Default)]
pub(crate) struct UnsettledFileDeferral {
    /// Least age in ms of a settled file.
    settle_ms: i64,
    is_started: bool,
    /// Deferred files, by path.
    unsettled: BTreeMap<String, UnsettledFile>,
    /// Runs from the first scan on: a wait is as long as it is, whatever the time of day does.
    stopwatch: Option<Stopwatch>,
    /// The reading since which deletions and additions wait for new files to settle: they may be
    /// renames.
    vanished_since_ms: Option<i64>,
    /// The system's identity of the folder when it last had files.
    folder: Option<scan::FolderIdentity>,
}

#[derive(Clone, Copy, Debug)]
struct UnsettledFile {
    stat: FileStat,
    /// Reading of the stopwatch when the file first looked like this.
    since_ms: i64,
    /// Reading when the file was first deferred.
    first_ms: i64,
}

impl UnsettledFileDeferral {
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
    /// nor deleted. The first stopwatch that it gets measures all waits.
    pub(super) fn defer(&mut self, plan: &mut CompilePlan, stopwatch: &Stopwatch, now: UnixMillis) {
        let elapsed_ms = self.stopwatch.get_or_insert_with(|| stopwatch.clone()).elapsed_ms();
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
            let Some(unsettled) = self.wait(before, file.stat, elapsed_ms, now) else {
                return true;
            };
            self.unsettled.insert(file.path.clone(), unsettled);
            n_new_deferred += usize::from(is_new);
            false
        });
        plan.n_new -= n_new_deferred;
        let waits = 0 < n_new_deferred && !plan.vanished.is_empty();
        let since_ms = waits.then(|| self.vanished_since_ms.unwrap_or(elapsed_ms));
        self.vanished_since_ms = since_ms;
        if since_ms.is_some_and(|since_ms| elapsed_ms - since_ms < TIMEOUT * self.settle_ms) {
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
        elapsed_ms: i64,
        now: UnixMillis,
    ) -> Option<UnsettledFile> {
        let age_ms = now.0.saturating_sub(stat.mtime / 1_000_000);
        if self.settle_ms <= age_ms {
            return None;
        }
        let fresh = UnsettledFile { stat, since_ms: elapsed_ms, first_ms: elapsed_ms };
        let Some(before) = before else { return Some(fresh) };
        let since_ms = if before.stat == stat { before.since_ms } else { elapsed_ms };
        let is_settled = self.settle_ms <= elapsed_ms - since_ms
            || self.settle_ms.saturating_mul(TIMEOUT) <= elapsed_ms - before.first_ms;
        (!is_settled).then_some(UnsettledFile { since_ms, stat, ..before })
    }
}
