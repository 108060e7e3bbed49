//! `remindb compile`: compiles a folder or a file into a memory.

use std::sync::Arc;

use super::args::CompileArgs;
use super::memory_place::database_of_notes;
use super::progress::ProgressLine;
use super::{CommandError, CommandOutcome, Context, absolute, n_threads, options};
use crate::memory::compile::{CompileRequest, InitialTemperaturesFor, check_new_root, compile};
use crate::settings::workspace::Workspace;
use crate::store::{IfMissing, Writer};

pub(super) fn run(
    args: CompileArgs,
    context: &mut Context<'_>,
) -> Result<CommandOutcome, CommandError> {
    let path = absolute(&args.path)?;
    let place = database_of_notes(args.db, &path)?;
    let options = options(args.is_trusted, args.is_gitignore)?;
    if !place.path.exists() {
        // Checked before a new memory is created; in a known one the path may be a deleted file.
        Workspace::load(&check_new_root(&path)?, options.clone())?;
    }
    let message = args.message.unwrap_or_else(|| format!("compile:{}", args.path.display()));
    place.tell(context);
    place.make_folder()?;
    let writer = Writer::open(&place.path, IfMissing::Create)?;
    let progress = ProgressLine::new(context, "compiling", "files");
    let request = CompileRequest {
        path: &path,
        message: &message,
        n_threads: n_threads(),
        workspace: &|root| Workspace::load(root, options.clone()).map(Arc::new),
        temperatures_for: if args.is_reseeding {
            InitialTemperaturesFor::AllNodes
        } else {
            InitialTemperaturesFor::NewNodes
        },
        stopwatch: context.clock.stopwatch(),
        progress: &|n_done, n_files| {
            progress.note(n_done as u64, n_files as u64);
            true
        },
    };
    let outcome = compile(&writer, &request, context.clock.now());
    progress.clear();
    let report = outcome?;
    for warning in &report.warnings {
        // A warning that cannot be written must not undo the compile.
        let _ = writeln!(context.err, "remindb: warning: {warning}");
    }
    if args.is_json {
        context.say(format_args!("{}\n", report.to_json()))?;
    } else {
        context.say(format_args!("{report}\n"))?;
        if let Some(n_nodes) = report.reseeded {
            let noun = if n_nodes == 1 { "temperature" } else { "temperatures" };
            context.say(format_args!("reseeded: {n_nodes} {noun}\n"))?;
        }
    }
    Ok(CommandOutcome::Done)
}
