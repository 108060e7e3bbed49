//! `remindb export`: everything as JSON Lines, into a file or on standard output.

use std::fs::File;
use std::io::BufWriter;

use super::args::Export;
use super::progress::Progress;
use super::{Failure, Outcome, World, known_database};
use crate::store::moving::{self, Draft, IfThere, MoveError};

pub(super) fn run(args: Export, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let db = known_database(args.db);
    let progress = Progress::new(world, "exporting", "rows");
    let mut note = |n_done, n_all| progress.note(n_done, n_all);
    let done = |outcome| match outcome {
        Err(MoveError::Output(error)) => super::written(Err(error)).map(|()| Outcome::Done),
        outcome => Ok(outcome.map(|_| Outcome::Done)?),
    };
    let Some(dest) = args.dest else {
        let outcome = moving::export(&db, world.out, &mut note);
        progress.clear();
        return done(outcome);
    };
    if args.is_force && moving::is_stream(&dest) {
        let stream = File::options().write(true).open(&dest).map_err(MoveError::Output)?;
        let outcome = moving::export(&db, &mut BufWriter::new(stream), &mut note);
        progress.clear();
        return done(outcome);
    }
    let if_there = if args.is_force { IfThere::Replace } else { IfThere::Refuse };
    let draft = Draft::of(&dest, if_there)?;
    let outcome = moving::export(&db, &mut BufWriter::new(draft.file()?), &mut note);
    progress.clear();
    let n_rows = outcome?;
    draft.publish()?;
    world.say(format_args!("exported: {n_rows} rows, to {}\n", dest.display()))?;
    Ok(Outcome::Done)
}
