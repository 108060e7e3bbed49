//! A root's own folder `.remindb/`: its settings and first temperatures, read and checked.
//!
//! The folder may come from a stranger's repository. Nothing in it is read through a link that
//! leaves the root, or beyond its maximum size, and settings that would turn a protection off are
//! followed only if the operator trusts the folder. A missing file means the defaults; a bad one is
//! an error, and a running server keeps the last good settings.

#[cfg(test)]
mod tests;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ingest::redact::Redactor;
use crate::ingest::scan::{self, CodeFiles, GitignoreMode, SkippedPath};
use crate::model::identity::ContentHash;
use crate::settings::config::{self, Config, ConfigError, Trust, UntrustedSetting, UserConfig};
use crate::settings::initial_temperatures::{self, InitialTemperatures, InitialTemperaturesError};

/// The operator's options for a folder, which the folder itself cannot set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OperatorOptions {
    /// Whether the folder's settings may turn protections off.
    pub(crate) trust: Trust,
    /// Whether git's ignore files are followed, too; the folder may request it as well.
    pub(crate) gitignore: GitignoreMode,
    /// Whether what agents write lands in the folder; the folder may request it as well.
    pub(crate) write_back: bool,
    /// The operator's own settings, which complete those of the folder.
    pub(crate) user: Arc<UserConfig>,
}

/// The settings of a root, checked.
#[derive(Debug)]
pub(crate) struct RootSettings {
    /// The settings that are followed.
    pub(crate) config: Config,
    /// Temperatures at birth.
    pub(crate) initial_temperatures: InitialTemperatures,
    /// The redactor of secrets.
    pub(crate) redactor: Redactor,
    /// The settings that are ignored.
    pub(crate) untrusted: Vec<UntrustedSetting>,
}

/// A fault in a root's own folder, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RootSettingsError(String);

impl Default for RootSettings {
    fn default() -> RootSettings {
        RootSettings {
            config: Config::default(),
            initial_temperatures: InitialTemperatures::default(),
            redactor: Redactor::builtin(),
            untrusted: Vec::new(),
        }
    }
}

impl RootSettings {
    /// Reads the settings of a root.
    pub(crate) fn load(
        root: &Path,
        options: OperatorOptions,
    ) -> Result<RootSettings, RootSettingsError> {
        SettingsFileBytes::read(root).workspace(&options)
    }

    /// Returns whether git's ignore files are followed.
    pub(crate) fn gitignore(&self) -> GitignoreMode {
        if self.config.compile.gitignore { GitignoreMode::Followed } else { GitignoreMode::Unread }
    }

    /// Returns whether files of source code are read.
    pub(crate) fn code_files(&self) -> CodeFiles {
        if self.config.compile.code { CodeFiles::Read } else { CodeFiles::PassedOver }
    }

    /// Returns the ignored settings about compiling, as skipped lines of their file.
    pub(crate) fn skipped(&self) -> impl Iterator<Item = SkippedPath> {
        let is_of_compiling = |it: &&UntrustedSetting| it.key.starts_with("redaction.");
        let about_compiling = self.untrusted.iter().filter(is_of_compiling);
        about_compiling.map(RootSettings::to_skipped_path)
    }

    /// Returns an ignored setting as a skipped line of its file.
    pub(crate) fn to_skipped_path(untrusted: &UntrustedSetting) -> SkippedPath {
        SkippedPath {
            path: config::CONFIG_FILE.to_owned(),
            line: None,
            what: untrusted.to_string(),
        }
    }
}

/// The bytes of the files as read.
struct SettingsFileBytes {
    config: Result<Vec<u8>, String>,
    initial_temperatures: Result<Vec<u8>, String>,
}

impl SettingsFileBytes {
    fn read(root: &Path) -> SettingsFileBytes {
        let read = |name, max| {
            scan::read_root_file(root, name, max).map(|bytes| bytes.unwrap_or_default())
        };
        SettingsFileBytes {
            config: read(config::CONFIG_FILE, config::CONFIG_BYTES_MAX),
            initial_temperatures: read(
                initial_temperatures::TEMPERATURES_FILE,
                initial_temperatures::TEMPERATURES_BYTES_MAX,
            ),
        }
    }

