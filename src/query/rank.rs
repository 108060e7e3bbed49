//! Ranking: scores hits by their section's match, their own match and their temperature.
//!
//! `score = relevance × (0.3 + 0.7 × temperature)`, so that warmth never hides a good match.
//! Relevance is relative to the best hit of the same question and made of four things:
//!
//! 1. A *section* is a heading with the nodes right under it. It is worth its best hit, and a
//!    fraction of each further one: several matching paragraphs make a section relevant.
//! 2. The best sections expand the question ([`query_expansion`]). Where there are enough of them,
//!    a section that uses the same words gains.
//! 3. A section's best hit has all of its worth, the others a part of it, and a share of the rest
//!    in proportion to their match. The match of a short text gains from the two texts before and
//!    after it ([`beside_relevance`]). Each has less than those before it, by their size, so that
//!    one section does not fill an answer.
//! 4. The text after one of the best hits is worth half of that hit ([`lent_relevance`]), even if
//!    it does not match: the answer often follows the paragraph that names the thing.
//!
//! A typed memory is a section of its own, since it has nothing in common with the others of its
//! month, and its score is multiplied by its weight ([`memory_weight`]).
//!
//! This module does no IO.

use std::collections::HashMap;

use super::bag_of_words::BagOfWords;
use super::{query_expansion, sort_by_worth};
use crate::model::clock::Millis;
use crate::model::heat;
use crate::store::NodeKey;
use crate::store::reader::MemoryFacts;

/// Weight of each further hit of a section, relative to the one before it.
const FURTHER: f64 = 0.25;
/// Share of its section's worth that every hit has.
const LENT: f64 = 0.3;
/// Share of its worth that a hit keeps after one of [`CROWD_TOKENS`] of its section. Crowding grows
/// with the square of the size: ten turns of a conversation crowd less than two long paragraphs.
const CROWDING: f64 = 0.4;
/// Tokens of a hit that crowds as much as [`CROWDING`] says.
const CROWD_TOKENS: f64 = 100.0;
/// Tokens that an answer spends on a hit besides its text.
const FRAME_TOKENS: f64 = 10.0;
/// Shares of its relevance that a text gives to those beside it: two before, one before, one
/// after, two after.
const BESIDE: [f64; 4] = [0.35, 0.3, 0.45, 0.35];
/// Tokens of a text that gains half of what a text without length would gain from those beside it:
/// a turn needs the turns around it to be understood, a long paragraph does not.
const BESIDE_TOKENS: f64 = 60.0;
/// Share of a hit's relevance that the text after it has.
const BEHIND: f64 = 0.5;
/// Share of a section's worth that comes from query expansion.
const FEEDBACK: f64 = 0.5;
/// Factors of typed memories by importance, most first.
const IMPORTANCE_WEIGHTS: [f64; 3] = [1.15, 1.0, 0.85];
/// Milliseconds after its update in which a typed memory loses half of what recency adds.
const RECENCY_HALF_LIFE_MS: f64 = 30.0 * 86_400_000.0;

/// A hit, for ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankCandidate<'a> {
    pub(crate) key: NodeKey,
    pub(crate) parent: Option<NodeKey>,
    pub(crate) is_heading: bool,
    pub(crate) relevance: f64,
    /// The relevance that the texts beside it add.
    pub(crate) beside: f64,
    /// Tokens of its text.
    pub(crate) tokens: u32,
    pub(crate) temperature: f64,
    /// The stems of its beginning, if it was read.
    pub(crate) bag: Option<&'a BagOfWords>,
    /// The factor of a typed memory.
    pub(crate) memory_weight: Option<f64>,
}

impl RankCandidate<'_> {
    /// Returns the heading of its section: itself, if it is one or a typed memory.
    fn section(&self) -> NodeKey {
        let is_alone = self.is_heading || self.memory_weight.is_some();
        if is_alone { self.key } else { self.parent.unwrap_or(self.key) }
    }

    /// Returns its relevance with what the texts beside it add.
    fn near(&self) -> f64 {
        self.own() + self.beside
    }

    /// Returns its relevance; 0 where that is not a finite number.
    fn own(&self) -> f64 {
        if self.relevance.is_finite() { self.relevance.max(0.0) } else { 0.0 }
    }
}

/// Returns the relevance of a relative of the anchor, by its distance in the tree.
pub(crate) fn relative_relevance(distance: usize) -> f64 {
    2.0 / (2.0 + distance as f64)
}

/// Returns the factor of a typed memory: its importance, times its recency, which falls from 1 to
/// a half.
pub(crate) fn memory_weight(memory: MemoryFacts, now: Millis) -> f64 {
    let last = IMPORTANCE_WEIGHTS.len() - 1;
    let importance = IMPORTANCE_WEIGHTS[memory.importance_rank.min(last)];
    let age_ms = memory.updated_at.map_or(0, |at| now.since(at)).max(0) as f64;
    importance * (0.5 + 0.5 * (-age_ms / RECENCY_HALF_LIFE_MS).exp2())
}

