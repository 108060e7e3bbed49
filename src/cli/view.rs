//! `remindb view`: the memory on a page in the browser, for one person on this machine.
//!
//! The server has a read-only memory and nothing else: no tools, no lease, no scans, no ledger.

#![cfg_attr(
    not(feature = "http"),
    allow(unreachable_code, unused_variables, reason = "links cannot exist there")
)]

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::BrowserViewArgs;
use super::listen_options::{self, PageLinks};
use super::memory_file_location::known_database;
use super::serve::quiet_panics;
use super::unique_process_name::process_name;
use super::user_settings::log_level;
use super::{
    CommandError, CommandOutcome, CommandStreamsAndClock, browser_opener, options,
    server_log_setup, shared_space_flags, variable,
};
use crate::ingest::scan::OWN_FOLDER;
use crate::mcp::{NoticeWaker, PAGE_ROWS_MAX, Server, StateSigner, SubscriptionHub};
use crate::memory::ReadOnlyMemory;
use crate::model::heat::LiveRates;
use crate::server::background::rescan::SharedRescanStatus;
use crate::server::background::resource_notifications;
use crate::server::client_presence_and_history::session_event_recorder::SessionRecorder;
use crate::server::client_presence_and_history::{
    EndedSessionQueueing, LiveSessionRegistry, TransportAndListenAddress,
};
use crate::server::jsonl_files::{ClientConnectionLedgers, SessionLogs};
use crate::server::server_facts::{ReplicaStatusFn, ServerFactSource};
use crate::server::{BackgroundTaskSpec, ShutdownSignals, StopSignal, spawn};
use crate::settings::config::{LogLevel, LogSettings};
use crate::settings::root_settings::{LiveRootSettings, RootSettings};
use crate::surface::changed_resources::{self, ChangeWatch};
use crate::surface::resources::RESOURCES;
use crate::surface::resources_only_handler::{ABOUT, ResourcesOnlyHandler};

