//! The open connections: how many there are, and which of them may go when there are too many.
//!
//! A connection that waits for its client, be it between two requests or in the middle of one, is
//! there for the client's comfort only. When there is no room left, the one that waits longest
//! goes, so that whoever opens hundreds of them keeps nobody else out.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// No time: the connection does not wait.
const BUSY: i64 = i64::MAX;

/// One connection.
#[derive(Debug)]
pub(super) struct Peer {
    pub(super) stream: TcpStream,
    /// Since when it has waited for its client.
    waiting_ms: AtomicI64,
}

impl Peer {
    /// Notes that the client is waited for from now on.
    pub(super) fn waits(&self, now_ms: i64) {
        self.waiting_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Notes that the client waits.
    pub(super) fn is_served(&self) {
        self.waiting_ms.store(BUSY, Ordering::Relaxed);
    }
}

/// All connections.
#[derive(Debug, Default)]
pub(super) struct Peers {
    open: Mutex<PeerTable>,
}

#[derive(Debug, Default)]
struct PeerTable {
    peers: BTreeMap<u64, Arc<Peer>>,
    next: u64,
}

impl Peers {
    /// Takes in a connection, which waits for its client; gives the number by which it goes.
    pub(super) fn add(&self, stream: TcpStream, now_ms: i64) -> (u64, Arc<Peer>) {
        let peer = Arc::new(Peer { stream, waiting_ms: AtomicI64::new(now_ms) });
        let mut open = self.lock();
        open.next += 1;
        let number = open.next;
        open.peers.insert(number, Arc::clone(&peer));
        (number, peer)
    }

    /// Notes that a connection has gone.
    pub(super) fn remove(&self, number: u64) {
        self.lock().peers.remove(&number);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().peers.len()
    }

    /// Closes the connection that has waited longest; whether there was one.
    pub(super) fn close_longest_waiting(&self) -> bool {
        let mut open = self.lock();
        let waiting =
            |(number, peer): (&u64, &Arc<Peer>)| (peer.waiting_ms.load(Ordering::Relaxed), *number);
        let longest = open.peers.iter().map(waiting).min().filter(|it| it.0 != BUSY);
        let Some(peer) = longest.and_then(|(_, number)| open.peers.remove(&number)) else {
            return false;
        };
        let _ = peer.stream.shutdown(Shutdown::Both);
        true
    }

    /// Wakes those that wait for their client: there will be nothing to read any more.
    pub(super) fn wake(&self) {
        for peer in self.lock().peers.values() {
            if peer.waiting_ms.load(Ordering::Relaxed) != BUSY {
                let _ = peer.stream.shutdown(Shutdown::Read);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, PeerTable> {
        // Nothing panics while it holds the lock.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
