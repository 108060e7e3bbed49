//! `.remindb/config.json`: every setting, its range, its default, and whether an untrusted folder
//! may set it.
//!
//! The file is in the folder whose notes are remembered, so it may come from somebody else's
//! repository. [`Config::restrict`] undoes the settings that such a file may not make: turning
//! protections off, opening a port, writing outside. Parsing is pure; the shell reads the file.

mod knowledge;
mod object_reader;
mod providers;
mod remind_program_settings;
#[cfg(test)]
mod tests;
mod typed_memory_retention;
mod units;
mod user_and_folder_layers;
mod values_and_defaults;

use std::fmt;

use serde_json::{Map, Value};

use crate::ingest::redact::{CustomKind, RedactConfigError, Redactor};
pub(crate) use knowledge::KnowledgeSettings;
use object_reader::{ObjectReader, SignConstraint};
#[cfg(feature = "providers")]
pub(crate) use providers::ProviderKind;
pub(crate) use providers::{AutomaticConsolidationSettings, ProviderSpec, ProvidersByJob};
pub(crate) use remind_program_settings::RemindUserConfig;
pub(crate) use typed_memory_retention::{MemoryRetentionLimits, TypedMemorySettings};
pub(crate) use user_and_folder_layers::UserConfig;
pub(crate) use values_and_defaults::{
    BudgetSettings, CompileSettings, Config, JsonlLogFileSettings, LogFormat, LogLevel,
    LogSettings, RedactionSettings, RescanSettings, ResourceNotificationSettings, ServerSettings,
    SessionLedgerFlushSettings, TemperatureSettings, Transport,
};

/// Path of the file in messages.
pub(crate) const CONFIG_FILE: &str = ".remindb/config.json";

/// Maximum bytes of the file.
pub(crate) const CONFIG_BYTES_MAX: usize = 1024 * 1024;

/// Names of the resources whose changes are announced.
const RESOURCES: [&str; 7] =
    ["graph", "snapshots", "tree", "files", "rescan", "temperature", "logs"];

/// Keys that only a user's own file may have.
const OF_USER: [&str; 2] = ["providers", "consolidation"];

/// Whether a folder's settings may turn protections off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Trust {
    /// They may not.
    #[default]
    Withheld,
    /// They may.
    Given,
}

/// A fault in the file, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConfigError(String);

/// A setting that is ignored, since the folder is not trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UntrustedSetting {
    /// The setting's name.
    pub(crate) key: &'static str,
    /// The harm it could do.
    pub(crate) why: &'static str,
}

