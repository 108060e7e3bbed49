//! The MCP interface of a memory: its tools, resources and prompts, and their handler.
//!
//! The [`ToolRunner`] limits the access of a tool: a query gets a connection that cannot write,
//! and the memory warms the nodes shown. The list of tools stays small, since every session pays
//! for it.

pub(crate) mod resources;

pub(crate) mod changed_resources;
mod cold_notifications;
mod confirmation;
mod consolidation;
pub(crate) mod prompts;
pub(crate) mod resources_only_handler;
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only the HTTP server asks it"))]
mod rest_api;
mod tools;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::ingest::redact::Redactor;
use crate::mcp::uri::UriVars;
use crate::mcp::{
    Args, CallContext, ClientActivity, ClientLogNotice, ClientRequestEvent, CompletionRequest,
    Handler, HandlerError, PromptMessage, RestApiReply, RestApiRequest, ServerInfo,
    TemplateInstanceResource, Tool, ToolCallRecord, ToolReply,
};
use crate::memory::typed::{ErrorCode, MemoryError};
use crate::memory::{Answer, Error, Memory, ReadOnlyMemory};
use crate::model::clock::UnixMillis;
use crate::query::{OutputFormat, Query};
use crate::store::reader::IsCancelledFn;
use crate::text::terminal_safe_json::json_text;
use changed_resources::ChangeWatch;
use rest_api::RestContext;
pub(crate) use tools::ToolSelection;
pub(crate) use tools::replaced_secrets::kinds_in_given;
use tools::replaced_secrets::{tell, tell_in_document};

/// Answers a request of the REST interface, which may change the memory.
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only the HTTP server asks it"))]
pub(crate) fn answer_rest(
    memory: &Memory,
    view: &ReadOnlyMemory,
    request: &RestApiRequest,
) -> RestApiReply {
    let settings = memory.knowledge_settings();
    rest_api::answer(&RestContext { view, memory: Some(memory), settings }, request)
}

/// Returns who the server says it is, where it offers those tools.
pub(crate) fn about(offer: ToolSelection) -> ServerInfo {
    ServerInfo {
        name: "remindb",
        title: "remindb",
        version: env!("CARGO_PKG_VERSION"),
        instructions: offer.instructions(),
    }
}

/// The handler of a memory's tools, resources and prompts.
pub(crate) struct MemoryHandler {
    /// A read-only handle. It is dropped before the memory, whose last connection checkpoints the
    /// log.
    pub(crate) view: ReadOnlyMemory,
    pub(crate) memory: Memory,
    /// The folder that the server keeps compiled; relative paths are below it.
    pub(crate) source: Option<PathBuf>,
    /// Further paths that may be compiled, with links resolved.
    pub(crate) allowed: Vec<PathBuf>,
    /// Number of parsing threads.
    pub(crate) n_threads: usize,
    /// The watch for changes, while there are subscribers.
    pub(crate) watch: ChangeWatch,
    /// The recorder of sessions.
    pub(crate) sessions: Arc<dyn RecordSessions>,
}

/// Records the sessions of clients and their tool calls.
pub(crate) trait RecordSessions: Send + Sync {
    /// Records a request; returns the session if it calls a tool.
    fn on_request(
        &self,
        seen: &ClientRequestEvent<'_>,
        redactor: &Redactor,
        now: UnixMillis,
    ) -> Option<String>;

    /// Records the end of a connection, by the transport's name of it.
    fn on_disconnect(&self, connection: &str, now: UnixMillis);

    /// Records a finished tool call.
    fn on_call_end(&self, called: &ToolCallRecord<'_>, now: UnixMillis);
}

/// A method of the memory that changes it.
type WriteFn = fn(&Memory, &Args) -> Result<Answer, Error>;

/// A call on typed memories: arguments as they came, for it to check, and a JSON document.
type TypedMemoryFn = fn(&Memory, &Map<String, Value>) -> Result<Value, MemoryError>;

/// A call on typed memories that may ask its client.
type TypedMemoryCallAskingClientFn =
    fn(&Memory, &Map<String, Value>, &CallContext) -> Result<Value, HandlerError>;

/// The way a tool runs. The variant decides what it can access.
#[derive(Clone, Copy)]
pub(crate) enum ToolRunner {
    /// Answers a query, made of the arguments alone.
    Read(fn(&Args) -> Query<'_>),
    /// Calls one method of the memory, which makes at most one snapshot.
    Write(WriteFn),
    /// Calls one method of the memory after the user's consent to a removal.
    Confirmed(confirmation::BuildConfirmationQuestionFn, WriteFn),
    /// Compiles files into the memory.
    Compile(fn(&MemoryHandler, &Args, &CallContext) -> Result<ToolReply, HandlerError>),
    /// Answers by one method of the typed memories, whose errors have codes.
    Document(TypedMemoryFn),
    /// Calls one method of the typed memories that changes them.
    ChangingDocument(TypedMemoryFn),
    /// Calls one method of the typed memories, after questions to the client.
    Asking(TypedMemoryCallAskingClientFn),
}

impl Handler for MemoryHandler {
    type ToolImpl = ToolRunner;
    type ResourceImpl = resources::ResourceFn;
    type PromptImpl = prompts::PromptFn;

