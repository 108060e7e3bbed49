//! Parsers: one for each command, from flags and values to its arguments.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::Parser;
use lexopt::prelude::*;

use super::command::{
    BackupArgs, BenchArgs, Command, CompileArgs, DoctorArgs, ExportArgs, ExportDestination, GcArgs,
    ImportArgs, ImportSource, InspectArgs, MemoriesArgs, RedactArgs, RememberArgs, RestoreArgs,
    SalvageArgs, SearchArgs, ServeArgs,
};
use super::value_parsers::{
    RawSharedSpaceFlags, parse_color, parse_interval, parse_number, parse_scope, parse_shell,
    parse_span_ms, parse_time, parse_tools, parse_transport, shared_url, suggestion,
};
use super::{CommandSpec, UsageError};
use crate::cli::safety_backup::BackupChoice;
use crate::ingest::foreign::{FOREIGN_SOURCES, ImportableProgram};
use crate::memory::dry_run::WriteOrDryRun;
use crate::model::clock::UnixMillis;
use crate::model::typed_node_field_schemas::knowledge::EPISODE_KINDS;

pub(super) type ParsedCommand = Result<Command, UsageError>;

/// The names of formats.
const AGENT_MEMORY: &str = "agent-memory";
const REMIND: &str = "remind";
const MARKDOWN: &str = "markdown";

pub(super) fn compile(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = CompileArgs { db, ..CompileArgs::default() };
    let (mut values, mut shared) = (Vec::new(), RawSharedSpaceFlags::default());
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Short('m') | Long("message") => args.message = Some(parser.value()?.string()?),
            Long("reseed-temperatures") => args.is_reseeding = true,
            Long("gitignore") => args.is_gitignore = true,
            Long("trust-workspace") => args.is_trusted = true,
            Short('v') | Long("verbose") => args.is_verbose = true,
            Long("json") => args.is_json = true,
            Long("shared") => shared.url = Some(shared_url(parser)?),
            Long("root") => shared.roots.push(parser.value()?.string()?),
            Value(value) => values.push(value),
            other => return otherwise("compile", other),
        }
    }
    args.shared = shared.flag()?;
    args.path = one("compile", values, "the folder or file to compile")?.into();
    Ok(Command::Compile(args))
}

pub(super) fn serve(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = ServeArgs { db, ..ServeArgs::default() };
    let mut shared = RawSharedSpaceFlags::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("scope") => args.scope = Some(parse_scope(&parser.value()?)?),
            Long("also") => args.also = Some(parser.value()?.into()),
            Long("source") => args.source = Some(parser.value()?.into()),
            Long("rescan-interval") => {
                args.rescan_interval = Some(parse_interval("rescan-interval", parser.value()?)?);
            }
            Long("tools") => args.tools = Some(parse_tools(&parser.value()?)?),
            Long("structured") => args.is_structured = true,
            Long("gitignore") => args.is_gitignore = true,
            Long("trust-workspace") => args.is_trusted = true,
            Long("write-back") => args.is_writing_back = true,
            Long("transport") => args.transport = Some(parse_transport(&parser.value()?)?),
            Long("listen") => args.listen = Some(parser.value()?.string()?),
            Long("token-file") => args.token_file = Some(parser.value()?.into()),
            Long("allow-host") => args.hosts.push(parser.value()?.string()?),
            Long("allow-origin") => args.origins.push(parser.value()?.string()?),
            Long("open") => args.is_open = true,
            Long("allow") => args.allowed.push(parser.value()?.into()),
            Long("shared") => shared.url = Some(shared_url(parser)?),
            Long("root") => shared.roots.push(parser.value()?.string()?),
            Long("fresh") => shared.is_fresh = true,
            Short('v') | Long("verbose") => args.is_verbose = true,
            other => return otherwise("serve", other),
        }
    }
    args.shared = shared.flag()?;
    Ok(Command::Serve(args))
}

pub(super) fn inspect(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = InspectArgs { db, ..InspectArgs::default() };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("tree") => args.is_tree = true,
            Long("files") => args.is_files = true,
            Long("skipped") => args.is_skipped = true,
            Long("gitignore") => args.is_gitignore = true,
            Long("depth") => args.depth = Some(parse_number("depth", &parser.value()?)?),
            Long("archived") => args.is_archived = true,
            Long("json") => args.is_json = true,
            other => return otherwise("inspect", other),
        }
    }
    if args.depth.is_some() && !args.is_tree {
        return Err(UsageError("`--depth` is for `--tree`; add it".to_owned()));
    }
    if args.is_archived && !args.is_tree {
        return Err(UsageError("`--archived` is for `--tree`; add it".to_owned()));
    }
    if args.is_gitignore && !args.is_skipped {
        return Err(UsageError("`--gitignore` is for `--skipped`; add it".to_owned()));
    }
    Ok(Command::Inspect(args))
}

