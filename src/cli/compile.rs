//! `remindb compile`: compiles a folder or a file into a memory.

use std::path::Path;
use std::sync::Arc;

use super::args::CompileArgs;
use super::memory_file_location::database_of_notes;
use super::progress::ProgressLine;
use super::shared_space_flags::OpenSpace;
use super::tool_advice_rewording::error_with_commands;
use super::{CommandError, CommandOutcome, CommandStreamsAndClock, absolute, n_threads, options};
use crate::ingest::scan::{DetailLevel, PassedOverSummary};
use crate::memory::compile::{
    CompileError, CompileRequest, InitialTemperaturesFor, Report, SLICE_BYTES, check_new_file,
    check_new_root, compile,
};
use crate::model::clock::UnixMillis;
use crate::query::render::to_label;
use crate::settings::root_settings::RootSettings;
use crate::store::{
    COMPILE_LEASE, ClaimableLeaseAge, IfMissing, LeaseManager, SharedError, StoreError, Writer,
};
use crate::text::terminal_safe_json::json_text;

pub(super) fn run(
    args: CompileArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let path = absolute(&args.path)?;
    let place = database_of_notes(args.db, &path)?;
    let options = options(args.is_trusted, args.is_gitignore)?;
    let is_new = !place.path.exists();
    if is_new {
        // Checked before a new memory is created; in a known one the path may be a deleted file.
        check_new_file(&path, &RootSettings::load(&check_new_root(&path)?, options.clone())?)?;
    }
    place.tell(context);
    place.make_folder()?;
    let space = OpenSpace::of(args.shared.as_ref(), &place.path, context)?;
    let message = args.message.unwrap_or_else(|| match &space {
        Some(space) => space.message(&path),
        None => format!("compile:{}", args.path.display()),
    });
    let mut writer = Writer::open(&place.path, IfMissing::Create)?;
    if let Some(space) = &space {
        space.attach_writer(&mut writer)?;
    }
    let _first =
        is_new.then(|| FirstCompileRunningFlag::begin(&place.path, &writer, context.clock.now()));
    let progress = ProgressLine::new(context, "compiling", "files");
    let request = CompileRequest {
        path: &path,
        message: &message,
        n_threads: n_threads(),
        workspace: &|root| RootSettings::load(root, options.clone()).map(Arc::new),
        temperatures_for: if args.is_reseeding {
            InitialTemperaturesFor::AllNodes
        } else {
            InitialTemperaturesFor::NewNodes
        },
        listing: if args.is_verbose { DetailLevel::Paths } else { DetailLevel::Counts },
        stopwatch: context.clock.stopwatch(),
        slice_bytes: SLICE_BYTES,
        progress: &|n_done, n_files| {
            progress.note(n_done as u64, n_files as u64);
            true
        },
    };
    let outcome = compile(&writer, &request, context.clock.now());
    progress.clear();
    let report = match outcome {
        Err(CompileError::Store(StoreError::Shared(error @ SharedError::Compiled { .. }))) => {
            let _ = writeln!(context.err, "remindb: {error}");
            return Ok(CommandOutcome::NotFound);
        }
        outcome => outcome?,
    };
    warn(&report, context);
    if args.is_json {
        context.say(format_args!("{}\n", json_text(&report.to_json())))?;
    } else {
        tell(&report, context)?;
        if let Some(n_nodes) = report.reseeded {
            let noun = if n_nodes == 1 { "temperature" } else { "temperatures" };
            context.say(format_args!("reseeded: {n_nodes} {noun}\n"))?;
        }
    }
    Ok(CommandOutcome::Done)
}

/// Prints the warnings of a compile. One that cannot be written must not undo it.
fn warn(report: &Report, context: &mut CommandStreamsAndClock<'_>) {
    for warning in &report.warnings {
        let warning = error_with_commands(&warning.to_string());
        let _ = writeln!(context.err, "remindb: warning: {warning}");
    }
}

/// Says what was compiled; at a terminal in words for people.
fn tell(report: &Report, context: &mut CommandStreamsAndClock<'_>) -> Result<(), CommandError> {
    match context.out.is_terminal() {
        true => context.say(format_args!("{report:#}\n"))?,
        false => context.say(format_args!("{report}\n"))?,
    }
    tell_passed_over(&report.passed_over, context)
}

/// Says what was passed over in one line; and each path, where they are known.
fn tell_passed_over(
    passed_over: &PassedOverSummary,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    let paths = passed_over.paths();
    match (passed_over.is_empty(), paths.is_empty()) {
        (true, true) => return Ok(()),
        (true, false) => context.say("passed over:\n")?,
        (false, true) => context.say(format_args!("{passed_over}; --verbose lists them\n"))?,
        (false, false) => context.say(format_args!("{passed_over}:\n"))?,
    }
    for it in paths {
        context.say(format_args!("  {} ({})\n", to_label(&it.path), it.kind))?;
    }
    Ok(())
}

/// The lease of a first compile, for as long as it lives: a search in another process says that the
/// notes are being compiled rather than that the memory is empty.
struct FirstCompileRunningFlag {
    /// `None` where it could not be made, which keeps no compile from its work.
    leases: Option<(LeaseManager, String)>,
}

impl FirstCompileRunningFlag {
    fn begin(path: &Path, writer: &Writer, now: UnixMillis) -> FirstCompileRunningFlag {
        let name = format!("{COMPILE_LEASE}{}", std::process::id());
        let taken = LeaseManager::open(path, writer.file_identity(), &name).and_then(|it| {
            let is_taken = it.take(&name, ClaimableLeaseAge::Expired, now)?;
            Ok(is_taken.then_some((it, name)))
        });
        FirstCompileRunningFlag { leases: taken.ok().flatten() }
    }
}

impl Drop for FirstCompileRunningFlag {
    fn drop(&mut self) {
        if let Some((leases, name)) = &self.leases {
            // It expires by itself.
            let _ = leases.release(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::reader::{PopulationState, Reader};

    #[test]
    fn a_first_compile_is_seen_by_other_processes_while_it_runs() {
        const NOW: UnixMillis = UnixMillis(1_000);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("memory.db");
        let writer = Writer::open(&path, IfMissing::Create).unwrap();
        let seen = || Reader::open(&path).unwrap().filling(NOW).unwrap();
        assert_eq!(seen(), PopulationState::Empty);
        let first = FirstCompileRunningFlag::begin(&path, &writer, NOW);
        assert_eq!(seen(), PopulationState::Begun);
        drop(first);
        assert_eq!(seen(), PopulationState::Empty);
    }
}
