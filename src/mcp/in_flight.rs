//! Calls in flight: those of a connection without a reply, and their cancellation.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::mcp::rpc::RequestId;

/// The message of a channel that cancels by disconnecting: there is none.
#[derive(Debug)]
pub(crate) enum CancelByDroppedSender {}

/// The unanswered calls of a connection, by id. A cancelled one has no sender.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashMap<String, Option<Sender<CancelByDroppedSender>>>>>);

impl InFlight {
    /// Adds a call; `None` when its id is in use.
    pub(super) fn admit(
        &self,
        id: &RequestId,
    ) -> Option<(InFlightGuard, Receiver<CancelByDroppedSender>)> {
        let key = id.key();
        let mut calls = self.lock();
        if calls.contains_key(&key) {
            return None;
        }
        let (cancel, cancelled) = bounded(0);
        calls.insert(key.clone(), Some(cancel));
        Some((InFlightGuard { key, calls: self.clone() }, cancelled))
    }

    /// Cancels a call; does nothing when it is over.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(cancel) = self.lock().get_mut(&id.key()) {
            *cancel = None;
        }
    }

    /// Cancels every call.
    pub(super) fn cancel_all(&self) {
        self.lock().values_mut().for_each(|cancel| *cancel = None);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Option<Sender<CancelByDroppedSender>>>> {
        // Nothing panics while it holds the lock, and the table is valid between any two lines.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard that removes its call when dropped.
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
