//! Ingest: walks folders, redacts secrets and parses bytes into trees. Nothing here knows SQL.

pub(crate) mod ignore_patterns;
pub(crate) mod parse;
pub(crate) mod redact;
pub(crate) mod scan;
