//! The protocol engine: from a message to what is to be done about it, in both eras of MCP.
//!
//! A [`Server`] is a registration: who it is, a table of tools, and a [`Surface`] that runs them.
//! The engine knows no tool, no database and no transport. A transport owns one [`Connection`] for
//! each client, hands it every frame in order, and does what the [`Step`] says; tool calls are
//! [`Job`]s that may run on any thread.
//!
//! *Legacy* versions open with `initialize`, and the era is a property of the connection. The
//! *modern* version stands in the `_meta` of every request, and the era is the request's. A handler
//! gets checked arguments and a [`Call`], and cannot tell them apart.

#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
pub(crate) mod call;
mod client;
pub(crate) mod connection;
#[cfg(any(test, fuzzing))]
pub(crate) mod fixture;
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
pub(crate) mod input;
pub(crate) mod notice;
pub(crate) mod tools;
pub(crate) mod version;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crossbeam_channel::{Receiver, never};
use serde_json::{Map, Value, json};

use crate::rpc::{self, Fault, Id, Params};
use crate::uri::Vars;
use call::Ticket;
use version::Version;

pub(crate) use call::{Call, Level, Outbox};
pub(crate) use client::{Act, Client, Seen};
pub(crate) use connection::{Connection, Step};
pub(crate) use input::{Arg, Args};
pub(crate) use notice::{Bell, Line, Notice, Receipt};

/// How long a client may keep a list that never changes while the server runs.
const LIST_TTL_MS: u64 = 5 * 60 * 1000;

/// What the server says about itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct About {
    /// Its name for programs.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// The version of the build.
    pub(crate) version: &'static str,
    /// How an agent makes good use of it; paid for in every session.
    pub(crate) instructions: &'static str,
}

/// What a tool does to the world, for clients that ask their user first.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Changes nothing that anybody could miss.
    Reads,
    /// Adds; what was there stays.
    Adds,
    /// Sets a mark; what was there stays, and twice is as good as once.
    Marks,
    /// Changes or removes; twice is as good as once.
    Replaces,
    /// Changes or removes, each time anew.
    Destroys,
}

/// One tool: a row of the registration's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tool<R: 'static> {
    /// Its name in calls.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// When to use it and what comes back.
    pub(crate) description: &'static str,
    /// What it takes.
    pub(crate) args: &'static [Arg],
    /// The JSON Schema of `structured` in its replies, an object at the root; `None` for text only.
    pub(crate) output: Option<fn() -> Value>,
    /// What it does to the world.
    pub(crate) effect: Effect,
    /// How the surface runs it.
    pub(crate) run: R,
}

/// One resource, or one kind of them: a row of the registration's table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resource<R: 'static> {
    /// Its URI; with a variable in braces (RFC 6570) it is the template of many.
    pub(crate) uri: &'static str,
    /// Its name for programs.
    pub(crate) name: &'static str,
    /// Its name for people.
    pub(crate) title: &'static str,
    /// What it shows.
    pub(crate) description: &'static str,
    /// Whether clients may ask to be told of its changes.
    pub(crate) is_subscribable: bool,
    /// How the surface reads it.
    pub(crate) read: R,
}

/// Why a resource cannot be read.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The URI is that of something which is not there; the text says what.
    NotFound(String),
    /// A variable of the URI makes no sense; the text says why.
    BadArgument(String),
    /// The file or the system refused; the text says what a person can do, to the log as well.
    Unavailable(String),
    /// A promise of ours is broken; the text goes to the log and the client learns only that.
    Internal(String),
}

/// What runs the tools of a registration; shared by all threads that do.
pub(crate) trait Surface: Send + Sync + 'static {
    /// What a row of the table says about how its tool is run.
    type Run: Send + Sync + 'static;
    /// What a row of the resources says about how it is read.
    type Read: Send + Sync + 'static;

    /// Runs one tool. A panic in here is one internal error, and the server goes on.
    fn call(&self, run: &Self::Run, args: &Args, call: &Call) -> Result<Reply, ToolError>;

    /// Reads a resource of JSON into `out`, which is thrown away after an error.
    fn read(
        &self,
        read: &Self::Read,
        vars: &Vars,
        out: &mut dyn fmt::Write,
    ) -> Result<(), ReadError>;

    /// What the client should know and did not ask for: on its own, or at the end of the reply of a
    /// tool to these arguments, whose bounds it keeps.
    fn notice(&self, _beside: Option<(&Self::Run, &Args, &Reply)>) -> Option<Notice> {
        None
    }

    /// Takes note of a client that asks for something.
    fn saw(&self, _seen: &Seen<'_>) {}

    /// Takes note that a connection, by the transport's name of it, has ended.
    fn left(&self, _connection: &str) {}

    /// A message when there may be a notice, for one more connection.
    fn bell(&self) -> Receiver<()> {
        never()
    }
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reply {
    /// For the agent.
    pub(crate) text: String,
    /// The same facts for a program, as the tool's output schema says.
    pub(crate) structured: Option<Value>,
}

/// Why a tool has no answer. The agent reads it, so it says what to do instead.
#[allow(dead_code, reason = "a vocabulary: each registration uses its part of it")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolError {
    /// The arguments fit the schema and still make no sense.
    BadArgument(String),
    /// What the arguments name is not there.
    NotFound(String),
    /// The file or the system refused; the text says what a person can do, to the log as well.
    Unavailable(String),
    /// A promise of ours is broken; the text goes to the log and the agent learns only that.
    Internal(String),
    /// The call was cancelled, and nobody waits for a reply.
    Cancelled,
}