pub(super) fn search(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = SearchArgs { db, ..SearchArgs::default() };
    let mut words: Vec<String> = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("budget") => args.budget = Some(parse_number("budget", &parser.value()?)?),
            Long("limit") => match parse_number("limit", &parser.value()?)? {
                0 => return Err(UsageError("`--limit` needs 1 or more".to_owned())),
                limit => args.limit = Some(limit),
            },
            Long("detail") => args.detail = Some(parser.value()?.string()?),
            Long("type") => args.node_type = Some(parser.value()?.string()?),
            Long("tag") => args.tags.push(parser.value()?.string()?),
            Long("status") => args.status = Some(parser.value()?.string()?),
            Long("importance") => args.importance = Some(parser.value()?.string()?),
            Long("since") => {
                args.since =
                    Some(parse_time("since", &parser.value()?, UnixMillis::parse_rfc3339)?);
            }
            Long("until") => {
                args.until =
                    Some(parse_time("until", &parser.value()?, UnixMillis::parse_rfc3339_end)?);
            }
            Long("archived") => args.is_archived = true,
            Long("dates") => args.has_dates = true,
            Long("fresh") => args.is_fresh = true,
            Long("json") => args.is_json = true,
            Long("color") => args.color = parse_color(&parser.value()?)?,
            // Words need no quotes: `remindb search rate limit`.
            Value(word) => words.push(word.string()?),
            other => return otherwise("search", other),
        }
    }
    if words.is_empty() {
        return Err(UsageError("`search` needs words to look for".to_owned()));
    }
    args.query = words.join(" ");
    Ok(Command::Search(args))
}

pub(super) fn remember(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = RememberArgs { db, ..RememberArgs::default() };
    let (mut memory_type, mut words) = (None, Vec::new());
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("type") => memory_type = Some(parser.value()?.string()?),
            Long("tag") => args.tags.push(parser.value()?.string()?),
            Long("category") => args.category = Some(parser.value()?.string()?),
            Long("importance") => args.importance = Some(parser.value()?.string()?),
            Long("status") => args.status = Some(parser.value()?.string()?),
            Long("topic") => args.topic = Some(parser.value()?.string()?),
            Short('e') | Long("entity") => args.entities.push(parser.value()?.string()?),
            Long("json") => args.is_json = true,
            // Words need no quotes: `remindb remember --type core likes tea`.
            Value(word) => words.push(word.string()?),
            other => return otherwise("remember", other),
        }
    }
    args.memory_type = memory_type.unwrap_or_else(|| EPISODE_KINDS[0].to_owned());
    args.text = match words.join(" ") {
        text if text == "-" => None,
        text if words.is_empty() || text.trim().is_empty() => {
            let what = "`remember` needs the text to remember, or `-` for standard input";
            return Err(UsageError(what.to_owned()));
        }
        text => Some(text),
    };
    Ok(Command::Remember(args))
}

pub(super) fn memories(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = MemoriesArgs { db, ..MemoriesArgs::default() };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("type") => args.memory_type = Some(parser.value()?.string()?),
            Long("tag") => args.tags.push(parser.value()?.string()?),
            Long("search") => args.search = Some(parser.value()?.string()?),
            Long("category") => args.category = Some(parser.value()?.string()?),
            Long("importance") => args.importance = Some(parser.value()?.string()?),
            Long("status") => args.status = Some(parser.value()?.string()?),
            Long("archived") => args.is_archived = true,
            Long("limit") => match parse_number("limit", &parser.value()?)? {
                0 => return Err(UsageError("`--limit` needs 1 or more".to_owned())),
                limit => args.limit = Some(limit),
            },
            Long("offset") => args.offset = Some(parse_number("offset", &parser.value()?)?),
            Long("sort-by") => args.sort_by = Some(parser.value()?.string()?),
            Long("sort-order") => args.sort_order = Some(parser.value()?.string()?),
            Long("json") => args.is_json = true,
            other => return otherwise("memories", other),
        }
    }
    Ok(Command::Memories(args))
}

pub(super) fn bench(parser: &mut Parser, _: Option<PathBuf>) -> ParsedCommand {
    let mut args = BenchArgs::default();
    let mut dir = None;
    while let Some(arg) = parser.next()? {
        match arg {
            Long("dir") => dir = Some(parser.value()?.into()),
            Long("query") => args.queries.push(parser.value()?.string()?),
            Long("budget") => args.budget = Some(parse_number("budget", &parser.value()?)?),
            Long("json") => args.is_json = true,
            other => return otherwise("bench", other),
        }
    }
    let needs = || UsageError("`bench` needs `--dir DIR`, a folder of notes".to_owned());
    args.dir = dir.ok_or_else(needs)?;
    Ok(Command::Bench(args))
}

