//! The tools of a memory: a table, and the one place that runs them.
//!
//! What a tool may touch is in its [`Run`]: a question gets a connection that cannot write, and the
//! memory warms what the answer shows. The whole list stays small, since every session pays for it.

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

use crate::mcp::uri::Vars;
use crate::mcp::{
    About, Args, Bell, Call, Called, Caller, Completing, Message, Notice, ReadError, Reply, Seen,
    Surface, ToolError,
};
use crate::memory::{Answer, Error, Memory, Observer};
use crate::model::clock::{Clock, Millis};
use crate::model::heat::Lines;
use crate::query::{self, Output, QueryError};
use crate::server::sessions::recorder::Sessions;
use crate::settings::config::Budgets;
use crate::store::reader::Reader;
use changed_resources::Watch;
pub(crate) use tools::Offer;

/// Who the server says it is.
pub(crate) const ABOUT: About = About {
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
pub(crate) struct Tools {
    /// Can only look. It goes before the memory does, whose last connection puts the file in order.
    pub(crate) observer: Observer,
    pub(crate) memory: Memory,
    /// The folder that the server keeps compiled; relative paths are below it.
    pub(crate) source: Option<PathBuf>,
    /// What may be compiled besides it: paths without links.
    pub(crate) allowed: Vec<PathBuf>,
    /// Threads for parsing.
    pub(crate) n_threads: usize,
    /// Rung when nodes may have gone cold.
    pub(crate) bell: Bell,
    /// What changed of the memory, for whoever subscribed to it.
    pub(crate) watch: Watch,
    /// Who uses the memory.
    pub(crate) sessions: Sessions,
}

/// What a tool asks a connection that cannot write.
type Question = fn(&Reader, &Args, Millis, Output) -> Result<query::Answer, QueryError>;

/// One method of the memory that changes it.
type Change = fn(&Memory, &Args) -> Result<Answer, Error>;

/// How a tool runs. The variant decides what it can touch.
#[derive(Clone, Copy)]
pub(crate) enum Run {
    /// Gets a connection that cannot write.
    Read(Question),
    /// The same, with a budget from the settings where the call names none.
    Budgeted(fn(&Budgets) -> Option<u32>, Question),
    /// The same, without arguments, told what is called cold and hot.
    Survey(fn(&Reader, Lines, Millis, Output) -> Result<query::Answer, QueryError>),
    /// Calls one method of the memory, which makes at most one snapshot.
    Write(Change),
    /// The same, once the user has agreed to what it removes.
    Asked(confirmation::Question, Change),
    /// Compiles files into the memory.
    Compile(fn(&Tools, &Args, &Call) -> Result<Reply, ToolError>),
}

impl Surface for Tools {
    type Run = Run;
    type Read = resources::Read;
    type Prompt = prompts::Get;

    fn call(&self, run: &Run, args: &Args, call: &Call) -> Result<Reply, ToolError> {
        match run {
            Run::Read(question) => self.ask(*question, args),
            Run::Budgeted(_, question) => self.ask(*question, &self.completed(run, args)),
            Run::Survey(survey) => {
                let lines = self.memory.rates().lines();
                self.ask(|reader, _, now, output| survey(reader, lines, now, output), args)
            }
            Run::Write(change) => self.change(*change, args),
            Run::Asked(question, change) => {
                if let Some(question) = question(&self.memory, args)? {
                    confirmation::confirm(call, &question)?;
                }
                self.change(*change, args)
            }
            Run::Compile(compile) => compile(self, args, call),
        }
    }

    fn read(
        &self,
        read: &resources::Read,
        vars: &Vars,
        out: &mut dyn fmt::Write,
    ) -> Result<(), ReadError> {
        read(&self.observer, vars, out)
    }

    fn prompt(&self, get: &prompts::Get, args: &Args, _: &Call) -> Result<Vec<Message>, ToolError> {
        prompts::messages(*get, args)
    }

    fn complete(&self, asked: &Completing<'_>) -> Vec<String> {
        resources::complete(&self.observer, asked)
    }

    fn notice(&self, beside: Option<(&Run, &Args, &Reply)>) -> Option<Notice> {
        let beside = beside.map(|(run, args, reply)| (self.completed(run, args), reply));
        nudges::notice(&self.memory, beside.as_ref().map(|(args, reply)| (&**args, *reply)))
    }

    fn listened(&self) {
        if let Err(error) = self.watch.begin(&self.memory) {
            // What changes until the first look goes unnoticed.
            log::warn!("the memory is not watched yet: {error}");
        }
    }

    fn saw(&self, seen: &Seen<'_>) {
        self.sessions.saw(seen, &self.memory.workspace().redactor, self.clock().now());
    }

    fn left(&self, connection: &str) {
        self.sessions.left(connection, self.clock().now());
    }

    fn begins(&self, caller: &Caller) {
        self.sessions.begins(caller, &self.memory.workspace().redactor);
    }

    fn called(&self, _: &Caller, called: &Called) {
        self.sessions.called(called, self.clock().now());
    }

    fn clock(&self) -> Clock {
        self.memory.clock().clone()
    }

    fn bell(&self) -> Option<&Bell> {
        Some(&self.bell)
    }
}

impl Tools {
    /// The arguments of a call with the budget that they mean.
    fn completed<'a>(&self, run: &Run, args: &'a Args) -> Cow<'a, Args> {
        let budget = match run {
            Run::Budgeted(of, _) => of(&self.memory.workspace().config.budgets),
            Run::Read(_) | Run::Survey(_) | Run::Write(_) | Run::Asked(..) | Run::Compile(_) => {
                None
            }
        };
        match budget {
            None => Cow::Borrowed(args),
            Some(budget) => Cow::Owned(args.clone().with_integer("budget", budget.into())),
        }
    }

    fn change(&self, change: Change, args: &Args) -> Result<Reply, ToolError> {
        Ok(change(&self.memory, args)?.into())
    }

    fn ask(
        &self,
        question: impl FnOnce(&Reader, &Args, Millis, Output) -> Result<query::Answer, QueryError>,
        args: &Args,
    ) -> Result<Reply, ToolError> {
        let now = self.memory.clock().now();
        let output = self.memory.output();
        Ok(self.memory.ask(|reader| question(reader, args, now, output))?.into())
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
