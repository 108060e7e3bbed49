//! Tests through the public doors: one binary, one module a subject.

#![allow(clippy::unwrap_used, reason = "what a test cannot do is its failure")]

/// The command line: both streams and the exit code.
mod cli;
/// What edits do to nodes, seen from outside: ids, heat, history, snapshots.
mod edits;
/// Folders that nobody would keep, and processes that die.
mod hostile;
/// The server, as its client sees it.
mod mcp_stdio;
/// What the README and the manual say.
mod readme;
/// What no door lets in: secrets.
mod redaction;
/// A folder, the program, and a client.
mod support;
/// The rules of the house.
mod tidy;
/// What an agent writes, and what files make of it.
mod writes;
