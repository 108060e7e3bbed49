//! Command lines as values: what was typed is checked here, what it means is resolved elsewhere.

mod client;
mod command;
mod values;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::prelude::*;

use crate::settings::config::Transport;

pub(crate) use client::{Client, Scope};
pub(crate) use command::{
    BackupArgs, BenchArgs, Command, CompileArgs, DoctorArgs, ExportArgs, GcArgs, ImportArgs,
    ImportSource, InspectArgs, RedactArgs, RestoreArgs, SalvageArgs, SearchArgs, ServeArgs,
    SetupArgs, Shell,
};
use values::{
    client_named, client_names, interval, number, scope_named, shell_named, span_ms, suggestion,
    transport_named,
};

/// A command and the flags that it takes: the table that parsing, suggestions and completion share.
pub(crate) struct CommandSpec {
    pub(crate) name: &'static str,
    /// Long flags, without the dashes.
    pub(crate) flags: &'static [&'static str],
}

/// Every command.
pub(crate) const COMMANDS: &[CommandSpec] = &[
    CommandSpec {
        name: "compile",
        flags: &[
            "db",
            "message",
            "reseed-temperatures",
            "gitignore",
            "trust-workspace",
            "json",
            "help",
        ],
    },
    CommandSpec {
        name: "serve",
        flags: &[
            "db",
            "source",
            "rescan-interval",
            "tools",
            "structured",
            "gitignore",
            "trust-workspace",
            "transport",
            "listen",
            "token-file",
            "allow-host",
            "allow-origin",
            "allow",
            "verbose",
            "help",
        ],
    },
    CommandSpec { name: "inspect", flags: &["db", "tree", "files", "depth", "json", "help"] },
    CommandSpec {
        name: "search",
        flags: &["db", "budget", "limit", "detail", "type", "json", "help"],
    },
    CommandSpec { name: "bench", flags: &["dir", "query", "budget", "json", "help"] },
    CommandSpec { name: "doctor", flags: &["db", "fix", "json", "help"] },
    CommandSpec { name: "gc", flags: &["db", "keep", "older-than", "dry-run", "json", "help"] },
    CommandSpec {
        name: "redact",
        flags: &["db", "source", "trust-workspace", "dry-run", "json", "help"],
    },
    CommandSpec { name: "backup", flags: &["db", "force", "help"] },
    CommandSpec { name: "restore", flags: &["db", "help"] },
    CommandSpec { name: "export", flags: &["db", "force", "help"] },
    CommandSpec { name: "import", flags: &["db", "from", "help"] },
    CommandSpec { name: "salvage", flags: &["out", "help"] },
    CommandSpec {
        name: "setup",
        flags: &["scope", "db", "source", "tools", "ask", "dry-run", "remove", "json", "help"],
    },
    CommandSpec { name: "completion", flags: &["help"] },
    CommandSpec { name: "help", flags: &["help"] },
];

/// What is wrong with a command line; the text fits behind `remindb: `.
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

/// Reads the arguments after the program's name.
pub(crate) fn parse_args(args: impl IntoIterator<Item = OsString>) -> Result<Command, UsageError> {
    let mut parser = lexopt::Parser::from_args(args);
    let mut db: Option<PathBuf> = None;
    loop {
        match parser.next()? {
            None | Some(Short('h') | Long("help")) => return Ok(Command::Help(None)),
            Some(Short('V' | 'v') | Long("version")) => return Ok(Command::Version),
            Some(Long("db")) => db = Some(parser.value()?.into()),
            Some(Value(name)) => return command(&name.string()?, parser, db),
            Some(other) => return Err(other.unexpected().into()),
        }
    }
}

