//! The present sessions, and their changes since they were last asked for.
//!
//! A session of the legacy era lasts as long as its connection. The modern era has no sessions: its
//! clients are distinguished by what they declare. On a connection that only one of them can have,
//! they stay as long as it does; elsewhere, until they were silent for some minutes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use super::{ClientIdentity, ClientSessionRecord};
use crate::model::clock::UnixMillis;
use crate::model::identity::{ContentHash, base62};

/// Milliseconds after its last request during which a client of the modern era counts as present.
const MODERN_IDLE_MS: i64 = 5 * 60 * 1000;

/// Maximum present sessions; one more ends the one that was silent longest.
const SESSIONS_MAX: usize = 1024;

/// The transport of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TransportAndListenAddress {
    /// `stdio` or `http`.
    pub(crate) transport: &'static str,
    /// The address, where there is one.
    pub(crate) listen: Option<String>,
}

impl TransportAndListenAddress {
    /// Returns the transport HTTP with its address.
    pub(crate) fn http(listen: &str) -> TransportAndListenAddress {
        TransportAndListenAddress { transport: "http", listen: Some(listen.to_owned()) }
    }

    /// Returns the transport stdio: one connection, as long as the process.
    pub(crate) fn stdio() -> TransportAndListenAddress {
        TransportAndListenAddress { transport: "stdio", listen: None }
    }
}

/// A request, as an event about its client.
#[derive(Clone, Debug)]
pub(crate) struct ObservedRequest<'a> {
    /// The transport's name of the connection. It may be a secret and is never shown.
    pub(crate) connection: &'a str,
    /// Its client, redacted.
    pub(crate) client: ClientIdentity,
    /// Whether it is of the modern era, without a session.
    pub(crate) is_modern: bool,
    /// Whether it calls a tool.
    pub(crate) calls_tool: bool,
}

/// A present session: the envelope that clients know, key by key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct LiveSession {
    pub(crate) id: String,
    pub(crate) client_meta: ClientIdentity,
    pub(crate) transport: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) listen: Option<String>,
    /// Seconds since the Unix epoch.
    pub(crate) connected_at: i64,
    pub(crate) last_activity: i64,
    pub(crate) count_tool_calls: u64,
}

impl From<ClientSessionRecord> for LiveSession {
    fn from(entry: ClientSessionRecord) -> LiveSession {
        LiveSession {
            id: entry.session_id,
            client_meta: entry.client,
            transport: entry.transport,
            listen: None,
            connected_at: entry.connected_at,
            last_activity: entry.last_seen,
            count_tool_calls: entry.tool_calls,
        }
    }
}

/// Whether entries that leave the registry are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndedSessionQueueing {
    /// Sessions that ended wait until they are taken.
    Kept,
    /// Entries are dropped.
    Dropped,
}

/// The changed sessions to select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChangedSessionsToPersist {
    /// Sessions that began or ended.
    Urgent,
    /// Also sessions with activity.
    All,
}

/// The sessions of this process, shared by all threads.
#[derive(Clone, Debug)]
pub(crate) struct LiveSessionRegistry(Arc<Mutex<RegistryState>>);

#[derive(Debug)]
struct RegistryState {
    transport_info: TransportAndListenAddress,
    ledger_use: EndedSessionQueueing,
    /// Makes the ids of this process differ from those of all others.
    salt: String,
    n_begun: u64,
    /// Present sessions in the order in which they began.
    sessions: Vec<RegisteredSession>,
    /// Entries of ended sessions that were not taken, or could not be written.
    waiting: Vec<ClientSessionRecord>,
}

#[derive(Debug)]
struct RegisteredSession {
    id: String,
    /// The connection with which it ends; `None` if that is unknown.
    connection: Option<String>,
    is_modern: bool,
    client: ClientIdentity,
    connected_at: UnixMillis,
    last_activity: UnixMillis,
    n_tool_calls: u64,
    /// Whether its begin was not taken yet.
    is_new: bool,
    /// Whether it had activity since it was last taken.
    has_changes: bool,
}

impl LiveSessionRegistry {
    /// Returns an empty registry. No other process has the same `salt`.
    pub(crate) fn new(
        transport_info: TransportAndListenAddress,
        salt: impl Into<String>,
        ledger_use: EndedSessionQueueing,
    ) -> LiveSessionRegistry {
        LiveSessionRegistry(Arc::new(Mutex::new(RegistryState {
            transport_info,
            ledger_use,
            salt: salt.into(),
            n_begun: 0,
            sessions: Vec::new(),
            waiting: Vec::new(),
        })))
    }

    /// Records a request; returns whether the ledger lacks its session.
    pub(crate) fn note_request(&self, sight: &ObservedRequest<'_>, now: UnixMillis) -> bool {
        let mut state = self.lock();
        state.expire(now);
        let place = state.sessions.iter().position(|it| it.is_of(sight));
        let place_or_new = place.unwrap_or_else(|| state.begin(sight, now));
        let session = &mut state.sessions[place_or_new];
        session.has_changes = true;
        session.last_activity = session.last_activity.max(now);
        session.n_tool_calls += u64::from(sight.calls_tool);
        session.is_new && session.is_of_ledger()
    }

    /// Records the end of a connection; returns whether a session ended with it.
    pub(crate) fn note_disconnect(&self, connection: &str, now: UnixMillis) -> bool {
        let mut state = self.lock();
        let ends = |it: &RegisteredSession| it.connection.as_deref() == Some(connection);
        state.end(ends, |it| now.max(it.connected_at))
    }

    /// Ends all sessions.
    pub(crate) fn close(&self, now: UnixMillis) {
        let mut state = self.lock();
        state.expire(now);
        state.end(|_| true, |it| now.max(it.connected_at));
    }

