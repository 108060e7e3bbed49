//! Requests of a running call to its client, with one interface for both eras.
//!
//! *Legacy*: the question is a request to the client, and the handler waits for the response.
//! *Modern*: the call ends with its open questions, and the client repeats the request with the
//! answers; the handler runs again and finds them by their keys. So a handler asks before it
//! changes anything, and always asks one question under one key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, select};
use serde_json::{Map, Value, json};

use super::in_flight::CancelByDroppedSender;
use super::{HandlerError, Outbox, form_validation};
use crate::mcp::rpc::{RequestId, RpcError, notification_line, request_line};
use crate::text;

/// The time a client has for one answer: a person is asked.
const ANSWER_WAIT: Duration = Duration::from_secs(120);
/// Simultaneous questions of one connection. A waiting call holds a thread, and others need
/// theirs.
const QUESTIONS_MAX: usize = 2;

/// A capability that a client may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClientCapability {
    /// It can ask its user.
    Elicitation,
    /// It can ask its model.
    Sampling,
    /// It can list its folders.
    Roots,
}

impl ClientCapability {
    /// Returns its name in the protocol.
    pub(super) fn name(self) -> &'static str {
        match self {
            ClientCapability::Elicitation => "elicitation",
            ClientCapability::Sampling => "sampling",
            ClientCapability::Roots => "roots",
        }
    }
}

/// The capabilities that a client has declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientCapabilities {
    elicitation: bool,
    sampling: bool,
    roots: bool,
}

impl ClientCapabilities {
    /// Reads `ClientCapabilities`; members that are no objects count as absent.
    pub(super) fn read(value: Option<&Value>) -> ClientCapabilities {
        let member = |name: &str| value?.get(name)?.as_object();
        // An empty object means forms, as in versions before other modes existed.
        let is_form = |it: &Map<String, Value>| it.contains_key("form") || !it.contains_key("url");
        ClientCapabilities {
            elicitation: member("elicitation").is_some_and(is_form),
            sampling: member("sampling").is_some(),
            roots: member("roots").is_some(),
        }
    }

    /// Returns whether the client has a capability.
    pub(crate) fn has(self, capability: ClientCapability) -> bool {
        match capability {
            ClientCapability::Elicitation => self.elicitation,
            ClientCapability::Sampling => self.sampling,
            ClientCapability::Roots => self.roots,
        }
    }
}

/// A question to a client.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ServerRequest {
    /// A form for its user, by the JSON Schema of a flat object.
    Form { message: String, schema: Value },
    /// A question to its model: the params of `sampling/createMessage`.
    Model(Value),
    /// A question for its folders.
    Folders,
}

impl ServerRequest {
    /// Returns the capability that it needs.
    pub(crate) fn needs(&self) -> ClientCapability {
        match self {
            ServerRequest::Form { .. } => ClientCapability::Elicitation,
            ServerRequest::Model(_) => ClientCapability::Sampling,
            ServerRequest::Folders => ClientCapability::Roots,
        }
    }

    fn request(&self) -> (&'static str, Value) {
        match self {
            ServerRequest::Form { message, schema } => {
                ("elicitation/create", json!({"message": message, "requestedSchema": schema}))
            }
            ServerRequest::Model(params) => ("sampling/createMessage", params.clone()),
            ServerRequest::Folders => ("roots/list", json!({})),
        }
    }

    /// Returns whether an answer is valid for this question.
    fn is_answered_by(&self, answer: &Value) -> bool {
        match self {
            ServerRequest::Form { schema, .. } => match answer["action"].as_str() {
                Some("accept") => form_validation::matches_schema(schema, &answer["content"]),
                Some("decline" | "cancel") => true,
                _ => false,
            },
            ServerRequest::Model(_) => {
                answer["content"].is_object() || answer["content"].is_array()
            }
            ServerRequest::Folders => answer["roots"].is_array(),
        }
    }
}

/// The outcome of a form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ElicitResult {
    /// The user filled it in, valid by the schema.
    Accepted(Value),
    /// The user declined.
    Declined,
    /// The user closed it, or ignored it for too long.
    Cancelled,
    /// The client shows no forms.
    Unsupported,
}

/// The reason why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerRequestError {
    /// The client has not declared the capability.
    Unsupported(ClientCapability),
    /// The client has to repeat the request with the answer; the call ends here.
    InputRequired,
    /// The client answered with an error or an invalid value; the text says which.
    Refused(String),
    /// There was no answer in time, or there were too many questions.
    TimedOut,
    /// The call was cancelled.
    Cancelled,
}

impl From<ServerRequestError> for HandlerError {
    fn from(why: ServerRequestError) -> HandlerError {
        match why {
            ServerRequestError::Unsupported(capability) => HandlerError::Needs(capability),
            ServerRequestError::InputRequired => HandlerError::Open,
            ServerRequestError::Refused(text) => HandlerError::BadArgument(text),
            ServerRequestError::TimedOut => {
                HandlerError::BadArgument("the client has not answered in time".to_owned())
            }
            ServerRequestError::Cancelled => HandlerError::Cancelled,
        }
    }
}

