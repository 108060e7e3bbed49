//! `remindb serve`: the memory over MCP, on the standard streams or over HTTP.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::args::{ProjectOrUser, ServeArgs};
use super::configured_providers::providers;
use super::listen_options::{HttpOptions, PageLinks};
use super::memory_file_location::{self, MemoryLookupFolders, OF_USER};
use super::shared_space_flags::OpenSpace;
use super::unique_process_name::process_name;
use super::user_settings::{knowledge_settings, log_level, memory_settings};
use super::{
    CommandError, CommandOutcome, CommandStreamsAndClock, absolute, browser_opener, listen_options,
    n_threads, options, server_log_setup, variable,
};
use crate::mcp::{NoticeWaker, PAGE_ROWS_MAX, Server, StateSigner, SubscriptionHub};
use crate::memory::Memory;
use crate::memory::compile::FileWarning;
use crate::memory::second_memory::SecondMemory;
use crate::model::clock::Clock;
use crate::server::background::rescan::{LiveRescanSettings, Rescanner};
use crate::server::background::{
    checkpoint, consolidation, heat_tick, resource_notifications, session_history_writer, vectors,
};
use crate::server::client_presence_and_history::session_event_recorder::SessionRecorder;
use crate::server::client_presence_and_history::{
    EndedSessionQueueing, LiveSessionRegistry, TransportAndListenAddress,
};
use crate::server::jsonl_files::{ClientConnectionLedgers, SessionLogs};
use crate::server::server_facts::ServerFactSource;
use crate::server::{BackgroundTaskSpec, ShutdownSignals, StopSignal, stdio};
use crate::settings::config::{self, LogSettings};
use crate::settings::root_settings::{LiveRootSettings, OperatorOptions, RootSettings};
use crate::store::{IfMissing, is_missing};
use crate::surface::changed_resources::{self, ChangeWatch};
use crate::surface::resources::RESOURCES;
use crate::surface::{MemoryHandler, RecordSessions, ToolSelection, about};

pub(super) fn run(
    args: ServeArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let source = source(&args)?;
    let interval = interval(args.rescan_interval, source.as_deref())?;
    let offer = args.tools.unwrap_or_default();
    let live = live_workspace(&args, source.as_deref())?;
    let workspace = Arc::clone(live.current());
    let transport_info = listen_options::options(&args, &workspace.config, &context.clock)?;
    let (is_open, allowed) = (args.is_open, listen_options::resolve_allowed(&args.allowed)?);
    let log_settings = &workspace.config.server.logging;
    let logs = SessionLogs::new(source.as_deref(), &log_settings.session_files);
    let recent_log = server_log_setup::start(
        &LogSettings { level: log_level()?.unwrap_or(log_settings.level), ..log_settings.clone() },
        source.as_deref(),
        args.is_verbose,
    )?;
    quiet_panics();
    warn_of_untrusted(&workspace, context);
    let (memory, space) = open_memory(args, live, context)?;
    let holder = process_name();
    let queueing =
        if source.is_some() { EndedSessionQueueing::Kept } else { EndedSessionQueueing::Dropped };
    let transport = transport_info.as_ref().map_or_else(TransportAndListenAddress::stdio, |it| {
        TransportAndListenAddress::http(&listen_options::address(it))
    });
    let registry = LiveSessionRegistry::new(transport, &holder, queueing);
    let hub: Arc<SubscriptionHub> = Arc::default();
    let rescan = source.as_deref().map(|it| rescanning(it, &memory, interval, &holder, &hub));
    let rescan = rescan.transpose()?;
    recent_log.add_observer({
        let hub = Arc::clone(&hub);
        move || hub.mark_changed(changed_resources::LOGS_URI)
    });
    let history = source
        .as_deref()
        .map_or_else(ClientConnectionLedgers::disabled, ClientConnectionLedgers::new);
    let server_state = ServerFactSource {
        clock: context.clock.clone(),
        rescan: rescan.as_ref().map(Rescanner::latest).unwrap_or_default(),
        recent_log,
        registry: registry.clone(),
        history: history.clone(),
        logs: logs.clone(),
        space: space.as_ref().and_then(OpenSpace::fact),
    };
    let recorder =
        Arc::new(SessionRecorder { registry, waker: NoticeWaker::default(), history, logs });
    let memory = memory.with_tools(offer.callable());
    let handler = MemoryHandler {
        view: memory.read_only_beside(Arc::new(server_state)),
        memory,
        source,
        allowed,
        n_threads: n_threads(),
        watch: ChangeWatch::default(),
        sessions: Arc::clone(&recorder) as Arc<dyn RecordSessions>,
    };
    let server = Arc::new(server_of(handler, offer, hub, context.clock.clone()));
    let flush_interval = workspace.config.server.sessions.flush_interval;
    let recording = (queueing == EndedSessionQueueing::Kept).then_some((recorder, flush_interval));
    let background = background(&server, &holder, recording, rescan, space.as_ref())?;
    answer(&server, background, transport_info, is_open, context)?;
    // Receipts of the last lines are written, too.
    if let Err(error) = server.handler.memory.attend(0) {
        log::warn!("what was read last warmed nothing: {error}");
    }
    Ok(CommandOutcome::Done)
}

