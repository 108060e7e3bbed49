//! `remindb doctor`: checks a database, and repairs it on request.

use std::path::Path;

use serde_json::{Value, json};

use super::args::DoctorArgs;
use super::color::{PaintedText, TextRole};
use super::configured_providers::providers;
use super::memory_file_location::known_database;
use super::progress::ProgressLine;
use super::shared_space_flags::tell_unpublished;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock};
use crate::maintenance::doctor::{self, CheckStatus, DoctorReport};
use crate::maintenance::repair_after_backup;
use crate::maintenance::transfer::TransferError;
use crate::query::render::to_one_line;
use crate::store::StoreError;
use crate::text::terminal_safe_json::json_text;

pub(super) fn run(
    args: DoctorArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let db = known_database(args.db, context)?;
    let report = if args.is_fix {
        let now = context.clock.now();
        let mut announce = |backup: &Path| {
            // The repair goes on, even if this cannot be written.
            let _ = writeln!(context.err, "remindb: backup: {}", backup.display());
        };
        repair_after_backup::repair(&db, now, &mut announce).map_err(|error| match error {
            TransferError::Store(error) => advised(error, &db),
            error => error.into(),
        })?
    } else {
        let progress = ProgressLine::new(context, "checking", "checks");
        let examined = doctor::examine_aloud(&db, &|n, of| progress.note(n, of));
        progress.clear();
        examined.map_err(|error| advised(error, &db))?
    };
    let providers = examine_providers(args.is_reaching, context)?;
    if args.is_json && args.is_reaching {
        let mut document: Value = serde_json::from_str(&report.to_json())?;
        document["providers"] = providers.iter().map(ExaminedProvider::to_json).collect();
        context.say(json_text(&document) + "\n")?;
    } else if args.is_json {
        // Programs get the bytes that a client of the server gets.
        let end = if context.out.is_terminal() { "\n" } else { "" };
        context.say(format_args!("{}{end}", report.to_json()))?;
    } else {
        let mut text = paint_report(&report);
        if args.is_reaching && providers.is_empty() {
            text.push("\nyour settings name no provider: nothing is sent anywhere\n");
        }
        for (nth, provider) in providers.iter().enumerate() {
            text.push(if nth == 0 { "\n" } else { "" });
            text.append(provider.line());
        }
        context.show(&text)?;
    }
    if args.is_fix {
        tell_unpublished(&db, context);
    }
    let is_gone = providers.iter().any(|it| matches!(it.reached, Some(Err(_))));
    Ok(if is_gone || report.status() == CheckStatus::Fail {
        CommandOutcome::NotFound
    } else {
        CommandOutcome::Done
    })
}

/// Formats the report: the headline, then a line for each check.
fn paint_report(report: &DoctorReport) -> PaintedText {
    let (glyph, role) = glyph_and_role(report.status());
    let headline = match report.status() {
        CheckStatus::Pass => "Database is healthy",
        CheckStatus::Warn => "Database has warnings",
        CheckStatus::Fail => "Database is unhealthy",
    };
    let mut text = PaintedText::default();
    text.paint(role, glyph);
    text.push(&format!(" {headline}\n\n"));
    for check in &report.checks {
        let (glyph, role) = glyph_and_role(check.status);
        let done = match check.status {
            CheckStatus::Warn => "repaired, but for the warning",
            _ => "fixed",
        };
        let fix = match &check.fix {
            None => String::new(),
            Some(Ok(notes)) if notes.is_empty() => format!("  ({done})"),
            Some(Ok(notes)) => format!("  ({done}: {})", notes.join("; ")),
            Some(Err(why)) => format!("  (fix error: {why})"),
        };
        let told = check.detail.clone() + &fix;
        text.paint(role, glyph);
        text.push(&format!(" {:<20} {}\n", check.name, to_one_line(&told)));
    }
    text
}

/// A provider, and whether it is there if it was asked.
struct ExaminedProvider {
    job: &'static str,
    name: String,
    reached: Option<Result<String, String>>,
}

/// Returns the providers of the user, each asked if wanted.
fn examine_providers(
    is_reaching: bool,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<Vec<ExaminedProvider>, CommandError> {
    let providers = providers(context)?;
    let examined = providers.all().map(|(job, provider)| ExaminedProvider {
        job: job.name(),
        name: provider.name().to_owned(),
        reached: is_reaching.then(|| provider.reach().map_err(|it| it.to_string())),
    });
    Ok(examined.collect())
}

impl ExaminedProvider {
    fn line(&self) -> PaintedText {
        let ExaminedProvider { job, name, reached } = self;
        let (glyph, role, said) = match reached {
            None => ("·", TextRole::Dim, "not asked; --providers asks it"),
            Some(Ok(said)) => ("✓", TextRole::Good, said.as_str()),
            Some(Err(why)) => ("✗", TextRole::Bad, why.as_str()),
        };
        let mut line = PaintedText::default();
        line.paint(role, glyph);
        line.push(&format!(" {job:<20} {}: {}\n", to_one_line(name), to_one_line(said)));
        line
    }

    fn to_json(&self) -> Value {
        let said = match &self.reached {
            Some(Ok(said) | Err(said)) => said.as_str(),
            None => "",
        };
        let is_reached = matches!(self.reached, Some(Ok(_)));
        json!({"job": self.job, "name": self.name, "reachable": is_reached, "detail": said})
    }
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
