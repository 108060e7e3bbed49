//! Tests through the public doors: one binary, one module a subject.

/// The rules of the house.
mod tidy;
