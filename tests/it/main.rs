//! Tests the program from outside: one binary, one module for each subject.

#![allow(clippy::unwrap_used, reason = "what a test cannot do is its failure")]

/// Replies that name the reason and the next step.
mod advice;
/// Writes beside a compile in another process, and kills of it.
mod beside;
mod browser;
/// The command line: both streams and the exit code.
mod cli;
/// Source code, by a setting.
mod code;
/// The resources of typed memories.
mod collections;
/// Kills, rivals, full disks and torn files: acknowledged writes are kept.
mod crash;
/// Typed memories by the command line and as files.
mod dated;
mod doors;
/// Effects of edits on ids, heat, history and snapshots.
mod edits;
/// Failures of the system: calls that fail, full disks, lost names, steps of the clock.
#[cfg(target_os = "linux")]
mod faults;
mod foreign;
/// Hostile texts, names and messages in every answer.
mod framing;
/// The whole memory of one small folder.
mod golden;
/// Repairs, and salvage from a damaged file.
mod heal;
/// Notifications of cold nodes.
mod heat;
/// Odd folders and killed processes.
mod hooks;
mod hostile;
/// Knowledge: on the command line, over MCP, by several processes.
mod knowledge;
/// Arguments by other names and in other forms.
mod lenient;
/// Limits, archiving, and the settings and backups around them.
mod limits;
/// Updates of subscribed resources.
mod live;
/// The server over HTTP: its clients, and refused ones.
#[cfg(feature = "http")]
mod mcp_http;
/// The server over stdio.
mod mcp_stdio;
/// Typed memories: tools, refusals, orders.
mod memories;
/// Memories of earlier schemas, and their past.
mod migration;
/// Transfers of whole memories: backup, restore, export, import.
mod moving;
/// The import of a database of remindb 0.3.
mod old;
/// What a compile does not read.
mod passed_over;
/// The place of the memory.
mod places;
/// The protocol's published schemas.
/// Programs and services that consolidate.
#[cfg(feature = "providers")]
mod providers;
mod published;
/// Random cases, the same on each run.
#[path = "../../src/fuzzing/random_cases.rs"]
mod random_cases;
/// The README and the manual, compared with the program.
mod readme;
/// Secrets, which no way in stores.
mod redaction;
/// Texts and structured content of replies, and their budgets.
mod replies;
/// Rescans of a folder that changes while it is served, and while it is not.
mod rescan;
/// The ledgers of sessions.
mod sessions;
/// Setting up clients, and undoing it.
mod setup;
/// One memory on many machines, kept in step by PostgreSQL.
#[cfg(all(feature = "shared", target_os = "linux"))]
mod shared;
/// Long runs of calls of all kinds.
#[cfg(all(feature = "http", target_os = "linux"))]
mod soak;
/// Shared helpers: a folder, the program, and a client.
mod support;
/// The house rules.
mod tidy;
/// The commands of the tools that agents have.
mod tool_commands;
/// Deltas, rollbacks and dropped history.
mod versions;
/// The page for people.
#[cfg(feature = "http")]
mod view;
/// A root's own folder `.remindb/`: settings, initial temperatures, ignore rules.
mod workspace;
/// Agents' writes, and their meeting with the files' text.
mod writes;
