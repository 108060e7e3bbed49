//! `remindb restore`: replaces the memory by a backup, and keeps the former file beside it.

use super::args::RestoreArgs;
use super::memory_file_location::database_to_make;
use super::progress::ProgressLine;
use super::safety_backup::prune;
use super::shared_space_flags::tell_unpublished;
use super::user_settings::memory_settings_of_user;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::maintenance::transfer::{self, BackupReport, RestoreReport};

pub(super) fn run(
    args: RestoreArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = database_to_make(args.db, None, context)?;
    let settings = memory_settings_of_user()?;
    let stamp = context.clock.now().stamp();
    let progress = ProgressLine::new(context, "restoring", "pages");
    let restored = transfer::restore(&args.source, &db, &stamp, &mut |n_done, n_all| {
        progress.note(n_done, n_all);
    });
    progress.clear();
    let RestoreReport { state, safety, damage } = restored?;
    if let Some(damage) = damage {
        // The restore is done, even if this cannot be written.
        let _ = writeln!(
            context.err,
            "remindb: warning: what was there is damaged ({damage}) and was moved aside; \
             restart the servers that have it open"
        );
    }
    if let Some(safety) = safety {
        if settings.backup != Some(false) {
            prune(&db, &safety, settings.n_backups(), context);
        }
        context.say(format_args!("kept what was there: {}\n", safety.display()))?;
    }
    let BackupReport { n_nodes, fingerprint, .. } = state;
    tell_unpublished(&db, context);
    let db = db.display();
    context.say(format_args!("restored: {n_nodes} nodes, state {fingerprint}, to {db}\n"))?;
    Ok(CommandOutcome::Done)
}
