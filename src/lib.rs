//! Long-term memory for agents in one SQLite file.

mod cli;
mod clock;
mod compile;
mod config;
mod fingerprint;
mod grams;
mod identity;
mod links;
mod nearest;
mod parse;
mod ranks;
mod redact;
mod scan;
mod seeds;
mod store;
mod text;
mod tokens;
mod trail;
mod tree;

#[cfg(any(test, fuzzing))]
pub mod fuzzing;

/// Runs the program.
pub fn run(args: impl IntoIterator<Item = std::ffi::OsString>) -> std::process::ExitCode {
    cli::run(args)
}