    /// Returns a hash of the contents, and of the errors of unreadable files.
    fn hash(&self) -> ContentHash {
        let mut all = Vec::new();
        for file in [&self.config, &self.initial_temperatures] {
            let (sign, bytes) = match file {
                Ok(bytes) => (0, bytes.as_slice()),
                Err(why) => (1, why.as_bytes()),
            };
            all.push(sign);
            all.extend(bytes.len().to_le_bytes());
            all.extend(bytes);
        }
        ContentHash::of_bytes(&all)
    }

    fn workspace(self, options: &OperatorOptions) -> Result<RootSettings, RootSettingsError> {
        let config = text(config::CONFIG_FILE, self.config)?;
        let (mut config, untrusted) = options.user.complete(&config, options.trust)?;
        let initial_temperatures = InitialTemperatures::parse(&text(
            initial_temperatures::TEMPERATURES_FILE,
            self.initial_temperatures,
        )?)?;
        config.compile.write_back |= options.write_back;
        config.compile.gitignore |= options.gitignore == GitignoreMode::Followed;
        let redactor = config
            .redactor()
            .map_err(|error| RootSettingsError(format!("{}: {error}", config::CONFIG_FILE)))?;
        Ok(RootSettings { config, initial_temperatures, redactor, untrusted })
    }
}

fn text(name: &str, bytes: Result<Vec<u8>, String>) -> Result<String, RootSettingsError> {
    String::from_utf8(bytes.map_err(RootSettingsError)?).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|it| **it == b'\n').count();
        RootSettingsError(format!("{name} is not UTF-8, first at line {line}; save it as UTF-8"))
    })
}

/// The last good settings of a root that may be edited meanwhile.
#[derive(Debug, Default)]
pub(crate) struct LiveRootSettings {
    /// `None` without a root; then nothing ever changes.
    root: Option<PathBuf>,
    options: OperatorOptions,
    /// Hash of the files when last read, good or bad.
    seen: Option<ContentHash>,
    current: Arc<RootSettings>,
}

/// The result of reading the files again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reload {
    /// They are unchanged.
    Same,
    /// They changed, and are followed from now on.
    Changed,
    /// They changed and are faulty; the last good ones stay. Reported once for each content.
    Bad(RootSettingsError),
}

impl LiveRootSettings {
    /// Reads the settings of a root for the first time, when a bad file is an error.
    pub(crate) fn start(
        root: &Path,
        options: OperatorOptions,
    ) -> Result<LiveRootSettings, RootSettingsError> {
        let files = SettingsFileBytes::read(root);
        let seen = Some(files.hash());
        let current = Arc::new(files.workspace(&options)?);
        Ok(LiveRootSettings { root: Some(root.to_owned()), options, seen, current })
    }

    /// Returns settings without a root: those of the operator, with the options for roots that will
    /// be compiled.
    pub(crate) fn without_folder(
        options: OperatorOptions,
    ) -> Result<LiveRootSettings, RootSettingsError> {
        let files =
            SettingsFileBytes { config: Ok(Vec::new()), initial_temperatures: Ok(Vec::new()) };
        let current = Arc::new(files.workspace(&options)?);
        Ok(LiveRootSettings { options, current, ..LiveRootSettings::default() })
    }

    /// Reads the files again.
    pub(crate) fn reload(&mut self) -> Reload {
        let Some(root) = &self.root else { return Reload::Same };
        let files = SettingsFileBytes::read(root);
        let hash = files.hash();
        if self.seen.replace(hash) == Some(hash) {
            return Reload::Same;
        }
        match files.workspace(&self.options) {
            Ok(workspace) => {
                self.current = Arc::new(workspace);
                Reload::Changed
            }
            Err(error) => Reload::Bad(error),
        }
    }

    /// Returns the settings that are followed now.
    pub(crate) fn current(&self) -> &Arc<RootSettings> {
        &self.current
    }

    /// Returns the root of the settings.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Returns the options for other roots, which are never trusted.
    pub(crate) fn options_of_others(&self) -> OperatorOptions {
        OperatorOptions { trust: Trust::Withheld, write_back: false, ..self.options.clone() }
    }
}

impl From<ConfigError> for RootSettingsError {
    fn from(error: ConfigError) -> RootSettingsError {
        RootSettingsError(error.to_string())
    }
}

impl From<InitialTemperaturesError> for RootSettingsError {
    fn from(error: InitialTemperaturesError) -> RootSettingsError {
        RootSettingsError(error.to_string())
    }
}

impl fmt::Display for RootSettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RootSettingsError {}
