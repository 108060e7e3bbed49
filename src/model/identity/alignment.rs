//! Aligns one file's old tree with its new one.
//!
//! Evidence is used from the strongest to the weakest, and a match is final:
//!
//! 1. a text that occurs once on both sides; a former text of a node that it has again;
//! 2. below matched parents, from the top down: equal subtrees and equal texts in order, headings
//!    by label and level, sections by their content (`siblings.rs`);
//! 3. parents most of whose children are matched to each other's;
//! 4. equal subtrees, texts and headings anywhere in the file: moves;
//! 5. below matched parents: similar texts, renamed headings (`near.rs`).
//!
//! Every new pair of parents goes through 2 and 5 in its turn. The roots are the children of a
//! virtual root, which is matched from the start. There is no recursion, and every step looks at a
//! bounded number of candidates per node.

mod fuzzy_child_matching;
mod siblings;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::model::identity::alignment_side::AlignmentSide;
use crate::model::identity::similarity::Shingles;
use crate::model::identity::{AlignmentNode, TextHistoryIndex};

/// Maximum rounds in which matched children match their parents; each goes up one level.
const VOTE_ROUNDS_MAX: usize = 8;

/// Returns for each new node the index of the matching old node, if any. Each old node is used at
/// most once, and nodes of different types never match.
pub(crate) fn align(
    old: &[AlignmentNode<'_>],
    new: &[AlignmentNode<'_>],
    former: &TextHistoryIndex,
) -> Vec<Option<usize>> {
    if old.is_empty() {
        return vec![None; new.len()];
    }
    align_counted(old, new, former).0
}

/// Aligns as [`align`] does, and counts the elementary steps.
pub(super) fn align_counted(
    old: &[AlignmentNode<'_>],
    new: &[AlignmentNode<'_>],
    former: &TextHistoryIndex,
) -> (Vec<Option<usize>>, u64) {
    let mut it = Matcher::new(old, new);
    it.link_unique();
    it.link_former(former, FormerTextMatchCondition::Gone);
    it.descend();
    it.climb(ContainersOnlyOrAllParents::Frames);
    it.link_anywhere(MatchKey::Subtree, AllowedKeyMultiplicity::Once);
    it.link_anywhere(MatchKey::Own, AllowedKeyMultiplicity::Once);
    it.link_anywhere(MatchKey::Heading, AllowedKeyMultiplicity::Once);
    it.descend();
    it.climb(ContainersOnlyOrAllParents::Frames);
    it.link_anywhere(MatchKey::Subtree, AllowedKeyMultiplicity::Many);
    it.link_anywhere(MatchKey::Own, AllowedKeyMultiplicity::Many);
    it.descend();
    it.climb(ContainersOnlyOrAllParents::Frames);
    it.link_former(former, FormerTextMatchCondition::Any);
    it.descend();
    it.compare();
    it.climb(ContainersOnlyOrAllParents::All);
    it.compare();
    (it.to_old, it.work)
}

/// The state of an alignment.
struct Matcher<'a> {
    old: AlignmentSide<'a>,
    new: AlignmentSide<'a>,
    to_new: Vec<Option<usize>>,
    to_old: Vec<Option<usize>>,
    /// Matched pairs that both have children, in order of discovery.
    parents: Vec<(usize, usize)>,
    /// Numbers of `parents` whose children are matched exactly, and by similarity.
    n_descended: usize,
    n_compared: usize,
    old_texts: HashMap<usize, Shingles>,
    new_texts: HashMap<usize, Shingles>,
    /// Elementary steps so far; tests compare them with the size of the input.
    work: u64,
}

/// The part of a node that must be equal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchKey {
    /// Type and text, of the node and of all below.
    Subtree,
    /// Type and text.
    Own,
    /// The normalized label of a heading.
    Heading,
}

/// The number of unmatched nodes that may share a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AllowedKeyMultiplicity {
    /// Once on both sides.
    Once,
    /// Any number of times: equal ones are matched in order.
    Many,
}

/// A condition on an old node's present text for its former text to count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FormerTextMatchCondition {
    /// The text occurs nowhere in the new tree.
    Gone,
    /// No condition.
    Any,
}

/// The parents that their children may match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ContainersOnlyOrAllParents {
    /// Headings and empty nodes, which are mainly containers.
    Frames,
    /// Also nodes with a text of their own.
    All,
}

/// Returns the key of a free node on either side.
fn key_of(forest: &AlignmentSide<'_>, at: usize, key: MatchKey) -> Option<u64> {
    match key {
        MatchKey::Subtree if forest.is_blank(at) && forest.children(at).is_empty() => None,
        MatchKey::Subtree => Some(forest.subtree_hash(at)),
        MatchKey::Own => (!forest.is_blank(at)).then(|| forest.own(at)),
        MatchKey::Heading => forest.heading_key(at),
    }
}