    /// Returns the present sessions, the longest-connected first.
    pub(crate) fn live_sessions(&self, now: UnixMillis) -> Vec<LiveSession> {
        let mut state = self.lock();
        state.expire(now);
        let mut live: Vec<LiveSession> =
            state.sessions.iter().map(|it| it.live(&state.transport_info)).collect();
        live.sort_unstable_by(|a, b| (a.connected_at, &a.id).cmp(&(b.connected_at, &b.id)));
        live
    }

    /// Returns whether this process keeps no ledger, so that others may have one.
    pub(crate) fn is_observer(&self) -> bool {
        self.lock().ledger_use == EndedSessionQueueing::Dropped
    }

    /// Returns the id of the session that a request belongs to.
    pub(crate) fn id_of(&self, sight: &ObservedRequest<'_>) -> Option<String> {
        let state = self.lock();
        state.sessions.iter().find(|it| it.is_of(sight)).map(|it| it.id.clone())
    }

    /// Takes the entries of sessions that changed since the last time.
    pub(crate) fn take_changed(
        &self,
        which: ChangedSessionsToPersist,
        now: UnixMillis,
    ) -> Vec<ClientSessionRecord> {
        let mut state = self.lock();
        state.expire(now);
        let RegistryState { transport_info, sessions, waiting, .. } = &mut *state;
        let mut news = std::mem::take(waiting);
        let is_news = |it: &&mut RegisteredSession| {
            it.is_new || (it.has_changes && which == ChangedSessionsToPersist::All)
        };
        let sessions = sessions.iter_mut().filter(|it| it.is_of_ledger());
        for session in sessions.filter(is_news) {
            (session.is_new, session.has_changes) = (false, false);
            news.push(session.entry(transport_info, None));
        }
        news
    }

    /// Puts back entries that could not be written, for the next time.
    pub(crate) fn requeue_entries(&self, news: Vec<ClientSessionRecord>) {
        let mut state = self.lock();
        if state.ledger_use == EndedSessionQueueing::Kept {
            state.waiting.splice(0..0, news);
        }
    }

    fn lock(&self) -> MutexGuard<'_, RegistryState> {
        // Nothing panics while it holds the lock, and the state is whole between any two lines.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RegistryState {
    /// Adds a session; returns its index.
    fn begin(&mut self, sight: &ObservedRequest<'_>, now: UnixMillis) -> usize {
        if SESSIONS_MAX <= self.sessions.len()
            && let Some(last) = self.sessions.iter().map(|it| it.last_activity).min()
        {
            self.end(|it| it.last_activity == last, |it| it.last_activity);
        }
        self.n_begun += 1;
        let named = format!("session\0{}\0{}\0{}", self.salt, self.n_begun, sight.connection);
        let lasts_longer = sight.is_modern && self.transport_info.listen.is_some();
        self.sessions.push(RegisteredSession {
            id: base62(ContentHash::of(&named).0),
            connection: (!lasts_longer).then(|| sight.connection.to_owned()),
            is_modern: sight.is_modern,
            client: sight.client.clone(),
            connected_at: now,
            last_activity: now,
            n_tool_calls: 0,
            is_new: true,
            has_changes: false,
        });
        self.sessions.len() - 1
    }

    /// Ends sessions without a connection that were silent for long. Their end is the time of their
    /// last request.
    fn expire(&mut self, now: UnixMillis) {
        let is_over = |it: &RegisteredSession| {
            it.connection.is_none() && MODERN_IDLE_MS < now.since(it.last_activity)
        };
        self.end(is_over, |it| it.last_activity);
    }

    /// Ends sessions; returns whether there were any.
    fn end(
        &mut self,
        ends: impl Fn(&RegisteredSession) -> bool,
        at: impl Fn(&RegisteredSession) -> UnixMillis,
    ) -> bool {
        let RegistryState { transport_info, sessions, waiting, ledger_use, .. } = self;
        let n_before = sessions.len();
        sessions.retain(|it| {
            let is_over = ends(it);
            if is_over && *ledger_use == EndedSessionQueueing::Kept && it.is_of_ledger() {
                waiting.push(it.entry(transport_info, Some(at(it))));
            }
            !is_over
        });
        sessions.len() < n_before
    }
}

impl RegisteredSession {
    /// Returns whether the ledger has it: who only looks, without sessions, leaves no trace.
    fn is_of_ledger(&self) -> bool {
        !self.is_modern || 0 < self.n_tool_calls
    }

    fn is_of(&self, sight: &ObservedRequest<'_>) -> bool {
        let is_there = self.connection.as_deref().is_none_or(|it| it == sight.connection);
        is_there
            && self.is_modern == sight.is_modern
            && (!self.is_modern || self.client == sight.client)
    }

    fn live(&self, transport_info: &TransportAndListenAddress) -> LiveSession {
        LiveSession {
            id: self.id.clone(),
            client_meta: self.client.clone(),
            transport: transport_info.transport.to_owned(),
            listen: transport_info.listen.clone(),
            connected_at: seconds(self.connected_at),
            last_activity: seconds(self.last_activity),
            count_tool_calls: self.n_tool_calls,
        }
    }

    fn entry(
        &self,
        transport_info: &TransportAndListenAddress,
        disconnected_at: Option<UnixMillis>,
    ) -> ClientSessionRecord {
        ClientSessionRecord {
            session_id: self.id.clone(),
            client: self.client.clone(),
            transport: transport_info.transport.to_owned(),
            connected_at: seconds(self.connected_at),
            last_seen: seconds(self.last_activity),
            disconnected_at: disconnected_at.map(seconds),
            tool_calls: self.n_tool_calls,
        }
    }
}

fn seconds(at: UnixMillis) -> i64 {
    at.0.div_euclid(1000)
}
