//! Command lines as values: parsed and checked here, run elsewhere.

mod client_and_scope;
mod command;
mod knowledge_args;
mod knowledge_parser;
mod setup_hook_parsers;
mod space_command_parser;
mod subcommand_parsers;
mod tool_parser;
mod typed_memory_command_parsers;
mod value_parsers;
mod view_command_parser;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use lexopt::prelude::*;

#[cfg(feature = "desktop")]
pub(crate) use client_and_scope::Client;
pub(crate) use client_and_scope::{CLIENTS, ProjectOrUser};
pub(crate) use command::{
    ArchiveMemoriesArgs, ArgumentFromStdin, BackupArgs, BenchArgs, BrowserViewArgs, ColorWhen,
    Command, CompileArgs, CustomViewArgs, CustomViewTask, DoctorArgs, ExportArgs,
    ExportDestination, GcArgs, HookArgs, HookEvent, ImportArgs, ImportSource, InspectArgs,
    MemoriesArgs, RedactArgs, RememberArgs, RestoreArgs, SalvageArgs, SearchArgs, ServeArgs,
    SharedSpaceFlags, Shell, ToolArgs,
};
#[cfg(feature = "desktop")]
pub(crate) use command::{SetupArgs, SetupClients};
#[cfg(feature = "shared")]
pub(crate) use command::{SpaceArgs, SpaceTask};
pub(crate) use knowledge_args::{KnowledgeArgs, KnowledgeCommand, KnowledgeTextSource};
use value_parsers::suggestion;

/// Parses the arguments after a command's name; the database may be named before it.
type ParseArgsFn = fn(&mut lexopt::Parser, Option<PathBuf>) -> Result<Command, UsageError>;

/// A command: its name, its help and its parser.
pub(crate) struct CommandSpec {
    pub(crate) name: &'static str,
    /// The help text, with a line for each flag.
    pub(crate) help: &'static str,
    parse: ParseArgsFn,
}

