//! Invariants that hold for every input, called by the fuzz targets and by the tests.

pub mod align;
pub mod config;
pub mod frame;
#[cfg(feature = "html")]
pub mod html;
#[cfg(feature = "http")]
pub mod http;
pub mod ignore;
pub mod json;
pub mod ledger;
pub mod link;
pub mod markdown;
#[cfg(feature = "html")]
pub mod mathml;
pub mod plain;
pub mod query;
pub mod redact;
pub mod toml;
pub mod toon;
pub mod uri;
pub mod yaml;
