//! Parsers of the commands that serve programs of agents: `setup` and `hook`.

use std::path::PathBuf;

use lexopt::Parser;
use lexopt::prelude::*;

use super::UsageError;
use super::command::{Command, HookArgs, HookEvent, SetupArgs, SetupClients};
use super::subcommand_parsers::{ParsedCommand, at_most_one, otherwise};
use super::value_parsers::{parse_client, parse_number, parse_scope, parse_tools};

pub(super) fn setup(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut values = Vec::new();
    let mut args = SetupArgs { db, ..SetupArgs::default() };
    let (mut is_all, mut is_list) = (false, false);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("all") => is_all = true,
            Long("list") => is_list = true,
            Long("scope") => args.scope = Some(parse_scope(&parser.value()?)?),
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("also") => args.also = Some(parser.value()?.into()),
            Long("source") => args.source = Some(parser.value()?.into()),
            Long("tools") => args.tools = Some(parse_tools(&parser.value()?)?),
            Long("http") => args.http = Some(parser.value()?.string()?),
            Long("token") => args.token = Some(parser.value()?.string()?),
            Long("token-env") => args.token_env = Some(parser.value()?.string()?),
            Long("ask") => args.is_asking = true,
            Long("no-hooks") => args.is_without_hooks = true,
            Long("dry-run") => args.is_dry_run = true,
            Long("remove") => args.is_remove = true,
            Long("json") => args.is_json = true,
            Value(value) => values.push(value),
            other => return otherwise("setup", other),
        }
    }
    let client = at_most_one("setup", values)?.map(|it| parse_client(&it)).transpose()?;
    args.clients = match (client, is_all, is_list) {
        (Some(client), false, false) => SetupClients::One(client),
        (None, true, false) => SetupClients::All,
        (None, false, true) => SetupClients::List,
        (None, false, false) => SetupClients::Ask,
        _ => return Err(UsageError("`setup` takes a client, `--all` or `--list`".to_owned())),
    };
    check_setup(&args)?;
    Ok(Command::Setup(args))
}

/// Refuses flags that contradict each other.
fn check_setup(args: &SetupArgs) -> Result<(), UsageError> {
    let is_of_server = [
        ("db", args.db.is_some()),
        ("also", args.also.is_some()),
        ("source", args.source.is_some()),
        ("tools", args.tools.is_some()),
    ];
    let is_of_http = [
        ("http", args.http.is_some()),
        ("token", args.token.is_some()),
        ("token-env", args.token_env.is_some()),
    ];
    let is_of_choice = [("ask", args.is_asking), ("no-hooks", args.is_without_hooks)];
    let given = |all: &[(&'static str, bool)]| all.iter().find(|it| it.1).map(|it| it.0);
    if args.is_remove {
        let all = [&is_of_server[..], &is_of_http, &is_of_choice].concat();
        let what = |flag| UsageError(format!("`--remove` needs no `--{flag}`"));
        return given(&all).map_or(Ok(()), |flag| Err(what(flag)));
    }
    if args.http.is_some() {
        // The server that listens has its own.
        let what = |flag| UsageError(format!("`--{flag}` is for `serve` at that address"));
        given(&is_of_server[..3]).map_or(Ok(()), |flag| Err(what(flag)))?;
    } else if let Some(flag) = given(&is_of_http) {
        return Err(UsageError(format!("`--{flag}` is for `--http`; add its address")));
    }
    if args.token.is_some() && args.token_env.is_some() {
        return Err(UsageError("`--token` or `--token-env`, not both".to_owned()));
    }
    Ok(())
}

pub(super) fn hook(parser: &mut Parser, db: Option<PathBuf>) -> ParsedCommand {
    let mut args = HookArgs { db, ..HookArgs::default() };
    match hook_flags(parser, &mut args) {
        Ok(None) if args.event.is_none() && args.problem.is_none() => {
            let names: Vec<&str> = HookEvent::NAMES.iter().map(|it| it.0).collect();
            args.problem = Some(format!("no event; there are {}", names.join(", ")));
        }
        Ok(None) => (),
        Ok(Some(other)) => return Ok(other),
        Err(error) => args.problem = Some(error.to_string()),
    }
    Ok(Command::Hook(args))
}

/// Reads the arguments of a hook; returns the command for help, if that is asked for.
fn hook_flags(parser: &mut Parser, args: &mut HookArgs) -> Result<Option<Command>, UsageError> {
    while let Some(arg) = parser.next()? {
        match arg {
            Long("client") => args.client = Some(parser.value()?.string()?),
            Long("db") => args.db = Some(parser.value()?.into()),
            Long("scope") => args.scope = Some(parse_scope(&parser.value()?)?),
            Long("budget") => args.budget = Some(parse_number("budget", &parser.value()?)?),
            Value(name) => match HookEvent::named(&name.to_string_lossy()) {
                Some(event) => args.event = Some(event),
                None => args.problem = Some(format!("no event `{}`", name.to_string_lossy())),
            },
            other => return otherwise("hook", other).map(Some),
        }
    }
    Ok(None)
}
