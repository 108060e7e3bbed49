//! The settings as plain values, with their defaults.

use std::time::Duration;

use super::knowledge::KnowledgeSettings;
use super::providers::{AutomaticConsolidationSettings, ProvidersByJob};
use super::typed_memory_retention::TypedMemorySettings;
use crate::ingest::redact::CustomKind;
use crate::model::heat::HeatParameters;

/// All settings. `Default` is the meaning of an absent file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// Budgets of replies.
    pub(crate) budgets: BudgetSettings,
    /// Bounds of a compile.
    pub(crate) compile: CompileSettings,
    /// Consolidation without an agent; the user's alone.
    pub(crate) consolidation: AutomaticConsolidationSettings,
    /// Episodes and what is learnt of them.
    pub(crate) knowledge: KnowledgeSettings,
    /// Typed memories.
    pub(crate) memory: TypedMemorySettings,
    /// Programs and services that are asked; the user's alone.
    pub(crate) providers: ProvidersByJob,
    /// Kinds of secrets.
    pub(crate) redaction: RedactionSettings,
    /// Rescans of the folder; read again while serving.
    pub(crate) rescan: RescanSettings,
    /// The server.
    pub(crate) server: ServerSettings,
    /// Warming and cooling; read again while serving.
    pub(crate) temperature: TemperatureSettings,
}

/// Tokens of a reply to a call without a budget; `None` is without bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BudgetSettings {
    /// Tokens of a search.
    pub(crate) search: Option<u32>,
    /// Tokens of a fetch.
    pub(crate) fetch: Option<u32>,
    /// Tokens of a fetch of several nodes.
    pub(crate) fetch_batch: Option<u32>,
    /// Tokens of related nodes.
    pub(crate) related: u32,
}

/// Bounds of a compile; `None` is without bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompileSettings {
    /// Whether source code is read.
    pub(crate) code: bool,
    /// Whether git's ignore files are followed, too.
    pub(crate) gitignore: bool,
    /// Bytes of a file; a larger one is skipped with a warning.
    pub(crate) max_file_size: Option<u64>,
    /// Files that are parsed at once; `None` is one per processor.
    pub(crate) max_parallelism: Option<u32>,
    /// Maximum duration.
    pub(crate) wall_clock_timeout: Option<Duration>,
    /// Whether what agents write lands in the folder.
    pub(crate) write_back: bool,
}

/// The kinds of secrets to redact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RedactionSettings {
    /// Built-in kinds that are disabled.
    pub(crate) disable_builtin_kinds: Vec<String>,
    /// Kinds beside the built-in ones.
    pub(crate) custom: Vec<CustomKind>,
}

/// Rescans of the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RescanSettings {
    /// Whether the folder is rescanned.
    pub(crate) enabled: bool,
    /// Time between rescans; may be as short as a nanosecond, the scheduler has a minimum.
    pub(crate) interval: Duration,
    /// Time since a file's last change after which it is compiled.
    pub(crate) settle: Duration,
}

/// The transport between clients and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Standard input and output.
    Stdio,
    /// HTTP.
    Http,
}

/// The server. A `None` leaves the choice to an environment variable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    /// The transport.
    pub(crate) transport: Option<Transport>,
    /// The address to listen at; only with HTTP.
    pub(crate) listen: Option<String>,
    /// Whether tools return structured content beside their text.
    pub(crate) structured: bool,
    /// Its log.
    pub(crate) logging: LogSettings,
    /// Notifications about resources.
    pub(crate) resources: ResourceNotificationSettings,
    /// Times at which sessions are recorded.
    pub(crate) sessions: SessionLedgerFlushSettings,
    /// The log of rescans.
    pub(crate) rescan_files: JsonlLogFileSettings,
}

/// The least severe messages that are logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogLevel {
    /// Every request.
    Debug,
    /// Starts, stops, compiles.
    #[default]
    Info,
    /// Oddities.
    Warn,
    /// Failures.
    Error,
}

/// The format of a line of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// The log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogSettings {
    /// The least severe messages that are logged.
    pub(crate) level: LogLevel,
    /// The format of a line.
    pub(crate) format: LogFormat,
    /// The file that lines are appended to; `None` is standard error.
    pub(crate) output_path: Option<String>,
    /// Records that are kept in memory.
    pub(crate) buffer_size: u32,
    /// A log for each session.
    pub(crate) session_files: JsonlLogFileSettings,
}

/// A log in files of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JsonlLogFileSettings {
    /// Whether it is written.
    pub(crate) enabled: bool,
    /// Bytes after which a new file begins.
    pub(crate) max_file_size: u64,
}

