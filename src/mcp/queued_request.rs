//! Queued requests: those that take time, accepted in order and run on any thread.

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value, json};

use super::content::error_json;
use super::error_codes::{invalid_uri, missing_capability, unread_uri};
use super::in_flight::InFlightGuard;
use super::method::Method;
use super::server_requests::InputResponses;
use super::{
    CallContext, ClientActivity, CompletionRef, CompletionRequest, Handler, HandlerError,
    OutgoingRpcMessageLine, READ_CACHE, Server, ToolCallFailure, ToolCallRecord, ToolEffect,
    Version, client_info_and_events, input_schema,
};
use crate::mcp::rpc::{self, JsonStringEscaper, Params, RequestId, RpcError};
use crate::mcp::uri::{self, UriError, UriVars};
use crate::text;

/// Values of one completion, by the protocol's bound.
const COMPLETIONS_MAX: usize = 100;

/// An accepted request that waits for a thread.
#[derive(Debug)]
pub(crate) struct QueuedRequest {
    pub(super) id: RequestId,
    pub(super) task: QueuedRequestTask,
    pub(super) version: Version,
    /// The session of the request, if the handler named one.
    pub(super) session: Option<String>,
    pub(super) call: CallContext,
    pub(super) ticket: InFlightGuard,
}

/// The task of a queued request.
#[derive(Debug)]
pub(super) enum QueuedRequestTask {
    Tool { idx: usize, arguments: Params },
    Read { idx: usize, uri: String, vars: UriVars },
    Prompt { idx: usize, arguments: Params },
    Complete { subject: CompletionRef, argument: String, value: String, others: Params },
}

impl QueuedRequest {
    /// Returns the request's id, for the log.
    pub(crate) fn id(&self) -> &RequestId {
        &self.id
    }

    /// Returns whether it only reads, so that it waits for no other's write.
    pub(crate) fn is_read<S: Handler>(&self, server: &Server<S>) -> bool {
        match &self.task {
            QueuedRequestTask::Tool { idx, .. } => server.tools[*idx].effect == ToolEffect::Reads,
            _ => true,
        }
    }

    /// Returns the log target of records about it.
    pub(crate) fn target(&self) -> &'static str {
        match self.task {
            QueuedRequestTask::Read { .. } => Method::ReadResource.target(),
            _ => module_path!(),
        }
    }
}

impl QueuedRequestTask {
    /// Parses the task of a request.
    pub(super) fn read<S: Handler>(
        server: &Server<S>,
        method: Method,
        version: Version,
        params: &mut Params,
    ) -> Result<QueuedRequestTask, RpcError> {
        match method {
            Method::ReadResource => read_task(server, version, params),
            Method::GetPrompt => {
                let names = || server.prompts.iter().map(|it| it.name);
                let idx = named("prompt", names, params)?;
                Ok(QueuedRequestTask::Prompt { idx, arguments: arguments(params)? })
            }
            Method::Complete => complete_task(server, params),
            _ => {
                let names = || server.tools.iter().map(|it| it.name);
                let idx = named("tool", names, params)?;
                Ok(QueuedRequestTask::Tool { idx, arguments: arguments(params)? })
            }
        }
    }

    /// Returns a digest of the task, to which signed state is bound.
    pub(super) fn request_digest(&self) -> String {
        match self {
            QueuedRequestTask::Tool { idx, arguments } => {
                format!("tool {idx} {}", json!(arguments))
            }
            QueuedRequestTask::Prompt { idx, arguments } => {
                format!("prompt {idx} {}", json!(arguments))
            }
            QueuedRequestTask::Read { uri, .. } => format!("read {uri}"),
            QueuedRequestTask::Complete { .. } => String::new(),
        }
    }
}

/// Returns the index of the row that `name` in `params` names.
fn named<N: Iterator<Item = &'static str>>(
    kind: &str,
    names: impl Fn() -> N,
    params: &Params,
) -> Result<usize, RpcError> {
    let Some(Value::String(name)) = params.get("name") else {
        let message = format!("`name` must be a string, the {kind}'s");
        return Err(RpcError::new(RpcError::INVALID_PARAMS, message));
    };
    names().position(|it| it == name).ok_or_else(|| {
        let (name, names) =
            (text::truncate_chars(name, 40), names().collect::<Vec<_>>().join(", "));
        RpcError::new(
            RpcError::INVALID_PARAMS,
            format!("unknown {kind} `{name}`; there are: {names}"),
        )
    })
}

