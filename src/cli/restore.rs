//! `remindb restore`: a backup becomes the memory; what was there is kept beside it.

use super::args::Restore;
use super::progress::Progress;
use super::{Failure, Outcome, World, known_database};
use crate::maintenance::transfer::{self, Backed, Restored};

pub(super) fn run(args: Restore, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let db = known_database(args.db);
    let stamp = world.clock.now().stamp();
    let progress = Progress::new(world, "restoring", "pages");
    let restored = transfer::restore(&args.source, &db, &stamp, &mut |n_done, n_all| {
        progress.note(n_done, n_all);
    });
    progress.clear();
    let Restored { state, safety, damage } = restored?;
    if let Some(damage) = damage {
        // It is done, whether somebody can read this or not.
        let _ = writeln!(
            world.err,
            "remindb: warning: what was there is damaged ({damage}) and was moved aside; \
             restart the servers that have it open"
        );
    }
    if let Some(safety) = safety {
        world.say(format_args!("kept what was there: {}\n", safety.display()))?;
    }
    let Backed { n_nodes, fingerprint, .. } = state;
    let db = db.display();
    world.say(format_args!("restored: {n_nodes} nodes, state {fingerprint}, to {db}\n"))?;
    Ok(Outcome::Done)
}
