//! `remindb gc`: old snapshots go, and nothing of them is left in the file.

use serde_json::{Value, json};

use super::args::Gc;
use super::{Failure, Outcome, World, known_database};
use crate::clock::Millis;
use crate::render::stats::size;
use crate::store::{Collected, IfMissing, Keep, Mode, Writer};

pub(super) fn run(args: Gc, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let writer = Writer::open(&known_database(args.db), IfMissing::Refuse)?;
    let keep = match (args.keep, args.older_than_ms) {
        (Some(n), _) => Keep::Last(n),
        (None, Some(ms)) => Keep::Since(Millis(world.clock.now().0.saturating_sub(ms))),
        (None, None) => Keep::All,
    };
    let mode = if args.is_dry_run { Mode::DryRun } else { Mode::Real };
    let done = writer.collect(keep, mode)?;
    if args.is_json {
        world.say(format_args!("{:#}\n", as_json(&done, mode)))?;
    } else {
        world.say(format_args!("{}\n", as_text(&done, mode)))?;
    }
    let Some(why) = done.unscrubbed else { return Ok(Outcome::Done) };
    // What was done is done, whether anybody reads this or not.
    let _ = writeln!(
        world.err,
        "remindb: warning: bytes of what was deleted are left in the file: {why}; run this again"
    );
    Ok(Outcome::NotFound)
}

fn as_text(done: &Collected, mode: Mode) -> String {
    let left = match (done.n_left, done.first) {
        (0, _) => "no snapshot".to_owned(),
        (1, first) => format!("1 snapshot left, {first}"),
        (n, first) => format!("{n} snapshots left, from {first} on"),
    };
    let what = format!(
        "{} snapshot(s) with {} change(s) and {} text(s) of {}",
        done.n_snapshots,
        done.n_changes,
        done.n_texts,
        size(bytes(done.text_bytes))
    );
    match mode {
        Mode::DryRun => format!("would forget {what}; {left}"),
        Mode::Real => {
            let (before, after) = (size(bytes(done.bytes_before)), size(bytes(done.bytes_after)));
            format!("forgot {what}; {left}; file {before} → {after}")
        }
    }
}

fn bytes(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

fn as_json(done: &Collected, mode: Mode) -> Value {
    json!({
        "dry_run": mode == Mode::DryRun,
        "snapshots": done.n_snapshots,
        "changes": done.n_changes,
        "texts": done.n_texts,
        "text_bytes": done.text_bytes,
        "first": done.first,
        "left": done.n_left,
        "bytes_before": done.bytes_before,
        "bytes_after": done.bytes_after,
        "scrubbed": mode == Mode::Real && done.unscrubbed.is_none(),
    })
}
