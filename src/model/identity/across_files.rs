//! Alignment between files: renamed files, and nodes that moved from one file to another.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::model::identity::ContentHash;
use crate::model::tree::NodeType;

/// Maximum files on one side that share a hash; a more common hash tells no files apart.
const FILES_PER_HASH_MAX: usize = 16;

/// Maximum candidates per file that are compared in full.
const CANDIDATES_MAX: usize = 8;

/// Minimum bytes of a node that may move between files. Smaller ones (`TODO`, `Yes.`) are equal by
/// accident too often.
pub(crate) const MOVE_BYTES_MIN: usize = 32;

/// An unmatched node of some changed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnmatchedNode {
    /// The node's type.
    pub node_type: NodeType,
    /// Hash of the base text.
    pub hash: ContentHash,
    /// Bytes of its content.
    pub size_bytes: usize,
}

/// Returns the renamed files, as pairs of indexes of a removed and an added file. A pair shares
/// more than half of all its hashes. Equal files come first and in order, then the most alike; each
/// file once. Files without nodes are never a rename.
pub(crate) fn renames(removed: &[&[ContentHash]], added: &[&[ContentHash]]) -> Vec<(usize, usize)> {
    let removed: Vec<Vec<u64>> = removed.iter().map(|hashes| sorted(hashes)).collect();
    let added: Vec<Vec<u64>> = added.iter().map(|hashes| sorted(hashes)).collect();
    let mut pairs = Vec::new();
    let mut is_removed_used = vec![false; removed.len()];
    let mut is_added_used = vec![false; added.len()];

    let mut equal: HashMap<&[u64], Vec<usize>> = HashMap::new();
    for (at, hashes) in added.iter().enumerate().rev() {
        equal.entry(hashes).or_default().push(at);
    }
    for (from, hashes) in removed.iter().enumerate().filter(|(_, hashes)| !hashes.is_empty()) {
        if let Some(to) = equal.get_mut(hashes.as_slice()).and_then(Vec::pop) {
            pairs.push((from, to));
            (is_removed_used[from], is_added_used[to]) = (true, true);
        }
    }

    let mut alike = Vec::new();
    for (from, to) in candidates(&removed, &added, &is_removed_used, &is_added_used) {
        let n_shared = shared(&removed[from], &added[to]) as u64;
        let n_both = (removed[from].len() + added[to].len()) as u64;
        if n_both < 4 * n_shared {
            alike.push((Reverse(2 * n_shared * 1_000_000 / n_both), from, to));
        }
    }
    alike.sort_unstable();
    for (_, from, to) in alike {
        if !is_removed_used[from] && !is_added_used[to] {
            pairs.push((from, to));
            (is_removed_used[from], is_added_used[to]) = (true, true);
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Returns the nodes that moved between files, as pairs of an old and a new index. The nodes are
/// unmatched in their own files, of the same type and hash, and large enough to be no accident.
/// Equal ones are paired in order; each node once.
pub(crate) fn moves(old: &[UnmatchedNode], new: &[UnmatchedNode]) -> Vec<(usize, usize)> {
    let is_real = |it: &UnmatchedNode| MOVE_BYTES_MIN <= it.size_bytes;
    let mut places: HashMap<(NodeType, ContentHash), Vec<usize>> = HashMap::new();
    for (at, it) in new.iter().enumerate().rev().filter(|(_, it)| is_real(it)) {
        places.entry((it.node_type, it.hash)).or_default().push(at);
    }
    let mut pairs = Vec::new();
    // An equal hash is that of an equally large text, whatever stands over the old one.
    for (from, it) in old.iter().enumerate() {
        if let Some(to) = places.get_mut(&(it.node_type, it.hash)).and_then(Vec::pop) {
            pairs.push((from, to));
        }
    }
    pairs
}

fn sorted(hashes: &[ContentHash]) -> Vec<u64> {
    let mut hashes: Vec<u64> = hashes.iter().map(|hash| hash.0).collect();
    hashes.sort_unstable();
    hashes
}

/// Counts the elements that two sorted lists share, with repetitions.
pub(super) fn shared<T: Ord>(old: &[T], new: &[T]) -> usize {
    let (mut i, mut j, mut n_shared) = (0, 0, 0);
    while i < old.len() && j < new.len() {
        match old[i].cmp(&new[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, n_shared) = (i + 1, j + 1, n_shared + 1),
        }
    }
    n_shared
}

/// Returns the pairs worth comparing: those that share the most distinctive hashes.
fn candidates(
    removed: &[Vec<u64>],
    added: &[Vec<u64>],
    is_removed_used: &[bool],
    is_added_used: &[bool],
) -> Vec<(usize, usize)> {
    let mut places: HashMap<u64, [Vec<usize>; 2]> = HashMap::new();
    let mut keys: Vec<u64> = Vec::new();
    for (side, files, is_used) in [(0, removed, is_removed_used), (1, added, is_added_used)] {
        for (at, hashes) in files.iter().enumerate().filter(|&(at, _)| !is_used[at]) {
            for &hash in hashes {
                let files_of = places.entry(hash).or_insert_with(|| {
                    keys.push(hash);
                    Default::default()
                });
                if files_of[side].last() != Some(&at) {
                    files_of[side].push(at);
                }
            }
        }
    }
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for hash in keys {
        let [from, to] = &places[&hash];
        if from.len() <= FILES_PER_HASH_MAX && to.len() <= FILES_PER_HASH_MAX {
            pairs.extend(from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to))));
        } else {
            pairs.extend(from.iter().copied().zip(to.iter().copied()));
        }
    }
    most_frequent(pairs, CANDIDATES_MAX)
}

/// Returns the distinct pairs, most frequent first. No element occurs more than `each_max` times on
/// its side.
pub(super) fn most_frequent(
    mut pairs: Vec<(usize, usize)>,
    each_max: usize,
) -> Vec<(usize, usize)> {
    pairs.sort_unstable();
    let mut counted: Vec<(Reverse<usize>, (usize, usize))> =
        pairs.chunk_by(|a, b| a == b).map(|run| (Reverse(run.len()), run[0])).collect();
    counted.sort_unstable();
    let mut n_old: HashMap<usize, usize> = HashMap::new();
    let mut n_new: HashMap<usize, usize> = HashMap::new();
    counted.retain(|&(_, (old, new))| {
        let (old, new) = (n_old.entry(old).or_default(), n_new.entry(new).or_default());
        let is_within = *old < each_max && *new < each_max;
        (*old, *new) = (*old + usize::from(is_within), *new + usize::from(is_within));
        is_within
    });
    counted.into_iter().map(|(_, pair)| pair).collect()
}