fn command(
    name: &str,
    mut parser: lexopt::Parser,
    db: Option<PathBuf>,
) -> Result<Command, UsageError> {
    let Some(row) = COMMANDS.iter().find(|it| it.name == name) else {
        let names: Vec<&str> = COMMANDS.iter().map(|it| it.name).collect();
        let what = format!("no command `{name}`; there are {}", names.join(", "));
        return Err(UsageError(what + &suggestion(name, &names)));
    };
    let mut raw = RawFlags { db, ..RawFlags::default() };
    while let Some(arg) = parser.next()? {
        let flag = match arg {
            Short('h') => "help",
            Short('m') => "message",
            Short('v') if row.name == "serve" => "verbose",
            Long(flag) => match row.flags.iter().find(|it| **it == flag) {
                Some(flag) => flag,
                None => {
                    let what = format!("`{name}` has no flag `--{flag}`");
                    let flags: Vec<String> = row.flags.iter().map(|it| format!("--{it}")).collect();
                    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
                    return Err(UsageError(what + &suggestion(&format!("--{flag}"), &flags)));
                }
            },
            Value(value) => {
                raw.values.push(value);
                continue;
            }
            Short(other) => return Err(UsageError(format!("`{name}` has no flag `-{other}`"))),
        };
        if flag == "help" {
            return Ok(Command::Help((name != "help").then(|| name.to_owned())));
        }
        if !row.flags.contains(&flag) {
            return Err(UsageError(format!("`{name}` has no flag `--{flag}`")));
        }
        raw.set(flag, &mut parser)?;
    }
    raw.into_command(name)
}

/// Flags as typed, whichever command they belong to.
#[derive(Default)]
struct RawFlags {
    values: Vec<OsString>,
    db: Option<PathBuf>,
    source: Option<PathBuf>,
    rescan_interval: Option<Duration>,
    tools: Option<String>,
    message: Option<String>,
    dir: Option<PathBuf>,
    queries: Vec<String>,
    detail: Option<String>,
    node_type: Option<String>,
    budget: Option<u32>,
    limit: Option<usize>,
    depth: Option<usize>,
    keep: Option<u32>,
    older_than_ms: Option<i64>,
    is_dry_run: bool,
    is_json: bool,
    is_tree: bool,
    is_files: bool,
    is_verbose: bool,
    is_structured: bool,
    is_reseeding: bool,
    is_gitignore: bool,
    is_trusted: bool,
    is_force: bool,
    is_fix: bool,
    from: Option<PathBuf>,
    out: Option<PathBuf>,
    transport: Option<Transport>,
    listen: Option<String>,
    token_file: Option<PathBuf>,
    hosts: Vec<String>,
    origins: Vec<String>,
    allowed: Vec<PathBuf>,
    scope: Option<Scope>,
    is_remove: bool,
    is_asking: bool,
}

impl RawFlags {
    fn set(&mut self, flag: &str, parser: &mut lexopt::Parser) -> Result<(), UsageError> {
        match flag {
            "db" => self.db = Some(parser.value()?.into()),
            "source" => self.source = Some(parser.value()?.into()),
            "rescan-interval" => self.rescan_interval = Some(interval(flag, parser.value()?)?),
            "tools" => self.tools = Some(parser.value()?.string()?),
            "message" => self.message = Some(parser.value()?.string()?),
            "dir" => self.dir = Some(parser.value()?.into()),
            "query" => self.queries.push(parser.value()?.string()?),
            "detail" => self.detail = Some(parser.value()?.string()?),
            "type" => self.node_type = Some(parser.value()?.string()?),
            "budget" => self.budget = Some(number(flag, &parser.value()?)?),
            "limit" => match number(flag, &parser.value()?)? {
                0 => return Err(UsageError("`--limit` needs 1 or more".to_owned())),
                limit => self.limit = Some(limit),
            },
            "depth" => self.depth = Some(number(flag, &parser.value()?)?),
            "keep" => self.keep = Some(number(flag, &parser.value()?)?),
            "older-than" => self.older_than_ms = Some(span_ms(&parser.value()?)?),
            "dry-run" => self.is_dry_run = true,
            "json" => self.is_json = true,
            "tree" => self.is_tree = true,
            "files" => self.is_files = true,
            "verbose" => self.is_verbose = true,
            "structured" => self.is_structured = true,
            "reseed-temperatures" => self.is_reseeding = true,
            "gitignore" => self.is_gitignore = true,
            "trust-workspace" => self.is_trusted = true,
            "force" => self.is_force = true,
            "fix" => self.is_fix = true,
            "from" => self.from = Some(parser.value()?.into()),
            "scope" => self.scope = Some(scope_named(&parser.value()?)?),
            "remove" => self.is_remove = true,
            "ask" => self.is_asking = true,
            "out" => self.out = Some(parser.value()?.into()),
            "transport" => self.transport = Some(transport_named(&parser.value()?)?),
            "listen" => self.listen = Some(parser.value()?.string()?),
            "token-file" => self.token_file = Some(parser.value()?.into()),
            "allow-host" => self.hosts.push(parser.value()?.string()?),
            "allow-origin" => self.origins.push(parser.value()?.string()?),
            "allow" => self.allowed.push(parser.value()?.into()),
            _ => return Err(UsageError(format!("no flag `--{flag}`"))),
        }
        Ok(())
    }

