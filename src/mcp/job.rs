//! Requests that take their time: found in order by the connection, done on any thread.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value, json};

use super::call::Ticket;
use super::content::error_json;
use super::errors::{bad_uri, missing_capability, no_resource};
use super::method::Method;
use super::server_requests::Answers;
use super::{
    Call, Called, Caller, Completing, Line, READ_CACHE, ReadError, Server, Subject, Surface,
    ToolError, Version, client, input_schema,
};
use crate::mcp::rpc::{self, Escaped, Fault, Id, Params};
use crate::mcp::uri::{self, UriError, Vars};
use crate::text;

/// Values of one completion, as the protocol bounds them.
const COMPLETIONS_MAX: usize = 100;

/// A request that was found in order and waits for a thread.
#[derive(Debug)]
pub(crate) struct Job {
    pub(super) id: Id,
    pub(super) task: Task,
    pub(super) caller: Caller,
    pub(super) call: Call,
    pub(super) ticket: Ticket,
}

/// What a job does.
#[derive(Debug)]
pub(super) enum Task {
    Tool { idx: usize, arguments: Params },
    Read { idx: usize, uri: String, vars: Vars },
    Prompt { idx: usize, arguments: Params },
    Complete { subject: Subject, argument: String, value: String, others: Params },
}

impl Job {
    /// The request's id, for the log.
    pub(crate) fn id(&self) -> &Id {
        &self.id
    }

    /// The target of what is logged about it.
    pub(crate) fn target(&self) -> &'static str {
        match self.task {
            Task::Read { .. } => Method::ReadResource.target(),
            _ => module_path!(),
        }
    }
}

impl Task {
    /// What a request of `method` asks for, if it can be done.
    pub(super) fn read<S: Surface>(
        server: &Server<S>,
        method: Method,
        version: Version,
        params: &mut Params,
    ) -> Result<Task, Fault> {
        match method {
            Method::ReadResource => read_task(server, version, params),
            Method::GetPrompt => {
                let names = || server.prompts.iter().map(|it| it.name);
                let idx = named("prompt", names, params)?;
                Ok(Task::Prompt { idx, arguments: arguments(params)? })
            }
            Method::Complete => complete_task(server, params),
            _ => {
                let names = || server.tools.iter().map(|it| it.name);
                let idx = named("tool", names, params)?;
                Ok(Task::Tool { idx, arguments: arguments(params)? })
            }
        }
    }

    /// What tells this task from others, for state that belongs to it alone.
    pub(super) fn fingerprint(&self) -> String {
        match self {
            Task::Tool { idx, arguments } => format!("tool {idx} {}", json!(arguments)),
            Task::Prompt { idx, arguments } => format!("prompt {idx} {}", json!(arguments)),
            Task::Read { uri, .. } => format!("read {uri}"),
            Task::Complete { .. } => String::new(),
        }
    }
}

/// The place of the row that `name` in `params` names.
fn named<N: Iterator<Item = &'static str>>(
    kind: &str,
    names: impl Fn() -> N,
    params: &Params,
) -> Result<usize, Fault> {
    let Some(Value::String(name)) = params.get("name") else {
        let message = format!("`name` must be a string, the {kind}'s");
        return Err(Fault::new(Fault::PARAMS, message));
    };
    names().position(|it| it == name).ok_or_else(|| {
        let (name, names) = (text::cut(name, 40), names().collect::<Vec<_>>().join(", "));
        Fault::new(Fault::PARAMS, format!("unknown {kind} `{name}`; there are: {names}"))
    })
}

fn arguments(params: &mut Params) -> Result<Params, Fault> {
    match params.remove("arguments") {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => Err(Fault::new(Fault::PARAMS, "`arguments` must be an object")),
    }
}

fn read_task<S: Surface>(
    server: &Server<S>,
    version: Version,
    params: &mut Params,
) -> Result<Task, Fault> {
    let Some(Value::String(uri)) = params.remove("uri") else {
        return Err(Fault::new(Fault::PARAMS, "`uri` must be a string, the resource's"));
    };
    match uri::find(server.resources.iter().map(|it| it.uri), &uri) {
        Ok((idx, vars)) => Ok(Task::Read { idx, uri, vars }),
        Err(UriError::Unknown) => {
            let why = format!("no resource is called `{}`", text::cut(&uri, 80));
            Err(no_resource(version, &uri, &why))
        }
        Err(UriError::Bad(why)) => Err(bad_uri(&uri, &why)),
    }
}

