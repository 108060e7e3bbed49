//! What a hit is worth: how well it matches, what stands beside it, and how warm it is.
//!
//! `score = relevance × (0.3 + 0.7 × temperature)`, so that warmth never hides what matches well.
//! Relevance is relative to the best hit of the same question. Among the hits under one heading,
//! the heading included, each lends a part of its relevance to the others: people ask for the
//! paragraph beside the one that names the thing. Only hits borrow; what matches nothing stays out.
//! This module does no IO.

use std::collections::HashMap;

use crate::heat;
use crate::store::NodeKey;

/// The part of its relevance that a hit lends to its neighbours.
const LENT: f64 = 0.25;

/// A hit, for ranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) key: NodeKey,
    pub(crate) parent: Option<NodeKey>,
    pub(crate) relevance: f64,
    pub(crate) temperature: f64,
}

/// What a relative of the node asked for is worth, by its distance in the tree.
pub(crate) fn nearness(distance: usize) -> f64 {
    2.0 / (2.0 + distance as f64)
}

/// The candidates' indices with their scores, best first; equals in the order they came in.
pub(crate) fn ranked(candidates: &[Candidate]) -> Vec<(usize, f64)> {
    let relevance = normalized(&smoothed(candidates));
    let mut ranked: Vec<(usize, f64)> = candidates
        .iter()
        .zip(relevance)
        .map(|(it, relevance)| heat::score(relevance, it.temperature))
        .enumerate()
        .collect();
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranked
}

fn smoothed(candidates: &[Candidate]) -> Vec<f64> {
    // The best two of each family: whoever is not the best borrows from the best.
    let mut best: HashMap<NodeKey, [(NodeKey, f64); 2]> = HashMap::new();
    let nobody = (NodeKey(0), 0.0);
    let mut enter = |family: NodeKey, key: NodeKey, relevance: f64| {
        let [first, second] = best.entry(family).or_insert([nobody; 2]);
        if first.1 < relevance {
            *second = *first;
            *first = (key, relevance);
        } else if second.1 < relevance {
            *second = (key, relevance);
        }
    };
    for it in candidates {
        enter(it.key, it.key, it.relevance);
        if let Some(parent) = it.parent {
            enter(parent, it.key, it.relevance);
        }
    }
    let best_other = |family: NodeKey, key: NodeKey| match best.get(&family) {
        Some([first, second]) if first.0 == key => second.1,
        Some([first, _]) => first.1,
        None => 0.0,
    };
    candidates
        .iter()
        .map(|it| {
            let above = it.parent.map_or(0.0, |parent| best_other(parent, it.key));
            it.relevance + LENT * f64::max(above, best_other(it.key, it.key))
        })
        .collect()
}

/// Relative to the best; all 1 where nothing tells them apart.
fn normalized(relevance: &[f64]) -> Vec<f64> {
    let best = relevance.iter().copied().filter(|it| it.is_finite()).fold(0.0, f64::max);
    let part =
        |it: f64| if 0.0 < best && it.is_finite() { (it / best).clamp(0.0, 1.0) } else { 1.0 };
    relevance.iter().map(|&it| part(it)).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Candidates as `(key, parent, relevance, temperature)`; parent 0 is none.
    #[track_caller]
    fn check(candidates: &[(i64, i64, f64, f64)], ranks: Expect) {
        let candidates: Vec<Candidate> = candidates
            .iter()
            .map(|&(key, parent, relevance, temperature)| Candidate {
                key: NodeKey(key),
                parent: (parent != 0).then_some(NodeKey(parent)),
                relevance,
                temperature,
            })
            .collect();
        let ranks_text: Vec<String> = ranked(&candidates)
            .into_iter()
            .map(|(at, score)| format!("{} {score:.2}", candidates[at].key.0))
            .collect();
        ranks.assert_eq(&ranks_text.join(", "));
    }

    #[test]
    fn the_best_match_at_birth_scores_the_same_everywhere() {
        check(&[(1, 0, 7.0, 0.5), (2, 0, 3.5, 0.5)], expect!["1 0.65, 2 0.32"]);
        check(&[(1, 0, 1e-6, 0.5)], expect!["1 0.65"]);
        check(&[(1, 0, 0.0, 0.5), (2, 0, 0.0, 0.5)], expect!["1 0.65, 2 0.65"]);
    }

    #[test]
    fn warmth_decides_between_equals_and_only_there() {
        check(&[(1, 0, 5.0, 0.1), (2, 0, 5.0, 0.9)], expect!["2 0.93, 1 0.37"]);
        check(&[(1, 0, 5.0, 0.0), (2, 0, 1.0, 1.0)], expect!["1 0.30, 2 0.20"]);
    }

    #[test]
    fn neighbours_of_a_good_hit_rank_before_strangers() {
        check(
            &[(1, 9, 8.0, 0.5), (2, 9, 2.0, 0.5), (3, 7, 3.0, 0.5)],
            expect!["1 0.65, 2 0.31, 3 0.23"],
        );
    }

    #[test]
    fn a_heading_lends_to_what_it_heads() {
        check(
            &[(9, 0, 8.0, 0.5), (2, 9, 2.0, 0.5), (3, 7, 3.0, 0.5)],
            expect!["9 0.65, 2 0.31, 3 0.23"],
        );
    }

    #[test]
    fn odd_numbers_make_no_odd_scores() {
        let odd = [f64::NAN, f64::INFINITY, -1.0, f64::MAX];
        let candidates: Vec<Candidate> = odd
            .iter()
            .map(|&it| Candidate { key: NodeKey(1), parent: None, relevance: it, temperature: it })
            .collect();
        assert!(ranked(&candidates).iter().all(|(_, score)| !(1.0 < *score || *score < 0.0)));
    }
}
