//! The settings as plain values, and what they are when nobody says otherwise.

use std::time::Duration;

use crate::ingest::redact::CustomKind;
use crate::model::heat::Rates;

/// All settings. `Default` is what an absent file means.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Config {
    /// Tokens of replies.
    pub(crate) budgets: BudgetSettings,
    /// Bounds of a compile.
    pub(crate) compile: CompileSettings,
    /// What is a secret.
    pub(crate) redaction: RedactionSettings,
    /// Watching the folder; read again while serving.
    pub(crate) rescan: RescanSettings,
    /// The server.
    pub(crate) server: ServerSettings,
    /// Warming and cooling; read again while serving.
    pub(crate) temperature: TemperatureSettings,
}

/// Tokens of a reply where the call names none; `None` is without bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BudgetSettings {
    /// Of a search.
    pub(crate) search: Option<u32>,
    /// Of a fetch.
    pub(crate) fetch: Option<u32>,
    /// Of a fetch of several nodes.
    pub(crate) fetch_batch: Option<u32>,
    /// Of related nodes.
    pub(crate) related: u32,
}

/// Bounds of a compile; `None` is without bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompileSettings {
    /// Whether git's ignore files are followed, too.
    pub(crate) gitignore: bool,
    /// Bytes of a file; a larger one is skipped with a warning.
    pub(crate) max_file_size: Option<u64>,
    /// Files that are parsed at once; `None` is one per processor.
    pub(crate) max_parallelism: Option<u32>,
    /// How long it may take.
    pub(crate) wall_clock_timeout: Option<Duration>,
}

/// What is a secret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RedactionSettings {
    /// Built-in kinds that are not looked for.
    pub(crate) disable_builtin_kinds: Vec<String>,
    /// Kinds beside the built-in ones.
    pub(crate) custom: Vec<CustomKind>,
}

/// Watching the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RescanSettings {
    /// Whether it is watched.
    pub(crate) enabled: bool,
    /// How often; may be as short as a nanosecond, the shell sees to sense.
    pub(crate) interval: Duration,
    /// How long a file must have been left alone.
    pub(crate) settle: Duration,
}

/// How clients reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transport {
    /// Standard input and output.
    Stdio,
    /// HTTP.
    Http,
}

/// The server. What is `None` was not said, so that an environment variable may.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerSettings {
    /// How clients reach it.
    pub(crate) transport: Option<Transport>,
    /// Where it listens; only with HTTP.
    pub(crate) listen: Option<String>,
    /// Whether tools return structured content beside their text.
    pub(crate) structured: bool,
    /// Its log.
    pub(crate) logging: LogSettings,
    /// Notifications about resources.
    pub(crate) resources: ResourceSettings,
    /// How often sessions are written down.
    pub(crate) sessions: SessionSettings,
    /// The log of rescans.
    pub(crate) rescan_files: LogFileSettings,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogLevel {
    /// Every request.
    Debug,
    /// Starts, stops, compiles.
    #[default]
    Info,
    /// What was odd.
    Warn,
    /// What broke.
    Error,
}

/// How a line of the log is written.
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
    /// How much.
    pub(crate) level: LogLevel,
    /// How a line is written.
    pub(crate) format: LogFormat,
    /// The file that lines are appended to; `None` is standard error.
    pub(crate) output_path: Option<String>,
    /// Lines that are kept in memory.
    pub(crate) buffer_size: u32,
    /// A log for each session.
    pub(crate) session_files: LogFileSettings,
}

/// A log in files of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LogFileSettings {
    /// Whether it is written.
    pub(crate) enabled: bool,
    /// Bytes after which a new file begins.
    pub(crate) max_file_size: u64,
}

/// Notifications about resources.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceSettings {
    /// How long changes are gathered.
    pub(crate) debounce: Duration,
    /// The same, by the name of the resource.
    pub(crate) overrides: Vec<(String, Duration)>,
}

/// How often sessions are written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionSettings {
    /// The time between.
    pub(crate) flush_interval: Duration,
}

/// Warming and cooling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TemperatureSettings {
    /// Whether nodes cool.
    pub(crate) enabled: bool,
    /// Share of its temperature that a node loses in an hour, as an exponent.
    pub(crate) decay_rate: f64,
    /// What reading adds.
    pub(crate) access_boost: f64,
    /// Below this a node is cold.
    pub(crate) cold_threshold: f64,
    /// From here on a node is hot.
    pub(crate) hot_threshold: f64,
    /// Below this a cold node is announced.
    pub(crate) notify_threshold: f64,
    /// What a summarized node gets.
    pub(crate) summarize_rebound: f64,
    /// How often nodes cool.
    pub(crate) tick_interval: Duration,
    /// How long an announced node is not announced again.
    pub(crate) cold_notify_ttl: Duration,
    /// Nodes of one announcement.
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
            session_files: LogFileSettings::default(),
        }
    }
}

impl Default for LogFileSettings {
    fn default() -> LogFileSettings {
        LogFileSettings { enabled: false, max_file_size: 10 * 1024 * 1024 }
    }
}

impl Default for ResourceSettings {
    fn default() -> ResourceSettings {
        ResourceSettings { debounce: Duration::from_millis(500), overrides: Vec::new() }
    }
}

impl ResourceSettings {
    /// How long changes of the resource `name` are gathered.
    pub(crate) fn debounce_of(&self, name: &str) -> Duration {
        match self.overrides.iter().find(|(known, _)| known == name) {
            Some((_, debounce)) => *debounce,
            None if name == "logs" => self.debounce.max(Duration::from_secs(1)),
            None if name == "temperature" => self.debounce.max(Duration::from_secs(2)),
            None => self.debounce,
        }
    }
}

impl Default for SessionSettings {
    fn default() -> SessionSettings {
        SessionSettings { flush_interval: Duration::from_secs(30) }
    }
}

impl Default for TemperatureSettings {
    fn default() -> TemperatureSettings {
        let rates = Rates::default();
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
    /// Returns these settings as heat knows them.
    pub(crate) fn rates(&self) -> Rates {
        let ms = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Rates {
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