fn complete_task<S: Surface>(server: &Server<S>, params: &mut Params) -> Result<Task, Fault> {
    let bad = |message: &str| Fault::new(Fault::PARAMS, message);
    let member = |key: &str, name: &str| params.get(key)?.get(name)?.as_str().map(str::to_owned);
    let subject = match member("ref", "type").as_deref() {
        Some("ref/prompt") => {
            let name = member("ref", "name");
            let mut names = server.prompts.iter().map(|it| it.name);
            names.find(|it| name.as_deref() == Some(*it)).map(Subject::Prompt)
        }
        Some("ref/resource") => {
            let uri = member("ref", "uri");
            let mut uris = server.resources.iter().map(|it| it.uri);
            uris.find(|it| uri.as_deref() == Some(*it)).map(Subject::Resource)
        }
        _ => return Err(bad("`ref` must have a `type`: ref/prompt or ref/resource")),
    };
    let subject = subject.ok_or_else(|| bad("`ref` names nothing that is listed"))?;
    let argument = member("argument", "name").zip(member("argument", "value"));
    let (argument, value) =
        argument.ok_or_else(|| bad("`argument` must have a `name` and a `value`, both strings"))?;
    let others = params.get("context").and_then(|it| it.get("arguments")?.as_object());
    let others = others.cloned().unwrap_or_default();
    Ok(Task::Complete { subject, argument, value, others })
}