fn arguments(params: &mut Params) -> Result<Params, RpcError> {
    match params.remove("arguments") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => Err(RpcError::new(RpcError::INVALID_PARAMS, "`arguments` must be an object")),
    }
}

fn read_task<S: Handler>(
    server: &Server<S>,
    version: Version,
    params: &mut Params,
) -> Result<QueuedRequestTask, RpcError> {
    let Some(Value::String(uri)) = params.remove("uri") else {
        return Err(RpcError::new(
            RpcError::INVALID_PARAMS,
            "`uri` must be a string, the resource's",
        ));
    };
    match uri::match_template(server.resources.iter().map(|it| it.uri), &uri) {
        Ok((idx, vars)) => Ok(QueuedRequestTask::Read { idx, uri, vars }),
        Err(UriError::Unknown) => Err(version.unknown_uri_error(&uri)),
        Err(UriError::Bad(why)) => Err(invalid_uri(&uri, &why)),
    }
}

fn complete_task<S: Handler>(
    server: &Server<S>,
    params: &mut Params,
) -> Result<QueuedRequestTask, RpcError> {
    let bad = |message: &str| RpcError::new(RpcError::INVALID_PARAMS, message);
    let member = |key: &str, name: &str| params.get(key)?.get(name)?.as_str().map(str::to_owned);
    let subject = match member("ref", "type").as_deref() {
        Some("ref/prompt") => {
            let name = member("ref", "name");
            let mut names = server.prompts.iter().map(|it| it.name);
            names.find(|it| name.as_deref() == Some(*it)).map(CompletionRef::Prompt)
        }
        Some("ref/resource") => {
            let uri = member("ref", "uri");
            let mut uris = server.resources.iter().map(|it| it.uri);
            uris.find(|it| uri.as_deref() == Some(*it)).map(CompletionRef::Resource)
        }
        _ => return Err(bad("`ref` must have a `type`: ref/prompt or ref/resource")),
    };
    let subject = subject.ok_or_else(|| bad("`ref` names nothing that is listed"))?;
    let argument = member("argument", "name").zip(member("argument", "value"));
    let (argument, value) =
        argument.ok_or_else(|| bad("`argument` must have a `name` and a `value`, both strings"))?;
    let others = params.get("context").and_then(|it| it.get("arguments")?.as_object());
    let others = others.cloned().unwrap_or_default();
    Ok(QueuedRequestTask::Complete { subject, argument, value, others })
}

