//! Tests through the public doors: one binary, one module a subject.

/// What the README and the manual say.
mod readme;
/// The rules of the house.
mod tidy;