/// The way in which a call asks.
#[derive(Debug)]
pub(super) enum ServerRequestMode {
    /// By requests of the server.
    ServerRequest(PendingRequests),
    /// By ending the call, which the client repeats.
    Retry(Box<InputResponses>),
}

impl ServerRequestMode {
    pub(super) fn request(
        &self,
        questions: &[(&'static str, ServerRequest)],
        outbox: &Outbox,
        cancelled: &Receiver<CancelByDroppedSender>,
    ) -> Result<Vec<Value>, ServerRequestError> {
        match self {
            ServerRequestMode::ServerRequest(table) => questions
                .iter()
                .map(|(_, question)| table.request(question, outbox, cancelled))
                .collect(),
            ServerRequestMode::Retry(answers) => answers.find(questions),
        }
    }
}

/// The answers in a request, and their use.
#[derive(Debug, Default)]
pub(super) struct InputResponses {
    given: Map<String, Value>,
    seen: Mutex<AnsweredAndOpenInputs>,
}

/// The inputs that a call asked for: those that were answered, and those still open.
#[derive(Clone, Debug, Default)]
struct AnsweredAndOpenInputs {
    used: Map<String, Value>,
    open: Map<String, Value>,
}

impl InputResponses {
    pub(super) fn new(given: Map<String, Value>) -> InputResponses {
        InputResponses { given, seen: Mutex::default() }
    }

    fn find(
        &self,
        questions: &[(&'static str, ServerRequest)],
    ) -> Result<Vec<Value>, ServerRequestError> {
        // Nothing panics while it holds the lock.
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = Vec::with_capacity(questions.len());
        for (key, question) in questions {
            match self.given.get(*key).filter(|it| question.is_answered_by(it)) {
                Some(answer) => {
                    seen.used.insert((*key).to_owned(), answer.clone());
                    found.push(answer.clone());
                }
                None => {
                    let (method, params) = question.request();
                    let request = json!({"method": method, "params": params});
                    seen.open.insert((*key).to_owned(), request);
                }
            }
        }
        if seen.open.is_empty() { Ok(found) } else { Err(ServerRequestError::InputRequired) }
    }

    /// Returns the used answers, and the open questions.
    pub(super) fn into_seen(self) -> (Map<String, Value>, Map<String, Value>) {
        let AnsweredAndOpenInputs { used, open } =
            self.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        (used, open)
    }
}

/// A client's answer to a question.
type ClientResult = Result<Value, RpcError>;

/// The unanswered questions of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingRequests(Arc<Mutex<PendingTable>>);

#[derive(Debug, Default)]
struct PendingTable {
    /// The id of the last question.
    last: u64,
    is_closed: bool,
    waiting: HashMap<String, Sender<ClientResult>>,
}

impl PendingRequests {
    /// Delivers a response to the waiting call; others are ignored.
    pub(super) fn resolve(&self, id: &RequestId, outcome: ClientResult) {
        if let Some(asker) = self.lock().waiting.remove(&id.key()) {
            // A call that gave up meanwhile needs no answer.
            let _ = asker.try_send(outcome);
        }
    }

    /// Ends all waiting: no response will come.
    pub(super) fn close(&self) {
        let mut table = self.lock();
        table.is_closed = true;
        table.waiting.clear();
    }

    fn request(
        &self,
        question: &ServerRequest,
        outbox: &Outbox,
        cancelled: &Receiver<CancelByDroppedSender>,
    ) -> Result<Value, ServerRequestError> {
        let (id, answer) = self.open().ok_or(ServerRequestError::TimedOut)?;
        let (method, params) = question.request();
        outbox.send(request_line(id, method, &params));
        let outcome = select! {
            recv(answer) -> outcome => outcome.map_err(|_| ServerRequestError::TimedOut),
            recv(cancelled) -> _ => Err(ServerRequestError::Cancelled),
            default(ANSWER_WAIT) => Err(ServerRequestError::TimedOut),
        };
        if outcome.is_err() && self.lock().waiting.remove(&id.to_string()).is_some() {
            let params = json!({"requestId": id, "reason": "nobody waits for it any more"});
            outbox.send(notification_line("notifications/cancelled", &params));
        }
        match outcome? {
            Ok(answer) if question.is_answered_by(&answer) => Ok(answer),
            Ok(_) => {
                Err(ServerRequestError::Refused(format!("the answer to {method} makes no sense")))
            }
            Err(fault) => {
                let why = text::truncate_chars(&fault.message, 200);
                Err(ServerRequestError::Refused(format!("the client refused {method}: {why}")))
            }
        }
    }

    fn open(&self) -> Option<(u64, Receiver<ClientResult>)> {
        let mut table = self.lock();
        if table.is_closed || QUESTIONS_MAX <= table.waiting.len() {
            return None;
        }
        table.last += 1;
        let id = table.last;
        let (asker, answer) = bounded(1);
        table.waiting.insert(id.to_string(), asker);
        Some((id, answer))
    }

    fn lock(&self) -> MutexGuard<'_, PendingTable> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