/// Every command.
pub(crate) const COMMANDS: &[CommandSpec] = &[
    CommandSpec::new("compile", include_str!("help/compile.txt"), subcommand_parsers::compile),
    CommandSpec::new("serve", include_str!("help/serve.txt"), subcommand_parsers::serve),
    CommandSpec::new("view", include_str!("help/view.txt"), view_command_parser::view),
    CommandSpec::new("inspect", include_str!("help/inspect.txt"), subcommand_parsers::inspect),
    CommandSpec::new("search", include_str!("help/search.txt"), subcommand_parsers::search),
    CommandSpec::new("tree", include_str!("help/tree.txt"), |parser, db| {
        tool_parser::parse("tree", parser, db)
    }),
    CommandSpec::new("fetch", include_str!("help/fetch.txt"), |parser, db| {
        tool_parser::parse("fetch", parser, db)
    }),
    CommandSpec::new("related", include_str!("help/related.txt"), |parser, db| {
        tool_parser::parse("related", parser, db)
    }),
    CommandSpec::new("history", include_str!("help/history.txt"), |parser, db| {
        tool_parser::parse("history", parser, db)
    }),
    CommandSpec::new("delta", include_str!("help/delta.txt"), |parser, db| {
        tool_parser::parse("delta", parser, db)
    }),
    CommandSpec::new("diff", include_str!("help/diff.txt"), |parser, db| {
        tool_parser::parse("diff", parser, db)
    }),
    CommandSpec::new("stats", include_str!("help/stats.txt"), |parser, db| {
        tool_parser::parse("stats", parser, db)
    }),
    CommandSpec::new("write", include_str!("help/write.txt"), |parser, db| {
        tool_parser::parse("write", parser, db)
    }),
    CommandSpec::new("summarize", include_str!("help/summarize.txt"), |parser, db| {
        tool_parser::parse("summarize", parser, db)
    }),
    CommandSpec::new("forget", include_str!("help/forget.txt"), |parser, db| {
        tool_parser::parse("forget", parser, db)
    }),
    CommandSpec::new("pin", include_str!("help/pin.txt"), |parser, db| {
        tool_parser::parse("pin", parser, db)
    }),
    CommandSpec::new("unpin", include_str!("help/unpin.txt"), |parser, db| {
        tool_parser::parse("unpin", parser, db)
    }),
    CommandSpec::new("relate", include_str!("help/relate.txt"), |parser, db| {
        tool_parser::parse("relate", parser, db)
    }),
    CommandSpec::new("unrelate", include_str!("help/unrelate.txt"), |parser, db| {
        tool_parser::parse("unrelate", parser, db)
    }),
    CommandSpec::new("rollback", include_str!("help/rollback.txt"), |parser, db| {
        tool_parser::parse("rollback", parser, db)
    }),
    CommandSpec::new("remember", include_str!("help/remember.txt"), subcommand_parsers::remember),
    CommandSpec::new("recall", include_str!("help/recall.txt"), |parser, db| {
        knowledge_parser::parse("recall", parser, db)
    }),
    CommandSpec::new("review", include_str!("help/review.txt"), |parser, db| {
        knowledge_parser::parse("review", parser, db)
    }),
    CommandSpec::new("apply", include_str!("help/apply.txt"), |parser, db| {
        knowledge_parser::parse("apply", parser, db)
    }),
    CommandSpec::new("consolidate", include_str!("help/consolidate.txt"), |parser, db| {
        knowledge_parser::parse("consolidate", parser, db)
    }),
    CommandSpec::new("undo", include_str!("help/undo.txt"), |parser, db| {
        knowledge_parser::parse("undo", parser, db)
    }),
    CommandSpec::new("ingest", include_str!("help/ingest.txt"), |parser, db| {
        knowledge_parser::parse("ingest", parser, db)
    }),
    CommandSpec::new("conflicts", include_str!("help/conflicts.txt"), |parser, db| {
        knowledge_parser::parse("conflicts", parser, db)
    }),
    CommandSpec::new("topics", include_str!("help/topics.txt"), |parser, db| {
        knowledge_parser::parse("topics", parser, db)
    }),
    CommandSpec::new("entities", include_str!("help/entities.txt"), |parser, db| {
        knowledge_parser::parse("entities", parser, db)
    }),
    CommandSpec::new("memories", include_str!("help/memories.txt"), subcommand_parsers::memories),
    CommandSpec::new("bench", include_str!("help/bench.txt"), subcommand_parsers::bench),
    CommandSpec::new("doctor", include_str!("help/doctor.txt"), subcommand_parsers::doctor),
    CommandSpec::new(
        "archive",
        include_str!("help/archive.txt"),
        typed_memory_command_parsers::archive,
    ),
    CommandSpec::new(
        "view-query",
        include_str!("help/view-query.txt"),
        typed_memory_command_parsers::view_query,
    ),
    CommandSpec::new("gc", include_str!("help/gc.txt"), subcommand_parsers::gc),
    CommandSpec::new("redact", include_str!("help/redact.txt"), subcommand_parsers::redact),
    CommandSpec::new("backup", include_str!("help/backup.txt"), subcommand_parsers::backup),
    CommandSpec::new("restore", include_str!("help/restore.txt"), subcommand_parsers::restore),
    CommandSpec::new("export", include_str!("help/export.txt"), subcommand_parsers::export),
    CommandSpec::new("import", include_str!("help/import.txt"), subcommand_parsers::import),
    CommandSpec::new("salvage", include_str!("help/salvage.txt"), subcommand_parsers::salvage),
    CommandSpec::new("space", include_str!("help/space.txt"), space_command_parser::space),
    CommandSpec::new("setup", include_str!("help/setup.txt"), setup_hook_parsers::setup),
    CommandSpec::new("hook", include_str!("help/hook.txt"), setup_hook_parsers::hook),
    CommandSpec::new(
        "completion",
        include_str!("help/completion.txt"),
        subcommand_parsers::completion,
    ),
    // Its help is that of the program.
    CommandSpec::new("help", "", subcommand_parsers::help),
];

