//! Promises that hold for any bytes: what `cargo fuzz` and the property tests run.

pub mod frame;
