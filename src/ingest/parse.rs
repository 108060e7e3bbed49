//! Parsers: bytes to a tree and warnings; parsing never fails.
//!
//! [`decode()`] turns the bytes of a file into text, [`parse()`] turns the text into a tree. Every
//! word that a reader would see is in exactly one node's content; code is kept byte for byte. No
//! node's content has more than 800 tokens: a larger block becomes a node of the same type with an
//! empty content and its parts as children. Nothing here does IO.

mod agent_transcript;
mod code;
mod content_splitting;
mod csv;
mod decode;
mod front_matter;
#[cfg(feature = "html")]
mod html;
mod json;
mod label;
pub(crate) mod link;
mod list_quote_footnote_writer;
mod markdown;
#[cfg(feature = "html")]
mod mathml;
mod mdx;
mod node_tree_builder;
mod plain;
mod toml;
mod toon;
mod value_tree;
mod yaml;

use std::borrow::Cow;

use crate::model::tree::{DocumentTree, NodeType};

pub use code::CodeLanguage;
#[cfg(any(test, fuzzing))]
pub(crate) use content_splitting::PART_TOKENS_MAX;
pub use decode::decode;
pub(crate) use label::of_code as label_of_code;
#[cfg(any(test, fuzzing))]
pub(crate) use markdown::options as markdown_options;

/// The notation of a source file, derived from the extension of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// CommonMark with GFM tables, task lists, strikethrough and footnotes.
    Markdown,
    /// HTML as browsers read it.
    Html,
    /// One JSON value, comments allowed.
    Json,
    /// JSON values one after the other, each a record or a turn of a conversation.
    JsonLines,
    /// YAML, all documents of it.
    Yaml,
    /// TOML.
    Toml,
    /// TOON, the compact table notation.
    Toon,
    /// A table with commas, or semicolons if its header has those.
    Csv,
    /// A table with tabs.
    Tsv,
    /// Paragraphs.
    Text,
    /// Org.
    Org,
    /// reStructuredText.
    Rst,
    /// Markdown with statements and components.
    Mdx,
    /// Source code; a compile reads it by a setting only.
    Code(CodeLanguage),
}

/// The known extensions and their syntaxes.
const SYNTAXES: &[(&str, Syntax)] = &[
    ("md", Syntax::Markdown),
    ("markdown", Syntax::Markdown),
    ("html", Syntax::Html),
    ("htm", Syntax::Html),
    ("xhtml", Syntax::Html),
    ("json", Syntax::Json),
    ("jsonc", Syntax::Json),
    ("jsonl", Syntax::JsonLines),
    ("ndjson", Syntax::JsonLines),
    ("yaml", Syntax::Yaml),
    ("yml", Syntax::Yaml),
    ("toml", Syntax::Toml),
    ("toon", Syntax::Toon),
    ("csv", Syntax::Csv),
    ("tsv", Syntax::Tsv),
    ("txt", Syntax::Text),
    ("org", Syntax::Org),
    ("rst", Syntax::Rst),
    ("mdx", Syntax::Mdx),
];

impl Syntax {
    /// Returns the known extensions of notes, without the dot.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        SYNTAXES.iter().map(|&(ending, _)| ending)
    }

    /// Returns whether this build parses it; one without the feature `html` reads no HTML.
    pub fn is_built_in(self) -> bool {
        self != Syntax::Html || cfg!(feature = "html")
    }

    /// Returns the syntax of the file at `path`; `None` for an unknown extension.
    pub fn of(path: &str) -> Option<Syntax> {
        let (_, ending) = path.rsplit_once('.')?;
        let known = SYNTAXES.iter().find(|(it, _)| it.eq_ignore_ascii_case(ending));
        let syntax = known.map(|&(_, syntax)| syntax);
        syntax.or_else(|| CodeLanguage::of_ending(ending).map(Syntax::Code))
    }
}

/// A warning about odd input that was worked around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Line of the source, counted from 1.
    pub line: u32,
    /// The oddity and how it was handled, lower case, no period.
    pub what: String,
}

/// The result of parsing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    /// The document.
    pub tree: DocumentTree,
    /// Warnings in order of line.
    pub warnings: Vec<Warning>,
}

/// Parses `text` from [`decode()`] into nodes in document order, with their tokens counted.
pub fn parse(syntax: Syntax, text: &str) -> Parsed {
    let mut parsed = match syntax {
        Syntax::Markdown => markdown::parse(text),
        #[cfg(feature = "html")]
        Syntax::Html => html::parse(text),
        #[cfg(not(feature = "html"))]
        Syntax::Html => {
            let what = "this build reads no HTML; kept as plain text".to_owned();
            let warnings = vec![Warning { line: 1, what }];
            Parsed { warnings, ..plain::parse(text) }
        }
        Syntax::Json => json::parse(text),
        Syntax::JsonLines => json::parse_lines(text),
        Syntax::Yaml => yaml::parse(text),
        Syntax::Toml => toml::parse(text),
        Syntax::Toon => toon::parse(text),
        Syntax::Csv => csv::parse(text),
        Syntax::Tsv => csv::parse_tabs(text),
        Syntax::Text => plain::parse(text),
        Syntax::Org => plain::org::parse(text),
        Syntax::Rst => plain::rst::parse(text),
        Syntax::Mdx => mdx::parse(text, markdown::parse),
        Syntax::Code(language) => code::parse(language, text),
    };
    for node in parsed.tree.nodes.iter_mut().filter(|it| it.node_type != NodeType::Code) {
        if let Cow::Owned(label) = link::strip_parameters(&node.label) {
            node.label = label;
        }
    }
    parsed.warnings.sort_by_key(|warning| warning.line);
    parsed
}

#[cfg(test)]
mod tests;
