//! The cl100k vocabulary as a hash table that is read in place, from `cl100k.bin`.
//!
//! All numbers are three bytes, little-endian. The file is, in this order:
//!
//! 1. [`N_SLOTS`] slots of a hash table with linear probing: a token's rank plus one, or 0;
//! 2. [`N_TOKENS`] ends of tokens in 5, by rank;
//! 3. the number of ranges of letters, then each range's first and last character;
//! 4. the same for numbers;
//! 5. the tokens' bytes, one after the other.
//!
//! A token's slot is the first free one from xxh64 (seed 0) of its bytes modulo [`N_SLOTS`] on. A
//! test makes the file anew when `UPDATE_EXPECT` is set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use xxhash_rust::xxh64::xxh64;

static FILE: &[u8] = include_bytes!("cl100k.bin");

pub(super) const N_TOKENS: usize = 100_256;
pub(super) const N_SLOTS: usize = 1 << 17;
/// Bytes of a number.
pub(super) const WIDTH: usize = 3;

/// Bytes of the longest token.
pub(super) const TOKEN_BYTES_MAX: usize = 128;

const LETTERS: usize = (N_SLOTS + N_TOKENS) * WIDTH;

/// Maximum bytes of a word merged by scanning for the best pair, in quadratic time. Longer words
/// use a queue of pairs.
const SHORT_BYTES_MAX: usize = 32;

/// Counts the tokens of words in reusable buffers.
#[derive(Debug, Default)]
pub(super) struct TokenCounter {
    /// The parts of a short word: start, and the rank of the part merged with the next one.
    parts: Vec<(usize, Option<u32>)>,
    /// The end of the part that starts at each byte; 0 where none starts.
    ends: Vec<usize>,
    /// The start of the part before the one that starts at each byte.
    before: Vec<usize>,
    /// Neighbours that could be merged, as rank, start, end; some are outdated.
    pairs: BinaryHeap<Reverse<(u32, usize, usize)>>,
}

impl TokenCounter {
    /// Returns the number of tokens of a word. Neighbouring parts, bytes at first, are merged while
    /// any two make a token: the lowest rank first, and the leftmost among equals.
    pub(super) fn count(&mut self, word: &[u8]) -> usize {
        match word.len() {
            1 => 1,
            _ if rank(word).is_some() => 1,
            ..=SHORT_BYTES_MAX => self.count_short(word),
            _ => self.count_long(word),
        }
    }

    fn count_short(&mut self, word: &[u8]) -> usize {
        let parts = &mut self.parts;
        parts.clear();
        parts.extend((0..word.len()).map(|at| (at, word.get(at..at + 2).and_then(rank))));
        loop {
            let best = parts.iter().enumerate().filter_map(|(at, part)| Some((part.1?, at))).min();
            let Some((_, at)) = best else { return parts.len() };
            parts.remove(at + 1);
            for at in at.saturating_sub(1)..=at {
                let end = match parts.get(at + 2) {
                    Some(after) => after.0,
                    None => word.len(),
                };
                let is_last = parts.len() <= at + 1;
                parts[at].1 = if is_last { None } else { rank(&word[parts[at].0..end]) };
            }
        }
    }

    fn count_long(&mut self, word: &[u8]) -> usize {
        self.ends.clear();
        self.before.clear();
        self.pairs.clear();
        self.ends.extend(1..=word.len());
        self.before.extend((0..word.len()).map(|it| it.saturating_sub(1)));
        (1..word.len()).for_each(|at| self.push_pair(word, at - 1));
        let mut n = word.len();
        while let Some(Reverse((_, start, end))) = self.pairs.pop() {
            let middle = self.ends[start];
            // A pair of the same bytes has the same rank, however it is cut.
            if middle == 0 || word.len() <= middle || self.ends[middle] != end {
                continue;
            }
            self.ends[start] = end;
            self.ends[middle] = 0;
            n -= 1;
            if end < word.len() {
                self.before[end] = start;
                self.push_pair(word, start);
            }
            if 0 < start {
                self.push_pair(word, self.before[start]);
            }
        }
        n
    }

    /// Queues the part that starts at `start` and the next one, if together they are a token.
    fn push_pair(&mut self, word: &[u8], start: usize) {
        let end = self.ends[self.ends[start]];
        if let Some(rank) = rank(&word[start..end]) {
            self.pairs.push(Reverse((rank, start, end)));
        }
    }
}

/// Returns the rank of a token.
pub(super) fn rank(token: &[u8]) -> Option<u32> {
    if TOKEN_BYTES_MAX < token.len() {
        return None;
    }
    let mut slot = first_slot(token);
    loop {
        let rank = number(slot * WIDTH).checked_sub(1)?;
        if bytes_of(rank) == token {
            return u32::try_from(rank).ok();
        }
        slot = (slot + 1) % N_SLOTS;
    }
}

pub(super) fn first_slot(token: &[u8]) -> usize {
    (xxh64(token, 0) % N_SLOTS as u64) as usize
}

fn bytes_of(rank: usize) -> &'static [u8] {
    let end = |rank: usize| number((N_SLOTS + rank) * WIDTH);
    let start = if rank == 0 { 0 } else { end(rank - 1) };
    let texts = &FILE[FILE.len() - end(N_TOKENS - 1)..];
    &texts[start..end(rank)]
}

/// Returns whether a character is in the Unicode category L.
pub(super) fn is_letter(it: char) -> bool {
    is_in(LETTERS, it)
}

/// Returns whether a character is in the Unicode category N.
pub(super) fn is_number(it: char) -> bool {
    is_in(LETTERS + (1 + 2 * number(LETTERS)) * WIDTH, it)
}

fn is_in(ranges: usize, it: char) -> bool {
    let it = it as usize;
    let (mut low, mut high) = (0, number(ranges));
    while low < high {
        let middle = low.midpoint(high);
        let range = ranges + (1 + 2 * middle) * WIDTH;
        if it < number(range) {
            high = middle;
        } else if number(range + WIDTH) < it {
            low = middle + 1;
        } else {
            return true;
        }
    }
    false
}

fn number(at: usize) -> usize {
    match FILE.get(at..at + WIDTH) {
        Some(&[low, middle, high]) => u32::from_le_bytes([low, middle, high, 0]) as usize,
        _ => 0,
    }
}
