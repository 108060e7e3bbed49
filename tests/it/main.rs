//! Tests through the public doors: one binary, one module a subject.

#![allow(clippy::unwrap_used, reason = "what a test cannot do is its failure")]

/// The command line: both streams and the exit code.
mod cli;
/// Kills, rivals, full disks and torn files: what was acknowledged stays.
mod crash;
/// What edits do to nodes, seen from outside: ids, heat, history, snapshots.
mod edits;
/// One small folder, and all that becomes of it.
mod golden;
/// Repairs, and what can be read of a damaged file.
mod heal;
/// What goes cold, and who is told.
mod heat;
/// Folders that nobody would keep, and processes that die.
mod hostile;
/// Resources that change, and who is told.
mod live;
/// The server over HTTP: its clients, and those who should not be.
#[cfg(feature = "http")]
mod mcp_http;
/// The server, as its client sees it.
mod mcp_stdio;
/// Typed memories: tools, refusals, orders.
mod memories;
/// Whole memories on the move: backup, restore, export, import.
mod moving;
/// A database of remindb 0.3 moves in.
mod old;
/// The schemas of the protocol.
mod published;
/// What the README and the manual say.
mod readme;
/// What no door lets in: secrets.
mod redaction;
/// What is sent back, and how much of it.
mod replies;
/// A folder that changes while it is served, and while it is not.
mod rescan;
/// Who used the memory, as it is written down, and what is not.
mod sessions;
/// Clients that learn of the memory, and forget it again.
mod setup;
/// A folder, the program, and a client.
mod support;
/// The rules of the house.
mod tidy;
/// What changed, going back, and leaving nothing behind.
mod versions;
/// A root's own folder `.remindb/`: settings, first temperatures, ignore rules.
mod workspace;
/// What an agent writes, and what files make of it.
mod writes;
