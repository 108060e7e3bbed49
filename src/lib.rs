//! Long-term memory for agents in one SQLite file.
//!
//! A compile turns a folder of notes into a tree of typed nodes with stable ids. Queries answer
//! within a budget of tokens. The command line and the MCP server use this same library.
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
//! Data flows one way. A room is a folder of `src`, and imports only rooms above it in this table:
//!
//! ```text
//! bytes ─ parse ─▶ tree ─ align ─▶ batch ─ commit ─▶ store ─ query ─▶ answer ─ mcp ─▶ stdio, http
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | `text` | white space, labels, cutting, bigrams, accents, tokens, suggestions, thesaurus |
//! | `model` | plain values: trees, ids, alignment, links, order keys, heat, clocks, schedules |
//! | `ingest` | folders and bytes to redacted trees: scan, redaction, parsers, transcripts |
//! | `settings` | configuration, initial temperatures, the folder `.remindb/` of a root |
//! | `providers` | programs and services that a user names to reason, embed or rank |
//! | `store` | the database: schema, columns, readers, writer, batch, heat, leases, replication |
//! | `maintenance` | the whole file: doctor, gc, redaction, backup, export, import, salvage |
//! | `query` | questions to answers within a budget: search, tree, fetch, history, statistics |
//! | `memory` | the embedding API: compile, edits, typed memories, knowledge, rollback, heat |
//! | `mcp` | a protocol engine for both eras of MCP, which knows no tool and no transport |
//! | `surface` | the engine's one registration: tools, resources, prompts, notices, plain HTTP |
//! | `server` | stdio and HTTP transports, threads, sessions, logs; the PostgreSQL of a space |
//! | `cli` | one file a command; `setup` edits the settings of other programs |
//!
//! `fuzzing` holds the properties that every input must have, for tests and fuzz targets.
//!
//! # Three ways through
//!
//! A file is on the way if it takes the note, question or payload in one form and hands it on in
//! the next: bytes, tree, query, matches, rows, text. Files that only compute a value for their
//! caller, such as a token count, a weight or a statement's result, are left out. Calls return the
//! way they came. `ingest/parse` names a folder: a parser is a file or a few.
//!
//! A note in a compile: `cli` → `cli/compile` → `memory/compile` →
//! `memory/compile/compile_planner` → `ingest/scan` → `memory/compile/read_and_parse` →
//! `memory/compile/redaction` → `ingest/redact` → `ingest/parse` → `store/writer` →
//! `memory/compile/apply_slice` → `model/identity/alignment` →
//! `memory/compile/agent_edit_alignment` → `store/batch/node_inserts` → `store/links`.
//!
//! `MemorySearch` over stdio: `server/stdio` → `mcp/rpc` → `mcp/connection` →
//! `mcp/queued_request` → `surface` → `surface/tools/read_tools` → `memory` →
//! `query/query_dispatch` → `query/search` → `query/query_parser` → `query/ranked_hits` →
//! `query/candidates` → `store/reader/fts_hits` → `query/render` → `mcp/content`.
//!
//! `MemoryWrite` over stdio: `server/stdio` → `mcp/rpc` → `mcp/connection` → `mcp/queued_request` →
//! `surface` → `surface/tools/write_tools` → `memory/edits` → `memory/compile/redaction` →
//! `ingest/redact` → `ingest/parse` → `store/writer` → `store/batch/agent_node_writes` →
//! `store/batch/node_inserts` → `store/links` → `mcp/content`.
//!
//! # Where a change goes
//!
//! Beside the tests that list what there is, and the row of a module in the file above it:
//!
//! | to add | touch |
//! |---|---|
//! | a tool | `surface/tools/x`, its row, the manual; for writing: a method of `memory` |
//! | a path of plain HTTP | its row in `surface/rest_api`, its record, the manual |
//! | a resource | `surface/resources/x`, its row, the manual; its document in `query/browse` |
//! | a format | `ingest/parse/x`, its variant and rows, test data, a fuzz target, the manual |
//! | a type of node | variant, name in `model/tree`; a row of `model/typed_node_field_schemas` |
//! | a column of a node | one row of `store/node_columns`, a migration |
//! | a facet | the views `facet_made`, `typed_edge_made` in a migration, `store/batch/facets` |
//! | a command | `cli/x`, its call, help and manual; its row, arguments and parser in `cli/args` |
//! | a setting | `settings/config/values_and_defaults`, its key in `settings/config`, the manual |
//!
//! # What always holds
//!
//! - Only `store` and `maintenance` know SQL. Only `server` and `cli` start threads, but for the
//!   scoped ones that parse and those at the pipes of a user's program. Only [`Clock`] reads a
//!   clock.
//! - Permission is a type: a `Batch` writes, a `Reader` cannot.
//! - A compile changes base texts. An overlay changes only where its file's block changed, and
//!   nodes that belong to no file are never touched.
//! - Reads warm nodes in one place, [`Memory`], after the answer was made.
//! - A bad file, frame or query gets an answer that explains it, and ends nothing else.
//! - No `unsafe`, no async runtime. Only `providers` calls out, to what the user names, and only
//!   with texts that redaction has passed; and `--shared`, to the PostgreSQL that it names.
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | memory | One SQLite file with everything an agent remembers. |
//! | root | A folder that was compiled into the memory. |
//! | compile | Reading the files of a root and writing the differences, as one snapshot or a few. |
//! | node | One unit of meaning: a heading, a paragraph, a list, a table, a code block. |
//! | tree | All nodes of a memory, each below its heading or list. |
//! | anchor | A node's stable id, 11 characters, kept through edits, moves and renames. |
//! | label | A node's text on one line: its heading or first line. |
//! | breadcrumb | The file's name and the headings above a node; `trail` in the index. |
//! | order key | A sparse number that places a node among its siblings. |
//! | snapshot | A numbered state of the memory, made by each write that changes something. |
//! | fingerprint | A hash of the whole state; equal states have equal fingerprints. |
//! | delta | The net changes between a snapshot and now. |
//! | rollback | A new snapshot with the state of an earlier one. |
//! | overlay | An agent's text over the text of a file, which stays below it as the base. |
//! | base | A node's text as its file last had it. |
//! | tombstone | The record that a forgotten node must not come back from its file. |
//! | reference | A link in a text or made by hand, resolved to a node or pending. |
//! | heat | A node's temperature from 0 to 1: reads raise it, attended time lowers it. |
//! | memory clock | The attended time of a memory, in which nodes cool. |
//! | pin | A mark that keeps a node's temperature as it is. |
//! | budget | The most cl100k tokens that a reply may have. |
//! | redaction | Replacing secrets by markers, before parsing and in stored texts. |
//! | lease | A named lock in the memory, held by one process until it expires. |
//! | ledger | The file that lists the sessions of one client. |
//! | era | A generation of MCP: legacy with a handshake, modern with the version in each request. |

mod cli;
mod ingest;
mod maintenance;
mod mcp;
mod memory;
mod model;
mod providers;
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

pub use crate::ingest::parse::{CodeLanguage, Parsed, Syntax, Warning, decode, parse};
pub use crate::ingest::scan::{PassedOverPath, PassedOverSummary};
pub use crate::memory::compile::{CompileError, DeletedFile, FileWarning, Report};
pub use crate::model::clock::{Clock, UnixMillis};
pub use crate::model::tree::{ContentFormat, DocumentTree, Node, NodeType};
pub use memory::{Answer, AppendOrReplaceMode, Error, ForgetChildrenMode, Memory, ReadOnlyMemory};
pub use store::{LockHolder, SharedError, StoreError};

/// Runs the `remindb` program with the arguments after its name, and returns its exit code.
pub fn run(args: impl IntoIterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    cli::run_program(args)
}
