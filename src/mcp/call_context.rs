//! A running call: its progress, log messages, cancellation, and requests to the client.
//!
//! Nothing is sent for a call that was cancelled or is over.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, TryRecvError};
use serde_json::{Value, json};

use super::in_flight::CancelByDroppedSender;
use super::server_requests::{InputResponses, ServerRequestMode};
use super::{
    ClientCapabilities, ClientCapability, ElicitResult, Outbox, ServerRequest, ServerRequestError,
    Severity,
};
use crate::mcp::rpc::notification_line;

/// Settings that a request makes for its notifications and questions.
#[derive(Debug)]
pub(super) struct RequestOptions {
    pub(super) level: Option<Severity>,
    pub(super) progress_token: Option<Value>,
    pub(super) capabilities: ClientCapabilities,
    pub(super) asking: ServerRequestMode,
}

/// The handler's view of the request that it runs.
#[derive(Debug)]
pub(crate) struct CallContext {
    cancelled: Receiver<CancelByDroppedSender>,
    level: Option<Severity>,
    progress_token: Option<Value>,
    /// One more than the last progress sent; it only grows.
    done: AtomicU64,
    outbox: Outbox,
    capabilities: ClientCapabilities,
    asking: ServerRequestMode,
}

impl CallContext {
    pub(super) fn new(
        cancelled: Receiver<CancelByDroppedSender>,
        outbox: Outbox,
        request_context: RequestOptions,
    ) -> CallContext {
        let RequestOptions { level, progress_token, capabilities, asking } = request_context;
        let done = AtomicU64::new(0);
        CallContext { cancelled, level, progress_token, done, outbox, capabilities, asking }
    }

    /// Returns whether the call was cancelled; long work checks it now and then.
    pub(crate) fn is_cancelled(&self) -> bool {
        matches!(self.cancelled.try_recv(), Err(TryRecvError::Disconnected))
    }

    /// Returns a function that says whether the call was cancelled, for work that keeps it.
    pub(crate) fn watch_for_cancellation(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let cancelled = self.cancelled.clone();
        move || matches!(cancelled.try_recv(), Err(TryRecvError::Disconnected))
    }

    /// Returns a channel that disconnects on cancellation, for work that waits on channels.
    pub(crate) fn cancelled(&self) -> &Receiver<CancelByDroppedSender> {
        &self.cancelled
    }

    /// Reports progress to a client that asked for it. Only increases are sent.
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

impl CallContext {
    /// Returns whether the client has a capability.
    pub(crate) fn client_can(&self, capability: ClientCapability) -> bool {
        self.capabilities.has(capability)
    }

    /// Sends several requests to the client, each under its own key, and returns the answers in
    /// order. In the modern era the handler runs again with the answers, so it must not have
    /// changed anything before.
    pub(crate) fn request_from_client(
        &self,
        questions: &[(&'static str, ServerRequest)],
    ) -> Result<Vec<Value>, ServerRequestError> {
        let mut needed = questions.iter().map(|(_, it)| it.needs());
        if let Some(missing) = needed.find(|it| !self.client_can(*it)) {
            return Err(ServerRequestError::Unsupported(missing));
        }
        self.asking.request(questions, &self.outbox, &self.cancelled)
    }

    /// Asks the user with a form; `schema` is the JSON Schema of a flat object.
    ///
    /// # Errors
    ///
    /// The call must end here, with this error.
    pub(crate) fn elicit(
        &self,
        key: &'static str,
        message: &str,
        schema: Value,
    ) -> Result<ElicitResult, ServerRequestError> {
        let question = ServerRequest::Form { message: message.to_owned(), schema };
        match self.request_from_client(&[(key, question)]) {
            Ok(mut answers) => {
                let mut answer = answers.pop().unwrap_or_default();
                Ok(match answer["action"].as_str() {
                    Some("accept") => ElicitResult::Accepted(answer["content"].take()),
                    Some("decline") => ElicitResult::Declined,
                    _ => ElicitResult::Cancelled,
                })
            }
            Err(ServerRequestError::Unsupported(_)) => Ok(ElicitResult::Unsupported),
            Err(ServerRequestError::Refused(_) | ServerRequestError::TimedOut) => {
                Ok(ElicitResult::Cancelled)
            }
            Err(why @ (ServerRequestError::InputRequired | ServerRequestError::Cancelled)) => {
                Err(why)
            }
        }
    }

    /// Takes the answers of the request, once the handler has run.
    pub(super) fn answers(&mut self) -> InputResponses {
        match &mut self.asking {
            ServerRequestMode::Retry(answers) => std::mem::take(&mut **answers),
            ServerRequestMode::ServerRequest(_) => InputResponses::default(),
        }
    }
}
