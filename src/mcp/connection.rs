//! One client: what it has said so far, and what a frame of it asks for.
//!
//! Everything that is quick is answered on the spot, in order: the handshake, `ping`, the lists,
//! cancellation. Only tool calls become jobs, so that a slow one holds up nothing but itself.

use serde_json::{Map, Value, json};

use super::call::InFlight;
use super::version::{Meta, neither_era, supported};
use super::{
    Act, Call, Caller, Client, Job, LIST_TTL_MS, Level, Line, Outbox, Seen, Server, Surface,
    Version, capabilities,
};
use crate::rpc::{
    Fault, Frame, Id, Message, Notification, Params, Request, error_line, result_line,
};
use crate::text;

/// What is to be done about a frame.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing.
    Quiet,
    /// Send this line.
    Say(Line),
    /// Run this, on any thread, and send the line that comes out.
    Run(Box<Job>),
}

/// How far the handshake of the legacy era has come.
#[derive(Debug)]
enum Session {
    Fresh,
    Ready { version: Version, level: Option<Level> },
}

/// The state of one client.
#[derive(Debug)]
pub(crate) struct Connection {
    session: Session,
    is_open: bool,
    /// It has just said which log messages it wants.
    begins_to_listen: bool,
    in_flight: InFlight,
    /// What the transport calls this connection; no other of its time is called so.
    id: String,
    /// Who the client says it is, as of its latest word on that.
    client: Client,
}

/// A method that the engine knows, with the era that knows it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Method {
    Initialize,
    Ping,
    SetLevel,
    Discover,
    ListTools,
    CallTool,
}

impl Method {
    fn parse(name: &str) -> Option<Method> {
        match name {
            "initialize" => Some(Method::Initialize),
            "ping" => Some(Method::Ping),
            "logging/setLevel" => Some(Method::SetLevel),
            "server/discover" => Some(Method::Discover),
            "tools/list" => Some(Method::ListTools),
            "tools/call" => Some(Method::CallTool),
            _ => None,
        }
    }

    fn is_known_to(self, version: Version) -> bool {
        match self {
            Method::Initialize | Method::Ping | Method::SetLevel => !version.is_modern(),
            Method::Discover => version.is_modern(),
            Method::ListTools | Method::CallTool => true,
        }
    }
}

impl Connection {
    /// A client that has not said anything, under a name that no other of its time has.
    pub(crate) fn new(id: impl Into<String>) -> Connection {
        Connection {
            session: Session::Fresh,
            is_open: false,
            begins_to_listen: false,
            in_flight: InFlight::default(),
            id: id.into(),
            client: Client::default(),
        }
    }

    /// Tells the surface that the client has gone.
    pub(crate) fn close<S: Surface>(&self, server: &Server<S>) {
        self.cancel_all();
        server.surface.left(&self.id);
    }

    /// Whether the client has been understood once: shaken hands, or sent a modern request.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Cancels whatever runs.
    pub(crate) fn cancel_all(&self) {
        self.in_flight.cancel_all();
    }

    /// Whether the client has said since the last time which log messages it wants.
    pub(crate) fn begins_to_listen(&mut self) -> bool {
        std::mem::take(&mut self.begins_to_listen)
    }

    /// What the client should know and did not ask for, when it wants such messages: in the legacy
    /// era, once it has said so.
    pub(crate) fn notice<S: Surface>(&self, server: &Server<S>) -> Option<Line> {
        let Session::Ready { level: Some(wanted), .. } = self.session else { return None };
        let notice = server.surface.notice(None)?;
        (wanted <= notice.level).then(|| notice.into_line())
    }

    /// Takes the next frame. What belongs to its answer and comes before it, such as progress, goes
    /// to `outbox`.
    pub(crate) fn accept<S: Surface>(
        &mut self,
        server: &Server<S>,
        frame: Frame,
        outbox: &Outbox,
    ) -> Step {
        match frame {
            Ok(Message::Request(request)) => {
                let id = request.id.clone();
                match self.answer(server, request, outbox) {
                    Ok(step) => step,
                    Err(fault) => {
                        log::debug!("refused id={id} code={}", fault.code);
                        Step::Say(error_line(Some(&id), &fault).into())
                    }
                }
            }
            Ok(Message::Notification(notification)) => {
                self.note(&notification);
                Step::Quiet
            }
            Ok(Message::Idle) => Step::Quiet,
            Err(refusal) => {
                log::warn!("refused a line code={}", refusal.fault.code);
                Step::Say(error_line(refusal.id.as_ref(), &refusal.fault).into())
            }
        }
    }

    /// Notifications are never answered, not even wrong ones.
    fn note(&mut self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        if let Some(id) = notification.params.get("requestId").and_then(Id::of_value) {
            log::debug!("cancelled id={id}");
            self.in_flight.cancel(&id);
        }
    }

    fn answer<S: Surface>(
        &mut self,
        server: &Server<S>,
        request: Request,
        outbox: &Outbox,
    ) -> Result<Step, Fault> {
        let Request { id, method: name, params } = request;
        log::debug!("request method={} id={id}", text::cut(&name, 40));
        let Some(method) = Method::parse(&name) else {
            return Err(unknown_method(&name));
        };
        let mut meta = Meta::read(&params)?;
        if let Some(client) = meta.client.take() {
            self.client = client;
        }
        let version = self.version(method, &meta)?;
        if !method.is_known_to(version) {
            return Err(unknown_method(&name));
        }
        self.is_open |= meta.version.is_some();
        if method != Method::Initialize {
            self.report(server, method, version);
        }
        let (body, ttl_ms) = match method {
            Method::Initialize => {
                let body = self.initialize(server, &params)?;
                let chosen = self.version(method, &meta)?;
                self.report(server, method, chosen);
                (body, None)
            }
            Method::Ping => (Map::new(), None),
            Method::SetLevel => (self.set_level(&params)?, None),
            Method::Discover => (discover(server), Some(LIST_TTL_MS)),
            Method::ListTools => (list_tools(server, version, &params)?, Some(LIST_TTL_MS)),
            Method::CallTool => {
                return self.call_tool(server, id, version, meta, params, outbox);
            }
        };
        let body = Value::Object(server.dress(version, body, ttl_ms));
        Ok(Step::Say(result_line(&id, &body).into()))
    }

