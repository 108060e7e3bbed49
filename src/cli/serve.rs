//! `remindb serve`: the memory over MCP, on the standard streams.

use std::env;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::args::Serve;
use super::{Failure, Outcome, World, absolute, known_database, logging, n_threads, options};
use crate::compile::{FileWarning, Request, Seeding};
use crate::config::{Config, Transport};
use crate::mcp::Server;
use crate::mcp::tools::{ABOUT, TOOLS, Tools};
use crate::memory::Memory;
use crate::serve::{Background, Interrupts, Stop, stdio};
use crate::store::IfMissing;
use crate::tokens;
use crate::workspace::{Live, Workspace};

pub(super) fn run(args: Serve, world: &mut World<'_>) -> Result<Outcome, Failure> {
    let from_environment =
        || env::var_os("REMINDB_SOURCE").filter(|it| !it.is_empty()).map(PathBuf::from);
    let source = match args.source.or_else(from_environment) {
        Some(source) => Some(folder(&source)?),
        None => None,
    };
    let options = options(args.is_trusted, args.is_gitignore)?;
    let live = match &source {
        Some(source) => Live::start(source, options)?,
        None => Live::nowhere(options),
    };
    let workspace = Arc::clone(live.current());
    check_transport(&workspace.config)?;
    logging::start(&workspace.config.server.logging, source.as_deref(), args.is_verbose)?;
    quiet_panics();
    for it in &workspace.untrusted {
        // Not into the log: the same folder says where that goes and how quiet it is.
        let warning = FileWarning::from(Workspace::oddity(it));
        let _ = writeln!(world.err, "remindb: warning: {warning}");
    }
    // Without notes to compile, a missing database is a mistyped one.
    let if_missing = if source.is_some() { IfMissing::Create } else { IfMissing::Refuse };
    let memory = Memory::open_at(&known_database(args.db), if_missing, world.clock.clone())?;
    let memory = memory.with_workspace(live);
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
        workspace: &|root| tools.memory.workspace_of(root),
        seeding: Seeding::AtBirth,
        clock: tools.memory.clock(),
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

/// Refuses what the settings ask for and this build does not offer.
fn check_transport(config: &Config) -> Result<(), Failure> {
    if config.server.transport == Some(Transport::Http) {
        let why = format!(
            "`server.transport` in {} is `http`, which is not offered yet; remove it, or set it to \
             `stdio`",
            crate::config::FILE
        );
        return Err(Failure::Because(why));
    }
    Ok(config.check_listen(Transport::Stdio)?)
}

/// A panic says where, and not with which text: that could be somebody's notes.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        log::error!("panicked at={place}");
    }));
}