impl Config {
    /// Parses the text of a folder's file. An empty text means the defaults; text after the first
    /// value is ignored.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn parse(text: &str) -> Result<Config, ConfigError> {
        Config::of_map(CONFIG_FILE, Config::to_map(CONFIG_FILE, text)?)
    }

    /// Parses the text of a file as one object; `name` is its path in messages.
    fn to_map(name: &str, text: &str) -> Result<Map<String, Value>, ConfigError> {
        if CONFIG_BYTES_MAX < text.len() {
            return Err(ConfigError(format!("{name} is larger than {CONFIG_BYTES_MAX} bytes")));
        }
        let text = text.trim_start_matches('\u{feff}');
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        match values.next() {
            None => Ok(Map::new()),
            Some(Ok(Value::Object(map))) => Ok(map),
            Some(Ok(other)) => {
                let other = crate::text::truncate_chars(&other.to_string(), 40);
                Err(ConfigError(format!("{name} must be an object, not `{other}`")))
            }
            Some(Err(error)) => Err(ConfigError(format!("{name} is no JSON: {error}"))),
        }
    }

    /// Reads the settings of an object.
    fn of_map(name: &str, map: Map<String, Value>) -> Result<Config, ConfigError> {
        let mut fields = ObjectReader::root(name, map);
        let config = Config {
            budgets: budgets(fields.object("budgets")?)?,
            compile: compile(fields.object("compile")?)?,
            consolidation: AutomaticConsolidationSettings::read(fields.object("consolidation")?)?,
            knowledge: KnowledgeSettings::read(fields.object("knowledge")?)?,
            memory: TypedMemorySettings::read(fields.object("memory")?)?,
            providers: ProvidersByJob::read(fields.object("providers")?)?,
            redaction: redaction(fields.object("redaction")?)?,
            rescan: rescan(fields.object("rescan")?)?,
            server: server(fields.object("server")?)?,
            temperature: temperature(fields.object("temperature")?)?,
        };
        fields.done()?;
        config
            .redactor()
            .map_err(|error| ConfigError(format!("`redaction` in {name}: {error}")))?;
        Ok(config)
    }

    /// Returns the redactor as configured.
    pub(crate) fn redactor(&self) -> Result<Redactor, RedactConfigError> {
        Redactor::new(&self.redaction.disable_builtin_kinds, &self.redaction.custom)
    }

    /// Refuses an address with a transport that does not listen.
    pub(crate) fn check_listen(&self, transport: Transport) -> Result<(), ConfigError> {
        match (&self.server.listen, transport) {
            (Some(listen), Transport::Stdio) => Err(ConfigError(format!(
                "`server.listen` in the settings is `{listen}`, but stdio listens nowhere; set \
                 `server.transport` to `http` or remove it"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the settings that only a trusted folder may make.
    #[cfg(any(test, fuzzing))]
    pub(crate) fn untrusted(&self) -> Vec<UntrustedSetting> {
        let mut config = self.clone();
        config.restrict()
    }

    /// Undoes the settings that no folder may make, and returns them.
    fn take_those_of_user(&mut self) -> Vec<UntrustedSetting> {
        let Config { providers, consolidation, .. } = Config::default();
        let mut undone = Vec::new();
        let has_providers = std::mem::replace(&mut self.providers, providers);
        if has_providers != ProvidersByJob::default() {
            let why = "it would send what is remembered to others";
            undone.push(UntrustedSetting { key: OF_USER[0], why });
        }
        if std::mem::replace(&mut self.consolidation, consolidation) != consolidation {
            let why = "it decides who is asked about what is remembered";
            undone.push(UntrustedSetting { key: OF_USER[1], why });
        }
        undone
    }

    /// Undoes the settings that only a trusted folder may make, and returns them.
    pub(crate) fn restrict(&mut self) -> Vec<UntrustedSetting> {
        let mut undone = Vec::new();
        let mut undo = |set: bool, key, why| {
            if set {
                undone.push(UntrustedSetting { key, why });
            }
        };
        let disabled = std::mem::take(&mut self.redaction.disable_builtin_kinds);
        undo(
            !disabled.is_empty(),
            "redaction.disable_builtin_kinds",
            "it would let secrets into the memory",
        );
        let memory = std::mem::take(&mut self.memory);
        undo(
            memory != TypedMemorySettings::default(),
            "memory",
            "it would refuse or archive memories that are not of this folder alone",
        );
        let transport = self.server.transport.take_if(|transport| *transport == Transport::Http);
        undo(transport.is_some(), "server.transport", "it would open a port");
        undo(self.server.listen.take().is_some(), "server.listen", "it would open a port");
        let leaves = |path: &mut String| !is_log_path(path);
        let output_path = self.server.logging.output_path.take_if(leaves);
        undo(
            output_path.is_some(),
            "server.logging.output_path",
            "it would write outside the folder, into a hidden part of it, or into what is no \
             `.log`",
        );
        undone
    }
}

/// Parses a duration above zero: `500ms`, `30s`, `1h30m`. The error is the rest of a sentence that
/// begins with the setting's name.
pub(crate) fn positive_duration(text: &str) -> Result<std::time::Duration, String> {
    match units::duration(text) {
        None => Err(format!("is no duration, `{text}`; {}", units::DURATION_HELP)),
        Some(signed) if signed.negative || signed.size.is_zero() => {
            Err(format!("must be positive, not `{text}`"))
        }
        Some(signed) => Ok(signed.size),
    }
}

/// Returns `path` without `.` and `..`, if it is relative and stays below its start. Links are for
/// the shell to follow and to check again.
pub(crate) fn confined_path(path: &str) -> Option<String> {
    // A root, a home or a drive, also after `.` and `..` are gone.
    let is_elsewhere =
        |path: &str| path.starts_with(['/', '\\', '~']) || path.as_bytes().get(1) == Some(&b':');
    if is_elsewhere(path) || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['/', '\\']) {
        match part {
            "" | "." => (),
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let resolved = parts.join("/");
    (!resolved.is_empty() && !is_elsewhere(&resolved)).then_some(resolved)
}

/// Returns whether an untrusted folder may have a log at `path`. The path must be inside, named
/// like a log, and in no hidden folder but the program's own.
fn is_log_path(path: &str) -> bool {
    confined_path(path).is_some_and(|path| {
        let own = path.strip_prefix(".remindb/logs/").unwrap_or(&path);
        own.ends_with(".log") && own.split('/').all(|part| !part.starts_with('.'))
    })
}

fn budgets(mut fields: ObjectReader) -> Result<BudgetSettings, ConfigError> {
    let budgets = BudgetSettings {
        search: fields.count("search")?,
        fetch: fields.count("fetch")?,
        fetch_batch: fields.count("fetch_batch")?,
        related: fields.count("related")?.unwrap_or(BudgetSettings::default().related),
    };
    fields.done().map(|()| budgets)
}

fn compile(mut fields: ObjectReader) -> Result<CompileSettings, ConfigError> {
    let timeout = fields.duration("wall_clock_timeout", SignConstraint::NotNegative)?;
    let compile = CompileSettings {
        code: fields.flag("code")?.unwrap_or_default(),
        gitignore: fields.flag("gitignore")?.unwrap_or_default(),
        max_file_size: fields.size("max_file_size")?,
        max_parallelism: fields.count("max_parallelism")?,
        wall_clock_timeout: timeout.filter(|timeout| !timeout.is_zero()),
        write_back: fields.flag("write_back")?.unwrap_or_default(),
    };
    fields.done().map(|()| compile)
}

fn redaction(mut fields: ObjectReader) -> Result<RedactionSettings, ConfigError> {
    let mut disable_builtin_kinds = Vec::new();
    for (idx, kind) in fields.list("disable_builtin_kinds")?.into_iter().enumerate() {
        match kind {
            Value::String(kind) => disable_builtin_kinds.push(kind),
            other => {
                let name = format!("disable_builtin_kinds[{idx}]");
                return Err(fields.wrong(&name, "the name of a kind", &other));
            }
        }
    }
    let mut custom = Vec::new();
    for (idx, item) in fields.list("custom")?.into_iter().enumerate() {
        let mut item = fields.item("custom", idx, item)?;
        let kind = item.text("kind")?.unwrap_or_default();
        let pattern = item.text("pattern")?.unwrap_or_default();
        item.done()?;
        custom.push(CustomKind { kind, pattern });
    }
    fields.done().map(|()| RedactionSettings { disable_builtin_kinds, custom })
}

fn rescan(mut fields: ObjectReader) -> Result<RescanSettings, ConfigError> {
    let default = RescanSettings::default();
    let rescan = RescanSettings {
        enabled: fields.flag("enabled")?.unwrap_or(default.enabled),
        interval: fields
            .duration("interval", SignConstraint::Positive)?
            .unwrap_or(default.interval),
        settle: fields.duration("settle", SignConstraint::NotNegative)?.unwrap_or(default.settle),
    };
    fields.done().map(|()| rescan)
}

fn server(mut fields: ObjectReader) -> Result<ServerSettings, ConfigError> {
    let transports = [("stdio", Transport::Stdio), ("http", Transport::Http)];
    let mut resources = fields.object("resources")?;
    let debounce = resources.duration("debounce", SignConstraint::NotNegative)?;
    let mut overrides_at = resources.object("overrides")?;
    let mut overrides = Vec::new();
    for (name, value) in overrides_at.rest() {
        if !RESOURCES.contains(&name.as_str()) {
            let names = RESOURCES.join(", ");
            let why = format!("names no resource that changes; these do: {names}");
            return Err(overrides_at.error(&name, why));
        }
        let debounce = overrides_at.to_duration(&name, &value, SignConstraint::NotNegative)?;
        overrides.push((name, debounce));
    }
    resources.done()?;
    let mut sessions = fields.object("sessions")?;
    let flush_interval = sessions.duration("flush_interval", SignConstraint::Positive)?;
    sessions.done()?;
    let server = ServerSettings {
        transport: fields.choice("transport", &transports)?,
        listen: fields.text("listen")?,
        structured: fields.flag("structured")?.unwrap_or_default(),
        logging: logging(fields.object("logging")?)?,
        resources: ResourceNotificationSettings {
            debounce: debounce.unwrap_or(ResourceNotificationSettings::default().debounce),
            overrides,
        },
        sessions: SessionLedgerFlushSettings {
            flush_interval: flush_interval
                .unwrap_or(SessionLedgerFlushSettings::default().flush_interval),
        },
        rescan_files: log_files(fields.object("rescan_files")?)?,
    };
    fields.done().map(|()| server)
}

fn logging(mut fields: ObjectReader) -> Result<LogSettings, ConfigError> {
    let levels = [
        ("debug", LogLevel::Debug),
        ("info", LogLevel::Info),
        ("warn", LogLevel::Warn),
        ("error", LogLevel::Error),
    ];
    let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
    let output_path = fields.text("output_path")?;
    let logging = LogSettings {
        level: fields.choice("level", &levels)?.unwrap_or_default(),
        format: fields.choice("format", &formats)?.unwrap_or_default(),
        output_path: output_path.filter(|path| !path.is_empty() && path != "stderr"),
        buffer_size: fields.count("buffer_size")?.unwrap_or(LogSettings::default().buffer_size),
        session_files: log_files(fields.object("session_files")?)?,
    };
    fields.done().map(|()| logging)
}

fn log_files(mut fields: ObjectReader) -> Result<JsonlLogFileSettings, ConfigError> {
    let default = JsonlLogFileSettings::default();
    let log_files = JsonlLogFileSettings {
        enabled: fields.flag("enabled")?.unwrap_or(default.enabled),
        max_file_size: fields.size("max_file_size")?.unwrap_or(default.max_file_size),
    };
    fields.done().map(|()| log_files)
}

fn temperature(mut fields: ObjectReader) -> Result<TemperatureSettings, ConfigError> {
    let default = TemperatureSettings::default();
    let enabled = fields.flag("enabled")?.unwrap_or(default.enabled);
    // Without ticks, any interval is valid.
    let range = if enabled { SignConstraint::Positive } else { SignConstraint::NotNegative };
    let tick_interval = fields.duration("tick_interval", range)?;
    let tick_interval = tick_interval.filter(|interval| !interval.is_zero());
    let mut share = |name, default| {
        fields.fraction(name, 1.0).map(|share: Option<f64>| share.unwrap_or(default))
    };
    let temperature = TemperatureSettings {
        access_boost: share("access_boost", default.access_boost)?,
        cold_threshold: share("cold_threshold", default.cold_threshold)?,
        hot_threshold: share("hot_threshold", default.hot_threshold)?,
        notify_threshold: share("notify_threshold", default.notify_threshold)?,
        summarize_rebound: share("summarize_rebound", default.summarize_rebound)?,
        enabled,
        decay_rate: fields.fraction("decay_rate", f64::MAX)?.unwrap_or(default.decay_rate),
        tick_interval: tick_interval.unwrap_or(default.tick_interval),
        cold_notify_ttl: fields
            .duration("cold_notify_ttl", SignConstraint::NotNegative)?
            .unwrap_or(default.cold_notify_ttl),
        cold_notify_limit: fields.count("cold_notify_limit")?.unwrap_or(default.cold_notify_limit),
    };
    fields.done().map(|()| temperature)
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

impl fmt::Display for UntrustedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UntrustedSetting { key, why } = self;
        let remedy = match OF_USER.contains(key) {
            true => "set it in your own settings",
            false => "start with --trust-workspace to allow it",
        };
        write!(f, "`{key}` is not followed: {why}; {remedy}")
    }
}
