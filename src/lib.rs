//! Long-term memory for agents in one SQLite file.

mod clock;
mod heat;
mod identity;
mod parse;
mod text;
mod tokens;
mod tree;

#[cfg(any(test, fuzzing))]
pub mod fuzzing;