impl CommandSpec {
    const fn new(name: &'static str, help: &'static str, parse: ParseArgsFn) -> CommandSpec {
        CommandSpec { name, help, parse }
    }

    /// Returns the command of that name.
    pub(crate) fn named(name: &str) -> Option<&'static CommandSpec> {
        COMMANDS.iter().find(|it| it.name == name)
    }

    /// Returns its long flags without the dashes, as listed in its help.
    pub(crate) fn flags(&self) -> Vec<&'static str> {
        let lines = self.help.lines().filter(|it| it.starts_with("  -"));
        let flags = lines.filter_map(|it| it.split_once("--")).map(|(_, rest)| {
            let end = rest.find(|it: char| it != '-' && !it.is_ascii_alphanumeric());
            &rest[..end.unwrap_or(rest.len())]
        });
        let mut flags: Vec<&str> = flags.collect();
        if !flags.contains(&"help") {
            flags.push("help");
        }
        flags
    }
}

/// A mistake in a command line; the text fits after `remindb: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsageError(pub(crate) String);

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> UsageError {
        let text = error.to_string();
        let mut chars = text.chars();
        let first = chars.next().map(|it| it.to_ascii_lowercase());
        UsageError(first.into_iter().chain(chars).collect::<String>().replace('\'', "`"))
    }
}

/// A mistake in a command line, and the command whose help explains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidCommandLine {
    mistake: UsageError,
    command: Option<&'static str>,
}

impl fmt::Display for InvalidCommandLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidCommandLine { mistake, command } = self;
        let see = if mistake.0.ends_with('?') { " See" } else { "; see" };
        match command {
            Some(command) => write!(f, "{mistake}{see} `remindb help {command}`"),
            None => write!(f, "{mistake}{see} `remindb help`"),
        }
    }
}

/// Parses the arguments after the program's name.
pub(crate) fn parse_args(
    args: impl IntoIterator<Item = OsString>,
) -> Result<Command, InvalidCommandLine> {
    let mut parser = lexopt::Parser::from_args(args);
    let (command, db) = match first_word(&mut parser) {
        Ok(CommandLineStart::Command(command, db)) => (command, db),
        Ok(CommandLineStart::Done(done)) => return Ok(*done),
        Err(mistake) => return Err(InvalidCommandLine { mistake, command: None }),
    };
    let name = Some(command.name);
    (command.parse)(&mut parser, db)
        .map_err(|mistake| InvalidCommandLine { mistake, command: name })
}

/// The beginning of a command line.
enum CommandLineStart {
    Command(&'static CommandSpec, Option<PathBuf>),
    Done(Box<Command>),
}

fn first_word(parser: &mut lexopt::Parser) -> Result<CommandLineStart, UsageError> {
    let mut db: Option<PathBuf> = None;
    loop {
        match parser.next()? {
            None | Some(Short('h') | Long("help")) => {
                return Ok(CommandLineStart::Done(Box::new(Command::Help(None))));
            }
            Some(Short('V' | 'v') | Long("version")) => {
                return Ok(CommandLineStart::Done(Box::new(Command::Version)));
            }
            Some(Long("db")) => db = Some(parser.value()?.into()),
            Some(Value(name)) => {
                let name = name.string()?;
                let spec = CommandSpec::named(&name).ok_or_else(|| unknown_command(&name))?;
                return Ok(CommandLineStart::Command(spec, db));
            }
            Some(other) => return Err(other.unexpected().into()),
        }
    }
}

fn unknown_command(name: &str) -> UsageError {
    let names: Vec<&str> = COMMANDS.iter().map(|it| it.name).collect();
    let near = suggestion(name, &names);
    let all = if near.is_empty() { format!("; there are {}", names.join(", ")) } else { near };
    UsageError(format!("no command `{name}`{all}"))
}

#[cfg(test)]
mod tests;
