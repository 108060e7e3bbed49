//! Settings of typed memories: how many there may be, when they are archived, and the backups.
//!
//! A file and the environment set the same values; a value that is not set is left to the next
//! source, and in the end to its default.

use super::ConfigError;
use super::object_reader::ObjectReader;

/// Range of the numbers of memories.
const COUNT: (u32, u32) = (1, 1_000_000);
/// Range of ages in days.
const DAYS: (u32, u32) = (1, 36_500);
/// Range of the number of backups.
const BACKUPS: (u32, u32) = (1, 1_000);

/// The settings of typed memories; `None` leaves the choice to the next source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypedMemorySettings {
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

/// Limits how many memories are retained, and how old they get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryRetentionLimits {
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

impl TypedMemorySettings {
    pub(super) fn read(mut fields: ObjectReader) -> Result<TypedMemorySettings, ConfigError> {
        let settings = TypedMemorySettings {
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
    ) -> Result<TypedMemorySettings, String> {
        let number = |name, range| read_number(name, variable(name), range);
        let flag = |name| read_flag(name, variable(name));
        Ok(TypedMemorySettings {
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
    pub(crate) fn or(self, next: TypedMemorySettings) -> TypedMemorySettings {
        TypedMemorySettings {
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
    pub(crate) fn limits(&self) -> MemoryRetentionLimits {
        MemoryRetentionLimits {
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

    /// Returns how many backups are kept.
    pub(crate) fn n_backups(&self) -> usize {
        usize::try_from(self.max_backups.unwrap_or(5)).unwrap_or(usize::MAX)
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::settings::config::Config;

    /// Reads variables as `NAME=text`.
    fn of_environment(set: &[&str]) -> Result<TypedMemorySettings, String> {
        let find = |name: &str| {
            let pairs = set.iter().filter_map(|it| it.split_once('='));
            pairs.filter(|(known, _)| *known == name).map(|(_, text)| text.to_owned()).next()
        };
        TypedMemorySettings::of_environment(find)
    }

    fn of_file(text: &str) -> Result<TypedMemorySettings, String> {
        let config = Config::parse(&format!(r#"{{"memory": {{{text}}}}}"#));
        config.map(|it| it.memory).map_err(|it| it.to_string())
    }

    const EVERY: TypedMemorySettings = TypedMemorySettings {
        max_core: Some(1),
        max_learnings: Some(1_000_000),
        max_tasks: Some(3),
        archive_learnings_days: Some(1),
        archive_tasks_days: Some(36_500),
        auto_archive: Some(false),
        backup: Some(true),
        max_backups: Some(1_000),
    };

    #[test]
    fn file_and_environment_set_the_same() {
        let variables = [
            "MAX_CORE_MEMORIES=1",
            "MAX_LEARNINGS=1000000",
            "MAX_TASKS= 3 ",
            "AUTO_ARCHIVE_LEARNINGS_DAYS=1",
            "AUTO_ARCHIVE_TASKS_DAYS=36500",
            "ENABLE_AUTO_ARCHIVAL=FALSE",
            "BACKUP_ENABLED=1",
            "MAX_BACKUPS=1000",
        ];
        assert_eq!(of_environment(&variables), Ok(EVERY));
        let text = r#""max_core": 1, "max_learnings": 1000000, "max_tasks": 3,
            "archive_learnings_days": 1, "archive_tasks_days": 36500, "auto_archive": false,
            "backup": true, "max_backups": 1000"#;
        assert_eq!(of_file(text), Ok(EVERY));
    }

    #[test]
    fn what_is_not_set_is_left_to_the_next_source_and_to_the_specification() {
        assert_eq!(of_environment(&[]), Ok(TypedMemorySettings::default()));
        let some =
            TypedMemorySettings { max_core: Some(7), backup: Some(false), ..Default::default() };
        let both = some.or(EVERY);
        assert_eq!(both, TypedMemorySettings { max_core: Some(7), backup: Some(false), ..EVERY });
        let none = TypedMemorySettings::default();
        assert_eq!(
            none.limits(),
            MemoryRetentionLimits {
                core_max: 1_000,
                learnings_max: 500,
                tasks_max: 200,
                learnings_days: 90,
                tasks_days: 30,
            }
        );
        assert_eq!((none.is_archiving(), none.n_backups()), (true, 5));
    }

    #[track_caller]
    fn check_refused<T: std::fmt::Debug>(
        texts: &[&str],
        read: impl Fn(&str) -> Result<T, String>,
        messages: Expect,
    ) {
        let errors: Vec<String> = texts.iter().map(|it| read(it).unwrap_err()).collect();
        messages.assert_eq(&errors.join("\n"));
    }

    #[test]
    fn a_bad_value_is_named_with_its_range() {
        check_refused(
            &[
                "MAX_CORE_MEMORIES=0",
                "MAX_LEARNINGS=1000001",
                "MAX_TASKS=-1",
                "AUTO_ARCHIVE_LEARNINGS_DAYS=90d",
                "AUTO_ARCHIVE_TASKS_DAYS=36501",
                "ENABLE_AUTO_ARCHIVAL=maybe",
                "BACKUP_ENABLED=2",
                "MAX_BACKUPS=1.5",
            ],
            |it| of_environment(&[it]),
            expect![[r#"
                `MAX_CORE_MEMORIES` must be a whole number from 1 to 1000000, not `0`
                `MAX_LEARNINGS` must be a whole number from 1 to 1000000, not `1000001`
                `MAX_TASKS` must be a whole number from 1 to 1000000, not `-1`
                `AUTO_ARCHIVE_LEARNINGS_DAYS` must be a whole number from 1 to 36500, not `90d`
                `AUTO_ARCHIVE_TASKS_DAYS` must be a whole number from 1 to 36500, not `36501`
                `ENABLE_AUTO_ARCHIVAL` must be true, 1, false or 0, not `maybe`
                `BACKUP_ENABLED` must be true, 1, false or 0, not `2`
                `MAX_BACKUPS` must be a whole number from 1 to 1000, not `1.5`"#]],
        );
        check_refused(
            &[
                r#""max_core": 0"#,
                r#""max_learnings": "many""#,
                r#""archive_tasks_days": 36501"#,
                r#""max_backups": 1.5"#,
                r#""backup": 1"#,
                r#""max_cores": 1"#,
            ],
            of_file,
            expect![[r#"
                `memory.max_core` in .remindb/config.json must be a whole number from 1 to 1000000, not `0`
                `memory.max_learnings` in .remindb/config.json must be a whole number from 1 to 1000000, not `"many"`
                `memory.archive_tasks_days` in .remindb/config.json must be a whole number from 1 to 36500, not `36501`
                `memory.max_backups` in .remindb/config.json must be a whole number from 1 to 1000, not `1.5`
                `memory.backup` in .remindb/config.json must be `true` or `false`, not `1`
                unknown key "max_cores" in .remindb/config.json, under `memory`; did you mean `max_core`?"#]],
        );
    }
}