impl<S: Surface> Server<S> {
    /// What a job is about, for the log.
    pub(crate) fn name_of(&self, job: &Job) -> &'static str {
        let name = match &job.task {
            Task::Tool { idx, .. } => self.tools.get(*idx).map(|it| it.name),
            Task::Read { idx, .. } => self.resources.get(*idx).map(|it| it.uri),
            Task::Prompt { idx, .. } => self.prompts.get(*idx).map(|it| it.name),
            Task::Complete { .. } => Some("completion"),
        };
        name.unwrap_or_default()
    }

    /// Runs a job to its end; gives the line of its reply, or nothing when it was cancelled.
    pub(crate) fn run(&self, job: Job) -> Option<Line> {
        let name = self.name_of(&job);
        let Job { id, task, caller, mut call, ticket } = job;
        if call.is_cancelled() {
            return None;
        }
        let request = task.fingerprint();
        let payload_bytes = match &task {
            Task::Tool { arguments, .. } => Some(client::text_bytes(arguments)),
            Task::Read { .. } | Task::Prompt { .. } | Task::Complete { .. } => None,
        };
        let watch = self.surface.clock().stopwatch();
        if payload_bytes.is_some() {
            self.surface.begins(&caller);
        }
        let failure = Cell::new(None);
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            self.perform(&id, task, caller.version, &call, name, &failure)
        }));
        if let Some(payload_bytes) = payload_bytes {
            let failure = if outcome.is_err() { Some("panic") } else { failure.get() };
            let elapsed_ms = watch.elapsed_ms();
            self.surface
                .called(&caller, &Called { tool: name, payload_bytes, elapsed_ms, failure });
        }
        if call.is_cancelled() {
            return None;
        }
        // From here on the id may be used again.
        drop(ticket);
        let fault = match outcome {
            Ok(Ok(line)) => return Some(line),
            Ok(Err(Failed::Fault(fault))) => fault,
            Ok(Err(Failed::Open)) => return Some(self.questions(&id, &request, call.answers())),
            Err(_panic) => {
                log::error!("a handler panicked name={name}");
                Fault::new(Fault::INTERNAL, "internal error; the server goes on")
            }
        };
        Some(Line::error(Some(&id), &fault))
    }

    fn perform(
        &self,
        id: &Id,
        task: Task,
        version: Version,
        call: &Call,
        name: &str,
        failure: &Cell<Option<&'static str>>,
    ) -> Result<Line, Failed> {
        match task {
            Task::Tool { idx, arguments } => {
                self.call_tool(id, idx, arguments, version, call, failure)
            }
            Task::Read { idx, uri, vars } => {
                self.read_resource(id, idx, &uri, &vars, version).map_err(Failed::Fault)
            }
            Task::Prompt { idx, arguments } => {
                let row = self.prompts.get(idx).ok_or_else(gone)?;
                let args = input_schema::check(row.args, arguments)
                    .map_err(|why| Fault::new(Fault::PARAMS, why))?;
                let made = self.surface.prompt(&row.get, &args, call);
                let messages = made.map_err(|why| prompt_fault(why, version, name))?;
                let messages = messages.iter().map(|it| it.json(version)).collect();
                let mut body = Map::new();
                if !row.description.is_empty() {
                    body.insert("description".to_owned(), row.description.into());
                }
                body.insert("messages".to_owned(), messages);
                Ok(self.line(id, version, body))
            }
            Task::Complete { subject, argument, value, others } => {
                let asked = Completing { subject, argument: &argument, value: &value, others };
                let mut values = self.surface.complete(&asked);
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

    fn line(&self, id: &Id, version: Version, body: Map<String, Value>) -> Line {
        rpc::result_line(id, &Value::Object(self.dress(version, body, None))).into()
    }

    fn call_tool(
        &self,
        id: &Id,
        idx: usize,
        arguments: Params,
        version: Version,
        call: &Call,
        failure: &Cell<Option<&'static str>>,
    ) -> Result<Line, Failed> {
        let tool = self.tools.get(idx).ok_or_else(gone)?;
        let made = input_schema::check(tool.args, arguments)
            .map_err(ToolError::BadArgument)
            .and_then(|args| {
                let reply = self.surface.call(&tool.run, &args, call)?;
                let is_carrier = version.is_modern() && !call.is_cancelled();
                let beside = Some((&tool.run, &args, &reply));
                let notice = is_carrier.then(|| self.surface.notice(beside)).flatten();
                Ok((reply, notice))
            });
        failure.set(made.as_ref().err().map(ToolError::kind));
        let mut rider = None;
        let body = match made {
            Ok((reply, notice)) => {
                rider = notice;
                reply.json(version)
            }
            Err(ToolError::BadArgument(text) | ToolError::NotFound(text)) => error_json(&text),
            Err(ToolError::Cancelled) => error_json("cancelled"),
            Err(ToolError::Open) => return Err(Failed::Open),
            Err(ToolError::Needs(capability)) if version.is_modern() => {
                return Err(missing_capability(capability).into());
            }
            Err(ToolError::Needs(capability)) => {
                error_json(&missing_capability(capability).message)
            }
            Err(ToolError::Unavailable(text)) => {
                log::error!("tool failed tool={}: {text}", tool.name);
                error_json(&text)
            }
            Err(ToolError::Internal(detail)) => {
                log::error!("tool failed tool={}: {detail}", tool.name);
                error_json("internal error; the server's log says more")
            }
        };
        let mut result = self.dress(version, body, None);
        let receipt = rider.map(|notice| notice.ride_on(&mut result));
        Ok(Line { receipt, ..rpc::result_line(id, &Value::Object(result)).into() })
    }

    fn read_resource(
        &self,
        id: &Id,
        idx: usize,
        uri: &str,
        vars: &Vars,
        version: Version,
    ) -> Result<Line, Fault> {
        /// What follows the text on its line: the text is the last member of the last object.
        const TAIL: &str = "\"}]}}";
        let row = self.resources.get(idx).ok_or_else(gone)?;
        let mut body = self.dress(version, Map::new(), Some(READ_CACHE));
        let contents = json!({"uri": uri, "mimeType": row.form.mime(), row.form.member(): ""});
        body.insert("contents".to_owned(), json!([contents]));
        let mut line = rpc::result_line(id, &Value::Object(body));
        line.truncate(line.len() - TAIL.len());
        match self.surface.read(&row.read, vars, &mut Escaped(&mut line)) {
            Ok(()) => {
                line.push_str(TAIL);
                Ok(line.into())
            }
            Err(ReadError::NotFound(why)) => Err(no_resource(version, uri, &why)),
            Err(ReadError::BadArgument(why)) => Err(bad_uri(uri, &why)),
            Err(ReadError::Unavailable(why)) => {
                log::error!("cannot read a resource uri={}: {why}", row.uri);
                Err(Fault::new(Fault::INTERNAL, why))
            }
            Err(ReadError::Internal(detail)) => {
                log::error!("cannot read a resource uri={}: {detail}", row.uri);
                Err(Fault::new(Fault::INTERNAL, "internal error; the server's log says more"))
            }
        }
    }

    /// The result that asks the client before anything is done.
    fn questions(&self, id: &Id, request: &str, answers: Answers) -> Line {
        let (used, open) = answers.into_seen();
        let mut body = self.dress(Version::V2026_07_28, Map::new(), None);
        body.insert("resultType".to_owned(), "input_required".into());
        body.insert("inputRequests".to_owned(), open.into());
        body.insert("requestState".to_owned(), self.seal.close(request, &used).into());
        rpc::result_line(id, &Value::Object(body)).into()
    }
}

/// Why a job has no result.
enum Failed {
    Fault(Fault),
    /// The client has to answer first.
    Open,
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Failed {
        Failed::Fault(fault)
    }
}

fn gone() -> Fault {
    Fault::new(Fault::INTERNAL, "internal error; the server's log says more")
}

fn prompt_fault(why: ToolError, version: Version, name: &str) -> Failed {
    Failed::Fault(match why {
        ToolError::Open => return Failed::Open,
        ToolError::BadArgument(text) | ToolError::NotFound(text) => Fault::new(Fault::PARAMS, text),
        ToolError::Cancelled => Fault::new(Fault::INTERNAL, "cancelled"),
        ToolError::Needs(capability) if version.is_modern() => missing_capability(capability),
        ToolError::Needs(capability) => {
            Fault::new(Fault::REQUEST, missing_capability(capability).message)
        }
        ToolError::Unavailable(text) => {
            log::error!("prompt failed prompt={name}: {text}");
            Fault::new(Fault::INTERNAL, text)
        }
        ToolError::Internal(detail) => {
            log::error!("prompt failed prompt={name}: {detail}");
            gone()
        }
    })
}