/// A registration, ready to serve any number of connections.
#[derive(Debug)]
pub(crate) struct Server<S: Surface> {
    /// What it says about itself.
    pub(crate) about: About,
    /// Its tools, in the order in which they are listed.
    pub(crate) tools: &'static [Tool<S::Run>],
    /// Its resources and their templates, in the order in which they are listed.
    pub(crate) resources: &'static [Resource<S::Read>],
    /// What runs them.
    pub(crate) surface: S,
}

/// A tool call that was found in order and waits for a thread.
#[derive(Debug)]
pub(crate) struct Job {
    id: Id,
    tool_idx: usize,
    arguments: Params,
    version: Version,
    call: Call,
    ticket: Ticket,
}

impl Job {
    /// The request's id, for the log.
    pub(crate) fn id(&self) -> &Id {
        &self.id
    }
}

impl<S: Surface> Server<S> {
    /// The name of the tool that a job calls.
    pub(crate) fn tool_name(&self, job: &Job) -> &'static str {
        self.tools.get(job.tool_idx).map_or("", |tool| tool.name)
    }

    /// Runs a call to its end; gives the line of its reply, or nothing when it was cancelled.
    pub(crate) fn run(&self, job: Job) -> Option<Line> {
        let Job { id, tool_idx, arguments, version, call, ticket } = job;
        let tool = self.tools.get(tool_idx)?;
        if call.is_cancelled() {
            return None;
        }
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let args = input::check(tool.args, arguments).map_err(ToolError::BadArgument)?;
            let reply = self.surface.call(&tool.run, &args, &call)?;
            let is_carrier = version.is_modern() && !call.is_cancelled();
            let notice =
                is_carrier.then(|| self.surface.notice(Some((&tool.run, &args, &reply)))).flatten();
            Ok((reply, notice))
        }));
        if call.is_cancelled() {
            return None;
        }
        // From here on the id may be used again.
        drop(ticket);
        let mut rider = None;
        let result = match outcome {
            Ok(Ok((reply, notice))) => {
                rider = notice;
                reply_json(reply, version)
            }
            Ok(Err(ToolError::BadArgument(text) | ToolError::NotFound(text))) => error_json(&text),
            Ok(Err(ToolError::Cancelled)) => error_json("cancelled"),
            Ok(Err(ToolError::Unavailable(text))) => {
                log::error!("tool failed tool={}: {text}", tool.name);
                error_json(&text)
            }
            Ok(Err(ToolError::Internal(detail))) => {
                log::error!("tool failed tool={}: {detail}", tool.name);
                error_json("internal error; the server's log says more")
            }
            Err(_panic) => {
                log::error!("tool panicked tool={}", tool.name);
                let fault = Fault::new(Fault::INTERNAL, "internal error; the server goes on");
                return Some(rpc::error_line(Some(&id), &fault).into());
            }
        };
        let mut result = self.dress(version, result, None);
        let receipt = rider.map(|notice| notice.ride_on(&mut result));
        Some(Line { text: rpc::result_line(&id, &Value::Object(result)), receipt })
    }

    /// What every result of a version carries besides its own.
    fn dress(
        &self,
        version: Version,
        mut body: Map<String, Value>,
        ttl_ms: Option<u64>,
    ) -> Map<String, Value> {
        if version.is_modern() {
            body.insert("resultType".to_owned(), "complete".into());
            if let Some(ttl_ms) = ttl_ms {
                body.insert("ttlMs".to_owned(), ttl_ms.into());
                body.insert("cacheScope".to_owned(), "public".into());
            }
            let server = json!({"io.modelcontextprotocol/serverInfo": self.info()});
            body.insert("_meta".to_owned(), server);
        }
        body
    }

    fn info(&self) -> Value {
        let About { name, title, version, .. } = self.about;
        json!({"name": name, "title": title, "version": version})
    }

    /// The tools as they are listed.
    pub(crate) fn tools_json(&self, version: Version) -> Vec<Value> {
        self.tools.iter().map(|tool| tool.json(version)).collect()
    }
}

/// What the server can do, the same in every version.
fn capabilities() -> Value {
    json!({"logging": {}, "tools": {}})
}

impl<R> Tool<R> {
    fn json(&self, version: Version) -> Value {
        let mut json = json!({"name": self.name});
        if Version::V2025_06_18 <= version {
            json["title"] = self.title.into();
        }
        json["description"] = self.description.into();
        json["inputSchema"] = input::schema(self.args);
        if Version::V2025_06_18 <= version
            && let Some(output) = self.output
        {
            json["outputSchema"] = output();
        }
        if Version::V2025_03_26 <= version {
            json["annotations"] = self.effect.json();
        }
        json
    }
}

impl Effect {
    /// The hints, all of them where they mean something: their defaults are the worst case.
    fn json(self) -> Value {
        let (destructive, idempotent) = match self {
            Effect::Reads => return json!({"readOnlyHint": true, "openWorldHint": false}),
            Effect::Adds => (false, false),
            Effect::Marks => (false, true),
            Effect::Replaces => (true, true),
            Effect::Destroys => (true, false),
        };
        json!({
            "readOnlyHint": false,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": false,
        })
    }
}

fn reply_json(reply: Reply, version: Version) -> Map<String, Value> {
    let mut body = text_json(&reply.text);
    if Version::V2025_06_18 <= version
        && let Some(structured) = reply.structured
    {
        body.insert("structuredContent".to_owned(), structured);
    }
    body
}

fn error_json(text: &str) -> Map<String, Value> {
    let mut body = text_json(text);
    body.insert("isError".to_owned(), true.into());
    body
}

fn text_json(text: &str) -> Map<String, Value> {
    Map::from_iter([("content".to_owned(), json!([{"type": "text", "text": text}]))])
}

#[cfg(test)]
mod tests;
