//! `remindb import`: an export, or a database of remindb 0.3, becomes a new memory.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;

use super::args::{Import, ImportSource};
use super::progress::Progress;
use super::{Failure, HAS_DESK, Outcome, World, known_database};
use crate::ingest::redact::Redactor;
use crate::maintenance::transfer::{self, Imported, Lines, Moved};

pub(super) fn run(args: Import, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let db = known_database(args.db);
    match args.source {
        ImportSource::Lines(file) => lines(&file, &db, world),
        ImportSource::Old(file) if HAS_DESK => old(&file, &db, world),
        ImportSource::Old(_) => {
            Err(Failure::Because("this build reads no databases of remindb 0.3".to_owned()))
        }
    }
}

fn lines(file: &Path, db: &Path, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let cannot = |error: std::io::Error| {
        Failure::Because(format!("cannot read `{}`: {error}", file.display()))
    };
    let (mut input, n_bytes): (Box<dyn BufRead>, u64) = if file.as_os_str() == "-" {
        (Box::new(stdin().lock()), 0)
    } else {
        let opened = File::open(file).map_err(cannot)?;
        let n_bytes = opened.metadata().map_err(cannot)?.len();
        (Box::new(BufReader::new(opened)), n_bytes)
    };
    let name = file.to_string_lossy();
    let lines = Lines { name: &name, input: &mut *input, n_bytes };
    let progress = Progress::new(world, "importing", "bytes");
    let now = world.clock.now();
    let imported = transfer::import(lines, db, &Redactor::builtin(), now, &mut |n_done, n_all| {
        progress.note(n_done, n_all);
    });
    progress.clear();
    let Imported { n_rows, n_nodes, n_secrets, fingerprint } = imported?;
    if 0 < n_secrets {
        // It is done, whether somebody can read this or not.
        let _ = writeln!(
            world.err,
            "remindb: warning: {n_secrets} secrets were replaced by markers, so the fingerprints \
             of earlier snapshots are those of texts that are gone"
        );
    }
    let db = db.display();
    world.say(format_args!(
        "imported: {n_nodes} nodes, {n_rows} rows, state {fingerprint}, to {db}\n"
    ))?;
    Ok(Outcome::Done)
}

fn old(file: &Path, db: &Path, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let progress = Progress::new(world, "importing", "nodes");
    let now = world.clock.now();
    let moved = transfer::import_old(file, db, &Redactor::builtin(), now, &mut |n_done, n_all| {
        progress.note(n_done, n_all);
    });
    progress.clear();
    let Moved { n_nodes, n_snapshots, n_changes, n_links, n_secrets, fingerprint, notes } = moved?;
    let db = db.display();
    world.say(format_args!(
        "imported: {n_nodes} nodes, {n_snapshots} snapshots, {n_changes} changes, {n_links} links, \
         state {fingerprint}, to {db}\n"
    ))?;
    if 0 < n_secrets {
        world.say(format_args!("secrets replaced by markers: {n_secrets}\n"))?;
    }
    if !notes.is_empty() {
        world.say("what was not mapped exactly:\n")?;
    }
    for note in notes {
        world.say(format_args!("- {note}\n"))?;
    }
    Ok(Outcome::Done)
}
