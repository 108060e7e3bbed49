//! `remindb doctor`: looks at a database from every side, and changes nothing.

use serde_json::json;

use super::args::Doctor;
use super::paint::Role;
use super::{Failure, Outcome, World, known_database};
use crate::store::doctor::{self, Report, Status};

pub(super) fn run(args: Doctor, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let report = doctor::examine(&known_database(args.db))?;
    if args.is_json {
        world.say(format_args!("{}\n", pretty(&report)))?;
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
            world.say(format_args!("{glyph} {:<20} {}\n", check.name, check.detail))?;
        }
    }
    Ok(if report.status() == Status::Fail { Outcome::NotFound } else { Outcome::Done })
}

fn look(status: Status) -> (&'static str, Role) {
    match status {
        Status::Pass => ("✓", Role::Good),
        Status::Warn => ("⚠", Role::Odd),
        Status::Fail => ("✗", Role::Bad),
    }
}

fn pretty(report: &Report) -> String {
    let checks: Vec<_> = report
        .checks
        .iter()
        .map(|it| json!({"name": it.name, "status": it.status.as_str(), "detail": it.detail}))
        .collect();
    let value = json!({"status": report.status().as_str(), "checks": checks});
    format!("{value:#}")
}