pub(super) fn doctor(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = DoctorArgs { db, ..DoctorArgs::default() };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("fix") => args.is_fix = true,
            Long("providers") => args.is_reaching = true,
            Long("json") => args.is_json = true,
            other => return otherwise("doctor", other),
        }
    }
    Ok(Command::Doctor(args))
}

pub(super) fn gc(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = GcArgs { db, ..GcArgs::default() };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("keep") => args.keep = Some(parse_number("keep", &parser.value()?)?),
            Long("older-than") => args.older_than_ms = Some(parse_span_ms(&parser.value()?)?),
            Long("backup") => args.backup = BackupChoice::Always,
            Long("no-backup") => args.backup = BackupChoice::Never,
            Long("dry-run") => args.is_dry_run = true,
            Long("json") => args.is_json = true,
            other => return otherwise("gc", other),
        }
    }
    if args.keep == Some(0) {
        return Err(UsageError("`--keep` needs 1 or more; HEAD always stays".to_owned()));
    }
    if args.keep.is_some() && args.older_than_ms.is_some() {
        return Err(UsageError("`--keep` or `--older-than`, not both".to_owned()));
    }
    Ok(Command::Gc(args))
}

pub(super) fn redact(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = RedactArgs { db, ..RedactArgs::default() };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("source") => args.source = Some(parser.value()?.into()),
            Long("trust-workspace") => args.is_trusted = true,
            Long("backup") => args.backup = BackupChoice::Always,
            Long("no-backup") => args.backup = BackupChoice::Never,
            Long("dry-run") => args.is_dry_run = true,
            Long("json") => args.is_json = true,
            other => return otherwise("redact", other),
        }
    }
    Ok(Command::Redact(args))
}

pub(super) fn backup(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = BackupArgs { db, ..BackupArgs::default() };
    let mut values = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("force") => args.is_force = true,
            Value(value) => values.push(value),
            other => return otherwise("backup", other),
        }
    }
    args.dest = at_most_one("backup", values)?.map(PathBuf::from);
    Ok(Command::Backup(args))
}

pub(super) fn restore(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = RestoreArgs { db, ..RestoreArgs::default() };
    let mut values = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Value(value) => values.push(value),
            other => return otherwise("restore", other),
        }
    }
    args.source = one("restore", values, "the backup to restore")?.into();
    Ok(Command::Restore(args))
}

pub(super) fn export(parser: &mut Parser, mut db: Option<PathBuf>) -> ParsedCommand {
    let (mut format, mut is_force) = (None, false);
    let mut values = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => db = Some(parser.value()?.into()),
            Long("format") => format = Some(parser.value()?.string()?),
            Long("force") => is_force = true,
            Value(value) => values.push(value),
            other => return otherwise("export", other),
        }
    }
    let target = match format.as_deref() {
        None => {
            let dest = at_most_one("export", values)?.filter(|it| it != "-");
            ExportDestination::Lines(dest.map(PathBuf::from))
        }
        Some(AGENT_MEMORY) => {
            let what = format!("the folder for the files of `--format {AGENT_MEMORY}`");
            ExportDestination::AgentMemory(one("export", values, &what)?.into())
        }
        Some(MARKDOWN) if is_force => {
            let what = format!("`--format {MARKDOWN}` replaces nothing: leave `--force` out, and");
            return Err(UsageError(what + " name a folder that is empty or absent"));
        }
        Some(MARKDOWN) => {
            let what = format!("the folder for the files of `--format {MARKDOWN}`");
            ExportDestination::Markdown(one("export", values, &what)?.into())
        }
        Some(REMIND) => {
            let what = format!("the file for `--format {REMIND}`, or `-`");
            let dest = Some(one("export", values, &what)?).filter(|it| it != "-");
            ExportDestination::Remind(dest.map(PathBuf::from))
        }
        Some(other) => {
            let known = format!("`{MARKDOWN}`, `{AGENT_MEMORY}` and `{REMIND}`");
            let what = format!("no format `{other}`; there are {known}, and without");
            return Err(UsageError(what + " `--format` everything goes to one file"));
        }
    };
    Ok(Command::Export(ExportArgs { db, target, is_force }))
}

