//! Parsers of the commands about typed memories.

use std::path::PathBuf;

use lexopt::Parser;
use lexopt::prelude::*;

use super::UsageError;
use super::command::{ArchiveMemoriesArgs, Command, CustomViewArgs, CustomViewTask};
use super::subcommand_parsers::{ParsedCommand, otherwise};
use super::value_parsers::parse_number;

/// Days of `--days`, at most.
const DAYS_MAX: u32 = 36_500;

pub(super) fn archive(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = ArchiveMemoriesArgs { db, ..ArchiveMemoriesArgs::default() };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("days") => args.days = Some(parse_number("days", &parser.value()?)?),
            Long("dry-run") => args.is_dry_run = true,
            Long("json") => args.is_json = true,
            other => return otherwise("archive", other),
        }
    }
    match args.days {
        Some(days) if DAYS_MAX < days => {
            Err(UsageError(format!("`--days` must be from 0 to {DAYS_MAX}, not {days}")))
        }
        _ => Ok(Command::Archive(args)),
    }
}

pub(super) fn view_query(parser: &mut Parser, mut db: Option<PathBuf>) -> ParsedCommand {
    let (mut removed, mut is_json, mut values) = (None, false, Vec::new());
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => db = Some(parser.value()?.into()),
            Long("remove") => removed = Some(parser.value()?.string()?),
            Long("json") => is_json = true,
            Value(value) => values.push(value.string()?),
            other => return otherwise("view-query", other),
        }
    }
    let mut values = values.into_iter();
    let task = match (removed, values.next(), values.next()) {
        (Some(name), None, _) => CustomViewTask::Remove(name),
        (Some(_), Some(extra), _) => {
            return Err(UsageError(format!("`--remove NAME` takes no `{extra}`")));
        }
        (None, None, _) => CustomViewTask::List,
        (None, Some(name), None) => {
            let why = format!("`view-query {name}` needs conditions: 'type=task tags=python'");
            return Err(UsageError(why));
        }
        (None, Some(name), Some(first)) => {
            let rest: Vec<String> = values.collect();
            let words = match rest.is_empty() {
                true => words(&first)?,
                // The shell has taken the quotes away.
                false => std::iter::once(first).chain(rest).collect(),
            };
            CustomViewTask::Define(name, words)
        }
    };
    Ok(Command::ViewQuery(CustomViewArgs { db, task, is_json }))
}

/// Splits a text at white space outside of quotes, which it takes away.
fn words(text: &str) -> Result<Vec<String>, UsageError> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for it in text.chars() {
        match quote {
            Some(end) if it == end => quote = None,
            None if it == '"' || it == '\'' => {
                quote = Some(it);
                word.get_or_insert_default();
            }
            None if it.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(it),
        }
    }
    words.extend(word);
    match quote {
        None => Ok(words),
        Some(quote) => Err(UsageError(format!("a {quote} is not closed in the conditions"))),
    }
}
