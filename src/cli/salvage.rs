//! `remindb salvage`: what can be read of a damaged database becomes a new one.

use super::args::Salvage;
use super::progress::Progress;
use super::{Failure, Outcome, World};
use crate::maintenance::transfer::{self, Salvaged};

pub(super) fn run(args: Salvage, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let progress = Progress::new(world, "salvaging", "tables");
    let now = world.clock.now();
    let salvaged = transfer::salvage(&args.damaged, &args.out, now, &mut |n_done, n_all| {
        progress.note(n_done, n_all);
    });
    progress.clear();
    let Salvaged { n_nodes, fingerprint, losses } = salvaged?;
    let out = args.out.display();
    world.say(format_args!("salvaged: {n_nodes} nodes, state {fingerprint}, to {out}\n"))?;
    match losses.is_empty() {
        true => world.say("every row could be read\n")?,
        false => world.say("what was lost:\n")?,
    }
    for loss in losses {
        world.say(format_args!("- {loss}\n"))?;
    }
    Ok(Outcome::Done)
}
