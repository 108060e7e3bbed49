//! The tools of a memory: a table, and the one place that runs them.
//!
//! What a tool may touch is in its [`ToolRunner`]: a question gets a connection that cannot write,
//! and the memory warms what the answer shows. The whole list stays small, since every session pays
//! for it.

pub(crate) mod resources;

pub(crate) mod changed_resources;
mod confirmation;
mod nudges;
pub(crate) mod prompts;
mod tools;

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::mcp::uri::UriVars;
use crate::mcp::{
    Args, Call, Caller, CompletionRequest, Handler, Notice, PromptMessage, ReadError, Reply,
    RequestSeen, ServerInfo, ToolCallRecord, ToolError, Waker,
};
use crate::memory::{Answer, Error, Memory, ReadOnlyMemory};
use crate::model::clock::{Clock, Millis};
use crate::model::heat::HeatThresholds;
use crate::query::{self, Output, QueryError};
use crate::server::sessions::recorder::SessionObserver;
use crate::settings::config::BudgetSettings;
use crate::store::reader::Reader;
use changed_resources::ChangeWatch;
pub(crate) use tools::ToolSet;

/// Who the server says it is.
pub(crate) const ABOUT: ServerInfo = ServerInfo {
    name: "remindb",
    title: "remindb",
    version: env!("CARGO_PKG_VERSION"),
    instructions: "Long-term memory: the user's notes as a tree of nodes, each with a stable \
                   11-character id. Look here before reading files. MemorySearch finds nodes; \
                   MemoryTree shows the outline; MemoryFetch reads a node and what is around it; \
                   MemoryFetchBatch reads several. Give `budget` (tokens): replies never exceed it \
                   and say what they left out. What you read gets warmer and ranks higher. \
                   MemoryWrite remembers what you learn, at the node it belongs to.",
};

/// A memory as MCP offers it.
pub(crate) struct MemoryHandler {
    /// Can only look. It goes before the memory does, whose last connection puts the file in order.
    pub(crate) view: ReadOnlyMemory,
    pub(crate) memory: Memory,
    /// The folder that the server keeps compiled; relative paths are below it.
    pub(crate) source: Option<PathBuf>,
    /// What may be compiled besides it: paths without links.
    pub(crate) allowed: Vec<PathBuf>,
    /// Threads for parsing.
    pub(crate) n_threads: usize,
    /// Rung when nodes may have gone cold.
    pub(crate) waker: Waker,
    /// What changed of the memory, for whoever subscribed to it.
    pub(crate) watch: ChangeWatch,
    /// Who uses the memory.
    pub(crate) sessions: SessionObserver,
}

/// What a tool asks a connection that cannot write.
type ReadFn = fn(&Reader, &Args, Millis, Output) -> Result<query::QueryAnswer, QueryError>;

/// One method of the memory that changes it.
type WriteFn = fn(&Memory, &Args) -> Result<Answer, Error>;

/// How a tool runs. The variant decides what it can touch.
#[derive(Clone, Copy)]
pub(crate) enum ToolRunner {
    /// Gets a connection that cannot write.
    Read(ReadFn),
    /// The same, with a budget from the settings where the call names none.
    Budgeted(fn(&BudgetSettings) -> Option<u32>, ReadFn),
    /// The same, without arguments, told what is called cold and hot.
    WithThresholds(
        fn(&Reader, HeatThresholds, Millis, Output) -> Result<query::QueryAnswer, QueryError>,
    ),
    /// Calls one method of the memory, which makes at most one snapshot.
    Write(WriteFn),
    /// The same, once the user has agreed to what it removes.
    Confirmed(confirmation::ConfirmFn, WriteFn),
    /// Compiles files into the memory.
    Compile(fn(&MemoryHandler, &Args, &Call) -> Result<Reply, ToolError>),
}

impl Handler for MemoryHandler {
    type Run = ToolRunner;
    type Read = resources::ResourceFn;
    type Prompt = prompts::PromptFn;