    fn call(
        &self,
        run: &ToolRunner,
        args: &Args,
        call: &CallContext,
    ) -> Result<ToolReply, HandlerError> {
        self.run(run, args, call).map_err(|error| match error {
            HandlerError::BadArgument(why) => HandlerError::BadArgument(self.error(&why)),
            HandlerError::NotFound(why) => HandlerError::NotFound(self.error(&why)),
            HandlerError::Unavailable(why) => HandlerError::Unavailable(self.error(&why)),
            error => error,
        })
    }

    fn read(
        &self,
        read: &resources::ResourceFn,
        vars: &UriVars,
        call: &CallContext,
        out: &mut dyn fmt::Write,
    ) -> Result<(), HandlerError> {
        read_row(&self.view, *read, vars, call, out)
    }

    fn prompt(
        &self,
        get: &prompts::PromptFn,
        args: &Args,
        _: &CallContext,
    ) -> Result<Vec<PromptMessage>, HandlerError> {
        prompts::messages(*get, args)
    }

    fn more_resources(&self) -> Vec<TemplateInstanceResource> {
        resources::custom_views(&self.view)
    }

    fn complete(&self, asked: &CompletionRequest<'_>) -> Vec<String> {
        resources::complete_variable(&self.view, asked)
    }

    fn notice(&self, beside: Option<&ToolReply>) -> Option<ClientLogNotice> {
        cold_notifications::notice(&self.memory, beside)
    }

    fn plain(&self, request: &RestApiRequest) -> Option<RestApiReply> {
        Some(answer_rest(&self.memory, &self.view, request))
    }

    fn on_request(&self, seen: &ClientRequestEvent<'_>) -> Option<String> {
        self.sessions.on_request(seen, &self.memory.workspace().redactor, self.memory.clock().now())
    }

    fn note(&self, event: ClientActivity<'_>) {
        match event {
            ClientActivity::Called(called) => {
                self.sessions.on_call_end(&called, self.memory.clock().now())
            }
            ClientActivity::Left(connection) => {
                self.sessions.on_disconnect(connection, self.memory.clock().now())
            }
            ClientActivity::Listened => self.watch.begin_or_warn(&self.view),
        }
    }
}

/// A handler whose memory is watched for its subscribers.
pub(crate) trait HandlerWithChangeWatch: Handler {
    /// Returns the memory.
    fn view(&self) -> &ReadOnlyMemory;

    /// Returns the watch.
    fn watch(&self) -> &ChangeWatch;

    /// Returns the time between two notifications of a resource, by its name in the settings.
    fn debounce_of(&self, resource: &str) -> Duration;
}

impl HandlerWithChangeWatch for MemoryHandler {
    fn view(&self) -> &ReadOnlyMemory {
        &self.view
    }

    fn watch(&self) -> &ChangeWatch {
        &self.watch
    }

    fn debounce_of(&self, resource: &str) -> Duration {
        self.memory.workspace().config.server.resources.debounce_of(resource)
    }
}

/// Reads a resource until its reader is gone.
fn read_row(
    view: &ReadOnlyMemory,
    read: resources::ResourceFn,
    vars: &UriVars,
    call: &CallContext,
    out: &mut dyn fmt::Write,
) -> Result<(), HandlerError> {
    let is_cancelled = call.watch_for_cancellation();
    let read = read(&view.until(is_cancelled), vars, out);
    read.map_err(|it| unanswered(unread(it), call))
}

/// Returns the error of a question, which may be that nobody waits for its answer any more.
fn unanswered(error: HandlerError, call: &CallContext) -> HandlerError {
    if call.is_cancelled() { HandlerError::Cancelled } else { error }
}

impl MemoryHandler {
    /// Brings a shared memory to the end of its log, if reads are to be fresh. What writes comes
    /// there by itself.
    fn freshen_before(&self, run: &ToolRunner) -> Result<(), HandlerError> {
        match run {
            ToolRunner::Write(_) | ToolRunner::Compile(_) => Ok(()),
            _ => Ok(self.memory.freshen()?),
        }
    }

