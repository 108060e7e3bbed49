//! Long-term memory for agents in one SQLite file.

mod clock;
mod fingerprint;
mod grams;
mod identity;
mod parse;
mod query;
mod ranks;
mod render;
mod store;
mod text;
mod tokens;
mod tree;