/// Returns the relevance that a text adds to one that stands `step` texts after it, or before if
/// negative.
pub(crate) fn beside_relevance(relevance: f64, step: i64, tokens: u32) -> f64 {
    let share = match step {
        -2 => BESIDE[0],
        -1 => BESIDE[1],
        1 => BESIDE[2],
        2 => BESIDE[3],
        _ => 0.0,
    };
    relevance * share * BESIDE_TOKENS / (BESIDE_TOKENS + f64::from(tokens))
}

/// Returns the relevance of each candidate, relative to the best.
pub(crate) fn relevance_scores(candidates: &[RankCandidate<'_>]) -> Vec<f64> {
    let sections = sections(candidates);
    let worth = worth(candidates, &sections);
    let mut relevance = vec![0.0; candidates.len()];
    for (section, worth) in sections.iter().zip(worth) {
        let mut section = section.clone();
        sort_by_worth(&mut section, &|it| candidates[it].near());
        let best = section.first().map_or(0.0, |&at| candidates[at].near());
        let mut crowd = 0.0;
        for at in section {
            let part = if 0.0 < best { candidates[at].near() / best } else { 1.0 };
            relevance[at] = worth * (LENT + (1.0 - LENT) * part) * CROWDING.powf(crowd);
            crowd += ((FRAME_TOKENS + f64::from(candidates[at].tokens)) / CROWD_TOKENS).powi(2);
        }
    }
    normalized(relevance)
}

/// Returns the indices of the `n` most relevant.
pub(crate) fn best_indices(relevance: &[f64], n: usize) -> Vec<usize> {
    let mut best: Vec<usize> = (0..relevance.len()).collect();
    sort_by_worth(&mut best, &|it| relevance[it]);
    best.truncate(n);
    best
}

/// Returns the least relevance of the text after a hit of that relevance.
pub(crate) fn lent_relevance(relevance: f64) -> f64 {
    BEHIND * relevance
}

/// Returns the candidates' indices with their scores, best first; equals in input order.
pub(crate) fn rank_candidates(
    candidates: &[RankCandidate<'_>],
    relevance: &[f64],
) -> Vec<(usize, f64)> {
    let scores: Vec<f64> = candidates
        .iter()
        .zip(relevance)
        .map(|(it, &relevance)| {
            heat::score(relevance, it.temperature) * it.memory_weight.unwrap_or(1.0)
        })
        .collect();
    let mut ranked: Vec<usize> = (0..scores.len()).collect();
    sort_by_worth(&mut ranked, &|it| scores[it]);
    ranked.into_iter().map(|it| (it, scores[it])).collect()
}

/// Returns the candidates' indices by section, the best of each first.
fn sections(candidates: &[RankCandidate<'_>]) -> Vec<Vec<usize>> {
    let mut places: HashMap<NodeKey, usize> = HashMap::new();
    let mut sections: Vec<Vec<usize>> = Vec::new();
    for (at, it) in candidates.iter().enumerate() {
        let place = *places.entry(it.section()).or_insert(sections.len());
        match sections.get_mut(place) {
            Some(section) => section.push(at),
            None => sections.push(vec![at]),
        }
    }
    for section in &mut sections {
        sort_by_worth(section, &|it| candidates[it].own());
    }
    sections
}

/// Returns the worth of each section, relative to the best.
fn worth(candidates: &[RankCandidate<'_>], sections: &[Vec<usize>]) -> Vec<f64> {
    let matched = sections.iter().map(|section| {
        let own = section.iter().map(|&at| candidates[at].own());
        own.zip(0..).map(|(own, nth)| own * FURTHER.powi(nth)).sum()
    });
    let mut worth = normalized(matched.collect());
    let texts: Vec<Vec<&BagOfWords>> = sections
        .iter()
        .map(|section| section.iter().filter_map(|&at| candidates[at].bag).collect())
        .collect();
    if let Some(likeness) = query_expansion::expansion_scores(&texts, &worth) {
        for (worth, likeness) in worth.iter_mut().zip(normalized(likeness)) {
            *worth = (1.0 - FEEDBACK) * *worth + FEEDBACK * likeness;
        }
    }
    worth
}

/// Scales values relative to the best; all become 1 where nothing tells them apart.
pub(super) fn normalized(mut values: Vec<f64>) -> Vec<f64> {
    let best = values.iter().copied().fold(0.0, f64::max);
    for it in &mut values {
        *it = if 0.0 < best && best.is_finite() { (*it / best).clamp(0.0, 1.0) } else { 1.0 };
    }
    values
}

#[cfg(test)]
mod tests;
