//! The latest events of a session's streams, for a client whose connection broke.
//!
//! An event's id is `STREAM-NUMBER`: streams are numbered in a session, and events in a stream. The
//! stream of server-initiated messages is 0, and each answer that became a stream has its own. The
//! oldest events are dropped beyond [`EVENTS_MAX`] or [`BYTES_MAX`].

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::Receiver;

use crate::mcp::NoticeWaker;

/// Maximum events that are kept.
const EVENTS_MAX: usize = 64;
/// Maximum bytes of these events.
const BYTES_MAX: usize = 128 * 1024;

/// The stream of server-initiated messages.
pub(super) const SERVER_STREAM: u64 = 0;

/// The id of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) stream: u64,
    pub(super) number: u64,
}

impl EventId {
    /// Parses an id that a client sends back.
    pub(super) fn parse(text: &str) -> Option<EventId> {
        let (stream, number) = text.split_once('-')?;
        Some(EventId { stream: stream.parse().ok()?, number: number.parse().ok()? })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.stream, self.number)
    }
}

/// The events of a session.
#[derive(Debug, Default)]
pub(super) struct ReplayBuffer {
    kept: Mutex<ReplayBufferState>,
    waker: NoticeWaker,
}

#[derive(Debug, Default)]
struct ReplayBufferState {
    events: VecDeque<(EventId, String)>,
    n_bytes: usize,
    n_streams: u64,
    news_number: u64,
    /// The last number of each open stream.
    open: HashMap<u64, u64>,
}

impl ReplayBuffer {
    /// Opens a stream; returns the id to resume from.
    pub(super) fn open(&self) -> EventId {
        let mut kept = self.lock();
        kept.n_streams += 1;
        let stream = kept.n_streams;
        kept.open.insert(stream, 0);
        EventId { stream, number: 0 }
    }

    /// Adds an event, before it is sent.
    pub(super) fn add(&self, stream: u64, message: &str) -> EventId {
        let mut kept = self.lock();
        let kept = &mut *kept;
        let last = match stream {
            SERVER_STREAM => &mut kept.news_number,
            stream => kept.open.entry(stream).or_insert(0),
        };
        *last += 1;
        let id = EventId { stream, number: *last };
        if message.len() <= BYTES_MAX {
            kept.n_bytes += message.len();
            kept.events.push_back((id, message.to_owned()));
        }
        while EVENTS_MAX < kept.events.len() || BYTES_MAX < kept.n_bytes {
            let n_bytes = kept.events.pop_front().map_or(kept.n_bytes, |(_, it)| it.len());
            kept.n_bytes -= n_bytes;
        }
        self.waker.wake();
        id
    }

    /// Closes a stream.
    pub(super) fn close(&self, stream: u64) {
        self.lock().open.remove(&stream);
        self.waker.wake();
    }

    /// Returns the events of a stream after `last`, and whether more may come.
    pub(super) fn after(&self, last: EventId) -> (Vec<(EventId, String)>, bool) {
        let kept = self.lock();
        let is_later = |id: &EventId| id.stream == last.stream && last.number < id.number;
        let events = kept.events.iter().filter(|(id, _)| is_later(id)).cloned().collect();
        (events, last.stream == SERVER_STREAM || kept.open.contains_key(&last.stream))
    }

    /// Returns a channel with a message when an event was added or a stream closed.
    pub(super) fn wakeups(&self) -> Receiver<()> {
        self.waker.receiver()
    }

    fn lock(&self) -> MutexGuard<'_, ReplayBufferState> {
        // Nothing panics while it holds the lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
