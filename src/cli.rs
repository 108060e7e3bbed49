//! The command line: parses arguments, runs a command, and prints its answer or a one-line error.
//!
//! Exit codes: 0 success; 1 nothing was found, or `doctor` or `redact` found something wrong; 2
//! failure. The environment, the terminal and the working directory are read here and passed on as
//! values.

mod agent_memory_format_transfer;
mod archive;
mod args;
mod backup;
mod bench;
mod browser_opener;
mod color;
mod compile;
mod completion;
mod configured_providers;
mod doctor;
mod export;
mod foreign_import;
mod foreign_remind_transfer;
mod gc;
mod hook;
mod import;
mod inspect;
mod knowledge_commands;
mod listen_options;
mod memories;
mod memory_file_location;
mod private_temporary_folder;
mod progress;
mod redact;
mod remember;
mod restore;
mod safety_backup;
mod salvage;
mod search;
mod serve;
mod server_log_setup;
#[cfg(feature = "desktop")]
mod setup;
mod shared_space_flags;
#[cfg(feature = "shared")]
mod space;
mod terminal_safe_output;
mod tool_advice_rewording;
mod tool_commands;
mod typed_memory_output;
mod unique_process_name;
mod user_settings;
mod view;
mod view_query;

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use args::{COMMANDS, Command, CommandSpec};
use color::{PaintedText, PlainOrAnsi};
use serde::Serialize;
use terminal_safe_output::{TerminalOrElsewhere, TextStream};
use tool_advice_rewording::error_with_commands;

use crate::ingest::scan::GitignoreMode;
use crate::memory::Memory;
use crate::memory::typed::MemoryError;
use crate::model::clock::Clock;
use crate::settings::config::Trust;
use crate::settings::root_settings::{LiveRootSettings, OperatorOptions};
use crate::store::IfMissing;
use crate::text::terminal_safe_json::pretty_json_text;

/// The outcome of a command that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CommandOutcome {
    Done,
    /// There was nothing to show, or something to worry about.
    NotFound,
}

/// The failure of a command: one line for stderr after `remindb: `.
#[derive(Debug)]
enum CommandError {
    /// The message.
    Because(String),
    /// The reader of stdout is gone, which is no error.
    BrokenPipe,
}

impl From<MemoryError> for CommandError {
    fn from(error: MemoryError) -> CommandError {
        CommandError::Because(error_with_commands(&error.message))
    }
}

impl<E: std::error::Error> From<E> for CommandError {
    fn from(error: E) -> CommandError {
        CommandError::Because(error_with_commands(&error.to_string()))
    }
}

/// The streams, terminal facts and clock that a command may use.
struct CommandStreamsAndClock<'a> {
    out: TextStream<&'a mut dyn Write>,
    err: TextStream<&'a mut dyn Write>,
    colors: PlainOrAnsi,
    clock: Clock,
}

impl CommandStreamsAndClock<'_> {
    /// Writes to stdout.
    fn say(&mut self, text: impl fmt::Display) -> Result<(), CommandError> {
        written(write!(self.out, "{text}"))
    }

    /// Writes a text to stdout, in colours where they are wanted.
    fn show(&mut self, text: &PaintedText) -> Result<(), CommandError> {
        written(self.out.write_painted(text, self.colors))
    }

    /// Writes a value to stdout as JSON in lines.
    fn say_json(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        self.say(format_args!("{}\n", pretty_json_text(value)))
    }
}

fn written(result: io::Result<()>) -> Result<(), CommandError> {
    match result {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(CommandError::BrokenPipe),
        Err(error) => Err(CommandError::Because(format!(
            "cannot write the answer: {error}; what the command did is not undone"
        ))),
    }
}

/// Runs the program with the arguments after its name.
pub(crate) fn run_program(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    // A file that exceeds its size limit is a write error, not the end of the process.
    let is_signalled = Arc::new(AtomicBool::new(false));
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, is_signalled);
    let stdout = io::stdout();
    let out_end = TerminalOrElsewhere::of(&stdout);
    let has_colour = out_end == TerminalOrElsewhere::Terminal
        && variable("NO_COLOR").is_none()
        && env::var_os("TERM").is_none_or(|it| it != "dumb");
    // Not locked: while serving, another thread writes to it.
    let mut out = io::BufWriter::new(stdout);
    let mut err = io::stderr();
    let mut context = CommandStreamsAndClock {
        out: TextStream::new(&mut out, out_end),
        err: TextStream::new(&mut err, TerminalOrElsewhere::of(&io::stderr())),
        colors: if has_colour { PlainOrAnsi::Ansi } else { PlainOrAnsi::Plain },
        clock: Clock::System,
    };
    let outcome = match args::parse_args(args) {
        Ok(command) => dispatch(command, &mut context),
        Err(invalid) => Err(CommandError::Because(invalid.to_string())),
    };
    let outcome = outcome.and_then(|it| written(context.out.flush()).map(|()| it));
    match outcome {
        Ok(CommandOutcome::Done) | Err(CommandError::BrokenPipe) => ExitCode::SUCCESS,
        Ok(CommandOutcome::NotFound) => ExitCode::from(1),
        Err(CommandError::Because(what)) => {
            // If stderr is gone too, the exit code has to do.
            let _ = writeln!(context.err, "remindb: {what}");
            ExitCode::from(2)
        }
    }
}

