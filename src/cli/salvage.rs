//! `remindb salvage`: copies the readable part of a damaged database into a new one.

use super::args::SalvageArgs;
use super::progress::ProgressLine;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::maintenance::transfer::{self, SalvageReport};

pub(super) fn run(
    args: SalvageArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let progress = ProgressLine::new(context, "salvaging", "tables");
    let now = context.clock.now();
    let salvaged = transfer::salvage(&args.damaged, &args.out, now, &mut |n_done, n_all| {
        progress.note(n_done, n_all);
    });
    progress.clear();
    let SalvageReport { n_nodes, fingerprint, losses } = salvaged?;
    let out = args.out.display();
    context.say(format_args!("salvaged: {n_nodes} nodes, state {fingerprint}, to {out}\n"))?;
    match losses.is_empty() {
        true => context.say("every row could be read\n")?,
        false => context.say("what was lost:\n")?,
    }
    for loss in losses {
        context.say(format_args!("- {loss}\n"))?;
    }
    Ok(CommandOutcome::Done)
}
