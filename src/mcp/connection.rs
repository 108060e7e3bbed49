//! One client: the state of its connection, and the handling of its frames.
//!
//! Quick requests are answered at once, in order: the handshake, `ping`, the lists, cancellation,
//! subscriptions. The work of the handler becomes a queued request, so that a slow one delays
//! nothing else.

use crossbeam_channel::Receiver;
use serde_json::{Map, Value};

use super::call_context::RequestOptions;
use super::in_flight::InFlight;
use super::queued_request::QueuedRequestTask;
use super::server_requests::{InputResponses, PendingRequests, ServerRequestMode};
use super::subscription::SubscriptionMailbox;
use super::version::{RequestMeta, supported_versions, unknown_era_error};
use super::{
    CallContext, ClientActivity, ClientCapabilities, ClientInfo, ClientRequestEvent, Handler,
    LIST_CACHE, Method, Outbox, OutgoingRpcMessageLine, QueuedRequest, READ_CACHE, Server,
    Severity, ToolCallOrOtherRequest, Version,
};
use crate::mcp::rpc::{
    FrameResult, Message, Notification, Params, Request, RequestId, RpcError, result_line,
};
use crate::text;

/// The transport's next step after a frame.
#[derive(Debug)]
pub(crate) enum TransportAction {
    /// Send nothing.
    NoReply,
    /// Send this line.
    Reply(OutgoingRpcMessageLine),
    /// Send this line and keep the request open. Notifications follow until it is cancelled or the
    /// connection ends its subscriptions.
    Listen(OutgoingRpcMessageLine),
    /// Run this, on any thread, and send the resulting line.
    Run(Box<QueuedRequest>),
}

/// The state of the handshake in the legacy era.
#[derive(Debug)]
enum HandshakeState {
    Fresh,
    Ready { version: Version, level: Option<Severity>, capabilities: ClientCapabilities },
}

/// The state of one client.
#[derive(Debug)]
pub(crate) struct Connection {
    session: HandshakeState,
    is_open: bool,
    /// The client has just set its log level.
    begins_to_listen: bool,
    in_flight: InFlight,
    /// Requests to the client that it has not answered; legacy era only.
    questions: PendingRequests,
    subscriptions: SubscriptionMailbox,
    /// The transport's name of this connection, unique among open ones.
    id: String,
    /// The client's latest description of itself.
    client: ClientInfo,
}

impl Connection {
    /// Returns the state of a new client, under a name that is unique among open connections.
    pub(crate) fn new(id: impl Into<String>) -> Connection {
        Connection {
            session: HandshakeState::Fresh,
            is_open: false,
            begins_to_listen: false,
            in_flight: InFlight::default(),
            questions: PendingRequests::default(),
            subscriptions: SubscriptionMailbox::default(),
            id: id.into(),
            client: ClientInfo::default(),
        }
    }

    /// Ends the connection, and records that for the handler.
    pub(crate) fn close<S: Handler>(&self, server: &Server<S>) {
        self.stop_asking();
        self.cancel_all();
        server.handler.note(ClientActivity::Left(&self.id));
    }

    /// Returns whether the client has shaken hands or sent a modern request.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Cancels one call.
    #[cfg(feature = "http")]
    pub(crate) fn cancel(&self, id: &RequestId) {
        self.in_flight.cancel(id);
    }

    /// Cancels all running calls.
    pub(crate) fn cancel_all(&self) {
        self.in_flight.cancel_all();
    }

    /// Gives up waiting for answers of the client.
    pub(crate) fn stop_asking(&self) {
        self.questions.close();
    }

    /// Returns whether the client has set its log level since the last call.
    pub(crate) fn take_log_level_change(&mut self) -> bool {
        std::mem::take(&mut self.begins_to_listen)
    }

    /// Returns a notice as a log message, for a legacy client that has set its level.
    pub(crate) fn notice<S: Handler>(&self, server: &Server<S>) -> Option<OutgoingRpcMessageLine> {
        let HandshakeState::Ready { level: Some(wanted), .. } = self.session else { return None };
        let notice = server.handler.notice(None)?;
        (wanted <= notice.level).then(|| notice.into_line())
    }

    /// Returns a channel with a message when there are updates, for the connection's one
    /// transport.
    pub(crate) fn wakeups<S: Handler>(&self, server: &Server<S>) -> Receiver<()> {
        server.waker.add_sender(self.subscriptions.waker());
        self.subscriptions.wakeups().clone()
    }

    /// Returns the pending notifications: updates of resources, and notices.
    pub(crate) fn pending_updates<S: Handler>(
        &self,
        server: &Server<S>,
    ) -> Vec<OutgoingRpcMessageLine> {
        let mut lines = self.subscriptions.pending_updates();
        lines.extend(self.notice(server));
        lines
    }

    /// Ends the open requests; returns their results.
    pub(crate) fn end_subscriptions(&self) -> Vec<OutgoingRpcMessageLine> {
        self.subscriptions.end_all()
    }

