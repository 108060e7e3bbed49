//! Matches the children of one pair of matched parents by similarity: similar texts, and headings
//! renamed in place.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::Matcher;
use super::siblings::UnmatchedGap;
use crate::model::identity::alignment_side::AlignmentSide;
use crate::model::identity::similarity::{self, SCORE_MIN, Shingles};
use crate::model::tree::NodeType;

/// Distinguishes a heading's section from its label in the table of shingles.
const BODY: usize = 1;

impl Matcher<'_> {
    /// Matches unmatched children of two matched parents by similarity. Children between the same
    /// neighbours and in order come first, then any below the two.
    pub(super) fn link_alike(&mut self, old: usize, new: usize) {
        let (all_olds, all_news) = self.free_children(old, new);
        if all_olds.is_empty() || all_news.is_empty() {
            return;
        }
        let mut leftovers = None;
        for gap in self.gaps(old, new) {
            let scored = self.scored(&gap.olds, &gap.news);
            for (i, j) in similarity::best_chain(scored.clone()) {
                self.link(gap.olds[i], gap.news[j]);
            }
            self.link_renamed(&gap);
            // A gap that holds everything has compared everything.
            if gap.olds == all_olds && gap.news == all_news {
                leftovers = Some((all_olds.clone(), all_news.clone(), scored));
            }
        }
        let (olds, news, mut scored) = leftovers.unwrap_or_else(|| {
            let (olds, news) = self.free_children(old, new);
            let scored = self.scored(&olds, &news);
            (olds, news, scored)
        });
        scored.sort_unstable_by_key(|&(i, j, score)| (Reverse(score), i, j));
        for (i, j, _) in scored {
            self.link(olds[i], news[j]);
        }
    }

    /// Matches similar frames in place before their children match them to frames elsewhere. A
    /// similar text in the same place is the stronger evidence.
    pub(super) fn link_alike_frames(&mut self, gap: &UnmatchedGap) {
        if !gap.news.iter().any(|&at| self.new.is_holder(at)) {
            return;
        }
        let olds = gap.olds.iter().copied();
        let olds = olds.filter(|&at| self.is_old_free(at) && self.old.is_frame(at));
        let news = gap.news.iter().copied();
        let news = news.filter(|&at| self.is_new_free(at) && self.new.is_holder(at));
        let (olds, news): (Vec<usize>, Vec<usize>) = (olds.collect(), news.collect());
        for (i, j) in similarity::best_chain(self.scored(&olds, &news)) {
            self.link(olds[i], news[j]);
        }
    }

    fn free_children(&self, old: usize, new: usize) -> (Vec<usize>, Vec<usize>) {
        let olds = self.old.children(old).iter().copied();
        let news = self.new.children(new).iter().copied();
        (
            olds.filter(|&at| self.is_old_free(at)).collect(),
            news.filter(|&at| self.is_new_free(at)).collect(),
        )
    }

    /// Matches a renamed heading: the only unmatched one of its level in the same gap on both
    /// sides. Both having sections with nothing in common prevents it.
    fn link_renamed(&mut self, gap: &UnmatchedGap) {
        if !gap.is_anchored {
            return;
        }
        let mut levels: HashMap<Option<u8>, [Vec<usize>; 2]> = HashMap::new();
        for &at in gap.olds.iter().filter(|&&at| self.is_old_free(at) && self.old.is_heading(at)) {
            levels.entry(self.old.node(at).level).or_default()[0].push(at);
        }
        for &at in gap.news.iter().filter(|&&at| self.is_new_free(at) && self.new.is_heading(at)) {
            levels.entry(self.new.node(at).level).or_default()[1].push(at);
        }
        for &new in &gap.news {
            let Some([olds, news]) = self.level_of(new, &levels) else { continue };
            let ([old], [new]) = (olds.as_slice(), news.as_slice()) else { continue };
            let (old_parts, new_parts) = (self.old.children(*old), self.new.children(*new));
            let is_theirs =
                |&part: &usize| self.to_new[part].is_some_and(|it| self.new.parent(it) == *new);
            let has_common = old_parts.iter().any(is_theirs);
            if old_parts.is_empty() || new_parts.is_empty() || has_common {
                self.link(*old, *new);
            }
        }
    }

    fn level_of<'l>(
        &self,
        new: usize,
        levels: &'l HashMap<Option<u8>, [Vec<usize>; 2]>,
    ) -> Option<&'l [Vec<usize>; 2]> {
        self.new.is_heading(new).then(|| levels.get(&self.new.node(new).level))?
    }

    /// Returns the pairs of positions in `olds` and `news` whose nodes are similar enough, with
    /// their scores.
    fn scored(&mut self, olds: &[usize], news: &[usize]) -> Vec<(usize, usize, u64)> {
        for &at in olds {
            prepare(&self.old, at, &mut self.old_texts, &mut self.work);
        }
        for &at in news {
            prepare(&self.new, at, &mut self.new_texts, &mut self.work);
        }
        let mut work = 0;
        let old_texts: Vec<&Shingles> = olds.iter().map(|&at| &self.old_texts[&(2 * at)]).collect();
        let new_texts: Vec<&Shingles> = news.iter().map(|&at| &self.new_texts[&(2 * at)]).collect();
        let mut pairs = similarity::candidates(&old_texts, &new_texts, &mut work);
        let has_body = |at: &usize| self.new_texts.contains_key(&(2 * at + BODY));
        if news.iter().any(has_body) {
            let (old_bodies, new_bodies) = (self.bodies(olds, false), self.bodies(news, true));
            pairs.extend(similarity::candidates(&old_bodies, &new_bodies, &mut work));
            pairs.sort_unstable();
            pairs.dedup();
        }
        let scored = pairs
            .into_iter()
            .map(|(i, j)| (i, j, self.score(olds[i], news[j], &mut work)))
            .filter(|&(_, _, score)| SCORE_MIN <= score)
            .collect();
        self.work += work;
        scored
    }

    fn bodies(&self, nodes: &[usize], is_new: bool) -> Vec<&Shingles> {
        let texts = if is_new { &self.new_texts } else { &self.old_texts };
        nodes.iter().map(|&at| texts.get(&(2 * at + BODY)).unwrap_or(&texts[&(2 * at)])).collect()
    }

    /// Returns the similarity of two nodes: by text; headings by label or section; keys and values
    /// by their keys.
    fn score(&self, old: usize, new: usize, work: &mut u64) -> u64 {
        *work += 1;
        let (before, after) = (self.old.node(old), self.new.node(new));
        if before.node_type != after.node_type {
            return 0;
        }
        let mut score = self.old_texts[&(2 * old)].score(&self.new_texts[&(2 * new)], work);
        let bodies = (self.old_texts.get(&(2 * old + BODY)), self.new_texts.get(&(2 * new + BODY)));
        if let (Some(before), Some(after)) = bodies {
            score = score.max(before.score(after, work));
        }
        if before.node_type == NodeType::Kv
            && before.label == after.label
            && !before.label.is_empty()
        {
            score = score.max(SCORE_MIN);
        }
        score
    }
}

/// Computes a node's shingles if they are missing. They are of its text, or of its parts if it has
/// none; for a heading, of its section's direct parts besides.
fn prepare(
    forest: &AlignmentSide<'_>,
    at: usize,
    texts: &mut HashMap<usize, Shingles>,
    work: &mut u64,
) {
    if texts.contains_key(&(2 * at)) {
        return;
    }
    let node = forest.node(at);
    let parts = forest.children(at).iter().map(|&child| forest.node(child).content);
    let own = match (forest.is_heading(at), node.content.trim().is_empty()) {
        (true, true) => Shingles::of([node.label].into_iter()),
        (false, true) => Shingles::of(parts.clone()),
        (_, false) => Shingles::of([node.content].into_iter()),
    };
    texts.insert(2 * at, own);
    *work += 1;
    if forest.is_heading(at) && !forest.children(at).is_empty() {
        *work += forest.children(at).len() as u64;
        texts.insert(2 * at + BODY, Shingles::of(parts));
    }
}