pub(super) fn run(
    args: BrowserViewArgs,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<CommandOutcome, CommandError> {
    let path = known_database(args.db, context)?;
    let http = listen_options::view_options(args.listen.as_deref(), &context.clock)?;
    let wanted = listen_options::address(&http);
    let links = listen_options::page_links(&http);
    let (space, look) = shared_space_flags::observed_space(args.shared.as_ref(), &path)?;
    let server = Arc::new(observer(&path, &wanted, space, context)?);
    let notifying = Arc::clone(&server);
    let work = move |stop: &StopSignal| resource_notifications::run_notifications(&notifying, stop);
    let mut background = vec![BackgroundTaskSpec { name: "notify", work: Box::new(work) }];
    background.extend(look.map(|work| BackgroundTaskSpec { name: "space", work }));
    let interrupts = ShutdownSignals::watch()?;
    let clock = context.clock.clone();
    let mut shown = Ok(());
    let announce = |address: String| {
        shown = show_link(&links, address, args.is_without_browser, context);
    };
    listen_options::run(&server, &clock, background, http, announce, interrupts.received())
        .map_err(|error| CommandError::Because(format!("cannot listen on `{wanted}`: {error}")))?;
    shown.map(|()| CommandOutcome::Done)
}

/// Returns a server of the memory at `path`, which it opens to read.
fn observer(
    path: &Path,
    listen: &str,
    space: ReplicaStatusFn,
    context: &CommandStreamsAndClock<'_>,
) -> Result<Server<ResourcesOnlyHandler>, CommandError> {
    let folder = folder_of(path);
    let workspace = workspace(folder.as_deref())?;
    let logging = &workspace.config.server.logging;
    let settings = LogSettings {
        level: log_level()?.unwrap_or(LogLevel::Warn),
        output_path: None,
        ..logging.clone()
    };
    let recent_log = server_log_setup::start(&settings, None, false)?;
    quiet_panics();
    let hub: Arc<SubscriptionHub> = Arc::default();
    recent_log.add_observer({
        let hub = Arc::clone(&hub);
        move || hub.mark_changed(changed_resources::LOGS_URI)
    });
    let registry = LiveSessionRegistry::new(
        TransportAndListenAddress::http(listen),
        process_name(),
        EndedSessionQueueing::Dropped,
    );
    let history = folder
        .as_deref()
        .map_or_else(ClientConnectionLedgers::disabled, ClientConnectionLedgers::new);
    let logs = SessionLogs::new(folder.as_deref(), &logging.session_files);
    let state = ServerFactSource {
        clock: context.clock.clone(),
        rescan: SharedRescanStatus::default(),
        recent_log,
        registry: registry.clone(),
        history,
        logs: logs.clone(),
        space,
    };
    let rates = LiveRates::default();
    rates.set(workspace.config.temperature.rates());
    let view = ReadOnlyMemory::open(path, context.clock.clone(), rates.watched(), Arc::new(state))?;
    let (waker, history) = (NoticeWaker::default(), ClientConnectionLedgers::disabled());
    let sessions = Arc::new(SessionRecorder { registry, waker, history, logs });
    let handler = ResourcesOnlyHandler { view, watch: ChangeWatch::default(), sessions, workspace };
    Ok(Server {
        about: ABOUT,
        tools: Vec::new(),
        resources: RESOURCES,
        prompts: &[],
        page_rows_max: PAGE_ROWS_MAX,
        state_signer: StateSigner::default(),
        handler,
        clock: context.clock.clone(),
        waker: Arc::default(),
        hub,
    })
}

/// Returns the folder that has its memory at `path`, in a folder of its own.
fn folder_of(path: &Path) -> Option<PathBuf> {
    let full = path.canonicalize().ok()?;
    let own = full.parent()?;
    own.ends_with(OWN_FOLDER).then(|| own.parent().map(Path::to_owned))?
}

fn workspace(folder: Option<&Path>) -> Result<Arc<RootSettings>, CommandError> {
    let options = options(false, false)?;
    let live = match folder {
        Some(folder) => LiveRootSettings::start(folder, options)?,
        None => LiveRootSettings::without_folder(options)?,
    };
    Ok(Arc::clone(live.current()))
}

/// Shows the link to a person, and a new one for each line on standard input.
fn show_link(
    links: &PageLinks,
    address: String,
    is_without_browser: bool,
    context: &mut CommandStreamsAndClock<'_>,
) -> Result<(), CommandError> {
    let ssh = variable("SSH_CONNECTION").map(|it| it.to_string_lossy().into_owned());
    if let Some(line) = ssh.as_deref().and_then(|it| forwarding(it, &address)) {
        context.say(format_args!("{line}\n"))?;
    }
    let link = links.make(&address)?;
    context.say(format_args!("{link}\n"))?;
    super::written(context.out.flush())?;
    // On another machine's screen it would be of no use.
    if !is_without_browser && ssh.is_none() && browser_opener::open(&link).is_err() {
        let _ = writeln!(context.err, "no browser was found; open the link in yours");
    }
    let links = links.clone();
    // The thread ends with the process: a reading of standard input cannot be woken.
    spawn("links", move || print_links(&links, &address))?;
    Ok(())
}

/// Returns the command that makes the port reachable on the machine where a person sits.
fn forwarding(connection: &str, address: &str) -> Option<String> {
    let host = connection.split_whitespace().nth(2)?;
    let (ip, port) = address.rsplit_once(':')?;
    Some(format!("ssh -L {port}:{ip}:{port} {host}"))
}

fn print_links(links: &PageLinks, address: &str) {
    for line in io::stdin().lock().lines() {
        let printed = line.and_then(|_| links.make(address)).and_then(|link| {
            let mut out = io::stdout().lock();
            writeln!(out, "{link}").and_then(|()| out.flush())
        });
        if printed.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_forwarded_from_the_host_that_was_called() {
        let line = forwarding("10.0.0.2 50022 10.0.0.9 22", "127.0.0.1:4711");
        assert_eq!(line.as_deref(), Some("ssh -L 4711:127.0.0.1:4711 10.0.0.9"));
        assert_eq!(forwarding("", "127.0.0.1:4711"), None);
    }
}
