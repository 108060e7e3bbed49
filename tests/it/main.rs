//! Tests through the public doors: one binary, one module a subject.

#![allow(clippy::unwrap_used, reason = "what a test cannot do is its failure")]

/// What the README and the manual say.
mod readme;
/// The rules of the house.
mod tidy;
