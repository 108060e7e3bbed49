//! `remindb serve`: the memory over MCP, on the standard streams or over HTTP.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::args::ServeArgs;
use super::{
    CommandError, CommandOutcome, Context, absolute, known_database, listen, logging, n_threads,
    offer, options, variable,
};
use crate::mcp::{PAGE_ROWS_MAX, Server, StateSigner, SubscriptionHub, Waker};
use crate::memory::Memory;
use crate::memory::compile::FileWarning;
use crate::server::background::rescan::{RescanOptions, Rescanner};
use crate::server::background::{checkpoint, heat_tick, notify, session_writer};
use crate::server::jsonl_log::{SessionHistory, SessionLogs};
use crate::server::process_status::ProcessStatus;
use crate::server::sessions::recorder::SessionObserver;
use crate::server::sessions::{Keeping, Registry, TransportInfo};
use crate::server::{Background, Interrupts, Stop, stdio};
use crate::settings::config;
use crate::settings::workspace::{LiveWorkspace, Workspace};
use crate::store::IfMissing;
use crate::surface::changed_resources::{self, ChangeWatch};
use crate::surface::resources::RESOURCES;
use crate::surface::{ABOUT, MemoryHandler};

pub(super) fn run(
    args: ServeArgs,
    context: &mut Context<'_>,
) -> Result<CommandOutcome, CommandError> {
    let from_environment = || variable("REMINDB_SOURCE").map(PathBuf::from);
    let source = match args.source.clone().or_else(from_environment) {
        Some(source) => Some(folder(&source)?),
        None => None,
    };
    let interval = interval(args.rescan_interval, source.as_deref())?;
    let offer = offer(args.tools.as_deref())?;
    let options = options(args.is_trusted, args.is_gitignore)?;
    let live = match &source {
        Some(source) => LiveWorkspace::start(source, options)?,
        None => LiveWorkspace::without_folder(options),
    };
    let workspace = Arc::clone(live.current());
    let transport_info = listen::options(&args, &workspace.config)?;
    let allowed = listen::allowed(&args.allowed)?;
    let log_settings = &workspace.config.server.logging;
    let logs = SessionLogs::new(source.as_deref(), &log_settings.session_files);
    let log_buffer =
        logging::start(log_settings, source.as_deref(), args.is_verbose, logs.clone())?;
    quiet_panics();
    for it in &workspace.untrusted {
        // Not into the log: the same folder says where that goes and how quiet it is.
        let warning = FileWarning::from(Workspace::oddity(it));
        let _ = writeln!(context.err, "remindb: warning: {warning}");
    }
    // Without notes to compile, a memory begins with what the agent writes.
    let database = known_database(args.db);
    let is_new = !database.exists();
    let memory = Memory::open_at(&database, IfMissing::Create, context.clock.clone())?;
    let memory = memory.with_workspace(live);
    let memory = match args.is_structured || workspace.config.server.structured {
        true => memory.with_structured(),
        false => memory,
    };
    if is_new {
        log::info!("a new memory was made at `{}`", database.display());
    }
    let holder = holder();
    let keeping = if source.is_some() { Keeping::News } else { Keeping::Nothing };
    let seat = transport_info
        .as_ref()
        .map_or_else(TransportInfo::stdio, |it| TransportInfo::http(&listen::address(it)));
    let registry = Registry::new(seat, &holder, keeping);
    let hub: Arc<SubscriptionHub> = Arc::default();
    let rescan = source.as_deref().map(|it| rescanning(it, &memory, interval, &holder));
    let rescan = rescan.transpose()?.map(|it| {
        let hub = Arc::clone(&hub);
        it.with_listener(move || hub.mark_changed(changed_resources::RESCAN))
    });
    log_buffer.add_observer({
        let hub = Arc::clone(&hub);
        move || hub.mark_changed(changed_resources::LOGS)
    });
    let history = source.as_deref().map_or_else(SessionHistory::disabled, SessionHistory::new);
    let process_status = ProcessStatus {
        clock: context.clock.clone(),
        rescan: rescan.as_ref().map(Rescanner::latest).unwrap_or_default(),
        log_buffer,
        registry: registry.clone(),
        history: history.clone(),
        logs: logs.clone(),
    };
    let server = Arc::new(Server {
        about: ABOUT,
        tools: offer.tools(memory.output()),
        resources: RESOURCES,
        prompts: offer.prompts(),
        page_rows_max: PAGE_ROWS_MAX,
        state_signer: StateSigner::default(),
        handler: MemoryHandler {
            view: memory.read_only_beside(Arc::new(process_status)),
            memory,
            source,
            allowed,
            n_threads: n_threads(),
            waker: Waker::default(),
            watch: ChangeWatch::default(),
            sessions: SessionObserver { registry, waker: Waker::default(), history, logs },
        },
        hub,
    });
    let mut background =
        vec![reading_ahead(&server), cooling(&server), notifying(&server), copying(&server)];
    if keeping == Keeping::News {
        let flush_interval = workspace.config.server.sessions.flush_interval;
        background.push(remembering(&server, flush_interval));
    }
    if let Some(rescan) = rescan {
        let server = Arc::clone(&server);
        let work = Box::new(move |stop: &Stop| rescan.run(&server.handler.memory, stop));
        background.push(Background { name: "rescan", work });
    }
    let interrupts = Interrupts::watch()?;
    let (clock, interrupts) = (&context.clock, interrupts.received());
    match transport_info {
        None => {
            stdio::serve_stdio(&server, clock, background, io::stdin(), io::stdout(), interrupts)?
        }
        Some(options) => {
            let wanted = listen::address(&options);
            let announce = |address| {
                // Whoever started this with port 0 reads here which one it became.
                let _ = writeln!(context.err, "listening on http://{address}/mcp");
            };
            listen::run(&server, clock, background, options, announce, interrupts).map_err(
                |error| CommandError::Because(format!("cannot listen on `{wanted}`: {error}")),
            )?
        }
    };
    // What the last lines told a client is noted, too.
    if let Err(error) = server.handler.memory.attend(0) {
        log::warn!("what was read last warmed nothing: {error}");
    }
    Ok(CommandOutcome::Done)
}

