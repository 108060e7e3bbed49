//! The open connections: their number, and the choice of those to close when there are too many.
//!
//! A connection that waits for its client, between two requests or in the middle of one, may be
//! closed. When there is no room left, the one that waits longest goes, so that a client with
//! hundreds of connections keeps nobody else out.

use std::collections::BTreeMap;
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Marks a connection that does not wait.
const BUSY: i64 = i64::MAX;

/// One connection.
#[derive(Debug)]
pub(super) struct OpenConnection {
    pub(super) stream: TcpStream,
    /// Start of the wait for its client.
    waiting_ms: AtomicI64,
}

impl OpenConnection {
    /// Records that the server waits for the client from now on.
    pub(super) fn waits(&self, now_ms: i64) {
        self.waiting_ms.store(now_ms, Ordering::Relaxed);
    }

    /// Records that the client waits for the server.
    pub(super) fn mark_served(&self) {
        self.waiting_ms.store(BUSY, Ordering::Relaxed);
    }
}

/// All connections.
#[derive(Debug, Default)]
pub(super) struct OpenConnections {
    open: Mutex<ConnectionTable>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    connections: BTreeMap<u64, Arc<OpenConnection>>,
    next: u64,
}

impl OpenConnections {
    /// Adds a connection, which waits for its client; returns its number, too.
    pub(super) fn add(&self, stream: TcpStream, now_ms: i64) -> (u64, Arc<OpenConnection>) {
        let connection = Arc::new(OpenConnection { stream, waiting_ms: AtomicI64::new(now_ms) });
        let mut open = self.lock();
        open.next += 1;
        let number = open.next;
        open.connections.insert(number, Arc::clone(&connection));
        (number, connection)
    }

    /// Removes a connection.
    pub(super) fn remove(&self, number: u64) {
        self.lock().connections.remove(&number);
    }

    pub(super) fn len(&self) -> usize {
        self.lock().connections.len()
    }

    /// Closes the connection that has waited longest; returns whether there was one.
    pub(super) fn close_longest_waiting(&self) -> bool {
        let mut open = self.lock();
        let waiting = |(number, connection): (&u64, &Arc<OpenConnection>)| {
            (connection.waiting_ms.load(Ordering::Relaxed), *number)
        };
        let longest = open.connections.iter().map(waiting).min().filter(|it| it.0 != BUSY);
        let Some(connection) = longest.and_then(|(_, number)| open.connections.remove(&number))
        else {
            return false;
        };
        let _ = connection.stream.shutdown(Shutdown::Both);
        true
    }

    /// Wakes the connections that wait for their client: nothing more will be read.
    pub(super) fn wake(&self) {
        for connection in self.lock().connections.values() {
            if connection.waiting_ms.load(Ordering::Relaxed) != BUSY {
                let _ = connection.stream.shutdown(Shutdown::Read);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionTable> {
        // Nothing panics while it holds the lock.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
