//! Answers and their options: a text for an agent, JSON for programs, and the nodes shown.

use serde_json::Value;

use crate::model::clock::UnixMillis;
use crate::model::heat::HeatThresholds;
use crate::store::NodeRowId;

/// The answer to a question, or the report of a change.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The answer as an agent reads it, within its budget of tokens.
    pub text: String,
    /// The answer as JSON, within the same budget; null unless the memory is
    /// [structured](crate::Memory::with_structured).
    // Lists are moved into it: `json!` would clone them.
    pub structured: Value,
    /// The nodes that it shows, and how closely each was viewed.
    pub(crate) shown: Vec<(NodeRowId, AccessKind)>,
    /// The budget given by the call or the settings.
    pub(crate) budget: Option<u32>,
}

impl Answer {
    /// Returns an answer that shows no node, with JSON if `output` asks for it.
    pub(crate) fn plain(
        text: String,
        output: OutputFormat,
        json: impl FnOnce() -> Value,
    ) -> Answer {
        Answer { text, structured: output.json(json), shown: Vec::new(), budget: None }
    }
}

/// The forms of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Text.
    #[default]
    Text,
    /// Text, and JSON that holds everything in the text, in the same order.
    Structured,
}

impl OutputFormat {
    /// Builds the JSON of an answer if this form has any; returns null otherwise.
    pub(crate) fn json(self, build: impl FnOnce() -> Value) -> Value {
        match self {
            OutputFormat::Text => Value::Null,
            OutputFormat::Structured => build(),
        }
    }
}

/// How closely a node was viewed, which decides how much it warms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// It was among the hits of a search, which are listed best first.
    Listed,
    /// Its text was requested.
    Read,
}

/// The options of a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueryOptions {
    /// Tokens of each form of the answer; `None` and 0 mean the query's default.
    pub(crate) budget: Option<u32>,
    pub(crate) output: OutputFormat,
    /// The temperatures at which a node is called cold or hot.
    pub(crate) lines: HeatThresholds,
    pub(crate) now: UnixMillis,
}

impl QueryOptions {
    /// Returns options for text within the default budget.
    pub(crate) fn text(now: UnixMillis) -> QueryOptions {
        QueryOptions {
            budget: None,
            output: OutputFormat::Text,
            lines: HeatThresholds::default(),
            now,
        }
    }
}