    fn call(&self, run: &ToolRunner, args: &Args, call: &Call) -> Result<Reply, ToolError> {
        match run {
            ToolRunner::Read(question) => self.run_read(*question, args),
            ToolRunner::Budgeted(_, question) => {
                self.run_read(*question, &self.completed(run, args))
            }
            ToolRunner::WithThresholds(survey) => {
                let lines = self.memory.rates().thresholds();
                self.run_read(|reader, _, now, output| survey(reader, lines, now, output), args)
            }
            ToolRunner::Write(change) => self.change(*change, args),
            ToolRunner::Confirmed(question, change) => {
                if let Some(question) = question(&self.memory, args)? {
                    confirmation::confirm(call, &question)?;
                }
                self.change(*change, args)
            }
            ToolRunner::Compile(compile) => compile(self, args, call),
        }
    }

    fn read(
        &self,
        read: &resources::ResourceFn,
        vars: &UriVars,
        out: &mut dyn fmt::Write,
    ) -> Result<(), ReadError> {
        read(&self.view, vars, out)
    }

    fn prompt(
        &self,
        get: &prompts::PromptFn,
        args: &Args,
        _: &Call,
    ) -> Result<Vec<PromptMessage>, ToolError> {
        prompts::messages(*get, args)
    }

    fn complete(&self, asked: &CompletionRequest<'_>) -> Vec<String> {
        resources::complete_variable(&self.view, asked)
    }

    fn notice(&self, beside: Option<(&ToolRunner, &Args, &Reply)>) -> Option<Notice> {
        let beside = beside.map(|(run, args, reply)| (self.completed(run, args), reply));
        nudges::notice(&self.memory, beside.as_ref().map(|(args, reply)| (&**args, *reply)))
    }

    fn on_subscribe(&self) {
        if let Err(error) = self.watch.begin(&self.memory) {
            // What changes until the first look goes unnoticed.
            log::warn!("the memory is not watched yet: {error}");
        }
    }

    fn on_request(&self, seen: &RequestSeen<'_>) {
        self.sessions.on_request(seen, &self.memory.workspace().redactor, self.clock().now());
    }

    fn on_disconnect(&self, connection: &str) {
        self.sessions.on_disconnect(connection, self.clock().now());
    }

    fn on_call_start(&self, caller: &Caller) {
        self.sessions.on_call_start(caller, &self.memory.workspace().redactor);
    }

    fn on_call_end(&self, _: &Caller, called: &ToolCallRecord) {
        self.sessions.on_call_end(called, self.clock().now());
    }

    fn clock(&self) -> Clock {
        self.memory.clock().clone()
    }

    fn waker(&self) -> Option<&Waker> {
        Some(&self.waker)
    }
}

impl MemoryHandler {
    /// The arguments of a call with the budget that they mean.
    fn completed<'a>(&self, run: &ToolRunner, args: &'a Args) -> Cow<'a, Args> {
        let budget = match run {
            ToolRunner::Budgeted(of, _) => of(&self.memory.workspace().config.budgets),
            ToolRunner::Read(_)
            | ToolRunner::WithThresholds(_)
            | ToolRunner::Write(_)
            | ToolRunner::Confirmed(..)
            | ToolRunner::Compile(_) => None,
        };
        match budget {
            None => Cow::Borrowed(args),
            Some(budget) => Cow::Owned(args.clone().with_integer("budget", budget.into())),
        }
    }

    fn change(&self, change: WriteFn, args: &Args) -> Result<Reply, ToolError> {
        Ok(change(&self.memory, args)?.into())
    }

    fn run_read(
        &self,
        question: impl FnOnce(&Reader, &Args, Millis, Output) -> Result<query::QueryAnswer, QueryError>,
        args: &Args,
    ) -> Result<Reply, ToolError> {
        let now = self.memory.clock().now();
        let output = self.memory.output();
        Ok(self.memory.query_and_warm(|reader| question(reader, args, now, output))?.into())
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Reply {
        let Answer { text, structured } = answer;
        Reply { text, structured: Some(structured).filter(|it| !it.is_null()), ..Reply::default() }
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> ToolError {
        match error {
            Error::BadArgument(why) => ToolError::BadArgument(why),
            Error::NotFound(why) => ToolError::NotFound(why),
            Error::Compile(error) => ToolError::BadArgument(error.to_string()),
            Error::Store(error) if error.is_outside() => ToolError::Unavailable(error.to_string()),
            Error::Store(error) => ToolError::Internal(error.to_string()),
        }
    }
}

/// An object with one list, which a budget of a few tokens leaves no room for.
fn list_output(name: &str) -> Value {
    let list = json!({"type": "array", "items": {"type": "object"}});
    json!({"type": "object", "properties": {name: list}})
}
