//! The HTTP sessions of the legacy era, by unguessable ids.
//!
//! A session ends by `DELETE`, when it was idle for long, or when a new one needs its place: those
//! with nothing but a handshake go first, then the idlest. A session in use is never ended for
//! another, so however many are opened, nobody else loses theirs.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::replay_buffer::ReplayBuffer;
use crate::mcp::Connection;
use crate::mcp::in_flight::CancelByDroppedSender;
use crate::server::StopSignal;

/// One client of the legacy era.
#[derive(Debug)]
pub(super) struct HttpSession {
    pub(super) id: String,
    connection: Mutex<Connection>,
    /// Receives a message when there may be notifications for the client.
    pub(super) wake: Receiver<()>,
    /// Receives a message when the client has changed its subscriptions.
    pub(super) wakeups: Receiver<()>,
    stir: Sender<()>,
    pub(super) replay_buffer: ReplayBuffer,
    /// Set when the session has ended.
    pub(super) over: StopSignal,
    /// The stream of server-initiated messages, if there is one.
    listener: Mutex<Option<Sender<CancelByDroppedSender>>>,
    used_ms: AtomicI64,
    n_users: AtomicUsize,
    /// Whether it had no request since the handshake.
    is_unused: AtomicBool,
}

impl HttpSession {
    pub(super) fn new(id: String, connection: Connection, wake: Receiver<()>) -> HttpSession {
        let (stir, stirred) = bounded(1);
        HttpSession {
            id,
            connection: Mutex::new(connection),
            wake,
            wakeups: stirred,
            stir,
            replay_buffer: ReplayBuffer::default(),
            over: StopSignal::default(),
            listener: Mutex::default(),
            used_ms: AtomicI64::new(0),
            n_users: AtomicUsize::new(0),
            is_unused: AtomicBool::new(true),
        }
    }

    /// Locks the connection while a frame is decoded, and never while a call runs.
    pub(super) fn connection(&self) -> MutexGuard<'_, Connection> {
        lock(&self.connection)
    }

    /// Records that the session had a request.
    pub(super) fn note_request_time(&self) {
        self.is_unused.store(false, Ordering::Relaxed);
    }

    /// Wakes the stream of server-initiated messages.
    pub(super) fn wake_stream(&self) {
        // A waiting message has the same effect.
        let _ = self.stir.try_send(());
    }

    /// Takes over the stream of server-initiated messages; the channel disconnects when another one
    /// does.
    pub(super) fn listen(&self) -> Receiver<CancelByDroppedSender> {
        let (sender, replaced) = bounded(0);
        *lock(&self.listener) = Some(sender);
        replaced
    }

    /// Returns its rank among the sessions to end for a new one; `None` while it is in use.
    fn rank(&self) -> Option<(bool, i64)> {
        let is_used = !self.is_unused.load(Ordering::Relaxed);
        let is_idle = self.n_users.load(Ordering::Relaxed) == 0;
        is_idle.then(|| (is_used, self.used_ms.load(Ordering::Relaxed)))
    }
}

/// A request of a session, which is in use meanwhile.
#[derive(Debug)]
pub(super) struct SessionGuard {
    pub(super) session: Arc<HttpSession>,
}

impl SessionGuard {
    fn new(session: &Arc<HttpSession>, now_ms: i64) -> SessionGuard {
        session.n_users.fetch_add(1, Ordering::Relaxed);
        session.used_ms.store(now_ms, Ordering::Relaxed);
        SessionGuard { session: Arc::clone(session) }
    }

    /// Ends the request.
    pub(super) fn end(self, now_ms: i64) {
        self.session.used_ms.store(now_ms, Ordering::Relaxed);
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.session.n_users.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All sessions.
#[derive(Debug)]
pub(super) struct HttpSessions {
    open: Mutex<HashMap<String, Arc<HttpSession>>>,
    n_max: usize,
    idle_ms_max: i64,
    random: File,
}

impl HttpSessions {
    pub(super) fn new(n_max: usize, idle_ms_max: i64) -> io::Result<HttpSessions> {
        let random = File::open("/dev/urandom")?;
        Ok(HttpSessions { open: Mutex::default(), n_max, idle_ms_max, random })
    }

    /// Returns an unguessable id.
    pub(super) fn id(&self) -> io::Result<String> {
        let mut bytes = [0; 16];
        (&self.random).read_exact(&mut bytes)?;
        Ok(bytes.iter().map(|it| format!("{it:02x}")).collect())
    }

    /// Adds a session and returns the one that was ended for it. Fails when every one is in use.
    pub(super) fn add(
        &self,
        session: &Arc<HttpSession>,
        now_ms: i64,
    ) -> Result<Option<Arc<HttpSession>>, ()> {
        let mut open = lock(&self.open);
        let mut gone = None;
        if self.n_max <= open.len() {
            let rank = |it: &Arc<HttpSession>| it.rank().map(|rank| (rank, it.id.clone()));
            let (_, idlest) = open.values().filter_map(rank).min().ok_or(())?;
            gone = open.remove(&idlest);
        }
        session.used_ms.store(now_ms, Ordering::Relaxed);
        open.insert(session.id.clone(), Arc::clone(session));
        Ok(gone)
    }

    /// Returns the session of a request.
    pub(super) fn open_session(&self, id: &str, now_ms: i64) -> Option<SessionGuard> {
        let open = lock(&self.open);
        let session = open.get(id)?;
        Some(SessionGuard::new(session, now_ms))
    }

    /// Removes a session.
    pub(super) fn remove(&self, id: &str) -> Option<Arc<HttpSession>> {
        lock(&self.open).remove(id)
    }

    /// Removes the sessions that were idle for long, or all if `now_ms` is `None`.
    pub(super) fn expire_idle(&self, now_ms: Option<i64>) -> Vec<Arc<HttpSession>> {
        let is_over = |it: &HttpSession| match (now_ms, it.rank()) {
            (None, _) => true,
            (Some(now_ms), Some((_, used_ms))) => {
                self.idle_ms_max <= now_ms.saturating_sub(used_ms)
            }
            (Some(_), None) => false,
        };
        let mut gone = Vec::new();
        lock(&self.open).retain(|_, session| {
            let is_over = is_over(session);
            if is_over {
                gone.push(Arc::clone(session));
            }
            !is_over
        });
        gone
    }

    /// Returns the number of sessions.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        lock(&self.open).len()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Only the engine may panic while it holds one of these locks, and it is whole between any two
    // frames.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
