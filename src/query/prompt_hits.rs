//! Prompt hits: texts that are about a person's prompt, or none.
//!
//! A search always has a best hit; a prompt may be about nothing in the memory. So a hit counts
//! only above a floor that does not depend on the other hits: the share of the prompt's words that
//! it has, and their rarity. Two words are the least, since one says little about a prompt.
//!
//! The floor was measured with questions about one collection of notes, put to it and to others:
//! those about it clear the floor in all of 38 cases, and requests about something else in none of
//! 52. In longer conversations two thirds of the questions clear it, and about one in thirty of
//! those about another conversation.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::candidates::{self, NodeMatch, RarityWeightedCoverage};
use super::rank::{self, RankCandidate, TurnFeatures};
use super::spaceless_run_bigram_fallback::whole_or_in_bigrams;
use super::{Error, budget_enforcement, query_parser};
use crate::model::clock::UnixMillis;
use crate::query::render::{to_text_below, to_value};
use crate::store::NodeRowId;
use crate::store::reader::{NodeFilter, NodeSummary, Reader};

/// Least share of a prompt's words, least weight and least number of words.
const SHARE_MIN: f64 = 0.45;
const WEIGHT_MIN: f64 = 1.35;
const WORDS_MIN: u32 = 2;

/// Of a long prompt, a lower share is enough where more and rarer words are there.
const LONG_SHARE_MIN: f64 = 0.2;
const LONG_WEIGHT_MIN: f64 = 3.0;
const LONG_WORDS_MIN: u32 = 4;

/// Nodes that are ranked.
const CANDIDATES_MAX: usize = 200;

/// Hits of one answer.
const HITS_MAX: usize = 5;

/// Tokens of one hit's text; the rest of a longer one is left to a fetch.
const HIT_TOKENS_MAX: u32 = 160;

/// Tokens of a hit without its text.
const HEAD_TOKENS: u32 = 32;

/// A request for the hits of a person's prompt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptHitsRequest<'a> {
    pub(crate) prompt: &'a str,
    /// Ids of nodes that are not shown again.
    pub(crate) given: &'a [String],
    /// Tokens of the answer.
    pub(crate) budget: u32,
    pub(crate) now: UnixMillis,
}

/// The hits of a prompt, best first: a text with a line or more for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PromptHitsText {
    pub(crate) text: String,
    /// The ids of the nodes in it.
    pub(crate) ids: Vec<String>,
}

/// Returns the texts that are about a prompt, in at most its budget; `None` where nothing is.
pub(crate) fn prompt_hits(
    reader: &Reader,
    query: &PromptHitsRequest<'_>,
) -> Result<Option<PromptHitsText>, Error> {
    // In prose, quotes make no phrase.
    let asked = query_parser::parse_query(&query.prompt.replace('"', " "));
    let filter = NodeFilter::default();
    let terms = whole_or_in_bigrams(reader, filter, asked.terms)?;
    let mut found = candidates::match_words(reader, &terms, filter, CANDIDATES_MAX)?;
    if !found.iter().any(|it| is_about(it.coverage)) {
        return Ok(None);
    }
    let ranked = ranked(reader, &found, query.now)?;
    found.retain(|it| is_about(it.coverage));
    let keys: Vec<NodeRowId> = ranked
        .into_iter()
        .filter(|key| found.iter().any(|it| it.node.key == *key))
        .take(HITS_MAX)
        .collect();
    shown(reader, &keys, query)
}

/// Returns whether a node is about the prompt.
fn is_about(coverage: RarityWeightedCoverage) -> bool {
    let RarityWeightedCoverage { share, weight, n_words } = coverage;
    let clears = |share_min, weight_min, words_min| {
        share_min <= share && weight_min <= weight && words_min <= n_words
    };
    clears(SHARE_MIN, WEIGHT_MIN, WORDS_MIN)
        || clears(LONG_SHARE_MIN, LONG_WEIGHT_MIN, LONG_WORDS_MIN)
}

/// Returns the keys of the matches, best first, as a search ranks them.
fn ranked(reader: &Reader, found: &[NodeMatch], now: UnixMillis) -> Result<Vec<NodeRowId>, Error> {
    let attended = reader.attended()?;
    let candidates: Vec<RankCandidate<'_>> = found
        .iter()
        .map(|it| RankCandidate {
            key: it.node.key,
            parent: it.node.parent,
            is_heading: it.node.is_heading,
            relevance: it.relevance,
            turn: TurnFeatures::default(),
            tokens: it.node.tokens,
            temperature: it.node.heat.now(attended),
            bag: Some(&it.bag),
            memory_weight: it.node.memory.map(|it| rank::memory_weight(it, now)),
        })
        .collect();
    let relevance = rank::relevance_scores(&candidates);
    let ranked = rank::rank_candidates(&candidates, &relevance);
    Ok(ranked.into_iter().map(|(at, _)| candidates[at].key).collect())
}

/// Formats the hits and the text after each, without those that were given before.
fn shown(
    reader: &Reader,
    keys: &[NodeRowId],
    query: &PromptHitsRequest<'_>,
) -> Result<Option<PromptHitsText>, Error> {
    let following = reader.following_texts(keys, None)?;
    let mut order: Vec<NodeRowId> = Vec::new();
    // The answer is often in the text after the one that names the thing.
    for key in keys.iter().flat_map(|it| [Some(*it), following.get(it).map(|it| it.key)]).flatten()
    {
        if !order.contains(&key) {
            order.push(key);
        }
    }
    let mut heads: HashMap<NodeRowId, NodeSummary> =
        reader.heads(&order)?.into_iter().map(|it| (it.key, it)).collect();
    let contents = reader.contents(&order)?;
    let mut shown = PromptHitsText { text: String::new(), ids: Vec::new() };
    let mut left = query.budget;
    for key in order {
        let (Some(head), Some(content)) = (heads.remove(&key), contents.get(&key)) else {
            continue;
        };
        if query.given.contains(&head.id) || content.trim().is_empty() {
            continue;
        }
        let max = HIT_TOKENS_MAX.min(left.saturating_sub(HEAD_TOKENS));
        let text = budget_enforcement::cut_to_tokens(content.trim(), max).trim_end();
        let more = if text.len() < content.trim().len() { " …" } else { "" };
        let path = head.path.as_deref().map_or(String::new(), |it| format!(" {}", to_value(it)));
        let text_below = to_text_below(text, " ");
        let block = format!("(id={}{path}) {text_below}{more}\n", head.id);
        let cost = budget_enforcement::line_cost(&block);
        if text.is_empty() || left < cost {
            break;
        }
        left -= cost;
        shown.text += &block;
        shown.ids.push(head.id);
    }
    Ok((!shown.ids.is_empty()).then_some(shown))
}
