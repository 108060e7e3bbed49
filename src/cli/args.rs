//! Command lines as values: what was typed is checked here, what it means is resolved elsewhere.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use lexopt::prelude::*;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Compile(Compile),
    Serve(Serve),
    Inspect(Inspect),
    Search(Search),
    Doctor(Doctor),
    Redact(Redact),
    Completion(Shell),
    Help(Option<String>),
    Version,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Compile {
    pub(crate) path: PathBuf,
    pub(crate) db: Option<PathBuf>,
    pub(crate) message: Option<String>,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Serve {
    pub(crate) db: Option<PathBuf>,
    pub(crate) source: Option<PathBuf>,
    pub(crate) is_verbose: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Inspect {
    pub(crate) db: Option<PathBuf>,
    pub(crate) is_tree: bool,
    pub(crate) is_files: bool,
    pub(crate) is_json: bool,
    pub(crate) depth: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Search {
    pub(crate) query: String,
    pub(crate) db: Option<PathBuf>,
    pub(crate) budget: Option<u32>,
    pub(crate) limit: Option<usize>,
    pub(crate) detail: Option<String>,
    pub(crate) node_type: Option<String>,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Doctor {
    pub(crate) db: Option<PathBuf>,
    pub(crate) is_json: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Redact {
    pub(crate) db: Option<PathBuf>,
    pub(crate) is_dry_run: bool,
    pub(crate) is_json: bool,
}

/// A shell that can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// A command and the flags that it takes: the table that parsing, suggestions and completion share.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Long flags, without the dashes.
    pub(crate) flags: &'static [&'static str],
}

/// Every command.
pub(crate) const COMMANDS: &[Row] = &[
    Row { name: "compile", flags: &["db", "message", "json", "help"] },
    Row { name: "serve", flags: &["db", "source", "verbose", "help"] },
    Row { name: "inspect", flags: &["db", "tree", "files", "depth", "json", "help"] },
    Row { name: "search", flags: &["db", "budget", "limit", "detail", "type", "json", "help"] },
    Row { name: "doctor", flags: &["db", "json", "help"] },
    Row { name: "redact", flags: &["db", "dry-run", "json", "help"] },
    Row { name: "completion", flags: &["help"] },
    Row { name: "help", flags: &[] },
];

/// What is wrong with a command line; the text fits behind `remindb: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Misuse(pub(crate) String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<lexopt::Error> for Misuse {
    fn from(error: lexopt::Error) -> Misuse {
        let text = error.to_string();
        let mut chars = text.chars();
        let first = chars.next().map(|it| it.to_ascii_lowercase());
        Misuse(first.into_iter().chain(chars).collect::<String>().replace('\'', "`"))
    }
}

/// Reads the arguments after the program's name.
pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Command, Misuse> {
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

fn command(name: &str, mut parser: lexopt::Parser, db: Option<PathBuf>) -> Result<Command, Misuse> {
    let Some(row) = COMMANDS.iter().find(|it| it.name == name) else {
        let names: Vec<&str> = COMMANDS.iter().map(|it| it.name).collect();
        let what = format!("no command `{name}`; there are {}", names.join(", "));
        return Err(Misuse(what + &suggestion(name, &names)));
    };
    let mut raw = Raw { db, ..Raw::default() };
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
                    return Err(Misuse(what + &suggestion(&format!("--{flag}"), &flags)));
                }
            },
            Value(value) => {
                raw.values.push(value);
                continue;
            }
            Short(other) => return Err(Misuse(format!("`{name}` has no flag `-{other}`"))),
        };
        if flag == "help" {
            return Ok(Command::Help(Some(name.to_owned())));
        }
        if !row.flags.contains(&flag) {
            return Err(Misuse(format!("`{name}` has no flag `--{flag}`")));
        }
        raw.set(flag, &mut parser)?;
    }
    raw.into_command(name)
}

/// Flags as typed, whichever command they belong to.
#[derive(Default)]
struct Raw {
    values: Vec<OsString>,
    db: Option<PathBuf>,
    source: Option<PathBuf>,
    message: Option<String>,
    detail: Option<String>,
    node_type: Option<String>,
    budget: Option<u32>,
    limit: Option<usize>,
    depth: Option<usize>,
    is_dry_run: bool,
    is_json: bool,
    is_tree: bool,
    is_files: bool,
    is_verbose: bool,
}

impl Raw {
    fn set(&mut self, flag: &str, parser: &mut lexopt::Parser) -> Result<(), Misuse> {
        match flag {
            "db" => self.db = Some(parser.value()?.into()),
            "source" => self.source = Some(parser.value()?.into()),
            "message" => self.message = Some(parser.value()?.string()?),
            "detail" => self.detail = Some(parser.value()?.string()?),
            "type" => self.node_type = Some(parser.value()?.string()?),
            "budget" => self.budget = Some(number(flag, &parser.value()?)?),
            "limit" => self.limit = Some(number(flag, &parser.value()?)?),
            "depth" => self.depth = Some(number(flag, &parser.value()?)?),
            "dry-run" => self.is_dry_run = true,
            "json" => self.is_json = true,
            "tree" => self.is_tree = true,
            "files" => self.is_files = true,
            "verbose" => self.is_verbose = true,
            _ => return Err(Misuse(format!("no flag `--{flag}`"))),
        }
        Ok(())
    }

