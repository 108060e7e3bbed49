//! MCP over the Streamable HTTP transport: any number of clients of both eras at `/mcp`, and the
//! page that is one of them at `/`.
//!
//! ```text
//! listener ─▶ connection × n ─ head ─ guard ─ body ─▶ engine ─▶ response
//!                                                       └─ call ─▶ worker ─▶ response or events
//! ```
//! The sockets are our own, with `httparse` for the grammar of a head. A server library such as
//! `tiny_http` lets header lines grow without bound, sets no deadline, starts a thread for each
//! connection, and ends for good when one `accept` fails. Here each of these has a bound in
//! [`Limits`], and a bad `accept` is one line in the log.
//!
//! Invariants: a request is checked by its head before its body is read; each read has a deadline
//! as a whole; a waiting connection makes room for a new one; only the status of a request is
//! logged.
//!
//! Order of shutdown: background work, idle connections and streams are stopped at once; calls get
//! [`GRACE`] to answer and are cancelled then. All of it takes less than a second.

mod access_control;
mod body_reservation;
mod call_pool;
mod call_response;
mod connection;
mod event_streams;
mod exchange;
mod header_body_check;
mod one_time_links;
mod open_connections;
mod page;
mod post_and_delete;
mod read_buffer;
mod replay_buffer;
mod request_body;
mod request_head;
mod response;
mod route;
mod session;
mod session_lookup;
mod timed_stream;

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};

use super::{BackgroundTaskSpec, StopReason, StopSignal, ThreadGroup, spawn, spawn_small};
use crate::mcp::version::Version;
use crate::mcp::{Handler, Server};
use crate::model::clock::{Clock, Stopwatch};
use call_pool::{CallThreadPool, SemaphorePermit};
use header_body_check::MirroredArgument;
use open_connections::OpenConnections;
use session::{HttpSession, HttpSessions};

pub(crate) use access_control::{AccessRules, BearerToken};
pub(crate) use one_time_links::OneTimeLinks;
#[cfg(any(test, fuzzing))]
pub(crate) use {
    read_buffer::ReadBuffer, request_body::BodyDecoder, request_head::RequestHead,
    response::HttpError, route::plain_request,
};

/// Default address.
pub(crate) const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 7474);

/// Milliseconds between checks whether a waiting client has gone.
const GLANCE_MS: u64 = 250;
/// Milliseconds after which a client should reconnect when a stream broke.
const RETRY_MS: u32 = 1_000;
/// Maximum time of each stage of shutdown.
const GRACE: Duration = Duration::from_millis(200);
/// Time to wait after a failed `accept`.
const PAUSE: Duration = Duration::from_millis(50);
/// Time between checks for idle sessions.
const SWEEP: Duration = Duration::from_secs(30);
/// Maximum connections beyond the limit that are about to be closed.
const SHED_MAX: usize = 64;

/// Limits of numbers, sizes and times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) connections: usize,
    pub(crate) streams: usize,
    pub(crate) sessions: usize,
    /// Calls that run at once.
    pub(crate) calls: usize,
    /// Bytes of all bodies that are being read, or whose calls run.
    pub(crate) body_bytes: usize,
    /// Milliseconds of a connection without a request.
    pub(crate) idle_ms: i64,
    /// Milliseconds of a head, from its first byte on.
    pub(crate) head_ms: i64,
    /// Milliseconds of a body.
    pub(crate) body_ms: i64,
    /// Milliseconds until the client has taken a response or an event.
    pub(crate) write_ms: i64,
    /// Milliseconds of an unused session.
    pub(crate) session_ms: i64,
    /// Milliseconds of silence on a stream before a sign of life.
    pub(crate) keep_alive_ms: i64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 768,
            streams: 128,
            sessions: 256,
            calls: 64,
            body_bytes: 16 * 1024 * 1024,
            idle_ms: 60_000,
            head_ms: 10_000,
            body_ms: 30_000,
            write_ms: 10_000,
            session_ms: 8 * 60 * 60 * 1000,
            keep_alive_ms: 15_000,
        }
    }
}

/// The address to listen at, and the guard.
#[derive(Clone, Debug)]
pub(crate) struct HttpOptions {
    pub(crate) address: SocketAddr,
    pub(crate) guard: AccessRules,
    pub(crate) limits: Limits,
    /// Links to the page that are exchanged for the token, if there are any.
    pub(crate) links: Option<Arc<OneTimeLinks>>,
}

/// Parses `ADDRESS:PORT`, in which the only name is `localhost`.
pub(crate) fn parse_listen_address(text: &str) -> Option<SocketAddr> {
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    local.as_deref().unwrap_or(text).parse().ok()
}

/// The state that all connections share.
struct HttpServerState<S: Handler> {
    server: Arc<Server<S>>,
    clock: Clock,
    /// The clock of the deadlines.
    watch: Stopwatch,
    guard: AccessRules,
    limits: Limits,
    links: Option<Arc<OneTimeLinks>>,
    sessions: HttpSessions,
    connections: OpenConnections,
    pool: CallThreadPool,
    stop: StopSignal,
    n_threads: Arc<AtomicUsize>,
    n_streams: Arc<AtomicUsize>,
    n_body_bytes: Arc<AtomicUsize>,
    /// Arguments of tools that are repeated in fields.
    mirrored: Vec<MirroredArgument>,
}

