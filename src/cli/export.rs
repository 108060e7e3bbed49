//! `remindb export`: writes everything as JSON Lines, to a file or standard output.

use std::fs::File;
use std::io::BufWriter;

use super::args::{ExportArgs, ExportDestination};
use super::memory_file_location::known_database;
use super::progress::ProgressLine;
use super::{
    CommandError, CommandOutcome, CommandStreamsAndClock, agent_memory_format_transfer,
    foreign_remind_transfer,
};
use crate::maintenance::transfer::{
    self, AtomicFile, IfExists, MarkdownExportReport, TransferError,
};

pub(super) fn run(
    args: ExportArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = known_database(args.db, context)?;
    let progress = ProgressLine::new(context, "exporting", "rows");
    let mut note = |n_done, n_all| progress.note(n_done, n_all);
    let done = |outcome| match outcome {
        Err(TransferError::Output(error)) => {
            super::written(Err(error)).map(|()| CommandOutcome::Done)
        }
        outcome => Ok(outcome.map(|_| CommandOutcome::Done)?),
    };
    let dest = match args.target {
        ExportDestination::Lines(dest) => dest,
        ExportDestination::AgentMemory(folder) => {
            return agent_memory_format_transfer::export(&db, &folder, args.is_force, context);
        }
        ExportDestination::Markdown(folder) => {
            let outcome = transfer::export_markdown(&db, &folder, &mut note);
            progress.clear();
            let MarkdownExportReport { n_nodes, n_files } = outcome?;
            let folder = folder.display();
            let done = format!("exported: {n_nodes} nodes in {n_files} files, to {folder}\n");
            context.say(format_args!("{done}"))?;
            return Ok(CommandOutcome::Done);
        }
        ExportDestination::Remind(dest) => {
            dest.iter().try_for_each(|it| transfer::refuse_same(&db, it))?;
            return foreign_remind_transfer::export(&db, dest.as_deref(), args.is_force, context);
        }
    };
    let Some(dest) = dest else {
        let outcome = transfer::export(&db, &mut context.out, &mut note);
        progress.clear();
        return done(outcome);
    };
    transfer::refuse_same(&db, &dest)?;
    if args.is_force && transfer::is_stream(&dest) {
        let unwritten = |source| TransferError::File { doing: "write", path: dest.clone(), source };
        let stream = File::options().write(true).open(&dest).map_err(unwritten)?;
        let outcome = transfer::export(&db, &mut BufWriter::new(stream), &mut note);
        progress.clear();
        return done(outcome.map_err(|error| match error {
            TransferError::Output(source) => unwritten(source),
            error => error,
        }));
    }
    let if_there = if args.is_force { IfExists::Replace } else { IfExists::Refuse };
    let draft = AtomicFile::of(&dest, if_there)?;
    let outcome = transfer::export(&db, &mut BufWriter::new(draft.file()?), &mut note);
    progress.clear();
    let n_rows = outcome?;
    draft.publish()?;
    context.say(format_args!("exported: {n_rows} rows, to {}\n", dest.display()))?;
    Ok(CommandOutcome::Done)
}
