//! Parses the arguments of `space`.

use std::path::PathBuf;

use lexopt::Parser;
use lexopt::prelude::*;

use super::UsageError;
use super::command::{Command, SpaceArgs, SpaceTask};
use super::subcommand_parsers::otherwise;

pub(super) fn space(parser: &mut Parser, db: Option<PathBuf>) -> Result<Command, UsageError> {
    const TASKS: &str = "create, join, status, image, cut or leave";
    let (mut words, mut roots) = (Vec::new(), Vec::new());
    let (mut db, mut is_rebase, mut is_json) = (db, false, false);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("db") => db = Some(parser.value()?.into()),
            Long("rebase") => is_rebase = true,
            Long("root") => roots.push(parser.value()?.string()?),
            Long("json") => is_json = true,
            Value(value) => words.push(value.string()?),
            other => return otherwise("space", other),
        }
    }
    let mut words = words.into_iter();
    let task = words.next().ok_or_else(|| UsageError(format!("name a task: {TASKS}")))?;
    let url = words.next();
    if let Some(more) = words.next() {
        return Err(UsageError(format!("`{more}` is one word too many")));
    }
    let named = |url: Option<String>| {
        let why = "name the space: postgres://user@host:port/database/space";
        url.ok_or_else(|| UsageError(why.to_owned()))
    };
    let task = match (task.as_str(), url) {
        ("create", url) => SpaceTask::Create(named(url)?),
        ("join", url) => SpaceTask::Join(named(url)?),
        ("status", None) => SpaceTask::Status,
        ("image", None) => SpaceTask::Image,
        ("cut", None) => SpaceTask::Cut,
        ("leave", None) => SpaceTask::Leave,
        ("status" | "image" | "cut" | "leave", Some(url)) => {
            let why =
                format!("`{url}` is too much: the replica knows its space; name it with --db");
            return Err(UsageError(why));
        }
        (other, _) => {
            return Err(UsageError(format!("`{other}` is no task of `space`; there are {TASKS}")));
        }
    };
    if is_rebase && !matches!(task, SpaceTask::Join(_)) {
        return Err(UsageError("`--rebase` is for `space join`".to_owned()));
    }
    if is_json && task != SpaceTask::Status {
        return Err(UsageError("`--json` is for `space status`".to_owned()));
    }
    Ok(Command::Space(SpaceArgs { task, db, is_rebase, roots, is_json }))
}
