//! Text similarity, and the choice of the pairs of texts worth comparing.
//!
//! A text's shingles are its words and its pairs of adjacent words, repetitions counted, case
//! folded; characters of scripts without spaces are words of their own. With `n` and `m` shingles
//! of which `s` are shared, two texts are alike by Dice's measure, `2 × s ÷ (n + m)`. Texts of
//! fewer than eight words are measured by their pairs of adjacent characters too, and the better
//! figure counts.
//!
//! Why this and not the share of the whole (Jaccard): the larger half of a split paragraph must
//! stay above one half. Why single words too: with pairs alone, three scattered edits in ten words
//! would leave less than half. So replacing fewer than 30 % of the words always stays above one
//! half.

use std::cmp::Ordering;

use crate::model::identity::across_files::most_frequent;

/// Similarity of equal texts.
pub(super) const SCORE_MAX: u64 = 1000;

/// Minimum similarity of an edited node to its old text.
pub(super) const SCORE_MIN: u64 = 500;

/// Number of words below which texts are compared by their characters too.
const SHORT_WORDS: usize = 8;

/// Maximum characters of a short text that are compared.
const SHORT_CHARS_MAX: usize = 1024;

/// Maximum pairs of a window that is compared pair by pair.
const ALL_PAIRS_MAX: usize = 256;

/// Maximum pairs that one shingle makes; a more common one does not distinguish texts.
const SHINGLE_PAIRS_MAX: usize = 64;

/// Maximum candidates per text that are compared in full.
const CANDIDATES_MAX: usize = 8;

/// The shingles of a text, ready to be compared.
#[derive(Default)]
pub(super) struct Shingles {
    /// Words and pairs of words, sorted.
    words: Vec<u32>,
    /// Pairs of characters of a short text, sorted; empty for others.
    chars: Vec<u32>,
}

impl Shingles {
    /// Returns the shingles of the texts, one after the other.
    pub(super) fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Shingles {
        let singles = words(texts.clone());
        let mut chars = Vec::new();
        if singles.len() < SHORT_WORDS {
            chars = char_pairs(texts);
        }
        let pairs = singles.windows(2).map(|it| mix(mix(SEED, it[0]), it[1]));
        let mut words: Vec<u32> = singles.iter().copied().chain(pairs).collect();
        words.sort_unstable();
        Shingles { words, chars }
    }

    /// Returns the similarity of two texts, from 0 to [`SCORE_MAX`]; `work` counts the comparisons.
    pub(super) fn score(&self, other: &Shingles, work: &mut u64) -> u64 {
        dice(&self.words, &other.words, work).max(dice(&self.chars, &other.chars, work))
    }
}