impl<S: Handler> Server<S> {
    /// Returns the name of a queued request's row, for the log.
    pub(crate) fn name_of(&self, queued: &QueuedRequest) -> &'static str {
        let name = match &queued.task {
            QueuedRequestTask::Tool { idx, .. } => self.tools.get(*idx).map(|it| it.name),
            QueuedRequestTask::Read { idx, .. } => self.resources.get(*idx).map(|it| it.uri),
            QueuedRequestTask::Prompt { idx, .. } => self.prompts.get(*idx).map(|it| it.name),
            QueuedRequestTask::Complete { .. } => Some("completion"),
        };
        name.unwrap_or_default()
    }

    /// Runs a queued request; returns the line of its reply, or nothing when it was cancelled.
    pub(crate) fn run(&self, queued: QueuedRequest) -> Option<OutgoingRpcMessageLine> {
        let name = self.name_of(&queued);
        let QueuedRequest { id, task, version, session, mut call, ticket } = queued;
        if call.is_cancelled() {
            return None;
        }
        let request = task.request_digest();
        let payload_bytes = match &task {
            QueuedRequestTask::Tool { arguments, .. } => {
                Some(client_info_and_events::text_bytes(arguments))
            }
            QueuedRequestTask::Read { .. }
            | QueuedRequestTask::Prompt { .. }
            | QueuedRequestTask::Complete { .. } => None,
        };
        let watch = self.clock.stopwatch();
        let mut failure = None;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.perform(&id, task, version, &call, name, &mut failure)
        }));
        if let Some(payload_bytes) = payload_bytes {
            if outcome.is_err() {
                failure = Some(ToolCallFailure { kind: "panic", detail: None });
            }
            let (session, failure) = (session.as_deref(), failure.as_ref());
            let elapsed_ms = watch.elapsed_ms();
            let called = ToolCallRecord { session, tool: name, payload_bytes, elapsed_ms, failure };
            self.handler.note(ClientActivity::Called(called));
        }
        if call.is_cancelled() {
            return None;
        }
        // From here on the id may be used again.
        drop(ticket);
        let fault = match outcome {
            Ok(Ok(line)) => return Some(line),
            Ok(Err(FaultOrInputRequired::Fault(fault))) => fault,
            Ok(Err(FaultOrInputRequired::InputRequired)) => {
                return Some(self.questions(&id, &request, call.answers()));
            }
            Err(_panic) => {
                log::error!("a handler panicked name={name}");
                RpcError::new(RpcError::INTERNAL_ERROR, "internal error; the server goes on")
            }
        };
        Some(OutgoingRpcMessageLine::error(Some(&id), &fault))
    }

    fn perform(
        &self,
        id: &RequestId,
        task: QueuedRequestTask,
        version: Version,
        call: &CallContext,
        name: &str,
        failure: &mut Option<ToolCallFailure>,
    ) -> Result<OutgoingRpcMessageLine, FaultOrInputRequired> {
        match task {
            QueuedRequestTask::Tool { idx, arguments } => {
                self.call_tool(id, idx, arguments, version, call, failure)
            }
            QueuedRequestTask::Read { idx, uri, vars } => {
                self.read_resource(id, idx, &uri, &vars, version, call)
            }
            QueuedRequestTask::Prompt { idx, arguments } => {
                let row = self.prompts.get(idx).ok_or_else(gone)?;
                let args = input_schema::validate_args(row.args, arguments)
                    .map_err(|why| RpcError::new(RpcError::INVALID_PARAMS, why))?;
                let made = self.handler.prompt(&row.get, &args, call);
                let messages = made
                    .map_err(|why| failed(why, version, &format!("prompt failed prompt={name}")))?;
                let messages = messages.iter().map(|it| it.json(version)).collect();
                let mut body = Map::new();
                if !row.description.is_empty() {
                    body.insert("description".to_owned(), row.description.into());
                }
                body.insert("messages".to_owned(), messages);
                Ok(self.line(id, version, body))
            }
            QueuedRequestTask::Complete { subject, argument, value, others } => {
                let asked =
                    CompletionRequest { subject, argument: &argument, value: &value, others };
                let mut values = self.handler.complete(&asked);
                let total = values.len();
                values.truncate(COMPLETIONS_MAX);
                let has_more = values.len() < total;
                let mut found = json!({"values": values, "hasMore": has_more});
                if !has_more {
                    found["total"] = total.into();
                }
                let body = Map::from_iter([("completion".to_owned(), found)]);
                Ok(self.line(id, version, body))
            }
        }
    }

    fn line(
        &self,
        id: &RequestId,
        version: Version,
        body: Map<String, Value>,
    ) -> OutgoingRpcMessageLine {
        rpc::result_line(id, &Value::Object(self.with_common_fields(version, body, None))).into()
    }

    fn call_tool(
        &self,
        id: &RequestId,
        idx: usize,
        arguments: Params,
        version: Version,
        call: &CallContext,
        failure: &mut Option<ToolCallFailure>,
    ) -> Result<OutgoingRpcMessageLine, FaultOrInputRequired> {
        let tool = self.tools.get(idx).ok_or_else(gone)?;
        let made = input_schema::validate_args(tool.args, arguments)
            .map_err(HandlerError::BadArgument)
            .and_then(|args| {
                let reply = self.handler.call(&tool.run, &args, call)?;
                let is_carrier = version.is_modern() && !call.is_cancelled();
                let notice = is_carrier.then(|| self.handler.notice(Some(&reply))).flatten();
                Ok((reply, notice))
            });
        *failure = made.as_ref().err().map(HandlerError::failure);
        let mut rider = None;
        let body = match made {
            Ok((reply, notice)) => {
                rider = notice;
                reply.json(version)
            }
            Err(HandlerError::BadArgument(text) | HandlerError::NotFound(text)) => {
                error_json(&text)
            }
            Err(HandlerError::Coded { body, detail, .. }) => {
                if let Some(detail) = detail {
                    log::error!("tool failed tool={}: {detail}", tool.name);
                }
                error_json(&body)
            }
            Err(HandlerError::UnknownUri) => error_json("no resource has that URI"),
            Err(HandlerError::Cancelled) => error_json("cancelled"),
            Err(HandlerError::Open) => return Err(FaultOrInputRequired::InputRequired),
            Err(HandlerError::Needs(capability)) if version.is_modern() => {
                return Err(missing_capability(capability).into());
            }
            Err(HandlerError::Needs(capability)) => {
                error_json(&missing_capability(capability).message)
            }
            Err(HandlerError::Unavailable(text)) => {
                log::error!("tool failed tool={}: {text}", tool.name);
                error_json(&text)
            }
            Err(HandlerError::Internal(detail)) => {
                log::error!("tool failed tool={}: {detail}", tool.name);
                error_json("internal error; the server's log says more")
            }
        };
        let mut result = self.with_common_fields(version, body, None);
        let callback = rider.map(|notice| notice.attach_to(&mut result));
        Ok(OutgoingRpcMessageLine {
            callback,
            ..rpc::result_line(id, &Value::Object(result)).into()
        })
    }

    fn read_resource(
        &self,
        id: &RequestId,
        idx: usize,
        uri: &str,
        vars: &UriVars,
        version: Version,
        call: &CallContext,
    ) -> Result<OutgoingRpcMessageLine, FaultOrInputRequired> {
        /// The end of the line after the text, which is the last member of the last object.
        const TAIL: &str = "\"}]}}";
        let row = self.resources.get(idx).ok_or_else(gone)?;
        let mut body = self.with_common_fields(version, Map::new(), Some(READ_CACHE));
        let contents = json!({"uri": uri, "mimeType": row.form.mime(), row.form.member(): ""});
        body.insert("contents".to_owned(), json!([contents]));
        let mut line = rpc::result_line(id, &Value::Object(body));
        line.truncate(line.len() - TAIL.len());
        match self.handler.read(&row.read, vars, call, &mut JsonStringEscaper(&mut line)) {
            Ok(()) => {
                line.push_str(TAIL);
                Ok(line.into())
            }
            Err(HandlerError::NotFound(why)) => Err(version.resource_error(uri, &why).into()),
            Err(HandlerError::UnknownUri) => Err(version.unknown_uri_error(uri).into()),
            Err(HandlerError::BadArgument(why)) => Err(invalid_uri(uri, &why).into()),
            Err(HandlerError::Coded { code, body, detail }) => {
                if let Some(detail) = detail {
                    log::error!("cannot read a resource uri={}: {detail}", row.uri);
                }
                Err(unread_uri(uri, code, &body).into())
            }
            Err(why) => {
                Err(failed(why, version, &format!("cannot read a resource uri={}", row.uri)))
            }
        }
    }

    /// Returns the result that asks the client before anything is done.
    fn questions(
        &self,
        id: &RequestId,
        request: &str,
        answers: InputResponses,
    ) -> OutgoingRpcMessageLine {
        let (used, open) = answers.into_seen();
        let mut body = self.with_common_fields(Version::V2026_07_28, Map::new(), None);
        body.insert("resultType".to_owned(), "input_required".into());
        body.insert("inputRequests".to_owned(), open.into());
        body.insert("requestState".to_owned(), self.state_signer.sign(request, &used).into());
        rpc::result_line(id, &Value::Object(body)).into()
    }
}

