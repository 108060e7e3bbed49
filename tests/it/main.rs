//! Tests through the public doors: one binary, one module a subject.
