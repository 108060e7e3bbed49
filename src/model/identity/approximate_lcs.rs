//! Pairs the equal elements of two sequences in order: a longest common subsequence, nearly.
//!
//! Equal ends come first, then elements that occur once on both sides, then the stretches between
//! those; a stretch without a distinct element is paired occurrence by occurrence. Short stretches
//! get the exact longest common subsequence. A bound on the rounds keeps the whole near-linear.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// Maximum cells of the table for an exact answer; longer stretches are cut by anchors instead.
const TABLE_CELLS_MAX: usize = 1024;

/// Maximum rounds in which a stretch is cut by its unique elements before occurrences decide.
const ROUNDS_MAX: usize = 6;

/// A stretch of both sequences that is still to be paired.
struct LcsSubproblem {
    old: Range<usize>,
    new: Range<usize>,
    round: usize,
}

/// Returns pairs of equal elements, strictly increasing on both sides; `work` counts the
/// comparisons.
pub(crate) fn pair_in_order<K>(old: &[K], new: &[K], work: &mut u64) -> Vec<(usize, usize)>
where
    K: Copy + Eq + Ord + Hash,
{
    let mut pairs = Vec::new();
    let mut todo = vec![LcsSubproblem { old: 0..old.len(), new: 0..new.len(), round: 0 }];
    while let Some(mut it) = todo.pop() {
        trim(old, new, &mut it, &mut pairs);
        *work += (it.old.len() + it.new.len() + 1) as u64;
        if it.old.is_empty() || it.new.is_empty() {
            continue;
        }
        if it.old.len().saturating_mul(it.new.len()) <= TABLE_CELLS_MAX {
            *work += (it.old.len() * it.new.len()) as u64;
            table(old, new, &it, &mut pairs);
            continue;
        }
        let anchors = match it.round < ROUNDS_MAX {
            true => anchors(old, new, &it, LcsAnchorRule::Unique),
            false => Vec::new(),
        };
        if anchors.is_empty() {
            pairs.extend(self::anchors(old, new, &it, LcsAnchorRule::Occurrences));
            continue;
        }
        let (mut old_from, mut new_from) = (it.old.start, it.new.start);
        for &(i, j) in &anchors {
            todo.push(LcsSubproblem { old: old_from..i, new: new_from..j, round: it.round + 1 });
            (old_from, new_from) = (i + 1, j + 1);
        }
        let round = it.round + 1;
        todo.push(LcsSubproblem { old: old_from..it.old.end, new: new_from..it.new.end, round });
        pairs.extend(anchors);
    }
    pairs.sort_unstable();
    pairs
}

/// Returns the longest part of `pairs` whose second halves increase. The first halves are sorted
/// and distinct.
pub(super) fn longest_increasing_pairs(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // `ends[n]` is the pair that ends the best run of n + 1 pairs so far.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, pair) in pairs.iter().enumerate() {
        let len = ends.partition_point(|&end| pairs[end].1 < pair.1);
        before.push(len.checked_sub(1).map(|last| ends[last]));
        match ends.get_mut(len) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        run.push(pairs[at]);
        next = before[at];
    }
    run.reverse();
    run
}

/// Pairs the equal beginnings and the equal ends.
fn trim<K: Eq>(old: &[K], new: &[K], it: &mut LcsSubproblem, pairs: &mut Vec<(usize, usize)>) {
    while !it.old.is_empty() && !it.new.is_empty() && old[it.old.start] == new[it.new.start] {
        pairs.push((it.old.start, it.new.start));
        it.old.start += 1;
        it.new.start += 1;
    }
    while !it.old.is_empty() && !it.new.is_empty() && old[it.old.end - 1] == new[it.new.end - 1] {
        it.old.end -= 1;
        it.new.end -= 1;
        pairs.push((it.old.end, it.new.end));
    }
}

/// Pairs a short stretch by its longest common subsequence.
fn table<K: Ord>(old: &[K], new: &[K], it: &LcsSubproblem, pairs: &mut Vec<(usize, usize)>) {
    let (old, new) = (&old[it.old.clone()], &new[it.new.clone()]);
    let width = new.len() + 1;
    // `best[i * width + j]` is the length for the rest from (i, j) on.
    let mut best = vec![0u16; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            best[i * width + j] = match old[i] == new[j] {
                true => best[(i + 1) * width + j + 1] + 1,
                false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let (skip_old, skip_new) = (best[(i + 1) * width + j], best[i * width + j + 1]);
        if old[i] == new[j] {
            pairs.push((it.old.start + i, it.new.start + j));
            (i, j) = (i + 1, j + 1);
        } else if skip_new < skip_old || (skip_new == skip_old && old[i] < new[j]) {
            // A tie goes by value, not by side, so that the way back makes the same choice.
            i += 1;
        } else {
            j += 1;
        }
    }
}

/// The rule by which equal elements are paired to cut a stretch.
#[derive(Clone, Copy)]
enum LcsAnchorRule {
    /// Elements that occur once on both sides.
    Unique,
    /// The first occurrence with the first, the second with the second, and so on.
    Occurrences,
}

fn anchors<K>(old: &[K], new: &[K], it: &LcsSubproblem, which: LcsAnchorRule) -> Vec<(usize, usize)>
where
    K: Copy + Eq + Hash,
{
    let mut places: HashMap<K, (Vec<usize>, usize)> = HashMap::new();
    for j in it.new.clone() {
        places.entry(new[j]).or_default().0.push(j);
    }
    let mut n_old: HashMap<K, usize> = HashMap::new();
    for i in it.old.clone() {
        *n_old.entry(old[i]).or_default() += 1;
    }
    let mut pairs = Vec::new();
    for i in it.old.clone() {
        let Some((at, used)) = places.get_mut(&old[i]) else { continue };
        match which {
            LcsAnchorRule::Unique if at.len() == 1 && n_old[&old[i]] == 1 => pairs.push((i, at[0])),
            LcsAnchorRule::Occurrences if *used < at.len() => {
                pairs.push((i, at[*used]));
                *used += 1;
            }
            _ => (),
        }
    }
    longest_increasing_pairs(&pairs)
}
