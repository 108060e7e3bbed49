//! What a client is told without having asked, and how it is known that it was.
//!
//! A [`Notice`] comes from the surface. In the legacy era it is a log message of its own, to a
//! client that wants its level; in the modern era it rides on the next reply of a tool. Its
//! [`Receipt`] is signed by the transport when the line has been written, and by nobody else: a
//! notice that is dropped on the way was never given.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use serde_json::{Map, Value, json};

use super::Severity;
use crate::mcp::rpc::{RequestId, RpcError, error_line, notification_line};

/// The member of structured content that holds a notice.
const MEMBER: &str = "notice";

/// Something worth knowing that nobody asked for.
#[derive(Debug)]
pub(crate) struct Notice {
    /// How much it matters.
    pub(crate) level: Severity,
    /// Who says it: the logger of a log message, the key in a reply's `_meta`.
    pub(crate) logger: &'static str,
    /// It, for programs.
    pub(crate) data: Value,
    /// It, for agents.
    pub(crate) text: String,
    /// Signed when it was written to a client.
    pub(crate) receipt: Receipt,
}

impl Notice {
    /// The notice as a log message.
    pub(super) fn into_line(self) -> OutgoingLine {
        let Notice { level, logger, data, receipt, .. } = self;
        let params = json!({"level": level.to_string(), "logger": logger, "data": data});
        let text = notification_line("notifications/message", &params);
        OutgoingLine { text, receipt: Some(receipt), code: None }
    }

    /// Adds the notice to a tool's result: its text as the last block, its data to `_meta` and to
    /// structured content.
    pub(super) fn attach_to(self, result: &mut Map<String, Value>) -> Receipt {
        let Notice { logger, data, text, receipt, .. } = self;
        if let Some(Value::Array(blocks)) = result.get_mut("content") {
            blocks.push(json!({"type": "text", "text": text}));
        }
        if let Some(Value::Object(structured)) = result.get_mut("structuredContent") {
            structured.insert(MEMBER.to_owned(), data.clone());
        }
        if let Some(Value::Object(meta)) = result.get_mut("_meta") {
            meta.insert(logger.to_owned(), data);
        }
        receipt
    }
}

/// What is to be done once a line has been written. Dropped unsigned, it never was.
pub(crate) struct Receipt(Box<dyn FnOnce() + Send>);

impl Receipt {
    /// A receipt that does `when_written`, on the thread that writes.
    pub(crate) fn new(when_written: impl FnOnce() + Send + 'static) -> Receipt {
        Receipt(Box::new(when_written))
    }

    fn confirm(self) {
        (self.0)();
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receipt")
    }
}

/// A line for the client.
#[derive(Debug)]
pub(crate) struct OutgoingLine {
    pub(crate) text: String,
    pub(super) receipt: Option<Receipt>,
    /// The code of the error that the line tells, for transports that have codes of their own.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has statuses"))]
    pub(crate) code: Option<i32>,
}

impl OutgoingLine {
    /// A reply that tells an error.
    pub(crate) fn error(id: Option<&RequestId>, fault: &RpcError) -> OutgoingLine {
        OutgoingLine { text: error_line(id, fault), receipt: None, code: Some(fault.code) }
    }

    /// Notes that the client has it.
    pub(crate) fn was_written(self) {
        if let Some(receipt) = self.receipt {
            receipt.confirm();
        }
    }
}

impl From<String> for OutgoingLine {
    fn from(text: String) -> OutgoingLine {
        OutgoingLine { text, receipt: None, code: None }
    }
}

/// Tells connections that there may be a notice.
#[derive(Debug, Default)]
pub(crate) struct Waker(Mutex<Vec<Sender<()>>>);

impl Waker {
    /// One message for each time that the bell has rung, or for several.
    pub(crate) fn wakes(&self) -> Receiver<()> {
        let (sender, receiver) = bounded(1);
        self.add_sender(sender);
        receiver
    }

    /// Puts a message into a channel of one place whenever the bell rings.
    pub(crate) fn add_sender(&self, sender: Sender<()>) {
        /// So many may have gone without being missed.
        const GONE_MAX: usize = 64;
        let mut senders = self.lock();
        if GONE_MAX <= senders.len() && senders.len().is_power_of_two() {
            // Who has gone is found by ringing; for the others once too often is no harm.
            senders.retain(try_wake);
        }
        senders.push(sender);
    }

    /// Rings.
    pub(crate) fn wake(&self) {
        self.lock().retain(try_wake);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Sender<()>>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rings at one ear; whether somebody is there.
fn try_wake(sender: &Sender<()>) -> bool {
    !matches!(sender.try_send(()), Err(TrySendError::Disconnected(())))
}
