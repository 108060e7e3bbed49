//! What a running call can tell its client and learn from it: progress, log messages, cancellation.
//!
//! Nothing leaves a call that was cancelled or that is over.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, TryRecvError};
use serde_json::{Value, json};

use super::in_flight::NoMessage;
use super::server_requests::{AskMode, InputResponses};
use super::{
    Capabilities, Capability, ClientRequest, ClientRequestError, ElicitResult, Outbox, Severity,
};
use crate::mcp::rpc::notification_line;

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
        self.outbox.say(notification_line("notifications/progress", &params));
    }

    /// Sends a log message to a client that wants messages of this level.
    pub(crate) fn log(&self, level: Severity, logger: &str, data: &Value) {
        if self.level.is_none_or(|wanted| level < wanted) || self.is_cancelled() {
            return;
        }
        let params = json!({"level": level.to_string(), "logger": logger, "data": data});
        self.outbox.say(notification_line("notifications/message", &params));
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
