//! Notices to clients, outgoing lines with callbacks, and the waker of connections.
//!
//! A [`ClientLogNotice`] comes from the handler. In the legacy era it is a log message of its own,
//! to a client that wants its level; in the modern era it is attached to the next reply of a tool.
//! The transport runs its [`LineWrittenCallback`] once the line has been written: a notice that is
//! dropped on the way was never given.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use serde_json::{Map, Value, json};

use super::Severity;
use crate::mcp::rpc::{RequestId, RpcError, error_line, notification_line};

/// The member of structured content that holds a notice.
const MEMBER: &str = "notice";

/// A message for the client that it did not request.
#[derive(Debug)]
pub(crate) struct ClientLogNotice {
    /// Its severity.
    pub(crate) level: Severity,
    /// The logger of a log message, and the key in a reply's `_meta`.
    pub(crate) logger: &'static str,
    /// The content as JSON.
    pub(crate) data: Value,
    /// The content as text for agents.
    pub(crate) text: String,
    /// Confirmed when the notice was written to a client.
    pub(crate) callback: LineWrittenCallback,
}

impl ClientLogNotice {
    /// Returns the notice as a log message.
    pub(super) fn into_line(self) -> OutgoingRpcMessageLine {
        let ClientLogNotice { level, logger, data, callback, .. } = self;
        let params = json!({"level": level.to_string(), "logger": logger, "data": data});
        let text = notification_line("notifications/message", &params);
        OutgoingRpcMessageLine { text, callback: Some(callback), code: None }
    }

    /// Adds the notice to a tool's result. Its text becomes the last block, its data goes to
    /// `_meta` and to structured content.
    pub(super) fn attach_to(self, result: &mut Map<String, Value>) -> LineWrittenCallback {
        let ClientLogNotice { logger, data, text, callback, .. } = self;
        if let Some(Value::Array(blocks)) = result.get_mut("content") {
            blocks.push(json!({"type": "text", "text": text}));
        }
        if let Some(Value::Object(structured)) = result.get_mut("structuredContent") {
            structured.insert(MEMBER.to_owned(), data.clone());
        }
        if let Some(Value::Object(meta)) = result.get_mut("_meta") {
            meta.insert(logger.to_owned(), data);
        }
        callback
    }
}

/// A callback for when a line has been written; dropping it unconfirmed does nothing.
pub(crate) struct LineWrittenCallback(Box<dyn FnOnce() + Send>);

impl LineWrittenCallback {
    /// Returns a callback that runs `when_written` on the writing thread.
    pub(crate) fn new(when_written: impl FnOnce() + Send + 'static) -> LineWrittenCallback {
        LineWrittenCallback(Box::new(when_written))
    }

    fn confirm(self) {
        (self.0)();
    }
}

impl fmt::Debug for LineWrittenCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LineWrittenCallback")
    }
}

/// A line for the client.
#[derive(Debug)]
pub(crate) struct OutgoingRpcMessageLine {
    pub(crate) text: String,
    pub(super) callback: Option<LineWrittenCallback>,
    /// The code of the error in the line, for transports with codes of their own.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has statuses"))]
    pub(crate) code: Option<i32>,
}

impl OutgoingRpcMessageLine {
    /// Returns an error reply.
    pub(crate) fn error(id: Option<&RequestId>, fault: &RpcError) -> OutgoingRpcMessageLine {
        OutgoingRpcMessageLine {
            text: error_line(id, fault),
            callback: None,
            code: Some(fault.code),
        }
    }

    /// Confirms that the client has it.
    pub(crate) fn was_written(self) {
        if let Some(callback) = self.callback {
            callback.confirm();
        }
    }
}

impl From<String> for OutgoingRpcMessageLine {
    fn from(text: String) -> OutgoingRpcMessageLine {
        OutgoingRpcMessageLine { text, callback: None, code: None }
    }
}

/// Wakes connections when there may be a notice.
#[derive(Debug, Default)]
pub(crate) struct NoticeWaker(Mutex<Vec<Sender<()>>>);

impl NoticeWaker {
    /// Returns a channel with a message after one or more wakes.
    pub(crate) fn receiver(&self) -> Receiver<()> {
        let (sender, receiver) = bounded(1);
        self.add_sender(sender);
        receiver
    }

    /// Adds a channel of capacity one that gets a message at each wake.
    pub(crate) fn add_sender(&self, sender: Sender<()>) {
        /// Senders from which on disconnected ones are removed.
        const GONE_MAX: usize = 64;
        let mut senders = self.lock();
        if GONE_MAX <= senders.len() && senders.len().is_power_of_two() {
            // Sending finds the disconnected ones; a needless wake is harmless to the others.
            senders.retain(try_wake);
        }
        senders.push(sender);
    }

    /// Wakes all connections.
    pub(crate) fn wake(&self) {
        self.lock().retain(try_wake);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Sender<()>>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes one connection; returns whether it still exists.
fn try_wake(sender: &Sender<()>) -> bool {
    !matches!(sender.try_send(()), Err(TrySendError::Disconnected(())))
}