/// The reason why a queued request has no result.
enum FaultOrInputRequired {
    Fault(RpcError),
    /// The client has to answer first.
    InputRequired,
}

impl From<RpcError> for FaultOrInputRequired {
    fn from(fault: RpcError) -> FaultOrInputRequired {
        FaultOrInputRequired::Fault(fault)
    }
}

fn gone() -> RpcError {
    RpcError::new(RpcError::INTERNAL_ERROR, "internal error; the server's log says more")
}

/// Converts the error of a resource or a prompt; `what` names the attempt for the log.
fn failed(why: HandlerError, version: Version, what: &str) -> FaultOrInputRequired {
    FaultOrInputRequired::Fault(match why {
        HandlerError::Open => return FaultOrInputRequired::InputRequired,
        HandlerError::BadArgument(text)
        | HandlerError::NotFound(text)
        | HandlerError::Coded { body: text, .. } => RpcError::new(RpcError::INVALID_PARAMS, text),
        HandlerError::UnknownUri => {
            RpcError::new(RpcError::INVALID_PARAMS, "no resource has that URI")
        }
        HandlerError::Cancelled => RpcError::new(RpcError::INTERNAL_ERROR, "cancelled"),
        HandlerError::Needs(capability) if version.is_modern() => missing_capability(capability),
        HandlerError::Needs(capability) => {
            RpcError::new(RpcError::INVALID_REQUEST, missing_capability(capability).message)
        }
        HandlerError::Unavailable(text) => {
            log::error!("{what}: {text}");
            RpcError::new(RpcError::INTERNAL_ERROR, text)
        }
        HandlerError::Internal(detail) => {
            log::error!("{what}: {detail}");
            gone()
        }
    })
}
