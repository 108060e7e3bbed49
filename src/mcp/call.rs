//! What a running call can tell its client and learn from it: progress, log messages, cancellation.
//!
//! Nothing leaves a call that was cancelled or that is over.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use serde_json::{Value, json};

use super::server_requests::{AskMode, InputResponses};
use super::{
    Capabilities, Capability, ClientRequest, ClientRequestError, ElicitResult, OutgoingLine,
};
use crate::mcp::rpc::{RequestId, RpcError, notification_line};

/// Where lines for the client go: the queue of whoever owns the connection's output.
#[derive(Clone, Debug)]
pub(crate) struct Outbox(Sender<OutgoingLine>);

impl Outbox {
    /// An outbox that feeds `lines`.
    pub(crate) fn new(lines: Sender<OutgoingLine>) -> Outbox {
        Outbox(lines)
    }

    /// Queues a line, waiting while the queue is full.
    pub(crate) fn send(&self, line: impl Into<OutgoingLine>) {
        // Without a receiver the client is gone, and its transport knows.
        let _ = self.0.send(line.into());
    }
}

/// How much a log message matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Details for finding errors.
    Debug,
    /// Progress of an operation.
    Info,
    /// Normal and worth knowing.
    Notice,
    /// Odd input that was got around.
    Warning,
    /// An operation failed.
    Error,
    /// A part of the server failed.
    Critical,
    /// Somebody has to act.
    Alert,
    /// Nothing works.
    Emergency,
}

impl Severity {
    const ALL: [(Severity, &str); 8] = [
        (Severity::Debug, "debug"),
        (Severity::Info, "info"),
        (Severity::Notice, "notice"),
        (Severity::Warning, "warning"),
        (Severity::Error, "error"),
        (Severity::Critical, "critical"),
        (Severity::Alert, "alert"),
        (Severity::Emergency, "emergency"),
    ];

    /// The level that a request names.
    pub(crate) fn read(name: &Value) -> Result<Severity, RpcError> {
        let found = Severity::ALL.into_iter().find(|(_, it)| name.as_str() == Some(*it));
        found.map(|(level, _)| level).ok_or_else(|| {
            let names = Severity::ALL.map(|(_, it)| it).join(", ");
            RpcError::new(RpcError::PARAMS, format!("the log level must be one of {names}"))
        })
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = Severity::ALL.into_iter().find(|(level, _)| level == self);
        f.write_str(found.map_or("", |(_, name)| name))
    }
}

/// What a request says about how it wants to be told and asked.
#[derive(Debug)]
pub(super) struct RequestContext {
    pub(super) level: Option<Severity>,
    pub(super) progress_token: Option<Value>,
    pub(super) capabilities: Capabilities,
    pub(super) asking: AskMode,
}

/// What a handler sees of the request behind it.
#[derive(Debug)]
pub(crate) struct Call {
    cancelled: Receiver<NoMessage>,
    level: Option<Severity>,
    progress_token: Option<Value>,
    /// One more than the last progress that was told; it may only grow.
    done: AtomicU64,
    outbox: Outbox,
    capabilities: Capabilities,
    asking: AskMode,
}

impl Call {
    pub(super) fn new(
        cancelled: Receiver<NoMessage>,
        outbox: Outbox,
        request_context: RequestContext,
    ) -> Call {
        let RequestContext { level, progress_token, capabilities, asking } = request_context;
        let done = AtomicU64::new(0);
        Call { cancelled, level, progress_token, done, outbox, capabilities, asking }
    }

    /// Whether nobody waits for the reply any more; long work looks now and then.
    pub(crate) fn is_cancelled(&self) -> bool {
        matches!(self.cancelled.try_recv(), Err(TryRecvError::Disconnected))
    }

    /// Disconnects on cancellation, for work that waits on channels anyway.
    pub(crate) fn cancelled(&self) -> &Receiver<NoMessage> {
        &self.cancelled
    }

    /// Tells that `done` of `total` is done, to a client that asked for it. What is not more than
    /// before is not told.
    pub(crate) fn progress(&self, done: u64, total: Option<u64>, message: &str) {
        let Some(token) = &self.progress_token else { return };
        let is_news = self.done.fetch_max(done.saturating_add(1), Ordering::Relaxed) <= done;
        if !is_news || self.is_cancelled() {
            return;
        }
        let mut params = json!({"progressToken": token, "progress": done});
        if let Some(total) = total {
            params["total"] = total.into();
        }
        params["message"] = message.into();
        self.outbox.send(notification_line("notifications/progress", &params));
    }

    /// Sends a log message to a client that wants messages of this level.
    pub(crate) fn log(&self, level: Severity, logger: &str, data: &Value) {
        if self.level.is_none_or(|wanted| level < wanted) || self.is_cancelled() {
            return;
        }
        let params = json!({"level": level.to_string(), "logger": logger, "data": data});
        self.outbox.send(notification_line("notifications/message", &params));
    }
}

impl Call {
    /// Whether the client can be asked for it.
    pub(crate) fn client_can(&self, capability: Capability) -> bool {
        self.capabilities.has(capability)
    }

    /// Asks the client for several things at once, each under a key of its own, and gives the
    /// answers in that order. In the modern era the handler runs anew with the answers, so that
    /// nothing may have been changed before.
    pub(crate) fn request_from_client(
        &self,
        questions: &[(&'static str, ClientRequest)],
    ) -> Result<Vec<Value>, ClientRequestError> {
        let mut needed = questions.iter().map(|(_, it)| it.needs());
        if let Some(missing) = needed.find(|it| !self.client_can(*it)) {
            return Err(ClientRequestError::Unsupported(missing));
        }
        self.asking.request(questions, &self.outbox, &self.cancelled)
    }

    /// Asks the user by a form; `schema` is the JSON Schema of a flat object.
    ///
    /// # Errors
    ///
    /// The call is to end here, and the error with it.
    pub(crate) fn elicit(
        &self,
        key: &'static str,
        message: &str,
        schema: Value,
    ) -> Result<ElicitResult, ClientRequestError> {
        let question = ClientRequest::Form { message: message.to_owned(), schema };
        match self.request_from_client(&[(key, question)]) {
            Ok(mut answers) => {
                let mut answer = answers.pop().unwrap_or_default();
                Ok(match answer["action"].as_str() {
                    Some("accept") => ElicitResult::Accepted(answer["content"].take()),
                    Some("decline") => ElicitResult::Declined,
                    _ => ElicitResult::Cancelled,
                })
            }
            Err(ClientRequestError::Unsupported(_)) => Ok(ElicitResult::Unsupported),
            Err(ClientRequestError::Refused(_) | ClientRequestError::TimedOut) => {
                Ok(ElicitResult::Cancelled)
            }
            Err(why @ (ClientRequestError::InputRequired | ClientRequestError::Cancelled)) => {
                Err(why)
            }
        }
    }

    /// The answers that the request brought along, after the handler.
    pub(super) fn answers(&mut self) -> InputResponses {
        match &mut self.asking {
            AskMode::Retry(answers) => std::mem::take(&mut **answers),
            AskMode::ServerRequest(_) => InputResponses::default(),
        }
    }
}

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
