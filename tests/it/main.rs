//! Tests through the public doors: one binary, one module a subject.
#![expect(clippy::unwrap_used, reason = "what fails here is a failed test")]

/// The command line: both streams and the exit code.
mod cli;
/// What edits do to nodes, seen from outside: ids, heat, history, snapshots.
mod edits;
/// Folders that nobody would keep, and processes that die.
mod hostile;
/// The server, as its client sees it.
mod mcp_stdio;
/// A folder, the program, and a client.
mod support;
/// The rules of the house.
mod tidy;
