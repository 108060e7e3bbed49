//! Boosts relevance by siblings: words of a question near a text count for it, too.
//!
//! A conversation spreads a thing over turns: one names it, the next tells about it. A text gains
//! the question's words of the two texts before and after it under the same heading. Each word
//! counts once, where it is nearest, so that turns that repeat each other gain nothing.
//!
//! Only the index of siblings is read for this; texts that gain most are read to be ranked.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::candidates::NodeMatch;
use super::speaker_match_weighting::AskedSpeakers;
use super::{Error, sort_by_worth};
use crate::store::NodeRowId;
use crate::store::reader::{Reader, SiblingsForRanking};

/// Shares of its words that a text gives to those after it, nearest first.
const GIVEN_AFTER: [f64; 2] = [0.6, 0.35];
/// Shares of its words that a text gives to those before it, nearest first.
const GIVEN_BEFORE: [f64; 2] = [0.5, 0.35];
/// The best matches that give; further ones change no answer.
const GIVERS_MAX: usize = 80;
/// Texts without a match that are ranked.
const UNMATCHED_MAX: usize = 24;

/// The scores of texts, boosted by what matches in the texts beside them.
#[derive(Debug, Default)]
pub(super) struct SiblingBoostedScores {
    near: HashMap<NodeRowId, RelevanceWithSiblings>,
    /// Number of nodes under each heading.
    n_siblings: HashMap<NodeRowId, usize>,
    /// The first texts under their headings, as far as they were met.
    openings: HashSet<NodeRowId>,
}

/// The relevance of a text by itself, and with its siblings.
#[derive(Clone, Debug, Default)]
struct RelevanceWithSiblings {
    /// Relevance by term.
    parts: Vec<f64>,
    /// Share of the question by term.
    shares: Vec<f64>,
}

impl SiblingBoostedScores {
    /// Returns the context of matches, best first.
    pub(super) fn of(
        reader: &Reader,
        matches: &[NodeMatch],
        speakers: &AskedSpeakers,
    ) -> Result<SiblingBoostedScores, Error> {
        let mut by_parent: BTreeMap<NodeRowId, Vec<&NodeMatch>> = BTreeMap::new();
        for it in matches.iter().take(GIVERS_MAX) {
            if let Some(parent) = it.node.parent
                && is_text(it)
            {
                by_parent.entry(parent).or_default().push(it);
            }
        }
        let mut vicinity = SiblingBoostedScores::default();
        for (parent, matches) in by_parent {
            let positions: Vec<i64> = matches.iter().map(|it| it.node.position).collect();
            let around = reader.siblings_around(parent, &positions)?;
            for (it, siblings) in matches.into_iter().zip(&around) {
                vicinity.n_siblings.insert(parent, siblings.n);
                vicinity.openings.extend(match siblings.before[..] {
                    [] => Some(it.node.key),
                    [before] => Some(before),
                    _ => None,
                });
                vicinity.give(it, siblings, speakers.giving(&it.bag));
            }
        }
        Ok(vicinity)
    }

    /// Returns the relevance of a text with what those beside it add, if it has any.
    pub(super) fn relevance(&self, key: NodeRowId) -> Option<f64> {
        self.near.get(&key).map(|it| it.parts.iter().sum())
    }

    /// Returns the share of the question that a text has, by itself or, less, beside it.
    pub(super) fn share(&self, key: NodeRowId) -> f64 {
        self.near.get(&key).map_or(0.0, |it| it.shares.iter().sum::<f64>().min(1.0))
    }

    /// Returns the number of nodes under a heading; 0 where it was not read.
    pub(super) fn n_siblings(&self, parent: Option<NodeRowId>) -> usize {
        parent.and_then(|it| self.n_siblings.get(&it)).copied().unwrap_or(0)
    }

    /// Returns whether a text is the first under its heading, as far as it was met.
    pub(super) fn is_opening(&self, key: NodeRowId) -> bool {
        self.openings.contains(&key)
    }

    /// Returns the best texts that are no matches.
    pub(super) fn unmatched(&self, matches: &[NodeMatch]) -> Vec<NodeRowId> {
        let mut keys: Vec<NodeRowId> = self.near.keys().copied().collect();
        keys.sort_unstable();
        let mut known: Vec<NodeRowId> = matches.iter().map(|it| it.node.key).collect();
        known.sort_unstable();
        keys.retain(|it| known.binary_search(it).is_err());
        let worth: Vec<f64> = keys.iter().map(|it| self.relevance(*it).unwrap_or(0.0)).collect();
        let mut best: Vec<usize> = (0..keys.len()).collect();
        sort_by_worth(&mut best, &|it| worth[it]);
        best.truncate(UNMATCHED_MAX);
        best.into_iter().map(|it| keys[it]).collect()
    }

    /// Adds the words of a match to the texts around it. `told` is the part of them that counts for
    /// the share of the question, and that for the next text.
    fn give(
        &mut self,
        it: &NodeMatch,
        siblings: &SiblingsForRanking,
        (told, told_next): (f64, f64),
    ) {
        self.add(it.node.key, it, (1.0, 1.0));
        for (keys, shares) in [(&siblings.after, GIVEN_AFTER), (&siblings.before, GIVEN_BEFORE)] {
            for (key, share) in keys.iter().zip(shares) {
                let is_next = siblings.after.first() == Some(key);
                self.add(*key, it, (share, share * if is_next { told_next } else { told }));
            }
        }
    }

    /// Adds a part of the words of a match to a text, and another of its share of the question.
    fn add(&mut self, key: NodeRowId, it: &NodeMatch, (part_given, share_given): (f64, f64)) {
        let near = self.near.entry(key).or_default();
        add_most(&mut near.parts, &it.parts, part_given);
        add_most(&mut near.shares, &it.shares, share_given);
    }
}

/// Raises values to a part of others, where that is more.
fn add_most(kept: &mut Vec<f64>, given: &[f64], part: f64) {
    kept.resize(given.len(), 0.0);
    for (kept, given) in kept.iter_mut().zip(given) {
        *kept = kept.max(part * given);
    }
}

/// Returns whether a match is a text: no heading, and no typed memory, which says nothing about
/// those beside it.
fn is_text(it: &NodeMatch) -> bool {
    !it.node.is_heading && it.node.memory.is_none()
}

#[cfg(test)]
mod tests;
