//! The server's log: its destination, level and format.
//!
//! It goes to standard error, since stdout is the protocol, or to a file that only its owner can
//! read. A log file named by a folder's settings must be inside that folder, behind no link, and
//! must not be one that would be compiled.
//!
//! Records are kept in a [`RecentLogRecords`] as well, for clients that read the log.
//!
//! Only this program's own records are written: libraries may log the text of notes before its
//! secrets are redacted.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use log::{LevelFilter, Log, Metadata, Record};
use serde_json::json;
use simplelog::{ConfigBuilder, WriteLogger};

use super::CommandError;
use super::terminal_safe_output::{TerminalOrElsewhere, TextStream};
use crate::ingest::parse::Syntax;
use crate::mcp::QUIET_TARGET;
use crate::model::clock::Clock;
use crate::server::jsonl_files::symlink_free_subfolder::ConfinedFolderPath;
use crate::server::recent_log_records::{self, RecentLogRecords};
use crate::settings::config::{LogFormat, LogLevel, LogSettings};
use crate::text::terminal_safe_json::json_text;

/// The target of this program's own records, the only ones written.
const TARGET: &str = env!("CARGO_CRATE_NAME");

/// Starts the log; returns the buffer of its latest records. The operator's flag overrides the
/// settings of the folder.
pub(super) fn start(
    settings: &LogSettings,
    folder: Option<&Path>,
    is_verbose: bool,
) -> Result<RecentLogRecords, CommandError> {
    let level = match settings.level {
        _ if is_verbose => LevelFilter::Debug,
        LogLevel::Debug => LevelFilter::Debug,
        LogLevel::Info => LevelFilter::Info,
        LogLevel::Warn => LevelFilter::Warn,
        LogLevel::Error => LevelFilter::Error,
    };
    // A full path, which only trusted settings may have, needs no folder.
    let below = |path: &str| folder.or(Path::new(path).is_absolute().then_some(Path::new("/")));
    let file = settings.output_path.as_deref().and_then(|path| Some((path, below(path)?)));
    let sink: Box<dyn Write + Send> = match file {
        Some((path, folder)) => Box::new(open(path, folder).map_err(|why| {
            let key = "server.logging.output_path";
            CommandError::Because(format!("`{key}` in the settings is `{path}`: {why}"))
        })?),
        None => Box::new(TextStream::new(io::stderr(), TerminalOrElsewhere::of(&io::stderr()))),
    };
    // A line is one write, also where others write to the same file.
    let sink: Box<dyn Write + Send> = Box::new(io::LineWriter::new(sink));
    let lines: Box<dyn Log> = match settings.format {
        LogFormat::Text => {
            let config =
                ConfigBuilder::new().set_time_format_rfc3339().add_filter_allow_str(TARGET).build();
            WriteLogger::new(level, config, sink)
        }
        LogFormat::Json => Box::new(JsonLogger { sink: Mutex::new(sink) }),
    };
    let recent_log = RecentLogRecords::new(settings.buffer_size);
    log::set_max_level(level);
    // It fails only where a logger is set already, which then gets the records.
    let _ =
        log::set_boxed_logger(Box::new(LogFanout { level, lines, recent_log: recent_log.clone() }));
    Ok(recent_log)
}

/// Passes each record to the log and to the buffer.
struct LogFanout {
    level: LevelFilter,
    lines: Box<dyn Log>,
    recent_log: RecentLogRecords,
}

impl Log for LogFanout {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= self.level && metadata.target().starts_with(TARGET)
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        self.lines.log(record);
        let (line, level) = (record.args().to_string(), record.level());
        let now = Clock::System.now();
        let kept = recent_log_records::LogRecord::new(&line, level.as_str(), now);
        // Who reads the log is not shown what reads it.
        if record.target() != QUIET_TARGET {
            self.recent_log.push(kept);
        }
    }

    fn flush(&self) {
        self.lines.flush();
    }
}

/// Opens the log file for appending, creating it and its folders. A path out of the folder is
/// accepted, since only trusted settings may have one.
fn open(path: &str, folder: &Path) -> Result<File, String> {
    let bad = |error: io::Error| format!("cannot open it: {error}; name another file");
    if Syntax::of(path).is_some() {
        return Err("that is a note and would be compiled; let it end in `.log`".to_owned());
    }
    if let Some(path) = crate::settings::config::confined_path(path) {
        return open_inside(&path, folder);
    }
    let full = folder.join(path);
    if full.metadata().is_ok_and(|it| !it.is_file()) {
        return Err("it is no regular file; name another".to_owned());
    }
    if let Some(parent) = full.parent() {
        fs::create_dir_all(parent).map_err(bad)?;
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&full).map_err(bad)
}

/// Opens a log file of a folder that may be a stranger's, through no link: it would lead to a file
/// of the user.
fn open_inside(path: &str, folder: &Path) -> Result<File, String> {
    let mut step = folder.to_owned();
    for name in path.split('/') {
        step.push(name);
        if step.is_symlink() {
            return Err("a link is in it, and is not followed; name a path without".to_owned());
        }
    }
    let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
    let opened = ConfinedFolderPath::new(folder, above).make().and_then(|it| it.append(name));
    opened.map_err(|error| format!("cannot open it: {error}; name another file"))
}

/// A logger that writes one JSON object per record.
struct JsonLogger {
    sink: Mutex<Box<dyn Write + Send>>,
}

impl Log for JsonLogger {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let line = json!({
            "time_ms": Clock::System.now().0,
            "level": record.level().as_str().to_ascii_lowercase(),
            "message": record.args().to_string(),
        });
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        // There is no better place to report that the log is gone.
        let _ = writeln!(sink, "{}", json_text(&line));
    }

    fn flush(&self) {
        let _ = self.sink.lock().unwrap_or_else(PoisonError::into_inner).flush();
    }
}