/// Returns the pairs of positions in `old` and `new` that are worth comparing. These are all, if
/// they are few; else those that share the most distinctive shingles, and those in the same place.
pub(super) fn candidates(
    old: &[&Shingles],
    new: &[&Shingles],
    work: &mut u64,
) -> Vec<(usize, usize)> {
    if old.len().saturating_mul(new.len()) <= ALL_PAIRS_MAX {
        return (0..old.len()).flat_map(|i| (0..new.len()).map(move |j| (i, j))).collect();
    }
    let mut entries: Vec<(u32, bool, usize)> = Vec::new();
    for (is_new, side) in [(false, old), (true, new)] {
        for (at, it) in side.iter().enumerate() {
            let mut distinct = it.words.iter().chain(&it.chars).copied().collect::<Vec<u32>>();
            distinct.sort_unstable();
            distinct.dedup();
            entries.extend(distinct.into_iter().map(|shingle| (shingle, is_new, at)));
        }
    }
    entries.sort_unstable();
    *work += entries.len() as u64;
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for run in entries.chunk_by(|a, b| a.0 == b.0) {
        let (olds, news) = run.split_at(run.partition_point(|it| !it.1));
        if olds.len().saturating_mul(news.len()) <= SHINGLE_PAIRS_MAX {
            pairs.extend(olds.iter().flat_map(|i| news.iter().map(move |j| (i.2, j.2))));
        } else {
            pairs.extend(olds.iter().zip(news).map(|(i, j)| (i.2, j.2)));
        }
    }
    *work += pairs.len() as u64;
    let mut chosen = most_frequent(pairs, CANDIDATES_MAX);
    let n_both = old.len().min(new.len());
    chosen.extend((0..n_both).map(|at| (at, at)));
    chosen.extend((1..=n_both).map(|back| (old.len() - back, new.len() - back)));
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

/// Returns the scored pairs that are in order on both sides and together score highest. Scores
/// count squared, so that one good pair beats two poor ones.
pub(super) fn best_chain(mut scored: Vec<(usize, usize, u64)>) -> Vec<(usize, usize)> {
    // Within one old element the later new ones come first, so that none builds on another.
    scored.sort_unstable_by_key(|&(i, j, _)| (i, std::cmp::Reverse(j)));
    let width = scored.iter().map(|it| it.1 + 1).max().unwrap_or(0);
    // A Fenwick tree over the new side: the best chain that ends before a position.
    let mut best: Vec<(u64, Option<usize>)> = vec![(0, None); width + 1];
    let mut before = Vec::with_capacity(scored.len());
    let mut top: (u64, Option<usize>) = (0, None);
    for (at, &(_, j, score)) in scored.iter().enumerate() {
        let mut reach = (0, None);
        let mut cell = j;
        while 0 < cell {
            if reach.0 < best[cell].0 {
                reach = best[cell];
            }
            cell &= cell - 1;
        }
        let sum = reach.0 + score * score;
        before.push(reach.1);
        let mut cell = j + 1;
        while cell <= width {
            if best[cell].0 < sum {
                best[cell] = (sum, Some(at));
            }
            cell += cell & cell.wrapping_neg();
        }
        if top.0 < sum {
            top = (sum, Some(at));
        }
    }
    let mut chain = Vec::new();
    let mut next = top.1;
    while let Some(at) = next {
        chain.push((scored[at].0, scored[at].1));
        next = before[at];
    }
    chain.reverse();
    chain
}

const SEED: u32 = 0x811c_9dc5;

fn mix(hash: u32, value: u32) -> u32 {
    let mixed = (u64::from(hash) << 32 | u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as u32 ^ mixed as u32
}

/// Returns the hashes of the words, in order.
fn words<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<u32> {
    let mut words = Vec::new();
    for text in texts {
        let mut word = None;
        for it in text.chars() {
            if !it.is_alphanumeric() || stands_alone(it) {
                words.extend(word.take());
            }
            if stands_alone(it) {
                words.push(mix(SEED, it as u32));
            } else if it.is_alphanumeric() {
                word = Some(it.to_lowercase().fold(word.unwrap_or(SEED), |h, c| mix(h, c as u32)));
            }
        }
        words.extend(word);
    }
    words
}

/// Returns whether a character is of a script that writes no spaces between words.
fn stands_alone(it: char) -> bool {
    matches!(it,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
        && it.is_alphanumeric()
}

/// Returns the sorted hashes of the pairs of adjacent characters, white space folded, a space at
/// both ends.
fn char_pairs<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<u32> {
    let words = texts.flat_map(str::split_whitespace);
    let spaced = words.flat_map(|word| word.chars().chain([' ']));
    let mut pairs = Vec::new();
    let mut last = ' ';
    for it in spaced.flat_map(char::to_lowercase).take(SHORT_CHARS_MAX) {
        pairs.push(mix(mix(SEED, last as u32), it as u32));
        last = it;
    }
    pairs.sort_unstable();
    pairs
}

fn dice(old: &[u32], new: &[u32], work: &mut u64) -> u64 {
    let n_both = old.len() + new.len();
    // Even with all of the smaller side shared, the score would be too low.
    if old.is_empty() || new.is_empty() || 4 * old.len().min(new.len()) < n_both {
        return 0;
    }
    *work += n_both as u64;
    let (mut i, mut j, mut n_shared) = (0, 0, 0u64);
    while i < old.len() && j < new.len() {
        match old[i].cmp(&new[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => (i, j, n_shared) = (i + 1, j + 1, n_shared + 1),
        }
    }
    2 * n_shared * SCORE_MAX / n_both as u64
}