/// Whether this build has the commands for desktops. Without the feature their code is still
/// type-checked, then dropped as unreachable.
const HAS_DESKTOP: bool = cfg!(feature = "desktop");

fn dispatch(
    command: Command,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    match command {
        Command::Compile(args) => compile::run(args, context),
        Command::Serve(args) => serve::run(args, context),
        Command::View(args) => view::run(args, context),
        Command::Inspect(args) => inspect::run(args, context),
        Command::Search(args) => search::run(args, context),
        Command::Tool(args) => tool_commands::run(args, context),
        Command::Knowledge(args) => knowledge_commands::run(args, context),
        Command::Remember(args) => remember::run(args, context),
        Command::Memories(args) => memories::run(args, context),
        Command::Bench(args) if HAS_DESKTOP => bench::run(args, context),
        Command::Doctor(args) => doctor::run(args, context),
        Command::Gc(args) => gc::run(args, context),
        Command::Backup(args) => backup::run(args, context),
        Command::Restore(args) => restore::run(args, context),
        Command::Export(args) => export::run(args, context),
        Command::Import(args) => import::run(args, context),
        Command::Salvage(args) => salvage::run(args, context),
        Command::Redact(args) => redact::run(args, context),
        Command::Archive(args) => archive::run(args, context),
        Command::ViewQuery(args) => view_query::run(args, context),
        #[cfg(feature = "desktop")]
        Command::Setup(args) => setup::run(args, context),
        #[cfg(feature = "shared")]
        Command::Space(args) => space::run(args, context),
        #[cfg(not(feature = "shared"))]
        Command::Space(_) => Err(CommandError::Because("this build has no `space`".to_owned())),
        Command::Bench(_) => Err(CommandError::Because("this build has no `bench`".to_owned())),
        #[cfg(not(feature = "desktop"))]
        Command::Setup(_) => Err(CommandError::Because("this build has no `setup`".to_owned())),
        Command::Hook(args) => hook::run(args, context),
        Command::Completion(shell) => completion::run(shell, context),
        Command::Help(topic) => help(topic.as_deref(), context),
        Command::Version => {
            context.say(format_args!("remindb {}\n", env!("CARGO_PKG_VERSION")))?;
            Ok(CommandOutcome::Done)
        }
    }
}

fn help(
    topic: Option<&str>,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let text = match topic.filter(|it| *it != "help") {
        None => include_str!("cli/help/remindb.txt"),
        Some(topic) => match CommandSpec::named(topic) {
            Some(spec) => spec.help,
            None => {
                let names: Vec<&str> = COMMANDS.iter().map(|it| it.name).collect();
                let names = names.join(", ");
                let what = format!("no help for `{topic}`; there is for {names}");
                return Err(CommandError::Because(what));
            }
        },
    };
    context.say(text)?;
    Ok(CommandOutcome::Done)
}

/// Returns a variable of the environment; an empty one counts as unset.
fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|it| !it.is_empty())
}

/// Returns the path in a variable. The XDG specification ignores those that are not absolute.
fn path_variable(name: &str) -> Option<PathBuf> {
    variable(name).map(PathBuf::from).filter(|it| it.is_absolute())
}

/// Returns a folder of the user, by the environment.
fn user_folder(name: &str, below_home: &str) -> Option<PathBuf> {
    path_variable(name).or_else(|| path_variable("HOME").map(|it| it.join(below_home)))
}

/// Opens the memory of a command outside of a folder, with the settings of its user.
fn open_memory(
    named: Option<PathBuf>,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<Memory, CommandError> {
    let settings = user_settings::memory_settings()?;
    let live = LiveRootSettings::without_folder(options(false, false)?)?;
    let knowledge = user_settings::knowledge_settings(None)?;
    let db = memory_file_location::known_database(named, context)?;
    let providers = configured_providers::providers(context)?;
    let memory = Memory::open_at(&db, IfMissing::Refuse, context.clock.clone())?;
    let memory = memory.with_workspace(live).with_memory_settings(settings);
    Ok(memory.with_knowledge_settings(knowledge).with_providers(providers))
}

/// Makes a path absolute by the working directory, without resolving links.
fn absolute(path: &Path) -> Result<PathBuf, CommandError> {
    if path.as_os_str().is_empty() {
        return Err(CommandError::Because("an empty path names nothing".to_owned()));
    }
    std::path::absolute(path).map_err(|error| {
        CommandError::Because(format!("cannot find `{}`: {error}", path.display()))
    })
}

/// Returns the operator's options for a folder: flags, else the environment.
fn options(is_trusted: bool, is_gitignore: bool) -> Result<OperatorOptions, CommandError> {
    let from_environment = match variable("REMINDB_TRUST_WORKSPACE") {
        None => false,
        Some(text) if text == "0" => false,
        Some(text) if text == "1" => true,
        Some(text) => {
            let text = text.to_string_lossy();
            let why = format!("`REMINDB_TRUST_WORKSPACE` must be 0 or 1, not `{text}`");
            return Err(CommandError::Because(why));
        }
    };
    let is_trusted = is_trusted || from_environment;
    Ok(OperatorOptions {
        trust: if is_trusted { Trust::Given } else { Trust::Withheld },
        gitignore: if is_gitignore { GitignoreMode::Followed } else { GitignoreMode::Unread },
        write_back: false,
        user: user_settings::user_config()?,
    })
}

/// Returns the number of parsing threads.
fn n_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
