//! Below one pair of matched parents: equal children, headings by label, sections by their content.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use super::{MatchKey, Matcher, key_of};
use crate::model::identity::across_files::{most_frequent, shared};
use crate::model::identity::approximate_lcs;

/// Maximum pairs of unmatched sections that one gap compares; larger gaps are left to the later
/// steps.
const SECTION_PAIRS_MAX: usize = 256;

/// A child as an element of a sequence: equal tokens may correspond.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum SiblingToken {
    /// A matched node, by its new index.
    Matched(usize),
    /// An unmatched node, by its text.
    Free(u64),
    /// A node that occurs only on the old side, or only on the new one.
    Old(usize),
    New(usize),
}

/// The unmatched children between two neighbours that are matched in order.
pub(super) struct UnmatchedGap {
    pub(super) olds: Vec<usize>,
    pub(super) news: Vec<usize>,
    /// Whether a matched node bounds it: a sibling, or the parent of both.
    pub(super) is_anchored: bool,
}

impl Matcher<'_> {
    /// Matches the equal children of two matched parents.
    pub(super) fn link_children(&mut self, old: usize, new: usize) {
        let olds = self.old.children(old).to_vec();
        let news = self.new.children(new).to_vec();
        self.work += (olds.len() + news.len()) as u64;
        self.link_in_order(&olds, &news, MatchKey::Subtree);
        if !self.has_free(&olds, &news) {
            return;
        }
        self.link_in_order(&olds, &news, MatchKey::Own);
        self.link_equal(&olds, &news, MatchKey::Subtree);
        self.link_equal(&olds, &news, MatchKey::Own);
        if !self.has_free(&olds, &news) {
            return;
        }
        self.link_headings(&olds, &news);
        for gap in self.gaps(old, new) {
            self.link_sections(&gap);
            self.link_alike_frames(&gap);
        }
    }

    /// Returns the gaps below two matched parents that have unmatched children on both sides.
    pub(super) fn gaps(&self, old: usize, new: usize) -> Vec<UnmatchedGap> {
        let (olds, news) = (self.old.children(old), self.new.children(new));
        let (old_gaps, new_gaps, n_gaps) = self.gap_numbers(olds, news);
        let is_below = old < self.old.len();
        let mut gaps: Vec<UnmatchedGap> = (0..n_gaps)
            .map(|_| UnmatchedGap {
                olds: Vec::new(),
                news: Vec::new(),
                is_anchored: is_below || 1 < n_gaps,
            })
            .collect();
        for (&at, &gap) in olds.iter().zip(&old_gaps).filter(|(at, _)| self.is_old_free(**at)) {
            gaps[gap].olds.push(at);
        }
        for (&at, &gap) in news.iter().zip(&new_gaps).filter(|(at, _)| self.is_new_free(**at)) {
            gaps[gap].news.push(at);
        }
        gaps.retain(|gap| !gap.olds.is_empty() && !gap.news.is_empty());
        gaps
    }

    /// Returns for each sibling its gap, the number of in-order matches before it, and the number
    /// of gaps.
    fn gap_numbers(&self, olds: &[usize], news: &[usize]) -> (Vec<usize>, Vec<usize>, usize) {
        let is_here = |new: usize| news.get(self.new.rank(new)) == Some(&new);
        let pairs: Vec<(usize, usize)> = olds
            .iter()
            .enumerate()
            .filter_map(|(i, &old)| Some((i, self.to_new[old].filter(|&new| is_here(new))?)))
            .map(|(i, new)| (i, self.new.rank(new)))
            .collect();
        let anchors = approximate_lcs::longest_increasing_pairs(&pairs);
        let numbers = |len: usize, ends: Vec<usize>| -> Vec<usize> {
            let mut gap = 0;
            (0..len)
                .map(|at| {
                    gap += usize::from(ends.get(gap).is_some_and(|&end| end < at));
                    gap
                })
                .collect()
        };
        let old_gaps = numbers(olds.len(), anchors.iter().map(|it| it.0).collect());
        let new_gaps = numbers(news.len(), anchors.iter().map(|it| it.1).collect());
        (old_gaps, new_gaps, anchors.len() + 1)
    }

    fn has_free(&self, olds: &[usize], news: &[usize]) -> bool {
        olds.iter().any(|&at| self.is_old_free(at)) && news.iter().any(|&at| self.is_new_free(at))
    }

    /// Returns the key by which unmatched siblings are equal. A heading's own text is none: equal
    /// headings are distinguished by what they head.
    fn sibling_key(&self, at: usize, key: MatchKey, is_new: bool) -> Option<u64> {
        let forest = if is_new { &self.new } else { &self.old };
        match key {
            MatchKey::Own if forest.is_heading(at) => None,
            // Between siblings even empty nodes are known by their place.
            MatchKey::Subtree => Some(forest.subtree_hash(at)),
            key => key_of(forest, at, key),
        }
    }

    /// Matches equal siblings in the same order, around those already matched.
    fn link_in_order(&mut self, olds: &[usize], news: &[usize], key: MatchKey) {
        let old_tokens: Vec<SiblingToken> = olds
            .iter()
            .map(|&at| match (self.to_new[at], self.sibling_key(at, key, false)) {
                (Some(new), _) => SiblingToken::Matched(new),
                (None, Some(key)) => SiblingToken::Free(key),
                (None, None) => SiblingToken::Old(at),
            })
            .collect();
        let new_tokens: Vec<SiblingToken> = news
            .iter()
            .map(|&at| match (self.to_old[at], self.sibling_key(at, key, true)) {
                (Some(_), _) => SiblingToken::Matched(at),
                (None, Some(key)) => SiblingToken::Free(key),
                (None, None) => SiblingToken::New(at),
            })
            .collect();
        for (i, j) in approximate_lcs::pair_in_order(&old_tokens, &new_tokens, &mut self.work) {
            self.link(olds[i], news[j]);
        }
    }

    /// Matches equal siblings in any order, the first with the first.
    fn link_equal(&mut self, olds: &[usize], news: &[usize], key: MatchKey) {
        let mut places: HashMap<u64, VecDeque<usize>> = HashMap::new();
        for &at in news.iter().filter(|&&at| self.is_new_free(at)) {
            if let Some(key) = self.sibling_key(at, key, true) {
                places.entry(key).or_default().push_back(at);
            }
        }
        for &at in olds {
            if !self.is_old_free(at) {
                continue;
            }
            let key = self.sibling_key(at, key, false);
            if let Some(new) = key.and_then(|key| places.get_mut(&key)?.pop_front()) {
                self.link(at, new);
            }
        }
    }

    /// Matches headings by text and level, then by label and level, then by label.
    fn link_headings(&mut self, olds: &[usize], news: &[usize]) {
        let (old_gaps, new_gaps, _) = self.gap_numbers(olds, news);
        for tier in 0..3 {
            let mut groups: HashMap<(u64, Option<u8>), [Vec<usize>; 2]> = HashMap::new();
            let mut keys = Vec::new();
            for (side, siblings) in [olds, news].into_iter().enumerate() {
                for &at in siblings {
                    let (forest, is_free) = match side {
                        0 => (&self.old, self.is_old_free(at)),
                        _ => (&self.new, self.is_new_free(at)),
                    };
                    let Some(label) = forest.heading_key(at).filter(|_| is_free) else { continue };
                    let level = forest.node(at).level;
                    let key = match tier {
                        0 => (forest.own(at), level),
                        1 => (label, level),
                        _ => (label, None),
                    };
                    let sides = groups.entry(key).or_insert_with(|| {
                        keys.push(key);
                        Default::default()
                    });
                    sides[side].push(at);
                }
            }
            for key in keys {
                let [olds, news] = &groups[&key];
                self.link_namesakes(olds, news, &old_gaps, &new_gaps);
            }
        }
    }

    /// Matches headings of one label: first those that share children, then those in one gap, then
    /// in order.
    fn link_namesakes(
        &mut self,
        olds: &[usize],
        news: &[usize],
        old_gaps: &[usize],
        new_gaps: &[usize],
    ) {
        if let ([old], [new]) = (olds, news) {
            self.link(*old, *new);
            return;
        }
        if olds.is_empty() || news.is_empty() {
            return;
        }
        let mut votes = Vec::new();
        for &old in olds {
            let children = self.old.children(old);
            self.work += children.len() as u64;
            let theirs = children.iter().filter_map(|&child| self.to_new[child]);
            let parents = theirs.map(|child| self.new.parent(child));
            votes.extend(
                parents.filter(|it| news.binary_search(it).is_ok()).map(|parent| (old, parent)),
            );
        }
        for (old, new) in most_frequent(votes, usize::MAX) {
            self.link(old, new);
        }
        let mut places: HashMap<usize, VecDeque<usize>> = HashMap::new();
        for &at in news.iter().filter(|&&at| self.is_new_free(at)) {
            places.entry(new_gaps[self.new.rank(at)]).or_default().push_back(at);
        }
        for &old in olds.iter().filter(|&&at| self.is_old_free(at)).collect::<Vec<_>>() {
            let gap = old_gaps[self.old.rank(old)];
            if let Some(new) = places.get_mut(&gap).and_then(VecDeque::pop_front) {
                self.link(old, new);
            }
        }
        let old_rest: Vec<usize> =
            olds.iter().copied().filter(|&at| self.is_old_free(at)).collect();
        let new_rest: Vec<usize> =
            news.iter().copied().filter(|&at| self.is_new_free(at)).collect();
        for (old, new) in old_rest.into_iter().zip(new_rest) {
            self.link(old, new);
        }
    }

    /// Matches unmatched frames in the same gap that share at least half of their children. A child
    /// counts if it is matched or equal. This finds renamed headings.
    fn link_sections(&mut self, gap: &UnmatchedGap) {
        let olds = gap.olds.iter().copied().filter(|&at| self.old.is_holder(at));
        let news = gap.news.iter().copied().filter(|&at| self.new.is_holder(at));
        let (olds, news): (Vec<usize>, Vec<usize>) = (olds.collect(), news.collect());
        if SECTION_PAIRS_MAX < olds.len().saturating_mul(news.len()) {
            return;
        }
        let old_parts: Vec<Vec<SiblingToken>> =
            olds.iter().map(|&at| self.parts(at, false)).collect();
        let new_parts: Vec<Vec<SiblingToken>> =
            news.iter().map(|&at| self.parts(at, true)).collect();
        let mut shares = Vec::new();
        for (&old, old_parts) in olds.iter().zip(&old_parts) {
            for (&new, new_parts) in news.iter().zip(&new_parts) {
                let n_both = old_parts.len() + new_parts.len();
                self.work += n_both as u64;
                let n_shared = shared(old_parts, new_parts);
                let is_other_level = self.old.node(old).level != self.new.node(new).level;
                if n_both <= 4 * n_shared {
                    let share = Reverse(2000 * n_shared / n_both);
                    shares.push((share, is_other_level, old, new));
                }
            }
        }
        shares.sort_unstable();
        for (_, _, old, new) in shares {
            self.link(old, new);
        }
    }

    /// Returns the children of a node as sorted tokens.
    fn parts(&self, at: usize, is_new: bool) -> Vec<SiblingToken> {
        let (forest, matched) = match is_new {
            true => (&self.new, &self.to_old),
            false => (&self.old, &self.to_new),
        };
        let token = |&child: &usize| match matched[child] {
            Some(other) => SiblingToken::Matched(if is_new { child } else { other }),
            None => SiblingToken::Free(forest.subtree_hash(child)),
        };
        let mut parts: Vec<SiblingToken> = forest.children(at).iter().map(token).collect();
        parts.sort_unstable();
        parts
    }
}
