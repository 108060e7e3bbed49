//! What a running call can tell its client and learn from it: progress, log messages, cancellation.
//!
//! Nothing leaves a call that was cancelled or that is over.

use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, TryRecvError};
use serde_json::{Value, json};

use super::in_flight::Never;
use super::server_requests::{Answers, Asking};
use super::{Capabilities, Capability, Elicited, Level, Outbox, Question, Unanswered};
use crate::mcp::rpc::notification_line;

/// What a request says about how it wants to be told and asked.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) level: Option<Level>,
    pub(super) progress_token: Option<Value>,
    pub(super) capabilities: Capabilities,
    pub(super) asking: Asking,
}

/// What a handler sees of the request behind it.
#[derive(Debug)]
pub(crate) struct Call {
    cancelled: Receiver<Never>,
    level: Option<Level>,
    progress_token: Option<Value>,
    /// One more than the last progress that was told; it may only grow.
    done: AtomicU64,
    outbox: Outbox,
    capabilities: Capabilities,
    asking: Asking,
}

impl Call {
    pub(super) fn new(cancelled: Receiver<Never>, outbox: Outbox, told: Told) -> Call {
        let Told { level, progress_token, capabilities, asking } = told;
        let done = AtomicU64::new(0);
        Call { cancelled, level, progress_token, done, outbox, capabilities, asking }
    }

    /// Whether nobody waits for the reply any more; long work looks now and then.
    pub(crate) fn is_cancelled(&self) -> bool {
        matches!(self.cancelled.try_recv(), Err(TryRecvError::Disconnected))
    }

    /// Disconnects on cancellation, for work that waits on channels anyway.
    pub(crate) fn cancelled(&self) -> &Receiver<Never> {
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
    pub(crate) fn log(&self, level: Level, logger: &str, data: &Value) {
        if self.level.is_none_or(|wanted| level < wanted) || self.is_cancelled() {
            return;
        }
        let params = json!({"level": level.to_string(), "logger": logger, "data": data});
        self.outbox.say(notification_line("notifications/message", &params));
    }
}

impl Call {
    /// Whether the client can be asked for it.
    pub(crate) fn can(&self, capability: Capability) -> bool {
        self.capabilities.has(capability)
    }

    /// Asks the client for several things at once, each under a key of its own, and gives the
    /// answers in that order. In the modern era the handler runs anew with the answers, so that
    /// nothing may have been changed before.
    pub(crate) fn ask(
        &self,
        questions: &[(&'static str, Question)],
    ) -> Result<Vec<Value>, Unanswered> {
        let mut needed = questions.iter().map(|(_, it)| it.needs());
        if let Some(missing) = needed.find(|it| !self.can(*it)) {
            return Err(Unanswered::Impossible(missing));
        }
        self.asking.ask(questions, &self.outbox, &self.cancelled)
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
    ) -> Result<Elicited, Unanswered> {
        let question = Question::Form { message: message.to_owned(), schema };
        match self.ask(&[(key, question)]) {
            Ok(mut answers) => {
                let mut answer = answers.pop().unwrap_or_default();
                Ok(match answer["action"].as_str() {
                    Some("accept") => Elicited::Accepted(answer["content"].take()),
                    Some("decline") => Elicited::Declined,
                    _ => Elicited::Cancelled,
                })
            }
            Err(Unanswered::Impossible(_)) => Ok(Elicited::Unsupported),
            Err(Unanswered::Refused(_) | Unanswered::Late) => Ok(Elicited::Cancelled),
            Err(why @ (Unanswered::Open | Unanswered::Cancelled)) => Err(why),
        }
    }

    /// The answers that the request brought along, after the handler.
    pub(super) fn answers(&mut self) -> Answers {
        match &mut self.asking {
            Asking::Anew(answers) => std::mem::take(&mut **answers),
            Asking::Aloud(_) => Answers::default(),
        }
    }
}
