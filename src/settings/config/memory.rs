//! Settings of typed memories: how many there may be, when they are archived, and the backups.
//!
//! A file and the environment set the same values; a value that is not set is left to the next
//! source, and in the end to its default.

use super::ConfigError;
use super::fields::Fields;

/// Range of the numbers of memories.
const COUNT: (u32, u32) = (1, 1_000_000);
/// Range of ages in days.
const DAYS: (u32, u32) = (1, 36_500);
/// Range of the number of backups.
const BACKUPS: (u32, u32) = (1, 1_000);

/// The settings of typed memories; `None` leaves the choice to the next source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemorySettings {
    /// Core memories that are not archived; one more is refused.
    pub(crate) max_core: Option<u32>,
    /// Learnings that are not archived; beyond, the oldest are archived.
    pub(crate) max_learnings: Option<u32>,
    /// Tasks that are not archived; beyond, the oldest are archived.
    pub(crate) max_tasks: Option<u32>,
    /// Days without an access after which a learning is archived.
    pub(crate) archive_learnings_days: Option<u32>,
    /// Days after its completion after which a task is archived.
    pub(crate) archive_tasks_days: Option<u32>,
    /// Whether the server archives.
    pub(crate) auto_archive: Option<bool>,
    /// Whether a copy is kept before something is removed for good.
    pub(crate) backup: Option<bool>,
    /// Such copies that are kept.
    pub(crate) max_backups: Option<u32>,
}

/// Bounds how many memories there are, and how old they get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryLimits {
    /// Core memories that are not archived; one more is refused.
    pub(crate) core_max: u64,
    /// Learnings that are not archived; beyond, the oldest are archived.
    pub(crate) learnings_max: u64,
    /// Tasks that are not archived; beyond, the oldest are archived.
    pub(crate) tasks_max: u64,
    /// Days without an access after which a learning is archived.
    pub(crate) learnings_days: u32,
    /// Days after its completion after which a task is archived.
    pub(crate) tasks_days: u32,
}

impl MemorySettings {
    pub(super) fn read(mut fields: Fields) -> Result<MemorySettings, ConfigError> {
        let settings = MemorySettings {
            max_core: fields.number_in("max_core", COUNT)?,
            max_learnings: fields.number_in("max_learnings", COUNT)?,
            max_tasks: fields.number_in("max_tasks", COUNT)?,
            archive_learnings_days: fields.number_in("archive_learnings_days", DAYS)?,
            archive_tasks_days: fields.number_in("archive_tasks_days", DAYS)?,
            auto_archive: fields.flag("auto_archive")?,
            backup: fields.flag("backup")?,
            max_backups: fields.number_in("max_backups", BACKUPS)?,
        };
        fields.done().map(|()| settings)
    }

    /// Reads the variables of the environment; `variable` returns the text of one that is set. The
    /// error names the variable, its text and the valid ones.
    pub(crate) fn of_environment(
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<MemorySettings, String> {
        let number = |name, range| read_number(name, variable(name), range);
        let flag = |name| read_flag(name, variable(name));
        Ok(MemorySettings {
            max_core: number("MAX_CORE_MEMORIES", COUNT)?,
            max_learnings: number("MAX_LEARNINGS", COUNT)?,
            max_tasks: number("MAX_TASKS", COUNT)?,
            archive_learnings_days: number("AUTO_ARCHIVE_LEARNINGS_DAYS", DAYS)?,
            archive_tasks_days: number("AUTO_ARCHIVE_TASKS_DAYS", DAYS)?,
            auto_archive: flag("ENABLE_AUTO_ARCHIVAL")?,
            backup: flag("BACKUP_ENABLED")?,
            max_backups: number("MAX_BACKUPS", BACKUPS)?,
        })
    }

    /// Returns these settings, with those of the next source where nothing is set.
    pub(crate) fn or(self, next: MemorySettings) -> MemorySettings {
        MemorySettings {
            max_core: self.max_core.or(next.max_core),
            max_learnings: self.max_learnings.or(next.max_learnings),
            max_tasks: self.max_tasks.or(next.max_tasks),
            archive_learnings_days: self.archive_learnings_days.or(next.archive_learnings_days),
            archive_tasks_days: self.archive_tasks_days.or(next.archive_tasks_days),
            auto_archive: self.auto_archive.or(next.auto_archive),
            backup: self.backup.or(next.backup),
            max_backups: self.max_backups.or(next.max_backups),
        }
    }

    /// Returns the limits, with defaults where nothing is set.
    pub(crate) fn limits(&self) -> MemoryLimits {
        MemoryLimits {
            core_max: self.max_core.unwrap_or(1_000).into(),
            learnings_max: self.max_learnings.unwrap_or(500).into(),
            tasks_max: self.max_tasks.unwrap_or(200).into(),
            learnings_days: self.archive_learnings_days.unwrap_or(90),
            tasks_days: self.archive_tasks_days.unwrap_or(30),
        }
    }

    /// Returns whether the server archives.
    pub(crate) fn is_archiving(&self) -> bool {
        self.auto_archive.unwrap_or(true)
    }

    /// Returns how many backups are kept; `None`: none is made.
    pub(crate) fn n_backups(&self) -> Option<usize> {
        let n_max = self.max_backups.unwrap_or(5);
        self.backup.unwrap_or(true).then_some(usize::try_from(n_max).unwrap_or(usize::MAX))
    }
}

fn read_number(name: &str, text: Option<String>, range: (u32, u32)) -> Result<Option<u32>, String> {
    let (min, max) = range;
    let Some(text) = text else { return Ok(None) };
    match text.trim().parse().ok().filter(|it| (min..=max).contains(it)) {
        Some(number) => Ok(Some(number)),
        None => {
            let text = crate::text::truncate_chars(&text, 40);
            Err(format!("`{name}` must be a whole number from {min} to {max}, not `{text}`"))
        }
    }
}

fn read_flag(name: &str, text: Option<String>) -> Result<Option<bool>, String> {
    let Some(text) = text else { return Ok(None) };
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(Some(true)),
        "false" | "0" => Ok(Some(false)),
        _ => {
            let text = crate::text::truncate_chars(&text, 40);
            Err(format!("`{name}` must be true, 1, false or 0, not `{text}`"))
        }
    }
}