    fn into_command(mut self, name: &str) -> Result<Command, UsageError> {
        let command = match name {
            "compile" => Command::Compile(CompileArgs {
                path: self.one_value("compile", "the folder or file to compile")?.into(),
                db: self.db,
                message: self.message,
                is_reseeding: self.is_reseeding,
                is_gitignore: self.is_gitignore,
                is_trusted: self.is_trusted,
                is_json: self.is_json,
            }),
            "search" => Command::Search(SearchArgs {
                query: self.words()?,
                db: self.db,
                budget: self.budget,
                limit: self.limit,
                detail: self.detail,
                node_type: self.node_type,
                is_json: self.is_json,
            }),
            "bench" => {
                self.no_values(name)?;
                let RawFlags { dir, queries, budget, is_json, .. } = self;
                let Some(dir) = dir else {
                    return Err(UsageError(
                        "`bench` needs `--dir DIR`, a folder of notes".to_owned(),
                    ));
                };
                Command::Bench(BenchArgs { dir, queries, budget, is_json })
            }
            "completion" => {
                let shell = self.one_value("completion", "a shell: bash, zsh or fish")?;
                Command::Completion(shell_named(&shell)?)
            }
            "help" => {
                let topic = self.first_value();
                self.no_values(name)?;
                Command::Help(topic.map(|it| it.string()).transpose()?)
            }
            "serve" => {
                self.no_values(name)?;
                let RawFlags { db, source, rescan_interval, tools, .. } = self;
                let RawFlags { is_structured, is_gitignore, is_trusted, is_verbose, .. } = self;
                let RawFlags { transport, listen, token_file, hosts, origins, allowed, .. } = self;
                Command::Serve(ServeArgs {
                    db,
                    source,
                    rescan_interval,
                    tools,
                    transport,
                    listen,
                    token_file,
                    hosts,
                    origins,
                    allowed,
                    is_structured,
                    is_gitignore,
                    is_trusted,
                    is_verbose,
                })
            }
            "inspect" => {
                self.no_values(name)?;
                if self.depth.is_some() && !self.is_tree {
                    return Err(UsageError("`--depth` is for `--tree`; add it".to_owned()));
                }
                let RawFlags { db, is_tree, is_files, is_json, depth, .. } = self;
                Command::Inspect(InspectArgs { db, is_tree, is_files, is_json, depth })
            }
            "redact" => {
                self.no_values(name)?;
                let RawFlags { db, source, is_trusted, is_dry_run, is_json, .. } = self;
                Command::Redact(RedactArgs { db, source, is_trusted, is_dry_run, is_json })
            }
            "gc" => {
                self.no_values(name)?;
                if self.keep == Some(0) {
                    return Err(UsageError(
                        "`--keep` needs 1 or more; HEAD always stays".to_owned(),
                    ));
                }
                if self.keep.is_some() && self.older_than_ms.is_some() {
                    return Err(UsageError("`--keep` or `--older-than`, not both".to_owned()));
                }
                let RawFlags { db, keep, older_than_ms, is_dry_run, is_json, .. } = self;
                Command::Gc(GcArgs { db, keep, older_than_ms, is_dry_run, is_json })
            }
            "setup" => {
                let client = self.one_value(name, &format!("a client: {}", client_names()))?;
                let client = client_named(&client)?;
                let RawFlags { db, source, tools, is_asking, scope, .. } = self;
                let RawFlags { is_dry_run, is_remove, is_json, .. } = self;
                if is_remove && (db.is_some() || source.is_some()) {
                    return Err(UsageError(
                        "`--remove` needs no `--db` and no `--source`".to_owned(),
                    ));
                }
                if is_remove && (tools.is_some() || is_asking) {
                    return Err(UsageError(
                        "`--remove` needs no `--tools` and no `--ask`".to_owned(),
                    ));
                }
                let scope = scope.unwrap_or(Scope::Project);
                Command::Setup(SetupArgs {
                    client,
                    scope,
                    db,
                    source,
                    tools,
                    is_asking,
                    is_dry_run,
                    is_remove,
                    is_json,
                })
            }
            "doctor" => {
                self.no_values(name)?;
                let RawFlags { db, is_fix, is_json, .. } = self;
                Command::Doctor(DoctorArgs { db, is_fix, is_json })
            }
            _ => return self.into_move(name),
        };
        Ok(command)
    }