impl<'a> Matcher<'a> {
    fn new(old: &'a [AlignmentNode<'a>], new: &'a [AlignmentNode<'a>]) -> Matcher<'a> {
        Matcher {
            old: AlignmentSide::new(old),
            new: AlignmentSide::new(new),
            to_new: vec![None; old.len()],
            to_old: vec![None; new.len()],
            parents: vec![(old.len(), new.len())],
            n_descended: 0,
            n_compared: 0,
            old_texts: HashMap::new(),
            new_texts: HashMap::new(),
            work: 0,
        }
    }

    /// Matches two nodes if both are free and of one type; returns whether it did.
    fn link(&mut self, old: usize, new: usize) -> bool {
        let is_open = self.is_old_free(old) && self.is_new_free(new);
        if !is_open || self.old.node(old).node_type != self.new.node(new).node_type {
            return false;
        }
        self.to_new[old] = Some(new);
        self.to_old[new] = Some(old);
        if !self.old.children(old).is_empty() && !self.new.children(new).is_empty() {
            self.parents.push((old, new));
        }
        true
    }

    fn is_old_free(&self, at: usize) -> bool {
        self.to_new[at].is_none()
    }

    fn is_new_free(&self, at: usize) -> bool {
        self.to_old[at].is_none()
    }

    /// Matches the children of all matched parents that are still to be visited.
    fn descend(&mut self) {
        while let Some(&(old, new)) = self.parents.get(self.n_descended) {
            self.n_descended += 1;
            self.link_children(old, new);
        }
    }

    /// Matches similar children of all matched parents, and the nodes below the new pairs.
    fn compare(&mut self) {
        while let Some(&(old, new)) = self.parents.get(self.n_compared) {
            self.n_compared += 1;
            self.link_alike(old, new);
            self.descend();
        }
    }

    /// Matches texts that occur once on both sides.
    fn link_unique(&mut self) {
        // Nothing is matched yet, so that once among the unmatched is once in the file.
        self.link_anywhere(MatchKey::Own, AllowedKeyMultiplicity::Once);
    }

    /// Matches unmatched nodes of equal key anywhere in the file.
    fn link_anywhere(&mut self, key: MatchKey, often: AllowedKeyMultiplicity) {
        let mut places: HashMap<u64, [Vec<usize>; 2]> = HashMap::new();
        let mut keys = Vec::new();
        for at in (0..self.old.len()).filter(|&at| self.is_old_free(at)) {
            if let Some(key) = key_of(&self.old, at, key) {
                places.entry(key).or_default()[0].push(at);
            }
        }
        for at in (0..self.new.len()).filter(|&at| self.is_new_free(at)) {
            let Some(sides) = key_of(&self.new, at, key).and_then(|key| {
                keys.push(key);
                places.get_mut(&key)
            }) else {
                continue;
            };
            sides[1].push(at);
        }
        self.work += (self.old.len() + self.new.len()) as u64;
        for key_value in keys {
            let Some([olds, news]) = places.remove(&key_value) else { continue };
            if often == AllowedKeyMultiplicity::Once && (olds.len() != 1 || news.len() != 1) {
                continue;
            }
            for (old, new) in olds.into_iter().zip(news) {
                // Equal headings with nothing equal below are distinguished by their sections.
                let is_section = key == MatchKey::Own && self.old.is_heading(old);
                if often == AllowedKeyMultiplicity::Once || !is_section {
                    self.link(old, new);
                }
            }
        }
    }

    /// Matches a new text with the node that had it before.
    fn link_former(&mut self, former: &TextHistoryIndex, current: FormerTextMatchCondition) {
        if former.is_empty() {
            return;
        }
        let said_now: HashSet<u64> = match current {
            FormerTextMatchCondition::Gone => {
                (0..self.new.len()).map(|at| self.new.own(at)).collect()
            }
            FormerTextMatchCondition::Any => HashSet::new(),
        };
        let mut groups: HashMap<u64, Vec<usize>> = HashMap::new();
        let free: Vec<usize> = (0..self.new.len())
            .filter(|&at| self.is_new_free(at) && !self.new.is_blank(at))
            .collect();
        for &at in &free {
            groups.entry(self.new.own(at)).or_default().push(at);
        }
        for at in free {
            let Some(news) = groups.remove(&self.new.own(at)) else { continue };
            let node = self.new.node(at);
            let mut olds: Vec<usize> = former
                .nodes_with(node.node_type, node.hash)
                .iter()
                .copied()
                .filter(|&old| old < self.old.len() && self.is_old_free(old))
                .filter(|&old| !said_now.contains(&self.old.own(old)))
                .take(news.len())
                .collect();
            // Among equally recent nodes, the first text belongs to the first node.
            olds.sort_unstable();
            for (old, new) in olds.into_iter().zip(news) {
                self.link(old, new);
            }
        }
    }

    /// Matches parents through their children, level by level.
    fn climb(&mut self, which: ContainersOnlyOrAllParents) {
        for _ in 0..VOTE_ROUNDS_MAX {
            if !self.link_parents(which) {
                return;
            }
            self.descend();
        }
    }

    /// Matches unmatched nodes when at least half of all their children are matched to each other.
    fn link_parents(&mut self, which: ContainersOnlyOrAllParents) -> bool {
        let mut votes: Vec<(usize, usize)> = Vec::new();
        for (old, new) in self.to_new.iter().enumerate() {
            let Some(new) = *new else { continue };
            let (old, new) = (self.old.parent(old), self.new.parent(new));
            let is_real = old < self.old.len() && new < self.new.len();
            if !is_real || (which == ContainersOnlyOrAllParents::Frames && !self.old.is_frame(old))
            {
                continue;
            }
            if self.is_old_free(old) && self.is_new_free(new) {
                votes.push((old, new));
            }
        }
        self.work += (self.old.len() + votes.len()) as u64;
        votes.sort_unstable();
        let mut counted: Vec<(Reverse<usize>, usize, usize)> = votes
            .chunk_by(|a, b| a == b)
            .map(|run| (Reverse(run.len()), run[0].0, run[0].1))
            .filter(|&(Reverse(n_votes), old, new)| {
                self.old.children(old).len() + self.new.children(new).len() <= 4 * n_votes
            })
            .collect();
        counted.sort_unstable();
        let mut is_any = false;
        for (_, old, new) in counted {
            is_any |= self.link(old, new);
        }
        is_any
    }
}
