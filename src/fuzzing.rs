//! Invariants that hold for every input, called by the fuzz targets and by the tests.

pub mod align;
pub mod config;
pub mod link;
pub mod redact;