/// Warns of settings that are not followed, and not in the log: the settings of that folder decide
/// where that goes and how quiet it is.
fn warn_of_untrusted(workspace: &RootSettings, context: &mut CommandStreamsAndClock<'_>) {
    for it in &workspace.untrusted {
        let warning = FileWarning::from(RootSettings::to_skipped_path(it));
        let _ = writeln!(context.err, "remindb: warning: {warning}");
    }
}

/// Returns the folder of notes, by the command line or the environment.
fn source(args: &ServeArgs) -> Result<Option<PathBuf>, CommandError> {
    let from_environment = || variable("REMINDB_SOURCE").map(PathBuf::from);
    let source = args.source.clone().or_else(from_environment);
    let Some(source) = source else { return Ok(None) };
    match args.scope {
        // A client may start the server in any folder of the project.
        Some(ProjectOrUser::Project) => {
            folder(&MemoryLookupFolders::of_process()?.folder_of(&source)).map(Some)
        }
        Some(ProjectOrUser::User) | None => folder(&source).map(Some),
    }
}

/// Returns the database to serve, in a folder that exists.
fn place(
    args: &ServeArgs,
    source: Option<&Path>,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<PathBuf, CommandError> {
    let (Some(source), None) = (source, args.scope) else {
        let mut named = args.db.clone();
        if let (Some(ProjectOrUser::Project), Some(path)) = (args.scope, &mut named) {
            *path = MemoryLookupFolders::of_process()?.folder_of(path);
        }
        return memory_file_location::database_to_make(named, args.scope, context);
    };
    let place = memory_file_location::database_of_notes(args.db.clone(), source)?;
    place.tell(context);
    place.make_folder()?;
    Ok(place.path)
}

/// Opens the second memory.
fn second(args: &ServeArgs, own: &Path) -> Result<Option<SecondMemory>, CommandError> {
    let Some(also) = &args.also else { return Ok(None) };
    let around = MemoryLookupFolders::of_process()?;
    let path = match also.to_str() {
        Some(OF_USER) => around.of_user().map_or_else(|| also.clone(), |it| it.path),
        _ => around.folder_of(also),
    };
    if also.to_str() == Some(OF_USER) && is_missing(&path) {
        // The settings of a project are for people who have none, too.
        log::info!("there is no memory of the user at `{}`", path.display());
        return Ok(None);
    }
    let full = |path: &Path| path.canonicalize().ok();
    if full(&path).is_some_and(|it| full(own) == Some(it)) {
        let path = path.display();
        let what = format!("`{path}` is the memory itself; name another with --also");
        return Err(CommandError::Because(what));
    }
    Ok(Some(SecondMemory::open(&path)?))
}

fn live_workspace(
    args: &ServeArgs,
    source: Option<&Path>,
) -> Result<LiveRootSettings, CommandError> {
    let write_back = args.is_writing_back;
    if write_back && source.is_none() {
        let what = "`--write-back` needs the folder that takes what agents write; name it with \
                    --source";
        return Err(CommandError::Because(what.to_owned()));
    }
    let options = OperatorOptions { write_back, ..options(args.is_trusted, args.is_gitignore)? };
    Ok(match source {
        Some(source) => LiveRootSettings::start(source, options)?,
        None => LiveRootSettings::without_folder(options)?,
    })
}

/// Opens the memory to serve; a new one starts empty.
fn open_memory(
    args: ServeArgs,
    live: LiveRootSettings,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(Memory, Option<OpenSpace>), CommandError> {
    let database = place(&args, live.root(), context)?;
    let is_new = !database.exists();
    let is_fresh = args.shared.as_ref().is_some_and(|it| it.is_fresh);
    let space = OpenSpace::of(args.shared.as_ref(), &database, context)?;
    let mut memory = Memory::open_at(&database, IfMissing::Create, context.clock.clone())?;
    if let Some(space) = &space {
        space.attach(&mut memory)?;
    }
    let knowledge = knowledge_settings(live.root())?;
    let memory = memory.with_workspace(live).with_memory_settings(memory_settings()?);
    let memory = memory.with_knowledge_settings(knowledge);
    let memory = memory.with_providers(providers(context)?);
    let memory = if is_fresh { memory.with_fresh_reads() } else { memory };
    let memory = match second(&args, &database)? {
        Some(second) => memory.with_second(second),
        None => memory,
    };
    if is_new {
        log::info!("a new memory was made at `{}`", database.display());
    }
    let is_structured = args.is_structured || memory.workspace().config.server.structured;
    Ok((if is_structured { memory.with_structured() } else { memory }, space))
}

fn server_of(
    handler: MemoryHandler,
    offer: ToolSelection,
    hub: Arc<SubscriptionHub>,
    clock: Clock,
) -> Server<MemoryHandler> {
    Server {
        about: about(offer),
        tools: offer.tools(handler.memory.output()),
        resources: RESOURCES,
        prompts: offer.prompts(),
        page_rows_max: PAGE_ROWS_MAX,
        state_signer: StateSigner::default(),
        handler,
        clock,
        waker: Arc::default(),
        hub,
    }
}

/// Serves clients until they are gone, or the server is interrupted.
fn answer(
    server: &Arc<Server<MemoryHandler>>,
    background: Vec<BackgroundTaskSpec>,
    transport_info: Option<HttpOptions>,
    is_open: bool,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    let interrupts = ShutdownSignals::watch()?;
    let (clock, interrupts) = (&context.clock.clone(), interrupts.received());
    let Some(options) = transport_info else {
        let (input, output) = (io::stdin(), io::stdout());
        stdio::serve_stdio(server, clock, background, input, output, interrupts)?;
        return Ok(());
    };
    let wanted = listen_options::address(&options);
    let links = is_open.then(|| listen_options::page_links(&options));
    let announce = |address: String| {
        // With port 0, this line tells the chosen port.
        let _ = writeln!(context.err, "listening on http://{address}/mcp");
        if let Some(links) = links {
            open_page(&links, &address, context);
        }
    };
    listen_options::run(server, clock, background, options, announce, interrupts)
        .map_err(|error| CommandError::Because(format!("cannot listen on `{wanted}`: {error}")))?;
    Ok(())
}

/// Opens the page in a browser, and prints its link for others.
fn open_page(links: &PageLinks, address: &str, context: &mut CommandStreamsAndClock<'_>) {
    let opened = links.make(address).and_then(|link| {
        writeln!(context.err, "the page is at {link}")?;
        browser_opener::open(&link)
    });
    if let Err(error) = opened {
        let _ = writeln!(context.err, "no browser was opened: {error}");
    }
}

/// Returns all background threads.
fn background(
    server: &Arc<Server<MemoryHandler>>,
    holder: &str,
    recording: Option<(Arc<SessionRecorder>, Duration)>,
    rescan: Option<Rescanner>,
    space: Option<&OpenSpace>,
) -> Result<Vec<BackgroundTaskSpec>, CommandError> {
    let mut all = vec![reading_ahead(server), cooling(server), notifying(server), copying(server)];
    all.extend(by_providers(server, holder)?);
    all.extend(
        recording.map(|(recorder, interval)| recording_sessions(server, recorder, interval)),
    );
    all.extend(rescan.map(|rescan| {
        let server = Arc::clone(server);
        let work = Box::new(move |stop: &StopSignal| rescan.run(&server.handler.memory, stop));
        BackgroundTaskSpec { name: "rescan", work }
    }));
    all.extend(space.map(|space| {
        let (server, follow) = (Arc::clone(server), space.follower());
        let work = Box::new(move |stop: &StopSignal| follow(&server.handler.memory, stop));
        BackgroundTaskSpec { name: "follow", work }
    }));
    Ok(all)
}

/// Returns the rescanner that keeps the source folder compiled.
fn rescanning(
    source: &Path,
    memory: &Memory,
    interval: Option<Duration>,
    holder: &str,
    hub: &Arc<SubscriptionHub>,
) -> Result<Rescanner, CommandError> {
    let settings = move |memory: &Memory| {
        memory.reload();
        let config = &memory.workspace().config;
        let mut rescan = config.rescan.clone();
        rescan.interval = interval.unwrap_or(rescan.interval);
        LiveRescanSettings { rescan, files: config.server.rescan_files.clone() }
    };
    let leases = Arc::new(memory.leases(holder)?);
    let hub = Arc::clone(hub);
    Ok(Rescanner::new(source, n_threads(), leases, settings)
        .with_listener(move || hub.mark_changed(changed_resources::RESCAN_URI)))
}

/// Reads the file into the system's cache before the first queries.
fn reading_ahead(server: &Arc<Server<MemoryHandler>>) -> BackgroundTaskSpec {
    let server = Arc::clone(server);
    let work = move |stop: &StopSignal| server.handler.memory.read_ahead(|| stop.is_set());
    BackgroundTaskSpec { name: "ahead", work: Box::new(work) }
}

/// Cools nodes while the server runs.
fn cooling(server: &Arc<Server<MemoryHandler>>) -> BackgroundTaskSpec {
    let server = Arc::clone(server);
    let work = move |stop: &StopSignal| {
        heat_tick::run_heat_ticks(&server.handler.memory, &server.waker, stop)
    };
    BackgroundTaskSpec { name: "heat", work: Box::new(work) }
}

/// Checkpoints a long write-ahead log.
fn copying(server: &Arc<Server<MemoryHandler>>) -> BackgroundTaskSpec {
    let server = Arc::clone(server);
    let work =
        move |stop: &StopSignal| checkpoint::run_checkpoints(server.handler.memory.log(), stop);
    BackgroundTaskSpec { name: "checkpoint", work: Box::new(work) }
}

/// Returns the threads that ask the providers that the user named.
fn by_providers(
    server: &Arc<Server<MemoryHandler>>,
    holder: &str,
) -> Result<Vec<BackgroundTaskSpec>, CommandError> {
    let all = [consolidating(server, holder)?, embedding(server, holder)?];
    Ok(all.into_iter().flatten().collect())
}

/// Consolidates episodes, where the user named a provider for it.
fn consolidating(
    server: &Arc<Server<MemoryHandler>>,
    holder: &str,
) -> Result<Option<BackgroundTaskSpec>, CommandError> {
    let memory = &server.handler.memory;
    let is_on = memory.consolidation_settings().is_automatic();
    let Some(provider) = memory.providers().completion.clone().filter(|_| is_on) else {
        return Ok(None);
    };
    let leases = Arc::new(memory.leases(holder)?);
    let server = Arc::clone(server);
    let work = move |stop: &StopSignal| {
        consolidation::run_consolidations(&server.handler.memory, &provider, &leases, stop);
    };
    Ok(Some(BackgroundTaskSpec { name: "consolidate", work: Box::new(work) }))
}

/// Gives vectors to texts, where the user named a source of them.
fn embedding(
    server: &Arc<Server<MemoryHandler>>,
    holder: &str,
) -> Result<Option<BackgroundTaskSpec>, CommandError> {
    let memory = &server.handler.memory;
    let Some(source) = memory.providers().embeddings.clone() else { return Ok(None) };
    let leases = Arc::new(memory.leases(holder)?);
    let server = Arc::clone(server);
    let work = move |stop: &StopSignal| {
        vectors::run_vectors(&server.handler.memory, &source, &leases, stop)
    };
    Ok(Some(BackgroundTaskSpec { name: "vectors", work: Box::new(work) }))
}

/// Notifies clients of changed resources that they subscribed to.
fn notifying(server: &Arc<Server<MemoryHandler>>) -> BackgroundTaskSpec {
    let server = Arc::clone(server);
    let work = move |stop: &StopSignal| resource_notifications::run_notifications(&server, stop);
    BackgroundTaskSpec { name: "notify", work: Box::new(work) }
}

/// Writes session ledgers.
fn recording_sessions(
    server: &Arc<Server<MemoryHandler>>,
    recorder: Arc<SessionRecorder>,
    interval: Duration,
) -> BackgroundTaskSpec {
    let server = Arc::clone(server);
    let history_changes = recorder.waker.receiver();
    let work = move |stop: &StopSignal| {
        if let Err(error) = recorder.logs.prune() {
            log::warn!("old logs of sessions were not removed: {error}");
        }
        session_history_writer::run_session_history(
            &recorder.registry,
            &history_changes,
            &recorder.history,
            interval,
            server.handler.memory.clock(),
            stop,
        );
    };
    BackgroundTaskSpec { name: "sessions", work: Box::new(work) }
}

/// Returns the interval between scans of the source folder, by the command line or the
/// environment.
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

/// Returns the folder at a path, absolute and without links.
pub(super) fn folder(source: &Path) -> Result<PathBuf, CommandError> {
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

/// Logs the place of a panic without its message, which could contain notes.
pub(super) fn quiet_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(ToString::to_string).unwrap_or_default();
        log::error!("panicked at={place}");
    }));
}
