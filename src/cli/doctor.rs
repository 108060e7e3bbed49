//! `remindb doctor`: checks a database, and repairs it on request.

use std::path::Path;

use super::args::DoctorArgs;
use super::color::TextRole;
use super::memory_place::known_database;
use super::progress::ProgressLine;
use super::sharing::tell_unpublished;
use super::{CommandError, CommandOutcome, Context};
use crate::maintenance::doctor::{self, CheckStatus};
use crate::maintenance::heal;
use crate::maintenance::transfer::TransferError;
use crate::store::StoreError;

pub(super) fn run(
    args: DoctorArgs,
    context: &mut Context<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = known_database(args.db, context)?;
    let report = if args.is_fix {
        let now = context.clock.now();
        let mut announce = |backup: &Path| {
            // The repair goes on, even if this cannot be written.
            let _ = writeln!(context.err, "remindb: backup: {}", backup.display());
        };
        heal::repair(&db, now, &mut announce).map_err(|error| match error {
            TransferError::Store(error) => advised(error, &db),
            error => error.into(),
        })?
    } else {
        let progress = ProgressLine::new(context, "checking", "checks");
        let examined = doctor::examine_aloud(&db, &|n, of| progress.note(n, of));
        progress.clear();
        examined.map_err(|error| advised(error, &db))?
    };
    if args.is_json {
        // Programs get the bytes that a client of the server gets.
        let end = if context.is_out_terminal { "\n" } else { "" };
        context.say(format_args!("{}{end}", report.to_json()))?;
    } else {
        let (glyph, role) = glyph_and_role(report.status());
        let headline = match report.status() {
            CheckStatus::Pass => "Database is healthy",
            CheckStatus::Warn => "Database has warnings",
            CheckStatus::Fail => "Database is unhealthy",
        };
        context.say(format_args!("{} {headline}\n\n", context.paint.paint(role, glyph)))?;
        for check in &report.checks {
            let (glyph, role) = glyph_and_role(check.status);
            let glyph = context.paint.paint(role, glyph);
            let fix = match &check.fix {
                None => String::new(),
                Some(Ok(notes)) if notes.is_empty() => "  (fixed)".to_owned(),
                Some(Ok(notes)) => format!("  (fixed: {})", notes.join("; ")),
                Some(Err(why)) => format!("  (fix error: {why})"),
            };
            context.say(format_args!("{glyph} {:<20} {}{fix}\n", check.name, check.detail))?;
        }
    }
    if args.is_fix {
        tell_unpublished(&db, context);
    }
    Ok(if report.status() == CheckStatus::Fail {
        CommandOutcome::NotFound
    } else {
        CommandOutcome::Done
    })
}

/// Adds a hint to the error about a file that may be a damaged memory.
fn advised(error: StoreError, db: &Path) -> CommandError {
    let hint = match error {
        StoreError::Foreign { what: "no SQLite database", .. } => format!(
            "; if it was a memory, restore a backup, or try `remindb salvage {} --out NEW.db`",
            db.display()
        ),
        _ => String::new(),
    };
    CommandError::Because(format!("{error}{hint}"))
}

fn glyph_and_role(status: CheckStatus) -> (&'static str, TextRole) {
    match status {
        CheckStatus::Pass => ("✓", TextRole::Good),
        CheckStatus::Warn => ("⚠", TextRole::Odd),
        CheckStatus::Fail => ("✗", TextRole::Bad),
    }
}
