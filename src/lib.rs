//! Long-term memory for agents in one SQLite file.

mod clock;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod identity;
mod parse;
mod text;
mod tokens;
mod tree;
