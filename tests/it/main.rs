//! Tests through the public doors: one binary, one module a subject.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

/// The rules of the house.
mod tidy;
