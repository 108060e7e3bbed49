//! What one who compiles a folder again and again remembers of it: files that somebody may still be
//! writing, and which folder it was.
//!
//! A file is settled when its time is old enough, or when it looked the same for long enough, for
//! times that lie in the future, or when it was waited for long enough, since some are never left
//! alone. The first scan takes everything as it is.

use std::collections::BTreeMap;
use std::path::Path;

use super::CompileError;
use super::plan::CompilePlan;
use crate::ingest::scan;
use crate::model::clock::Millis;
use crate::model::file_stat::FileStat;

/// A file that never settles is taken as it is after so many times the settle time.
const TIMEOUT: i64 = 10;

/// The memory of one who watches a folder.
#[derive(Debug, Default)]
pub(crate) struct RescanState {
    /// How long a file must have been left alone.
    settle_ms: i64,
    is_started: bool,
    /// Files that are waited for, by path.
    unsettled: BTreeMap<String, UnsettledFile>,
    /// Since when deletions and additions wait for new files to settle, since they may be renames.
    vanished_since: Option<Millis>,
    /// The folder that had files in it, by what the system calls it.
    folder: Option<scan::FolderId>,
}

#[derive(Clone, Copy, Debug)]
struct UnsettledFile {
    stat: FileStat,
    /// When it first looked like this.
    since: Millis,
    /// When it was first waited for.
    first: Millis,
}

impl RescanState {
    /// Changes how long a file must have been left alone.
    pub(crate) fn set_settle(&mut self, settle_ms: i64) {
        self.settle_ms = settle_ms.max(0);
    }

    /// How many files wait to be looked at again.
    pub(crate) fn n_unsettled(&self) -> usize {
        self.unsettled.len()
    }

    /// Notes that a scan came to its end.
    pub(super) fn start(&mut self) {
        self.is_started = true;
    }

    /// Whether a scan came to its end before.
    pub(crate) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Refuses a folder that cannot be read, and one that seems to be no longer there: it has no
    /// notes and is another one than before, or it is empty and older than what is known of it.
    /// Without its medium, a mount point looks like that. `newest` is the latest time of a known
    /// file.
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

    /// Leaves files that somebody may still be writing to the next time: as they are stored,
    /// neither changed nor gone.
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
            // Neither may the other new files be called new before it is known what is gone.
            plan.changed.truncate(plan.changed.len() - plan.n_new);
            plan.n_new = 0;
        }
    }

    /// What is to be remembered of a file that is not settled; `None` when it is.
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
