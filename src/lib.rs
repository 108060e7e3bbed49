//! Long-term memory for agents in one SQLite file.

mod clock;
mod identity;
mod mcp;
mod parse;
mod rpc;
mod serve;
mod text;
mod tokens;
mod tree;

#[cfg(any(test, fuzzing))]
pub mod fuzzing;