    /// Handles the next frame. Lines that precede its reply, such as progress, go to `outbox`.
    pub(crate) fn accept_frame<S: Handler>(
        &mut self,
        server: &Server<S>,
        frame: FrameResult,
        outbox: &Outbox,
    ) -> TransportAction {
        match frame {
            Ok(Message::Request(request)) => {
                let id = request.id.clone();
                match self.answer(server, request, outbox) {
                    Ok(step) => step,
                    Err(fault) => {
                        log::debug!("refused id={} code={}", id.logged(), fault.code);
                        TransportAction::Reply(OutgoingRpcMessageLine::error(Some(&id), &fault))
                    }
                }
            }
            Ok(Message::Notification(notification)) => {
                self.note(&notification);
                TransportAction::NoReply
            }
            Ok(Message::Response(response)) => {
                self.questions.resolve(&response.id, response.outcome);
                TransportAction::NoReply
            }
            Ok(Message::Ignored) => TransportAction::NoReply,
            Err(refusal) => {
                log::warn!("refused a line code={}", refusal.fault.code);
                TransportAction::Reply(OutgoingRpcMessageLine::error(
                    refusal.id.as_ref(),
                    &refusal.fault,
                ))
            }
        }
    }

    /// Handles a notification; none is ever answered, not even a wrong one.
    fn note(&mut self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        if let Some(id) = notification.params.get("requestId").and_then(RequestId::of_value) {
            log::debug!("cancelled id={}", id.logged());
            self.in_flight.cancel(&id);
            self.subscriptions.cancel(&id);
        }
    }

    fn answer<S: Handler>(
        &mut self,
        server: &Server<S>,
        request: Request,
        outbox: &Outbox,
    ) -> Result<TransportAction, RpcError> {
        let Request { id, method: name, mut params } = request;
        let Some(method) = Method::parse(&name) else {
            // The name is not logged: it may be anything.
            log::debug!("request method=unknown id={}", id.logged());
            return Err(unknown_method(&name));
        };
        let (target, method_name) = (method.target(), method.as_str());
        log::debug!(target: target, "request method={method_name} id={}", id.logged());
        let mut meta = RequestMeta::read(&params)?;
        if let Some(client) = meta.client.take() {
            self.client = client;
        }
        let version = self.version(method, &meta)?;
        if !method.is_known(version, server) {
            return Err(unknown_method(&name));
        }
        self.is_open |= meta.version.is_some();
        let session = match method {
            Method::Initialize => None,
            _ => self.report(server, method, version),
        };
        let (body, cache) = match method {
            Method::Initialize => {
                let body = self.initialize(server, &params)?;
                let chosen = self.version(method, &meta)?;
                self.report(server, method, chosen);
                (body, None)
            }
            Method::Ping => (Map::new(), None),
            Method::SetLevel => (self.set_level(&params)?, None),
            Method::Discover => (discover(server), Some(LIST_CACHE)),
            Method::ListTools | Method::ListTemplates | Method::ListPrompts => {
                (server.list(method, version, &params)?, Some(LIST_CACHE))
            }
            Method::ListResources => (server.list(method, version, &params)?, Some(READ_CACHE)),
            Method::CallTool | Method::ReadResource | Method::GetPrompt | Method::Complete => {
                let task = QueuedRequestTask::read(server, method, version, &mut params)?;
                let request_context = self.request_context(server, &task, meta, params)?;
                return self.begin(id, task, (version, session), request_context, outbox);
            }
            Method::Subscribe => (self.subscriptions.subscribe(server, &params)?, None),
            Method::Unsubscribe => (self.subscriptions.unsubscribe(server, &params)?, None),
            Method::Listen => {
                let (ticket, _) = self.in_flight.admit(&id).ok_or_else(in_use)?;
                let line = self.subscriptions.listen(server, id, ticket, &params)?;
                return Ok(TransportAction::Listen(line));
            }
        };
        let body = Value::Object(server.with_common_fields(version, body, cache));
        Ok(TransportAction::Reply(result_line(&id, &body).into()))
    }

    /// Records a request with the handler; returns its session. A handshake is recorded once it is
    /// valid.
    fn report<S: Handler>(
        &self,
        server: &Server<S>,
        method: Method,
        version: Version,
    ) -> Option<String> {
        let act = match method {
            Method::Ping => return None,
            Method::CallTool => ToolCallOrOtherRequest::CallsTool,
            _ => ToolCallOrOtherRequest::Asks,
        };
        server.handler.on_request(&ClientRequestEvent {
            connection: &self.id,
            client: &self.client,
            version,
            act,
        })
    }

    /// Returns the version of a request.
    fn version(&self, method: Method, meta: &RequestMeta) -> Result<Version, RpcError> {
        match (meta.version, &self.session, method) {
            (Some(version), _, _) => Ok(version),
            (None, HandshakeState::Ready { version, .. }, _) => Ok(*version),
            (None, HandshakeState::Fresh, Method::Initialize | Method::Ping) => {
                Ok(Version::LEGACY_LATEST)
            }
            (None, HandshakeState::Fresh, _) => Err(unknown_era_error()),
        }
    }