    /// Tells the surface that the client is there. The handshake is told once it was understood.
    fn report<S: Surface>(&self, server: &Server<S>, method: Method, version: Version) {
        let act = match method {
            Method::Ping => return,
            Method::CallTool => Act::CallsTool,
            _ => Act::Asks,
        };
        server.surface.saw(&Seen { connection: &self.id, client: &self.client, version, act });
    }

    /// The version that a request is in.
    fn version(&self, method: Method, meta: &Meta) -> Result<Version, Fault> {
        match (meta.version, &self.session, method) {
            (Some(version), _, _) => Ok(version),
            (None, Session::Ready { version, .. }, _) => Ok(*version),
            (None, Session::Fresh, Method::Initialize | Method::Ping) => Ok(Version::LEGACY_LATEST),
            (None, Session::Fresh, _) => Err(neither_era()),
        }
    }

    fn initialize<S: Surface>(
        &mut self,
        server: &Server<S>,
        params: &Params,
    ) -> Result<Map<String, Value>, Fault> {
        if let Session::Ready { version, .. } = self.session {
            let message = format!("already initialized with {}", version.as_str());
            return Err(Fault::new(Fault::REQUEST, message));
        }
        let version = match params.get("protocolVersion") {
            None | Some(Value::Null) => Version::LEGACY_LATEST,
            Some(Value::String(name)) => match Version::parse(name) {
                Some(version) if !version.is_modern() => version,
                _ => Version::LEGACY_LATEST,
            },
            Some(_) => return Err(Fault::new(Fault::PARAMS, "`protocolVersion` must be a string")),
        };
        self.session = Session::Ready { version, level: None };
        self.client = Client::read(params.get("clientInfo"));
        self.is_open = true;
        log::info!("initialized version={}", version.as_str());
        let mut body = Map::new();
        body.insert("protocolVersion".to_owned(), version.as_str().into());
        body.insert("capabilities".to_owned(), capabilities());
        body.insert("serverInfo".to_owned(), server.info());
        body.insert("instructions".to_owned(), server.about.instructions.into());
        Ok(body)
    }

    fn set_level(&mut self, params: &Params) -> Result<Map<String, Value>, Fault> {
        let wanted = Level::read(params.get("level").unwrap_or(&Value::Null))?;
        if let Session::Ready { level, .. } = &mut self.session {
            *level = Some(wanted);
            self.begins_to_listen = true;
        }
        Ok(Map::new())
    }

    fn call_tool<S: Surface>(
        &mut self,
        server: &Server<S>,
        id: Id,
        version: Version,
        meta: Meta,
        mut params: Params,
        outbox: &Outbox,
    ) -> Result<Step, Fault> {
        let Some(Value::String(name)) = params.get("name") else {
            return Err(Fault::new(Fault::PARAMS, "`name` must be a string, the tool's"));
        };
        let Some(tool_idx) = server.tools.iter().position(|tool| tool.name == name) else {
            let names: Vec<&str> = server.tools.iter().map(|tool| tool.name).collect();
            let (name, names) = (text::cut(name, 40), names.join(", "));
            let message = format!("unknown tool `{name}`; there are: {names}");
            return Err(Fault::new(Fault::PARAMS, message));
        };
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(_) => return Err(Fault::new(Fault::PARAMS, "`arguments` must be an object")),
        };
        let Some((ticket, cancelled)) = self.in_flight.admit(&id) else {
            let message = "the id is that of a request that has not been answered";
            return Err(Fault::new(Fault::REQUEST, message));
        };
        // The modern era asks for log messages with each request, the legacy era once.
        let level = match self.session {
            Session::Ready { level, .. } if meta.version.is_none() => level,
            _ => meta.level,
        };
        let call = Call::new(cancelled, level, meta.progress_token, outbox.clone());
        let caller = Caller { connection: self.id.clone(), client: self.client.clone(), version };
        Ok(Step::Run(Box::new(Job { id, tool_idx, arguments, caller, call, ticket })))
    }
}

fn discover<S: Surface>(server: &Server<S>) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("supportedVersions".to_owned(), supported());
    body.insert("capabilities".to_owned(), capabilities());
    body.insert("instructions".to_owned(), server.about.instructions.into());
    body
}

fn list_tools<S: Surface>(
    server: &Server<S>,
    version: Version,
    params: &Params,
) -> Result<Map<String, Value>, Fault> {
    match params.get("cursor") {
        None | Some(Value::Null) => {
            let tools = json!(server.tools_json(version));
            Ok(Map::from_iter([("tools".to_owned(), tools)]))
        }
        // The whole list is one page, so that no cursor was ever given out.
        Some(_) => Err(Fault::new(Fault::PARAMS, "unknown `cursor`; leave it out")),
    }
}

fn unknown_method(name: &str) -> Fault {
    Fault::new(Fault::METHOD, format!("unknown method `{}`", text::cut(name, 40)))
}
