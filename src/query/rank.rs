//! Ranking: scores hits by their section's match, their own match and their temperature.
//!
//! `score = relevance × (0.3 + 0.7 × temperature)`, so that warmth never hides a good match.
//! Relevance is relative to the best hit of the same question. A *section* is a heading with the
//! nodes right under it. Two readings of a section are mixed:
//!
//! - *Prose*: the section is the answer. It is worth its best hit, and a fraction of each further
//!   one. The best sections expand the question ([`pseudo_relevance_reranking`]); where there are
//!   enough of them, a section that uses the same words gains. A section's best hit has all of its
//!   worth, the others a part of it, and a share of the rest in proportion to their match. Each has
//!   less than those before it, by their size, so that one section does not fill an answer.
//! - *Turns*: the text is the answer, as in a conversation, a journal or a log. It is worth its
//!   match with what the texts beside it add ([`super::sibling_relevance_boost`]), more if its
//!   lead, such as the speaker, has a word of the question. It gains from the strength of its
//!   section, from the words of the best texts, and where it opens its section; it loses where it
//!   asks.
//!
//! The shorter and the more numerous the texts of a section, the more it is turns.
//!
//! The text after one of the best hits is worth a part of that hit ([`lent_relevance`]), even if it
//! does not match: the answer often follows the paragraph that names the thing.
//!
//! A typed memory is a section of its own, since it has nothing in common with the others of its
//! month, and its score is multiplied by its weight ([`memory_weight`]).
//!
//! This module does no IO.

use std::collections::HashMap;

use super::stems_for_ranking::StemmedText;
use super::{pseudo_relevance_reranking, sort_by_worth};
use crate::model::clock::UnixMillis;
use crate::model::heat;
use crate::store::NodeRowId;
use crate::store::reader::TypedRankingFields;

/// Weight of each further hit of a section, relative to the one before it.
const FURTHER: f64 = 0.25;
/// Share of its section's worth that every hit has.
const LENT: f64 = 0.3;
/// Share of its worth that a hit keeps after [`CROWD_TOKENS`] of its section.
const CROWDING: f64 = 0.5;
/// Tokens of a section that crowd as much as [`CROWDING`] says.
const CROWD_TOKENS: f64 = 100.0;
/// Tokens that an answer spends on a hit besides its text.
const FRAME_TOKENS: f64 = 10.0;
/// Mean tokens of the texts of a section, and its number of nodes, at which it is half turns.
const TURN_TOKENS: f64 = 60.0;
const TURN_SIBLINGS: f64 = 10.0;
/// Part of its match that a turn gains whose lead has a word of the question.
const LED: f64 = 0.8;
/// Share of its match that a turn keeps which ends in a question: it asks, and the next one tells.
const ASKING: f64 = 0.95;
/// Part of its worth that a turn gains which opens its section: it tells what is new.
const OPENING: f64 = 0.2;
/// Share of its section's strength that a turn has.
const STRENGTH: f64 = 0.2;
/// Share of the best match that a turn gains which uses the words of the best.
const TURN_FEEDBACK: f64 = 0.2;
/// Share of a hit's relevance that the text after it has.
const BEHIND: f64 = 0.4;
/// Share of a section's worth that comes from pseudo-relevance feedback.
const FEEDBACK: f64 = 0.5;
/// Factors of typed memories by importance, most first.
const IMPORTANCE_WEIGHTS: [f64; 3] = [1.15, 1.0, 0.85];
/// Milliseconds after its update in which a typed memory loses half of what recency adds.
const RECENCY_HALF_LIFE_MS: f64 = 30.0 * 86_400_000.0;

/// A hit, for ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RankCandidate<'a> {
    pub(crate) key: NodeRowId,
    pub(crate) parent: Option<NodeRowId>,
    pub(crate) is_heading: bool,
    pub(crate) relevance: f64,
    pub(crate) turn: TurnFeatures,
    /// Tokens of its text.
    pub(crate) tokens: u32,
    pub(crate) temperature: f64,
    /// The stems of its beginning, if it was read.
    pub(crate) bag: Option<&'a StemmedText>,
    /// The factor of a typed memory.
    pub(crate) memory_weight: Option<f64>,
}

/// Holds the signs by which a text is ranked as a turn; without them it is prose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TurnFeatures {
    /// Its relevance with what the texts beside it add; `None` where they were not read.
    pub(crate) beside: Option<f64>,
    /// Number of nodes under its heading; 0 where they were not read.
    pub(crate) n_siblings: usize,
    /// Whether a word of the question is in its lead.
    pub(crate) is_led: bool,
    /// Whether it ends in a question.
    pub(crate) is_question: bool,
    /// Whether it opens its section, with the name of its speaker.
    pub(crate) is_opening: bool,
}

