//! Ingest: walks folders, redacts secrets and parses bytes into trees, without SQL.

pub(crate) mod conversation;
pub(crate) mod foreign;
pub(crate) mod ignore_patterns;
pub(crate) mod markdown_export_format;
pub(crate) mod parse;
pub(crate) mod redact;
pub(crate) mod scan;