/// What keeps the source folder compiled.
fn rescanning(
    source: &Path,
    memory: &Memory,
    interval: Option<Duration>,
    holder: &str,
) -> Result<Rescanner, CommandError> {
    let settings = move |memory: &Memory| {
        memory.reload();
        let config = &memory.workspace().config;
        let mut rescan = config.rescan.clone();
        rescan.interval = interval.unwrap_or(rescan.interval);
        RescanOptions { rescan, files: config.server.rescan_files.clone() }
    };
    let leases = Arc::new(memory.leases(holder)?);
    Ok(Rescanner::new(source, n_threads(), leases, settings))
}

/// Has the file in memory before the first questions, where it was only on disk.
fn reading_ahead(server: &Arc<Server<MemoryHandler>>) -> Background {
    let server = Arc::clone(server);
    let work = move |stop: &Stop| server.handler.memory.read_ahead(|| stop.is_set());
    Background { name: "ahead", work: Box::new(work) }
}

/// Lets nodes cool while the server is up.
fn cooling(server: &Arc<Server<MemoryHandler>>) -> Background {
    let server = Arc::clone(server);
    let work = move |stop: &Stop| {
        heat_tick::run_heat_ticks(&server.handler.memory, &server.handler.waker, stop)
    };
    Background { name: "heat", work: Box::new(work) }
}

/// Copies a long log into the database.
fn copying(server: &Arc<Server<MemoryHandler>>) -> Background {
    let server = Arc::clone(server);
    let work = move |stop: &Stop| checkpoint::run_checkpoints(server.handler.memory.log(), stop);
    Background { name: "checkpoint", work: Box::new(work) }
}

/// Tells clients of the resources that they subscribed to and that changed.
fn notifying(server: &Arc<Server<MemoryHandler>>) -> Background {
    let server = Arc::clone(server);
    let work = move |stop: &Stop| notify::run_notifications(&server, stop);
    Background { name: "notify", work: Box::new(work) }
}

/// Writes down who uses the memory.
fn remembering(server: &Arc<Server<MemoryHandler>>, interval: Duration) -> Background {
    let server = Arc::clone(server);
    let rung = server.handler.sessions.waker.wakes();
    let work = move |stop: &Stop| {
        let MemoryHandler { memory, sessions: it, .. } = &server.handler;
        if let Err(error) = it.logs.prune() {
            log::warn!("old logs of sessions were not removed: {error}");
        }
        session_writer::run_session_ledger(
            &it.registry,
            &rung,
            &it.history,
            interval,
            memory.clock(),
            stop,
        );
    };
    Background { name: "sessions", work: Box::new(work) }
}

/// How often the source folder is scanned, where the command line or the environment says so.
fn interval(
    flag: Option<Duration>,
    source: Option<&Path>,
) -> Result<Option<Duration>, CommandError> {
    const NAME: &str = "REMINDB_RESCAN_INTERVAL";
    if flag.is_some() && source.is_none() {
        let what = "`--rescan-interval` is for a source folder; name one with --source";
        return Err(CommandError::Because(what.to_owned()));
    }
    let set = variable(NAME).filter(|_| source.is_some());
    match (flag, set) {
        (Some(interval), _) => Ok(Some(interval)),
        (None, Some(text)) => config::positive_duration(&text.to_string_lossy())
            .map(Some)
            .map_err(|why| CommandError::Because(format!("`{NAME}` {why}"))),
        (None, None) => Ok(None),
    }
}

/// A name for this process that no other has, not even one with the same number on another machine.
fn holder() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{}-{random:016x}", std::process::id())
}

fn folder(source: &Path) -> Result<PathBuf, CommandError> {
    let full = absolute(source)?.canonicalize();
    match full {
        Ok(full) if full.is_dir() => Ok(full),
        Ok(_) => {
            Err(CommandError::Because(format!("`{}` is no folder; name one", source.display())))
        }
        Err(error) => {
            Err(CommandError::Because(format!("cannot serve `{}`: {error}", source.display())))
        }
    }
}

/// A panic says where, and not with which text: that could be somebody's notes.
fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        log::error!("panicked at={place}");
    }));
}
