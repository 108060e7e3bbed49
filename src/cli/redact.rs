//! `remindb redact`: takes the secrets out of a database that has some, and says what is left.

use serde_json::json;

use super::args::Redact;
use super::{Failure, Outcome, World, known_database};
use crate::redact::Redactor;
use crate::store::redaction::{self, Mode, Redaction};

pub(super) fn run(args: Redact, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let mode = if args.is_dry_run { Mode::DryRun } else { Mode::Rewrite };
    let done = redaction::redact(&known_database(args.db), &Redactor::builtin(), mode)?;
    if args.is_json {
        world.say(format_args!("{:#}\n", to_json(&done, mode)))?;
    } else {
        world.say(to_text(&done, mode))?;
    }
    let is_clean = match mode {
        Mode::DryRun => done.n_secrets() == 0,
        Mode::Rewrite => done.left.is_empty(),
    };
    Ok(if is_clean { Outcome::Done } else { Outcome::NotFound })
}

fn to_text(done: &Redaction, mode: Mode) -> String {
    let would = if mode == Mode::DryRun { "would have redacted" } else { "redacted" };
    let found = match done.n_secrets() {
        0 => "no secret was found".to_owned(),
        n => format!("{would} {} in {}: {}", count(n, "secret"), places(done), kinds(done)),
    };
    let end = match (mode, done.left.is_empty()) {
        (Mode::DryRun, _) => "nothing was changed",
        (Mode::Rewrite, true) => "nothing is left in the file",
        (Mode::Rewrite, false) => "not all of it is gone:",
    };
    let mut text = format!("{found}; {end}\n");
    for what in &done.left {
        text += &format!("✗ {what}\n");
    }
    if 0 < done.n_elsewhere {
        text += &format!(
            "{} of them also stood where nothing says that it is a secret, and was left there\n",
            done.n_elsewhere
        );
    }
    text
}

fn places(done: &Redaction) -> String {
    let mut places = vec![count(done.n_nodes, "node"), count(done.n_versions, "earlier version")];
    if 0 < done.n_others {
        places.push(count(done.n_others, "path or message"));
    }
    let last = places.pop().unwrap_or_default();
    format!("{} and {last}", places.join(", "))
}

fn kinds(done: &Redaction) -> String {
    done.kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect::<Vec<_>>().join(", ")
}

fn count(n: usize, noun: &str) -> String {
    match (n, noun) {
        (1, _) => format!("{n} {noun}"),
        (_, "path or message") => format!("{n} paths or messages"),
        _ => format!("{n} {noun}s"),
    }
}

fn to_json(done: &Redaction, mode: Mode) -> serde_json::Value {
    json!({
        "secrets": done.n_secrets(),
        "kinds": done.kinds,
        "nodes": done.n_nodes,
        "earlier_versions": done.n_versions,
        "paths_and_messages": done.n_others,
        "elsewhere": done.n_elsewhere,
        "dry_run": mode == Mode::DryRun,
        "left": done.left,
    })
}