    /// The commands that move whole memories.
    fn into_move(mut self, name: &str) -> Result<Command, UsageError> {
        let command = match name {
            "backup" | "export" => {
                let dest = self.values.pop().map(PathBuf::from);
                self.no_values(name)?;
                let RawFlags { db, is_force, .. } = self;
                if name == "backup" {
                    Command::Backup(BackupArgs { db, dest, is_force })
                } else {
                    let dest = dest.filter(|it| it.as_os_str() != "-");
                    Command::Export(ExportArgs { db, dest, is_force })
                }
            }
            "restore" => Command::Restore(RestoreArgs {
                source: self.one_value(name, "the backup to restore")?.into(),
                db: self.db,
            }),
            "import" => {
                let source = match self.from.take() {
                    Some(old) => {
                        self.no_values(name)?;
                        ImportSource::Old(old)
                    }
                    None => ImportSource::Lines(
                        self.one_value(name, "the export to import, or `--from OLD.db`")?.into(),
                    ),
                };
                Command::Import(ImportArgs { source, db: self.db })
            }
            _ => {
                let damaged = self.one_value(name, "the damaged database")?.into();
                let Some(out) = self.out else {
                    let what = "`salvage` needs `--out NEW.db` for what can still be read";
                    return Err(UsageError(what.to_owned()));
                };
                Command::Salvage(SalvageArgs { damaged, out })
            }
        };
        Ok(command)
    }

    fn one_value(&mut self, name: &str, what: &str) -> Result<OsString, UsageError> {
        let value = self.first_value();
        self.no_values(name)?;
        value.ok_or_else(|| UsageError(format!("`{name}` needs {what}")))
    }

    fn first_value(&mut self) -> Option<OsString> {
        (!self.values.is_empty()).then(|| self.values.remove(0))
    }

    fn no_values(&self, name: &str) -> Result<(), UsageError> {
        match self.values.first() {
            None => Ok(()),
            Some(value) => {
                Err(UsageError(format!("`{name}` does not take `{}`", value.to_string_lossy())))
            }
        }
    }

    /// Words need no quotes: `remindb search rate limit`.
    fn words(&mut self) -> Result<String, UsageError> {
        if self.values.is_empty() {
            return Err(UsageError("`search` needs words to look for".to_owned()));
        }
        let words: Result<Vec<String>, lexopt::Error> =
            self.values.drain(..).map(|it| it.string()).collect();
        Ok(words?.join(" "))
    }
}

#[cfg(test)]
mod tests;
