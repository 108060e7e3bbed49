//! Words that were counted lately, since most words of a text come again and again.
//!
//! A fixed number of places, one for each word by its hash; whoever comes later takes the place.
//! A place holds the whole word, so that what is found is right.

use std::cell::RefCell;

/// Bytes of a word that is remembered, at the most.
const WORD_BYTES_MAX: usize = 14;

const N_PLACES: usize = 1 << 12;

thread_local! {
    static COUNTED: RefCell<Counted> = const { RefCell::new(Counted { places: Vec::new() }) };
}

/// Words with their tokens.
#[derive(Debug)]
pub(super) struct Counted {
    /// The word in the first bytes, then its length and its tokens. None at all until the first.
    places: Vec<u128>,
}

impl Counted {
    /// Gives what the thread counted so far; nothing if it is already in use.
    pub(super) fn with<T>(work: impl FnOnce(&mut Counted) -> T) -> T {
        COUNTED.with(|it| match it.try_borrow_mut() {
            Ok(mut counted) => work(&mut counted),
            Err(_) => work(&mut Counted { places: Vec::new() }),
        })
    }

    /// Tokens of `word`, which `count` gives where they are not known.
    pub(super) fn tokens(&mut self, word: &[u8], count: impl FnOnce(&[u8]) -> usize) -> usize {
        let Some(own) = key(word) else { return count(word) };
        if self.places.is_empty() {
            self.places.resize(N_PLACES, 0);
        }
        let place = &mut self.places[place(own)];
        if *place << 8 == own << 8 {
            return (*place >> 120) as usize;
        }
        let n = count(word);
        *place = own | (n as u128) << 120;
        n
    }
}

/// The word and its length.
fn key(word: &[u8]) -> Option<u128> {
    let mut bytes = [0; 16];
    bytes.get_mut(..word.len()).filter(|_| word.len() <= WORD_BYTES_MAX)?.copy_from_slice(word);
    bytes[WORD_BYTES_MAX] = word.len() as u8;
    Some(u128::from_le_bytes(bytes))
}

fn place(key: u128) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed =
        (key as u64 ^ ((key >> 64) as u64).rotate_left(29).wrapping_mul(ODD)).wrapping_mul(ODD);
    (mixed >> 52) as usize
}
