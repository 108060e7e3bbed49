//! `remindb import`: makes a new memory of an export or of a database of remindb 0.3, or adds typed
//! memories, the knowledge of Remind or what another program remembers.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;

use super::args::{ImportArgs, ImportSource};
use super::memory_file_location::database_to_make;
use super::progress::ProgressLine;
use super::{
    CommandError, CommandOutcome, CommandStreamsAndClock, HAS_DESKTOP,
    agent_memory_format_transfer, foreign_import, foreign_remind_transfer,
};
use crate::ingest::redact::Redactor;
use crate::maintenance::transfer::{self, ImportInput, ImportReport, V03ImportReport};

pub(super) fn run(
    args: ImportArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = database_to_make(args.db, None, context)?;
    match args.source {
        ImportSource::Lines(file) => lines(&file, &db, context),
        ImportSource::Old(file) if HAS_DESKTOP => old(&file, &db, context),
        ImportSource::AgentMemory(folder, mode) => {
            agent_memory_format_transfer::import(&folder, &db, mode, context)
        }
        ImportSource::Foreign(source, path, mode) => {
            foreign_import::import(source, path, &db, mode, context)
        }
        ImportSource::Remind(source, mode) => {
            foreign_remind_transfer::import(&source, &db, mode, context)
        }
        ImportSource::Old(_) => {
            Err(CommandError::Because("this build reads no databases of remindb 0.3".to_owned()))
        }
    }
}

fn lines(
    file: &Path,
    db: &Path,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let cannot = |error: std::io::Error| {
        CommandError::Because(format!("cannot read `{}`: {error}", file.display()))
    };
    let (mut input, n_bytes): (Box<dyn BufRead>, u64) = if file.as_os_str() == "-" {
        (Box::new(stdin().lock()), 0)
    } else {
        let opened = File::open(file).map_err(cannot)?;
        let n_bytes = opened.metadata().map_err(cannot)?.len();
        (Box::new(BufReader::new(opened)), n_bytes)
    };
    let name = file.to_string_lossy();
    let lines = ImportInput { name: &name, input: &mut *input, n_bytes };
    let progress = ProgressLine::new(context, "importing", "bytes");
    let imported = transfer::import(lines, db, &Redactor::builtin(), &mut |n_done, n_all| {
        progress.note(n_done, n_all);
    });
    progress.clear();
    let ImportReport { n_rows, n_nodes, n_secrets, fingerprint } = imported?;
    if 0 < n_secrets {
        // The import is done, even if this cannot be written.
        let _ = writeln!(
            context.err,
            "remindb: warning: {n_secrets} secrets were replaced by markers, so the fingerprints \
             of snapshots differ from the exported ones"
        );
    }
    let db = db.display();
    context.say(format_args!(
        "imported: {n_nodes} nodes, {n_rows} rows, state {fingerprint}, to {db}\n"
    ))?;
    Ok(CommandOutcome::Done)
}

fn old(
    file: &Path,
    db: &Path,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let progress = ProgressLine::new(context, "importing", "nodes");
    let now = context.clock.now();
    let moved = transfer::import_old(file, db, &Redactor::builtin(), now, &mut |n_done, n_all| {
        progress.note(n_done, n_all);
    });
    progress.clear();
    let report = moved?;
    let V03ImportReport { n_nodes, n_snapshots, n_changes, n_links, .. } = report;
    let V03ImportReport { n_secrets, fingerprint, notes, .. } = report;
    let db = db.display();
    context.say(format_args!(
        "imported: {n_nodes} nodes, {n_snapshots} snapshots, {n_changes} changes, {n_links} links, \
         state {fingerprint}, to {db}\n"
    ))?;
    if 0 < n_secrets {
        context.say(format_args!("secrets replaced by markers: {n_secrets}\n"))?;
    }
    if !notes.is_empty() {
        context.say("what was not mapped exactly:\n")?;
    }
    for note in notes {
        context.say(format_args!("- {note}\n"))?;
    }
    Ok(CommandOutcome::Done)
}
