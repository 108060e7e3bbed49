//! A cache of the token counts of recent words.
//!
//! It is a table of buckets, chosen by the word's hash, with four entries each. A hit moves one
//! entry up, and a new word replaces the last, so that frequent words stay. An entry holds the
//! whole word, so that a hit is exact. The table is small until many words have missed.

use std::cell::RefCell;

/// Maximum bytes of a cached word.
const WORD_BYTES_MAX: usize = 14;

/// Entries of a bucket.
const PLACES: usize = 4;

/// Buckets at first, enough for occasional short texts.
const BUCKETS_MIN: usize = 1 << 8;

/// Buckets for the words of a folder of notes: 256 KiB.
const BUCKETS_MAX: usize = 1 << 12;

/// Misses after which the table grows.
const MISSED_MAX: usize = 1 << 10;

thread_local! {
    static COUNTED: RefCell<WordTokenCache> = const { RefCell::new(WordTokenCache::new()) };
}

/// A bucket: entries that share one line of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct CacheBucket([u128; PLACES]);

/// A cache of words with their token counts.
#[derive(Debug)]
pub(super) struct WordTokenCache {
    /// The entries: the word in the first bytes, then its length and its tokens. Empty until the
    /// first word.
    buckets: Vec<CacheBucket>,
    /// Misses so far, while the table is small.
    n_missed: usize,
}

impl WordTokenCache {
    const fn new() -> WordTokenCache {
        WordTokenCache { buckets: Vec::new(), n_missed: 0 }
    }

    /// Runs `work` with the cache of this thread, or with a new one if that is in use.
    pub(super) fn with<T>(work: impl FnOnce(&mut WordTokenCache) -> T) -> T {
        COUNTED.with(|it| match it.try_borrow_mut() {
            Ok(mut counted) => work(&mut counted),
            Err(_) => work(&mut WordTokenCache::new()),
        })
    }

    /// Returns the tokens of `word`, calling `count` on a miss.
    pub(super) fn tokens(&mut self, word: &[u8], count: impl FnOnce(&[u8]) -> usize) -> usize {
        let Some(own) = key(word) else { return count(word) };
        let at = bucket(own, self.buckets.len());
        if let Some(CacheBucket(bucket)) = self.buckets.get_mut(at) {
            // All entries are compared: which one hits can hardly be predicted.
            let own = own << 8;
            let places = bucket.iter().enumerate();
            let at = places.fold(PLACES, |found, (at, it)| if it << 8 == own { at } else { found });
            if let Some(&found) = bucket.get(at) {
                bucket.swap(at, at.saturating_sub(1));
                return (found >> 120) as usize;
            }
        }
        let n = count(word);
        self.miss(own | (n as u128) << 120);
        n
    }

    fn miss(&mut self, word: u128) {
        let n_buckets = if self.n_missed < MISSED_MAX { BUCKETS_MIN } else { BUCKETS_MAX };
        if self.buckets.len() < n_buckets {
            let old =
                std::mem::replace(&mut self.buckets, vec![CacheBucket([0; PLACES]); n_buckets]);
            old.into_iter().flat_map(|it| it.0).filter(|it| *it != 0).for_each(|it| self.put(it));
        }
        self.n_missed = MISSED_MAX.min(self.n_missed + 1);
        self.put(word);
    }

    fn put(&mut self, word: u128) {
        let at = bucket(word & (u128::MAX >> 8), self.buckets.len());
        let CacheBucket(bucket) = &mut self.buckets[at];
        let at = bucket.iter().position(|it| *it == 0).unwrap_or(PLACES - 1);
        bucket[at] = word;
    }
}

/// Packs a word and its length into a key.
fn key(word: &[u8]) -> Option<u128> {
    let n_bytes = word.len();
    // Two reads of the same byte overlap.
    let packed = match n_bytes {
        8..=WORD_BYTES_MAX => {
            let (first, last) = (word.first_chunk()?, word.last_chunk()?);
            let shift = 8 * (n_bytes - 8);
            u64::from_le_bytes(*first) as u128 | (u64::from_le_bytes(*last) as u128) << shift
        }
        4..8 => {
            let (first, last) = (word.first_chunk()?, word.last_chunk()?);
            let shift = 8 * (n_bytes - 4);
            u32::from_le_bytes(*first) as u128 | (u32::from_le_bytes(*last) as u128) << shift
        }
        0..4 => word.iter().rev().fold(0, |packed, &byte| packed << 8 | byte as u128),
        _ => return None,
    };
    Some(packed | (n_bytes as u128) << (8 * WORD_BYTES_MAX))
}

/// Returns the bucket of a key among `n_buckets`.
fn bucket(key: u128, n_buckets: usize) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed =
        (key as u64 ^ ((key >> 64) as u64).rotate_left(29).wrapping_mul(ODD)).wrapping_mul(ODD);
    // The upper bits depend on all bits of the key.
    ((mixed as u128 * n_buckets as u128) >> 64) as usize
}
