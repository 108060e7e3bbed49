//! Long-term memory for agents in one SQLite file.
//!
//! A folder of notes is compiled into a tree of typed nodes with stable ids; questions are answered
//! within a budget of tokens. The same library is behind the command line and the MCP server.
//!
//! ```
//! # let folder = std::env::temp_dir().join(format!("remindb-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! std::fs::write(folder.join("notes.md"), "# Store\n## Writer\nOne connection writes.\n")?;
//!
//! let memory = remindb::Memory::create(&folder.join("memory.db"))?;
//! let report = memory.compile(&folder, "first notes")?;
//! assert_eq!(report.to_string(), "compiled: 3 added, 0 modified, 0 removed (3 ops)");
//!
//! let answer = memory.search("who writes?", Some(200))?;
//! assert!(answer.text.contains("One connection writes."));
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Architecture
//!
//! Data flows one way, and a module imports only from its own row and those above:
//!
//! ```text
//! bytes ─ parse ─▶ tree ─ identity ─▶ batch ─ commit ─▶ store ─ query ─▶ answer ─ mcp ─▶ stdio
//! ```
//!
//! | row | modules | what they are |
//! |---|---|---|
//! | values | `clock` `text` `grams` `tokens` `tree` | plain types and facts about text |
//! | pure | `parse` `redact` `identity` `fingerprint` `ranks` `breadcrumb` | values to values |
//! | pure | `heat` `due` | what cools; when something is due |
//! | pure | `nearest` `uri` | what a typo or a URI means |
//! | pure | `config` `seeds` `patterns` `links` | what a folder says of itself; what a link means |
//! | pure | `sessions` `ring` | who is connected, and who ever was; the latest of the log |
//! | store | `store` `journal` | the only module that knows SQL; files of lines |
//! | use cases | `scan` `workspace` `compile` `query` `render` | folders in, answers out |
//! | use cases | `rollback` `memory` | an earlier state; all of it as one value |
//! | protocol | `rpc` `mcp` | JSON-RPC frames; MCP in both eras; the table of tools |
//! | shell | `serve` `cli` | threads, signals, streams, arguments |
//!
//! - `parse`: bytes to a [`Tree`] and warnings, one submodule a format. It never fails, and every
//!   visible word is in exactly one node.
//! - `redact`: secrets become markers, in the raw text before it is parsed and once more in what
//!   parsing makes of it. `store::redaction` does it to a memory that has some already.
//! - `identity`: birth ids, and the alignment of an old tree with a new one, by which ids survive
//!   edits, moves and renames.
//! - `links`: what a reference in a text points at, and the names that this depends on.
//! - `fingerprint`: the whole state as a sum with one term a node. `ranks`: sparse positions of
//!   siblings.
//! - `nearest`: the known name that a mistyped one was probably meant to be.
//! - `heat`: temperatures as a function of what is stored and of the memory clock, and the pace at
//!   which that clock is written.
//! - `store`: `Writer` gives out a `Batch` in one transaction, which makes at most one snapshot;
//!   `Reader` is a connection that SQLite opened read-only, with one method a question;
//!   `HeatWriter` notes what was read, moves the memory clock and knows who was told of what went
//!   cold; `Leases` says who does what only one process should; `columns` lists what a node
//!   consists of, and every statement about whole nodes is made of that list; `doctor` looks
//!   whether all of it holds, and repairs it; `moving` takes whole memories elsewhere: backups,
//!   exports, old databases, what is left of a damaged one; `ahead` has the system read a file
//!   before anybody asks for it.
//! - `config`, `seeds` and `patterns`: settings, first temperatures and ignore patterns as text
//!   becomes them. `workspace`: reads them from a root's own folder, and knows what a stranger's
//!   may not say.
//! - `sessions`: the registry of who is connected, and what the lines of a client's ledger come to.
//!   `journal` keeps these lines and other logs in files below `.remindb/`. `ring`: the latest
//!   records of the log.
//! - `scan`: walks a folder by its ignore rules. `compile`: plans what to read, aligns it group by
//!   group, and writes what differs; its `Watch` is what one remembers who does so again and again,
//!   and `compile::voices` is where a file's words meet an agent's.
//! - `due`: when something is next to be done, or somebody to be told of it, as values that are
//!   told the time.
//! - `rollback`: an earlier state becomes the present, proved by its fingerprint.
//! - `memory`: what an embedder calls; [`ReadOnlyMemory`] is the part of it that can only look, and
//!   `memory::voice` has what an agent does: write, summarize, forget, pin.
//!   `memory::typed` has its typed memories, which `model::kinds` and `model::fields` describe.
//! - `query`: a `Query` is what somebody asks, `query::answer` the one way to its [`Answer`]: text,
//!   JSON where it is wanted, and the nodes that were shown; `render` has the layouts.
//!   `query::observe`: the same memory as documents of fixed keys, which warm nothing.
//!   `query::lookup` finds and weighs the nodes that share most of a question, `query::rank` and
//!   `query::feedback` decide which is the best hit; `make eval` says how well.
//! - `rpc`: reads and writes frames, whatever the bytes. `mcp`: an engine that knows no tool and no
//!   transport; `mcp::tools` and `mcp::resources`, its one registration: tools, resources, prompts,
//!   questions to the user. `mcp::subscription` stands between what notices changes and the
//!   connections that want to know.
//! - `serve`: named threads around bounded queues; the router, the workers and the one writer of
//!   stdout; `server::http`: sockets of our own, since server libraries set no bounds where bounds
//!   are the point; `server::rescan` keeps the source folder compiled, `server::notify` tells
//!   clients what changed, `server::checkpoint` copies the log into the file.
//! - `cli`: one module a command; `cli::setup` edits the settings of other programs as text, and
//!   undoes it. Without the feature `html`, files of HTML are known and not read.
//!
//! Only in tests and behind a feature: `conformance` registers what the official suite of MCP asks
//! of a server, and plays it over stdio; `fuzzing` has what holds for every input.
//!
//! # What always holds
//!
//! - Nothing above `store` knows SQL, and nothing below the shell reads a clock or starts a thread
//!   of its own, but for the scoped ones that parse.
//! - Writing is a type: whatever changes the memory gets a `Batch`, whatever asks gets a `Reader`.
//! - A file's compile changes what the file says, and an agent's words only where the file's own
//!   changed. What no file says is never matched or removed by one.
//! - Reading warms nodes in one place, [`Memory`], after the answer was made.
//! - A bad file, frame or query is an answer that says so. None of them ends anything else.
//! - There is no `unsafe` here, no async runtime, and nothing that calls out to a network.

mod cli;
mod ingest;
mod maintenance;
mod mcp;
mod memory;
mod model;
mod query;
mod server;
mod settings;
mod store;
mod surface;
mod text;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

#[cfg(any(test, feature = "conformance"))]
#[doc(hidden)]
pub use server::conformance;

pub use crate::ingest::parse::{Parsed, Syntax, Warning, decode, parse};
pub use crate::memory::compile::{CompileError, FileWarning, Purged, Report};
pub use crate::model::clock::{Clock, Millis};
pub use crate::model::tree::{Format, Node, NodeType, Tree};
pub use memory::{Answer, Error, ForgetMode, Memory, ReadOnlyMemory, WriteMode};
pub use store::StoreError;

/// Runs the `remindb` program with the arguments after its name, and returns its exit code.
pub fn run(args: impl IntoIterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    cli::run_program(args)
}