    /// Runs a tool.
    fn run(
        &self,
        run: &ToolRunner,
        args: &Args,
        call: &CallContext,
    ) -> Result<ToolReply, HandlerError> {
        self.freshen_before(run)?;
        match run {
            ToolRunner::Read(question) => {
                let (question, budget) = (question(args), asked_budget(args));
                let is_cancelled: IsCancelledFn = Arc::new(call.watch_for_cancellation());
                let answer = self.memory.query_and_warm_until(&question, budget, &is_cancelled);
                Ok(answer.map_err(|it| unanswered(it.into(), call))?.into())
            }
            ToolRunner::Write(change) => Ok(run_write(*change, &self.memory, args)?.into()),
            ToolRunner::Confirmed(question, change) => {
                if let Some(question) = question(&self.memory, args)? {
                    confirmation::confirm(call, &question)?;
                }
                Ok(run_write(*change, &self.memory, args)?.into())
            }
            ToolRunner::Compile(compile) => compile(self, args, call),
            ToolRunner::Document(answer) => {
                let answer = answer(&self.memory, given(args));
                Ok(self.document(answer.map_err(|it| it.advised(self.memory.tools()))?))
            }
            ToolRunner::ChangingDocument(change) => {
                let answer = change(&self.memory, given(args));
                let answer = answer.map_err(|it| it.advised(self.memory.tools()))?;
                Ok(self.document(tell_in_document(&self.memory, args, answer)))
            }
            ToolRunner::Asking(answer) => {
                let answer = answer(&self.memory, given(args), call)?;
                Ok(self.document(tell_in_document(&self.memory, args, answer)))
            }
        }
    }

    /// Returns the message of an error with advice that the clients of this server can follow.
    fn error(&self, message: &str) -> String {
        self.memory.tools().advise_error(message)
    }

    fn document(&self, answer: Value) -> ToolReply {
        let text = json_text(&answer);
        let structured = (self.memory.output() == OutputFormat::Structured).then_some(answer);
        // Programs read it by its keys: there is no room for a notice.
        ToolReply { text, structured, budget: Some(0), ..ToolReply::default() }
    }
}

/// Calls a method of the memory that changes it, and says in the answer which secrets of the
/// arguments were replaced.
pub(crate) fn run_write(change: WriteFn, memory: &Memory, args: &Args) -> Result<Answer, Error> {
    Ok(tell(memory, args, change(memory, args)?))
}

/// Returns the arguments as they came.
fn given(args: &Args) -> &Map<String, Value> {
    static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);
    args.whole().unwrap_or(&NONE)
}

/// Returns the tool of notes or of knowledge of that name.
pub(crate) fn tool_named(name: &str) -> Option<&'static Tool<ToolRunner>> {
    tools::named(name)
}

/// Returns the requested budget; none, zero or less means the query's default.
pub(crate) fn asked_budget(args: &Args) -> Option<u32> {
    let asked = args.integer("budget").filter(|it| 0 < *it)?;
    Some(u32::try_from(asked).unwrap_or(u32::MAX))
}

impl From<Answer> for ToolReply {
    fn from(answer: Answer) -> ToolReply {
        let Answer { text, structured, budget, .. } = answer;
        let structured = Some(structured).filter(|it| !it.is_null());
        ToolReply { text, structured, budget, ..ToolReply::default() }
    }
}

impl From<Error> for HandlerError {
    fn from(error: Error) -> HandlerError {
        match error {
            Error::BadArgument(why) => HandlerError::BadArgument(why),
            Error::NotFound(why) => HandlerError::NotFound(why),
            Error::UnknownUri(_) => HandlerError::UnknownUri,
            Error::Unavailable(why) => HandlerError::Unavailable(why),
            Error::Compile(error) => HandlerError::BadArgument(error.to_string()),
            Error::Store(error) if error.is_outside() => {
                HandlerError::Unavailable(error.to_string())
            }
            Error::Store(error) => HandlerError::Internal(error.to_string()),
        }
    }
}

/// Converts the error of a resource, with a code where the file or the system is the reason.
fn unread(error: Error) -> HandlerError {
    match error {
        Error::Store(error) if error.is_outside() => {
            let code = match ErrorCode::from(&error) {
                ErrorCode::CorruptedData => ErrorCode::CorruptedData,
                _ => ErrorCode::StorageError,
            };
            let body = error.to_string();
            HandlerError::Coded { code: code.as_str(), detail: Some(body.clone()), body }
        }
        error => error.into(),
    }
}

impl From<MemoryError> for HandlerError {
    fn from(error: MemoryError) -> HandlerError {
        let (code, body) = (error.code.as_str(), json_text(&error.to_json()));
        let detail = error.code.is_outside().then_some(error.message);
        HandlerError::Coded { code, body, detail }
    }
}

/// Returns the schema of an object with one list, which a tiny budget may leave out.
fn list_output(name: &str) -> Value {
    let list = json!({"type": "array", "items": {"type": "object"}});
    json!({"type": "object", "properties": {name: list}})
}
