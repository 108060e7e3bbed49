//! `remindb backup`: makes a verified copy of a memory that may be in use.

use super::args::BackupArgs;
use super::memory_file_location::known_database;
use super::progress::ProgressLine;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::maintenance::transfer::{self, BackupReport, IfExists};

pub(super) fn run(
    args: BackupArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = known_database(args.db, context)?;
    let dest = args.dest.unwrap_or_else(|| {
        let mut name = db.clone().into_os_string();
        name.push(format!(".{}.backup", context.clock.now().stamp()));
        name.into()
    });
    let if_there = if args.is_force { IfExists::Replace } else { IfExists::Refuse };
    let progress = ProgressLine::new(context, "backing up", "pages");
    let backed =
        transfer::backup(&db, &dest, if_there, &mut |n_done, n_all| progress.note(n_done, n_all));
    progress.clear();
    let BackupReport { n_nodes, fingerprint, is_as_noted } = backed?;
    if !is_as_noted {
        let what = "the memory does not note the fingerprint that its rows have";
        // A warning that cannot be written must not undo the backup.
        let _ = writeln!(context.err, "remindb: warning: {what}; see `remindb doctor`");
    }
    let dest = dest.display();
    context.say(format_args!("backed up: {n_nodes} nodes, state {fingerprint}, to {dest}\n"))?;
    Ok(CommandOutcome::Done)
}
