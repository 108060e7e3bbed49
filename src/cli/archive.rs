//! `remindb archive`: archives old memories, and the oldest ones beyond the soft limits.

use super::args::ArchiveMemoriesArgs;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, open_memory};
use crate::memory::typed::ArchiveOrDryRun;

pub(super) fn run(
    args: ArchiveMemoriesArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let mode = if args.is_dry_run { ArchiveOrDryRun::DryRun } else { ArchiveOrDryRun::Real };
    let memory = open_memory(args.db, context)?;
    let report = memory.archive_memories(args.days, mode)?;
    if args.is_json {
        context.say_json(&report.to_json(mode))?;
    } else {
        let counts = report.counts();
        match (mode, report.snapshot) {
            (ArchiveOrDryRun::DryRun, _) => {
                context.say(format_args!("would archive {counts}\n"))?
            }
            (_, None) => context.say(format_args!("archived {counts}\n"))?,
            (_, Some(snapshot)) => {
                context.say(format_args!("archived {counts} (snapshot #{snapshot})\n"))?;
            }
        }
    }
    for id in &report.skipped {
        // The others are archived, even if this cannot be written.
        let what = "could not be archived; see `remindb doctor`";
        let _ = writeln!(context.err, "remindb: warning: memory {id} {what}");
    }
    Ok(CommandOutcome::Done)
}
