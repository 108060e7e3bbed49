//! Words that were counted lately, since most words of a text come again and again.
//!
//! A number of places, one for each word by its hash; whoever comes later takes the place. A place
//! holds the whole word, so that what is found is right. There are few until many words found none.

use std::cell::RefCell;

/// Bytes of a word that is remembered, at the most.
const WORD_BYTES_MAX: usize = 14;

/// Places at first, for who counts a text now and then.
const PLACES_MIN: usize = 1 << 10;

/// Places for the words of a folder of notes: 256 KiB.
const PLACES_MAX: usize = 1 << 14;

thread_local! {
    static COUNTED: RefCell<Counted> = const { RefCell::new(Counted::new()) };
}

/// Words with their tokens.
#[derive(Debug)]
pub(super) struct Counted {
    /// The word in the first bytes, then its length and its tokens. None at all until the first.
    places: Vec<u128>,
    /// Words that were not known, up to so many that there are to be more places.
    n_missed: usize,
}

impl Counted {
    const fn new() -> Counted {
        Counted { places: Vec::new(), n_missed: 0 }
    }

    /// Gives what the thread counted so far; nothing if it is already in use.
    pub(super) fn with<T>(work: impl FnOnce(&mut Counted) -> T) -> T {
        COUNTED.with(|it| match it.try_borrow_mut() {
            Ok(mut counted) => work(&mut counted),
            Err(_) => work(&mut Counted::new()),
        })
    }

    /// Tokens of `word`, which `count` gives where they are not known.
    pub(super) fn tokens(&mut self, word: &[u8], count: impl FnOnce(&[u8]) -> usize) -> usize {
        let Some(own) = key(word) else { return count(word) };
        if let Some(&place) = self.places.get(place(own, self.places.len()))
            && place << 8 == own << 8
        {
            return (place >> 120) as usize;
        }
        let n = count(word);
        self.remember(own | (n as u128) << 120);
        n
    }

    fn remember(&mut self, word: u128) {
        let n_places = if self.n_missed < PLACES_MIN { PLACES_MIN } else { PLACES_MAX };
        if self.places.len() < n_places {
            let old = std::mem::replace(&mut self.places, vec![0; n_places]);
            old.into_iter().filter(|it| *it != 0).for_each(|it| self.put(it));
        }
        self.n_missed = PLACES_MIN.min(self.n_missed + 1);
        self.put(word);
    }

    fn put(&mut self, word: u128) {
        let place = place(word & (u128::MAX >> 8), self.places.len());
        self.places[place] = word;
    }
}

/// The word and its length.
fn key(word: &[u8]) -> Option<u128> {
    let n_bytes = word.len();
    // Bytes that are read twice fall on themselves.
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

/// Where the word of that key would be, of so many places.
fn place(key: u128, n_places: usize) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed =
        (key as u64 ^ ((key >> 64) as u64).rotate_left(29).wrapping_mul(ODD)).wrapping_mul(ODD);
    // The upper digits are those that all others are in.
    ((mixed as u128 * n_places as u128) >> 64) as usize
}
