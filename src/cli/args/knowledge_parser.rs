//! The parser of the commands about knowledge: a table of flags, each an argument of a request.

use std::path::PathBuf;

use lexopt::Parser;
use lexopt::prelude::*;
use serde_json::{Map, Value as Json};

use super::UsageError;
use super::command::Command;
use super::knowledge_args::{KnowledgeArgs, KnowledgeCommand, KnowledgeTextSource};
use super::subcommand_parsers::{ParsedCommand, otherwise};

/// The form of a flag's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FlagValueType {
    Text,
    Number,
    Switch,
    /// It may be given again.
    Texts,
}

/// A row of [`KNOWLEDGE_COMMANDS`]: the name, the request, the argument that words are, the flags.
type CommandRow = (
    &'static str,
    KnowledgeCommand,
    Option<&'static str>,
    &'static [(&'static str, &'static str, FlagValueType)],
);

use FlagValueType::{Number, Switch, Text, Texts};

/// Every command, with its flags: the name, the argument, the form.
const KNOWLEDGE_COMMANDS: &[CommandRow] = &[
    (
        "recall",
        KnowledgeCommand::Recall,
        Some("query"),
        &[
            ("entity", "entity", Text),
            ("topic", "topic", Text),
            ("k", "k", Number),
            ("episodes", "episodes", Number),
            ("budget", "budget", Number),
            ("kind", "kinds", Texts),
            ("as-of", "as_of", Text),
            ("include", "include", Texts),
            ("explain", "explain", Switch),
        ],
    ),
    (
        "review",
        KnowledgeCommand::Review,
        None,
        &[
            ("task", "task", Text),
            ("topic", "topic", Text),
            ("budget", "budget", Number),
            ("limit", "limit", Number),
        ],
    ),
    (
        "apply",
        KnowledgeCommand::Apply,
        None,
        &[("base", "base", Number), ("key", "key", Text), ("dry-run", "dry_run", Switch)],
    ),
    (
        "consolidate",
        KnowledgeCommand::Consolidate,
        None,
        &[
            ("topic", "topic", Text),
            ("budget", "budget", Number),
            ("force", "force", Switch),
            ("worksheet", "worksheet", Switch),
        ],
    ),
    ("undo", KnowledgeCommand::Undo, None, &[]),
    (
        "ingest",
        KnowledgeCommand::Ingest,
        Some("content"),
        &[
            ("source", "source", Text),
            ("topic", "topic", Text),
            ("instructions", "instructions", Text),
            ("flush", "flush", Switch),
        ],
    ),
    ("conflicts", KnowledgeCommand::Conflicts, None, &[("status", "status", Text)]),
    ("topics", KnowledgeCommand::Topics, None, &[]),
    ("entities", KnowledgeCommand::Entities, None, &[]),
];

/// Parses the arguments of the command of that name.
pub(super) fn parse(name: &str, parser: &mut Parser, mut db: Option<PathBuf>) -> ParsedCommand {
    let Some((name, task, words_are, flags)) =
        KNOWLEDGE_COMMANDS.iter().find(|it| it.0 == name).copied()
    else {
        return Err(UsageError(format!("no command `{name}`")));
    };
    let (mut arguments, mut words, mut is_json) = (Map::new(), Vec::new(), false);
    let mut input = KnowledgeTextSource::None;
    while let Some(arg) = parser.next()? {
        let flag = match &arg {
            Long(flag) => Some((*flag).to_owned()),
            Short('e') if task == KnowledgeCommand::Recall => Some("entity".to_owned()),
            _ => None,
        };
        match (flag.as_deref(), arg) {
            (Some("db"), _) => db = Some(parser.value()?.into()),
            (Some("json"), _) => is_json = true,
            (Some("file"), _) | (None, Short('f')) if task == KnowledgeCommand::Apply => {
                let file = parser.value()?;
                input = match file == "-" {
                    true => KnowledgeTextSource::Stdin,
                    false => KnowledgeTextSource::File(file.into()),
                };
            }
            (Some(flag), arg) => match flags.iter().find(|it| it.0 == flag) {
                Some((_, key, form)) => take(parser, &mut arguments, (flag, key, *form))?,
                None => return otherwise(name, arg),
            },
            (None, Value(value)) => words.push(value.string()?),
            (None, other) => return otherwise(name, other),
        }
    }
    match (words.join(" "), words_are) {
        (text, _) if words.is_empty() && text.is_empty() => (),
        (text, _) if text == "-" && task != KnowledgeCommand::Recall => {
            input = KnowledgeTextSource::Stdin
        }
        (text, Some(key)) => drop(arguments.insert(key.to_owned(), text.into())),
        (text, None) => {
            return Err(UsageError(format!("`{name}` does not take `{text}`")));
        }
    }
    if task == KnowledgeCommand::Apply && input == KnowledgeTextSource::None {
        input = KnowledgeTextSource::Stdin;
    }
    let has_text = ["content", "flush"].iter().any(|it| arguments.contains_key(*it));
    if task == KnowledgeCommand::Ingest && input == KnowledgeTextSource::None && !has_text {
        let what = "`ingest` needs the text to keep, `-` for standard input, or `--flush`";
        return Err(UsageError(what.to_owned()));
    }
    Ok(Command::Knowledge(KnowledgeArgs { task, arguments, input, db, is_json }))
}

/// Takes the value of a flag.
fn take(
    parser: &mut Parser,
    arguments: &mut Map<String, Json>,
    (flag, key, form): (&str, &str, FlagValueType),
) -> Result<(), UsageError> {
    let mut text = || -> Result<String, UsageError> { Ok(parser.value()?.string()?) };
    match form {
        Switch => drop(arguments.insert(key.to_owned(), true.into())),
        Text => drop(arguments.insert(key.to_owned(), text()?.into())),
        Number => {
            let value = text()?;
            let number: u64 = value.parse().map_err(|_| {
                UsageError(format!("`--{flag}` needs a whole number, not `{value}`"))
            })?;
            arguments.insert(key.to_owned(), number.into());
        }
        Texts => {
            let value = text()?;
            let all = arguments.entry(key).or_insert_with(|| Json::Array(Vec::new()));
            if let Json::Array(all) = all {
                all.push(value.into());
            }
        }
    }
    Ok(())
}
