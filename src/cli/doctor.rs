//! `remindb doctor`: looks at a database from every side, and repairs it if it is told to.

use std::path::Path;

use super::args::Doctor;
use super::color::Role;
use super::{Failure, Outcome, World, known_database};
use crate::maintenance::doctor::{self, Status};
use crate::maintenance::transfer::MoveError;
use crate::store::StoreError;

pub(super) fn run(args: Doctor, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let db = known_database(args.db);
    let report = if args.is_fix {
        let now = world.clock.now();
        let mut announce = |backup: &Path| {
            // The repair goes on, whether somebody can read this or not.
            let _ = writeln!(world.err, "remindb: backup: {}", backup.display());
        };
        doctor::heal(&db, now, &mut announce).map_err(|error| match error {
            MoveError::Store(error) => advised(error, &db),
            error => error.into(),
        })?
    } else {
        doctor::examine(&db).map_err(|error| advised(error, &db))?
    };
    if args.is_json {
        // Programs get what a client of the server gets, to the byte.
        let end = if world.is_out_terminal { "\n" } else { "" };
        world.say(format_args!("{}{end}", report.to_json()))?;
    } else {
        let (glyph, role) = look(report.status());
        let headline = match report.status() {
            Status::Pass => "Database is healthy",
            Status::Warn => "Database has warnings",
            Status::Fail => "Database is unhealthy",
        };
        world.say(format_args!("{} {headline}\n\n", world.paint.paint(role, glyph)))?;
        for check in &report.checks {
            let (glyph, role) = look(check.status);
            let glyph = world.paint.paint(role, glyph);
            let fix = match &check.fix {
                None => String::new(),
                Some(Ok(())) => "  (fixed)".to_owned(),
                Some(Err(why)) => format!("  (fix error: {why})"),
            };
            world.say(format_args!("{glyph} {:<20} {}{fix}\n", check.name, check.detail))?;
        }
    }
    Ok(if report.status() == Status::Fail { Outcome::NotFound } else { Outcome::Done })
}

/// What is no database at all may have been one.
fn advised(error: StoreError, db: &Path) -> Failure {
    let hint = match error {
        StoreError::Foreign { what: "no SQLite database", .. } => format!(
            "; if it was a memory, restore a backup, or try `remindb salvage {} --out NEW.db`",
            db.display()
        ),
        _ => String::new(),
    };
    Failure::Because(format!("{error}{hint}"))
}

fn look(status: Status) -> (&'static str, Role) {
    match status {
        Status::Pass => ("✓", Role::Good),
        Status::Warn => ("⚠", Role::Odd),
        Status::Fail => ("✗", Role::Bad),
    }
}
