//! `remindb serve`: the memory over MCP, on the standard streams.

use std::env;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use simplelog::{ConfigBuilder, LevelFilter, WriteLogger};

use super::args::Serve;
use super::{Failure, Outcome, World, absolute, known_database, n_threads};
use crate::compile::Request;
use crate::mcp::Server;
use crate::mcp::tools::{ABOUT, TOOLS, Tools};
use crate::memory::Memory;
use crate::serve::{Background, Interrupts, Stop, stdio};
use crate::store::IfMissing;
use crate::tokens;

pub(super) fn run(args: Serve, world: &mut World<'_>) -> Result<Outcome, Failure> {
    start_log(args.is_verbose);
    quiet_panics();
    let from_environment =
        || env::var_os("REMINDB_SOURCE").filter(|it| !it.is_empty()).map(PathBuf::from);
    let source = match args.source.or_else(from_environment) {
        Some(source) => Some(folder(&source)?),
        None => None,
    };
    // Without notes to compile, a memory begins with what the agent writes.
    let database = known_database(args.db);
    let is_new = !database.exists();
    let memory = Memory::open_at(&database, IfMissing::Create, world.clock.clone())?;
    if is_new {
        log::info!("a new memory was made at `{}`", database.display());
    }
    let server = Arc::new(Server {
        about: ABOUT,
        tools: TOOLS,
        surface: Tools { memory, source: source.clone(), n_threads: n_threads() },
    });
    let mut background = Vec::new();
    if let Some(source) = source {
        let server = Arc::clone(&server);
        let work = Box::new(move |stop: &Stop| first_compile(&server.surface, &source, stop));
        background.push(Background { name: "first-compile", work });
    }
    let interrupts = Interrupts::watch()?;
    stdio::run(
        &server,
        &world.clock,
        background,
        io::stdin(),
        io::stdout(),
        interrupts.received(),
    )?;
    Ok(Outcome::Done)
}

/// Compiles the source folder while the client is being served already.
fn first_compile(tools: &Tools, source: &std::path::Path, stop: &Stop) {
    let started = tools.memory.clock().now();
    let request = Request {
        path: source,
        message: "initial",
        n_threads: tools.n_threads,
        redactor: tools.memory.redactor(),
        progress: &|_, _| !stop.is_set(),
    };
    let outcome = tools.memory.compile_as(&request);
    // A server may idle for days: the next count loads the vocabulary again.
    tokens::release();
    match outcome {
        Ok(report) => {
            for warning in &report.warnings {
                log::warn!("{warning}");
            }
            let took_ms = tools.memory.clock().now().since(started);
            log::info!("{report} took_ms={took_ms}");
        }
        Err(error) => log::error!("the source folder was not compiled: {error}"),
    }
}

fn folder(source: &std::path::Path) -> Result<PathBuf, Failure> {
    let full = absolute(source)?.canonicalize();
    match full {
        Ok(full) if full.is_dir() => Ok(full),
        Ok(_) => Err(Failure::Because(format!("`{}` is no folder; name one", source.display()))),
        Err(error) => {
            Err(Failure::Because(format!("cannot serve `{}`: {error}", source.display())))
        }
    }
}

/// Logs go to stderr: stdout is the protocol.
fn start_log(is_verbose: bool) {
    let level = if is_verbose { LevelFilter::Debug } else { LevelFilter::Info };
    let config = ConfigBuilder::new().set_time_format_rfc3339().build();
    // It fails only where a logger is running already, which then gets the records.
    let _ = WriteLogger::init(level, config, io::stderr());
}

/// A panic says where, and not with which text: that could be somebody's notes.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        log::error!("panicked at={place}");
    }));
}
