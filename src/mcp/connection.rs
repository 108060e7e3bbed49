//! One client: what it has said so far, and what a frame of it asks for.
//!
//! Everything that is quick is answered on the spot, in order: the handshake, `ping`, the lists,
//! cancellation, subscriptions. What the surface does becomes a job, so that a slow one holds up
//! nothing but itself.

use crossbeam_channel::Receiver;
use serde_json::{Map, Value};

use super::call::{InFlight, Told};
use super::job::Task;
use super::server_requests::{Answers, Asking, Questions};
use super::subscription::Subscriptions;
use super::version::{Meta, neither_era, supported};
use super::{
    Act, Call, Caller, Capabilities, Client, Job, LIST_CACHE, Level, Line, Method, Outbox, Seen,
    Server, Surface, Version,
};
use crate::mcp::rpc::{Fault, Frame, Id, Message, Notification, Params, Request, result_line};
use crate::text;

/// What is to be done about a frame.
#[derive(Debug)]
pub(crate) enum Step {
    /// Nothing.
    Quiet,
    /// Send this line.
    Say(Line),
    /// Send this line and keep what it answers open: more comes as news, until it is cancelled or
    /// the connection says farewell.
    Listen(Line),
    /// Run this, on any thread, and send the line that comes out.
    Run(Box<Job>),
}

/// How far the handshake of the legacy era has come.
#[derive(Debug)]
enum Session {
    Fresh,
    Ready { version: Version, level: Option<Level>, capabilities: Capabilities },
}

/// The state of one client.
#[derive(Debug)]
pub(crate) struct Connection {
    session: Session,
    is_open: bool,
    /// It has just said which log messages it wants.
    begins_to_listen: bool,
    in_flight: InFlight,
    /// What it was asked and has not answered; only the legacy era is asked so.
    questions: Questions,
    subscriptions: Subscriptions,
    /// What the transport calls this connection; no other of its time is called so.
    id: String,
    /// Who the client says it is, as of its latest word on that.
    client: Client,
}

impl Connection {
    /// A client that has not said anything, under a name that no other of its time has.
    pub(crate) fn new(id: impl Into<String>) -> Connection {
        Connection {
            session: Session::Fresh,
            is_open: false,
            begins_to_listen: false,
            in_flight: InFlight::default(),
            questions: Questions::default(),
            subscriptions: Subscriptions::default(),
            id: id.into(),
            client: Client::default(),
        }
    }

    /// Tells the surface that the client has gone.
    pub(crate) fn close<S: Surface>(&self, server: &Server<S>) {
        self.stop_asking();
        self.cancel_all();
        server.surface.left(&self.id);
    }

    /// Whether the client has been understood once: shaken hands, or sent a modern request.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Cancels one call.
    #[cfg(feature = "http")]
    pub(crate) fn cancel(&self, id: &Id) {
        self.in_flight.cancel(id);
    }

    /// Cancels whatever runs.
    pub(crate) fn cancel_all(&self) {
        self.in_flight.cancel_all();
    }

