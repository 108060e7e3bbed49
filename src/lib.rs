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
//! | pure | `parse` `redact` `identity` `fingerprint` `ranks` `trail` `heat` | values to values |
//! | store | `store` | the only module that knows SQL |
//! | use cases | `scan` `compile` `query` `render` `memory` | a folder in, questions out |
//! | protocol | `rpc` `mcp` | JSON-RPC frames; MCP in both eras; the table of tools |
//! | shell | `serve` `cli` | threads, signals, streams, arguments |
//!
//! - `parse`: bytes to a [`Tree`] and warnings, one submodule a format. It never fails, and every
//!   visible word is in exactly one node.
//! - `redact`: secrets become markers, in the raw text before it is parsed and once more in what
//!   parsing makes of it. `store::redaction` does it to a memory that has some already.
//! - `identity`: birth ids, and the alignment of an old tree with a new one, by which ids survive
//!   edits, moves and renames.
//! - `fingerprint`: the whole state as a sum with one term a node. `ranks`: sparse positions of
//!   siblings.
//! - `store`: `Writer` gives out a `Batch` in one transaction, which makes at most one snapshot;
//!   `Reader` is a connection that SQLite opened read-only, with one method a question; `Warmer`
//!   notes what was read; `doctor` looks whether all of it holds.
//! - `scan`: walks a folder by its ignore rules. `compile`: plans what to read, aligns it group by
//!   group, and writes what differs.
//! - `query`: search, tree, fetch and statistics as answers of text, JSON and what they warm;
//!   `render` has the layouts.
//! - `rpc`: reads and writes frames, whatever the bytes. `mcp`: an engine that knows no tool and no
//!   transport, and `mcp::tools`, the one registration of it.
//! - `serve`: named threads around bounded queues; the router, the workers and the one writer of
//!   stdout.
//!
//! `config`, `seeds` and `links` read settings, first temperatures and references. The program does
//! not use them yet. Of references one promise is known to be broken: extracting them twice can
//! change a text in which escaped line breaks stand between brackets.
//!
//! # What always holds
//!
//! - Nothing above `store` knows SQL, and nothing below the shell reads a clock or starts a thread
//!   of its own, but for the scoped ones that parse.
//! - Writing is a type: whatever changes the memory gets a `Batch`, whatever asks gets a `Reader`.
//! - Reading warms nodes in one place, [`Memory`], after the answer was made.
//! - A bad file, frame or query is an answer that says so. None of them ends anything else.
//! - There is no `unsafe` here, no async runtime, and nothing that calls out to a network.

mod cli;
mod clock;
mod compile;
mod fingerprint;
mod grams;
mod heat;
mod identity;
mod mcp;
mod memory;
#[allow(dead_code, reason = "settings choose the kinds, and nothing reads them yet")]
mod nearest;
mod parse;
mod query;
mod ranks;
#[allow(dead_code, reason = "settings choose the kinds, and nothing reads them yet")]
mod redact;
mod render;
mod rpc;
mod scan;
mod serve;
mod store;
mod text;
mod tokens;
mod trail;
mod tree;

// Read and tested, and not used by the program yet.
#[cfg(any(test, fuzzing))]
mod config;
#[cfg(any(test, fuzzing))]
mod links;
#[cfg(any(test, fuzzing))]
mod seeds;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;

pub use clock::{Clock, Millis};
pub use compile::{CompileError, FileWarning, Report};
pub use memory::{Answer, Error, ForgetMode, Memory, WriteMode};
pub use parse::{Parsed, Syntax, Warning, decode, parse};
pub use store::StoreError;
pub use tree::{Format, Node, NodeType, Tree};

/// Runs the `remindb` program with the arguments after its name, and returns its exit code.
pub fn run(args: impl IntoIterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    cli::run(args)
}
