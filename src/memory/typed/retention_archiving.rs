//! Archiving: learnings that nobody reads, tasks that are done, and what is beyond the soft limits.
//!
//! All of it is one snapshot, so that one rollback undoes it. Core memories are archived by hand.

use serde_json::{Value, json};

use super::request::FieldChanges;
use super::{ErrorCode, Memory, MemoryError, rewrite};
use crate::model::clock::{DAY_MS, UnixMillis};
use crate::model::tree::NodeType;
use crate::settings::config::MemoryRetentionLimits;
use crate::store::reader::ArchiveCandidate;
use crate::store::{Batch, StoreError};

/// Whether memories are archived or only named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveOrDryRun {
    DryRun,
    Real,
}

/// Holds what archiving did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArchiveReport {
    /// UUIDs of learnings.
    pub(crate) learnings: Vec<String>,
    /// UUIDs of tasks.
    pub(crate) tasks: Vec<String>,
    /// UUIDs of memories that could not be rewritten.
    pub(crate) skipped: Vec<String>,
    pub(crate) snapshot: Option<i64>,
}

impl ArchiveReport {
    /// Returns how many memories are archived.
    pub(crate) fn n_archived(&self) -> usize {
        self.learnings.len() + self.tasks.len()
    }

    /// Returns the counts in words: `3 memories: 2 learnings, 1 task`.
    pub(crate) fn counts(&self) -> String {
        let count = |n: usize, one: &str, many: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {many}"),
        };
        let all = count(self.n_archived(), "memory", "memories");
        let learnings = count(self.learnings.len(), "learning", "learnings");
        let tasks = count(self.tasks.len(), "task", "tasks");
        match self.n_archived() {
            0 => all,
            _ => format!("{all}: {learnings}, {tasks}"),
        }
    }

    /// Returns the facts for programs.
    pub(crate) fn to_json(&self, mode: ArchiveOrDryRun) -> Value {
        json!({
            "dry_run": mode == ArchiveOrDryRun::DryRun,
            "archived": self.n_archived(),
            "learnings": self.learnings,
            "tasks": self.tasks,
            "skipped": self.skipped,
            "snapshot": self.snapshot,
        })
    }
}

impl Memory {
    /// Archives by age, then the oldest ones beyond the soft limits. `days` replaces both ages of
    /// the settings.
    pub(crate) fn archive_memories(
        &self,
        days: Option<u32>,
        mode: ArchiveOrDryRun,
    ) -> Result<ArchiveReport, MemoryError> {
        let limits = self.memory_settings().limits();
        let rules = ArchiveRules {
            limits: MemoryRetentionLimits {
                learnings_days: days.unwrap_or(limits.learnings_days),
                tasks_days: days.unwrap_or(limits.tasks_days),
                ..limits
            },
            now: self.clock.now(),
        };
        let planned = self.read::<_, StoreError>(|reader| {
            reader.at_one_state(|it| rules.plan(|of_type| it.archivable(of_type)))
        })?;
        // Nobody waits for the lock where there is nothing to do.
        if mode == ArchiveOrDryRun::DryRun || planned.n_archived() == 0 {
            return Ok(planned);
        }
        let (report, commit) = self.writer.write("", "", rules.now, |batch| {
            let planned = rules.plan(|of_type| batch.archivable(of_type))?;
            let report = archive(batch, planned, rules.now)?;
            batch.set_message(format!("archive: {}", report.counts()));
            Ok::<_, MemoryError>(report)
        })?;
        Ok(ArchiveReport { snapshot: commit.snapshot, ..report })
    }
}

/// The rules by which memories are archived at a time.
struct ArchiveRules {
    limits: MemoryRetentionLimits,
    now: UnixMillis,
}

impl ArchiveRules {
    /// Returns the memories to archive, out of those that are not archived, eldest first.
    fn plan(
        &self,
        of_type: impl Fn(NodeType) -> Result<Vec<ArchiveCandidate>, StoreError>,
    ) -> Result<ArchiveReport, StoreError> {
        let is_past = |at: i64, days: u32| {
            i64::from(days).saturating_mul(DAY_MS) <= self.now.0.saturating_sub(at)
        };
        let MemoryRetentionLimits { learnings_max, tasks_max, learnings_days, tasks_days, .. } =
            self.limits;
        let is_unread = |it: &ArchiveCandidate| is_past(it.accessed_at, learnings_days);
        let is_done =
            |it: &ArchiveCandidate| it.completed_at.is_some_and(|at| is_past(at, tasks_days));
        Ok(ArchiveReport {
            learnings: chosen(of_type(NodeType::Learning)?, learnings_max, is_unread),
            tasks: chosen(of_type(NodeType::Task)?, tasks_max, is_done),
            ..ArchiveReport::default()
        })
    }
}

/// Returns the UUIDs of the old ones, then of the eldest others beyond `n_max`.
fn chosen(
    memories: Vec<ArchiveCandidate>,
    n_max: u64,
    is_old: impl Fn(&ArchiveCandidate) -> bool,
) -> Vec<String> {
    let (old, others): (Vec<_>, Vec<_>) = memories.into_iter().partition(is_old);
    let n_beyond = others.len().saturating_sub(usize::try_from(n_max).unwrap_or(usize::MAX));
    old.into_iter().chain(others.into_iter().take(n_beyond)).map(|it| it.uuid).collect()
}

fn archive(
    batch: &mut Batch<'_>,
    planned: ArchiveReport,
    now: UnixMillis,
) -> Result<ArchiveReport, MemoryError> {
    let mut report = ArchiveReport::default();
    let learnings = planned.learnings.into_iter().map(|it| (NodeType::Learning, it));
    let tasks = planned.tasks.into_iter().map(|it| (NodeType::Task, it));
    let archived = FieldChanges { archived: Some(true), ..FieldChanges::default() };
    for (of_type, uuid) in learnings.chain(tasks) {
        let Some(node) = batch.find_typed(&uuid)? else { continue };
        match rewrite(batch, &node, None, &archived, now) {
            Ok((_, updated)) if updated.is_empty() => (),
            Ok(_) if of_type == NodeType::Task => report.tasks.push(uuid),
            Ok(_) => report.learnings.push(uuid),
            // A memory with broken fields keeps no other from being archived.
            Err(error) if is_about_the_memory(&error) => report.skipped.push(uuid),
            Err(error) => return Err(error),
        }
    }
    Ok(report)
}

/// Returns whether an error is that of one memory, and nothing was written.
fn is_about_the_memory(error: &MemoryError) -> bool {
    error.code == ErrorCode::InvalidInput
}