    /// Gives up the questions to the client: it says nothing more.
    pub(crate) fn stop_asking(&self) {
        self.questions.close();
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

    /// A message when there is news for the client, for the one transport that it has.
    pub(crate) fn wakes<S: Surface>(&self, server: &Server<S>) -> Receiver<()> {
        if let Some(bell) = server.surface.bell() {
            bell.wake(self.subscriptions.waker());
        }
        self.subscriptions.woken().clone()
    }

    /// What the client is to be told now and did not ask for: resources that changed, and notices.
    pub(crate) fn news<S: Surface>(&self, server: &Server<S>) -> Vec<Line> {
        let mut lines = self.subscriptions.news();
        lines.extend(self.notice(server));
        lines
    }

    /// The results of requests that were kept open, at an end that the server chooses.
    pub(crate) fn farewell(&self) -> Vec<Line> {
        self.subscriptions.farewell()
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
                        log::debug!("refused id={} code={}", id.logged(), fault.code);
                        Step::Say(Line::error(Some(&id), &fault))
                    }
                }
            }
            Ok(Message::Notification(notification)) => {
                self.note(&notification);
                Step::Quiet
            }
            Ok(Message::Response(response)) => {
                self.questions.settle(&response.id, response.outcome);
                Step::Quiet
            }
            Ok(Message::Idle) => Step::Quiet,
            Err(refusal) => {
                log::warn!("refused a line code={}", refusal.fault.code);
                Step::Say(Line::error(refusal.id.as_ref(), &refusal.fault))
            }
        }
    }

    /// Notifications are never answered, not even wrong ones.
    fn note(&mut self, notification: &Notification) {
        if notification.method != "notifications/cancelled" {
            return;
        }
        if let Some(id) = notification.params.get("requestId").and_then(Id::of_value) {
            log::debug!("cancelled id={}", id.logged());
            self.in_flight.cancel(&id);
            self.subscriptions.cancel(&id);
        }
    }

    fn answer<S: Surface>(
        &mut self,
        server: &Server<S>,
        request: Request,
        outbox: &Outbox,
    ) -> Result<Step, Fault> {
        let Request { id, method: name, mut params } = request;
        let Some(method) = Method::parse(&name) else {
            // Not its name: that may be anything.
            log::debug!("request method=unknown id={}", id.logged());
            return Err(unknown_method(&name));
        };
        let (target, method_name) = (method.target(), method.as_str());
        log::debug!(target: target, "request method={method_name} id={}", id.logged());
        let mut meta = Meta::read(&params)?;
        if let Some(client) = meta.client.take() {
            self.client = client;
        }
        let version = self.version(method, &meta)?;
        if !method.is_known(version, server) {
            return Err(unknown_method(&name));
        }
        self.is_open |= meta.version.is_some();
        if method != Method::Initialize {
            self.report(server, method, version);
        }
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
            Method::ListTools
            | Method::ListResources
            | Method::ListTemplates
            | Method::ListPrompts => (server.list(method, version, &params)?, Some(LIST_CACHE)),
            Method::CallTool | Method::ReadResource | Method::GetPrompt | Method::Complete => {
                let task = Task::read(server, method, version, &mut params)?;
                let told = self.told(server, &task, meta, params)?;
                return self.begin(id, task, version, told, outbox);
            }
            Method::Subscribe => (self.subscriptions.subscribe(server, &params)?, None),
            Method::Unsubscribe => (self.subscriptions.unsubscribe(server, &params)?, None),
            Method::Listen => {
                let (ticket, _) = self.in_flight.admit(&id).ok_or_else(in_use)?;
                let line = self.subscriptions.listen(server, id, ticket, &params)?;
                return Ok(Step::Listen(line));
            }
        };
        let body = Value::Object(server.dress(version, body, cache));
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
        let capabilities = Capabilities::read(params.get("capabilities"));
        self.session = Session::Ready { version, level: None, capabilities };
        self.client = Client::read(params.get("clientInfo"));
        self.is_open = true;
        log::info!("initialized version={}", version.as_str());
        let mut body = Map::new();
        body.insert("protocolVersion".to_owned(), version.as_str().into());
        body.insert("capabilities".to_owned(), server.capabilities());
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

    /// How the request wants to be told and asked: the modern era says so with each request, the
    /// legacy era once.
    fn told<S: Surface>(
        &self,
        server: &Server<S>,
        task: &Task,
        meta: Meta,
        mut params: Params,
    ) -> Result<Told, Fault> {
        let Meta { version, level, progress_token, capabilities, .. } = meta;
        if version.is_some() {
            let answers = answers(server, task, &mut params)?;
            let asking = Asking::Anew(Box::new(Answers::new(answers)));
            return Ok(Told { level, progress_token, capabilities, asking });
        }
        let (level, capabilities) = match self.session {
            Session::Ready { level, capabilities, .. } => (level, capabilities),
            Session::Fresh => (None, Capabilities::default()),
        };
        let asking = Asking::Aloud(self.questions.clone());
        Ok(Told { level, progress_token, capabilities, asking })
    }

    fn begin(
        &self,
        id: Id,
        task: Task,
        version: Version,
        told: Told,
        outbox: &Outbox,
    ) -> Result<Step, Fault> {
        let (ticket, cancelled) = self.in_flight.admit(&id).ok_or_else(in_use)?;
        let call = Call::new(cancelled, outbox.clone(), told);
        let caller = Caller { connection: self.id.clone(), client: self.client.clone(), version };
        Ok(Step::Run(Box::new(Job { id, task, caller, call, ticket })))
    }
}

/// The answers that a request brings along, with those of its earlier rounds.
fn answers<S: Surface>(
    server: &Server<S>,
    task: &Task,
    params: &mut Params,
) -> Result<Map<String, Value>, Fault> {
    let mut answers = match params.get("requestState") {
        None => Map::new(),
        Some(Value::String(sealed)) => server.seal.open(&task.fingerprint(), sealed)?,
        Some(_) => return Err(Fault::new(Fault::PARAMS, "`requestState` must be a string")),
    };
    match params.remove("inputResponses") {
        None => (),
        Some(Value::Object(given)) => answers.extend(given),
        Some(_) => return Err(Fault::new(Fault::PARAMS, "`inputResponses` must be an object")),
    }
    Ok(answers)
}

fn discover<S: Surface>(server: &Server<S>) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("supportedVersions".to_owned(), supported());
    body.insert("capabilities".to_owned(), server.capabilities());
    body.insert("instructions".to_owned(), server.about.instructions.into());
    body
}

fn in_use() -> Fault {
    Fault::new(Fault::REQUEST, "the id is that of a request that has not been answered")
}

fn unknown_method(name: &str) -> Fault {
    Fault::new(Fault::METHOD, format!("unknown method `{}`", text::cut(name, 40)))
}