    fn into_command(mut self, name: &str) -> Result<Command, Misuse> {
        let command = match name {
            "compile" => Command::Compile(Compile {
                path: self.one_value("compile", "the folder or file to compile")?.into(),
                db: self.db,
                message: self.message,
                is_json: self.is_json,
            }),
            "search" => Command::Search(Search {
                query: self.words()?,
                db: self.db,
                budget: self.budget,
                limit: self.limit,
                detail: self.detail,
                node_type: self.node_type,
                is_json: self.is_json,
            }),
            "completion" => {
                let shell = self.one_value("completion", "a shell: bash, zsh or fish")?;
                Command::Completion(shell_named(&shell)?)
            }
            "help" => {
                let topic = self.values.pop();
                self.no_values(name)?;
                Command::Help(topic.map(|it| it.string()).transpose()?)
            }
            "serve" => {
                self.no_values(name)?;
                let Raw { db, source, is_verbose, .. } = self;
                Command::Serve(Serve { db, source, is_verbose })
            }
            "inspect" => {
                self.no_values(name)?;
                if self.depth.is_some() && !self.is_tree {
                    return Err(Misuse("`--depth` is for `--tree`; add it".to_owned()));
                }
                let Raw { db, is_tree, is_files, is_json, depth, .. } = self;
                Command::Inspect(Inspect { db, is_tree, is_files, is_json, depth })
            }
            "redact" => {
                self.no_values(name)?;
                let Raw { db, is_dry_run, is_json, .. } = self;
                Command::Redact(Redact { db, is_dry_run, is_json })
            }
            _ => {
                self.no_values(name)?;
                Command::Doctor(Doctor { db: self.db, is_json: self.is_json })
            }
        };
        Ok(command)
    }

    fn one_value(&mut self, name: &str, what: &str) -> Result<OsString, Misuse> {
        let value = self.values.pop();
        self.no_values(name)?;
        value.ok_or_else(|| Misuse(format!("`{name}` needs {what}")))
    }

    fn no_values(&self, name: &str) -> Result<(), Misuse> {
        match self.values.first() {
            None => Ok(()),
            Some(value) => {
                Err(Misuse(format!("`{name}` does not take `{}`", value.to_string_lossy())))
            }
        }
    }

    /// Words need no quotes: `remindb search rate limit`.
    fn words(&mut self) -> Result<String, Misuse> {
        if self.values.is_empty() {
            return Err(Misuse("`search` needs words to look for".to_owned()));
        }
        let words: Result<Vec<String>, lexopt::Error> =
            self.values.drain(..).map(|it| it.string()).collect();
        Ok(words?.join(" "))
    }
}

fn number<T: std::str::FromStr>(flag: &str, value: &OsString) -> Result<T, Misuse> {
    value.to_str().and_then(|it| it.parse().ok()).ok_or_else(|| {
        Misuse(format!("`--{flag}` needs a whole number, not `{}`", value.to_string_lossy()))
    })
}

fn shell_named(name: &OsString) -> Result<Shell, Misuse> {
    match name.to_str() {
        Some("bash") => Ok(Shell::Bash),
        Some("zsh") => Ok(Shell::Zsh),
        Some("fish") => Ok(Shell::Fish),
        _ => {
            let name = name.to_string_lossy();
            Err(Misuse(format!("no completion for `{name}`; there is one for bash, zsh and fish")))
        }
    }
}

/// `; did you mean …?` when one of the names begins like what was typed (three characters).
fn suggestion(typed: &str, names: &[&str]) -> String {
    let shared = |name: &str| name.chars().zip(typed.chars()).take_while(|(a, b)| a == b).count();
    match names.iter().max_by_key(|it| shared(it)) {
        Some(name) if 2 < shared(name) => format!("; did you mean `{name}`?"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn misuse(args: &[&str], what: &str) {
        let error = parse(args.iter().map(OsString::from)).unwrap_err();
        assert_eq!(error.to_string(), what);
    }

    #[test]
    fn words_of_a_search_need_no_quotes() {
        let command = parse(["search", "rate", "limit", "--budget", "50"].map(OsString::from));
        let expected =
            Search { query: "rate limit".to_owned(), budget: Some(50), ..Search::default() };
        assert_eq!(command, Ok(Command::Search(expected)));
    }

    #[test]
    fn the_database_may_be_named_before_or_after_the_command() {
        let before = parse(["--db", "x.db", "doctor"].map(OsString::from));
        let after = parse(["doctor", "--db", "x.db"].map(OsString::from));
        assert_eq!(before, after);
    }

    #[test]
    fn nothing_at_all_shows_help() {
        assert_eq!(parse([]), Ok(Command::Help(None)));
    }

    #[test]
    fn mistakes_are_explained() {
        misuse(&["compile"], "`compile` needs the folder or file to compile");
        misuse(&["compile", "a", "b"], "`compile` does not take `a`");
        misuse(
            &["inspekt"],
            "no command `inspekt`; there are compile, serve, inspect, search, \
                              doctor, redact, completion, help; did you mean `inspect`?",
        );
        misuse(
            &["search", "--budgit", "3", "x"],
            "`search` has no flag `--budgit`; \
                                                  did you mean `--budget`?",
        );
        misuse(&["search", "--budget", "many"], "`--budget` needs a whole number, not `many`");
        misuse(&["inspect", "--depth", "3"], "`--depth` is for `--tree`; add it");
        misuse(&["doctor", "-m"], "`doctor` has no flag `--message`");
        misuse(
            &["completion", "tcsh"],
            "no completion for `tcsh`; there is one for bash, zsh and fish",
        );
    }
}
