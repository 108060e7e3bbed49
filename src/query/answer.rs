//! Answers, and how they are wanted: a text for an agent, the same as JSON for programs, and the
//! nodes that were shown.

use serde_json::Value;

use crate::model::clock::Millis;
use crate::model::heat::HeatThresholds;
use crate::store::NodeKey;

/// The answer to a question, or the report of a change.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The answer as an agent reads it, within its budget of tokens.
    pub text: String,
    /// The same as JSON, within the same budget; null unless the memory is
    /// [structured](crate::Memory::with_structured).
    // Its lists are moved in, which `json!` would build anew.
    pub structured: Value,
    /// The nodes that it shows, and how closely they were looked at.
    pub(crate) shown: Vec<(NodeKey, ViewKind)>,
    /// The budget that somebody gave, by the call or the settings.
    pub(crate) budget: Option<u32>,
}

impl Answer {
    /// An answer that shows no node, with the JSON that `output` wants.
    pub(crate) fn plain(text: String, output: Output, json: impl FnOnce() -> Value) -> Answer {
        Answer { text, structured: output.json(json), shown: Vec::new(), budget: None }
    }
}

/// The forms in which an answer is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Output {
    /// Text.
    #[default]
    Text,
    /// Text, and JSON that holds everything the text says, in the same order.
    Structured,
}

impl Output {
    /// Builds the JSON of an answer where it is wanted, and null elsewhere.
    pub(crate) fn json(self, build: impl FnOnce() -> Value) -> Value {
        match self {
            Output::Text => Value::Null,
            Output::Structured => build(),
        }
    }
}

/// How closely a node was looked at, which decides how much it warms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ViewKind {
    /// It was among the hits of a search.
    Listed,
    /// Its text was asked for.
    Read,
}

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QueryOptions {
    /// Tokens of each form of the answer; none, or 0, leaves it to the question.
    pub(crate) budget: Option<u32>,
    pub(crate) output: Output,
    /// What is called cold and hot.
    pub(crate) lines: HeatThresholds,
    pub(crate) now: Millis,
}

impl QueryOptions {
    /// Text without a given budget.
    pub(crate) fn text(now: Millis) -> QueryOptions {
        QueryOptions { budget: None, output: Output::Text, lines: HeatThresholds::default(), now }
    }
}