/// Notifications about resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceNotificationSettings {
    /// Time during which changes are gathered.
    pub(crate) debounce: Duration,
    /// Debounce times by the name of the resource.
    pub(crate) overrides: Vec<(String, Duration)>,
}

/// The times at which sessions are written to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionLedgerFlushSettings {
    /// Time between writes.
    pub(crate) flush_interval: Duration,
}

/// Warming and cooling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TemperatureSettings {
    /// Whether nodes cool.
    pub(crate) enabled: bool,
    /// Share of its temperature that a node loses in an hour, continuously compounded.
    pub(crate) decay_rate: f64,
    /// Temperature that a read adds.
    pub(crate) access_boost: f64,
    /// Temperature below which a node is cold.
    pub(crate) cold_threshold: f64,
    /// Temperature from which on a node is hot.
    pub(crate) hot_threshold: f64,
    /// Temperature below which a cold node is announced.
    pub(crate) notify_threshold: f64,
    /// Temperature that a summarized node is warmed to.
    pub(crate) summarize_rebound: f64,
    /// Time between writes of the memory clock.
    pub(crate) tick_interval: Duration,
    /// Time during which an announced node is not announced again.
    pub(crate) cold_notify_ttl: Duration,
    /// Maximum nodes of one announcement.
    pub(crate) cold_notify_limit: u32,
}

impl Default for BudgetSettings {
    fn default() -> BudgetSettings {
        BudgetSettings { search: None, fetch: None, fetch_batch: None, related: 1000 }
    }
}

impl Default for RescanSettings {
    fn default() -> RescanSettings {
        RescanSettings {
            enabled: true,
            interval: Duration::from_secs(30),
            settle: Duration::from_millis(500),
        }
    }
}

impl Default for LogSettings {
    fn default() -> LogSettings {
        LogSettings {
            level: LogLevel::Info,
            format: LogFormat::Text,
            output_path: None,
            buffer_size: 1000,
            session_files: JsonlLogFileSettings::default(),
        }
    }
}

impl Default for JsonlLogFileSettings {
    fn default() -> JsonlLogFileSettings {
        JsonlLogFileSettings { enabled: false, max_file_size: 10 * 1024 * 1024 }
    }
}

impl Default for ResourceNotificationSettings {
    fn default() -> ResourceNotificationSettings {
        ResourceNotificationSettings { debounce: Duration::from_millis(500), overrides: Vec::new() }
    }
}

impl ResourceNotificationSettings {
    /// Returns the time during which changes of the resource `name` are gathered.
    pub(crate) fn debounce_of(&self, name: &str) -> Duration {
        match self.overrides.iter().find(|(known, _)| known == name) {
            Some((_, debounce)) => *debounce,
            None if name == "logs" => self.debounce.max(Duration::from_secs(1)),
            None if name == "temperature" => self.debounce.max(Duration::from_secs(2)),
            None => self.debounce,
        }
    }
}

impl Default for SessionLedgerFlushSettings {
    fn default() -> SessionLedgerFlushSettings {
        SessionLedgerFlushSettings { flush_interval: Duration::from_secs(30) }
    }
}

impl Default for TemperatureSettings {
    fn default() -> TemperatureSettings {
        let rates = HeatParameters::default();
        let duration = |ms: i64| Duration::from_millis(ms.unsigned_abs());
        TemperatureSettings {
            enabled: rates.is_enabled,
            decay_rate: rates.decay_per_hour,
            access_boost: rates.access_boost,
            cold_threshold: rates.cold,
            hot_threshold: rates.hot,
            notify_threshold: rates.notify,
            summarize_rebound: rates.summarize_rebound,
            tick_interval: duration(rates.tick_ms),
            cold_notify_ttl: duration(rates.notify_ttl_ms),
            cold_notify_limit: rates.notify_max,
        }
    }
}

impl TemperatureSettings {
    /// Returns these settings as rates of heat.
    pub(crate) fn rates(&self) -> HeatParameters {
        let ms = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        HeatParameters {
            is_enabled: self.enabled,
            decay_per_hour: self.decay_rate,
            access_boost: self.access_boost,
            summarize_rebound: self.summarize_rebound,
            cold: self.cold_threshold,
            hot: self.hot_threshold,
            notify: self.notify_threshold,
            tick_ms: ms(self.tick_interval),
            notify_ttl_ms: ms(self.cold_notify_ttl),
            notify_max: self.cold_notify_limit,
        }
    }
}