pub(super) fn import(parser: &mut Parser, mut db: Option<PathBuf>) -> ParsedCommand {
    let mut from = None;
    let mut mode = WriteOrDryRun::Write;
    let mut values = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => db = Some(parser.value()?.into()),
            Long("from") => from = Some(parser.value()?),
            Long("dry-run") => mode = WriteOrDryRun::DryRun,
            Value(value) => values.push(value),
            other => return otherwise("import", other),
        }
    }
    let foreign = from.as_ref().and_then(|it| ImportableProgram::named(it.to_str()?));
    // Without a dot or a slash it is a mistyped program rather than a database.
    let is_name = |it: &OsString| !it.to_string_lossy().contains(['.', '/', '\\']);
    if mode == WriteOrDryRun::DryRun && foreign.is_none() && !from.as_ref().is_some_and(is_name) {
        let names = foreign_names().join(", ");
        let why = format!("`--dry-run` is for `--from` one of {names}, {AGENT_MEMORY}, {REMIND}");
        return Err(UsageError(why));
    }
    let source = match (from, foreign) {
        (_, Some(source)) => {
            let path = at_most_one("import", values)?.map(PathBuf::from);
            ImportSource::Foreign(source, path, mode)
        }
        (Some(format), _) if format == AGENT_MEMORY => {
            let what = format!("the folder to import, behind `--from {AGENT_MEMORY}`");
            ImportSource::AgentMemory(one("import", values, &what)?.into(), mode)
        }
        (Some(format), _) if format == REMIND => {
            let what = format!("the file or folder to import, behind `--from {REMIND}`");
            ImportSource::Remind(one("import", values, &what)?.into(), mode)
        }
        (Some(name), _) if !values.is_empty() || is_name(&name) => {
            let (name, names) = (name.to_string_lossy(), foreign_names());
            let known = format!("{}, {AGENT_MEMORY}, {REMIND}", names.join(", "));
            let why = format!("nothing is imported from `{name}`, but from {known} and databases");
            return Err(UsageError(why + &suggestion(&name, &names)));
        }
        (Some(old), _) => ImportSource::Old(old.into()),
        (None, _) => {
            let what = "the export to import, or `--from` and a program";
            ImportSource::Lines(one("import", values, what)?.into())
        }
    };
    Ok(Command::Import(ImportArgs { source, db }))
}

/// Returns the names of programs that are imported from.
fn foreign_names() -> Vec<&'static str> {
    FOREIGN_SOURCES.iter().map(|it| it.name).collect()
}

pub(super) fn salvage(parser: &mut Parser, _: Option<PathBuf>) -> ParsedCommand {
    let mut out = None;
    let mut values = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("out") => out = Some(parser.value()?.into()),
            Value(value) => values.push(value),
            other => return otherwise("salvage", other),
        }
    }
    let damaged = one("salvage", values, "the damaged database")?.into();
    let what = "`salvage` needs `--out NEW.db` for what can still be read";
    let out = out.ok_or_else(|| UsageError(what.to_owned()))?;
    Ok(Command::Salvage(SalvageArgs { damaged, out }))
}

pub(super) fn completion(parser: &mut Parser, _: Option<PathBuf>) -> ParsedCommand {
    let mut values = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Value(value) => values.push(value),
            other => return otherwise("completion", other),
        }
    }
    let shell = parse_shell(&one("completion", values, "a shell: bash, zsh or fish")?)?;
    Ok(Command::Completion(shell))
}

pub(super) fn help(parser: &mut Parser, _: Option<PathBuf>) -> ParsedCommand {
    let mut values = Vec::new();
    while let Some(arg) = parser.next()? {
        match arg {
            Short('h') | Long("help") => return Ok(Command::Help(None)),
            Value(value) => values.push(value),
            other => return otherwise("help", other),
        }
    }
    let topic = at_most_one("help", values)?;
    Ok(Command::Help(topic.map(|it| it.string()).transpose()?))
}

/// Handles arguments that a parser did not take: returns help or an error.
pub(super) fn otherwise(name: &str, arg: lexopt::Arg<'_>) -> ParsedCommand {
    let what = match arg {
        Short('h') | Long("help") => return Ok(Command::Help(Some(name.to_owned()))),
        Long(flag) => {
            let flags = CommandSpec::named(name).map(CommandSpec::flags).unwrap_or_default();
            let flags: Vec<String> = flags.iter().map(|it| format!("--{it}")).collect();
            let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
            let what = format!("`{name}` has no flag `--{flag}`");
            what + &suggestion(&format!("--{flag}"), &flags)
        }
        Short(flag) => format!("`{name}` has no flag `-{flag}`"),
        Value(value) => format!("`{name}` does not take `{}`", value.to_string_lossy()),
    };
    Err(UsageError(what))
}

fn one(name: &str, values: Vec<OsString>, what: &str) -> Result<OsString, UsageError> {
    at_most_one(name, values)?.ok_or_else(|| UsageError(format!("`{name}` needs {what}")))
}

pub(super) fn at_most_one(
    name: &str,
    values: Vec<OsString>,
) -> Result<Option<OsString>, UsageError> {
    let mut values = values.into_iter();
    let first = values.next();
    none(name, values.as_slice())?;
    Ok(first)
}

fn none(name: &str, values: &[OsString]) -> Result<(), UsageError> {
    match values.first() {
        None => Ok(()),
        Some(value) => {
            Err(UsageError(format!("`{name}` does not take `{}`", value.to_string_lossy())))
        }
    }
}
