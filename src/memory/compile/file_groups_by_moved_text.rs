//! Groups of files that exchange text, and so are written together.
//!
//! A renamed file is found by its text, and so is text that moved from one file to another. The
//! files of both ends form a group. Files that only share texts with many others do not: a group is
//! bounded, and text beyond the bound counts as removed and added.

use std::collections::BTreeMap;

use crate::model::identity::ContentHash;
use crate::store::FileRow;

/// Bytes of source up to which text that moved joins files.
const MOVED_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Least bytes that a file counts for among those that exchange text: its rows take time, too.
const MOVED_FILE_BYTES_MIN: usize = 1024;

/// Bytes of source up to which texts too short to move by themselves join files.
const SHORT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Files with the same text that are all joined; of more, those that are paired in order are.
const ALIKE_MAX: usize = 64;

/// Files that are written in one transaction.
#[derive(Debug, Default)]
pub(super) struct FileGroup {
    /// Files to be read, next in the order of all groups.
    pub(super) n_files: usize,
    pub(super) vanished: Vec<FileRow>,
    pub(super) adopted: Vec<(FileRow, String)>,
    /// Bytes of source.
    pub(super) bytes: usize,
}

/// A text of a file, by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NodeTextKey {
    pub(super) hash: ContentHash,
    /// Whether it is long enough to move by itself.
    pub(super) is_long: bool,
}

/// Sets of files, which are numbered.
pub(super) struct DisjointFileSets {
    /// Another file of the set, or the file itself.
    parent: Vec<usize>,
    /// Bytes of source of the set, at the file that is its own parent.
    bytes: Vec<usize>,
}

impl DisjointFileSets {
    /// Begins with a set of each file, of such a size.
    pub(super) fn new(sizes: &[i64]) -> DisjointFileSets {
        let weight = |it: &i64| usize::try_from(*it).unwrap_or(0).max(MOVED_FILE_BYTES_MIN);
        DisjointFileSets {
            parent: (0..sizes.len()).collect(),
            bytes: sizes.iter().map(weight).collect(),
        }
    }

    fn root_of(&mut self, mut file: usize) -> usize {
        while self.parent[file] != file {
            self.parent[file] = self.parent[self.parent[file]];
            file = self.parent[file];
        }
        file
    }

    /// Joins the sets of two files unless they are larger than `bytes_max` together.
    pub(super) fn join(&mut self, one: usize, other: usize, bytes_max: usize) {
        let (one, other) = (self.root_of(one), self.root_of(other));
        let bytes = self.bytes[one].saturating_add(self.bytes[other]);
        if one != other && bytes <= bytes_max {
            self.parent[one.max(other)] = one.min(other);
            self.bytes[one.min(other)] = bytes;
        }
    }

    /// Joins files that lost a text with those that gained it.
    pub(super) fn join_by_text(
        &mut self,
        mut lost: Vec<(NodeTextKey, usize)>,
        mut gained: Vec<(NodeTextKey, usize)>,
    ) {
        for it in [&mut lost, &mut gained] {
            it.sort_unstable();
            it.dedup();
        }
        let mut gained = gained.as_slice();
        for losers in lost.chunk_by(|a, b| a.0 == b.0) {
            let key = losers[0].0;
            gained = &gained[gained.partition_point(|it| it.0 < key)..];
            let gainers = &gained[..gained.partition_point(|it| it.0 == key)];
            if gainers.is_empty() {
                continue;
            }
            let bytes_max = if key.is_long { MOVED_BYTES_MAX } else { SHORT_BYTES_MAX };
            if losers.len() + gainers.len() <= ALIKE_MAX {
                for (_, file) in losers.iter().chain(gainers) {
                    self.join(losers[0].1, *file, bytes_max);
                }
            } else {
                for ((_, loser), (_, gainer)) in losers.iter().zip(gainers) {
                    self.join(*loser, *gainer, bytes_max);
                }
            }
        }
    }

    /// Returns the files of each set, in order of the first.
    pub(super) fn into_lists(mut self) -> Vec<Vec<usize>> {
        let mut lists: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for file in 0..self.parent.len() {
            lists.entry(self.root_of(file)).or_default().push(file);
        }
        lists.into_values().collect()
    }
}

/// Returns the elements of one sorted list that the other has not, with repetitions.
pub(super) fn without(one: &[NodeTextKey], other: &[NodeTextKey]) -> Vec<NodeTextKey> {
    let mut other = other.iter().peekable();
    let mut left = Vec::new();
    for it in one {
        while other.next_if(|other| *other < it).is_some() {}
        if other.next_if_eq(&it).is_none() {
            left.push(*it);
        }
    }
    left
}
