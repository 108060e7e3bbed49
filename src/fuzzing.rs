//! Invariants that hold for every input, for the fuzz targets and the tests.
//!
//! `fuzz/seeds/` has a few small inputs for each target to begin with, and `fuzz/regressions/`
//! every input that ever violated an invariant. Tests replay both.

pub mod agent_memory_format_lines;
pub mod align;
pub mod answer_entry_rendering;
pub mod changeset_round_trip;
pub mod client_session_history;
pub mod code;
pub mod config;
pub mod conversation;
pub mod corrupt_database;
pub mod entity_and_value_extraction;
pub mod foreign_notes;
#[cfg(feature = "html")]
pub mod html;
#[cfg(feature = "http")]
pub mod http;
pub mod ignore;
pub mod json;
pub mod json_rpc_framing;
pub mod link;
#[cfg(feature = "shared")]
pub mod log_part;
pub mod markdown;
pub mod markdown_export_format;
#[cfg(feature = "html")]
pub mod mathml;
pub(crate) mod parser_invariants;
pub mod plain_text_formats;
#[cfg(feature = "shared")]
pub mod postgres_wire_protocol;
pub mod query;
pub mod redact;
#[cfg(test)]
mod redaction_false_positive_rate;
#[cfg(feature = "http")]
pub mod rest;
mod scratch_folder;
pub mod splice;
pub mod toml;
pub mod tool_call_arguments;
pub mod toon;
pub mod uri;
pub mod yaml;

#[cfg(test)]
mod tests;

/// A fuzz target: a name, and a function that panics when an input violates an invariant.
pub struct Target {
    /// Its name in `fuzz/Cargo.toml` and in the folders of inputs.
    pub name: &'static str,
    /// Checks one input.
    pub check: fn(&[u8]),
}

/// All targets of this build, by name.
pub const TARGETS: &[Target] = &[
    Target { name: "align", check: align::align },
    Target { name: "arguments", check: tool_call_arguments::arguments },
    Target { name: "changeset", check: changeset_round_trip::changeset },
    Target { name: "code", check: code::code },
    Target { name: "config", check: config::config },
    Target { name: "conversation", check: conversation::conversation },
    Target { name: "database", check: corrupt_database::database },
    Target { name: "entries", check: answer_entry_rendering::entries },
    Target { name: "export", check: markdown_export_format::export },
    Target { name: "foreign", check: foreign_notes::foreign },
    Target { name: "frame", check: json_rpc_framing::frame },
    #[cfg(feature = "html")]
    Target { name: "html", check: html::html },
    #[cfg(feature = "http")]
    Target { name: "http", check: http::http },
    Target { name: "ignore", check: ignore::ignore },
    Target { name: "json", check: json::json },
    Target { name: "ledger", check: client_session_history::ledger },
    Target { name: "link", check: link::link },
    #[cfg(feature = "shared")]
    Target { name: "log_part", check: log_part::log_part },
    Target { name: "markdown", check: markdown::markdown },
    Target { name: "matcher", check: entity_and_value_extraction::matcher },
    #[cfg(feature = "html")]
    Target { name: "mathml", check: mathml::mathml },
    Target { name: "memories", check: agent_memory_format_lines::memories },
    Target { name: "plain", check: plain_text_formats::plain },
    Target { name: "query", check: query::query },
    Target { name: "redact", check: redact::redact },
    #[cfg(feature = "http")]
    Target { name: "rest", check: rest::rest },
    Target { name: "splice", check: splice::splice },
    Target { name: "toml", check: toml::toml },
    Target { name: "toon", check: toon::toon },
    Target { name: "uri", check: uri::uri },
    #[cfg(feature = "shared")]
    Target { name: "wire", check: postgres_wire_protocol::wire },
    Target { name: "yaml", check: yaml::yaml },
];
