//! The calls of a connection that have not been answered, and how they are cancelled.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::mcp::rpc::RequestId;

/// Nothing is ever sent; only the channel's end says something.
#[derive(Debug)]
pub(crate) enum NoMessage {}

/// The calls of a connection that have not been answered, by id. A cancelled one has no sender.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashMap<String, Option<Sender<NoMessage>>>>>);

impl InFlight {
    /// Notes that a call begins; `None` when one with this id has not ended.
    pub(super) fn admit(&self, id: &RequestId) -> Option<(InFlightGuard, Receiver<NoMessage>)> {
        let key = id.key();
        let mut calls = self.lock();
        if calls.contains_key(&key) {
            return None;
        }
        let (cancel, cancelled) = bounded(0);
        calls.insert(key.clone(), Some(cancel));
        Some((InFlightGuard { key, calls: self.clone() }, cancelled))
    }

    /// Cancels a call; nothing happens when it is over.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(cancel) = self.lock().get_mut(&id.key()) {
            *cancel = None;
        }
    }

    /// Cancels every call.
    pub(super) fn cancel_all(&self) {
        self.lock().values_mut().for_each(|cancel| *cancel = None);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Option<Sender<NoMessage>>>> {
        // Nothing panics while it holds the lock, and the table is whole between any two lines.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the calls in flight, given back by dropping it.
#[derive(Debug)]
pub(super) struct InFlightGuard {
    key: String,
    calls: InFlight,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.key);
    }
}
