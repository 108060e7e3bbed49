//! Settings of the person who runs the program: the environment, and a file of their own.

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{CommandError, path_variable, user_folder, variable};
use crate::ingest::scan;
use crate::settings::config::{
    CONFIG_BYTES_MAX, KnowledgeSettings, LogLevel, RemindUserConfig, TypedMemorySettings,
    UserConfig,
};

/// The user's file, below the folder of settings.
const USER_FILE: &str = "remindb/config.json";

/// The file of settings of Remind, in a folder `.remind` of a project or of a person.
const REMIND_FILE: &str = ".remind/remind.config.json";

/// Names of levels of the log; `LOG_LEVEL` is shared with other programs, which have others.
const LEVELS: [(&str, LogLevel); 6] = [
    ("trace", LogLevel::Debug),
    ("debug", LogLevel::Debug),
    ("info", LogLevel::Info),
    ("warn", LogLevel::Warn),
    ("warning", LogLevel::Warn),
    ("error", LogLevel::Error),
];

/// Returns the settings of typed memories that the environment makes.
pub(super) fn memory_settings() -> Result<TypedMemorySettings, CommandError> {
    TypedMemorySettings::of_environment(text_of).map_err(CommandError::Because)
}

/// Returns the settings of typed memories outside of a folder: the environment's, then the user's.
pub(super) fn memory_settings_of_user() -> Result<TypedMemorySettings, CommandError> {
    Ok(memory_settings()?.or(user_config()?.config().memory))
}

/// Returns the settings of knowledge that the environment makes, which count before all others, and
/// those of files of Remind, which count after all others: of the folder, then of the person.
pub(super) fn knowledge_settings(
    folder: Option<&Path>,
) -> Result<(KnowledgeSettings, KnowledgeSettings), CommandError> {
    let first = KnowledgeSettings::of_environment(text_of).map_err(CommandError::Because)?;
    let folder = folder.map(Path::to_owned).or_else(|| std::env::current_dir().ok());
    let home = path_variable("HOME");
    let of_folder = folder.map(|it| remind_file(&it.join(REMIND_FILE)).of_folder());
    let of_home = home.map(|it| remind_file(&it.join(REMIND_FILE)));
    Ok((first, of_folder.unwrap_or_default().or(&of_home.unwrap_or_default())))
}

/// Reads a file of settings of Remind. What is wrong in it is told, and ignored.
fn remind_file(path: &Path) -> KnowledgeSettings {
    let (settings, wrong) = match read(path) {
        Ok(text) => KnowledgeSettings::of_remind(&text),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return KnowledgeSettings::default();
        }
        Err(error) => (KnowledgeSettings::default(), vec![format!("cannot be read: {error}")]),
    };
    for why in wrong {
        log::warn!("`{}`: {why}; it is ignored", path.display());
    }
    settings
}

/// Returns the level of the log that the environment names.
pub(super) fn log_level() -> Result<Option<LogLevel>, CommandError> {
    let Some(text) = text_of("LOG_LEVEL") else { return Ok(None) };
    match LEVELS.iter().find(|(name, _)| text.trim().eq_ignore_ascii_case(name)) {
        Some((_, level)) => Ok(Some(*level)),
        None => {
            let text = crate::text::truncate_chars(&text, 40);
            let why = format!("`LOG_LEVEL` must be one of debug, info, warn, error, not `{text}`");
            Err(CommandError::Because(why))
        }
    }
}

/// Reads the user's file; without one, nothing is set.
pub(super) fn user_config() -> Result<Arc<UserConfig>, CommandError> {
    let Some(path) = user_file() else { return Ok(Arc::default()) };
    let name = path.display().to_string();
    match read(&path) {
        Ok(text) => Ok(UserConfig::parse_with(&name, &text, remind_sources)?),
        Err(error) => match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(Arc::default()),
            _ => Err(CommandError::Because(format!("cannot read `{name}`: {error}"))),
        },
    }
}

/// Returns the settings of Remind that the person has, of which what cannot be read is ignored.
fn remind_sources() -> RemindUserConfig<'static> {
    let text = path_variable("HOME").and_then(|it| read(&it.join(REMIND_FILE)).ok());
    let file = text.and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default();
    RemindUserConfig { variable: &text_of, file }
}

fn user_file() -> Option<PathBuf> {
    user_folder("XDG_CONFIG_HOME", ".config").map(|it| it.join(USER_FILE))
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    scan::open_regular(path)?.take(CONFIG_BYTES_MAX as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// Returns the text of a variable; one that is not UTF-8 is shown as far as it is.
fn text_of(name: &str) -> Option<String> {
    variable(name).map(|it| it.to_string_lossy().into_owned())
}