/// Serves until a message comes on `interrupts`. Calls `announce` with the address once it listens;
/// background work starts then.
pub(crate) fn serve_http<S: Handler>(
    server: &Arc<Server<S>>,
    clock: &Clock,
    background: Vec<BackgroundTaskSpec>,
    options: HttpOptions,
    announce: impl FnOnce(SocketAddr),
    interrupts: &Receiver<()>,
) -> io::Result<StopReason> {
    let HttpOptions { address, guard, limits, links } = options;
    let listener = TcpListener::bind(address)?;
    let address = listener.local_addr()?;
    let endpoint = Arc::new(HttpServerState {
        server: Arc::clone(server),
        clock: clock.clone(),
        watch: clock.stopwatch(),
        guard,
        links,
        sessions: HttpSessions::new(limits.sessions, limits.session_ms)?,
        connections: OpenConnections::default(),
        pool: CallThreadPool::new(limits.calls),
        stop: StopSignal::default(),
        n_threads: Arc::default(),
        n_streams: Arc::default(),
        n_body_bytes: Arc::default(),
        mirrored: header_body_check::mirrored_arguments(&server.tools_json(Version::V2026_07_28)),
        limits,
    });
    let (alive, over) = bounded(0);
    let listening = Arc::clone(&endpoint);
    let listener = spawn("listener", move || listen(&listening, &listener, &alive))?;
    let mut threads = ThreadGroup::default();
    for BackgroundTaskSpec { name, work } in background {
        let stop = endpoint.stop.clone();
        threads.add(name, move || work(&stop))?;
    }
    log::info!("serving name={} version={}", server.about.name, server.about.version);
    announce(address);
    while interrupts.recv_timeout(SWEEP) == Err(RecvTimeoutError::Timeout) {
        endpoint
            .sessions
            .expire_idle(Some(endpoint.watch.elapsed_ms()))
            .iter()
            .for_each(|it| endpoint.end(it));
    }
    endpoint.stop.set();
    // A connection wakes the listener.
    let woken = TcpStream::connect_timeout(&reachable(address), GRACE);
    endpoint.connections.wake();
    let is_over = over.recv_timeout(GRACE) == Err(RecvTimeoutError::Disconnected);
    endpoint.sessions.expire_idle(None).iter().for_each(|it| endpoint.end(it));
    if !is_over && over.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
        log::warn!("unfinished requests are left behind");
    }
    threads.settle_within(GRACE);
    if woken.is_ok() {
        super::join(listener);
    }
    log::info!("stopped reason={:?}", StopReason::Signal);
    Ok(StopReason::Signal)
}

/// Accepts connections until shutdown.
fn listen<S: Handler>(
    endpoint: &Arc<HttpServerState<S>>,
    listener: &TcpListener,
    alive: &Sender<()>,
) {
    let mut last_error = None;
    loop {
        let accepted = listener.accept();
        if endpoint.stop.is_set() {
            return;
        }
        match accepted {
            Ok((stream, _)) => {
                last_error = None;
                admit(endpoint, stream, alive);
            }
            Err(error) => {
                if last_error.replace(error.kind()) != Some(error.kind()) {
                    log::warn!("cannot accept a connection: {error}");
                }
                // The shortage may be of what an idle connection holds.
                endpoint.connections.close_longest_waiting();
                if endpoint.stop.is_set_within(PAUSE) {
                    return;
                }
            }
        }
    }
}

/// Starts the thread of a connection.
fn admit<S: Handler>(endpoint: &Arc<HttpServerState<S>>, stream: TcpStream, alive: &Sender<()>) {
    /// Bytes of a connection's stack; calls run elsewhere.
    const STACK_BYTES: usize = 512 * 1024;
    let has_room = endpoint.connections.len() < endpoint.limits.connections
        || endpoint.connections.close_longest_waiting();
    let place = SemaphorePermit::take(&endpoint.n_threads, endpoint.limits.connections + SHED_MAX);
    let Some(place) = place.filter(|_| has_room) else {
        let refused = response::HttpError::new(503, "too many connections are open; try again");
        let bytes = response::HttpResponse::from(refused).bytes("Connection: close\r\n");
        // A new socket takes this much at once, and a loss does no harm.
        let _ = stream.set_nonblocking(true).and_then(|()| (&stream).write(&bytes));
        return;
    };
    let (number, connection) = endpoint.connections.add(stream, endpoint.watch.elapsed_ms());
    let (serving, alive) = (Arc::clone(endpoint), alive.clone());
    let started = spawn_small("http", STACK_BYTES, move || {
        let _held = (alive, place, ConnectionGuard { endpoint: &serving, number });
        connection::serve(&serving, &connection);
    });
    if let Err(error) = started {
        endpoint.connections.remove(number);
        log::warn!("cannot start a thread: {error}");
    }
}

/// Removes a connection from the list when its thread ends, in any way.
struct ConnectionGuard<'a, S: Handler> {
    endpoint: &'a HttpServerState<S>,
    number: u64,
}

impl<S: Handler> Drop for ConnectionGuard<'_, S> {
    fn drop(&mut self) {
        self.endpoint.connections.remove(self.number);
    }
}

impl<S: Handler> HttpServerState<S> {
    /// Takes a permit for a stream, if there is one.
    fn stream_place(&self) -> Result<SemaphorePermit, response::HttpError> {
        SemaphorePermit::take(&self.n_streams, self.limits.streams)
            .ok_or_else(|| response::HttpError::new(503, "too many streams are open; try again"))
    }

    /// Ends a session: its calls are cancelled and its stream closes.
    fn end(&self, session: &HttpSession) {
        session.over.set();
        session.connection().close(&self.server);
    }
}

/// Returns an address by which this machine reaches its own listener.
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

#[cfg(test)]
mod tests;
