//! Invariants that hold for every input, called by the fuzz targets and by the tests.

pub mod align;
pub mod frame;
pub mod html;
pub mod markdown;
pub mod mathml;
pub mod query;