impl RankCandidate<'_> {
    /// Returns the heading of its section: itself, if it is one or a typed memory.
    fn section(&self) -> NodeRowId {
        let is_alone = self.is_heading || self.memory_weight.is_some();
        if is_alone { self.key } else { self.parent.unwrap_or(self.key) }
    }

    /// Returns its worth as a turn: its relevance with that of the texts beside it.
    fn near(&self) -> f64 {
        let beside = self.turn.beside.filter(|it| it.is_finite());
        let near = beside.unwrap_or(0.0).max(self.own());
        let telling = if self.turn.is_question { ASKING } else { 1.0 };
        let led = if self.turn.is_led { 1.0 + LED } else { 1.0 };
        telling * led * near
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
pub(crate) fn memory_weight(memory: TypedRankingFields, now: UnixMillis) -> f64 {
    let last = IMPORTANCE_WEIGHTS.len() - 1;
    let importance = IMPORTANCE_WEIGHTS[memory.importance_rank.min(last)];
    let age_ms = memory.updated_at.map_or(0, |at| now.since(at)).max(0) as f64;
    importance * (0.5 + 0.5 * (-age_ms / RECENCY_HALF_LIFE_MS).exp2())
}

/// Returns the relevance of each candidate, relative to the best.
pub(crate) fn relevance_scores(candidates: &[RankCandidate<'_>]) -> Vec<f64> {
    let sections = sections(candidates);
    let turns: Vec<f64> =
        sections.iter().map(|section| share_of_turns(candidates, section)).collect();
    let mut relevance = prose_scores(candidates, &sections);
    if turns.iter().any(|it| 0.0 < *it) {
        let as_turns = turn_scores(candidates, &sections);
        for (section, share) in sections.iter().zip(turns) {
            for &at in section {
                relevance[at] = (1.0 - share) * relevance[at] + share * as_turns[at];
            }
        }
    }
    normalized(relevance)
}

/// Returns how much a section is turns rather than prose, from 0 to 1.
fn share_of_turns(candidates: &[RankCandidate<'_>], section: &[usize]) -> f64 {
    let texts = || section.iter().map(|&at| &candidates[at]).filter(|it| !it.is_heading);
    let matched = || texts().filter(|it| 0.0 < it.own());
    let n_siblings = texts().map(|it| it.turn.n_siblings).max().unwrap_or(0);
    let n = matched().count().max(1) as f64;
    let tokens = matched().map(|it| f64::from(it.tokens)).sum::<f64>() / n;
    let odds =
        (TURN_TOKENS / tokens.max(1.0)).powi(4) * (n_siblings as f64 / TURN_SIBLINGS).powi(2);
    odds / (1.0 + odds)
}

/// Returns the relevance of each candidate where sections are prose.
fn prose_scores(candidates: &[RankCandidate<'_>], sections: &[Vec<usize>]) -> Vec<f64> {
    let mut relevance = vec![0.0; candidates.len()];
    for (section, worth) in sections.iter().zip(worth(candidates, sections)) {
        let best = section.first().map_or(0.0, |&at| candidates[at].own());
        let mut crowd = 0.0;
        for &at in section {
            let part = if 0.0 < best { candidates[at].own() / best } else { 1.0 };
            relevance[at] = worth * (LENT + (1.0 - LENT) * part) * CROWDING.powf(crowd);
            crowd += (FRAME_TOKENS + f64::from(candidates[at].tokens)) / CROWD_TOKENS;
        }
    }
    normalized(relevance)
}

/// Returns the relevance of each candidate where sections are turns.
fn turn_scores(candidates: &[RankCandidate<'_>], sections: &[Vec<usize>]) -> Vec<f64> {
    let mut scores: Vec<f64> = candidates.iter().map(RankCandidate::near).collect();
    let best = scores.iter().copied().fold(0.0, f64::max);
    let bags: Vec<(usize, &StemmedText)> = (0..)
        .zip(candidates)
        .filter(|(_, it)| 0.0 < it.own())
        .filter_map(|(at, it)| Some((at, it.bag?)))
        .collect();
    let texts: Vec<Vec<&StemmedText>> = bags.iter().map(|(_, bag)| vec![*bag]).collect();
    let worth: Vec<f64> = bags.iter().map(|(at, _)| scores[*at]).collect();
    let alike = pseudo_relevance_reranking::expansion_scores(&texts, &normalized(worth));
    for ((at, _), likeness) in bags.iter().zip(alike.map(normalized).unwrap_or_default()) {
        scores[*at] += TURN_FEEDBACK * best * likeness;
    }
    for section in sections {
        let strength = section.iter().map(|&at| candidates[at].own().powi(2)).sum::<f64>().sqrt();
        for &at in section {
            scores[at] += STRENGTH * strength;
        }
    }
    for (score, it) in scores.iter_mut().zip(candidates) {
        *score *= if it.turn.is_opening { 1.0 + OPENING } else { 1.0 };
    }
    normalized(scores)
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
    let mut places: HashMap<NodeRowId, usize> = HashMap::new();
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
    let texts: Vec<Vec<&StemmedText>> = sections
        .iter()
        .map(|section| section.iter().filter_map(|&at| candidates[at].bag).collect())
        .collect();
    if let Some(likeness) = pseudo_relevance_reranking::expansion_scores(&texts, &worth) {
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
