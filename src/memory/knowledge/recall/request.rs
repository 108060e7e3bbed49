//! Requests to recall, read from JSON arguments.

use serde_json::{Map, Value};

use crate::memory::knowledge::arguments::{ArgumentObject, KnowledgeResult};
use crate::memory::typed::MemoryError;
use crate::model::clock::UnixMillis;
use crate::model::next_step_advice::CallableTools;
use crate::model::vector::QueryVector;
use crate::settings::config::KnowledgeSettings;

/// Characters of a question, at most.
const QUESTION_CHARS_MAX: usize = 10_000;

/// The words of `include`.
const INCLUDED: &[&str] = &["superseded", "archived", "deleted"];

/// Asks for knowledge.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecallRequest {
    pub(super) query: Option<String>,
    pub(super) entity: Option<String>,
    pub(super) topic: Option<String>,
    /// Concepts, at most.
    pub(super) k: usize,
    /// Episodes, at most.
    pub(super) n_episodes: usize,
    /// Tokens of the answer, at most.
    pub(super) budget: u32,
    pub(super) kinds: Vec<String>,
    /// Kinds of episodes that settings know.
    pub(super) known_kinds: Vec<String>,
    pub(super) as_of: Option<UnixMillis>,
    pub(super) include: IncludedStates,
    /// Whether the parts of each score are shown.
    pub(super) explains: bool,
    /// The meaning of the question, where there is a source of vectors.
    pub(super) meaning: Option<QueryVector>,
    /// The tools that its advice names.
    pub(super) tools: CallableTools,
    /// The weight of words that occur at all, against their rarity.
    pub(super) keyword_weight: f64,
}

/// Nodes that are left out unless they are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IncludedStates {
    pub(super) superseded: bool,
    pub(super) archived: bool,
    pub(super) deleted: bool,
}

impl RecallRequest {
    /// Reads the arguments of `MemoryRecall`.
    pub(crate) fn parse(args: &Map<String, Value>) -> KnowledgeResult<RecallRequest> {
        let known = &[
            "query", "entity", "topic", "k", "episodes", "budget", "kinds", "as_of", "include",
            "explain",
        ];
        let given = ArgumentObject::new(args, "", known)?;
        let (query, entity, topic) = (
            given.string("query", QUESTION_CHARS_MAX)?,
            given.string("entity", 200)?,
            given.string("topic", 100)?,
        );
        if query.is_none() && entity.is_none() && topic.is_none() {
            return Err(MemoryError::invalid("give at least one of `query`, `entity`, `topic`"));
        }
        let include = given.texts("include", INCLUDED.len(), 20)?.unwrap_or_default();
        if let Some(word) = include.iter().find(|it| !INCLUDED.contains(&it.as_str())) {
            let why = format!("has `{word}`; known are {}", INCLUDED.join(", "));
            return Err(given.refuse("include", why));
        }
        let has = |word: &str| include.iter().any(|it| it == word);
        let number = |name: &str, min, max, default| {
            given.whole(name, min, max).map(|it| it.unwrap_or(default))
        };
        Ok(RecallRequest {
            query,
            entity,
            topic,
            k: number("k", 1, 50, 3)? as usize,
            n_episodes: number("episodes", 0, 100, 5)? as usize,
            budget: number("budget", 100, 100_000, 2_000)? as u32,
            kinds: given.texts("kinds", 20, 50)?.unwrap_or_default(),
            known_kinds: kinds_of(&KnowledgeSettings::default()),
            as_of: given.time("as_of", UnixMillis::parse_rfc3339_end)?,
            include: IncludedStates {
                superseded: has(INCLUDED[0]),
                archived: has(INCLUDED[1]),
                deleted: has(INCLUDED[2]),
            },
            explains: given.flag("explain")?.unwrap_or(false),
            meaning: None,
            tools: CallableTools::default(),
            keyword_weight: KnowledgeSettings::default().keyword_weight(),
        })
    }

    /// Returns the request as settings weigh it.
    #[must_use]
    pub(crate) fn weighed_by(self, settings: &KnowledgeSettings) -> RecallRequest {
        let known_kinds = kinds_of(settings);
        RecallRequest { keyword_weight: settings.keyword_weight(), known_kinds, ..self }
    }

    /// Returns the relevance of a node from that of its rare words and the share of words it has.
    pub(super) fn fused(&self, sim: f64, share: f64) -> f64 {
        (1.0 - self.keyword_weight) * sim + self.keyword_weight * share
    }
}

fn kinds_of(settings: &KnowledgeSettings) -> Vec<String> {
    settings.kinds().into_iter().map(str::to_owned).collect()
}
