//! `remindb redact`: removes secrets from a database, and reports remaining ones.
//!
//! Besides the built-in kinds, it uses the patterns of a folder that the operator names. There is
//! no default folder: foreign patterns would change the whole memory for good.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::args::RedactArgs;
use super::memory_file_location::known_database;
use super::safety_backup::{BackupChoice, SafetyBackup};
use super::shared_space_flags::tell_unpublished;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, absolute, options};
use crate::ingest::redact::Redactor;
use crate::maintenance::redaction::{self, RedactionMode, RedactionReport};
use crate::maintenance::transfer::DestructiveOperation;
use crate::settings::root_settings::{OperatorOptions, RootSettings};
use crate::store::file_identity_check::CopiesBesideMemory;

pub(super) fn run(
    args: RedactArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let mode = if args.is_dry_run { RedactionMode::DryRun } else { RedactionMode::Rewrite };
    let options = options(args.is_trusted, false)?;
    let db = known_database(args.db, context)?;
    let redactor = match args.source {
        Some(source) => redactor_of(&folder(&source)?, options, context)?,
        None => Redactor::builtin(),
    };
    let wish = if args.is_dry_run { BackupChoice::Never } else { args.backup };
    let copy = SafetyBackup::make(&db, DestructiveOperation::Redact, wish, context)?;
    let (done, copy) = copy.after(redaction::redact(&db, &redactor, mode))?;
    match done.n_secrets() {
        0 => copy.drop_unneeded(),
        _ => copy.keep(&db, "the secrets: delete it when you have looked at the rest", context),
    }
    // Some went with the removal.
    let copies = CopiesBesideMemory::of(&db);
    if args.is_json {
        context.say_json(&to_json(&done, mode, &copies))?;
    } else {
        context.say(to_text(&done, mode, &copies))?;
    }
    tell_unpublished(&db, context);
    let is_clean = match mode {
        RedactionMode::DryRun => done.n_secrets() == 0,
        RedactionMode::Rewrite => done.left.is_empty(),
    };
    Ok(if is_clean { CommandOutcome::Done } else { CommandOutcome::NotFound })
}

/// Returns the folder that the operator names.
fn folder(source: &Path) -> Result<PathBuf, CommandError> {
    let folder = absolute(source)?;
    if folder.is_dir() {
        return Ok(folder);
    }
    let why =
        format!("`{}` is no folder; name one whose settings are to be used", source.display());
    Err(CommandError::Because(why))
}

/// Returns the redactor by the folder's settings. Trusted settings may leave out built-in kinds.
fn redactor_of(
    folder: &Path,
    options: OperatorOptions,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<Redactor, CommandError> {
    let workspace = RootSettings::load(folder, options)
        .map_err(|error| CommandError::Because(format!("{error}, in `{}`", folder.display())))?;
    for it in workspace.untrusted.iter().filter(|it| it.key.starts_with("redaction.")) {
        let _ = writeln!(context.err, "remindb: warning: {it}");
    }
    Ok(workspace.redactor)
}

fn to_text(done: &RedactionReport, mode: RedactionMode, copies: &CopiesBesideMemory) -> String {
    let would = if mode == RedactionMode::DryRun { "would have redacted" } else { "redacted" };
    let found = match done.n_secrets() {
        0 => "no secret was found".to_owned(),
        n => format!("{would} {} in {}: {}", count(n, "secret"), places(done), kinds(done)),
    };
    let end = match (mode, done.left.is_empty()) {
        (RedactionMode::DryRun, _) => "nothing was changed",
        (RedactionMode::Rewrite, true) => "nothing is left in the file",
        (RedactionMode::Rewrite, false) if done.n_secrets() == 0 => "this is left to do:",
        (RedactionMode::Rewrite, false) => "not all of it is gone:",
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
    copies.warnings().for_each(|it| text += &format!("⚠ {it}\n"));
    text
}

fn places(done: &RedactionReport) -> String {
    let mut places = vec![count(done.n_nodes, "node"), count(done.n_versions, "earlier version")];
    if 0 < done.n_others {
        places.push(count(done.n_others, "path or message"));
    }
    let last = places.pop().unwrap_or_default();
    format!("{} and {last}", places.join(", "))
}

fn kinds(done: &RedactionReport) -> String {
    done.kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect::<Vec<_>>().join(", ")
}

fn count(n: usize, noun: &str) -> String {
    match (n, noun) {
        (1, _) => format!("{n} {noun}"),
        (_, "path or message") => format!("{n} paths or messages"),
        _ => format!("{n} {noun}s"),
    }
}

fn to_json(
    done: &RedactionReport,
    mode: RedactionMode,
    copies: &CopiesBesideMemory,
) -> serde_json::Value {
    let mut object = json!({
        "secrets": done.n_secrets(),
        "kinds": done.kinds,
        "nodes": done.n_nodes,
        "earlier_versions": done.n_versions,
        "paths_and_messages": done.n_others,
        "elsewhere": done.n_elsewhere,
        "dry_run": mode == RedactionMode::DryRun,
        "left": done.left,
    });
    for (name, paths) in copies.to_json() {
        object[name] = paths;
    }
    object
}
