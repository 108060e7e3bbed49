//! `remindb export`: everything as JSON Lines, into a file or on standard output.

use std::io::BufWriter;

use super::args::Export;
use super::progress::Progress;
use super::{Failure, Outcome, World, known_database};
use crate::maintenance::transfer::{self, Draft, IfThere, MoveError};

pub(super) fn run(args: Export, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let db = known_database(args.db);
    let progress = Progress::new(world, "exporting", "rows");
    let mut note = |n_done, n_all| progress.note(n_done, n_all);
    let Some(dest) = args.dest else {
        let outcome = transfer::export(&db, world.out, &mut note);
        progress.clear();
        return match outcome {
            Err(MoveError::Output(error)) => super::written(Err(error)).map(|()| Outcome::Done),
            outcome => Ok(outcome.map(|_| Outcome::Done)?),
        };
    };
    let if_there = if args.is_force { IfThere::Replace } else { IfThere::Refuse };
    let draft = Draft::of(&dest, if_there)?;
    let outcome = transfer::export(&db, &mut BufWriter::new(draft.file()?), &mut note);
    progress.clear();
    let n_rows = outcome?;
    draft.publish()?;
    world.say(format_args!("exported: {n_rows} rows, to {}\n", dest.display()))?;
    Ok(Outcome::Done)
}