    fn initialize<S: Handler>(
        &mut self,
        server: &Server<S>,
        params: &Params,
    ) -> Result<Map<String, Value>, RpcError> {
        if let HandshakeState::Ready { version, .. } = self.session {
            let message = format!("already initialized with {}", version.as_str());
            return Err(RpcError::new(RpcError::INVALID_REQUEST, message));
        }
        let version = match params.get("protocolVersion") {
            None | Some(Value::Null) => Version::LEGACY_LATEST,
            Some(Value::String(name)) => match Version::parse(name) {
                Some(version) if !version.is_modern() => version,
                _ => Version::LEGACY_LATEST,
            },
            Some(_) => {
                return Err(RpcError::new(
                    RpcError::INVALID_PARAMS,
                    "`protocolVersion` must be a string",
                ));
            }
        };
        let capabilities = ClientCapabilities::read(params.get("capabilities"));
        self.session = HandshakeState::Ready { version, level: None, capabilities };
        self.client = ClientInfo::read(params.get("clientInfo"));
        self.is_open = true;
        log::info!("initialized version={}", version.as_str());
        let mut body = Map::new();
        body.insert("protocolVersion".to_owned(), version.as_str().into());
        body.insert("capabilities".to_owned(), server.capabilities());
        body.insert("serverInfo".to_owned(), server.info());
        body.insert("instructions".to_owned(), server.about.instructions.into());
        Ok(body)
    }

    fn set_level(&mut self, params: &Params) -> Result<Map<String, Value>, RpcError> {
        let wanted = Severity::read(params.get("level").unwrap_or(&Value::Null))?;
        if let HandshakeState::Ready { level, .. } = &mut self.session {
            *level = Some(wanted);
            self.begins_to_listen = true;
        }
        Ok(Map::new())
    }

    /// Returns the settings of a request. The modern era sends them with each request, the legacy
    /// era once.
    fn request_context<S: Handler>(
        &self,
        server: &Server<S>,
        task: &QueuedRequestTask,
        meta: RequestMeta,
        mut params: Params,
    ) -> Result<RequestOptions, RpcError> {
        let RequestMeta { version, level, progress_token, capabilities, .. } = meta;
        if version.is_some() {
            let answers = answers(server, task, &mut params)?;
            let asking = ServerRequestMode::Retry(Box::new(InputResponses::new(answers)));
            return Ok(RequestOptions { level, progress_token, capabilities, asking });
        }
        let (level, capabilities) = match self.session {
            HandshakeState::Ready { level, capabilities, .. } => (level, capabilities),
            HandshakeState::Fresh => (None, ClientCapabilities::default()),
        };
        let asking = ServerRequestMode::ServerRequest(self.questions.clone());
        Ok(RequestOptions { level, progress_token, capabilities, asking })
    }

    fn begin(
        &self,
        id: RequestId,
        task: QueuedRequestTask,
        (version, session): (Version, Option<String>),
        request_context: RequestOptions,
        outbox: &Outbox,
    ) -> Result<TransportAction, RpcError> {
        let (ticket, cancelled) = self.in_flight.admit(&id).ok_or_else(in_use)?;
        let call = CallContext::new(cancelled, outbox.clone(), request_context);
        Ok(TransportAction::Run(Box::new(QueuedRequest {
            id,
            task,
            version,
            session,
            call,
            ticket,
        })))
    }
}

/// Returns the answers in a request, with those of its earlier rounds.
fn answers<S: Handler>(
    server: &Server<S>,
    task: &QueuedRequestTask,
    params: &mut Params,
) -> Result<Map<String, Value>, RpcError> {
    let mut answers = match params.get("requestState") {
        None => Map::new(),
        Some(Value::String(signed)) => {
            server.state_signer.verify(&task.request_digest(), signed)?
        }
        Some(_) => {
            return Err(RpcError::new(RpcError::INVALID_PARAMS, "`requestState` must be a string"));
        }
    };
    match params.remove("inputResponses") {
        None => (),
        Some(Value::Object(given)) => answers.extend(given),
        Some(_) => {
            return Err(RpcError::new(
                RpcError::INVALID_PARAMS,
                "`inputResponses` must be an object",
            ));
        }
    }
    Ok(answers)
}

fn discover<S: Handler>(server: &Server<S>) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("supportedVersions".to_owned(), supported_versions());
    body.insert("capabilities".to_owned(), server.capabilities());
    body.insert("instructions".to_owned(), server.about.instructions.into());
    body
}

fn in_use() -> RpcError {
    RpcError::new(
        RpcError::INVALID_REQUEST,
        "the id is that of a request that has not been answered",
    )
}

fn unknown_method(name: &str) -> RpcError {
    RpcError::new(
        RpcError::METHOD_NOT_FOUND,
        format!("unknown method `{}`", text::truncate_chars(name, 40)),
    )
}
