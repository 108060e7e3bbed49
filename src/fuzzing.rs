//! Invariants that hold for every input, for the fuzz targets and the tests.
//!
//! `fuzz/seeds/` has a few small inputs for each target to begin with, and `fuzz/regressions/`
//! every input that ever violated an invariant. Tests replay both.

pub mod align;
pub mod arguments;
pub mod changeset;
pub mod code;
pub mod config;
pub mod conversation;
pub mod database;
pub mod entries;
pub mod export;
pub mod foreign;
pub mod frame;
#[cfg(feature = "html")]
pub mod html;
#[cfg(feature = "http")]
pub mod http;
pub mod ignore;
pub mod json;
pub mod ledger;
pub mod link;
#[cfg(feature = "shared")]
pub mod log_part;
pub mod markdown;
pub mod matcher;
#[cfg(feature = "html")]
pub mod mathml;
pub mod memories;
pub(crate) mod parser_invariants;
pub mod plain;
pub mod query;
#[cfg(test)]
pub(crate) mod random_cases;
pub mod redact;
#[cfg(test)]
mod redaction_false_positive_rate;
#[cfg(feature = "http")]
pub mod rest;
mod scratch_folder;
pub mod splice;
pub mod toml;
pub mod toon;
pub mod uri;
#[cfg(feature = "shared")]
pub mod wire;
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
    Target { name: "arguments", check: arguments::arguments },
    Target { name: "changeset", check: changeset::changeset },
    Target { name: "code", check: code::code },
    Target { name: "config", check: config::config },
    Target { name: "conversation", check: conversation::conversation },
    Target { name: "database", check: database::database },
    Target { name: "entries", check: entries::entries },
    Target { name: "export", check: export::export },
    Target { name: "foreign", check: foreign::foreign },
    Target { name: "frame", check: frame::frame },
    #[cfg(feature = "html")]
    Target { name: "html", check: html::html },
    #[cfg(feature = "http")]
    Target { name: "http", check: http::http },
    Target { name: "ignore", check: ignore::ignore },
    Target { name: "json", check: json::json },
    Target { name: "ledger", check: ledger::ledger },
    Target { name: "link", check: link::link },
    #[cfg(feature = "shared")]
    Target { name: "log_part", check: log_part::log_part },
    Target { name: "markdown", check: markdown::markdown },
    Target { name: "matcher", check: matcher::matcher },
    #[cfg(feature = "html")]
    Target { name: "mathml", check: mathml::mathml },
    Target { name: "memories", check: memories::memories },
    Target { name: "plain", check: plain::plain },
    Target { name: "query", check: query::query },
    Target { name: "redact", check: redact::redact },
    #[cfg(feature = "http")]
    Target { name: "rest", check: rest::rest },
    Target { name: "splice", check: splice::splice },
    Target { name: "toml", check: toml::toml },
    Target { name: "toon", check: toon::toon },
    Target { name: "uri", check: uri::uri },
    #[cfg(feature = "shared")]
    Target { name: "wire", check: wire::wire },
    Target { name: "yaml", check: yaml::yaml },
];
