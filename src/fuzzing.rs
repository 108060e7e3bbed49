//! Invariants that hold for every input: what the fuzzer and the property tests check.

pub mod markdown;
